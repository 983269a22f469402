/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>

#include "unit.h"

#include "../../src/reorder/plan.h"

#define N 8

/* Ranks r and r + 1, both ways; of `pairs` only even r. */
static struct cpl_comm *chain(bool pairs)
{
	struct cpl_comm_entry entry[2 * N];
	int n = 0;

	for (int r = 0; r + 1 < N; r += pairs ? 2 : 1) {
		entry[n++] = (struct cpl_comm_entry){r, r + 1, 100, 1};
		entry[n++] = (struct cpl_comm_entry){r + 1, r, 100, 1};
	}
	return cpl_comm_build(N, entry, n, NULL);
}

/* Process i on the host and package of its letters, CPU as the digit says:
 * "a01" is host a, package 0, CPU 1; package '-' is not known. */
static void places(struct reorder_location *place, const char *text)
{
	for (int i = 0; i < N; i++, text += 4) {
		memset(&place[i], 0, sizeof(*place));
		place[i].host[0] = text[0];
		place[i].package = text[1] == '-' ? -1 : text[1] - '0';
		place[i].cpu = text[2] - '0';
	}
}

static void plans(void **state)
{
	static const struct {
		const char *places;
		bool pairs;
		int units; /* chars that tell units: 1 hosts, 2 packages */
		int apart; /* neighbours in different units, at the most */
		int same;  /* every process keeps its rank */
	} row[] = {
	        /* Blocks of hosts are right. */
	        {"a-0 a-1 a-2 a-3 b-0 b-1 b-2 b-3", false, 1, 1, 1},
	        /* One by one they are not. */
	        {"a-0 b-0 a-1 b-1 a-2 b-2 a-3 b-3", false, 1, 1, 0},
	        {"a-0 b-0 a-1 b-1 a-2 b-2 a-3 b-3", true, 1, 0, 0},
	        {"a-0 b-0 c-0 d-0 a-1 b-1 c-1 d-1", true, 1, 0, 0},
	        /* Hosts of different sizes. */
	        {"a-0 b-0 b-1 b-2 a-1 b-3 b-4 b-5", false, 1, 1, 0},
	        /* One host, two sockets, dealt out. */
	        {"a00 a10 a01 a11 a02 a12 a03 a13", false, 2, 1, 0},
	        {"a00 a01 a02 a03 a10 a11 a12 a13", false, 2, 1, 1},
	        {"a10 a11 a12 a13 a00 a01 a02 a03", false, 2, 1, 1},
	        /* Hosts first, then sockets. */
	        {"a00 b00 a10 b10 a01 b01 a11 b11", false, 2, 3, 0},
	        /* All alike: as they are. */
	        {"a-0 a-0 a-0 a-0 a-0 a-0 a-0 a-0", false, 1, 0, 1},
	        {"a-7 a-6 a-5 a-4 a-3 a-2 a-1 a-0", false, 1, 0, 1},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct reorder_location place[N];
		struct cpl_comm *comm = chain(row[i].pairs);
		struct reorder_request req = {.n = N,
		                              .place = place,
		                              .comm = comm,
		                              .mapper = "quick"};
		int rank_of[N], process[N], apart = 0, same = 1;
		struct cpl_error err = {""};

		places(place, row[i].places);
		for (int r = 0; r < N; r++)
			process[r] = -1;
		if (reorder_plan(&req, rank_of, &err))
			fail_msg("row %zu: %s", i, err.text);
		for (int p = 0; p < N; p++) {
			assert_in_range(rank_of[p], 0, N - 1);
			assert_int_equal(process[rank_of[p]], -1);
			process[rank_of[p]] = p;
			same &= rank_of[p] == p;
		}
		for (int r = 0; r + 1 < N; r += row[i].pairs ? 2 : 1)
			apart += strncmp(row[i].places + 4 * process[r],
			                 row[i].places + 4 * process[r + 1],
			                 (size_t)row[i].units) != 0;
		if (apart > row[i].apart || same != row[i].same)
			fail_msg("row %zu: %d apart, same %d", i, apart, same);
		cpl_comm_free(comm);
	}
}

static void refusals(void **state)
{
	static const struct {
		const char *mapper, *network, *message;
	} row[] = {
	        {"florp", NULL, "unknown rank mapping 'florp'"},
	        {"quick", "/nonexistent/network.json", "/nonexistent"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct reorder_location place[N];
		struct cpl_comm *comm = chain(false);
		struct reorder_request req = {.n = N,
		                              .place = place,
		                              .comm = comm,
		                              .mapper = row[i].mapper,
		                              .network = row[i].network};
		struct cpl_error err = {""};
		int rank_of[N];

		places(place, "a-0 b-0 a-1 b-1 a-2 b-2 a-3 b-3");
		assert_int_equal(reorder_plan(&req, rank_of, &err), -1);
		assert_non_null(strstr(err.text, row[i].message));
		cpl_comm_free(comm);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(plans),
	        cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
