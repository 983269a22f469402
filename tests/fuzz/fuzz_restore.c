/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record goes through a restart of the scheduler: the engine takes it back or
 * sets it aside, and decides and lays out steps beside it. Files are in a
 * directory of the process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "site/engine.h"

#define HOSTS 8
#define JOB 17

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct cpl_engine *engine;
static char dir[] = "/tmp/commplace-fuzz-XXXXXX";

static void remove_all(void)
{
	char command[64];

	cpl_engine_free(engine);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	if (system(command))
		abort();
}

static void put(const char *name, const void *data, size_t size)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (cpl_file_write_atomic(path, data, size, 0600, NULL))
		abort();
}

static void set_up(void)
{
	static const char network[] =
	        "{\"format\": \"commplace-network\", \"version\": 1, \"type\": "
	        "\"dragonfly\", \"groups\": 2, \"rows\": 2, \"columns\": 1, "
	        "\"nodes_per_router\": 2, \"global_links_per_group_pair\": 1, "
	        "\"nodes\": \"n[0-7]\"}";
	static const char profile[] =
	        "{\"format\": \"commplace-signature\", \"version\": 1, "
	        "\"ranks\": 4, \"phases\": [{\"traffic\": [[0, 2, 9, 1], "
	        "[1, 3, 9, 1]]}]}";
	static const char *const name[HOSTS] = {"n0", "n1", "n2", "n3",
	                                        "n4", "n5", "n6", "n7"};
	char text[512];

	if (!mkdtemp(dir))
		abort();
	put("network.json", network, strlen(network));
	put("a4.json", profile, strlen(profile));
	snprintf(text, sizeof(text),
	         "NetworkFile=%s/network.json\nProfileDir=%s\nStateDir=%s\n",
	         dir, dir, dir);
	put("commplace.conf", text, strlen(text));
	snprintf(text, sizeof(text), "%s/running", dir);
	if (mkdir(text, 0700))
		abort();
	snprintf(text, sizeof(text), "%s/commplace.conf", dir);
	engine = cpl_engine_new(text, NULL, NULL);
	if (!engine || cpl_engine_load(engine, 10000, NULL) ||
	    cpl_engine_set_hosts(engine, name, HOSTS, NULL))
		abort();
	atexit(remove_all);
}

static int measure(void *arg, uint32_t *cpus, uint64_t *rank,
		   struct cpl_engine_span *span)
{
	for (int i = 0; i < HOSTS; i++)
		cpus[i] = 4;
	return 0;
}

static bool place(void *arg, const int *host, int n, const char *last)
{
	return true;
}

static void narrow(void *arg, uint32_t *cpus)
{
}

static int stock(void *arg, int *host)
{
	return 0;
}

/* Another job, whose background the restored one is. */
static void decide(void)
{
	const struct cpl_engine_scheduler scheduler = {.measure = measure,
	                                               .place = place,
	                                               .narrow = narrow,
	                                               .stock = stock,
	                                               .compare = stock};
	struct cpl_engine_request req = {
	        .job = {.id = 1, .name = "j", .profile = "a4"},
	        .need = {.min_nodes = 2, .cpus = 4},
	        .ranks = 4,
	        .n_hosts = HOSTS,
	};
	char text[256];

	cpl_engine_decide(engine, &req, &scheduler, text, sizeof(text));
}

static void step(void)
{
	static const uint16_t tasks[] = {3, 1};
	uint32_t first[] = {0, 1, 2}, second[] = {3};
	uint32_t *const ids[] = {first, second};
	const struct cpl_engine_step step = {
	        .job = {.id = JOB, .name = "j", .profile = "a4"},
	        .hosts = "n[0-1]",
	        .n_hosts = 2,
	        .ranks = 4,
	        .tasks = tasks,
	        .ids = ids,
	};
	struct cpl_engine_layout out;

	cpl_engine_step(engine, &step, &out);
	free(out.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct cpl_engine_live live[] = {{.id = JOB}};
	char path[128];

	if (!engine)
		set_up();
	put("running/17.json", data, size);
	cpl_engine_restore(engine, live, 1, 10000);
	cpl_engine_idle(engine, 10000);
	decide();
	step();
	cpl_engine_end(engine, JOB);
	cpl_engine_end(engine, 1);
	cpl_engine_idle(engine, 10000);
	/* Taken back and ended, or set aside: there is no third. */
	snprintf(path, sizeof(path), "%s/running/17.json", dir);
	if (!access(path, F_OK))
		abort();
	return 0;
}
