/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progressive-adaptive against what its header says, made anew from enumerated
 * minimal ways: the least sum of squares by a projected gradient, conservation
 * at every router, minimal routing at low load, Valiant's random group where one
 * group sends to one other.
 */
#include <math.h>

#include "unit.h"

#include "brute.h"
#include "network/dragonfly/dragonfly_kinds.h"
#include "number.h"
#include "routing_cases.h"
#include "traffic/workload.h"

#define MACHINES 40
#define MAX_LINKS 128 /* between groups */
#define MAX_NODES 64

struct machine {
	struct cpl_network *net;
	bool plus;
	int groups, k;
	double *load;
	struct cpl_job_sums sums;
};

static int group_of(const struct machine *m, int router)
{
	int at[CPL_NETWORK_MAX_DIMS];

	cpl_network_coordinates(m->net, router, at);
	return at[0];
}

static const char *const wirings[] = {"modulo", "consecutive", "palmtree"};

static void draw_fly(struct machine *m, uint64_t seed, int k, double threshold)
{
	int rows = draw(seed, 1, 1, 2), columns = draw(seed, 2, 1, 3);
	char text[1024];

	m->groups = draw(seed, 0, 2, 5);
	m->k = k ? k : draw(seed, 3, 1, 3);
	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-network\", \"version\": 1, "
	         "\"type\": \"dragonfly\", \"groups\": %d, \"rows\": %d, "
	         "\"columns\": %d, \"global_links_per_group_pair\": %d, "
	         "\"global_wiring\": \"%s\", \"routing\": "
	         "\"progressive-adaptive\", \"adaptive\": {\"threshold\": %g}, "
	         "\"nodes\": \"n[0-%d]\"}",
	         m->groups, rows, columns, m->k, wirings[seed % 3], threshold,
	         m->groups * rows * columns - 1);
	m->plus = false;
	m->net = parse_network(text);
}

static void draw_plus(struct machine *m, uint64_t seed, double threshold)
{
	char text[1024], leaves[64] = "", spines[64] = "";
	int nodes = 0;

	m->groups = draw(seed, 0, 2, 5);
	m->k = draw(seed, 1, 1, 3);
	for (int c = 0; c < m->groups; c++) {
		int n = draw(seed, 10 + (uint64_t)c, 1, 3);
		size_t at = strlen(leaves), to = strlen(spines);

		nodes += n;
		snprintf(leaves + at, sizeof(leaves) - at, "%s%d",
		         c ? ", " : "", n);
		snprintf(spines + to, sizeof(spines) - to, "%s%d",
		         c ? ", " : "", draw(seed, 20 + (uint64_t)c, 1, 3));
	}
	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-network\", \"version\": 1, "
	         "\"type\": \"dragonfly+\", \"cells\": %d, \"leaves\": [%s], "
	         "\"spines\": [%s], \"global_links_per_cell_pair\": %d, "
	         "\"routing\": \"PA\", \"adaptive\": {\"threshold\": %g}, "
	         "\"nodes\": \"n[0-%d]\"}",
	         m->groups, leaves, spines, m->k, threshold, nodes - 1);
	m->plus = true;
	m->net = parse_network(text);
}

static void draw_kinds(struct machine *m, uint64_t seed, double threshold)
{
	char more[128];

	snprintf(more, sizeof(more),
	         ", \"routing\": \"PA\", \"adaptive\": {\"threshold\": %g}",
	         threshold);
	m->net = random_kinds(seed, 1, more);
	m->plus = false;
	m->groups = cpl_network_level(m->net, "group")->n_units;
	m->k = cpl_dfkinds_of(m->net)->global_per_pair;
}

static void drop(struct machine *m)
{
	free(m->load);
	cpl_network_free(m->net);
}

static struct cpl_comm *draw_comm(uint64_t seed, int nodes)
{
	struct cpl_comm_entry entry[4 * MAX_NODES];
	struct cpl_error err = {""};

	for (int i = 0; i < 4 * nodes; i++)
		entry[i] = (struct cpl_comm_entry){
		        draw(seed, 1000 + 3 * (uint64_t)i, 0, nodes - 1),
		        draw(seed, 1001 + 3 * (uint64_t)i, 0, nodes - 1),
		        draw(seed, 1002 + 3 * (uint64_t)i, 1, 100), 1};
	/* Two groups of many bytes. */
	for (int i = 0; i < nodes; i++)
		entry[i] = (struct cpl_comm_entry){
		        draw(seed, 500, 0, nodes - 1),
		        draw(seed, 501, 0, nodes - 1), 300, 1};
	return cpl_comm_build(nodes, entry, 4 * nodes, &err);
}

/* Rank r on node r, which is router r's; in `jobs` parts. */
static void route(struct machine *m, const char *name,
                  const struct cpl_comm *comm, int jobs)
{
	struct cpl_error err = {""};
	struct cpl_workload *w = cpl_workload_new(m->net, 1, &err);
	int node[MAX_NODES];

	for (int r = 0; r < comm->ranks; r++)
		node[r] = r;
	m->sums = (struct cpl_job_sums){0};
	for (int j = 0; j < jobs; j++) {
		struct cpl_comm part = *comm;
		double bytes[5 * MAX_NODES];
		struct cpl_job job = {
		        .routing = cpl_routing_find(m->net, name, &err),
		        .comm = &part,
		        .node = node};

		assert_non_null(job.routing);
		part.bytes = bytes;
		for (int64_t e = 0; e < comm->n_entries; e++)
			bytes[e] = e % jobs == j ? comm->bytes[e] : 0;
		assert_int_equal(cpl_workload_add(w, &job, &err), j);
	}
	assert_int_equal(cpl_workload_solve(w, &err), 0);
	for (int j = 0; j < jobs; j++)
		m->sums.hop_bytes += cpl_workload_sums(w, j)->hop_bytes;
	m->sums.max_dilation = cpl_workload_sums(w, 0)->max_dilation;
	free(m->load);
	m->load = malloc((size_t)(m->net->n_links + 1) * sizeof(*m->load));
	memcpy(m->load, cpl_workload_load(w)->link,
	       (size_t)m->net->n_links * sizeof(*m->load));
	cpl_workload_free(w);
}

/* What is sent less what is got, at every router, and links' sum. */
static void conserves(const struct machine *m, const struct cpl_comm *comm)
{
	double *left = calloc((size_t)m->net->n_routers, sizeof(*left));
	double sum = 0;

	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			left[r] += comm->bytes[e];
			left[comm->to[e]] -= comm->bytes[e];
		}
	for (int64_t l = 0; l < m->net->n_links; l++) {
		assert_true(m->load[l] >= 0);
		left[m->net->link_from[l]] -= m->load[l];
		left[m->net->link_to[l]] += m->load[l];
		sum += m->load[l];
	}
	for (int r = 0; r < m->net->n_routers; r++)
		assert_number(left[r], 0, 1e-7);
	assert_number(m->sums.hop_bytes, sum, 1e-7 * (sum + 1));
	free(left);
}

static void test_conserves(void **state)
{
	for (uint64_t seed = 0; seed < 3 * MACHINES; seed++) {
		struct machine m = {0};
		struct cpl_comm *comm;

		if (seed % 3 == 2)
			draw_kinds(&m, seed, 10);
		else if (seed % 3)
			draw_plus(&m, seed, 10);
		else
			draw_fly(&m, seed, 0, 10);
		comm = draw_comm(seed, m.net->n_nodes);
		route(&m, NULL, comm, 1 + (int)(seed % 3));
		conserves(&m, comm);
		cpl_comm_free(comm);
		drop(&m);
	}
}

/* Below the threshold. */
static void test_low(void **state)
{
	for (uint64_t seed = 0; seed < 3 * MACHINES / 2; seed++) {
		struct machine m = {0};
		struct cpl_comm *comm;
		double *load;

		if (seed % 3 == 2)
			draw_kinds(&m, seed, 1e6);
		else if (seed % 3)
			draw_plus(&m, seed, 1e6);
		else
			draw_fly(&m, seed, 0, 1e6);
		comm = draw_comm(seed, m.net->n_nodes);
		route(&m, m.plus ? "ecmp" : "SD", comm, 1);
		load = m.load;
		m.load = NULL;
		route(&m, NULL, comm, 1);
		for (int64_t l = 0; l < m.net->n_links; l++)
			assert_number(m.load[l], load[l], 1e-9 * 2e4);
		free(load);
		cpl_comm_free(comm);
		drop(&m);
	}
}

/* Links between groups, as the test knows them. */
struct links {
	int n, a[MAX_LINKS], b[MAX_LINKS];
	bool none; /* no third group */
	int64_t id[MAX_LINKS];
	double minimal[MAX_LINKS], over[MAX_LINKS][MAX_LINKS];
};

static void find_links(const struct machine *m, struct links *l)
{
	const struct cpl_link_class *class =
	        &m->net->link_class[m->net->n_classes - 1];

	assert_string_equal(class->name, "global");
	assert_true(class->count <= MAX_LINKS);
	l->n = (int)class->count;
	l->none = m->groups < 3;
	for (int i = 0; i < l->n; i++) {
		l->id[i] = class->first + i;
		l->a[i] = group_of(m, m->net->link_from[l->id[i]]);
		l->b[i] = group_of(m, m->net->link_to[l->id[i]]);
	}
	/* A byte diverted from i is on j by so much. */
	for (int i = 0; i < l->n; i++)
		for (int j = 0; j < l->n; j++) {
			bool first = l->a[j] == l->a[i] && l->b[j] != l->b[i];
			bool second = l->b[j] == l->b[i] && l->a[j] != l->a[i];

			l->over[i][j] = first || second
			                        ? 1.0 / (m->groups - 2) / m->k
			                        : 0;
		}
}

/* The least (sum of squares) / 2 + threshold * diverted, by accelerated steps
 * along its gradient that begin anew where it rises; bytes[] come out. */
static void least(const struct links *l, double threshold, double *bytes)
{
	double moved[MAX_LINKS] = {0}, ahead[MAX_LINKS] = {0}, t = 1;

	for (int step = 0; step < 40000 && !l->none; step++) {
		double next_t = (1 + sqrt(1 + 4 * t * t)) / 2, up = 0;
		double before[MAX_LINKS], slope[MAX_LINKS];

		memcpy(before, moved, sizeof(before));
		for (int j = 0; j < l->n; j++) {
			bytes[j] = l->minimal[j] - ahead[j];
			for (int i = 0; i < l->n; i++)
				bytes[j] += ahead[i] * l->over[i][j];
		}
		for (int i = 0; i < l->n; i++) {
			slope[i] = threshold - bytes[i];
			for (int j = 0; j < l->n; j++)
				slope[i] += l->over[i][j] * bytes[j];
			moved[i] = fmin(fmax(ahead[i] - 0.1 * slope[i], 0),
			                l->minimal[i]);
			up += slope[i] * (moved[i] - before[i]);
		}
		if (up > 0)
			next_t = 1;
		for (int i = 0; i < l->n; i++)
			ahead[i] = moved[i] + (up > 0 ? 0 : (t - 1) / next_t) *
			                              (moved[i] - before[i]);
		t = next_t;
		if (step % 64 == 0) {
			double far = 0;

			for (int i = 0; i < l->n; i++)
				far = fmax(far, fabs(moved[i] - before[i]));
			if (step && far < 1e-9)
				break;
		}
	}
	for (int j = 0; j < l->n; j++) {
		bytes[j] = l->minimal[j] - moved[j];
		for (int i = 0; i < l->n; i++)
			bytes[j] += moved[i] * l->over[i][j];
	}
}

static void test_least(void **state)
{
	for (uint64_t seed = 0; seed < MACHINES; seed++) {
		double threshold = seed % 4 * 20.0, bytes[MAX_LINKS], sum = 0;
		struct machine m = {0};
		struct cpl_comm *comm;
		struct links l;
		double *minimal;

		if (seed % 3 == 2)
			draw_kinds(&m, seed, threshold);
		else
			draw_fly(&m, seed, 0, threshold);
		comm = draw_comm(seed, m.net->n_nodes);
		minimal = calloc((size_t)m.net->n_links + 1, sizeof(double));
		find_links(&m, &l);
		for (int r = 0; r < comm->ranks; r++)
			for (int64_t e = comm->row[r]; e < comm->row[r + 1];
			     e++)
				if (comm->to[e] != r)
					brute_add(m.net, r, comm->to[e],
					          comm->bytes[e], minimal);
		for (int i = 0; i < l.n; i++)
			sum += l.minimal[i] = minimal[l.id[i]];
		least(&l, threshold, bytes);
		route(&m, NULL, comm, 1);
		for (int i = 0; i < l.n; i++)
			assert_number(m.load[l.id[i]], bytes[i], 1e-6 * sum);
		free(minimal);
		cpl_comm_free(comm);
		drop(&m);
	}
}

/* Inside a group, on the enumeration's ways. */
static void inside(const struct machine *m, int from, int to, double bytes,
                   double *load)
{
	if (from != to)
		brute_add(m->net, from, to, bytes, load);
}

static int64_t link_between(const struct links *l, int a, int b)
{
	for (int i = 0; i < l->n; i++)
		if (l->a[i] == a && l->b[i] == b)
			return l->id[i];
	return -1;
}

/* A random group of all; own and destination's are the minimal way. */
static void valiant(const struct machine *m, const struct links *l, int from,
                    int to, double bytes, double *load)
{
	int a = group_of(m, from), b = group_of(m, to);

	for (int i = 0; i < m->groups; i++) {
		double part = bytes / m->groups;
		int64_t there, on;

		if (i == a || i == b) {
			brute_add(m->net, from, to, part, load);
			continue;
		}
		there = link_between(l, a, i);
		on = link_between(l, i, b);
		inside(m, from, m->net->link_from[there], part, load);
		load[there] += part;
		inside(m, m->net->link_to[there], m->net->link_from[on], part,
		       load);
		load[on] += part;
		inside(m, m->net->link_to[on], to, part, load);
	}
}

/* One link between two groups, all routers of one send to those of another. */
static void test_saturated(void **state)
{
	for (uint64_t seed = 0; seed < MACHINES; seed++) {
		struct cpl_comm_entry entry[MAX_NODES];
		struct cpl_error err = {""};
		struct machine m = {0};
		struct cpl_comm *comm;
		struct links l;
		double *load;
		int n, a, b, each;

		draw_fly(&m, seed, 1, 0);
		find_links(&m, &l);
		each = m.net->n_nodes / m.groups;
		a = draw(seed, 7, 0, m.groups - 1);
		b = (a + draw(seed, 8, 1, m.groups - 1)) % m.groups;
		load = calloc((size_t)m.net->n_links + 1, sizeof(*load));
		for (n = 0; n < each; n++) {
			int from = a * each + n;
			int to = b * each +
			         draw(seed, 20 + (uint64_t)n, 0, each - 1);

			entry[n] = (struct cpl_comm_entry){from, to, 1000, 1};
			valiant(&m, &l, from, to, 1000, load);
		}
		comm = cpl_comm_build(m.net->n_nodes, entry, n, &err);
		route(&m, NULL, comm, 1);
		for (int64_t i = 0; i < m.net->n_links; i++)
			assert_number(m.load[i], load[i], 1e-9 * 1000 * each);
		conserves(&m, comm);
		if (each == 1)
			assert_number(m.sums.max_dilation,
			              m.sums.hop_bytes / 1000, 1e-9);
		cpl_comm_free(comm);
		free(load);
		drop(&m);
	}
}

/* Bytes of other routings that are there count as others'. */
static void test_others(void **state)
{
	struct cpl_comm_entry one = {0, 1, 1000, 1}, two = {0, 2, 1000, 1};
	struct machine m = {0};
	struct cpl_error err = {""};
	struct cpl_comm *a = cpl_comm_build(4, &one, 1, &err);
	struct cpl_comm *b = cpl_comm_build(4, &two, 1, &err);
	struct cpl_workload *w;
	int node[] = {0, 1, 2, 3};

	m.net = parse_network(
	        "{\"format\": \"commplace-network\", \"version\": 1, "
	        "\"type\": \"dragonfly\", \"groups\": 4, \"rows\": 1, "
	        "\"columns\": 1, \"adaptive\": {\"threshold\": 0}, "
	        "\"nodes\": \"n[0-3]\"}");
	w = cpl_workload_new(m.net, 1, &err);
	for (int i = 0; i < 2; i++)
		assert_int_equal(
		        cpl_workload_add(
		                w,
		                &(struct cpl_job){
		                        .routing = cpl_routing_find(
		                                m.net, i ? "SD" : "PA", &err),
		                        .comm = i ? b : a,
		                        .node = node},
		                &err),
		        i);
	assert_int_equal(cpl_workload_solve(w, &err), 0);
	/* Link 0 -> 1 keeps 1000 - x, twice the mean of 0 -> 2, 0 -> 3, 2 -> 1
	 * and 3 -> 1, (1000 + 4 * x / 2) / 4. */
	assert_number(cpl_workload_load(w)->link[0], 750, 1e-6);
	assert_number(cpl_workload_load(w)->link[1], 1125, 1e-6);
	assert_number(cpl_workload_load(w)->link[2], 125, 1e-6);
	cpl_workload_free(w);
	cpl_comm_free(a);
	cpl_comm_free(b);
	cpl_network_free(m.net);
}

/* Decisions take it where the network states it. */
static void test_quick(void **state)
{
	struct cpl_error err = {""};
	struct machine m = {0};

	draw_fly(&m, 1, 1, 0);
	assert_ptr_equal(cpl_routing_find_quick(m.net, NULL, &err),
	                 &cpl_routing_progressive_adaptive);
	cpl_network_free(m.net);
}

/* bytes from the first node to the second cell's, on three cells of so many
 * leaves, one spine and K links to each other: the links between them into
 * global[6 * K]. */
static void send_over(int leaves, int k, double bytes, double *global)
{
	struct cpl_comm_entry entry = {0, 1, bytes, 1};
	struct cpl_error err = {""};
	struct cpl_comm *comm = cpl_comm_build(2, &entry, 1, &err);
	int node[] = {0, leaves};
	struct cpl_workload *w;
	struct cpl_network *net;
	char text[512];

	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-network\", \"version\": 1, "
	         "\"type\": \"dragonfly+\", \"cells\": 3, \"leaves\": %d, "
	         "\"spines\": 1, \"global_links_per_cell_pair\": %d, "
	         "\"routing\": \"PA\", \"adaptive\": {\"threshold\": 0}, "
	         "\"nodes\": \"n[0-%d]\"}",
	         leaves, k, 3 * leaves - 1);
	net = parse_network(text);
	w = cpl_workload_new(net, 1, &err);
	assert_int_equal(
	        cpl_workload_add(
	                w,
	                &(struct cpl_job){
	                        .routing = cpl_routing_find(net, NULL, &err),
	                        .comm = comm,
	                        .node = node},
	                &err),
	        0);
	assert_int_equal(cpl_workload_solve(w, &err), 0);
	memcpy(global, cpl_workload_load(w)->link + net->n_links - 6 * k,
	       6 * (size_t)k * sizeof(*global));
	cpl_workload_free(w);
	cpl_comm_free(comm);
	cpl_network_free(net);
}

/* Of groups whose pairs of routers are more than an int holds one is a
 * gateway. */
static void test_large_groups(void **state)
{
	double large[6], small[6];

	send_over(50000, 1, 900, large);
	send_over(2, 1, 900, small);
	for (int i = 0; i < 6; i++)
		assert_true(large[i] == small[i]);
	assert_number(large[0], 600, 1e-6);
}

/* A third of the least number is 0. */
static void test_least_number(void **state)
{
	double global[18];

	send_over(2, 3, 5e-324, global);
	for (int i = 0; i < 18; i++)
		assert_true(global[i] == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_conserves), cmocka_unit_test(test_low),
	        cmocka_unit_test(test_least),     cmocka_unit_test(test_saturated),
	        cmocka_unit_test(test_others),    cmocka_unit_test(test_quick),
	        cmocka_unit_test(test_large_groups),
	        cmocka_unit_test(test_least_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
