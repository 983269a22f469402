/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Communication groups: their grid, their spread, layouts that keep them whole. */
#include "unit.h"

#include "base/random.h"
#include "graph/rank_grid.h"
#include "mapping/cell_spread.h"
#include "mapping/group_layout.h"
#include "mapping/replace.h"
#include "placement/placement.h"
#include "mapping_jobs.h"
#include "signature/tasks.h"

static struct cpl_rank_grid megatron(int tp, int ep, int dp, int pp)
{
	return (struct cpl_rank_grid){.ranks = tp * dp * pp,
	                              .n = 4,
	                              .dim = {{"tp", 1, tp},
	                                      {"ep", tp, ep},
	                                      {"dp", tp, dp},
	                                      {"pp", tp * dp, pp}}};
}

static void test_grid(void **state)
{
	struct cpl_rank_grid grid = megatron(2, 2, 4, 3), tasks;
	struct cpl_rank_axis axis[CPL_RANK_GRID_AXES];

	assert_true(cpl_rank_grid_is_sound(&grid, 24));
	assert_false(cpl_rank_grid_is_sound(&grid, 48));
	/* tp 0, ep 1, the rest of dp 2, pp 3. */
	assert_int_equal(cpl_rank_grid_axes(&grid, axis), 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(axis[i].dim, i);
	assert_int_equal(axis[2].stride, 4);
	assert_int_equal(axis[2].length, 2);
	/* Coordinates of rank 23: the last of each. */
	assert_int_equal(cpl_rank_coordinate(&grid.dim[2], 23), 3);
	assert_int_equal(cpl_rank_group(&grid.dim[3], 23), 7);
	/* Tasks of 4 ranks have tp and ep inside, and half of dp. */
	assert_true(cpl_rank_grid_contract(&grid, 4, &tasks));
	assert_int_equal(tasks.ranks, 6);
	assert_int_equal(tasks.n, 2);
	assert_string_equal(tasks.dim[0].name, "dp");
	assert_int_equal(tasks.dim[0].stride, 1);
	assert_int_equal(tasks.dim[0].length, 2);
	assert_int_equal(tasks.dim[1].stride, 2);
	/* Tasks of 3 cut tp. */
	assert_false(cpl_rank_grid_contract(&grid, 3, &tasks));
	(void)state;
}

/* Stages that are numbered faster than data parallel ranks still come last. */
static void test_order_of_axes(void **state)
{
	struct cpl_rank_grid grid = {
	        .ranks = 24,
	        .n = 3,
	        .dim = {{"pp", 2, 3}, {"dp", 6, 4}, {"tp", 1, 2}}};
	struct cpl_rank_axis axis[CPL_RANK_GRID_AXES];

	assert_int_equal(cpl_rank_grid_axes(&grid, axis), 3);
	assert_int_equal(axis[0].dim, 2);
	assert_int_equal(axis[1].dim, 1);
	assert_int_equal(axis[2].dim, 0);
	grid.dim[1].stride = 5;
	assert_false(cpl_rank_grid_is_sound(&grid, 24));
	(void)state;
}

static void test_spread(void **state)
{
	struct cpl_rank_grid grid = megatron(1, 1, 3, 2);
	static const int unit[] = {0, 0, 1, 2, 1, 1};
	struct cpl_rank_spread spread;
	struct cpl_error err = {""};

	assert_int_equal(cpl_rank_grid_spread(&grid, 2, unit, 3, &spread, &err),
	                 0);
	assert_int_equal(spread.groups, 2);
	assert_int_equal(spread.most, 2);
	assert_float_equal(spread.mean, 2, 0);
	/* Stages: {0, 2}, {0, 1}, {1}. */
	assert_int_equal(cpl_rank_grid_spread(&grid, 3, unit, 3, &spread, &err),
	                 0);
	assert_int_equal(spread.groups, 3);
	assert_int_equal(spread.most, 2);
	assert_float_equal(spread.mean, 5.0 / 3, 1e-12);
	(void)state;
}

/* The most units that a row has cells on, or a column. */
static int most_units(const struct cpl_cell_spread *how, const int *unit,
                      int along)
{
	bool rows = along == CPL_ROWS;
	int lines = rows ? how->rows : how->columns, most = 0;
	int length = rows ? how->columns : how->rows;

	for (int l = 0; l < lines; l++) {
		unsigned int units = 0;
		int n;

		for (int i = 0; i < length; i++) {
			int cell = rows ? l * length + i : i * lines + l;

			units |= 1U << unit[cell];
		}
		n = __builtin_popcount(units);
		most = n > most ? n : most;
	}
	return most;
}

/* Optima that can be told by hand. */
static void test_cells(void **state)
{
	static const struct {
		int rows, columns, room[5], n;
		double weight[2];
		int most[2];
	} cases[] = {
	        /* Squares of 2 x 2, whole rows, whole columns. */
	        {4, 4, {4, 4, 4, 4}, 4, {0.5, 0.5}, {2, 2}},
	        {4, 4, {4, 4, 4, 4}, 4, {0.9, 0.1}, {1, 4}},
	        {4, 4, {4, 4, 4, 4}, 4, {0.1, 0.9}, {4, 1}},
	        /* One unit has all. */
	        {4, 4, {3, 16, 5, 17}, 4, {0.5, 0.5}, {1, 1}},
	        /* Rooms of 5 and 3 for rows of 4: two rows have to share. */
	        {2, 4, {5, 3}, 2, {0.9, 0.1}, {2, 2}},
	        /* Whole columns of 2: 3, 2 and 1 of them. */
	        {2, 6, {6, 5, 2, 0, 1}, 5, {0.4, 0.6}, {3, 1}},
	        {1, 7, {2, 4, 2, 3}, 4, {0.5, 0.5}, {2, 1}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cpl_cell_spread how = {
		        cases[i].rows, cases[i].columns, cases[i].n,
		        cases[i].room,
		        {cases[i].weight[0], cases[i].weight[1]}};
		struct cpl_cell_spreads got;
		struct cpl_error err = {""};
		int unit[16], left[5];

		assert_int_equal(cpl_cell_spread_solve(&how, unit, &got, &err),
		                 0);
		if (got.most[0] != cases[i].most[0] ||
		    got.most[1] != cases[i].most[1])
			fail_msg("case %zu: %d and %d", i, got.most[0],
			         got.most[1]);
		for (int k = CPL_ROWS; k <= CPL_COLUMNS; k++)
			assert_int_equal(got.most[k],
			                 most_units(&how, unit, k));
		memcpy(left, cases[i].room, sizeof(left));
		for (int k = 0; k < how.rows * how.columns; k++)
			assert_true(--left[unit[k]] >= 0);
	}
	(void)state;
}

static void test_no_room(void **state)
{
	static const int room[] = {3, 2};
	struct cpl_cell_spread how = {2, 3, 2, room, {1, 1}};
	struct cpl_cell_spreads got;
	struct cpl_error err = {""};
	int unit[6];

	assert_int_equal(cpl_cell_spread_solve(&how, unit, &got, &err), -1);
	assert_string_equal(err.text,
	                    "6 cells of groups, but room for 5");
	(void)state;
}

/* The least cost of all layouts of the cells from `cell` on. */
static double least(const struct cpl_cell_spread *how, int *unit, int *left,
                    int cell)
{
	double best = 1e9;

	if (cell == how->rows * how->columns)
		return how->weight[CPL_ROWS] * most_units(how, unit, CPL_ROWS) +
		       how->weight[CPL_COLUMNS] *
		               most_units(how, unit, CPL_COLUMNS);
	for (int u = 0; u < how->n_units; u++) {
		double cost;

		if (!left[u])
			continue;
		left[u]--;
		unit[cell] = u;
		cost = least(how, unit, left, cell + 1);
		best = cost < best ? cost : best;
		left[u]++;
	}
	return best;
}

/* Against all layouts of small grids: never better, and seldom worse. */
static void test_optimum(void **state)
{
	static const double rows[] = {0.2, 0.5, 0.8};
	uint64_t key = cpl_random_key(7, 0), draw = 0;
	int worse = 0, n = 0;
	double sum = 0;

	while (n < 300) {
		int room[3], left[3], unit[9], all = 0;
		double weight = rows[cpl_random_at(key, draw++) % 3], best;
		struct cpl_cell_spread how = {
		        2 + (int)(cpl_random_at(key, draw++) % 2),
		        2 + (int)(cpl_random_at(key, draw++) % 2),
		        3,
		        room,
		        {weight, 1 - weight}};
		struct cpl_cell_spreads got;
		struct cpl_error err = {""};

		for (int u = 0; u < 3; u++)
			all += room[u] = (int)(cpl_random_at(key, draw++) % 6);
		if (all < how.rows * how.columns)
			continue;
		memcpy(left, room, sizeof(left));
		best = least(&how, unit, left, 0);
		assert_int_equal(cpl_cell_spread_solve(&how, unit, &got, &err),
		                 0);
		assert_true(got.cost >= best - 1e-9);
		worse += got.cost > best + 1e-9;
		sum += got.cost / best - 1;
		n++;
	}
	if (sum / n > 0.02)
		fail_msg("%d of %d worse than the optimum, in the mean by %g",
		         worse, n, sum / n);
	(void)state;
}

static struct cpl_network *leaves(void)
{
	return parse_network(
	        "{\"format\":\"commplace-network\",\"version\":1,"
	        "\"name\":\"ft\",\"type\":\"fattree\",\"nodes_per_router\":4,"
	        "\"levels\":[{\"down\":4,\"up\":4},{\"down\":4,\"up\":4}],"
	        "\"nodes\":\"n[0-63]\"}");
}

/* Experts of 2 nodes stay on a leaf, though node order would cut them: leaves have
 * 3, 2, 3 and 2 nodes of the job. */
static void test_mapper(void **state)
{
	static const int host[] = {0, 1, 2, 4, 5, 8, 9, 10, 12, 13};
	struct cpl_rank_grid grid = megatron(2, 2, 4, 2);
	struct cpl_comm_entry entry[] = {{0, 1, 8, 1}, {0, 2, 4, 1},
	                                 {0, 4, 2, 1}, {0, 8, 1, 1}};
	struct cpl_rank_spread spread;
	struct cpl_error err = {""};
	int unit[16];
	struct job job;

	set_up(&job, leaves(), build(20, entry, 4), 10);
	for (int h = 0; h < 10; h++) {
		job.host[h] = host[h];
		job.slots[h] = 2;
	}
	job.req.grid = &grid;
	if (cpl_mapper_map(&cpl_mapper_groups, &job.req, job.rank_host, &err))
		fail_msg("%s", err.text);
	check_counts(&job, job.rank_host);
	for (int r = 0; r < 16; r++)
		unit[r] = host[job.rank_host[r]] / 4;
	/* tp on a node, ep on a leaf, dp on two. */
	for (int r = 0; r < 16; r += 2)
		assert_int_equal(job.rank_host[r], job.rank_host[r + 1]);
	assert_int_equal(cpl_rank_grid_spread(&grid, 1, unit, 4, &spread, &err),
	                 0);
	assert_int_equal(spread.most, 1);
	assert_int_equal(cpl_rank_grid_spread(&grid, 2, unit, 4, &spread, &err),
	                 0);
	assert_int_equal(spread.most, 2);
	tear_down(&job);
	(void)state;
}

/* Without a grid the ranks that talk share leaves. */
static void test_by_traffic(void **state)
{
	struct cpl_comm_entry entry[16];
	struct cpl_error err = {""};
	struct job job;

	/* Ranks r and r + 4 k talk: leaf by leaf a ring of them. */
	for (int r = 0; r < 16; r++)
		entry[r] = (struct cpl_comm_entry){r, (r + 4) % 16, 1, 1};
	set_up(&job, leaves(), build(16, entry, 16), 16);
	if (cpl_mapper_map(&cpl_mapper_groups, &job.req, job.rank_host, &err))
		fail_msg("%s", err.text);
	check_counts(&job, job.rank_host);
	for (int r = 0; r < 16; r++)
		assert_int_equal(job.rank_host[r] / 4,
		                 job.rank_host[r % 4] / 4);
	tear_down(&job);
	(void)state;
}

/* The policy takes whole leaves of one switch; a stage each, as that is where most
 * is sent. */
static void test_policy(void **state)
{
	struct cpl_network *net = leaves();
	struct cpl_comm_entry entry[] = {{0, 1, 9, 1}, {0, 4, 1, 1}};
	struct cpl_comm *comm = build(16, entry, 2);
	unsigned char free_nodes[64];
	struct cpl_placement_request req = {.net = net,
	                                    .free = free_nodes,
	                                    .n_nodes_wanted = 16,
	                                    .grid = megatron(1, 1, 4, 4),
	                                    .comm = comm,
	                                    .ranks_per_node = 1};
	struct cpl_error err = {""};
	int node[16];

	memset(free_nodes, 1, sizeof(free_nodes));
	/* Node order would begin in leaves that are in use. */
	free_nodes[0] = free_nodes[5] = free_nodes[20] = 0;
	assert_int_equal(cpl_placement_groups.place(&req, node, &err), 0);
	for (int i = 0; i < 16; i++)
		assert_int_equal(node[i], 32 + i);
	/* Groups that are not known: nodes near each other. */
	req.grid.n = 0;
	assert_int_equal(cpl_placement_groups.place(&req, node, &err), 0);
	assert_int_equal(node[15] / 16, node[0] / 16);
	cpl_comm_free(comm);
	cpl_network_free(net);
	(void)state;
}

static void test_signature(void **state)
{
	static const char text[] =
	        "{\"format\":\"commplace-signature\",\"version\":1,"
	        "\"name\":\"l\",\"ranks\":16,\"phases\":[{\"name\":\"s\","
	        "\"weight\":1,\"pattern\":{\"type\":\"llm\",\"tp\":2,\"dp\":4,"
	        "\"pp\":2,\"layers\":2,\"hidden\":8,\"sequence\":8}}]}";
	struct cpl_error err = {""};
	struct cpl_signature *sig =
	        cpl_signature_parse(text, strlen(text), "l", &err);
	struct cpl_signature *tasks;
	struct cpl_rank_grid grid;
	double bytes[CPL_RANK_GRID_DIMS];
	struct cpl_comm *comm;

	assert_non_null(sig);
	assert_true(cpl_phases_groups(sig->phase, sig->n_phases, &grid));
	assert_true(cpl_rank_grid_is_sound(&grid, 16));
	comm = cpl_signature_total(sig, &err);
	assert_non_null(comm);
	/* All that is sent is sent inside of some group. */
	cpl_rank_grid_bytes(&grid, comm, bytes);
	for (int d = 1; d < grid.n; d++)
		bytes[0] += bytes[d];
	assert_float_equal(bytes[0], all_bytes(comm), 1e-6);
	/* Tasks of 4 ranks: tensor parallel ranks and pairs of data parallel ones
	 * are inside. */
	tasks = cpl_signature_tasks(sig, 4, &err);
	assert_non_null(tasks);
	assert_int_equal(tasks->ranks, 4);
	assert_float_equal(all_bytes(tasks->phase[0].comm), all_bytes(comm),
	                   1e-6);
	assert_true(cpl_phases_groups(tasks->phase, 1, &grid));
	assert_int_equal(grid.n, 2);
	cpl_signature_free(tasks);
	assert_null(cpl_signature_tasks(sig, 3, &err));
	assert_string_equal(err.text,
	                    "its 16 ranks are no processes of 3 tasks");
	assert_true(cpl_signature_peek_groups(text, strlen(text)));
	assert_false(cpl_signature_peek_groups(text, 100));
	cpl_comm_free(comm);
	cpl_signature_free(sig);
	(void)state;
}

/* Context parallel ranks are among those with the same parameters; experts spread over
 * both, or over ranks that are no line of the grid. */
static void test_context(void **state)
{
	static const struct {
		const char *keys;
		int ep;
	} cases[] = {{"\"cp\":2,\"dp\":6,\"ep\":4,\"experts\":4", 4},
	             {"\"cp\":4,\"dp\":3,\"ep\":6,\"experts\":6", 1}};

	for (int i = 0; i < 2; i++) {
		char text[512];
		struct cpl_error err = {""};
		struct cpl_signature *sig;
		struct cpl_rank_grid grid;

		snprintf(text, sizeof(text),
		         "{\"format\":\"commplace-signature\",\"version\":1,"
		         "\"name\":\"l\",\"ranks\":48,\"phases\":[{\"name\":"
		         "\"s\",\"weight\":1,\"pattern\":{\"type\":\"llm\","
		         "\"tp\":2,%s,\"pp\":2,\"layers\":2,\"hidden\":8,"
		         "\"sequence\":48}}]}",
		         cases[i].keys);
		sig = cpl_signature_parse(text, strlen(text), "l", &err);
		if (!sig)
			fail_msg("%s", err.text);
		assert_true(cpl_phases_groups(sig->phase, 1, &grid));
		assert_int_equal(grid.n, 5);
		assert_int_equal(grid.dim[2].length, cases[i].ep);
		assert_int_equal(grid.dim[3].stride, 2);
		assert_int_equal(grid.dim[3].length, 12);
		assert_int_equal(grid.dim[4].stride, 24);
		cpl_signature_free(sig);
	}
	(void)state;
}

/* 2 ranks that talk and one that does not. */
static void test_replace(void **state)
{
	struct cpl_network *net = leaves();
	struct cpl_comm_entry entry[] = {{0, 2, 5, 1}, {1, 1, 1, 1}};
	struct cpl_comm *comm = build(3, entry, 2);
	static const int rank_host[] = {0, 1, 2};
	unsigned char free_nodes[64] = {0};
	int node[] = {8, 0, 9};
	struct cpl_error err = {""};
	struct cpl_replacing how = {.net = net,
	                            .routing = cpl_routing_find(net, NULL, &err),
	                            .comm = comm,
	                            .objective = CPL_OBJECTIVE_HOP_BYTES,
	                            .n_hosts = 3,
	                            .rank_host = rank_host,
	                            .free = free_nodes};

	assert_int_equal(cpl_replace_hosts(&how, (int[]){2}, 1, node, NULL,
	                                   &err), -1);
	assert_string_equal(err.text, "no node is free to replace n9");
	assert_int_equal(node[2], 9);
	/* Another switch above, another leaf, the same leaf. */
	free_nodes[3] = free_nodes[20] = free_nodes[13] = free_nodes[14] = 1;
	assert_int_equal(cpl_replace_hosts(&how, (int[]){2}, 1, node, NULL,
	                                   &err), 0);
	assert_int_equal(node[2], 3);
	node[2] = 9;
	free_nodes[11] = free_nodes[10] = 1;
	assert_int_equal(cpl_replace_hosts(&how, (int[]){2}, 1, node, NULL,
	                                   &err), 0);
	assert_int_equal(node[2], 10);
	assert_int_equal(node[0], 8);
	/* Which sends nothing goes to the first that is free. */
	assert_int_equal(cpl_replace_hosts(&how, (int[]){1}, 1, node, NULL,
	                                   &err), 0);
	assert_int_equal(node[1], 3);
	cpl_comm_free(comm);
	cpl_network_free(net);
	(void)state;
}

static void test_segments(void **state)
{
	struct cpl_network *net = leaves();
	unsigned char free_nodes[64] = {0};
	struct cpl_placement_request req = {.net = net,
	                                    .free = free_nodes,
	                                    .option = "2"};
	struct cpl_error err = {""};
	int node[12];

	/* Leaves 0 .. 4 have 1, 3, 4, 2 and 3 free nodes. */
	free_nodes[0] = 1;
	memset(free_nodes + 4, 1, 3);
	memset(free_nodes + 8, 1, 4);
	memset(free_nodes + 12, 1, 2);
	memset(free_nodes + 16, 1, 3);
	/* The leaf with 2 fits one best; the whole one two. */
	req.n_nodes_wanted = 2;
	assert_int_equal(cpl_placement_segments.place(&req, node, &err), 0);
	assert_int_equal(node[0], 12);
	assert_int_equal(node[1], 13);
	req.n_nodes_wanted = 4;
	assert_int_equal(cpl_placement_segments.place(&req, node, &err), 0);
	assert_int_equal(node[0], 8);
	assert_int_equal(node[3], 11);
	/* One more, which goes where one node is left. */
	req.n_nodes_wanted = 5;
	assert_int_equal(cpl_placement_segments.place(&req, node, &err), 0);
	assert_int_equal(node[3], 11);
	assert_int_equal(node[4], 0);
	/* 13 nodes are free, but no 4 segments of 3: the rest comes last. */
	req.option = "3";
	req.n_nodes_wanted = 12;
	assert_int_equal(cpl_placement_segments.place(&req, node, &err), 0);
	for (int i = 0; i < 9; i += 3)
		assert_int_equal(node[i] / 4, node[i + 2] / 4);
	assert_int_equal(node[9], 12);
	assert_int_equal(node[10], 13);
	cpl_network_free(net);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_grid),
	        cmocka_unit_test(test_order_of_axes),
	        cmocka_unit_test(test_spread),
	        cmocka_unit_test(test_cells),
	        cmocka_unit_test(test_no_room),
	        cmocka_unit_test(test_optimum),
	        cmocka_unit_test(test_mapper),
	        cmocka_unit_test(test_by_traffic),
	        cmocka_unit_test(test_policy),
	        cmocka_unit_test(test_signature),
	        cmocka_unit_test(test_context),
	        cmocka_unit_test(test_replace),
	        cmocka_unit_test(test_segments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
