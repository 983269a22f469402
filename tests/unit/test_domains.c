/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes between domains: the bound of tests/bench/domains_bound.c against all
 * assignments of small jobs, and layouts (mapping/domain_layout.h) against that bound
 * and against what the traffic model says of them.
 */
#include <math.h>

#include "unit.h"

#include "../bench/domains_bound.h"
#include "base/random.h"
#include "failing_alloc.h"
#include "mapping/domain_layout.h"
#include "mapping/mappers.h"
#include "mapping/quick.h"
#include "network_text.h"
#include "number.h"
#include "placement/decide.h"
#include "signature/signature.h"
#include "traffic/workload.h"

#define MOST_RANKS 9
#define MOST_DOMAINS 4

static uint64_t draws;

static int draw(int n)
{
	return (int)cpl_random_below(7, 7, draws++, (uint64_t)n);
}

enum kind { RING, CHAIN, ALL, KINDS };

/* Puts a kind of traffic on a line, with bytes drawn for each line or (vary) pair. */
static int64_t put_line(struct cpl_comm_entry *entry, int first, int stride, int c,
                        enum kind kind, bool vary)
{
	int64_t n = 0;
	int bytes = 1 + draw(vary ? 2 : 20);

	for (int i = 0; i < c; i++)
		for (int j = 0; j < c; j++) {
			bool next = kind == CHAIN ? j == i + 1 : j == (i + 1) % c;

			if (i != j && (kind == ALL || next))
				entry[n++] = (struct cpl_comm_entry){
				        first + i * stride, first + j * stride,
				        bytes + (vary ? draw(3) : 0), 1};
		}
	return n;
}

static struct cpl_comm *draw_job(const struct cpl_rank_grid *grid, int vary)
{
	struct cpl_comm_entry entry[10 * MOST_RANKS * MOST_RANKS];
	struct cpl_error err = {""};
	struct cpl_comm *comm;
	int64_t n = 0;

	for (int d = 0; d < grid->n; d++) {
		const struct cpl_rank_dim *dim = &grid->dim[d];
		enum kind kind = (enum kind)draw(KINDS);

		for (int r = 0; r < grid->ranks; r++)
			if (cpl_rank_group(dim, r) == r)
				n += put_line(entry + n, r, dim->stride,
				              dim->length, kind, vary > 0);
	}
	for (int i = 0; vary > 1 && i < 3; i++)
		entry[n++] = (struct cpl_comm_entry){draw(grid->ranks),
		                                     draw(grid->ranks), 5, 1};
	comm = cpl_comm_build(grid->ranks, entry, n, &err);
	assert_non_null(comm);
	return comm;
}

static double between(const struct cpl_comm *comm, const int *domain)
{
	double sum = 0;

	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++)
			if (domain[r] != domain[comm->to[e]])
				sum += comm->bytes[e];
	return sum;
}

/* The least of all assignments that the domains have room for. */
static void try_all(const struct domains *how, int rank, int *domain, int *n,
                    double *least)
{
	if (rank == how->comm->ranks) {
		double sum = between(how->comm, domain);

		for (int d = 0; d < how->n; d++)
			if (n[d] % how->multiple)
				return;
		*least = sum < *least ? sum : *least;
		return;
	}
	for (int d = 0; d < how->n; d++) {
		if (n[d] == how->room[d])
			continue;
		n[d]++;
		domain[rank] = d;
		try_all(how, rank + 1, domain, n, least);
		n[d]--;
	}
}

static double least_of_all(const struct domains *how)
{
	int domain[MOST_RANKS], n[MOST_DOMAINS] = {0};
	double least = 1e300;

	try_all(how, 0, domain, n, &least);
	return least;
}

static const struct cpl_rank_grid grids[] = {
        {8, 1, {{"dp", 1, 8}}},
        {6, 2, {{"tp", 1, 2}, {"dp", 2, 3}}},
        {8, 2, {{"tp", 1, 4}, {"dp", 4, 2}}},
        {9, 2, {{"tp", 1, 3}, {"dp", 3, 3}}},
        {8, 3, {{"tp", 1, 2}, {"dp", 2, 2}, {"pp", 4, 2}}},
        {8, 3, {{"tp", 1, 2}, {"ep", 2, 2}, {"dp", 2, 4}}},
};
#define N_GRIDS (int)(sizeof(grids) / sizeof(*grids))

/* Random jobs in random rooms: the bound is never above the least, and is it where
 * lines are alike in one job of three. */
static void test_bound(void **state)
{
	int equal[3] = {0}, jobs = 120;
	struct cpl_error err = {""};

	for (int i = 0; i < 3 * jobs; i++) {
		const struct cpl_rank_grid *grid = &grids[i % N_GRIDS];
		int room[MOST_DOMAINS], sum = 0, vary = i / jobs;
		int multiple = grid->ranks % 2 ? 1 : 1 + draw(2);
		struct cpl_comm *comm = draw_job(grid, vary);
		struct domains how = {comm, grid, 3, room, multiple};
		double least, bound;

		while (sum < grid->ranks) {
			sum = 0;
			for (int d = 0; d < how.n; d++) {
				room[d] = multiple * (1 + draw(5 / multiple));
				sum += room[d];
			}
		}
		assert_int_equal(domains_bound(&how, &bound, &err), 0);
		least = least_of_all(&how);
		if (bound > least * (1 + 1e-9))
			fail_msg("job %d: %g, but %g is possible", i, bound,
			         least);
		equal[vary] += bound >= least * (1 - 1e-9);
		cpl_comm_free(comm);
	}
	print_message("of %d: %d, %d, %d\n", jobs, equal[0], equal[1], equal[2]);
	assert_in_range(equal[0], jobs / 3, jobs);
	assert_in_range(equal[1], jobs / 8, jobs);
	(void)state;
}

/* By hand: a ring of 8 on domains of 3, 3 and 2 is cut in three places, one of which is
 * where it is open; groups of all to all are cut 2 and 1. */
static void test_bound_by_hand(void **state)
{
	static const int room[] = {3, 3, 2};
	struct cpl_comm_entry ring[8], all[6];
	struct cpl_rank_grid one = {3, 1, {{"ep", 1, 3}}};
	struct cpl_error err = {""};
	struct cpl_comm *comm;
	double bound;
	int n = 0;

	for (int r = 0; r < 8; r++)
		ring[r] = (struct cpl_comm_entry){r, (r + 1) % 8, r == 5 ? 4 : 10,
		                                  1};
	comm = cpl_comm_build(8, ring, 8, &err);
	assert_int_equal(domains_bound(&(struct domains){comm, &grids[0], 3, room, 1},
	                               &bound, &err),
	                 0);
	assert_number(bound, 24, 1e-9);
	cpl_comm_free(comm);
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			if (i != j)
				all[n++] = (struct cpl_comm_entry){i, j, 7, 1};
	comm = cpl_comm_build(3, all, n, &err);
	assert_int_equal(domains_bound(&(struct domains){comm, &one, 2,
	                                                 (int[]){2, 2}, 1},
	                               &bound, &err),
	                 0);
	assert_number(bound, 28, 1e-9);
	assert_int_equal(domains_bound(&(struct domains){comm, &one, 1,
	                                                 (int[]){2}, 1},
	                               &bound, &err),
	                 -1);
	assert_string_equal(err.text, "less room than ranks");
	cpl_comm_free(comm);
	(void)state;
}

/* By hand: three stages of two, on domains of two. Each would be cheapest as an end of the
 * pipeline, where it cuts 2 x 4, but one is in the middle, where it cuts 4 x 4. */
static void test_bound_of_stages(void **state)
{
	struct cpl_rank_grid grid = {6, 2, {{"dp", 1, 2}, {"pp", 2, 3}}};
	struct cpl_comm_entry entry[7];
	struct cpl_error err = {""};
	struct cpl_comm *comm;
	double bound;
	int n = 0;

	for (int r = 0; r < 6; r++) {
		if (r % 2 == 0)
			entry[n++] = (struct cpl_comm_entry){r, r + 1, 10, 1};
		if (r < 4)
			entry[n++] = (struct cpl_comm_entry){r, r + 2, 4, 1};
	}
	comm = cpl_comm_build(6, entry, n, &err);
	assert_int_equal(domains_bound(&(struct domains){comm, &grid, 3,
	                                                 (int[]){2, 2, 2}, 1},
	                               &bound, &err),
	                 0);
	assert_number(bound, 16, 1e-9);
	cpl_comm_free(comm);
	(void)state;
}

/* Six domains of four nodes with two accelerators and rails each. */
#define MACHINE                                                                \
	"{\"format\": \"commplace-network\", \"version\": 1, \"type\": "       \
	"\"fattree\", \"nodes_per_router\": 4, \"levels\": [{\"down\": 12, "    \
	"\"up\": 2, \"bandwidth\": 1}], \"nodes\": \"n[00-23]\", \"ports\": "  \
	"{\"count\": 2}, \"accelerators\": {\"per_node\": 2, \"domain\": "     \
	"{\"nodes\": 4, \"bandwidth\": 9}, \"affinity\": [0, 1], \"pxn\": "
/* The same with rails alone. */
#define RAILS                                                                  \
	"{\"format\": \"commplace-network\", \"version\": 1, \"type\": "       \
	"\"fattree\", \"nodes_per_router\": 4, \"levels\": [{\"down\": 12, "    \
	"\"up\": 2, \"bandwidth\": 1}], \"nodes\": \"n[00-23]\", \"ports\": "  \
	"{\"count\": 2}, \"accelerators\": {\"per_node\": 2, \"affinity\": "    \
	"[0, 1], \"pxn\": true}}"
#define NODES 24
#define RANKS 24

static const char *const signatures[] = {
        "\"tp\": 2, \"dp\": 12, \"layers\": 4",
        "\"tp\": 4, \"dp\": 3, \"pp\": 2, \"layers\": 4, \"vocabulary\": 64",
        "\"tp\": 2, \"dp\": 4, \"pp\": 3, \"layers\": 3, \"vocabulary\": 64",
        "\"tp\": 1, \"dp\": 12, \"pp\": 2, \"ep\": 6, \"experts\": 6, "
        "\"layers\": 2",
};
#define N_SIGNATURES (int)(sizeof(signatures) / sizeof(*signatures))

static struct cpl_signature *parse_job(const char *sizes)
{
	struct cpl_error err = {""};
	struct cpl_signature *sig;
	char text[512];

	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-signature\", \"version\": 1, \"name\": "
	         "\"job\", \"ranks\": %d, \"phases\": [{\"pattern\": {\"type\": "
	         "\"llm\", %s, \"hidden\": 8, \"sequence\": 8}}]}",
	         RANKS, sizes);
	sig = cpl_signature_parse(text, strlen(text), "job", &err);
	if (!sig)
		fail_msg("%s", err.text);
	return sig;
}

/* What the traffic model says of ranks on these nodes. */
static struct cpl_domain_cost told(const struct cpl_network *net,
                                   const struct cpl_comm *comm, const int *node)
{
	struct cpl_error err = {""};
	struct cpl_workload *w = cpl_workload_new(net, 1, &err);
	struct cpl_job job = {.routing = cpl_routing_find(net, NULL, &err),
	                      .comm = comm,
	                      .node = node,
	                      .ranks_per_node = 1};
	struct cpl_domain_cost out = {0};
	const struct cpl_load *load;

	assert_non_null(w);
	assert_int_equal(cpl_workload_add(w, &job, &err), 0);
	assert_int_equal(cpl_workload_solve(w, &err), 0);
	load = cpl_workload_load(w);
	out.bytes = cpl_workload_sums(w, 0)->bytes_on_network;
	for (int64_t c = 0; c < cpl_network_port_cables(net); c++) {
		if (load->injection[c] > out.port)
			out.port = load->injection[c];
		if (load->ejection[c] > out.port)
			out.port = load->ejection[c];
	}
	cpl_workload_free(w);
	return out;
}

/* Draws so many free nodes, in order, and the rooms of domains for ranks. */
static void draw_free(const struct cpl_network *net, int n, int *host, int *room)
{
	int node[NODES], found = 0;

	for (int i = 0; i < NODES; i++)
		node[i] = i;
	for (int i = 0; i < n; i++) {
		int j = i + draw(NODES - i), was = node[i];

		node[i] = node[j];
		node[j] = was;
	}
	memset(room, 0, (size_t)net->accelerators.n_domains * sizeof(*room));
	for (int i = 0; i < NODES; i++)
		for (int k = 0; k < n; k++)
			if (node[k] == i) {
				host[found++] = i;
				if (net->accelerators.domain_of)
					room[net->accelerators.domain_of[i]] += 2;
			}
}

/* A layout has whole hosts, is told what the model tells, is never above blocks nor
 * below the bound. */
static void check_layout(const struct cpl_network *net, int n_hosts, double *above,
                         int *better, int *less)
{
	struct cpl_error err = {""};
	int host[NODES], room[6], rank_host[RANKS], node[RANKS], on[NODES] = {0};
	struct cpl_signature *sig = parse_job(signatures[draw(N_SIGNATURES)]);
	struct cpl_comm *comm = cpl_signature_total(sig, &err);
	struct cpl_rank_grid grid;
	struct cpl_domain_layout how = {net, comm, &grid, n_hosts, host, 2, 0, 0};
	struct domains all = {comm, &grid, 6, room, 2};
	struct cpl_domain_cost blocks, cost, want;
	double bound;

	assert_true(cpl_phases_groups(sig->phase, sig->n_phases, &grid));
	draw_free(net, n_hosts, host, room);
	assert_int_equal(cpl_domain_layout(&how, rank_host, &blocks, &cost, &err), 0);
	for (int r = 0; r < RANKS; r++) {
		node[r] = host[rank_host[r]];
		assert_true(++on[rank_host[r]] <= 2);
	}
	want = told(net, comm, node);
	assert_number(cost.bytes, want.bytes, 1e-9 * want.bytes);
	assert_number(cost.port, want.port, 1e-9 * want.port);
	for (int r = 0; r < RANKS; r++)
		node[r] = host[r / 2];
	want = told(net, comm, node);
	assert_number(blocks.bytes, want.bytes, 1e-9 * want.bytes);
	assert_number(blocks.port, want.port, 1e-9 * want.port);
	assert_true(cost.bytes <= blocks.bytes);
	assert_true(cost.port <= blocks.port * (1 + 1e-9));
	assert_int_equal(domains_bound(&all, &bound, &err), 0);
	assert_true(bound <= cost.bytes * (1 + 1e-9));
	*above += log(cost.bytes / bound);
	/* With little work it is a worse layout, but one. */
	how.work = 500;
	assert_int_equal(cpl_domain_layout(&how, rank_host, &blocks, &want, &err), 0);
	assert_true(want.bytes <= blocks.bytes);
	assert_true(want.port <= blocks.port * (1 + 1e-9));
	*less += want.bytes > cost.bytes * (1 + 1e-9);
	*better += cost.bytes < 0.9 * blocks.bytes;
	cpl_comm_free(comm);
	cpl_signature_free(sig);
}

static void test_layout(void **state)
{
	static const char *const text[] = {MACHINE "true}}", MACHINE "false}}"};
	int better = 0, less = 0, cases = 24;
	double above = 0;

	for (int i = 0; i < cases; i++) {
		struct cpl_network *net = parse_network(text[i % 2]);

		check_layout(net, 12 + i % 4 * 2, &above, &better, &less);
		cpl_network_free(net);
	}
	above = exp(above / cases);
	print_message("%.3f of the bound, %d of %d 10 %% below blocks\n", above,
	              better, cases);
	assert_in_range(better, cases / 2, cases);
	assert_in_range(less, 1, cases);
	assert_true(above < 1.2);
	(void)state;
}

/* The policy's nodes, on which the mapper of that name is never above the first free
 * nodes in blocks; without groups, too; and nodes that are required. */
static void test_policy(void **state)
{
	struct cpl_network *net = parse_network(MACHINE "true}}");
	struct cpl_error err = {""};
	int host[NODES], room[6], out[RANKS / 2], rank_host[RANKS], kept = 0;

	for (int i = 0; i < 12; i++) {
		struct cpl_signature *sig = parse_job(signatures[i % N_SIGNATURES]);
		struct cpl_comm *comm = cpl_signature_total(sig, &err);
		unsigned char free_nodes[NODES] = {0};
		struct cpl_placement_request req = {.net = net,
		                                    .free = free_nodes,
		                                    .n_nodes_wanted = RANKS / 2,
		                                    .comm = comm,
		                                    .ranks_per_node = 2};
		struct cpl_domain_layout how = {net, comm, NULL, 0, host, 2, 0, 0};
		struct cpl_domain_cost stock, blocks, cost, found;

		draw_free(net, 18, host, room);
		for (int k = 0; k < 18; k++)
			free_nodes[host[k]] = 1;
		if (i < 8) {
			assert_true(cpl_phases_groups(sig->phase, sig->n_phases,
			                              &req.grid));
			how.grid = &req.grid;
		}
		how.n_hosts = RANKS / 2;
		assert_int_equal(cpl_domain_layout(&how, rank_host, &stock, &cost,
		                                   &err),
		                 0);
		how.n_hosts = 18;
		assert_int_equal(cpl_domain_layout(&how, rank_host, &blocks, &found,
		                                   &err),
		                 0);
		how.n_hosts = RANKS / 2;
		req.required = &host[17];
		req.n_required = i % 4 == 3;
		assert_int_equal(cpl_placement_groups.place(&req, out, &err), 0);
		for (int k = 0; k < RANKS / 2; k++)
			assert_true(free_nodes[out[k]]);
		how.host = out;
		assert_int_equal(cpl_domain_layout(&how, rank_host, &blocks, &cost,
		                                   &err),
		                 0);
		if (!req.n_required) {
			assert_true(cost.bytes <= stock.bytes * (1 + 1e-9));
			assert_true(cost.port <= stock.port * (1 + 1e-9));
			kept += cost.bytes <= found.bytes * (1 + 1e-9);
		}
		cpl_comm_free(comm);
		cpl_signature_free(sig);
	}
	/* The mapper keeps what was found with all free nodes at hand. */
	print_message("%d of 9 kept\n", kept);
	assert_in_range(kept, 8, 9);
	cpl_network_free(net);
	(void)state;
}

/* What the nodes and the order of a decision come to, and (decided NULL) those of
 * these nodes in blocks. */
static struct cpl_domain_cost told_of(const struct cpl_decide_request *req,
                                      const int *nodes,
                                      const struct cpl_decision *decided)
{
	int node[RANKS];

	for (int r = 0; r < RANKS; r++) {
		int at = decided && decided->rank_host ? decided->rank_host[r]
		                                       : r / 2;

		node[r] = decided ? decided->node[at] : nodes[at];
	}
	return told(req->place.net, req->comm, node);
}

/* A decision for a job on 18 free nodes, of which the scheduler would take the first
 * or (last) is known to take the last, is not above that. Returns whether it is below
 * it in both by a tenth. */
static bool check_decision(struct cpl_decide_request *req, int i)
{
	struct cpl_signature *sig = parse_job(signatures[i % N_SIGNATURES]);
	const struct cpl_network *net = req->place.net;
	bool last = i % 2, domains = net->accelerators.domain_of;
	struct cpl_domain_cost stock, got;
	struct cpl_error err = {""};
	unsigned char free_nodes[NODES] = {0};
	int host[NODES], room[NODES], *own = host + (last ? 6 : 0);
	struct cpl_comm *comm = cpl_signature_total(sig, &err);
	struct cpl_decision decision;

	draw_free(net, 18, host, room);
	for (int k = 0; k < 18; k++)
		free_nodes[host[k]] = 1;
	req->place.free = free_nodes;
	req->place.comm = req->comm = comm;
	req->stock = last ? own : NULL;
	if (i % 3) {
		assert_true(cpl_phases_groups(sig->phase, sig->n_phases,
		                              &req->place.grid));
		req->phase = sig->phase;
		req->n_phases = sig->n_phases;
	}
	assert_int_equal(cpl_decide(req, &decision, &err), 0);
	stock = told_of(req, own, NULL);
	got = told_of(req, NULL, &decision);
	if (domains && req->wish.objective != CPL_OBJECTIVE_BUSIEST &&
	    got.bytes > stock.bytes * (1 + 1e-9))
		fail_msg("case %d: %g bytes between domains, stock %g", i,
		         got.bytes, stock.bytes);
	if (got.port > stock.port * (1 + 1e-9))
		fail_msg("case %d: %g bytes on a rail, stock %g", i, got.port,
		         stock.port);
	cpl_decision_free(&decision);
	cpl_comm_free(comm);
	cpl_signature_free(sig);
	return got.bytes < 0.9 * stock.bytes && got.port < 0.9 * stock.port;
}

/* No objective leaves a rail busier than the scheduler's own nodes in blocks have it, and
 * those that do not look at links of nodes send no more between domains; rails without
 * domains, too. */
static void test_decision(void **state)
{
	static const char *const text[] = {MACHINE "true}}", MACHINE "false}}",
	                                   RAILS};
	static const enum cpl_objective objective[] = {
	        CPL_OBJECTIVE_MAX, CPL_OBJECTIVE_MEAN, CPL_OBJECTIVE_HOP_BYTES,
	        CPL_OBJECTIVE_BUSIEST};
	int better = 0, cases = 192;

	for (int i = 0; i < cases; i++) {
		struct cpl_network *net = parse_network(text[i / 4 % 3]);
		struct cpl_error err = {""};
		struct cpl_decide_request req = {
		        .place = {.net = net,
		                  .n_nodes_wanted = RANKS / 2,
		                  .ranks_per_node = 2,
		                  .seed = (uint64_t)i},
		        .wish = {.policy = i / 12 % 2 ? &cpl_placement_traffic
		                                      : &cpl_placement_auto,
		                 .mapper = i / 24 % 2 ? &cpl_mapper_quick
		                                      : &cpl_mapper_groups,
		                 .objective = objective[i / 48]},
		        .routing = cpl_routing_find(net, NULL, &err),
		        .ranks_per_node = 2};

		better += check_decision(&req, i);
		cpl_network_free(net);
	}
	print_message("%d of %d below the scheduler's in both\n", better, cases);
	assert_in_range(better, cases / 8, cases);
	(void)state;
}

/* Each allocation fails once, and the layout says so; but matrices that cannot shrink
 * stay as long as they were, some seven arrays of each of eight layouts. */
static void test_memory(void **state)
{
	struct cpl_network *net = parse_network(MACHINE "true}}");
	struct cpl_signature *sig = parse_job(signatures[1]);
	struct cpl_error err = {""};
	struct cpl_comm *comm = cpl_signature_total(sig, &err);
	struct cpl_rank_grid grid;
	struct cpl_domain_cost blocks, cost;
	int host[NODES], room[6], rank_host[RANKS], rc = -1, without = 0;
	bool done = false;
	struct cpl_domain_layout how = {net, comm, &grid, RANKS / 2, host, 2, 0, 0};

	assert_true(cpl_phases_groups(sig->phase, sig->n_phases, &grid));
	draw_free(net, RANKS / 2, host, room);
	for (int n = 0; !done; n++) {
		err.text[0] = '\0';
		left = n;
		rc = cpl_domain_layout(&how, rank_host, &blocks, &cost, &err);
		done = left >= 0;
		left = -1;
		without += !rc && !done;
		assert_int_equal(err.text[0] != '\0', rc != 0);
	}
	assert_int_equal(rc, 0);
	assert_in_range(without, 0, 56);
	how.n_hosts--;
	assert_int_equal(cpl_domain_layout(&how, rank_host, &blocks, &cost, &err), -1);
	assert_string_equal(err.text, "24 ranks need more than 11 hosts");
	cpl_comm_free(comm);
	cpl_signature_free(sig);
	cpl_network_free(net);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_bound),
	        cmocka_unit_test(test_bound_by_hand),
	        cmocka_unit_test(test_bound_of_stages),
	        cmocka_unit_test(test_layout),
	        cmocka_unit_test(test_policy),
	        cmocka_unit_test(test_decision),
	        cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
