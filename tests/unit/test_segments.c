/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "mapping/segments.h"

/* Groups of so many ranks, with all of each other; `step` 0: of ranks in a row, else
 * the ranks r, r + step, ...; and a ring over all of 1 byte. */
static struct cpl_comm *groups_of(int ranks, int group, int step, double bytes)
{
	int64_t n = 0, room = (int64_t)ranks * (group + 2);
	struct cpl_comm_entry *entry = calloc((size_t)room, sizeof(*entry));
	struct cpl_comm *comm;

	for (int r = 0; r < ranks; r++) {
		for (int k = 0; k < group; k++) {
			int first = step ? r % step : r / group * group;
			int to = step ? first + k * step : first + k;

			if (to != r && to < ranks && bytes > 0)
				entry[n++] =
				        (struct cpl_comm_entry){r, to, bytes, 1};
		}
		entry[n++] = (struct cpl_comm_entry){r, (r + 1) % ranks, 1, 1};
	}
	comm = cpl_comm_build(ranks, entry, n, NULL);
	free(entry);
	return comm;
}

static void advised(void **state)
{
	static const struct {
		int ranks, per_node, group, step, domain, segment;
	} row[] = {
	        /* Groups of 32 ranks are 8 nodes of 4, which 16 would not serve
	         * better. */
	        {256, 4, 32, 0, 18, 8},
	        {256, 4, 64, 0, 18, 16},
	        /* The same ones across the order of nodes. */
	        {64, 1, 8, 8, 18, 8},
	        /* They do not fit a domain: the most that does. */
	        {256, 4, 256, 0, 18, 16},
	        /* What a node's ranks send each other is no matter. */
	        {64, 8, 8, 0, 18, 8},
	        /* All fit in. */
	        {16, 2, 16, 0, 18, 8},
	        /* 13 nodes are divided by none but 13. */
	        {13, 1, 13, 0, 12, 1},
	        {13, 1, 13, 0, 13, 13},
	        {1, 1, 1, 0, 18, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_comm *comm = groups_of(row[i].ranks, row[i].group,
		                                  row[i].step, 1000);
		struct cpl_segment_advice a;
		struct cpl_error err = {""};
		int count[256] = {0};

		assert_int_equal(cpl_segment_advise(comm, row[i].per_node,
		                                    row[i].domain, &a, &err),
		                 0);
		if (a.segment != row[i].segment)
			fail_msg("row %d: %d", (int)i, a.segment);
		for (int k = 0; k < a.nodes; k++)
			count[a.of[k]]++;
		for (int s = 0; s < a.nodes / a.segment; s++)
			assert_int_equal(count[s], a.segment);
		cpl_segment_advice_free(&a);
		cpl_comm_free(comm);
	}
}

/* The members of the groups are found, and what is told of them is so. */
static void inside(void **state)
{
	struct cpl_comm *comm = groups_of(64, 8, 8, 1000);
	double all = 0, kept = 0;
	struct cpl_segment_advice a;

	(void)state;
	assert_int_equal(cpl_segment_advise(comm, 1, 18, &a, NULL), 0);
	for (int r = 0; r < 64; r++)
		for (int64_t i = comm->row[r]; i < comm->row[r + 1]; i++) {
			all += comm->bytes[i];
			kept += a.of[r] == a.of[comm->to[i]] ? comm->bytes[i]
			                                     : 0;
		}
	assert_true(kept / all > 0.99);
	assert_true(a.inside > kept / all - 1e-9 &&
	            a.inside < kept / all + 1e-9);
	cpl_segment_advice_free(&a);
	cpl_comm_free(comm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(advised),
	                                   cmocka_unit_test(inside)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
