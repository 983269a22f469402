/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signatures for other numbers of ranks, against those made at that number. */
#include "commplace-config.h"
#include <math.h>

#include "unit.h"

#include "signature/rescale.h"

/* Two phases of these patterns (the second may be NULL). */
static struct cpl_signature *make(int ranks, const char *a, const char *b)
{
	struct cpl_error err = {""};
	struct cpl_signature *sig;
	char text[1024];

	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-signature\", \"version\": 1, "
	         "\"name\": \"x\", \"ranks\": %d, \"phases\": [{\"name\": "
	         "\"a\", \"weight\": 3, \"time\": 2, \"pattern\": %s}%s%s%s]}",
	         ranks, a, b ? ", {\"name\": \"b\", \"pattern\": " : "",
	         b ? b : "", b ? "}" : "");
	sig = cpl_signature_parse(text, strlen(text), "test", &err);
	if (!sig)
		fail_msg("%s", err.text);
	return sig;
}

static double distance(const struct cpl_signature *a,
                       const struct cpl_signature *b)
{
	struct cpl_comm *x = cpl_signature_total(a, NULL);
	struct cpl_comm *y = cpl_signature_total(b, NULL);
	double d = cpl_comm_distance(x, y);

	cpl_comm_free(x);
	cpl_comm_free(y);
	return d;
}

#define STENCIL(dims, points, rest)                                            \
	"{\"type\": \"stencil\", \"dims\": [" dims "], \"points\": " points    \
	", \"bytes\": 1000" rest "}"
#define PERIODIC ", \"periodic\": true"
#define ALL(dims, axis, bytes)                                                 \
	"{\"type\": \"many-to-many\", \"dims\": [" dims "], \"axis\": " axis   \
	", \"bytes\": " bytes "}"

static const struct {
	int from, to;
	const char *a, *b; /* recorded */
	const char *c, *d; /* what would be recorded at `to` */
	const char *grid;
} rows[] = {
        {64, 512, STENCIL("4,4,4", "7", ""), NULL, STENCIL("8,8,8", "7", ""),
         NULL, "4x4x4 8x8x8"},
        {64, 512, STENCIL("4,4,4", "27", PERIODIC), NULL,
         STENCIL("8,8,8", "27", PERIODIC), NULL, "4x4x4 8x8x8"},
        {512, 64, STENCIL("8,8,8", "15", PERIODIC), NULL,
         STENCIL("4,4,4", "15", PERIODIC), NULL, "8x8x8 4x4x4"},
        {64, 128, STENCIL("8,8", "9", ""), NULL, STENCIL("16,8", "9", ""), NULL,
         "8x8 16x8"},
        {96, 192, STENCIL("6,4,4", "7", PERIODIC), NULL,
         STENCIL("8,6,4", "7", PERIODIC), NULL, "6x4x4 8x6x4"},
        {48, 72, STENCIL("8,6", "5", ""), NULL, STENCIL("9,8", "5", ""), NULL,
         "8x6 9x8"},
        {16, 24, STENCIL("16", "3", PERIODIC), NULL,
         STENCIL("24", "3", PERIODIC), NULL, "16 24"},
        {256, 4096, STENCIL("4,4,4,4", "9", PERIODIC), NULL,
         STENCIL("8,8,8,8", "9", PERIODIC), NULL, "4x4x4x4 8x8x8x8"},
        {16, 40, ALL("16", "0", "100"), NULL, ALL("40", "0", "100"), NULL,
         "16 40"},
        /* Transposes both ways; a rank has the same share of the data. */
        {64, 256, ALL("8,8", "0", "150"), ALL("8,8", "1", "450"),
         ALL("16,16", "0", "70"), ALL("16,16", "1", "210"), "8x8 16x16"},
        {64, 256, ALL("8,8", "1", "15"), STENCIL("8,8", "5", ""),
         ALL("16,16", "1", "7"), STENCIL("16,16", "5", ""), "8x8 16x16"},
        /* An axis of two tells nothing and stays. */
        {32, 64, STENCIL("8,2,2", "7", ""), NULL, STENCIL("16,2,2", "7", ""),
         NULL, "8x2x2 16x2x2"},
};

static void put_grid(char *text, const struct cpl_rescaled *how)
{
	for (int a = 0; a < how->n_dims; a++)
		text += sprintf(text, "%s%d", a ? "x" : "", how->from[a]);
	for (int a = 0; a < how->n_dims; a++)
		text += sprintf(text, "%s%d", a ? "x" : " ", how->to[a]);
}

static void test_against_recorded(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct cpl_signature *sig =
		        make(rows[i].from, rows[i].a, rows[i].b);
		struct cpl_signature *want =
		        make(rows[i].to, rows[i].c, rows[i].d);
		struct cpl_error err = {""};
		struct cpl_rescaled how;
		struct cpl_signature *got =
		        cpl_signature_rescale(sig, rows[i].to, 0, &how, &err);
		char grid[128];

		if (!got)
			fail_msg("row %zu: %s", i, err.text);
		put_grid(grid, &how);
		assert_string_equal(grid, rows[i].grid);
		assert_true(how.error < 1e-9);
		assert_true(distance(got, want) < 1e-9);
		assert_int_equal(got->n_phases, sig->n_phases);
		assert_true(got->phase[0].weight == 3);
		assert_true(got->phase[0].time == 2);
		assert_string_equal(got->phase[0].name, "a");
		cpl_signature_free(sig);
		cpl_signature_free(want);
		cpl_signature_free(got);
	}
}

/* What is said in the messages, in bytes and messages, stays the volume. */
static void test_amounts(void **state)
{
	struct cpl_signature *sig = make(16, ALL("16", "0", "90"), NULL);
	struct cpl_rescaled how;
	struct cpl_signature *got =
	        cpl_signature_rescale(sig, 31, 0, &how, NULL);
	const struct cpl_comm *comm = got->phase[0].comm;

	assert_int_equal(comm->n_entries, 31 * 30);
	assert_true(fabs(comm->bytes[0] - 90 * 15 / 30.0) < 1e-9);
	assert_true(fabs(comm->messages[0] - 1) < 1e-9);
	assert_non_null(strstr(got->recorded, "\"from_ranks\":16"));
	cpl_signature_free(sig);
	cpl_signature_free(got);
}

static void test_refused(void **state)
{
	static const struct {
		int from, to;
		const char *pattern, *error;
		uint64_t max;
	} row[] = {
	        {64, 128,
	         "{\"type\": \"spread\", \"ranks\": 64, \"degree\": [6, 9], "
	         "\"bytes\": 5}",
	         "x cannot be rescaled from 64 to 128 ranks: its traffic is "
	         "that of no grid (", 0},
	        {64, 67, STENCIL("4,4,4", "7", ""), "67 ranks make no grid of "
	                                            "the proportions of 4x4x4", 0},
	        {4, 8, STENCIL("2,2", "5", ""), "make no grid", 0},
	        {16, 32, STENCIL("16", "3", "") /* nothing sent: */,
	         "it has no traffic", 0},
	        {16, 16777216, ALL("16", "0", "1"), "partners each are too "
	                                            "many", 0},
	        {16, 2000000000, STENCIL("4,4", "5", PERIODIC),
	         "at most 16777216 are allowed", 0},
	        {16, 1024, ALL("16", "0", "1"),
	         "need more than the 59 MiB of memory", 59 << 20},
	        {16, 1 << 20, STENCIL("16", "3", ""), "the 100 MiB", 100 << 20},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_signature *sig =
		        make(row[i].from, row[i].pattern, NULL);
		struct cpl_error err = {""};
		struct cpl_rescaled how;

		if (strstr(row[i].error, "no traffic"))
			sig->phase[0].comm->n_entries = 0,
			memset(sig->phase[0].comm->row, 0,
			       17 * sizeof(int64_t));
		assert_null(cpl_signature_rescale(sig, row[i].to, row[i].max, &how,
		                                  &err));
		if (!strstr(err.text, row[i].error))
			fail_msg("row %zu: %s", i, err.text);
		cpl_signature_free(sig);
	}
}

/* A recording is never exact: the error is how much of it is else. */
static void test_error(void **state)
{
	struct cpl_signature *sig = make(64, STENCIL("8,8", "5", PERIODIC),
	                                 NULL);
	struct cpl_comm *comm = sig->phase[0].comm;
	struct cpl_rescaled how;
	struct cpl_signature *got;

	/* Half of the pairs 5 % more, half 5 % less than on average. */
	for (int64_t e = 0; e < comm->n_entries; e++)
		comm->bytes[e] *= (e / 8) % 2 ? 1.05 : 0.95;
	got = cpl_signature_rescale(sig, 256, 0, &how, NULL);
	assert_non_null(got);
	assert_true(fabs(how.error - 0.025) < 1e-9);
	cpl_signature_free(got);
	cpl_signature_free(sig);
}

/* A message to the one offset along short axes that has no traffic otherwise
 * does not make all-to-all of them. */
static void test_stray_messages(void **state)
{
	struct cpl_signature *sig = make(64, STENCIL("4,4,4", "7", ""), NULL);
	struct cpl_comm *comm = sig->phase[0].comm;
	struct cpl_comm_entry *entry =
	        malloc((size_t)(comm->n_entries + 3) * sizeof(*entry));
	static const struct cpl_comm_entry stray[] = {
	        {0, 2, 10, 1}, {0, 8, 10, 1}, {0, 32, 10, 1}};
	struct cpl_rescaled how;
	struct cpl_signature *got;
	int64_t n = 0;

	for (int r = 0; r < 64; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++)
			entry[n++] = (struct cpl_comm_entry){
			        r, comm->to[e], comm->bytes[e],
			        comm->messages[e]};
	memcpy(entry + n, stray, sizeof(stray));
	sig->phase[0].comm = cpl_comm_build(64, entry, n + 3, NULL);
	got = cpl_signature_rescale(sig, 512, 0, &how, NULL);
	assert_non_null(got);
	assert_int_equal(how.n_dims, 3);
	assert_true(how.error < 1e-3);
	cpl_signature_free(got);
	cpl_signature_free(sig);
	cpl_comm_free(comm);
	free(entry);
}

/* Halos round two axes beside all-reduces by recursive doubling, which axes of two
 * would explain as well: a ring of four is a square of two by two. */
static void test_fewer_axes(void **state)
{
	static const struct {
		int from, to;
		const char *halo, *want, *grid;
	} row[] = {
	        {16, 64, STENCIL("4,4", "5", PERIODIC),
	         STENCIL("8,8", "5", PERIODIC), "4x4 8x8"},
	        {32, 64, STENCIL("8,4", "5", PERIODIC),
	         STENCIL("8,8", "5", PERIODIC), "8x4 8x8"},
	        {32, 64, STENCIL("4,8", "5", PERIODIC),
	         STENCIL("8,8", "5", PERIODIC), "4x8 8x8"},
	        {32, 128, STENCIL("4,8", "5", PERIODIC),
	         STENCIL("8,16", "5", PERIODIC), "4x8 8x16"},
	        /* Not what MPI_Dims_create makes: the same proportions. */
	        {64, 128, STENCIL("16,4", "5", PERIODIC),
	         STENCIL("32,4", "5", PERIODIC), "16x4 32x4"},
	        /* Axes of two that are some. */
	        {32, 64, STENCIL("8,2,2", "7", ""),
	         STENCIL("16,2,2", "7", ""), "8x2x2 16x2x2"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		char reduce[160], grid[128];
		struct cpl_signature *sig, *want, *got;
		struct cpl_error err = {""};
		struct cpl_rescaled how;
		double apart;

		snprintf(reduce, sizeof(reduce),
		         "{\"type\": \"collective\", \"operation\": "
		         "\"allreduce\", \"algorithm\": "
		         "\"recursive-doubling\", \"ranks\": %d, "
		         "\"bytes\": 8}",
		         row[i].from);
		sig = make(row[i].from, row[i].halo, reduce);
		want = make(row[i].to, row[i].want, NULL);
		got = cpl_signature_rescale(sig, row[i].to, 0, &how, &err);
		if (!got)
			fail_msg("row %zu: %s", i, err.text);
		put_grid(grid, &how);
		assert_string_equal(grid, row[i].grid);
		apart = distance(got, want);
		assert_true(apart < 0.02);
		cpl_signature_free(sig);
		cpl_signature_free(want);
		cpl_signature_free(got);
	}
}

/* A number of ranks with very many divisors keeps nobody waiting for long. */
static void test_too_many_grids(void **state)
{
	enum { A = 330, B = 6, C = 364, RANKS = A * B * C };
	struct cpl_comm_entry *entry = malloc(RANKS * sizeof(*entry));
	struct cpl_phase phase = {.name = "a", .weight = 1};
	struct cpl_signature sig = {.name = "x",
	                            .ranks = RANKS,
	                            .n_phases = 1,
	                            .phase = &phase};
	struct cpl_error err = {""};
	struct cpl_rescaled how;

	/* To the next one round the axis in the middle. */
	for (int r = 0; r < RANKS; r++) {
		int b = r / C % B;

		entry[r] = (struct cpl_comm_entry){
		        r, r + ((b + 1) % B - b) * C, 1, 1};
	}
	phase.comm = cpl_comm_build(RANKS, entry, RANKS, NULL);
	assert_null(cpl_signature_rescale(&sig, 8 * RANKS, 0, &how, &err));
	assert_non_null(strstr(err.text, "its traffic is that of no grid"));
	assert_non_null(strstr(err.text, "to try all grids of 3 axes takes "
	                                 "more than the 300 million steps"));
	cpl_comm_free(phase.comm);
	free(entry);
}

/* Nor do neighbours in all directions from ranks in all corners, or rows that
 * hold all that there is: of no pattern, with as many grids as that allows. */
static void test_what_a_search_costs(void **state)
{
	enum { RANKS = 5040, FULL = 64 };
	struct cpl_phase phase = {.name = "a", .weight = 1};
	struct cpl_signature sig = {.name = "x",
	                            .ranks = RANKS,
	                            .n_phases = 1,
	                            .phase = &phase};
	struct cpl_comm_entry *entry =
	        malloc((size_t)FULL * RANKS * sizeof(*entry));
	struct cpl_error err = {""};
	struct cpl_rescaled how;
	uint64_t random = 1;

	for (int shape = 0; shape < 2; shape++) {
		int n = 0, most = shape ? FULL * RANKS : 3 * RANKS;

		/* A few of each rank's, or all of few. */
		for (; n < most; n++) {
			int from = shape ? n / RANKS * 79 % RANKS : n % RANKS;

			random = random * 6364136223846793005u + 1;
			entry[n] = (struct cpl_comm_entry){
			        from, (int)((random >> 33) % RANKS),
			        (double)(random >> 44) + 1, 1};
		}
		phase.comm = cpl_comm_build(RANKS, entry, n, NULL);
		assert_non_null(phase.comm);
		assert_null(cpl_signature_rescale(&sig, 2 * RANKS, 0, &how,
		                                  &err));
		assert_non_null(strstr(err.text, "that of no grid ("));
		/* The most that one grid takes: all, and 625 by 625. */
		assert_true(how.steps > 0);
		assert_true(how.steps <= RESCALE_MAX_STEPS + 2.0 * n +
		                                 2.0 * RANKS + 3 * 625 * 625);
		cpl_comm_free(phase.comm);
	}
	free(entry);
}

static void test_distance(void **state)
{
	struct cpl_comm_entry x[] = {{0, 1, 3, 1}, {1, 0, 1, 1}};
	struct cpl_comm_entry y[] = {{0, 1, 30, 1}, {1, 0, 10, 1}};
	struct cpl_comm_entry z[] = {{0, 1, 1, 1}, {1, 0, 3, 1}};
	struct cpl_comm_entry other[] = {{1, 2, 1, 1}};
	struct cpl_comm *a = cpl_comm_build(3, x, 2, NULL);
	struct cpl_comm *b = cpl_comm_build(3, y, 2, NULL);
	struct cpl_comm *c = cpl_comm_build(3, z, 2, NULL);
	struct cpl_comm *d = cpl_comm_build(3, other, 1, NULL);
	struct cpl_comm *none = cpl_comm_build(3, x, 0, NULL);

	assert_true(cpl_comm_distance(a, b) == 0);
	assert_true(cpl_comm_distance(a, c) == 0.5);
	assert_true(cpl_comm_distance(a, d) == 1);
	assert_true(cpl_comm_distance(a, none) == 1);
	assert_true(cpl_comm_distance(none, none) == 0);
	cpl_comm_free(a);
	cpl_comm_free(b);
	cpl_comm_free(c);
	cpl_comm_free(d);
	cpl_comm_free(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_against_recorded),
	        cmocka_unit_test(test_amounts),
	        cmocka_unit_test(test_refused),
	        cmocka_unit_test(test_error),
	        cmocka_unit_test(test_stray_messages),
	        cmocka_unit_test(test_fewer_axes),
	        cmocka_unit_test(test_too_many_grids),
	        cmocka_unit_test(test_what_a_search_costs),
	        cmocka_unit_test(test_distance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
