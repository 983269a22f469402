/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tests of the engine begin with: a machine of 32 hosts of four groups,
 * profiles, an engine on them, and jobs that are decided on and begin. A program
 * is of one subject.
 */
#pragma once

#include "commplace-config.h"
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#include "base/file.h"
#include "base/hostlist.h"
#include "site/engine_internal.h"
#include "fake_scheduler.h"

#define HOSTS 32
#define WAIT_MS 20000

static char dir[] = "/tmp/commplace-engine-XXXXXX";
#include "in_dir.h"

static struct cpl_engine *engine;
static char logged[8192];

static inline void take_log(enum cpl_engine_log level, const char *text)
{
	size_t n = strlen(logged);

	snprintf(logged + n, sizeof(logged) - n, "%s%s\n",
	         level == CPL_ENGINE_ERROR ? "error: " : "", text);
}

static inline void config(const char *lines)
{
	char text[2048];

	snprintf(text, sizeof(text),
	         "NetworkFile=%s/network.json\nProfileDir=%s\n"
	         "StateDir=%s/state\nMaxDecisionTime=20s\n%s\n",
	         dir, dir, dir, lines);
	put("commplace.conf", text);
}

/* Rank r talks to r + 1 and, with odd byte counts, to r + far. */
static inline void profile(const char *name, int ranks, int far)
{
	char file[64], *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	fprintf(f,
	        "{\"format\": \"commplace-signature\", \"version\": 1, "
	        "\"name\": \"%s\", \"ranks\": %d, \"phases\": [{\"name\": "
	        "\"p\", \"weight\": 3, \"traffic\": [",
	        name, ranks);
	for (int r = 0; r < ranks; r++)
		fprintf(f, "%s[%d, %d, %d, 1], [%d, %d, %d.3, 1]",
		        r ? ", " : "", r, (r + 1) % ranks, 100 + r, r,
		        (r + far) % ranks, 7 * r + 1);
	fprintf(f, "]}]}");
	fclose(f);
	snprintf(file, sizeof(file), "%s.json", name);
	put(file, text);
	free(text);
}

/* The same in two phases, with times: 8 s of which 5 s are computing. */
static inline void timed_profile(const char *name, int ranks)
{
	char file[64], text[4096];
	int n = snprintf(text, sizeof(text),
	                 "{\"format\": \"commplace-signature\", \"version\": 1, "
	                 "\"name\": \"%s\", \"ranks\": %d, \"phases\": [",
	                 name, ranks);

	for (int p = 0; p < 2; p++) {
		n += snprintf(text + n, sizeof(text) - (size_t)n,
		              "%s{\"name\": \"p%d\", \"weight\": %d, "
		              "\"time\": 2, \"compute_time\": %d, "
		              "\"traffic\": [",
		              p ? ", " : "", p, p ? 1 : 3, p ? 2 : 1);
		for (int r = 0; r < ranks; r++)
			n += snprintf(text + n, sizeof(text) - (size_t)n,
			              "%s[%d, %d, %d, 1]", r ? ", " : "", r,
			              (r + 1 + 4 * p) % ranks, 100 + r);
		n += snprintf(text + n, sizeof(text) - (size_t)n, "]}");
	}
	assert_true((size_t)n + 3 < sizeof(text));
	snprintf(text + n, sizeof(text) - (size_t)n, "]}");
	snprintf(file, sizeof(file), "%s.json", name);
	put(file, text);
}

static inline int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
	return remove(path);
}

static inline void set_up_engine(void)
{
	struct cpl_hostlist hosts = {0};

	engine = cpl_engine_new(in_dir("commplace.conf"), take_log, NULL);
	assert_non_null(engine);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_int_equal(cpl_hostlist_parse(&hosts, "n[0-31]", NULL), 0);
	assert_int_equal(cpl_engine_set_hosts(engine,
	                                      (const char *const *)hosts.name,
	                                      hosts.count, NULL),
	                 0);
	cpl_hostlist_free(&hosts);
}

static inline int set_up(void **state)
{
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	assert_non_null(mkdtemp(dir));
	put("network.json",
	    "{\"format\": \"commplace-network\", \"version\": 1, \"name\": "
	    "\"t\", \"type\": \"dragonfly\", \"groups\": 4, \"rows\": 2, "
	    "\"columns\": 2, \"nodes_per_router\": 2, "
	    "\"global_links_per_group_pair\": 1, \"bandwidth\": {\"row\": 3, "
	    "\"column\": 7, \"global\": 1.7, \"injection\": 9}, \"nodes\": "
	    "\"n[0-31]\"}");
	config("");
	profile("a8", 8, 3);
	profile("b16", 16, 5);
	timed_profile("t8", 8);
	timed_profile("t16", 16);
	logged[0] = '\0';
	set_up_engine();
	return 0;
}

static inline int tear_down(void **state)
{
	cpl_engine_free(engine);
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}

static struct fake fake;

static inline struct cpl_engine_request request(int64_t id, const char *name,
                                         const char *policy, int nodes)
{
	fake.wanted = nodes;
	return (struct cpl_engine_request){
	        .job = {.id = id,
	                .uid = getuid(),
	                .has_uid = true,
	                .name = "job",
	                .profile = name,
	                .policy = policy},
	        .need = {.min_nodes = (uint32_t)nodes,
	                 .max_nodes = (uint32_t)nodes,
	                 .cpus = (uint32_t)nodes},
	        .n_hosts = HOSTS,
	        .start = true,
	};
}

static inline enum cpl_engine_answer ask(const struct cpl_engine_request *req)
{
	struct cpl_engine_scheduler scheduler = fake_scheduler(&fake);
	char text[512] = "";

	return cpl_engine_decide(engine, req, &scheduler, text, sizeof(text));
}

/* What was decided last. */
static inline const struct cpl_record *record(void)
{
	assert_non_null(engine->desk.decided);
	return engine->desk.decided->record;
}

/* Decide and start; the hosts are no longer free. */
static inline void start(int64_t id, const char *name, const char *policy, int nodes,
                  int ranks)
{
	struct cpl_engine_request req = request(id, name, policy, nodes);
	struct cpl_engine_notice notice;

	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_int_equal(fake.n_host, nodes);
	assert_int_equal(record()->ranks, ranks);
	for (int i = 0; i < nodes; i++)
		fake.cpus[fake.host[i]] = 0;
	fake_begin(engine, id, &fake, &notice);
	assert_non_null(strstr(notice.text, "policy="));
}

static inline void all_free(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.n_hosts = HOSTS;
	for (int i = 0; i < HOSTS; i++)
		fake.cpus[i] = 4;
}

/* The jobs on record, as the command reads them. */
static inline void read_state(struct cpl_state *state)
{
	const struct cpl_profile_dirs dirs = {
	        .dir = dir,
	        .user_dir = in_dir("users/%U"),
	        .max_bytes = UINT64_MAX,
	        .rescale = true};
	struct cpl_profiles *profiles;
	int skipped;

	assert_true(cpl_engine_idle(engine, WAIT_MS));
	assert_int_equal(
	        cpl_record_state(in_dir("state"), state, &skipped, NULL), 0);
	assert_int_equal(skipped, 0);
	profiles = cpl_profiles_open(&dirs, NULL);
	assert_non_null(profiles);
	assert_int_equal(cpl_state_profiles(state, profiles, NULL, NULL), 0);
	cpl_profiles_close(profiles);
}

static inline bool has_layout(int64_t id)
{
	const struct running *job;

	/* Every call takes what was read meanwhile. */
	cpl_engine_suspended(engine, id, false);
	job = engine_running_find(&engine->ledger, id);
	return job && job->has_layout;
}
