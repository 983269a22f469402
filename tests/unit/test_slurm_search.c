/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the command finds slurm.conf and commplace.conf: on hosts with files of
 * their own, on login nodes with sackd, with SLURM_CONF_SERVER alone, and on
 * nodes that have fetched theirs. */
#include "unit.h"

#include <sys/stat.h>
#include <unistd.h>

#include "slurm_search.h"

static char top[] = "/tmp/commplace-search.XXXXXX";
static const char *const folder[] = {
        "/built", "/run", "/spool", "/spool/conf-cache", "/other", "/ctld"};
static char answer[64]; /* of slurmctld; "": there is none */
static int asked;

static char *ask(struct cpl_error *err)
{
	asked++;
	if (*answer)
		return strdup(answer);
	cpl_fail(err, "scontrol: not found");
	return NULL;
}

/* In one of several texts, which are the test's to read until the next four. */
static const char *in(const char *path)
{
	static char text[4][128];
	static int n;

	n = (n + 1) % 4;
	snprintf(text[n], sizeof(text[n]), "%s%s", top, path);
	return text[n];
}

static void make(const char *path)
{
	FILE *f = fopen(in(path), "w");

	assert_non_null(f);
	fclose(f);
}

static int begin(void **state)
{
	strcpy(top + strlen(top) - 6, "XXXXXX");
	*answer = '\0';
	asked = 0;
	if (!mkdtemp(top))
		return -1;
	for (size_t i = 0; i < sizeof(folder) / sizeof(*folder); i++)
		if (mkdir(in(folder[i]), 0755))
			return -1;
	return 0;
}

static int end(void **state)
{
	static const char *const name[] = {"/slurm.conf", "/commplace.conf"};

	for (size_t i = sizeof(folder) / sizeof(*folder); i--;) {
		for (int k = 0; k < 2; k++) {
			char path[160];

			snprintf(path, sizeof(path), "%s%s", in(folder[i]),
			         name[k]);
			unlink(path);
		}
		rmdir(in(folder[i]));
	}
	return rmdir(top);
}

/* A host without SLURM_CONF and SLURM_CONF_SERVER. */
static struct slurm_search host(void)
{
	static char path[3][128];

	strcpy(path[0], in("/built"));
	strcpy(path[1], in("/run"));
	strcpy(path[2], in("/spool/conf-cache"));
	return (struct slurm_search){.built_in = path[0],
	                             .fetched = path[1],
	                             .cache = path[2],
	                             .ask = ask};
}

/* What is found; NULL: none. */
static void finds(const struct slurm_search *search, const char *conf,
                  const char *site)
{
	char *path = slurm_search_conf(search);

	if (conf)
		assert_string_equal(path, in(conf));
	else
		assert_null(path);
	free(path);
	path = slurm_search_site(search, NULL);
	assert_non_null(path);
	assert_string_equal(path, in(site));
	free(path);
}

static void test_built_in(void **state)
{
	struct slurm_search search = host();

	finds(&search, NULL, "/built/commplace.conf");
	make("/run/slurm.conf");
	make("/run/commplace.conf");
	make("/built/slurm.conf");
	finds(&search, "/built/slurm.conf", "/built/commplace.conf");
	/* An empty one is none. */
	search.env = "";
	finds(&search, "/built/slurm.conf", "/built/commplace.conf");
	assert_int_equal(asked, 0);
}

static void test_environment(void **state)
{
	struct slurm_search search = host();

	search.env = in("/other/slurm.conf");
	make("/built/slurm.conf");
	make("/built/commplace.conf");
	/* Another cluster's, which has no commplace: not this one's. */
	finds(&search, "/other/slurm.conf", "/other/commplace.conf");
	assert_int_equal(asked, 0);
}

static void test_sackd(void **state)
{
	struct slurm_search search = host();

	make("/run/slurm.conf");
	make("/spool/conf-cache/slurm.conf");
	finds(&search, "/run/slurm.conf", "/built/commplace.conf");
	strcpy(answer, in("/ctld/slurm.conf"));
	make("/ctld/commplace.conf");
	finds(&search, "/run/slurm.conf", "/ctld/commplace.conf");
	assert_int_equal(asked, 2);
	make("/built/commplace.conf");
	finds(&search, "/run/slurm.conf", "/built/commplace.conf");
	make("/run/commplace.conf");
	finds(&search, "/run/slurm.conf", "/run/commplace.conf");
	assert_int_equal(asked, 2);
}

static void test_server(void **state)
{
	struct slurm_search search = host();
	struct cpl_error err = {""};
	char *path;

	search.server = "ctl1,ctl2";
	make("/spool/conf-cache/slurm.conf"); /* which Slurm does not read */
	path = slurm_search_site(&search, &err);
	assert_string_equal(path, in("/built/commplace.conf"));
	assert_string_equal(err.text, "scontrol: not found");
	free(path);
	strcpy(answer, in("/ctld/slurm.conf"));
	path = slurm_search_site(&search, &err);
	assert_string_equal(path, in("/built/commplace.conf"));
	assert_non_null(strstr(err.text, "beside slurmctld's"));
	free(path);
	make("/ctld/commplace.conf");
	finds(&search, NULL, "/ctld/commplace.conf");
	make("/built/commplace.conf");
	finds(&search, NULL, "/built/commplace.conf");
	/* Fetched files come first. */
	make("/run/slurm.conf");
	make("/run/commplace.conf");
	finds(&search, "/run/slurm.conf", "/run/commplace.conf");
}

static void test_node(void **state)
{
	struct slurm_search search = host();

	make("/spool/conf-cache/slurm.conf");
	make("/built/commplace.conf");
	finds(&search, "/spool/conf-cache/slurm.conf", "/built/commplace.conf");
	make("/spool/conf-cache/commplace.conf");
	finds(&search, "/spool/conf-cache/slurm.conf",
	      "/spool/conf-cache/commplace.conf");
	/* A job, with slurmd's folder where nobody else knows it. */
	unlink(in("/spool/conf-cache/commplace.conf"));
	search.cache = NULL;
	search.env = in("/spool/conf-cache/slurm.conf");
	finds(&search, "/spool/conf-cache/slurm.conf", "/built/commplace.conf");
	/* Likewise by the link that slurmd makes. */
	rmdir(in("/run"));
	assert_int_equal(symlink(in("/spool"), in("/run")), 0);
	make("/spool/slurm.conf");
	search.env = in("/spool/slurm.conf");
	finds(&search, "/spool/slurm.conf", "/built/commplace.conf");
	unlink(in("/run"));
	unlink(in("/spool/slurm.conf"));
	assert_int_equal(mkdir(in("/run"), 0755), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_built_in, begin, end),
	        cmocka_unit_test_setup_teardown(test_environment, begin, end),
	        cmocka_unit_test_setup_teardown(test_sackd, begin, end),
	        cmocka_unit_test_setup_teardown(test_server, begin, end),
	        cmocka_unit_test_setup_teardown(test_node, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
