/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose rights root takes on a path, of a machine with users 7 and 8. */
#include "unit.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "signature.h"

#define NOBODY 999 /* no rights are taken */

/* Files by their paths; of a link, `to` is the owner of what it leads to, or -1
 * where that is not there. The shell is in "/home/seven". */
static const struct {
	const char *path;
	uid_t owner;
	bool link;
	int to;
} file[] = {
        {"/", 0, false, 0},
        {"/home", 0, false, 0},
        {"/home/seven", 7, false, 0},
        {"/home/seven/store", 7, false, 0},
        {"/home/seven/roots", 0, false, 0},
        {"/home/seven/own", 7, true, 7},
        {"/home/seven/own/part", 7, false, 0},
        {"/home/seven/own/again", 7, true, 7},
        {"/home/seven/own/eights", 8, true, 7},
        {"/home/seven/out", 7, true, 0},
        {"/home/seven/out/back", 7, false, 0},
        {"/home/seven/other", 7, true, 8},
        {"/home/seven/away", 7, true, -1},
        {"/home/seven/planted", 8, true, 7},
        {"/home/eight", 8, false, 0},
        {"/link", 0, true, 7},
        {"/link/store", 7, false, 0},
        {"/link/own", 7, true, 7},
        {".", 7, false, 0},
        {"store", 7, false, 0},
        {"store/part", 7, false, 0},
        {"out", 7, true, 0},
        {"o", 7, true, 0},
};

static uid_t as, taken;

uid_t __wrap_geteuid(void);
int __wrap_lstat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st);
int __wrap_cpl_user_begin(struct cpl_user_rights *before, uid_t uid,
                          struct cpl_error *err);

uid_t __wrap_geteuid(void)
{
	return as;
}

/* As the kernel does: several "/" are one, and one at the end follows a link.
 */
static int look(const char *path, bool follow, struct stat *st)
{
	char plain[PATH_MAX];
	size_t n = 0;

	for (; *path; path++)
		if (*path != '/' || !n || plain[n - 1] != '/')
			plain[n++] = *path;
	if (n > 1 && plain[n - 1] == '/') {
		follow = true;
		n--;
	}
	plain[n] = '\0';
	for (size_t i = 0; i < sizeof(file) / sizeof(*file); i++) {
		if (strcmp(plain, file[i].path))
			continue;
		if (follow && file[i].link && file[i].to < 0)
			break;
		*st = (struct stat){
		        .st_uid = follow && file[i].link ? (uid_t)file[i].to
		                                         : file[i].owner,
		        .st_mode = file[i].link && !follow ? S_IFLNK : S_IFDIR};
		return 0;
	}
	errno = ENOENT;
	return -1;
}

int __wrap_lstat(const char *path, struct stat *st)
{
	return look(path, false, st);
}

int __wrap_stat(const char *path, struct stat *st)
{
	return look(path, true, st);
}

int __wrap_cpl_user_begin(struct cpl_user_rights *before, uid_t uid,
                          struct cpl_error *err)
{
	(void)err;
	before->changed = true;
	taken = uid;
	return 0;
}

static void test_whose_rights(void **state)
{
	static const struct {
		const char *path;
		uid_t rights;
		const char *says;
	} row[] = {
	        {"/", 0, NULL},
	        {"/home", 0, NULL},
	        {"/home/seven", 7, NULL},
	        {"/home/seven/", 7, NULL},
	        {"/home/seven/store", 7, NULL},
	        {"/home//seven//store", 7, NULL},
	        {"/home/eight/store", 8, NULL},
	        {"/home/eight", 8, NULL},
	        /* What is not there yet will be of who has what is. */
	        {"/home/seven/new", 7, NULL},
	        {"/home/seven/new/and/more", 7, NULL},
	        {"/new", 0, NULL},
	        {"/home/seven/roots", 0, NULL},
	        {"/home/seven/own", 7, NULL},
	        {"/home/seven/own/part", 7, NULL},
	        {"/home/seven/own/again", 7, NULL},
	        {"/home/seven/own/new", 7, NULL},
	        {"/home/seven/away", 7, NULL},
	        {"/home/seven/away/new", 7, NULL},
	        {"/link", 7, NULL},
	        {"/link/store", 7, NULL},
	        {"/link/own", 7, NULL},
	        {"/home/seven/planted", NOBODY,
	         "/home/seven/planted: a link of user 8 leads there, whose it "
	         "is not"},
	        {"/home/seven/own/eights", NOBODY,
	         "/home/seven/own/eights: is a link of another user's"},
	        {"/home/seven/out", NOBODY,
	         "/home/seven/out: a link of user 7 leads there, whose it is "
	         "not"},
	        {"/home/seven/out/new", NOBODY,
	         "/home/seven/out/new: a link of user 7 leads there, whose it "
	         "is not"},
	        {"/home/seven/out/back", 7, NULL},
	        {"/home/seven/out/", NOBODY,
	         "/home/seven/out/: a link of user 7 leads there, whose it is "
	         "not"},
	        {"/home/seven/other", NOBODY,
	         "/home/seven/other: a link of user 7 leads there, whose it is "
	         "not"},
	        {"store", 7, NULL},
	        {"store/part", 7, NULL},
	        {"out", NOBODY,
	         "out: a link of user 7 leads there, whose it is not"},
	        {"o", NOBODY,
	         "o: a link of user 7 leads there, whose it is not"},
	        {"o/new", NOBODY,
	         "o/new: a link of user 7 leads there, whose it is not"},
	        /* In the folder of the shell. */
	        {".", 7, NULL},
	        {"new", 7, NULL},
	        {"new/store", 7, NULL},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_user_rights rights;
		struct cpl_error err = {""};
		int rc;

		as = 0;
		taken = NOBODY;
		print_message("%s\n", row[i].path);
		rc = signature_store_begin(row[i].path, &rights, &err);
		assert_int_equal(rc, row[i].says ? -1 : 0);
		assert_int_equal(taken, row[i].rights);
		assert_string_equal(err.text, row[i].says ? row[i].says : "");
		assert_int_equal(rights.changed, !rc);
		/* Who is not root has what rights he has. */
		as = 8;
		taken = NOBODY;
		assert_int_equal(
		        signature_store_begin(row[i].path, &rights, &err), 0);
		assert_int_equal(taken, NOBODY);
		assert_false(rights.changed);
	}
}

static void test_long_paths(void **state)
{
	struct cpl_user_rights rights;
	char path[PATH_MAX + 1];

	as = 0;
	for (int less = 0; less < 2; less++) {
		struct cpl_error err = {""};

		taken = NOBODY;
		memset(path, 'x', sizeof(path));
		path[0] = '/';
		path[PATH_MAX - less] = '\0';
		assert_int_equal(signature_store_begin(path, &rights, &err),
		                 less - 1);
		assert_int_equal(taken, less ? 0 : NOBODY);
		if (!less)
			assert_non_null(strstr(err.text, "xxx"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_whose_rights),
	        cmocka_unit_test(test_long_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
