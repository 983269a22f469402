/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This is slurmd itself: its node, its process and its names of steps. */
#include "slurm_compat_slurmd.h"

#include <hwloc.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/common/log.h"
#include "src/common/run_in_daemon.h"

struct cplslurm_node cplslurm_node(void)
{
	return (struct cplslurm_node){
	        .name = conf->node_name,
	        .sockets = conf->sockets,
	        .cores = conf->cores,
	        .threads = conf->threads,
	        .cpus = conf->cpus,
	        .seen = conf->block_map_size,
	};
}

/* Add the threads of a core by slurmd's map of the CPUs that it sees. Return -1
 * where memory is out. */
static int add_core(hwloc_bitmap_t cpus, int core)
{
#if CPLSLURM_SERIES < 2311
	int each = conf->threads;
#else
	int each = conf->actual_threads;
#endif
	int seen = conf->block_map_size, rc = 0;

	for (int i = 0; i < conf->threads && !rc; i++) {
		int cpu = conf->block_map[(core * each + i) % seen] % seen;

		rc = hwloc_bitmap_set(cpus, (unsigned)cpu);
	}
	return rc;
}

/* This replaces xcpuinfo_abs_to_mac(), which keeps the sizes that it has seen first:
 * after a change of the node it reads behind the map, and without one it divides by
 * 0. */
char *cplslurm_cpus_of_cores(const char *cores)
{
	hwloc_bitmap_t in = hwloc_bitmap_alloc(), out = hwloc_bitmap_alloc();
	int n = conf->sockets * conf->cores, core;
	char *text = NULL;
	int rc = -1;

	if (!in || !out || !conf->block_map || !conf->block_map_size ||
	    hwloc_bitmap_list_sscanf(in, cores) ||
	    (!hwloc_bitmap_iszero(in) &&
	     (hwloc_bitmap_last(in) < 0 || hwloc_bitmap_last(in) >= n)))
		goto done;
	rc = 0;
	for (core = hwloc_bitmap_first(in); core >= 0 && !rc;
	     core = hwloc_bitmap_next(in, core))
		rc = add_core(out, core);
	if (!rc)
		hwloc_bitmap_list_asprintf(&text, out);
done:
	hwloc_bitmap_free(in);
	hwloc_bitmap_free(out);
	return text;
}

struct cplslurm_step_id cplslurm_step_id(const slurm_step_id_t *id)
{
	return (struct cplslurm_step_id){
	        .job = id->job_id,
	        .step = id->step_id,
	        .component = id->step_het_comp == NO_VAL
	                     ? -1
	                     : (int64_t)id->step_het_comp,
	};
}

const char *cplslurm_step_text(const struct cplslurm_step_id *id,
                               char text[CPLSLURM_STEP_TEXT])
{
	slurm_step_id_t theirs = {
	        .job_id = id->job,
	        .step_id = id->step,
	        .step_het_comp = id->component < 0 ? NO_VAL
	                                           : (uint32_t)id->component,
	};

	return log_build_step_id_str(&theirs, text, CPLSLURM_STEP_TEXT,
	                             STEP_ID_FLAG_NONE);
}

static void number(const struct cplslurm_step_id *id, char mark,
                   char text[CPLSLURM_STEP_TEXT])
{
	if (id->component < 0)
		snprintf(text, CPLSLURM_STEP_TEXT, "%u", id->step);
	else
		snprintf(text, CPLSLURM_STEP_TEXT, "%u%c%u", id->step, mark,
		         (uint32_t)id->component);
}

void cplslurm_step_dir(const struct cplslurm_step_id *id,
                       char text[CPLSLURM_STEP_TEXT])
{
	number(id, '+', text);
}

bool cplslurm_step_of_dir(const char *dir, struct cplslurm_step_id *id)
{
	uint32_t component;
	int n = sscanf(dir, "%u+%u", &id->step, &component);

	id->component = n == 2 ? (int64_t)component : -1;
	return n >= 1;
}

void cplslurm_step_title(const struct cplslurm_step_id *id,
                         char text[CPLSLURM_STEP_TEXT])
{
	char step[CPLSLURM_STEP_TEXT];

	number(id, '+', step);
	snprintf(text, CPLSLURM_STEP_TEXT, "slurmstepd: [%u.%.24s]", id->job,
	         step);
}

int cplslurm_step_socket(const struct cplslurm_step_id *id, char *path,
                         size_t size)
{
	char step[CPLSLURM_STEP_TEXT];

	number(id, '.', step);
	return snprintf(path, size, "%s/%s_%u.%s", conf->spooldir,
	                conf->node_name, id->job, step) < (int)size
	               ? 0
	               : -1;
}

void cplslurm_step_remove(const struct cplslurm_step_id *id)
{
	char path[PATH_MAX], step[CPLSLURM_STEP_TEXT];

	if (!cplslurm_step_socket(id, path, sizeof(path)))
		unlink(path);
	number(id, '.', step);
	if (snprintf(path, sizeof(path), "%s/hwloc_topo_%u.%s.xml",
	             conf->spooldir, id->job, step) < (int)sizeof(path))
		unlink(path);
}

/* xdaemon() forks twice. */
#define DAEMON_FORKS 2

static void (*to_start)(void);
static int forks;

static void in_child(void)
{
	if (++forks == DAEMON_FORKS && to_start)
		to_start();
}

bool cplslurm_in_slurmd(void)
{
	/* A program that is no part of slurmd has no conf. */
	return &conf && conf && !running_in_slurmstepd();
}

void cplslurm_when_daemon(void (*start)(void))
{
	if (!cplslurm_in_slurmd() || !conf->spooldir)
		return;
	/* From 24.11 on slurmd is in the background by then, and from 23.11 on where
	 * it has begun anew by itself, to read slurm.conf again. */
	if (!conf->daemonize || CPLSLURM_SERIES >= 2411 ||
	    getenv("SLURMD_RECONF")) {
		start();
		return;
	}
	if (!to_start && pthread_atfork(NULL, NULL, in_child))
		return;
	to_start = start;
}
