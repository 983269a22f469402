/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"

#include "unit.h"

#include <errno.h>
#include <unistd.h>

#include "record/writer.h"
#include "signature/signature.h"

static char folder[64], path[128];

static int make_folder(void **state)
{
	strcpy(folder, "/tmp/test_record_writer.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/sig.json", folder);
	return 0;
}

/* Fails when the test left another file than its signature. */
static int remove_folder(void **state)
{
	unlink(path);
	return rmdir(folder);
}

static const struct rec_facts facts = {
        .name = "lj-3",
        .application = "a \"quoted\\ name\"",
        .ranks = 3,
        .time = 1.5,
        .compute_time = 0.0000004, /* rounds to none */
        .mpi = "Some MPI 1.0",
        /* a tab, an umlaut, half of one, a lone surrogate, too long a NUL */
        .command = "x\t-f \xc3\xa4 \xc3 \xed\xa0\x80 \xc0\x80 \x7f",
        .date = "2026-01-02T03:04:05Z",
        .hosts = 2,
        .outside_messages = 3,
};

static void test_the_library_reads_it(void **state)
{
	struct cpl_error err = {""};
	struct cpl_signature *sig;
	struct rec_writer w;

	assert_int_equal(rec_writer_open(&w, path), 0);
	assert_int_not_equal(access(path, F_OK), 0);
	rec_writer_head(&w, &facts);
	rec_writer_row(&w, 0, 2, UINT64_C(9007199254740992), 7);
	rec_writer_row(&w, 1, 0, 0, 1);
	rec_writer_row(&w, 0, 2, 8, 1);
	rec_writer_tail(&w, &facts);
	assert_int_equal(rec_writer_close(&w, 1), 0);

	sig = cpl_signature_load(path, &err);
	assert_string_equal(err.text, "");
	assert_non_null(sig);
	assert_string_equal(sig->name, "lj-3");
	assert_string_equal(sig->application, "a \"quoted\\ name\"");
	assert_int_equal(sig->ranks, 3);
	assert_int_equal(sig->n_phases, 1);
	assert_string_equal(sig->phase[0].name, "run");
	assert_true(sig->phase[0].weight == 1);
	assert_true(sig->phase[0].time == 1.5);
	assert_true(sig->phase[0].compute_time == 0);
	assert_int_equal(sig->phase[0].comm->n_entries, 2);
	assert_int_equal(sig->phase[0].comm->to[0], 2);
	assert_true(sig->phase[0].comm->bytes[0] == 9007199254741000.0);
	assert_true(sig->phase[0].comm->messages[0] == 8);
	assert_non_null(strstr(sig->recorded, "commplace-record"));
	assert_non_null(strstr(sig->recorded, "x\\t-f \xc3\xa4 ? ??? ??"));
	cpl_signature_free(sig);
}

static void test_no_traffic(void **state)
{
	struct cpl_error err = {""};
	struct cpl_signature *sig;
	struct rec_writer w;

	assert_int_equal(rec_writer_open(&w, path), 0);
	rec_writer_head(&w, &facts);
	rec_writer_tail(&w, &facts);
	assert_int_equal(rec_writer_close(&w, 1), 0);
	sig = cpl_signature_load(path, &err);
	assert_string_equal(err.text, "");
	assert_non_null(sig);
	assert_int_equal(sig->phase[0].comm->n_entries, 0);
	cpl_signature_free(sig);
}

static void test_given_up_leaves_the_old_file(void **state)
{
	struct rec_writer w;
	FILE *old = fopen(path, "w");
	char text[8] = "";

	assert_non_null(old);
	fputs("old", old);
	fclose(old);
	assert_int_equal(rec_writer_open(&w, path), 0);
	rec_writer_head(&w, &facts);
	assert_int_equal(rec_writer_close(&w, 0), 0);
	old = fopen(path, "r");
	assert_non_null(old);
	assert_non_null(fgets(text, sizeof(text), old));
	fclose(old);
	assert_string_equal(text, "old");
}

/* The disk is full: the error is kept until the end, nothing is left. */
static void test_write_error(void **state)
{
	struct rec_writer w;

	assert_int_equal(rec_writer_open(&w, path), 0);
	fclose(w.file);
	w.file = fopen("/dev/full", "w");
	assert_non_null(w.file);
	rec_writer_head(&w, &facts);
	rec_writer_tail(&w, &facts);
	assert_int_equal(rec_writer_close(&w, 1), -1);
	assert_int_equal(w.error, ENOSPC);
	assert_int_not_equal(access(path, F_OK), 0);
}

static void test_open_error(void **state)
{
	struct rec_writer w;

	assert_int_equal(rec_writer_open(&w, "/no/such/folder/x.json"), -1);
	assert_int_equal(w.error, ENOENT);
}

static void test_profile_names(void **state)
{
	static const struct {
		const char *path, *name;
	} row[] = {
	        {"/a/b/lj-64.json", "lj-64"},  {"lj", "lj"},
	        {"a b\xc3\xa4.json", "a-b--"}, {".hidden.json", "hidden"},
	        {"/a/.json", "json"},          {"/a/", "_"},
	        {"x.json.json", "x.json"},     {"--x.json", "_-x"},
	};
	char name[CPL_PROFILE_NAME_MAX + 1], text[300];

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		rec_profile_name(row[i].path, name, sizeof(name));
		assert_string_equal(name, row[i].name);
		assert_int_equal(cpl_profile_name_check(name, NULL), 0);
	}
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	rec_profile_name(text, name, sizeof(name));
	assert_int_equal(strlen(name), CPL_PROFILE_NAME_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_the_library_reads_it,
	                                        make_folder, remove_folder),
	        cmocka_unit_test_setup_teardown(test_no_traffic, make_folder,
	                                        remove_folder),
	        cmocka_unit_test_setup_teardown(
	                test_given_up_leaves_the_old_file, make_folder,
	                remove_folder),
	        cmocka_unit_test_setup_teardown(test_write_error, make_folder,
	                                        remove_folder),
	        cmocka_unit_test(test_open_error),
	        cmocka_unit_test(test_profile_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
