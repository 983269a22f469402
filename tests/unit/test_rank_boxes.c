/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranks of a grid in boxes for the hosts. */
#include "commplace-config.h"

#include "unit.h"

#include "mapping/rank_boxes.h"
#include "mapping/rank_groups.h"

#define MAX_RANKS 512
#define MAX_GROUPS 64

/* Neighbours on a torus of these sides (0: no more), bytes by dimension, ranks
 * renamed by r -> (r * times) % ranks. */
static struct cpl_comm *grid(const int *side, const double *bytes, int times)
{
	static struct cpl_comm_entry entry[8 * MAX_RANKS];
	int n = 1, used = 0;

	for (int d = 0; d < 4 && side[d]; d++)
		n *= side[d];
	for (int r = 0; r < n; r++) {
		int stride = 1;

		for (int d = 0; d < 4 && side[d]; stride *= side[d++]) {
			int at = r / stride % side[d];

			for (int by = 1; by < side[d]; by += side[d] - 2) {
				int to = r + ((at + by) % side[d] - at) *
				                     stride;

				entry[used++] = (struct cpl_comm_entry){
				        r * times % n, to * times % n, bytes[d],
				        1};
				if (side[d] <= 2)
					break;
			}
		}
	}
	return cpl_comm_build(n, entry, used, NULL);
}

static void check_sizes(const int *of, int ranks, const int *size, int n)
{
	int got[MAX_GROUPS] = {0};

	for (int r = 0; r < ranks; r++)
		got[of[r]]++;
	for (int i = 0; i < n; i++)
		assert_int_equal(got[i], size[i]);
}

/* Equal groups: what the busiest sends is the surface of the best box. */
static void test_surfaces(void **state)
{
	static const struct {
		int side[4];
		double bytes[4];
		int each;
		double most;
	} row[] = {
	        {{8, 8}, {1, 1}, 4, 8},       /* 2x2 */
	        {{32, 16}, {1, 1}, 16, 16},   /* 4x4 */
	        {{8, 8, 8}, {1, 1, 1}, 8, 24},
	        {{8, 8, 8}, {1, 1, 1}, 16, 40}, /* 2x2x4 */
	        {{4, 4, 4, 4}, {1, 1, 1, 1}, 16, 64},
	        /* Along the dimension that sends most. */
	        {{8, 8}, {1, 16}, 4, 8 + 32},
	        {{8, 8}, {16, 1}, 4, 8 + 32},
	        {{4, 8}, {16, 1}, 4, 8}, /* a whole ring */
	        {{6, 10}, {1, 1}, 6, 10}, /* 2x3 or 3x2 */
	        {{64}, {1}, 8, 2},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_comm *comm = grid(row[i].side, row[i].bytes, 1);
		struct cpl_comm *graph = cpl_comm_symmetric(comm, NULL);
		int size[MAX_GROUPS], of[MAX_RANKS];
		int n = comm->ranks / row[i].each;
		struct cpl_group_cut cut;

		for (int k = 0; k < n; k++)
			size[k] = row[i].each;
		assert_int_equal(cpl_rank_boxes(comm, graph, size, n, of, &cut,
		                                NULL), 1);
		check_sizes(of, comm->ranks, size, n);
		if (cut.most != row[i].most || cut.all != n * cut.most)
			fail_msg("row %zu: %g, %g in all", i, cut.most,
			         cut.all);
		cpl_comm_free(graph);
		cpl_comm_free(comm);
	}
}

/* Boxes that do not fill the grid, groups that differ, the last without ranks:
 * every rank is given out, and the cut told is that of these groups. */
static void test_rests(void **state)
{
	static const int side[] = {7, 9, 0}, size[][8] = {
		{16, 16, 9, 16, 6, 0, 0, 0}, {9, 9, 9, 9, 9, 9, 5, 4}};
	static const double bytes[] = {1, 1};
	struct cpl_comm *comm = grid(side, bytes, 1);
	struct cpl_comm *graph = cpl_comm_symmetric(comm, NULL);

	for (int i = 0; i < 2; i++) {
		struct cpl_group_cut cut, again;
		double sums[16];
		int of[63];

		assert_int_equal(cpl_rank_boxes(comm, graph, size[i], 8, of,
		                                &cut, NULL), 1);
		check_sizes(of, 63, size[i], 8);
		again = cpl_group_cut(comm, of, 8, sums);
		assert_true(cut.most == again.most && cut.all == again.all);
	}
	cpl_comm_free(graph);
	cpl_comm_free(comm);
}

/* Nothing is sent; and ranks that are not numbered along their grid: groups are
 * never worse than blocks. */
static void test_no_grid(void **state)
{
	static const int side[] = {8, 8, 0}, size[] = {16, 16, 16, 16};
	static const double none[] = {0, 0}, bytes[] = {1, 1};
	struct cpl_comm *comm = grid(side, none, 1);
	struct cpl_comm *graph = cpl_comm_symmetric(comm, NULL);
	struct cpl_rank_groups groups;
	struct cpl_group_cut cut, block;
	double sums[8];
	int of[64];

	assert_int_equal(cpl_rank_boxes(comm, graph, size, 4, of, &cut, NULL),
	                 0);
	cpl_comm_free(graph);
	cpl_comm_free(comm);
	comm = grid(side, bytes, 27);
	graph = cpl_comm_symmetric(comm, NULL);
	cpl_rank_groups_list_blocks(size, 4, 64, of);
	block = cpl_group_cut(comm, of, 4, sums);
	if (cpl_rank_groups_grow(&groups, NULL, comm, graph, size, 4, NULL) == 1) {
		cut = cpl_group_cut(comm, groups.of, 4, sums);
		assert_true(cut.most < block.most || cut.all < block.all);
		cpl_rank_groups_free(&groups);
	}
	cpl_comm_free(graph);
	cpl_comm_free(comm);
}

/* Everybody in a row of 16 and in a column of 32 sends to all there: half a row or a
 * quarter of a column as a group sends as much outside, and it is the columns that
 * are looked at beside blocks. Halos are no such rows. */
static void test_columns(void **state)
{
	enum { ROW = 16, ROWS = 32, RANKS = ROW * ROWS, GROUPS = RANKS / 8 };
	struct cpl_comm_entry *entry = malloc((size_t)RANKS * (ROW + ROWS) *
	                                      sizeof(*entry));
	struct cpl_rank_groups groups;
	struct cpl_comm *comm, *graph;
	int size[GROUPS], of[RANKS], n = 0;

	for (int r = 0; r < RANKS; r++)
		for (int to = 0; to < RANKS; to++)
			if (to != r && (to / ROW == r / ROW ||
			                to % ROW == r % ROW))
				entry[n++] = (struct cpl_comm_entry){r, to, 1,
				                                     1};
	for (int i = 0; i < GROUPS; i++)
		size[i] = 8;
	comm = cpl_comm_build(RANKS, entry, n, NULL);
	graph = cpl_comm_symmetric(comm, NULL);
	assert_int_equal(
	        cpl_rank_groups_grow(&groups, NULL, comm, graph, size, GROUPS,
	                             NULL),
	        1);
	for (int r = 0; r < RANKS; r++)
		assert_int_equal(groups.of[r],
		                 r % ROW * (ROWS / 8) + r / ROW / 8);
	cpl_rank_groups_free(&groups);
	cpl_comm_free(graph);
	cpl_comm_free(comm);
	/* One row of all. */
	n = 0;
	for (int r = 0; r < ROW; r++)
		for (int to = 0; to < ROW; to++)
			entry[n++] = (struct cpl_comm_entry){r, to, 1, 1};
	comm = cpl_comm_build(ROW, entry, n, NULL);
	graph = cpl_comm_symmetric(comm, NULL);
	assert_int_equal(cpl_rank_columns(graph, size, 2, of, NULL), 0);
	cpl_comm_free(graph);
	cpl_comm_free(comm);
	free(entry);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_surfaces),
	        cmocka_unit_test(test_rests),
	        cmocka_unit_test(test_no_grid),
	        cmocka_unit_test(test_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
