/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What profilers and tracers write: IPM, mpiP, Chakra. */
#include <unistd.h>

#include "unit.h"

#include "base/file.h"
#include "entries.h"
#include "signature/import/import.h"

static const struct cpl_import_options none;
static char dir[] = "/tmp/commplace-tools-XXXXXX";

static int into_dir(void **state)
{
	return mkdtemp(dir) && !chdir(dir) ? 0 : -1;
}

static int out_of_dir(void **state)
{
	static const char *const made[] = {"j.0.et", "j.1.et", "j.2.et",
	                                   "j.et", "j.x.et"};

	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++)
		unlink(made[i]);
	return chdir("/") || rmdir(dir);
}

static struct cpl_signature *import(const char *format, const char *text,
                                    struct cpl_error *err)
{
	return cpl_signature_import_text(text, strlen(text), "f", format, "n",
	                                 NULL, err);
}

struct refused {
	const char *text, *why;
};

static void check_refused(const char *format, const struct refused *bad,
                          size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct cpl_error err = {""};

		assert_null(import(format, bad[i].text, &err));
		if (strncmp(err.text, bad[i].why, strlen(bad[i].why)))
			fail_msg("'%s', not '%s'", err.text, bad[i].why);
	}
}

#define TASK(rank, size, calls)                                                \
	"<task ipm_version=\"2.0.6\" cookie=\"nocookie\" mpi_rank=\"" rank     \
	"\" mpi_size=\"" size "\" stamp_init=\"1.5\" username=\"u\" "          \
	"flags=\"0\" pid=\"9\" >\n<job nhosts=\"1\" ntasks=\"4\" >7</job>\n"   \
	"<hash nlog=\"9\" nkey=\"4\" >\n" calls "</hash>\n</task>\n"
#define HENT(call, bytes, orank, count)                                        \
	"<hent key=\"0x1\" call=\"" call "\" bytes=\"" bytes                   \
	"\" orank=\"" orank "\" region=\"0\" callsite=\"1\" count=\"" count    \
	"\" tid=\"0\" >1.0e-05 1.0e-06 2.0e-06</hent>\n"
#define COLLECTIVES                                                            \
	HENT("MPI_Bcast", "8", "0", "2")                                       \
	HENT("MPI_Allreduce", "16", "0", "1")                                  \
	HENT("MPI_Reduce_scatter", "5", "0", "1")                              \
	HENT("MPI_Barrier", "0", "0", "3") HENT("MPI_Wait", "9", "0", "1")
#define IPM(tasks)                                                             \
	"<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>\n<ipm_job_profile>\n" \
	tasks "</ipm_job_profile>\n"

/* Rank 0 sends 3 times 100 bytes; a broadcast of 8 bytes twice by the tree 0 to
 * 2 and 1, 2 to 3; an all-reduce of 16 bytes; 5 bytes to each other rank. */
static void test_ipm(void **state)
{
	static const char text[] = IPM(TASK(
	        "0", "4",
	        COLLECTIVES HENT("MPI_Isend", "100", "1", "3")
	                HENT("MPI_Irecv", "70", "3", "1"))
	                                       TASK("2", "4", COLLECTIVES)
	                                       TASK("1", "4", COLLECTIVES)
	                                       TASK("3", "4", COLLECTIVES));
	static const struct cpl_comm_entry want[] = {
	        {0, 1, 337, 7}, {0, 2, 37, 4}, {0, 3, 5, 1},  {1, 0, 21, 2},
	        {1, 2, 5, 1},   {1, 3, 21, 2}, {2, 0, 21, 2}, {2, 1, 5, 1},
	        {2, 3, 37, 4},  {3, 0, 5, 1},  {3, 1, 21, 2}, {3, 2, 21, 2}};
	struct cpl_error err = {""};

	check_entries(import("ipm", text, &err), 4, want, 12, &err);
}

/* Gathers, scatters and scans; an all-reduce of a number of ranks that is no
 * power of two goes round the ring: 4 / 3 of its bytes. */
static void test_ipm_collectives(void **state)
{
	static const char text[] =
	        IPM(TASK("0", "3",
	                 HENT("MPI_Gather", "6", "1", "1")
	                         HENT("MPI_Scatterv", "7", "0", "1")
	                                 HENT("MPI_Iallreduce", "30", "0", "2"))
	                    TASK("1", "3",
	                         HENT("MPI_Scan", "2", "0", "1")
	                                 HENT("MPI_Reduce", "4", "0", "1")
	                                         HENT("MPI_Alltoall", "1", "0",
	                                              "1"))
	                            TASK("2", "3",
	                                 HENT("MPI_Gather", "6", "1", "1")
	                                         HENT("MPI_Allgather", "9",
	                                              "0", "1")));
	static const struct cpl_comm_entry want[] = {
	        {0, 1, 7 + 6 + 80, 10}, {0, 2, 7, 1}, {1, 0, 5, 2},
	        {1, 2, 3, 2},           {2, 0, 18, 2}, {2, 1, 6, 1}};
	struct cpl_error err = {""};
	struct cpl_signature *sig = import("ipm", text, &err);

	check_entries(sig, 3, want, 6, &err);
}

static void test_ipm_refused(void **state)
{
	static const struct refused bad[] = {
	        {"", "f:0: holds no <task> of IPM"},
	        {"<task mpi_size=\"2\" >\n", "f:1: the tag has no mpi_rank"},
	        {TASK("0", "1", ""), "f:5: is truncated"},
	        {IPM(TASK("0", "2", "")), "f:8: rank 1 of 2 has no task"},
	        {IPM(TASK("0", "1", "")), "f:8: holds no messages; IPM writes"},
	        {IPM(TASK("0", "1", "") TASK("0", "1", "")),
	         "f:8: rank 0 has a second task"},
	        {IPM(TASK("0", "2", "") TASK("1", "3", "")),
	         "f:8: mpi_size 3: an earlier task has 2"},
	        {IPM(TASK("2", "2", "")), "f:3: mpi_rank: '2' is not an "
	                                  "integer in 0 to 1"},
	        {HENT("MPI_Send", "1", "0", "1"), "f:1: <hent> outside"},
	        {IPM(TASK("0", "2", HENT("MPI_Send", "1", "2", "1"))),
	         "f:6: orank: '2' is not"},
	        {IPM(TASK("0", "2", HENT("MPI_Send", "-1", "1", "1"))),
	         "f:6: bytes: '-1' is not"},
	        {IPM(TASK("0", "2",
	                  HENT("MPI_Send", "9000000000000000000", "1", "9"))),
	         "f:6: bytes times count is above 1e18"},
	        {IPM(TASK("0", "2", "<hent key=\"0\" >\n")),
	         "f:6: the tag has no call"},
	        {"<taskcopy mpi_rank=\"1\" cluster_rank=\"0\"></taskcopy>\n",
	         "f:1: an IPM with clusters"},
	};

	check_refused("ipm", bad, sizeof(bad) / sizeof(*bad));
}

#define RULER                                                                  \
	"----------------------------------------------------------------"     \
	"-----------\n"
#define HEADING(text) RULER "@--- " text " -----------\n" RULER
#define SENT_HEADING                                                           \
	HEADING("Callsite Message Sent statistics (all, sent bytes)")          \
	"Name              Site Rank   Count       Max      Mean       Min  "  \
	"     Sum\n"
#define END HEADING("End of Report")

/* As in the guide: 3 all-reduces of 80 bytes by three of four ranks, sends that
 * have no receiver, and an all-to-all of 1 and 3, 50 bytes for each twice. */
static void test_mpip(void **state)
{
	static const char text[] =
	        "@ mpiP\n@ Command : ./a.out \n"
	        "@ MPI Task Assignment      : 0 a\n"
	        "@ MPI Task Assignment      : 3 b\n"
	        "\n" HEADING("Callsites: 3")
	                " ID Lev File/Address        Line Parent_Funct MPI_Call\n"
	                "  1   0 a.c                   10 main Allreduce\n" HEADING(
	                        "Aggregate Time (top twenty, descending, "
	                        "milliseconds)")
	                        "Allreduce               1     1.47   30.00\n"
	        HEADING("Callsite Time statistics (all, milliseconds): 9")
	                "Name              Site Rank  Count      Max     Mean  "
	                "    Min   App%   MPI%\n"
	                "Allreduce            1    0      3   0.0138   0.0138 "
	                "  0.0138   0.00   0.01\n"
	                "Allreduce            1    1      3   0.0138   0.0138 "
	                "  0.0138   0.00   0.01\n"
	                "Allreduce            1    2      3   0.0138   0.0138 "
	                "  0.0138   0.00   0.01\n"
	                "Allreduce            1    *      9   0.0138   0.0138 "
	                "  0.0138   0.00   0.01\n\n" SENT_HEADING
	                "Allreduce            1    0       3        80        80 "
	                "       80       240\n"
	                "Allreduce            1    1       3        80        80 "
	                "       80       240\n"
	                "Allreduce            1    2       3        80        80 "
	                "       80       240\n"
	                "Allreduce            1    *       9        80        80 "
	                "       80       720\n\n"
	                "Send                 2    0      80      6000      6000 "
	                "     6000   4.8e+05\n"
	                "Alltoallv            3    1       2       100       100 "
	                "      100       200\n"
	                "Alltoallv            3    3       2       100       100 "
	                "      100       200\n" END;
	static const struct cpl_comm_entry want[] = {{0, 1, 320, 12},
	                                             {1, 2, 320, 12},
	                                             {1, 3, 100, 2},
	                                             {2, 0, 320, 12},
	                                             {3, 1, 100, 2}};
	struct cpl_error err = {""};
	struct cpl_signature *sig = import("mpip", text, &err);

	if (!sig)
		fail_msg("%s", err.text);
	assert_non_null(strstr(sig->recorded,
	                       "480000 bytes of messages to one rank"));
	check_entries(sig, 4, want, 5, &err);
}

static void test_mpip_refused(void **state)
{
	static const struct refused bad[] = {
	        {"", "f:0: is truncated, or no report of mpiP"},
	        {SENT_HEADING "Allreduce 1 0 3 80 80 80 240\n",
	         "f:5: is truncated"},
	        {END, "f:3: holds no collective operations; of other"},
	        {SENT_HEADING "Send 1 0 3 80 80 80 240\n" END,
	         "f:8: holds no collective operations"},
	        {HEADING("Callsite Message Sent statistics (all callsites, sent "
	                 "bytes): 2") END,
	         "f:6: is a concise report"},
	        {SENT_HEADING "Allreduce 1 0 3 80 80 80\n" END,
	         "f:5: is too short"},
	        {SENT_HEADING "Allreduce 1 x 3 80 80 80 1\n" END,
	         "f:5: rank: 'x' is not an integer"},
	        {SENT_HEADING "Allreduce 0 1 3 80 80 80 1\n" END,
	         "f:5: site: 0 must lie in 1 to 16777215"},
	        {SENT_HEADING "Allreduce 1 1 3 80 80 80 nan\n" END,
	         "f:5: sum: nan must lie"},
	        {"@ MPI Task Assignment : 1 a\n" SENT_HEADING
	         "Allreduce 1 2 3 80 80 80 8\n"
	         "Allreduce 1 1 3 80 80 80 8\n" END,
	         "f: entry 1: rank 2 is beyond the 2 ranks"},
	};

	check_refused("mpip", bad, sizeof(bad) / sizeof(*bad));
}

/* A protobuf message that is written. */
struct message {
	char text[1000];
	size_t n;
};

static void put_varint(struct message *m, uint64_t value)
{
	for (; value > 127; value >>= 7)
		m->text[m->n++] = (char)(value | 128);
	m->text[m->n++] = (char)value;
}

static void put_text(struct message *m, int field, const char *text, size_t n)
{
	if (field)
		put_varint(m, (uint64_t)field << 3 | 2);
	put_varint(m, n);
	memcpy(m->text + m->n, text, n);
	m->n += n;
}

static void put_number(struct message *m, int field, uint64_t value)
{
	put_varint(m, (uint64_t)field << 3);
	put_varint(m, value);
}

enum { INT32 = 7, INT64 = 9, UINT64 = 13, SINT64 = 17 };

/* An attribute of a node; kind 0: the text. */
static void attribute(struct message *node, const char *name, int kind,
                      uint64_t value, const char *text)
{
	struct message m = {.n = 0};

	put_text(&m, 1, name, strlen(name));
	if (kind)
		put_number(&m, kind, kind == SINT64 ? 2 * value : value);
	else
		put_text(&m, 29, text, strlen(text));
	put_text(node, 10, m.text, m.n);
}

static struct message node(int type)
{
	struct message m = {.n = 0};

	put_number(&m, 1, 300);
	put_text(&m, 2, "name", 4);
	put_number(&m, 3, (uint64_t)type);
	put_text(&m, 4, "\1\2", 2); /* ctrl_deps, packed */
	return m;
}

static void add_node(struct message *file, const struct message *node)
{
	put_text(file, 0, node->text, node->n);
}

static void add_collective(struct message *file, int type, uint64_t bytes,
                           const char *group)
{
	struct message m = node(7);

	attribute(&m, "is_cpu_op", 27, 0, NULL);
	attribute(&m, "comm_type", INT64, (uint64_t)type, NULL);
	attribute(&m, "comm_size", type ? UINT64 : SINT64, bytes, NULL);
	if (group)
		attribute(&m, "pg_name", 0, 0, group);
	add_node(file, &m);
}

static void write_file(const char *path, const struct message *file)
{
	struct cpl_error err = {""};

	assert_int_equal(cpl_file_write_atomic(path, file->text, file->n, 0644,
	                                       &err),
	                 0);
}

static struct message file_of(int rank)
{
	struct message file = {.n = 0}, m = {.n = 0};

	put_text(&m, 1, "1.0.0", 5);
	add_node(&file, &m);
	m = node(4);
	attribute(&m, "tensor_size", UINT64, 99, NULL);
	add_node(&file, &m);
	add_collective(&file, 0, 300, NULL);
	add_collective(&file, 6, 90, "");
	add_collective(&file, 9, 0, NULL);
	if (rank > 0)
		add_collective(&file, 2, 10, "tp");
	if (rank == 2) {
		m = node(5);
		attribute(&m, "comm_dst", INT32, 0, NULL);
		attribute(&m, "comm_size", INT64, 7, NULL);
		add_node(&file, &m);
	}
	return file;
}

static const char *const et[] = {"j.0.et", "j.1.et", "j.2.et"};

/* An all-reduce of three ranks: 2 * 2 / 3 * 300 bytes to the next in 4
 * messages; 30 bytes to each other; an all-gather of ranks 1 and 2; a send. */
static void test_chakra(void **state)
{
	static const struct cpl_comm_entry want[] = {
	        {0, 1, 430, 5}, {0, 2, 30, 1},  {1, 0, 30, 1},
	        {1, 2, 440, 6}, {2, 0, 437, 6}, {2, 1, 40, 2}};
	static const char *const order[] = {"j.2.et", "j.0.et", "j.1.et"};
	struct cpl_error err = {""};

	for (int r = 0; r < 3; r++) {
		struct message file = file_of(r);

		write_file(et[r], &file);
	}
	check_entries(
	        cpl_signature_import(et, 3, "chakra", &none, "n", NULL, &err),
	        3, want, 6, &err);
	check_entries(cpl_signature_import(order, 3, "chakra", &none, "n", NULL,
	                                   &err),
	              3, want, 6, &err);
}

static void chakra_refused(const char *const *path, int n, const char *why)
{
	struct cpl_error err = {""};

	assert_null(cpl_signature_import(path, n, "chakra", &none, "n", NULL,
	                                 &err));
	if (strncmp(err.text, why, strlen(why)))
		fail_msg("'%s', not '%s'", err.text, why);
}

static void test_chakra_refused(void **state)
{
	static const char *const twice[] = {"j.0.et", "j.0.et"};
	static const char *const named[] = {"j.et", "j.x.et"};
	struct message file = file_of(0), m;
	static const struct {
		const char *attribute;
		int type;
		uint64_t value;
		const char *why;
	} bad[] = {
	        {"comm_size", 5, 1, "j.0.et: node 1: a send has no comm_dst"},
	        {"comm_dst", 5, 1, "j.0.et: node 1: a send has no comm_size"},
	        {"comm_dst", 5, (uint64_t)-1, "j.0.et: node 1: a send has no "
	                                      "comm_dst"},
	        {"comm_size", 7, 1, "j.0.et: node 1: a collective has no "
	                            "comm_type"},
	        {"comm_type", 7, 10, "j.0.et: node 1: a collective has no "
	                             "comm_type"},
	        {"comm_type", 7, 0, "j.0.et: node 1: a collective has no "
	                            "comm_size"},
	};

	write_file("j.et", &file);
	write_file("j.x.et", &file);
	chakra_refused(&named[0], 1, "j.et: the file's name does not end in");
	chakra_refused(&named[1], 1, "j.x.et: the file's name does not end in");
	chakra_refused(twice, 2, "j.0.et: rank 0 has two files");
	chakra_refused(&et[1], 2, "j.1.et: rank 0 has no file");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		file.n = 0;
		m = node(0);
		add_node(&file, &m);
		m = node(bad[i].type);
		attribute(&m, bad[i].attribute, INT64, bad[i].value, NULL);
		add_node(&file, &m);
		write_file("j.0.et", &file);
		chakra_refused(et, 1, bad[i].why);
	}
	file.n--;
	write_file("j.0.et", &file);
	chakra_refused(et, 1, "j.0.et: node 1: is truncated");
	file.n = 0;
	put_text(&file, 0, "", 0);
	put_text(&file, 0, "\x0b", 1);
	write_file("j.0.et", &file);
	chakra_refused(et, 1, "j.0.et: node 1: is no Node of Chakra");
	file.n = 0;
	put_text(&file, 0, "", 0);
	write_file("j.0.et", &file);
	/* one rank that does nothing is a signature */
	cpl_signature_free(cpl_signature_import(et, 1, "chakra", &none, "n",
	                                        NULL, &(struct cpl_error){""}));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_ipm),
	        cmocka_unit_test(test_ipm_collectives),
	        cmocka_unit_test(test_ipm_refused),
	        cmocka_unit_test(test_mpip),
	        cmocka_unit_test(test_mpip_refused),
	        cmocka_unit_test(test_chakra),
	        cmocka_unit_test(test_chakra_refused),
	};

	return cmocka_run_group_tests(tests, into_dir, out_of_dir);
}
