/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tests of the store begin with: a store of its own over an empty folder,
 * profiles, and questions. Files whose paths OWN_OPEN takes hang while hang is
 * set.
 */
#pragma once

#include "commplace-config.h"
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#include "base/file.h"
#include "signature/signature.h"
#include "site/store_internal.h"

#define SECOND INT64_C(1000000000)

#define OWN_OPEN                                                               \
	(strstr(path, "slow") || (strstr(path, "/u") && strstr(path, "away")))
#include "../tools/own_files.h"

static char dir[] = "/tmp/commplace-store-XXXXXX";
#include "in_dir.h"

static struct cpl_worker *worker;
static struct cpl_store *store;
static char logged[4096];

static inline void take_log(void *arg, bool failure, const char *text)
{
	snprintf(logged, sizeof(logged), "%s", text);
}

/* A profile of so many ranks with one phase of this content. */
static inline void profile(const char *name, int ranks, const char *matrix)
{
	char text[1024], file[64];

	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-signature\", \"version\": 1, "
	         "\"ranks\": %d, \"phases\": [{%s}]}",
	         ranks, matrix);
	snprintf(file, sizeof(file), "%s.json", name);
	put(file, text);
}

#define PAIR "\"traffic\": [[0, 1, 10, 1]]"

static inline int set_up(void **state)
{
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	assert_non_null(mkdtemp(dir));
	logged[0] = '\0';
	worker = cpl_worker_new(NULL);
	store = cpl_store_new(worker, take_log, NULL, NULL);
	assert_non_null(store);
	return 0;
}

static inline int remove_one(const char *path, const struct stat *st, int type,
                             struct FTW *ftw)
{
	return remove(path);
}

static inline int tear_down(void **state)
{
	hang = false;
	assert_true(
	        cpl_worker_stop(worker, cpl_now() + 20 * SECOND, NULL, NULL));
	cpl_store_free(store);
	cpl_worker_free(worker);
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}

static inline struct cpl_store_answer ask(const char *name, int ranks,
                                          bool fresh, int64_t wait)
{
	struct cpl_store_query query = {.dir = dir,
	                                .whom = CPL_FOR_US,
	                                .name = name,
	                                .ranks = ranks,
	                                .fresh = fresh,
	                                .deadline = cpl_now() + wait};
	struct cpl_store_answer answer;

	cpl_store_find(store, &query, &answer);
	assert_true((answer.found == CPL_FOUND_READY) ==
	            (answer.profile != NULL));
	assert_true((answer.found == CPL_FOUND_READY) == !answer.err.text[0]);
	return answer;
}

static inline void prefetch(const char *name, int ranks)
{
	struct cpl_store_query query = {
	        .dir = dir, .name = name, .ranks = ranks};

	cpl_store_prefetch(store, &query);
}

static inline void expect(const char *name, int ranks, enum cpl_found found,
                          const char *reason)
{
	struct cpl_store_answer a = ask(name, ranks, true, 20 * SECOND);

	if (a.found != found || !strstr(a.err.text, reason))
		fail_msg("%s: %d, %s", name, a.found, a.err.text);
	cpl_profile_drop(a.profile);
}
