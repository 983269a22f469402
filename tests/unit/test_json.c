/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#include "base/file.h"
#include "base/json.h"
#include "base/suggest.h"

static char dir[] = "/tmp/commplace-json-XXXXXX";

static char *in_dir(const char *name)
{
	char *path = cpl_path_join(dir, name, NULL);

	assert_non_null(path);
	return path;
}

static int make_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	return rmdir(dir);
}

static void test_parse_refuses(void **state)
{
	static const struct {
		const char *text, *message;
	} row[] = {
	        {"", "x.json: is empty; a JSON object is needed"},
	        {"{\"a\":1,\"a\":2}", "x.json:1:10: not valid JSON: duplicate "
	                              "object key near '\"a\"'"},
	        {"{\n \"a\":", "x.json:2:5: not valid JSON: unexpected token "
	                       "near end of file"},
	        {"[1e999]", "x.json:1:6: not valid JSON: real number overflow "
	                    "near '1e999'"},
	        /* What the text quotes stays on one line. */
	        {"[\"a\nb\"]", "x.json:1:3: not valid JSON: unexpected newline "
	                       "near '\"a'"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct cpl_error err = {""};

		assert_null(cpl_json_parse(row[i].text, strlen(row[i].text),
		                           "x.json", &err));
		assert_string_equal(err.text, row[i].message);
	}
}

static void test_format(void **state)
{
	static const struct {
		const char *text, *message; /* NULL: right */
	} row[] = {
	        {"{\"format\":\"f\",\"version\":1}", NULL},
	        {"[]", "is an array; an object with \"format\": \"f\" is "
	               "needed"},
	        {"{\"version\":1}", "\"format\" is missing; it must be "
	                            "\"f\""},
	        {"{\"format\":\"g\"}", "\"format\" is \"g\"; \"f\" is needed "
	                               "here"},
	        {"{\"format\":\"f\"}", "\"version\" is missing; it must be 1"},
	        {"{\"format\":\"f\",\"version\":2}", "\"version\" is 2; this "
	                                             "release reads 1"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct cpl_error err = {""};
		json_t *root = cpl_json_parse(row[i].text, strlen(row[i].text),
		                              "x", &err);

		assert_non_null(root);
		assert_int_equal(cpl_json_expect_format(root, "f", &err),
		                 row[i].message ? -1 : 0);
		assert_string_equal(err.text,
		                    row[i].message ? row[i].message : "");
		json_decref(root);
	}
}

static void test_typed_access(void **state)
{
	static const char text[] =
	        "{\"i\":5,\"r\":0.5,\"s\":\"x\",\"t\":true,\"n\":null}";
	struct cpl_error err = {""};
	json_t *root = cpl_json_parse(text, strlen(text), "x", &err);
	int64_t i = -7;
	double d = -7.0;
	const char *s = NULL;
	bool b = false;

	assert_int_equal(cpl_json_int(root, "none", 0, 9, &i, &err), 0);
	assert_int_equal(i, -7);
	assert_int_equal(cpl_json_int(root, "i", 0, 9, &i, &err), 1);
	assert_int_equal(i, 5);
	assert_int_equal(cpl_json_int(root, "i", 6, 9, &i, &err), -1);
	assert_string_equal(err.text, "\"i\" is 5; it must lie in 6 to 9");
	assert_int_equal(cpl_json_int(root, "r", 0, 9, &i, &err), -1);
	assert_string_equal(err.text,
	                    "\"r\" is a real number; an integer is needed");
	assert_int_equal(cpl_json_number(root, "i", 0, 9, &d, &err), 1);
	assert_true(d == 5.0);
	assert_int_equal(cpl_json_number(root, "r", 0, 9, &d, &err), 1);
	assert_true(d == 0.5);
	assert_int_equal(cpl_json_number(root, "r", 1, 9, &d, &err), -1);
	assert_string_equal(err.text, "\"r\" is 0.5; it must lie in 1 to 9");
	assert_int_equal(cpl_json_number(root, "s", 0, 9, &d, &err), -1);
	assert_string_equal(err.text, "\"s\" is a string; a number is needed");
	assert_int_equal(cpl_json_string(root, "s", &s, &err), 1);
	assert_string_equal(s, "x");
	assert_int_equal(cpl_json_string(root, "n", &s, &err), -1);
	assert_string_equal(err.text, "\"n\" is null; a string is needed");
	assert_int_equal(cpl_json_bool(root, "t", &b, &err), 1);
	assert_true(b);
	assert_int_equal(cpl_json_bool(root, "i", &b, &err), -1);
	assert_string_equal(err.text,
	                    "\"i\" is an integer; true or false is needed");
	json_decref(root);
}

static void test_known_keys(void **state)
{
	static const char *const keys[] = {"a", "b", NULL};
	struct cpl_error err = {""};
	json_t *root = cpl_json_parse("{\"a\":1,\"c\":2}", 13, "x", &err);

	assert_int_equal(cpl_json_known_keys(root, "row", keys, &err), -1);
	assert_string_equal(err.text,
	                    "row: unknown key \"c\"; the keys are a, b");
	json_object_del(root, "c");
	assert_int_equal(cpl_json_known_keys(root, "row", keys, &err), 0);
	json_decref(root);
}

static void test_write_keeps_the_old_file_until_done(void **state)
{
	struct cpl_error err = {""};
	char *path = in_dir("a.json");
	json_t *root = json_pack("{s:f}", "x", 0.1);
	struct cpl_file_writer *w;
	struct stat st;
	json_t *back;

	assert_int_equal(cpl_json_write_atomic(root, path, 0640, &err), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	w = cpl_file_open_atomic(path, &err);
	assert_non_null(w);
	fputs("half", cpl_file_stream(w));
	fflush(cpl_file_stream(w));
	back = cpl_json_load(path, &err);
	assert_non_null(back);
	assert_true(json_equal(root, back));
	cpl_file_abandon(w);
	json_decref(back);
	back = cpl_json_load(path, &err);
	assert_true(json_equal(root, back));
	json_decref(back);
	json_decref(root);
	unlink(path);
	free(path);
}

static void test_write_failures(void **state)
{
	struct cpl_error err = {""};
	char *path = in_dir("none/a.json");
	char text[CPL_ERROR_MAX];
	json_t *root = json_object();

	assert_int_equal(cpl_json_write_atomic(root, path, 0644, &err), -1);
	snprintf(text, sizeof(text),
	         "%s: cannot be written: No such file or directory", path);
	assert_string_equal(err.text, text);
	assert_int_equal(cpl_json_write_atomic(root, dir, 0644, &err), -1);
	snprintf(text, sizeof(text), "%s: exists and is not a regular file",
	         dir);
	assert_string_equal(err.text, text);
	json_decref(root);
	free(path);
}

/* What stands at /dev/stdout is a link: a file renamed to there would take it
 * away from all programs. */
static void test_write_to_a_descriptor(void **state)
{
	static const struct {
		const char *path;
		int fd;
	} cases[] = {
	        {"/dev/stdin", 0},        {"/dev/stdout", 1},
	        {"/dev/stderr", 2},       {"/dev/fd/7", 7},
	        {"/proc/self/fd/12", 12}, {"/dev/null", -1},
	        {"/dev/stdout1", -1},     {"/dev/fd/", -1},
	        {"/dev/fd/-1", -1},       {"/dev/fd/1x", -1},
	        {"/dev/fd/99999999", -1}, {"/proc/self/fd", -1},
	        {"dev/stdout", -1},       {"stdout", -1},
	};
	struct cpl_error err = {""};
	char *file = in_dir("out"), path[64], *back;
	int fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
	size_t n;
	struct stat st;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(cpl_file_descriptor(cases[i].path),
		                 cases[i].fd);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "before ", 7), 7);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(cpl_file_write_atomic(path, "text", 4, 0644, &err), 0);
	assert_int_equal(write(fd, " after", 6), 6);
	close(fd);
	back = cpl_file_read(file, 100, &n, &err);
	assert_non_null(back);
	assert_string_equal(back, "before text after");
	free(back);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(cpl_file_write_atomic(path, "text", 4, 0644, &err),
	                 -1);
	assert_non_null(strstr(err.text, "cannot be written: Bad file"));
	unlink(file);
	free(file);
}

static void test_read_limits(void **state)
{
	struct cpl_error err = {""};
	char *path = in_dir("b"), *fifo = in_dir("fifo");
	char text[CPL_ERROR_MAX], *back;
	size_t n = 99;

	assert_int_equal(cpl_file_write_atomic(path, "a\0b", 3, 0644, &err), 0);
	assert_null(cpl_file_read(path, 2, &n, &err));
	snprintf(text, sizeof(text), "%s: has 3 bytes; at most 2 are read",
	         path);
	assert_string_equal(err.text, text);
	back = cpl_file_read(path, 3, &n, &err);
	assert_non_null(back);
	assert_int_equal(n, 3);
	assert_memory_equal(back, "a\0b", 4);
	free(back);
	assert_null(cpl_file_read(dir, 2, &n, &err));
	snprintf(text, sizeof(text), "%s: is a directory; a file is needed",
	         dir);
	assert_string_equal(err.text, text);
	/* No writer will ever come: this must not wait. */
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_null(cpl_file_read(fifo, 2, &n, &err));
	snprintf(text, sizeof(text), "%s: is not a regular file", fifo);
	assert_string_equal(err.text, text);
	unlink(fifo);
	unlink(path);
	free(fifo);
	free(path);
}

static void test_suggest(void **state)
{
	static const char *const words[] = {"NetworkFile", "ProfileDir", "Mode",
	                                    "MinNodes", NULL};
	static const struct {
		const char *text, *word;
	} row[] = {
	        {"NetworkFile", "NetworkFile"},
	        {"networfile", "NetworkFile"},
	        {"Mod", "Mode"},
	        {"minnode", "MinNodes"},
	        {"Profil", "ProfileDir"},
	        {"zzzz", NULL},
	        {"", NULL},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const char *got = cpl_suggest(row[i].text, words);

		if (row[i].word)
			assert_string_equal(got ? got : "", row[i].word);
		else
			assert_null(got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_parse_refuses),
	        cmocka_unit_test(test_format),
	        cmocka_unit_test(test_typed_access),
	        cmocka_unit_test(test_known_keys),
	        cmocka_unit_test(test_write_keeps_the_old_file_until_done),
	        cmocka_unit_test(test_write_failures),
	        cmocka_unit_test(test_write_to_a_descriptor),
	        cmocka_unit_test(test_read_limits),
	        cmocka_unit_test(test_suggest),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
