/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decompositions must do what the operation does: data reach everyone who
 * needs them, and no rank passes on what it does not have. For all sizes up to
 * MAX, and all roots.
 */
#include "unit.h"

#include "record/collectives.h"

#define MAX 33
#define MANY 64 /* messages of a rank in one operation */
#define BLOCK 10

struct message {
	int to;
	bool remote;
	uint64_t bytes, messages;
};

/* What each rank of an operation emits, in its order. */
static struct message sent[MAX][MANY];
static int n_sent[MAX];
static uint64_t in[MAX], out[MAX]; /* bytes within the own group */
static int n_in[MAX];

static void emit(void *context, bool remote, int to, uint64_t bytes,
                 uint64_t messages)
{
	int rank = *(int *)context;

	assert_in_range(n_sent[rank], 0, MANY - 1);
	sent[rank][n_sent[rank]++] =
	        (struct message){to, remote, bytes, messages};
	assert_true(messages > 0);
	if (remote)
		return;
	assert_int_not_equal(to, rank);
	assert_in_range(to, 0, MAX - 1);
	out[rank] += bytes;
	in[to] += bytes;
	n_in[to]++;
}

enum operation {
	BARRIER,
	BCAST,
	REDUCE,
	ALLREDUCE,
	SCAN,
	GATHER,
	GATHERV,
	SCATTER,
	SCATTERV,
	ALLGATHER,
	ALLGATHERV,
	ALLTOALL,
	REDUCE_SCATTER,
	REDUCE_SCATTER_BLOCK
};

/* Block i has i bytes, so that block 0 is empty. */
static void play(enum operation operation, int size, int remote, int root)
{
	int count[MAX];
	struct rec_blocks blocks = {.count = {count, false}, .size = 1};

	memset(n_sent, 0, sizeof(n_sent));
	memset(n_in, 0, sizeof(n_in));
	memset(in, 0, sizeof(in));
	memset(out, 0, sizeof(out));
	for (int i = 0; i < MAX; i++)
		count[i] = i;
	for (int r = 0; r < size; r++) {
		const struct rec_coll c = {r, size, remote, emit, &r};

		switch (operation) {
		case BARRIER:
			rec_barrier(&c);
			break;
		case BCAST:
			rec_bcast(&c, root, BLOCK);
			break;
		case REDUCE:
			rec_reduce(&c, root, BLOCK);
			break;
		case ALLREDUCE:
			rec_allreduce(&c, BLOCK);
			break;
		case SCAN:
			rec_scan(&c, BLOCK);
			break;
		case GATHER:
			rec_gather(&c, root, BLOCK);
			break;
		case GATHERV:
			rec_gatherv(&c, root, (uint64_t)r);
			break;
		case SCATTER:
			rec_scatter(&c, root, BLOCK);
			break;
		case SCATTERV:
			rec_scatterv(&c, root, &blocks);
			break;
		case ALLGATHER:
			rec_allgather(&c, BLOCK);
			break;
		case ALLGATHERV:
			rec_allgatherv(&c, (uint64_t)r, &blocks);
			break;
		case ALLTOALL:
			rec_alltoall(&c, BLOCK);
			break;
		case REDUCE_SCATTER:
			rec_reduce_scatter(&c, &blocks);
			break;
		case REDUCE_SCATTER_BLOCK:
			rec_reduce_scatter_block(&c, BLOCK);
			break;
		}
	}
}

/* Round k: everyone's k-th message at once. Ends knowing of everyone. */
static void test_barrier_tells_everyone(void **state)
{
	for (int p = 1; p <= MAX; p++) {
		uint64_t knows[MAX], then[MAX];

		play(BARRIER, p, 0, 0);
		for (int r = 0; r < p; r++)
			knows[r] = UINT64_C(1) << r;
		for (int k = 0; k < n_sent[0]; k++) {
			memcpy(then, knows, sizeof(then));
			for (int r = 0; r < p; r++) {
				assert_int_equal(sent[r][k].bytes, 0);
				then[sent[r][k].to] |= knows[r];
			}
			memcpy(knows, then, sizeof(knows));
		}
		for (int r = 0; r < p; r++) {
			assert_int_equal(n_sent[r], n_sent[0]);
			assert_true(knows[r] == (UINT64_C(1) << p) - 1);
		}
	}
}

/* Follow first senders up to the root; each gets it exactly once. */
static void test_bcast_and_reduce_are_trees(void **state)
{
	for (int p = 1; p <= MAX; p++) {
		for (int root = 0; root < p; root++) {
			int parent[MAX];

			play(BCAST, p, 0, root);
			for (int r = 0; r < p; r++) {
				assert_int_equal(n_in[r], r != root);
				for (int i = 0; i < n_sent[r]; i++)
					parent[sent[r][i].to] = r;
			}
			for (int r = 0; r < p; r++) {
				int at = r, hops = 0;

				while (at != root && hops <= 6) {
					at = parent[at];
					hops++;
				}
				assert_in_range(hops, 0, 6);
			}
			play(REDUCE, p, 0, root);
			for (int r = 0; r < p; r++) {
				assert_int_equal(n_sent[r], r != root);
				if (r != root)
					assert_int_equal(sent[r][0].to,
					                 parent[r]);
			}
		}
	}
}

/* Fold in, rounds among the power of two, fold out. */
static void test_allreduce_tells_everyone(void **state)
{
	for (int p = 1; p <= MAX; p++) {
		uint64_t knows[MAX], then[MAX];
		int p2 = 1, rounds = 0, extra;

		while (p2 * 2 <= p) {
			p2 *= 2;
			rounds++;
		}
		extra = p - p2;
		play(ALLREDUCE, p, 0, 0);
		for (int r = 0; r < p; r++)
			knows[r] = UINT64_C(1) << r;
		for (int r = 0; r < 2 * extra; r += 2) {
			assert_int_equal(n_sent[r], 1);
			knows[sent[r][0].to] |= knows[r];
		}
		for (int k = 0; k < rounds; k++) {
			memcpy(then, knows, sizeof(then));
			for (int r = 0; r < p; r++)
				if (r >= 2 * extra || r % 2)
					then[sent[r][k].to] |= knows[r];
			memcpy(knows, then, sizeof(knows));
		}
		for (int r = 1; r < 2 * extra; r += 2) {
			assert_int_equal(n_sent[r], rounds + 1);
			knows[sent[r][rounds].to] |= knows[r];
		}
		for (int r = 0; r < p; r++)
			assert_true(knows[r] == (UINT64_C(1) << p) - 1);
	}
}

static void test_gather_and_scatter_conserve_blocks(void **state)
{
	for (int p = 1; p <= MAX; p++) {
		uint64_t all = (uint64_t)(p - 1) * BLOCK;

		for (int root = 0; root < p; root++) {
			play(GATHER, p, 0, root);
			assert_true(in[root] == all && !out[root]);
			for (int r = 0; r < p; r++) {
				assert_true(r == root ||
				            out[r] == in[r] + BLOCK);
				assert_int_equal(n_sent[r], r != root);
			}
			play(SCATTER, p, 0, root);
			assert_true(out[root] == all && !in[root]);
			for (int r = 0; r < p; r++) {
				assert_true(r == root ||
				            in[r] == out[r] + BLOCK);
				assert_int_equal(n_in[r], r != root);
			}
		}
	}
}

static void test_v_forms_are_linear(void **state)
{
	for (int p = 1; p <= MAX; p++) {
		for (int root = 0; root < p; root++) {
			play(GATHERV, p, 0, root);
			for (int r = 0; r < p; r++)
				assert_true(out[r] ==
				            (r == root ? 0 : (uint64_t)r));
			assert_true(in[root] ==
			            (uint64_t)(p * (p - 1) / 2 - root));
			play(SCATTERV, p, 0, root);
			for (int r = 0; r < p; r++)
				assert_true(in[r] ==
				            (r == root ? 0 : (uint64_t)r));
			assert_int_equal(n_in[0], 0); /* an empty block */
		}
	}
}

static void test_all_to_all_kinds(void **state)
{
	for (int p = 1; p <= MAX; p++) {
		uint64_t others = (uint64_t)(p - 1),
		         all = (uint64_t)(p * (p - 1) / 2);

		play(ALLGATHER, p, 0, 0);
		for (int r = 0; r < p; r++)
			assert_true(in[r] == others * BLOCK &&
			            out[r] == others * BLOCK);
		play(ALLTOALL, p, 0, 0);
		for (int r = 0; r < p; r++) {
			assert_true(in[r] == others * BLOCK &&
			            out[r] == others * BLOCK);
			assert_int_equal(n_in[r], others);
		}
		play(ALLGATHERV, p, 0, 0);
		for (int r = 0; r < p; r++)
			assert_true(in[r] == all - (uint64_t)r);
		play(REDUCE_SCATTER, p, 0, 0);
		for (int r = 0; r < p; r++)
			assert_true(in[r] == others * (uint64_t)r);
		play(REDUCE_SCATTER_BLOCK, p, 0, 0);
		for (int r = 0; r < p; r++)
			assert_true(in[r] == others * BLOCK);
		play(SCAN, p, 0, 0);
		for (int r = 0; r < p; r++)
			assert_int_equal(n_in[r], r > 0);
	}
}

/* Bytes and messages to the remote group. */
static uint64_t remote_bytes(int size, int *messages)
{
	uint64_t bytes = 0;

	*messages = 0;
	for (int r = 0; r < size; r++) {
		for (int i = 0; i < n_sent[r]; i++) {
			if (!sent[r][i].remote)
				continue;
			bytes += sent[r][i].bytes;
			++*messages;
		}
	}
	return bytes;
}

static void test_between_groups(void **state)
{
	static const struct {
		enum operation operation;
		int root; /* seen by a group of 5 against one of 3 */
		uint64_t bytes;
		int messages;
	} row[] = {
	        {BARRIER, 0, 0, 1},
	        {BCAST, REC_ROOT_NONE, 0, 0},
	        {BCAST, 2, 0, 0},
	        {REDUCE, 2, BLOCK, 1},
	        {REDUCE, REC_ROOT_SELF, 0, 0},
	        {ALLREDUCE, 0, BLOCK, 1},
	        {GATHER, 2, 5 * BLOCK, 5},
	        {GATHER, REC_ROOT_SELF, 0, 0},
	        {GATHERV, 2, 0 + 1 + 2 + 3 + 4, 4},
	        {SCATTER, REC_ROOT_NONE, 0, 0},
	        {SCATTER, 1, 0, 0},
	        {SCATTERV, 1, 0, 0},
	        {ALLGATHER, 0, 15 * BLOCK, 15},
	        {ALLGATHERV, 0, 3 * (0 + 1 + 2 + 3 + 4), 12},
	        {ALLTOALL, 0, 15 * BLOCK, 15},
	        {REDUCE_SCATTER, 0, 0 + 1 + 2 + 3 + 4, 1},
	        {REDUCE_SCATTER_BLOCK, 0, 5 * BLOCK, 1},
	};
	int messages;

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		play(row[i].operation, 5, 3, row[i].root);
		assert_true(remote_bytes(5, &messages) == row[i].bytes);
		assert_int_equal(messages, row[i].messages);
	}
	/* one root, as a group of one */
	play(BCAST, 1, 3, REC_ROOT_SELF);
	assert_true(remote_bytes(1, &messages) == 3 * BLOCK);
	play(SCATTER, 1, 3, REC_ROOT_SELF);
	assert_true(remote_bytes(1, &messages) == 3 * BLOCK);
	play(SCATTERV, 1, 3, REC_ROOT_SELF);
	assert_true(remote_bytes(1, &messages) == 0 + 1 + 2);
	/* what came over goes round in the own group */
	play(ALLREDUCE, 5, 3, 0);
	for (int r = 0; r < 5; r++)
		assert_int_equal(n_in[r] > 0, 1);
	play(REDUCE_SCATTER_BLOCK, 5, 3, 0);
	assert_int_equal(out[0], 4 * BLOCK);
	play(REDUCE_SCATTER, 5, 3, 0);
	assert_int_equal(out[0], 1 + 2 + 3 + 4);
}

static void test_nothing_is_sent_for_nothing(void **state)
{
	int rank = 0;

	memset(n_sent, 0, sizeof(n_sent));
	for (rank = 0; rank < 5; rank++) {
		const struct rec_coll c = {rank, 5, 0, emit, &rank};

		rec_bcast(&c, 0, 0);
		rec_reduce(&c, 0, 0);
		rec_allreduce(&c, 0);
		rec_gather(&c, 0, 0);
		rec_scatter(&c, 0, 0);
		rec_allgather(&c, 0);
		rec_alltoall(&c, 0);
		assert_int_equal(n_sent[rank], 0);
	}
}

/* Types by block, as of MPI_Alltoallw; negative counts are not wrapped. */
static void test_sizes_by_block(void **state)
{
	int rank = 0;
	const struct rec_coll c = {0, 4, 0, emit, &rank};
	const struct rec_blocks blocks = {
	        .count = {(int[]){9, 2, -1, 2147483647}, false},
	        .sizes = (uint64_t[]){1, 8, 4, 16},
	};
	const struct rec_blocks large = {
	        .count = {(int64_t[]){9, 2, -1, INT64_C(5000000000)}, true},
	        .size = 8,
	};

	memset(n_sent, 0, sizeof(n_sent));
	rec_alltoallv(&c, &blocks);
	assert_int_equal(n_sent[0], 2);
	assert_int_equal(sent[0][0].to, 1);
	assert_int_equal(sent[0][0].bytes, 16);
	assert_int_equal(sent[0][1].to, 3);
	assert_true(sent[0][1].bytes == UINT64_C(34359738352));
	memset(n_sent, 0, sizeof(n_sent));
	rec_alltoallv(&c, &large);
	assert_int_equal(n_sent[0], 2);
	assert_int_equal(sent[0][0].bytes, 16);
	assert_int_equal(sent[0][1].to, 3);
	assert_true(sent[0][1].bytes == UINT64_C(40000000000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_barrier_tells_everyone),
	        cmocka_unit_test(test_bcast_and_reduce_are_trees),
	        cmocka_unit_test(test_allreduce_tells_everyone),
	        cmocka_unit_test(test_gather_and_scatter_conserve_blocks),
	        cmocka_unit_test(test_v_forms_are_linear),
	        cmocka_unit_test(test_all_to_all_kinds),
	        cmocka_unit_test(test_between_groups),
	        cmocka_unit_test(test_nothing_is_sent_for_nothing),
	        cmocka_unit_test(test_sizes_by_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
