/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Links in bundles against the traffic model, and the repair of a busiest link. */
#include "unit.h"

#include "mapping/best/best.h"
#include "mapping/mappers.h"
#include "mapping_jobs.h"

#define HEAD "{\"format\":\"commplace-network\",\"version\":1,"

static const char *const network_text[] = {
        HEAD "\"type\":\"dragonfly+\",\"cells\":4,\"leaves\":[4,3,4,2],"
             "\"spines\":4,\"global_links_per_cell_pair\":4,"
             "\"nodes_per_router\":6,\"nodes\":\"n[0-77]\"}",
        HEAD "\"type\":\"fattree\",\"nodes_per_router\":6,\"leaves\":12,"
             "\"levels\":[{\"down\":4,\"up\":3,\"links\":1},"
             "{\"down\":3,\"up\":2,\"links\":2}],\"routing\":\"ecmp\","
             "\"nodes\":\"n[0-71]\"}",
        HEAD "\"type\":\"torus\",\"dims\":[4,3,3],\"nodes_per_router\":2,"
             "\"bandwidth\":{\"dim\":[1,2,4],\"injection\":2},"
             "\"nodes\":\"n[0-71]\"}",
        HEAD "\"type\":\"dragonfly\",\"groups\":3,\"rows\":2,\"columns\":4,"
             "\"nodes_per_router\":3,\"nodes\":\"n[0-71]\"}",
};
#define N_NETWORKS (sizeof(network_text) / sizeof(*network_text))

static uint64_t draw(uint64_t seed, uint64_t i, uint64_t n)
{
	return cpl_random_below(seed, 77, i, n);
}

/* Each rank with the next; or 27 points of a box, without wrap. */
static struct cpl_comm *make_comm(int ranks, bool ring)
{
	struct cpl_comm_entry *entry =
	        malloc((size_t)ranks * 27 * sizeof(*entry));
	int dim[3] = {1, 1, ranks};
	struct cpl_comm *comm;
	int64_t n = 0;

	for (int i = 2; i * i * i <= ranks; i++)
		if (ranks % i == 0)
			dim[0] = i;
	dim[2] /= dim[0];
	for (int i = 2; i * i <= ranks / dim[0]; i++)
		if (ranks / dim[0] % i == 0)
			dim[1] = i;
	dim[2] /= dim[1];
	for (int r = 0; r < ranks; r++)
		for (int d = 0; d < 27; d++) {
			int step[3] = {d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1};
			int away = abs(step[0]) + abs(step[1]) + abs(step[2]);
			int x = r % dim[0] + step[0];
			int y = r / dim[0] % dim[1] + step[1];
			int z = r / dim[0] / dim[1] + step[2];

			if (ring || !away || x < 0 || x >= dim[0] || y < 0 ||
			    y >= dim[1] || z < 0 || z >= dim[2])
				continue;
			entry[n++] = (struct cpl_comm_entry){
			        r, (z * dim[1] + y) * dim[0] + x,
			        away == 1   ? 4096
			        : away == 2 ? 64
			                    : 1,
			        1};
		}
	for (int r = 0; r < ranks && ring; r++) {
		entry[n++] = (struct cpl_comm_entry){r, (r + 1) % ranks, 10, 1};
		entry[n++] = (struct cpl_comm_entry){(r + 1) % ranks, r, 10, 1};
	}
	comm = build(ranks, entry, n);
	free(entry);
	return comm;
}

/* Some nodes of the network, in order or not, with as many ranks each. */
static void allocate(struct job *job, size_t network, struct cpl_comm *comm,
                     int hosts, int each, uint64_t seed)
{
	struct cpl_network *net = parse_network(network_text[network]);
	int *node = malloc((size_t)net->n_nodes * sizeof(*node)), taken = 0;

	for (int i = 0; i < net->n_nodes; i++)
		node[i] = i;
	cpl_random_shuffle(node, net->n_nodes, seed, 3);
	set_up(job, net, comm, hosts);
	if (seed % 2) { /* by node, as most are */
		bool *used = calloc((size_t)net->n_nodes, sizeof(*used));

		for (int i = 0; i < hosts; i++)
			used[node[i]] = true;
		for (int i = 0; i < net->n_nodes; i++)
			if (used[i])
				node[taken++] = i;
		free(used);
	}
	for (int h = 0; h < hosts; h++) {
		job->host[h] = node[h];
		job->slots[h] = each;
	}
	job->req.objective = CPL_OBJECTIVE_BUSIEST;
	free(node);
}

/* By the switches' numbers. */
static void sort_blocks(const struct job *job, int each, int *rank_host)
{
	int ranks = job->req.comm->ranks;

	for (int i = 0; i < job->req.n_hosts; i++) {
		int before = 0;

		for (int j = 0; j < job->req.n_hosts; j++)
			before += job->host[j] < job->host[i];
		for (int k = 0; k < each; k++)
			if (before * each + k < ranks)
				rank_host[before * each + k] = i;
	}
}

static double busiest(const struct job *job, const int *rank_host)
{
	struct cpl_error err = {""};
	struct cpl_workload *w = cpl_workload_new(job->net, 1, &err);
	struct cpl_job j = {.routing = job->req.routing,
	                    .comm = job->comm,
	                    .node = job->host,
	                    .rank_host = rank_host};
	struct cpl_metrics m;

	assert_non_null(w);
	assert_int_equal(cpl_workload_evaluate(w, &j, NULL, &m, NULL, &err), 0);
	cpl_workload_free(w);
	return m.max_congestion > m.max_injection ? m.max_congestion
	                                          : m.max_injection;
}

/* On all networks, rings and halos of 1 to 4 ranks a node. */
static void test_never_busier(void **state)
{
	int worse = 0, mended = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 120; seed++) {
		int each = 1 + (int)draw(seed, 0, 4);
		int hosts = 4 + (int)draw(seed, 1, 44), *order, *greedy;
		size_t ranks = (size_t)(hosts * each);
		bool ring = seed / 4 % 2;
		struct cpl_error err = {""};
		double sorted, got, paper;
		struct job job;

		order = malloc(ranks * sizeof(*order));
		greedy = malloc(ranks * sizeof(*greedy));
		allocate(&job, seed % N_NETWORKS,
		         make_comm(hosts * each, ring), hosts, each, seed / 8);
		sort_blocks(&job, each, order);
		sorted = busiest(&job, order);
		assert_int_equal(cpl_map_greedyallc(&job.req, greedy, &err), 0);
		paper = busiest(&job, greedy);
		assert_int_equal(cpl_mapper_map(&cpl_mapper_greedyallc,
		                                &job.req, job.rank_host, &err),
		                 0);
		check_counts(&job, job.rank_host);
		got = busiest(&job, job.rank_host);
		assert_true(got <= sorted * (1 + 1e-9));
		assert_true(got <= paper * (1 + 1e-9));
		worse += paper > 1.1 * sorted;
		mended += got < 0.99 * paper && got < 0.99 * sorted;
		/* Other objectives have the paper's answer. */
		job.req.objective = CPL_OBJECTIVE_HOP_BYTES;
		assert_int_equal(cpl_mapper_map(&cpl_mapper_greedyallc,
		                                &job.req, job.rank_host, &err),
		                 0);
		assert_memory_equal(job.rank_host, greedy,
		                    ranks * sizeof(*greedy));
		tear_down(&job);
		free(order);
		free(greedy);
	}
	/* There was something to mend, and not by that order alone. */
	assert_true(worse > 10);
	assert_true(mended > 10);
}

/* Congestion by bundles after many swaps is that of the traffic model, what
 * others load included. */
static void test_loads(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 8; seed++) {
		struct cpl_error err = {""};
		struct cpl_bundle_loads loads;
		struct cpl_bundles bundles;
		struct cpl_load background;
		struct cpl_metrics m;
		struct cpl_workload *w;
		struct cpl_job j;
		double link, cable;
		struct job job;

		allocate(&job, seed % N_NETWORKS,
		         random_comm(60, 4, seed), 20, 3, seed);
		assert_int_equal(
		        cpl_load_init(&background, job.net, &err), 0);
		for (int64_t l = 0; l < job.net->n_links; l++)
			background.link[l] = (double)draw(seed, 100 + (uint64_t)l, 90);
		for (int n = 0; n < job.net->n_nodes; n++)
			background.injection[n] = (double)n;
		job.req.background = seed < 4 ? NULL : &background;
		for (int r = 0; r < 60; r++)
			job.rank_host[r] = r / 3;
		assert_int_equal(cpl_bundles_init(&bundles, &job.req, 1 << 20,
		                                  &err),
		                 1);
		assert_int_equal(cpl_bundle_loads_init(&loads, &bundles,
		                                       &job.req, job.rank_host,
		                                       &err),
		                 0);
		for (uint64_t i = 0; i < 400; i++) {
			int a = (int)draw(seed, 1000 + 3 * i, 60);
			int b = (int)draw(seed, 1001 + 3 * i, 60);
			int host = job.rank_host[a];

			if (host == job.rank_host[b])
				continue;
			cpl_bundle_loads_swap(&loads, job.rank_host, a, b);
			if (draw(seed, 1002 + 3 * i, 3) == 0) {
				cpl_bundle_loads_undo(&loads);
				continue;
			}
			cpl_bundle_loads_keep(&loads);
			job.rank_host[a] = job.rank_host[b];
			job.rank_host[b] = host;
		}
		j = (struct cpl_job){.routing = job.req.routing,
		                     .comm = job.comm,
		                     .node = job.host,
		                     .rank_host = job.rank_host};
		w = cpl_workload_new(job.net, 1, &err);
		assert_non_null(w);
		assert_int_equal(cpl_workload_evaluate(w, &j,
		                                       job.req.background, &m,
		                                       NULL, &err),
		                 0);
		cpl_bundle_loads_max(&loads, &link, &cable);
		assert_float_equal(link, m.max_congestion,
		                   1e-9 * m.max_congestion);
		/* The job's nodes only. */
		if (seed < 4)
			assert_float_equal(cable, m.max_injection,
			                   1e-9 * m.max_injection);
		/* Most links are like others where leaves have spines. */
		if (seed % N_NETWORKS == 0 && seed < 4)
			assert_true(4 * bundles.n_parts <= bundles.path_links + 4);
		cpl_bundle_loads_free(&loads);
		cpl_bundles_free(&bundles);
		cpl_workload_free(w);
		cpl_load_free(&background);
		tear_down(&job);
	}
}

/* Where ways are too many, there are none. */
static void test_too_many(void **state)
{
	struct cpl_error err = {""};
	struct cpl_bundles bundles;
	struct job job;

	(void)state;
	allocate(&job, 0, make_comm(40, true), 40, 1, 1);
	assert_int_equal(cpl_bundles_init(&bundles, &job.req, 1 << 20, &err), 1);
	assert_true(bundles.path_links > 100 && bundles.n_parts < bundles.path_links);
	cpl_bundles_free(&bundles);
	assert_int_equal(cpl_bundles_init(&bundles, &job.req, 100, &err), 0);
	assert_int_equal(bundles.n_links, 0);
	tear_down(&job);
}

/* A shuffled grid of 4 x 4 x 4 on 16 hosts of 4: boxes, and those of a leaf or a
 * pair of leaves are boxes too. */
static void test_nest(void **state)
{
	int name[64], at[64], low[3], high[3];
	struct cpl_comm_entry entry[64 * 6];
	struct cpl_error err = {""};
	struct cpl_grid grid;
	struct job job;
	int64_t n = 0;

	(void)state;
	for (int i = 0; i < 64; i++)
		name[i] = i;
	cpl_random_shuffle(name, 64, 5, 1);
	for (int i = 0; i < 64; i++) {
		at[name[i]] = i;
		for (int step = 1; step < 64; step *= 4)
			if (i / step % 4 < 3) {
				entry[n++] = (struct cpl_comm_entry){
				        name[i], name[i + step], 100, 1};
				entry[n++] = (struct cpl_comm_entry){
				        name[i + step], name[i], 100, 1};
			}
	}
	allocate(&job, 1, build(64, entry, n), 16, 4, 1);
	/* Two hosts on each of eight leaves of 6 nodes. */
	for (int h = 0; h < 16; h++)
		job.host[h] = h / 2 * 6 + h % 2 * 3;
	assert_int_equal(cpl_map_find_grid(&(struct cpl_map_request){0}, job.graph, &grid, &err), 1);
	assert_int_equal(cpl_map_nest(&job.req, &grid, job.rank_host, &err), 0);
	check_counts(&job, job.rank_host);
	/* Hosts of one, of a leaf, of two leaves (which share no unit). */
	for (int share = 1; share <= 4; share *= 2)
		for (int first = 0; first < 16; first += share) {
			int volume = 1;

			for (int d = 0; d < 3; d++) {
				low[d] = 4;
				high[d] = -1;
			}
			for (int r = 0; r < 64; r++)
				for (int d = 0; d < 3; d++) {
					int x = at[r] >> (2 * d) & 3;

					if (job.rank_host[r] / share !=
					    first / share)
						continue;
					low[d] = x < low[d] ? x : low[d];
					high[d] = x > high[d] ? x : high[d];
				}
			for (int d = 0; d < 3; d++)
				volume *= high[d] - low[d] + 1;
			assert_int_equal(volume, 4 * share);
		}
	free(grid.cell);
	tear_down(&job);
}

/* Groups that talk to nobody else, shuffled, on hosts of 64 slots: as many whole
 * as there can be. */
static void test_pack(void **state)
{
	static const struct {
		int size, hosts, whole;
	} row[] = {{6, 3, 30}, {48, 3, 3}, {8, 2, 16}, {10, 5, 30}, {96, 3, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		int size = row[i].size, ranks = 64 * row[i].hosts, whole = 0;
		int groups = ranks / size, name[320], n = 0;
		struct cpl_comm_entry *entry =
		        malloc((size_t)ranks * 96 * sizeof(*entry));
		struct cpl_error err = {""};
		struct job job;

		for (int r = 0; r < ranks; r++)
			name[r] = r;
		cpl_random_shuffle(name, ranks, 7, 1);
		for (int a = 0; a < ranks; a++)
			for (int b = 0; b < ranks; b++)
				if (a != b && a / size == b / size)
					entry[n++] = (struct cpl_comm_entry){
					        name[a], name[b], 10, 1};
		allocate(&job, 0, build(ranks, entry, n), row[i].hosts, 64, 1);
		assert_int_equal(cpl_map_pack(&job.req, job.rank_host, &err),
		                 1);
		check_counts(&job, job.rank_host);
		for (int g = 0; g < groups; g++) {
			bool one = true;

			for (int k = 1; k < size; k++)
				one = one && job.rank_host[name[g * size]] ==
				                     job.rank_host
				                             [name[g * size +
				                                   k]];
			whole += one;
		}
		assert_int_equal(whole, row[i].whole);
		tear_down(&job);
		free(entry);
	}
}

/* The largest that fits is not always the one that leaves least: 36 and 14 and
 * 14, not 20, then 30, 20, 14. */
static void test_pack_sizes(void **state)
{
	static const int size[] = {14, 36, 14, 20, 30, 14};
	struct cpl_comm_entry entry[128 * 36];
	struct cpl_error err = {""};
	struct job job;
	int n = 0, first = 0;

	(void)state;
	for (int g = 0; g < 6; first += size[g++])
		for (int a = first; a < first + size[g]; a++)
			for (int b = first; b < first + size[g]; b++)
				if (a != b)
					entry[n++] = (struct cpl_comm_entry){
					        a, b, 10, 1};
	allocate(&job, 0, build(128, entry, n), 2, 64, 1);
	assert_int_equal(cpl_map_pack(&job.req, job.rank_host, &err), 1);
	check_counts(&job, job.rank_host);
	for (int e = 0; e < n; e++)
		assert_int_equal(job.rank_host[entry[e].from],
		                 job.rank_host[entry[e].to]);
	tear_down(&job);
}

#define GROUPS 14
#define PLACES 128

/* Groups of ranks, and hosts with as many places as there are ranks. */
struct packed {
	int n_groups, n_hosts, ranks;
	int size[GROUPS], slots[GROUPS];
	int group[PLACES]; /* of a rank */
};

/* Sizes 1 to 12 on hosts of 3 to 20 places; now and then one is larger than
 * each of them. */
static void draw_groups(struct packed *p, uint64_t seed)
{
	int name[PLACES], left, r = 0;

	*p = (struct packed){.n_hosts = 2 + (int)draw(seed, 1, 4)};
	for (int h = 0; h < p->n_hosts; h++)
		p->ranks += p->slots[h] =
		        3 + (int)draw(seed, 10 + (uint64_t)h, 18);
	for (left = p->ranks; left; p->n_groups++) {
		int size = 1 + (int)draw(seed, 50 + (uint64_t)left, 12);

		if (!p->n_groups && seed % 4 == 0)
			size = 21;
		if (!p->n_groups && size > p->ranks / 2)
			size = p->ranks / 2;
		if (size > left || p->n_groups == GROUPS - 1)
			size = left;
		p->size[p->n_groups] = size;
		left -= size;
	}
	for (int i = 0; i < p->ranks; i++)
		name[i] = i;
	cpl_random_shuffle(name, p->ranks, seed, 4);
	for (int g = 0; g < p->n_groups; g++)
		for (int k = 0; k < p->size[g]; k++)
			p->group[name[r++]] = g;
}

/* All of a group talk to each other, some to others a little. */
static struct cpl_comm *comm_of_groups(const struct packed *p, uint64_t seed)
{
	struct cpl_comm_entry *entry =
	        malloc((size_t)p->ranks * PLACES * sizeof(*entry));
	struct cpl_comm *comm;
	int n = 0;

	for (int a = 0; a < p->ranks; a++)
		for (int b = 0; b < a; b++)
			if (p->group[a] == p->group[b])
				entry[n++] =
				        (struct cpl_comm_entry){a, b, 100, 1};
			else if (draw(seed, (uint64_t)(a * PLACES + b), 3) == 0)
				entry[n++] =
				        (struct cpl_comm_entry){b, a, 24, 1};
	comm = build(p->ranks, entry, n);
	free(entry);
	return comm;
}

/* The largest sum of the sizes left, up to room. */
static int most_of(const struct packed *p, unsigned left, int room)
{
	int most = 0;

	for (unsigned set = left;; set = (set - 1) & left) {
		int sum = 0;

		for (int g = 0; g < p->n_groups; g++)
			sum += set >> g & 1 ? p->size[g] : 0;
		if (sum <= room && sum > most)
			most = sum;
		if (!set)
			return most;
	}
}

/* Host by host: the largest group that is left and fits, then as much as can
 * be. */
static void check_packed(const struct packed *p, const int *rank_host)
{
	int on[GROUPS] = {0}, most = 0, at = 0;
	int slots[GROUPS], host[GROUPS];
	unsigned left = 0;

	for (int g = 0; g < p->n_groups; g++)
		host[g] = -1;
	for (int r = 0; r < p->ranks; r++)
		if (host[p->group[r]] < 0 || host[p->group[r]] == rank_host[r])
			host[p->group[r]] = rank_host[r];
		else
			host[p->group[r]] = GROUPS; /* several */
	for (int h = 0; h < p->n_hosts; h++) {
		slots[h] = p->slots[h];
		most = slots[h] > most ? slots[h] : most;
	}
	/* Those that no host holds come first, side by side. */
	for (int g = 0; g < p->n_groups; g++) {
		if (p->size[g] <= most) {
			left |= 1U << g;
			continue;
		}
		for (int k = 0; k < p->size[g]; k++) {
			while (!slots[at])
				at++;
			slots[at]--;
		}
	}
	for (int h = 0; h < p->n_hosts; h++) {
		int largest = 0, first, whole = 0, has = 0;
		unsigned mine = 0;

		for (int g = 0; g < p->n_groups; g++) {
			if (left >> g & 1 && p->size[g] <= slots[h] &&
			    p->size[g] > largest)
				largest = p->size[g];
			if (left >> g & 1 && host[g] == h) {
				mine |= 1U << g;
				whole += p->size[g];
				has = p->size[g] > has ? p->size[g] : has;
			}
		}
		assert_int_equal(has, largest);
		first = -1;
		for (int g = 0; g < p->n_groups && first < 0; g++)
			if (mine >> g & 1 && p->size[g] == largest)
				first = g;
		if (first >= 0)
			assert_int_equal(whole - largest,
			                 most_of(p, left & ~(1U << first),
			                         slots[h] - largest));
		left &= ~mine;
	}
	for (int r = 0; r < p->ranks; r++)
		on[rank_host[r]]++;
	assert_memory_equal(on, p->slots, (size_t)p->n_hosts * sizeof(int));
}

static void test_pack_leaves_least(void **state)
{
	int large = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 80; seed++) {
		struct cpl_error err = {""};
		struct packed p;
		struct job job;

		draw_groups(&p, seed);
		large += p.size[0] > 20;
		/* Hosts by node. */
		allocate(&job, 0, comm_of_groups(&p, seed), p.n_hosts, 1, 1);
		memcpy(job.slots, p.slots, sizeof(p.slots));
		assert_int_equal(cpl_map_pack(&job.req, job.rank_host, &err),
		                 1);
		check_packed(&p, job.rank_host);
		tear_down(&job);
	}
	assert_true(large > 3);
}

/* One group, or each rank by itself: there is nothing to pack. A quarter of the
 * heaviest pair is what holds a group together. */
static void test_pack_needs_groups(void **state)
{
	static const struct {
		double within, between;
		int rc;
	} row[] = {{100, 24, 1},
	           {100, 25, 0},
	           {100, 100, 0},
	           {0, 100, 1},
	           {0, 0, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_comm_entry entry[] = {{0, 1, row[i].within, 1},
		                                 {2, 3, row[i].within, 1},
		                                 {1, 2, row[i].between, 1}};
		struct cpl_error err = {""};
		struct job job;

		allocate(&job, 0, build(4, entry, 3), 2, 2, 1);
		assert_int_equal(cpl_map_pack(&job.req, job.rank_host, &err),
		                 row[i].rc);
		tear_down(&job);
	}
}

/* Halos on allocations of a dragonfly+: best is never busier than block order by
 * switches, whichever of the two objectives, and far better all in all. */
static void test_best(void **state)
{
	double sum = 0;
	int n = 0;

	(void)state;
	for (uint64_t seed = 1; seed < 24; seed += 2)
		for (int o = 0; o < 2; o++, n++) {
			int hosts = 8 + (int)draw(seed, 5, 24), *order;
			struct cpl_error err = {""};
			struct cpl_map_result result;
			double sorted;
			struct job job;

			order = malloc((size_t)hosts * 4 * sizeof(*order));
			allocate(&job, 0, make_comm(4 * hosts, false), hosts, 4,
			         seed);
			sort_blocks(&job, 4, order);
			sorted = busiest(&job, order);
			job.req.objective =
			        o ? CPL_OBJECTIVE_BUSIEST : CPL_OBJECTIVE_MAX;
			job.req.work = 100000;
			assert_int_equal(cpl_map(&cpl_mapper_best, &job.req,
			                         &result, &err),
			                 0);
			check_counts(&job, result.rank_host);
			assert_true(busiest(&job, result.rank_host) <=
			            sorted * (1 + 1e-9));
			assert_true(result.after.max_congestion <=
			            result.before.max_congestion * (1 + 1e-9) ||
			            o);
			sum += result.after.max_congestion /
			       result.before.max_congestion;
			cpl_map_result_free(&result);
			tear_down(&job);
			free(order);
		}
	assert_true(sum < 0.8 * n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_loads),
	        cmocka_unit_test(test_too_many),
	        cmocka_unit_test(test_never_busier),
	        cmocka_unit_test(test_nest),
	        cmocka_unit_test(test_pack),
	        cmocka_unit_test(test_pack_sizes),
	        cmocka_unit_test(test_pack_leaves_least),
	        cmocka_unit_test(test_pack_needs_groups),
	        cmocka_unit_test(test_best),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
