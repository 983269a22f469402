/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This program's own structures, as its compiler has described them. */
#include "commplace-config.h"

#include "base/debuginfo.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define SELF "/proc/self/exe"

enum colour { RED, GREEN };
typedef const char *word_t;
typedef struct {
	uint8_t small;
	uint64_t large;
	word_t name;
	enum colour colour;
	uint16_t table[3][5];
	struct {
		int x, y;
	} inside;
	volatile uint32_t last;
} sample_t;
struct tagged {
	struct tagged *next;
	uint16_t n;
};

/* Used, or the compiler describes none. */
sample_t sample;
struct tagged tagged;

#define FIELD(of, type, name)                                                  \
	{                                                                      \
#type, #name, offsetof(of, name), sizeof(((of *)NULL)->name)   \
	}
static const struct cpl_field field[] = {
        FIELD(sample_t, sample_t, small),  FIELD(sample_t, sample_t, large),
        FIELD(sample_t, sample_t, name),   FIELD(sample_t, sample_t, colour),
        FIELD(sample_t, sample_t, table),  FIELD(sample_t, sample_t, inside),
        FIELD(sample_t, sample_t, last),   FIELD(struct tagged, tagged_t, next),
        FIELD(struct tagged, tagged_t, n),
};
enum { N = sizeof(field) / sizeof(*field) };

/* Without -g, or without libdw, there is nothing to look at. */
static int all_of(const char *program)
{
	struct cpl_error err = {""};
	int found = cpl_debuginfo_check(program, field, N, &err);

	if (found < 0)
		fail_msg("%s", err.text);
	return found;
}

static bool described(void)
{
	if (all_of(SELF))
		return true;
	print_message("# built without debug information, or libdw\n");
	return false;
}

static void test_all_as_compiled(void **state)
{
	if (described())
		assert_int_equal(all_of(SELF), N);
}

static void refused(const struct cpl_field *changed, const char *said)
{
	struct cpl_error err = {""};

	assert_int_equal(cpl_debuginfo_check(SELF, changed, N, &err), -1);
	if (!strstr(err.text, said))
		fail_msg("'%s' does not say '%s'", err.text, said);
}

static void test_what_differs_is_named(void **state)
{
	char said[128];

	if (!described())
		return;
	for (size_t i = 0; i < N; i++) {
		struct cpl_field changed[N];

		memcpy(changed, field, sizeof(field));
		snprintf(said, sizeof(said), "%s.%s has %zu bytes at %zu in",
		         field[i].type, field[i].name, field[i].size,
		         field[i].offset + 4);
		changed[i].offset += 4;
		refused(changed, said);
		changed[i] = field[i];
		changed[i].size *= 2;
		snprintf(said, sizeof(said), "here it has %zu at %zu",
		         field[i].size, field[i].offset);
		refused(changed, said);
		changed[i] = field[i];
		changed[i].name = "gone";
		snprintf(said, sizeof(said), "%s.gone is not there",
		         field[i].type);
		refused(changed, said);
	}
}

static void test_unknown_structures_do_not_count(void **state)
{
	const struct cpl_field other[] = {
	        {"nowhere_t", "x", 0, 4}, field[7], field[8]};
	struct cpl_error err = {""};

	if (described())
		assert_int_equal(cpl_debuginfo_check(SELF, other, 3, &err), 2);
}

static void test_no_such_file(void **state)
{
	assert_int_equal(all_of("/nonexistent"), 0);
	assert_int_equal(all_of("/"), 0);
	assert_int_equal(all_of("/dev/null"), 0);
}

static unsigned char *contents(size_t *n)
{
	struct stat st;
	unsigned char *all;
	int fd = open(SELF, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	*n = (size_t)st.st_size;
	all = malloc(*n);
	assert_non_null(all);
	assert_int_equal(read(fd, all, *n), st.st_size);
	close(fd);
	return all;
}

/* Whatever a file says, an answer comes. */
static void test_damaged_files(void **state)
{
	char path[] = "/tmp/cpl-debuginfo-XXXXXX";
	int fd = mkstemp(path);
	size_t n;
	unsigned char *all = contents(&n);
	uint64_t random = 25;

	assert_true(fd >= 0);
	for (int i = 0; i < 200; i++) {
		unsigned char was[64];
		size_t at[64];

		for (int k = 0; k < 64; k++) {
			random = random * 6364136223846793005u +
			         1442695040888963407u;
			/* Debug information is behind the program's own. */
			at[k] = n / 4 + (size_t)(random >> 16) % (n - n / 4);
			was[k] = all[at[k]];
			all[at[k]] = (unsigned char)(random >> 8);
		}
		assert_int_equal(pwrite(fd, all, n, 0), n);
		if (i % 4 == 3)
			assert_int_equal(ftruncate(fd, (off_t)(n - n / 5)), 0);
		cpl_debuginfo_check(path, field, N, NULL);
		for (int k = 63; k >= 0; k--)
			all[at[k]] = was[k];
	}
	assert_int_equal(pwrite(fd, all, n, 0), n);
	assert_int_equal(all_of(path), all_of(SELF));
	free(all);
	close(fd);
	unlink(path);
}

/* As packages do it: the debug information is compressed in a file of its own.
 */
static void test_split_off(void **state)
{
	static const char make[] =
	        "command -v objcopy >/dev/null 2>&1 || exit 77; "
	        "cd \"$0\" && cp \"$1\" x && "
	        "objcopy --only-keep-debug --compress-debug-sections=zlib x "
	        "x.debug && objcopy -g --add-gnu-debuglink=x.debug x";
	char dir[] = "/tmp/cpl-debuginfo-XXXXXX", self[4096], path[64];
	char command[8192];
	ssize_t n = readlink(SELF, self, sizeof(self) - 1);
	int status;

	if (!described())
		return;
	assert_true(n > 0);
	self[n] = '\0';
	assert_non_null(mkdtemp(dir));
	snprintf(command, sizeof(command), "sh -c '%s' %s '%s'", make, dir,
	         self);
	status = system(command);
	if (WEXITSTATUS(status) == 77) {
		print_message("# no objcopy\n");
	} else {
		assert_int_equal(status, 0);
		snprintf(path, sizeof(path), "%s/x", dir);
		assert_int_equal(all_of(path), N);
		/* Another program's is none of its. */
		snprintf(command, sizeof(command), "cp /proc/self/exe %s.debug",
		         path);
		assert_int_equal(system(command), 0);
		assert_int_equal(all_of(path), 0);
	}
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

/* Readers that do not do as they should: nothing is known then. */
static void test_odd_readers(void **state)
{
	static const char *const reader[] = {"/nonexistent", "/bin/true",
	                                     "/bin/false"};

	for (size_t i = 0; i < sizeof(reader) / sizeof(*reader); i++) {
		setenv("COMMPLACE_LAYOUT", reader[i], 1);
		assert_int_equal(all_of(SELF), 0);
	}
	setenv("COMMPLACE_LAYOUT", CPL_TEST_LAYOUT, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_all_as_compiled),
	        cmocka_unit_test(test_what_differs_is_named),
	        cmocka_unit_test(test_unknown_structures_do_not_count),
	        cmocka_unit_test(test_no_such_file),
	        cmocka_unit_test(test_damaged_files),
	        cmocka_unit_test(test_split_off),
	        cmocka_unit_test(test_odd_readers),
	};

	setenv("COMMPLACE_LAYOUT", CPL_TEST_LAYOUT, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
