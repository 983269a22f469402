/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mappers tile, treematch and recursive; names with options. */
#include "unit.h"

#include "mapping/mappers.h"
#include "mapping/tile.h"
#include "mapping_jobs.h"

static void lay(struct job *job, const char *option)
{
	struct cpl_error err = {""};

	job->req.option = option;
	if (cpl_mapper_map(&cpl_mapper_tile, &job->req, job->rank_host, &err))
		fail_msg("%s: %s", option, err.text);
	check_counts(job, job->rank_host);
}

static void refuse(struct job *job, const char *option, const char *why)
{
	struct cpl_error err = {""};

	job->req.option = option;
	assert_int_equal(cpl_mapper_map(&cpl_mapper_tile, &job->req,
	                                job->rank_host, &err),
	                 -1);
	if (!strstr(err.text, why))
		fail_msg("%s: %s", option, err.text);
}

/* Blue Gene/Q: the last letter fastest; A is dimension 0 of the network, whose
 * node ids have it fastest. */
static void test_orders(void **state)
{
	struct job job;

	set_up(&job, torus(4, 3, 2, true), random_comm(48, 1, 1), 24);
	for (int h = 0; h < 24; h++)
		job.slots[h] = 2;
	lay(&job, "ABCT");
	for (int r = 0; r < 48; r++) {
		int c = r / 2 % 2, b = r / 4 % 3, a = r / 12;

		assert_int_equal(job.rank_host[r], a + 4 * (b + 3 * c));
	}
	lay(&job, "tcba");
	for (int r = 0; r < 48; r++)
		assert_int_equal(job.rank_host[r], r % 24);
	lay(&job, "CBAT");
	for (int r = 0; r < 48; r++)
		assert_int_equal(job.rank_host[r], r / 2);
	tear_down(&job);
}

/* Rubik's figure: planes of 9x3x1 ranks onto cubes of 3x3x3 nodes, 8 each. */
static void test_planes_onto_cubes(void **state)
{
	struct job job;

	set_up(&job, torus(6, 6, 6, true), random_comm(216, 1, 1), 216);
	lay(&job, "9x3x8/9x3x1/3x3x3x1");
	for (int r = 0; r < 216; r++) {
		int k = r % 8, y = r / 8 % 3, x = r / 24, i = x * 3 + y;
		int a = k / 4 * 3 + i / 9, b = k / 2 % 2 * 3 + i / 3 % 3;
		int c = k % 2 * 3 + i % 3;

		assert_int_equal(job.rank_host[r], a + 6 * (b + 6 * c));
	}
	tear_down(&job);
}

/* A tilt of the second dimension along the first: row b moves by b. */
static void test_tilt(void **state)
{
	struct job job;

	set_up(&job, torus(4, 4, 1, true), random_comm(16, 1, 1), 16);
	lay(&job, "4x4/4x4/4x4x1x1/tiltBA");
	for (int r = 0; r < 16; r++) {
		int a = r / 4, b = r % 4;

		assert_int_equal(job.rank_host[r], (a + b) % 4 + 4 * b);
	}
	lay(&job, "4x4/2x4/2x4x1x1/tiltBA3/tiltAB");
	for (int r = 0; r < 16; r++) {
		int a = r / 4 % 2, b = r % 4, tile = r / 8;

		a = (a + 3 * b) % 2;
		b = (b + a) % 4;
		assert_int_equal(job.rank_host[r], tile * 2 + a + 4 * b);
	}
	tear_down(&job);
}

/* Without an option: 8x8 ranks, four on a node, are cut into squares. */
static void test_alone_finds_tiles(void **state)
{
	struct cpl_comm_entry entry[128];
	int name[64], n = 0;
	struct job job;

	for (int i = 0; i < 64; i++)
		name[i] = i;
	cpl_random_shuffle(name, 64, 3, 3);
	for (int i = 0; i < 64; i++) {
		int right = i % 8 == 7 ? i - 7 : i + 1;

		entry[n++] =
		        (struct cpl_comm_entry){name[i], name[right], 9, 1};
		entry[n++] = (struct cpl_comm_entry){name[i],
		                                     name[(i + 8) % 64], 9, 1};
	}
	set_up(&job, torus(4, 4, 1, true), build(64, entry, n), 16);
	for (int h = 0; h < 16; h++)
		job.slots[h] = 4;
	lay(&job, NULL);
	/* Half of the edges leave their square, all by one hop. */
	assert_true(hop_bytes(&job, job.rank_host) == 64 * 9);
	tear_down(&job);
}

static void test_tile_refuses(void **state)
{
	struct job job;

	set_up(&job, torus(4, 3, 2, true), random_comm(24, 1, 1), 24);
	refuse(&job, "ABT", "3 coordinates are given");
	refuse(&job, "23/23/23x1x1x1", "BOX holds 23 ranks, the job has 24");
	refuse(&job, "24/3/3x1x1x1",
	       "3 of ON does not divide the job's length "
	       "4 along A");
	refuse(&job, "24/2/1x1x1x2",
	       "2 of ON does not divide the job's length "
	       "1 along T");
	refuse(&job, "24/2/2x1x1x1/tiltAD", "names a coordinate");
	tear_down(&job);
}

static void test_option_text(void **state)
{
	struct cpl_tile_option o;
	struct cpl_error err = {""};

	assert_int_equal(
	        cpl_tile_option_parse("16x8/4x2/2x2x2/tiltTB12", &o, &err), 0);
	assert_int_equal(o.n_box, 2);
	assert_int_equal(o.box[1], 8);
	assert_int_equal(o.n_on, 3);
	assert_int_equal(o.n_tilts, 1);
	assert_int_equal(o.tilt[0].of, -1);
	assert_int_equal(o.tilt[0].along, 1);
	assert_int_equal(o.tilt[0].slope, 12);
	assert_string_equal(cpl_mapper_option("tile:ABT"), "ABT");
	assert_null(cpl_mapper_option("tile"));
	assert_ptr_equal(cpl_mapper_find("Tile:TAB", &err), &cpl_mapper_tile);
	assert_null(cpl_mapper_find("tile:TAC", &err));
	assert_non_null(strstr(err.text, "'TAC'"));
	assert_null(cpl_mapper_find("linear:", &err));
	assert_non_null(strstr(err.text, "takes no option"));
	/* This program does without Scotch, as the plugins do. */
	assert_null(cpl_mapper_find("scotch", &err));
	assert_non_null(strstr(err.text, "only in a commplace command"));
	assert_null(cpl_mapper_find("til", &err));
	assert_non_null(strstr(err.text, "did you mean tile?"));
	assert_non_null(strstr(err.text, "it must be one of default, linear"));
	assert_non_null(strstr(err.text, "best"));
}

/* RR-8269's example: 8 processes on a tree of arities 2, 3, 2. In leaves from
 * left to right the answer is 0 1 2 3 6 7 8 9. */
static void test_treematch_example(void **state)
{
	static const double m[8][8] = {
	        {0, 1000, 10, 1, 100, 1, 1, 1},
	        {1000, 0, 1000, 1, 1, 100, 1, 1},
	        {10, 1000, 0, 1000, 1, 1, 100, 1},
	        {1, 1, 1000, 0, 1, 1, 1, 100},
	        {100, 1, 1, 1, 0, 1000, 10, 1},
	        {1, 100, 1, 1, 1000, 0, 1000, 1},
	        {1, 1, 100, 1, 10, 1000, 0, 1000},
	        {1, 1, 1, 100, 1, 1, 1000, 0},
	};
	static const int leaf[8] = {0, 1, 2, 3, 6, 7, 8, 9};
	static const char *const tree[] = {
	        "{\"format\":\"commplace-network\",\"version\":1,"
	        "\"type\":\"fattree\",\"nodes_per_router\":2,\"leaves\":6,"
	        "\"levels\":[{\"down\":3,\"up\":1},{\"down\":2,\"up\":1}],"
	        "\"nodes\":\"n[0-11]\"}",
	        /* The same as a graph of switches. */
	        "{\"format\":\"commplace-network\",\"version\":1,"
	        "\"type\":\"graph\",\"routers\":9,\"node_routers\":6,"
	        "\"nodes_per_router\":2,\"links\":[[0,6],[1,6],[2,6],[3,7],"
	        "[4,7],[5,7],[6,8],[7,8]],\"nodes\":\"n[0-11]\"}",
	};
	struct cpl_comm_entry entry[64];

	for (int i = 0; i < 64; i++)
		entry[i] = (struct cpl_comm_entry){i / 8, i % 8,
		                                   m[i / 8][i % 8], 1};
	for (int i = 0; i < 2; i++) {
		struct cpl_comm_entry copy[64];
		struct cpl_error err = {""};
		struct job job;

		memcpy(copy, entry, sizeof(copy));
		set_up(&job, parse_network(tree[i]), build(8, copy, 64), 12);
		assert_int_equal(cpl_map_run(&cpl_mapper_treematch, &job.req,
		                             job.rank_host, &err),
		                 0);
		assert_memory_equal(job.rank_host, leaf, sizeof(leaf));
		tear_down(&job);
	}
}

/* Traffic in groups of groups that are those of a dragonfly, names shuffled. */
static void test_treematch_groups_of_groups(void **state)
{
	struct cpl_comm_entry entry[32 * 31];
	struct cpl_error err = {""};
	int name[32], n = 0;
	struct job job;

	for (int i = 0; i < 32; i++)
		name[i] = i;
	cpl_random_shuffle(name, 32, 5, 5);
	for (int i = 0; i < 32; i++)
		for (int k = 0; k < 32; k++)
			if (i != k)
				entry[n++] = (struct cpl_comm_entry){
				        name[i], name[k],
				        i / 2 == k / 2   ? 1000
				        : i / 4 == k / 4 ? 100
				        : i / 8 == k / 8 ? 10
				                         : 1,
				        1};
	set_up(&job, dragonfly(), build(32, entry, n), 32);
	assert_int_equal(cpl_mapper_map(&cpl_mapper_treematch, &job.req,
	                                job.rank_host, &err),
	                 0);
	check_counts(&job, job.rank_host);
	for (int i = 0; i < 32; i++)
		for (int k = 0; k < 32; k++)
			for (int size = 2; size <= 8; size *= 2)
				assert_int_equal(
				        i / size == k / size,
				        job.rank_host[name[i]] / size ==
				                job.rank_host[name[k]] / size);
	tear_down(&job);
}

/* Two groups of ranks that do not talk to each other, two hosts behind each of
 * two switches: only a graph through the empty switch tells hosts apart. */
static void test_recursive_through_switches(void **state)
{
	struct cpl_comm_entry entry[24];
	struct cpl_error err = {""};
	struct job job;
	int n = 0;

	for (int i = 0; i < 8; i++)
		for (int k = 0; k < 8; k++)
			if (i < k && i % 2 == k % 2)
				entry[n++] =
				        (struct cpl_comm_entry){i, k, 9, 1};
	set_up(&job,
	       parse_network(
	               "{\"format\":\"commplace-network\",\"version\":1,"
	               "\"type\":\"graph\",\"routers\":7,\"node_routers\":4,"
	               "\"links\":[[0,4],[3,4],[1,5],[2,5],[4,6],[5,6]],"
	               "\"nodes\":\"n[0-3]\"}"),
	       build(8, entry, n), 4);
	for (int h = 0; h < 4; h++)
		job.slots[h] = 2;
	assert_int_equal(cpl_mapper_map(&cpl_mapper_recursive, &job.req,
	                                job.rank_host, &err),
	                 0);
	check_counts(&job, job.rank_host);
	for (int r = 2; r < 8; r++)
		assert_int_equal(job.rank_host[r] % 3 == 0,
		                 job.rank_host[r % 2] % 3 == 0);
	tear_down(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_orders),
	        cmocka_unit_test(test_planes_onto_cubes),
	        cmocka_unit_test(test_tilt),
	        cmocka_unit_test(test_alone_finds_tiles),
	        cmocka_unit_test(test_tile_refuses),
	        cmocka_unit_test(test_option_text),
	        cmocka_unit_test(test_treematch_example),
	        cmocka_unit_test(test_treematch_groups_of_groups),
	        cmocka_unit_test(test_recursive_through_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
