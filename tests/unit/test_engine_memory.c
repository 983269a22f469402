/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * No memory: every allocation of the engine fails once, on callers' threads
 * and on the worker, those of the JSON library too. failing_alloc.h has the
 * allocators; ASan sees what leaks.
 */
#include "commplace-config.h"
#include <ftw.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#include "base/file.h"
#include "base/json.h"
#include "site/engine_internal.h"
#define OWN_FAILS
#include "failing_alloc.h"

#include "fake_scheduler.h"

/* Allocations until one fails; it has when this is below 0. */
static atomic_long left = -1;
static atomic_bool armed;

static int fails(void)
{
	return armed && atomic_fetch_sub(&left, 1) == 0;
}

#define WAIT_MS 20000

/* In memory, where there is such a folder: records are synced to disk. */
static char dir[] = "/dev/shm/commplace-memory-XXXXXX";
static char path[512];

static char *in_dir(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void put(const char *name, const char *text)
{
	assert_int_equal(cpl_file_write_atomic(in_dir(name), text, strlen(text),
	                                       0644, NULL),
	                 0);
}

static int set_up(void **state)
{
	char text[1024];

	if (!mkdtemp(dir)) {
		strcpy(dir, "/tmp/commplace-memory-XXXXXX");
		assert_non_null(mkdtemp(dir));
	}
	put("network.json",
	    "{\"format\": \"commplace-network\", \"version\": 1, \"name\": "
	    "\"t\", \"type\": \"dragonfly\", \"groups\": 2, \"rows\": 2, "
	    "\"columns\": 1, \"nodes_per_router\": 2, "
	    "\"global_links_per_group_pair\": 1, \"nodes\": \"n[0-7]\"}");
	put("a4.json",
	    "{\"format\": \"commplace-signature\", \"version\": 1, \"name\": "
	    "\"a4\", \"ranks\": 4, \"phases\": [{\"name\": \"p\", \"weight\": "
	    "1, \"traffic\": [[0, 2, 9, 1], [1, 3, 9, 1], [2, 3, 1, 1]]}]}");
	snprintf(text, sizeof(text),
	         "NetworkFile=%s/network.json\nProfileDir=%s\n"
	         "StateDir=%s/state\nMaxDecisionTime=20s\n"
	         "Objective=isolation\n",
	         dir, dir, dir);
	put("commplace.conf", text);
	return 0;
}

static int remove_one(const char *name, const struct stat *st, int type,
                      struct FTW *ftw)
{
	return remove(name);
}

static int tear_down(void **state)
{
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}

/* What is kept of a job that was placed is whole: the policy taken is one of
 * the candidates on record. */
static bool is_whole(const struct cpl_engine *engine, int64_t id)
{
	const struct cpl_record *r =
	        engine->desk.decided ? engine->desk.decided->record : NULL;

	if (!r || r->job != id)
		return true;
	for (int i = 0; i < r->n_candidates; i++)
		if (!strcmp(r->candidate[i].policy, r->policy))
			return true;
	return false;
}

static void start(struct cpl_engine *engine, int64_t id, const char *policy,
                  const char *mapping, bool *placed)
{
	struct fake fake = {.n_hosts = 8, .wanted = 2};
	struct cpl_engine_scheduler scheduler = fake_scheduler(&fake);
	struct cpl_engine_request req = {
	        .job = {.id = id,
	                .name = "j",
	                .partition = "p",
	                .profile = "a4",
	                .policy = policy,
	                .mapping = mapping},
	        .need = {.min_nodes = 2, .max_nodes = 2, .cpus = 2},
	        .n_hosts = 8,
	        .start = true,
	};
	uint16_t tasks[] = {3, 1};
	uint32_t first[] = {0, 1, 2}, second[] = {3}, *ids[] = {first, second};
	struct cpl_engine_notice notice;
	struct cpl_engine_layout out;
	enum cpl_engine_answer answer;
	struct cpl_error err = {""};
	char text[256], hosts[64];
	unsigned char *handed;
	size_t size;

	for (int i = 0; i < 8; i++)
		fake.cpus[i] = 2;
	for (int i = 2; i < 8; i++)
		fake.rank[i] = 1;
	fake.useless[0] = true;
	answer =
	        cpl_engine_decide(engine, &req, &scheduler, text, sizeof(text));
	*placed = answer == CPL_ENGINE_PLACED;
	assert_true(!*placed || is_whole(engine, id));
	if (answer == CPL_ENGINE_NONE)
		fake_stock(&fake, NULL);
	assert_int_equal(fake.n_host, 2);
	fake_begin(engine, id, &fake, &notice);
	snprintf(hosts, sizeof(hosts), "n%d,n%d", fake.host[0], fake.host[1]);
	struct cpl_engine_step step = {
	        .job = req.job,
	        .hosts = hosts,
	        .n_hosts = 2,
	        .ranks = 4,
	        .tasks = tasks,
	        .ids = ids,
	};
	cpl_engine_step(engine, &step, &out);
	free(out.data);
	step.own_order = true;
	cpl_engine_step(engine, &step, &out);
	free(out.data);
	step.own_order = false;
	handed = cpl_engine_handover(engine, &req.job, 4096, &size, &err);
	if (handed && !cpl_engine_step_handed(handed, size, &step, &out, &err))
		free(out.data);
	free(handed);
}

static struct cpl_engine *begin(void)
{
	static const char *const name[] = {"n0", "n1", "n2", "n3",
	                                   "n4", "n5", "n6", "n7"};
	struct cpl_engine *engine =
	        cpl_engine_new(in_dir("commplace.conf"), NULL, NULL);

	if (engine) {
		cpl_engine_load(engine, WAIT_MS, NULL);
		cpl_engine_set_hosts(engine, name, 8, NULL);
	}
	return engine;
}

/* A job begins, gets another host, and ends. */
static bool run_job(struct cpl_engine *engine)
{
	bool placed;

	start(engine, 8, "linear", "quick", &placed);
	cpl_engine_resized(engine, 8, (const int[]){3}, 1);
	cpl_engine_end(engine, 8);
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	cpl_engine_free(engine);
	return placed;
}

/* Two jobs start, one ends. */
static bool fresh(void)
{
	struct cpl_engine *engine = begin();
	bool placed;

	if (!engine)
		return false;
	start(engine, 7, "auto", "linear", &placed);
	return run_job(engine) && placed;
}

/* A restart takes the one back that runs, and another starts beside it. */
static bool restored(void)
{
	static const struct cpl_engine_live running[] = {{7, true}};
	struct cpl_engine *engine = begin();
	bool back;

	if (!engine)
		return false;
	cpl_engine_restore(engine, running, 1, WAIT_MS);
	back = engine_running_find(&engine->ledger, 7);
	return run_job(engine) && back;
}

/* Fails the n-th allocation of a life; false: it has fewer. */
static bool fail_one(bool (*life)(void), long n)
{
	bool good;

	left = n;
	armed = true;
	good = life();
	armed = false;
	assert_true(left < 0 || good);
	return left < 0;
}

/* Lives after which a restart sees what they have left: one of so many. */
#define RESTARTS 16

static void test_every_allocation_fails_once(void **state)
{
	long n;

	for (n = 0; fail_one(fresh, n); n++)
		if (n % RESTARTS == 0)
			restored();
	assert_true(n > 500);
	for (n = 0; fail_one(restored, n); n++)
		if (access(in_dir("state/running/7.json"), F_OK))
			assert_true(fresh());
	assert_true(n > 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(
	                test_every_allocation_fails_once, set_up, tear_down),
	};

	json_set_alloc_funcs(__wrap_malloc, free);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
