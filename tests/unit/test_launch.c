/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "unit.h"

#include "base/random.h"
#include "binding/launch.h"

#define RANKS 24

static struct cpl_comm *random_graph(int ranks, int edges, double scale)
{
	struct cpl_comm_entry *entry =
	        calloc(2 * (size_t)edges, sizeof(*entry));
	struct cpl_comm *graph;
	int64_t n = 0;

	for (int i = 0; i < edges; i++) {
		int a = (int)cpl_random_below(7, 0, (uint64_t)i,
		                              (uint64_t)ranks);
		int b = (int)cpl_random_below(7, 1, (uint64_t)i,
		                              (uint64_t)ranks);
		double bytes = scale * (double)cpl_random_below(
		                               7, 2, (uint64_t)i, 1 << 20);

		if (a == b)
			continue;
		entry[n++] = (struct cpl_comm_entry){a, b, bytes, 1};
		entry[n++] = (struct cpl_comm_entry){b, a, bytes, 1};
	}
	graph = cpl_comm_build(ranks, entry, n, NULL);
	free(entry);
	assert_non_null(graph);
	return graph;
}

/* Nodes of uneven size, one without tasks; rank r is on the node of its key. */
static uint16_t tasks[5];
static uint32_t row[5][RANKS];
static uint32_t *ids[5] = {row[0], row[1], row[2], row[3], row[4]};
static struct cpl_launch_step step = {
        .ranks = RANKS, .n_nodes = 5, .tasks = tasks, .ids = ids};

static void lay_out(void)
{
	static const int node[] = {0, 1, 3, 4};

	memset(tasks, 0, sizeof(tasks));
	for (uint32_t r = 0; r < RANKS; r++) {
		int n = node[(r * r + r / 3) % 4];

		row[n][tasks[n]++] = r;
	}
}

static struct cpl_launch head = {
        .kind = CPL_LAUNCH_ROWS,
        .memory = true,
        .profile = "x",
        .binder = "treematch",
};
static bool full;

static unsigned char *write_rows(const struct cpl_comm *graph,
                                 const struct cpl_launch_step *of, size_t limit,
                                 size_t *size, struct cpl_error *err)
{
	return cpl_launch_write(&head, graph, of, limit, size, &full, err);
}

static double between(const struct cpl_comm *m, int a, int b)
{
	for (int64_t e = m->row[a]; e < m->row[a + 1]; e++)
		if (m->to[e] == b)
			return m->bytes[e];
	return 0;
}

static void test_round_trip(void **state)
{
	static const double scale[] = {1, 0.3, 1e300, 1e-300};

	lay_out();
	for (size_t k = 0; k < sizeof(scale) / sizeof(*scale); k++) {
		struct cpl_comm *graph = random_graph(RANKS, 200, scale[k]);
		struct cpl_error err = {""};
		struct cpl_launch out;
		unsigned char *data;
		size_t size;

		/* Every other one has the text that most do without. */
		strcpy(head.nic, k % 2 ? "UCX_NET_DEVICES" : "");
		data = write_rows(graph, &step, 1 << 16, &size, &err);
		assert_string_equal(err.text, "");
		assert_int_equal(cpl_launch_read(data, size, &out, &err), 0);
		assert_int_equal(out.kind, CPL_LAUNCH_ROWS);
		assert_string_equal(out.nic, head.nic);
		assert_true(out.memory && !out.own);
		assert_int_equal(out.ranks, RANKS);
		assert_string_equal(out.profile, "x");
		assert_string_equal(out.binder, "treematch");
		assert_int_equal(cpl_launch_read(data, 0, &out, NULL), -1);
		for (int n = 0; n < 5; n++) {
			struct cpl_comm *local;

			if (!tasks[n])
				continue;
			local = cpl_launch_rows(data, size, RANKS, n, row[n],
			                        tasks[n], &err);
			assert_string_equal(err.text, "");
			assert_int_equal(local->ranks, tasks[n]);
			for (int i = 0; i < tasks[n]; i++)
				for (int j = i + 1; j < tasks[n]; j++)
					assert_true(between(local, i, j) ==
					            between(graph,
					                    (int)row[n][i],
					                    (int)row[n][j]));
			cpl_comm_free(local);
		}
		free(data);
		cpl_comm_free(graph);
	}
	memset(head.nic, 0, sizeof(head.nic));
}

/* Thousand equal nodes take a few bytes each beyond the first. */
static void test_equal_nodes_share(void **state)
{
	enum { NODES = 1000, EACH = 16 };
	struct cpl_comm_entry *entry =
	        calloc(NODES * EACH * EACH, sizeof(*entry));
	static uint16_t count[NODES];
	static uint32_t own[NODES][EACH];
	static uint32_t *rows[NODES];
	struct cpl_launch_step many = {.ranks = NODES * EACH,
	                               .n_nodes = NODES,
	                               .tasks = count,
	                               .ids = rows};
	struct cpl_error err = {""};
	struct cpl_comm *graph, *local;
	unsigned char *data;
	size_t size;
	int64_t n = 0;

	for (int node = 0; node < NODES; node++) {
		count[node] = EACH;
		rows[node] = own[node];
		for (int i = 0; i < EACH; i++) {
			own[node][i] = (uint32_t)(node * EACH + i);
			for (int j = 0; j < EACH; j++)
				if (i != j)
					entry[n++] = (struct cpl_comm_entry){
					        node * EACH + i,
					        node * EACH + j, 1 + abs(i - j),
					        1};
		}
	}
	graph = cpl_comm_build(NODES * EACH, entry, n, NULL);
	data = write_rows(graph, &many, 8000, &size, &err);
	assert_string_equal(err.text, "");
	local = cpl_launch_rows(data, size, NODES * EACH, 999, own[999], EACH,
	                        &err);
	assert_non_null(local);
	assert_true(between(local, 0, 15) == 16);
	cpl_comm_free(local);
	free(data);
	assert_null(write_rows(graph, &many, 4000, &size, &err));
	assert_true(full);
	assert_string_equal(err.text,
	                    "the excerpt of profile x would have more "
	                    "than 4000 bytes");
	cpl_comm_free(graph);
	free(entry);
}

static void test_refused(void **state)
{
	struct cpl_comm *graph;
	struct cpl_error err = {""};
	unsigned char *data;
	size_t size;

	lay_out();
	graph = random_graph(RANKS, 200, 1);
	step.ranks = RANKS + 1;
	assert_null(write_rows(graph, &step, 9999, &size, &err));
	assert_string_equal(err.text,
	                    "profile x is of 24 ranks, the step has 25");
	step.ranks = RANKS;
	row[0][0] = RANKS;
	assert_null(write_rows(graph, &step, 9999, &size, &err));
	assert_string_equal(err.text, "task id 24 in a step of 24 tasks");
	row[0][0] = row[0][1];
	assert_null(write_rows(graph, &step, 9999, &size, &err));
	assert_non_null(strstr(err.text, "twice"));
	lay_out();
	data = write_rows(graph, &step, 9999, &size, &err);
	assert_non_null(data);

	/* Other steps than the one it was made for. */
	assert_null(cpl_launch_rows(data, size, RANKS - 1, 0, row[0], tasks[0],
	                            &err));
	assert_non_null(strstr(err.text, "of 24 ranks on 5 nodes"));
	assert_null(
	        cpl_launch_rows(data, size, RANKS, 5, row[0], tasks[0], &err));
	assert_null(
	        cpl_launch_rows(data, size, RANKS, -1, row[0], tasks[0], &err));
	assert_null(
	        cpl_launch_rows(data, size, RANKS, 1, row[0], tasks[0], &err));
	assert_non_null(strstr(err.text, "of other ranks"));
	assert_null(cpl_launch_rows(data, size, RANKS, 0, row[0], tasks[0] - 1,
	                            &err));
	assert_null(cpl_launch_rows(data, size, RANKS, 2, row[0], 1, &err));
	assert_string_equal(err.text, "the excerpt of the profile is damaged");

	for (size_t cut = 0; cut < size; cut++) {
		struct cpl_launch out;

		assert_null(cpl_launch_rows(data, cut, RANKS, 0, row[0],
		                            tasks[0], &err));
		assert_int_equal(cpl_launch_read(data, cut, &out, &err), -1);
	}
	for (size_t at = 0; at < size; at++) {
		data[at] ^= 0x81;
		assert_null(cpl_launch_rows(data, size, RANKS, 0, row[0],
		                            tasks[0], &err));
		data[at] ^= 0x81;
	}
	free(data);
	cpl_comm_free(graph);
}

/* Made on purpose, with a right sum. */
static void test_forged(void **state)
{
#define BEGIN "CPX2\0\0\1x\1b"
#define HEAD BEGIN "\4\1\4\5(s\0"
	static const struct {
		const char *body;
		size_t size;
	} forged[] = {
#define F(text) {text, sizeof(text) - 1}
	        F("CPX2"),
	        /* Of an older and of a newer release. */
	        F("CPX1\0\0\1x\1b\4\1\4\5(s\0\0\4\0\0\0\0"),
	        F("CPX3\0\0\1x\1b\4\1\4\5(s\0\0\4\0\0\0\0"),
	        F("CPX2\3\0\1x\1b"),
	        F("CPX2\0\4\1x\1b"),
	        F("CPX2\0\0\2x\0\1b"),
	        F("CPX2\1\0\1x\1b\4\1\1\1"),
	        F("CPX2\2\0\1x\1b\3why"),
	        F("CPX2\0\0\1x"),
	        F("CPX2\0\0\x81\1x"),
	        F(BEGIN "\4"),
	        F(BEGIN "\4\1"),
	        F(BEGIN "\4\xff\xff\x1f"),
	        F(BEGIN "\4\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"),
	        F(BEGIN "\4\1\4"),
	        F(BEGIN "\4\1\xff\xff\xff\xff\x7f"),
	        F(HEAD),
	        F(HEAD "\1"),
	        F(HEAD "\0"),
	        F(HEAD "\0\xff\xff\xff\x7f"),
	        F(HEAD "\0\4\0\0\0"),
	        F(HEAD "\0\3\0\0\0"),
	        F(HEAD "\0\4\0\0\0\0\0"),
	        F(HEAD "\0\4\4\0\0\0"),
	        F(HEAD "\0\6\1\4\2\0\0\0"),
	        F(HEAD "\0\6\1\0\2\0\0\0"),
	        F(HEAD "\0\x0e\1\1\1\0\0\0\0\0\0\xf0\x7f\0\0\0"),
	        F(HEAD "\0\x0e\1\1\1\0\0\0\0\0\0\xf0\xbf\0\0\0"),
	        F(HEAD "\0\x0e\1\1\1\0\0\0\0\0\0\xf8\x7f\0\0\0"),
	        F(HEAD "\0\x0e\1\1\3\0\0\0\0\0\0\xf0\x3f\0\0\0"),
	};
	static const uint32_t own[4] = {0, 1, 2, 3};

	for (size_t i = 0; i < sizeof(forged) / sizeof(*forged); i++) {
		unsigned char data[64];
		struct cpl_error err = {""};
		uint32_t sum = 2166136261u;
		size_t n = forged[i].size;

		memcpy(data, forged[i].body, n);
		for (size_t k = 0; k < n; k++)
			sum = (sum ^ data[k]) * 16777619u;
		for (int k = 0; k < 4; k++)
			data[n + (size_t)k] = (unsigned char)(sum >> 8 * k);
		if (cpl_launch_rows(data, n + 4, 4, 0, own, 4, &err))
			fail_msg("row %zu was taken", i);
		assert_string_not_equal(err.text, "");
	}
}

static void test_without_rows(void **state)
{
	struct cpl_launch file = head, nothing = head, out;
	struct cpl_error err = {""};
	unsigned char *data;
	size_t size;

	file.kind = CPL_LAUNCH_FILE;
	file.memory = false;
	file.own = true;
	file.ranks = 17;
	file.size = 1LL << 40;
	file.seconds = 1700000000;
	file.nanoseconds = 999999999;
	data = cpl_launch_write(&file, NULL, NULL, 999, &size, &full, &err);
	assert_int_equal(cpl_launch_read(data, size, &out, &err), 0);
	assert_memory_equal(&out, &file, sizeof(out));
	assert_null(cpl_launch_rows(data, size, 17, 0, NULL, 0, &err));
	free(data);
	nothing.kind = CPL_LAUNCH_NOTHING;
	snprintf(nothing.reason, sizeof(nothing.reason), "no such profile");
	data = cpl_launch_write(&nothing, NULL, NULL, 999, &size, &full, &err);
	assert_int_equal(cpl_launch_read(data, size, &out, &err), 0);
	assert_memory_equal(&out, &nothing, sizeof(out));
	for (size_t cut = 0; cut < size; cut++)
		assert_int_equal(cpl_launch_read(data, cut, &out, &err), -1);
	free(data);
	assert_null(
	        cpl_launch_write(&nothing, NULL, NULL, 9, &size, &full, &err));
	assert_true(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_round_trip),
	        cmocka_unit_test(test_equal_nodes_share),
	        cmocka_unit_test(test_refused),
	        cmocka_unit_test(test_forged),
	        cmocka_unit_test(test_without_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
