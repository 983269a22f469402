/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * No memory: every allocation of the loaders and writers fails once, those of
 * the JSON library too. failing_alloc.h has the allocators.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#include "base/file.h"
#include "base/json.h"
#include "signature/import/import.h"
#include "site/config.h"
#include "site/record.h"
#include "site/size.h"
#include "site/usage.h"
#include "failing_alloc.h"

static const char signature[] =
        "{\"format\":\"commplace-signature\",\"version\":1,\"ranks\":4,"
        "\"application\":\"a\",\"recorded\":{\"t\":1},\"phases\":["
        "{\"traffic\":[[3,1,1,1],[0,1,1,1]]},{\"pattern\":{\"type\":\"spread\","
        "\"ranks\":4,\"degree\":[1,2],\"bytes\":1}},{\"pattern\":{\"type\":"
        "\"permutation\",\"ranks\":4,\"bytes\":1}}]}";

static int load_signature(struct cpl_error *err)
{
	static const int rank[] = {3, 1};
	struct cpl_signature *sig = cpl_signature_parse(
	        signature, strlen(signature), "s.json", err);
	struct cpl_comm *total = NULL, *graph = NULL, *part = NULL;

	if (sig)
		total = cpl_signature_total(sig, err);
	if (total)
		graph = cpl_comm_symmetric(total, err);
	if (graph)
		part = cpl_comm_subset(graph, rank, 2, err);
	cpl_comm_free(part);
	cpl_comm_free(graph);
	cpl_comm_free(total);
	cpl_signature_free(sig);
	return part ? 0 : -1;
}

static int import(struct cpl_error *err)
{
	static const char text[] = "1 0 5\n0 1 5\n";
	struct cpl_signature *sig = cpl_signature_import_text(
	        text, strlen(text), "m", "coo", "n", "a", err);
	int rc;

	if (!sig)
		return -1;
	rc = cpl_signature_write_binary(sig, "x.json", err);
	if (!rc) {
		unlink("x.json");
		unlink("x.phase1.comm");
	}
	/* All or nothing. */
	assert_int_equal(access("x.phase1.comm", F_OK), -1);
	cpl_signature_free(sig);
	return rc;
}

static int load_config(struct cpl_error *err)
{
	static const char text[] =
	        "NetworkFile=/n DefaultPolicy=auto Routing=SD\n"
	        "Partition=p DefaultPolicy=RDR DefaultMapping=linear\n"
	        "Match JobName=x Profile=y\n"
	        "Match User=root,0 Mode=off\n";
	struct cpl_config *c = cpl_config_parse(text, strlen(text), "c", err);
	int rc = c ? cpl_config_find_users(c, NULL, NULL, err) : -1;

	cpl_config_free(c);
	return rc;
}

static void say(void *arg, const char *text)
{
	++*(int *)arg;
}

/* What is wrong with one line is said, and the other lines hold. */
static int load_all_config(struct cpl_error *err)
{
	int said = 0;
	struct cpl_config *c = cpl_config_load_all("all.conf", say, &said, err);
	int rules = c ? c->n_partitions + c->n_matches : 0;

	assert_true(!c || rules + said == 4);
	for (int i = 0; c && i < c->n_partitions; i++)
		assert_non_null(c->partition[i].partition);
	cpl_config_free(c);
	return c ? 0 : -1;
}

static int read_usage(struct cpl_error *err)
{
	struct cpl_usage *usage;
	int n = cpl_usage_read(".", &usage, err);

	/* A record that cannot be read tells nothing. */
	assert_in_range(n + 1, 0, 2);
	cpl_usage_free(usage, n);
	return n < 0 ? -1 : 0;
}

/* A number of nodes that one look does not tell. */
static int find_size(struct cpl_error *err)
{
	static const struct cpl_need need = {
	        .min_nodes = 1, .max_nodes = 9, .nodes = 1, .cpus = 3};
	static const uint32_t cpus[] = {1, 1, 1};
	struct cpl_size size;

	return cpl_size(&need, cpus, 3, 0, &size) > 0 ? 0
	                                              : cpl_fail_memory(err);
}

static int load_state(struct cpl_error *err)
{
	static const char text[] =
	        "{\"jobs\":[{\"id\":1,\"signature\":\"s\",\"hosts\":[\"a\","
	        "\"b\"],\"rank_to_host\":[\"b\",\"a\"]}]}";
	struct cpl_state state;
	int rc = cpl_state_parse(text, strlen(text), "s", &state, err);

	if (!rc)
		rc = cpl_state_write(&state, "x.json", 0644, err);
	if (!rc)
		unlink("x.json");
	cpl_state_free(&state);
	return rc;
}

static int copy_record(struct cpl_error *err)
{
	static const char text[] =
	        "{\"format\":\"commplace-decision\",\"version\":1,\"job\":1,"
	        "\"outcome\":\"placed\",\"profile\":\"p\",\"hosts\":[\"a\","
	        "\"b\"],\"rank_host\":[1,0],\"background\":[2],\"candidates\":"
	        "[{\"policy\":\"linear\"}]}";
	json_t *root = cpl_json_parse(text, strlen(text), "r", err);
	struct cpl_record *record =
	        root ? cpl_record_from_json(root, err) : NULL;
	json_t *again = record ? cpl_record_to_json(record, err) : NULL;
	struct cpl_running_job job;
	int rc = again ? cpl_record_job(record, &job, err) : -1;

	if (!rc)
		cpl_running_job_clear(&job);
	json_decref(again);
	json_decref(root);
	cpl_record_free(record);
	return rc;
}

static const struct {
	const char *name;
	int (*run)(struct cpl_error *err);
	int at_least;
	bool plain; /* no JSON */
} row[] = {
        {"signature", load_signature, 40, false},
        {"import", import, 14, false},
        {"config", load_config, 14, true},
        {"state", load_state, 9, false},
        {"record", copy_record, 14, false},
        {"size", find_size, 1, true},
        {"all lines", load_all_config, 8, true},
        {"usage", read_usage, 8, false},
};

/* Until everything got its memory; returns how many tries failed. */
static int try_all(int i, const char *message)
{
	for (int n = 0;; n++) {
		struct cpl_error err = {""};
		int rc;

		left = n;
		rc = row[i].run(&err);
		if (rc == 0 && left >= 0) {
			left = -1;
			return n;
		}
		left = -1;
		/* What needs no memory in the end may do without. */
		if (rc && !strstr(err.text, message))
			fail_msg("%s, allocation %d: %s", row[i].name, n,
			         err.text);
	}
}

static void test_own_allocations(void **state)
{
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		assert_true(try_all((int)i, "out of memory") >=
		            row[i].at_least);
}

/* Nothing crashes or leaks and something is said, whatever it is. */
static void test_allocations_of_json(void **state)
{
	json_set_alloc_funcs(__wrap_malloc, free);
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		int own, all;

		json_set_alloc_funcs(__real_malloc, free);
		own = try_all((int)i, "");
		json_set_alloc_funcs(__wrap_malloc, free);
		all = try_all((int)i, "");
		if (!row[i].plain)
			assert_true(all > own);
	}
	json_set_alloc_funcs(__real_malloc, free);
}

static int enter_folder(void **state)
{
	static char dir[] = "/tmp/commplace-memory-XXXXXX";
	static const char all[] = "Partition=p MinNodes=2\n"
	                          "Partition=q MinNodes=2\n"
	                          "Match JobName=x Profile=y\n"
	                          "Match QOS=x Profile=y\n";

	static const char record[] =
	        "{\"format\":\"commplace-decision\",\"version\":1,\"job\":1,"
	        "\"outcome\":\"placed\",\"profile\":\"p\"}";

	*state = dir;
	if (!mkdtemp(dir) || chdir(dir) || mkdir("ended", 0755))
		return -1;
	return cpl_file_write_atomic("all.conf", all, strlen(all), 0644,
	                             NULL) ||
	       cpl_file_write_atomic("ended/1.json", record, strlen(record),
	                             0644, NULL);
}

static int leave_folder(void **state)
{
	return unlink("all.conf") || unlink("ended/1.json") ||
	       rmdir("ended") || chdir("/") || rmdir(*state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_own_allocations),
	        cmocka_unit_test(test_allocations_of_json),
	};

	return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
