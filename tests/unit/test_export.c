/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Matrices of other tools: out and in again, and what those tools write. */
#include <unistd.h>

#include "unit.h"

#include "base/file.h"
#include "entries.h"
#include "number.h"
#include "signature/export/export.h"
#include "signature/import/import.h"

static const struct cpl_import_options none;
static char dir[] = "/tmp/commplace-export-XXXXXX";

static int into_dir(void **state)
{
	return mkdtemp(dir) && !chdir(dir) ? 0 : -1;
}

static int out_of_dir(void **state)
{
	static const char *const made[] = {"matrix", "graph",  "m.npy",
	                                   "0.prof", "1.prof", "2.prof"};

	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++)
		unlink(made[i]);
	return chdir("/") || rmdir(dir);
}

static struct cpl_comm *small(void)
{
	struct cpl_comm_entry entry[] = {{0, 1, 1024, 2},
	                                 {1, 0, 0.25, 1},
	                                 {3, 3, 7, 1},
	                                 {2, 0, 123456789012345678.0, 3}};
	struct cpl_error err = {""};
	struct cpl_comm *comm = cpl_comm_build(4, entry, 4, &err);

	assert_non_null(comm);
	return comm;
}

static void same(const struct cpl_comm *got, const struct cpl_comm *want,
                 bool messages)
{
	assert_int_equal(got->ranks, want->ranks);
	assert_int_equal(got->n_entries, want->n_entries);
	for (int r = 0; r <= want->ranks; r++)
		assert_int_equal(got->row[r], want->row[r]);
	for (int64_t i = 0; i < want->n_entries; i++) {
		assert_int_equal(got->to[i], want->to[i]);
		assert_number(got->bytes[i], want->bytes[i], 0);
		if (messages)
			assert_number(got->messages[i], want->messages[i], 0);
	}
}

/* What can be read again holds the same bytes, to the last bit. */
static void test_there_and_back(void **state)
{
	static const char *const format[] = {"coo", "mtx", "treematch", "npy"};
	struct cpl_comm *comm = small();
	struct cpl_error err = {""};

	for (int i = 0; i < 4; i++) {
		const char *lost = "?", *path = "matrix";
		struct cpl_signature *sig;

		assert_int_equal(cpl_comm_export(comm, "small", format[i], path,
		                                 &lost, &err),
		                 0);
		assert_int_equal(lost == NULL, i == 0);
		sig = cpl_signature_import(&path, 1, format[i], &none, "n",
		                           NULL, &err);
		if (!sig)
			fail_msg("%s", err.text);
		same(sig->phase[0].comm, comm, i == 0);
		cpl_signature_free(sig);
	}
	cpl_comm_free(comm);
}

static char *text_of(const char *format)
{
	struct cpl_comm *comm = small();
	struct cpl_error err = {""};
	size_t length = 0;
	char *text;

	assert_int_equal(
	        cpl_comm_export(comm, "a \"<b>\"", format, "graph", NULL, &err),
	        0);
	text = cpl_file_read("graph", 1 << 20, &length, &err);
	assert_non_null(text);
	cpl_comm_free(comm);
	return text;
}

static void test_graphs(void **state)
{
	char *text = text_of("dot");

	assert_string_equal(text, "digraph \"a \\\"<b>\\\"\" {\n"
	                          "\t0;\n\t1;\n\t2;\n\t3;\n"
	                          "\t0 -> 1 [bytes=1024, messages=2];\n"
	                          "\t1 -> 0 [bytes=0.25, messages=1];\n"
	                          "\t2 -> 0 [bytes=1.2345678901234568e+17, "
	                          "messages=3];\n"
	                          "\t3 -> 3 [bytes=7, messages=1];\n}\n");
	free(text);
	text = text_of("graphml");
	assert_non_null(strstr(text, "<graph id=\"a &#34;&#60;b&#62;&#34;\" "
	                             "edgedefault=\"directed\">"));
	assert_non_null(strstr(text, "<edge source=\"r0\" target=\"r1\">"
	                             "<data key=\"bytes\">1024</data>"
	                             "<data key=\"messages\">2</data></edge>"));
	free(text);
}

static void test_npy_header(void **state)
{
	struct cpl_comm *comm = small();
	struct cpl_error err = {""};
	size_t length = 0;
	char *text;

	assert_int_equal(cpl_comm_export(comm, "n", "npy", "m.npy", NULL, &err),
	                 0);
	text = cpl_file_read("m.npy", 1 << 20, &length, &err);
	assert_non_null(text);
	assert_int_equal(length, 128 + 16 * 8);
	assert_memory_equal(text,
	                    "\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', "
	                    "'fortran_order': False, 'shape': (4, 4), }  ",
	                    10 + 61);
	assert_int_equal(text[127], '\n');
	free(text);
	cpl_comm_free(comm);
}

/* [[1, 2], [3, 0]] by rows or columns, in the kinds of numbers that NumPy has.
 */
static void test_npy_kinds(void **state)
{
	static const struct {
		const char *descr, *order, *bytes;
		int size;
		double from_1_to_0;
	} kind[] = {
	        {"|u1", "False", "\1\2\3\0", 1, 3},
	        {"|i1", "True", "\1\2\3\0", 1, 2},
	        {"<u2", "False", "\1\0\2\0\3\0\0\0", 2, 3},
	        {">i4", "False", "\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\0", 4, 3},
	        {"<f4", "False", "\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\0\0",
	         4, 3},
	        {"|b1", "False", "\1\1\1\0", 1, 1},
	};

	for (size_t k = 0; k < sizeof(kind) / sizeof(*kind); k++) {
		char text[256], header[118];
		struct cpl_error err = {""};
		struct cpl_signature *sig;
		int n;

		n = snprintf(
		        header, sizeof(header),
		        "{'descr': '%s', 'fortran_order': %s, 'shape': (2, "
		        "2), }",
		        kind[k].descr, kind[k].order);
		memcpy(text, "\x93NUMPY\x01\x00", 8);
		text[8] = (char)n;
		text[9] = 0;
		memcpy(text + 10, header, (size_t)n);
		memcpy(text + 10 + n, kind[k].bytes, (size_t)kind[k].size * 4);
		sig = cpl_signature_import_text(
		        text, (size_t)(10 + n + kind[k].size * 4), "m", "npy",
		        "n", NULL, &err);
		if (!sig)
			fail_msg("%s: %s", kind[k].descr, err.text);
		assert_int_equal(sig->phase[0].comm->n_entries, 3);
		assert_number(sig->phase[0].comm->bytes[2], kind[k].from_1_to_0,
		              0);
		cpl_signature_free(sig);
	}
}

static struct cpl_signature *import_files(const char *format,
                                          const char *const *text, int n,
                                          struct cpl_error *err)
{
	static const char *const path[] = {"0.prof", "1.prof", "2.prof"};

	for (int i = 0; i < n; i++)
		assert_int_equal(cpl_file_write_atomic(path[i], text[i],
		                                       strlen(text[i]), 0644,
		                                       err),
		                 0);
	return cpl_signature_import(path, n, format, &none, "n", NULL, err);
}

static void test_openmpi_monitoring(void **state)
{
	static const char *const text[] = {
	        "# POINT TO POINT\n"
	        "I\t0\t1\t1024 bytes\t3 msgs sent\t0,0,0,3,0\n"
	        "I\t0\t2\t0 bytes\t1 msgs sent\t1,0\n"
	        "E\t0\t1\t8 bytes\t1 msgs sent\n"
	        "# RMA\n"
	        "R\t0\t2\t50 bytes\t2 msgs sent\n"
	        "# COLLECTIVES\n"
	        "D\tMPI_COMM_WORLD\tprocs: 0,1,2\n"
	        "O2A\t0\t0 bytes\t0 msgs sent\n"
	        "A2O\t0\t8 bytes\t1 msgs sent\n"
	        "A2A\t0\t0 bytes\t0 msgs sent\n",
	        "# POINT TO POINT\n# OSC\nS\t1\t2\t7 bytes\t1 msgs sent\n",
	        "# POINT TO POINT\n",
	};
	static const struct cpl_comm_entry want[] = {
	        {0, 1, 1032, 4}, {0, 2, 0, 1}, {1, 2, 7, 1}, {2, 0, 50, 2}};
	struct cpl_error err = {""};

	check_entries(import_files("openmpi-monitoring", text, 3, &err), 3, want,
	              4, &err);
}

static void test_goal(void **state)
{
	static const char text[] = "// two ranks\n"
	                           "num_ranks 3\n\n"
	                           "rank 0 {\n"
	                           "l1: calc 100 cpu 0\n"
	                           "l2: send 10b to 1 tag 3\n"
	                           "/* send 99b to 2\n"
	                           "send 99b to 2 */ send 5b to 2 // tag 1\n"
	                           "l2 requires l1\n"
	                           "}\n"
	                           "rank 1 {\n"
	                           "l1: recv 10b from 0 tag 3\n"
	                           "l2: send 32b to 0 tag 4 cpu 0 nic 1\n"
	                           "l2 irequires l1\n"
	                           "l3: send 32b to 0\n"
	                           "}\n";
	static const struct cpl_comm_entry want[] = {
	        {0, 1, 10, 1}, {0, 2, 5, 1}, {1, 0, 64, 2}};
	struct cpl_error err = {""};
	struct cpl_signature *sig = cpl_signature_import_text(
	        text, strlen(text), "s", "goal", "n", NULL, &err);

	assert_non_null(strstr(sig->recorded, "\"left_out\""));
	check_entries(sig, 3, want, 3, &err);
}

#define RECORD(id, rank, n, host, pid, perf)                                   \
	"{\"header\": {\"id\": \"" id "\", \"rank\": " #rank                   \
	", \"n_ranks\": " #n ", \"nnodes\": 2}, \"metadata\": "                \
	"{\"inspector_output_format_version\": \"v4.0\", \"hostname\": "       \
	"\"" host "\", \"pid\": " #pid "}, " perf "}\n"
#define COLLECTIVE(name, bytes)                                                \
	"\"coll_perf\": {\"coll\": \"" name "\", \"coll_sn\": 1, "             \
	"\"coll_msg_size_bytes\": " #bytes ", \"coll_exec_time_us\": 61974}"
#define SEND(peer, bytes)                                                      \
	"\"p2p_perf\": {\"p2p\": \"Send\", \"p2p_sn\": 1, "                    \
	"\"p2p_peer\": " #peer ", \"p2p_msg_size_bytes\": " #bytes "}"

/* A world of three, which says that b:7 is rank 0; and a pair of the others. */
static void test_nccl_inspector(void **state)
{
	static const char *const text[] = {
	        RECORD("0x1", 1, 3, "a", 7, COLLECTIVE("AllReduce", 300))
	                RECORD("0x2", 0, 2, "a", 7,
	                       COLLECTIVE("AllGather", 10)),
	        RECORD("0x1", 0, 3, "b", 7,
	               COLLECTIVE("AllReduce",
	                          300)) "{\"dump_stats\": {\"coll_records\": "
	                                "1}}\n" RECORD("0x1", 0, 3, "b", 7,
	                                               COLLECTIVE("AlltoAll",
	                                                          90)),
	        RECORD("0x1", 2, 3, "a", 8, COLLECTIVE("AllReduce", 300))
	                RECORD("0x2", 1, 2, "a", 8, COLLECTIVE("Broadcast", 10))
	                        RECORD("0x2", 1, 2, "a", 8, SEND(0, 4)),
	};
	/* AllReduce: 2 * 2 / 3 * 300 in 4 messages. */
	static const struct cpl_comm_entry want[] = {{0, 1, 430, 5},
	                                             {0, 2, 30, 1},
	                                             {1, 2, 410, 5},
	                                             {2, 0, 400, 4},
	                                             {2, 1, 9, 2}};
	struct cpl_error err = {""};

	check_entries(import_files("nccl-inspector", text, 3, &err), 3, want, 5,
	              &err);
}

static void test_nccl_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
	        {RECORD("0x1", 0, 2, "a", 7, COLLECTIVE("AllReduce", 8)),
	         "0.prof: rank 1 of 2 of communicator 0x1 has no record"},
	        {RECORD("0x1", 0, 2, "a", 7, COLLECTIVE("AllReduce", 8)) RECORD(
	                 "0x1", 0, 2, "a", 8, COLLECTIVE("AllReduce", 8)),
	         "0.prof:2: two processes are rank 0"},
	        {RECORD("0x1", 0, 2, "a", 7, COLLECTIVE("AllReduce", 8)) RECORD(
	                 "0x1", 1, 3, "a", 8, COLLECTIVE("AllReduce", 8)),
	         "0.prof:2: \"n_ranks\" is 3; the communicator had 2"},
	        {RECORD("0x1", 2, 2, "a", 7, COLLECTIVE("AllReduce", 8)),
	         "0.prof:1: \"rank\": an integer in 0 to 1"},
	        {RECORD("0x1", 0, 2, "a", 7, COLLECTIVE("AllFoo", 8)),
	         "0.prof:1: \"coll\" AllFoo is unknown"},
	        {RECORD("0x1", 0, 2, "a", 7, SEND(2, 8)),
	         "0.prof:1: \"p2p_peer\": an integer in 0 to 1"},
	        {"{\"coll_perf\": {}}", "0.prof:1: \"header\" with \"id\""},
	        {"[]", "0.prof:1: is not a JSON object"},
	        {"{\"a", "0.prof:1: "},
	        {"\n", "0.prof: holds no operations"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct cpl_error err = {""};

		assert_null(
		        import_files("nccl-inspector", &bad[i].text, 1, &err));
		if (strncmp(err.text, bad[i].why, strlen(bad[i].why)))
			fail_msg("'%s', not '%s'", err.text, bad[i].why);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_there_and_back),
	        cmocka_unit_test(test_graphs),
	        cmocka_unit_test(test_npy_header),
	        cmocka_unit_test(test_npy_kinds),
	        cmocka_unit_test(test_openmpi_monitoring),
	        cmocka_unit_test(test_goal),
	        cmocka_unit_test(test_nccl_inspector),
	        cmocka_unit_test(test_nccl_refused),
	};

	return cmocka_run_group_tests(tests, into_dir, out_of_dir);
}
