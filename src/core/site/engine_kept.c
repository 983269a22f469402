/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was learnt of jobs without a signature, and of links, in files of StateDir:
 * volumes of job names for the time after a restart, and what a sample of
 * MeasuredLinks put into decisions, for replays. Copied by callers; the worker
 * makes texts and files of it. */
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "base/file.h"
#include "site/engine_ledger.h"

/* Volumes change with each sample; they are written so often. A copy of them takes a
 * call 4 us. */
#define VOLUMES_NS (5 * INT64_C(1000000000))

struct kept_file {
	struct cpl_request head;
	struct clerk *clerk;
	struct snapshot *snapshot;
	struct cpl_volumes *volumes; /* to be written, or NULL: */
	struct cpl_sample sample;
};

static void kept_free(struct cpl_request *head)
{
	struct kept_file *k = (struct kept_file *)head;

	engine_snapshot_drop(k->snapshot);
	cpl_free_all(k->sample.row, k->volumes, k);
}

/* Its folder, as those of records are: whatever the umask is. */
static void make_folder(const char *state_dir, int mode)
{
	char *dir = cpl_path_join(state_dir, CPL_SAMPLES, NULL);

	if (dir && !mkdir(dir, 0755))
		chmod(dir, mode & 0044 ? 0755 : 0711);
	free(dir);
}

static int write_file(const struct kept_file *k, struct cpl_error *err)
{
	const char *dir = k->snapshot->config->state_dir;
	int mode = k->volumes ? 0600 : cpl_record_file_mode(dir);
	struct cpl_file_writer *w;
	char *path;

	if (!k->volumes)
		make_folder(dir, mode);
	path = k->volumes ? cpl_path_join(dir, CPL_VOLUMES_FILE, err)
	                  : cpl_sample_path(dir, k->sample.id, err);
	w = path ? cpl_file_open_atomic(path, err) : NULL;
	free(path);
	if (!w)
		return -1;
	if (k->volumes)
		cpl_volumes_write(k->volumes, cpl_file_stream(w));
	else
		cpl_sample_write(&k->sample, cpl_file_stream(w));
	return cpl_file_commit(w, mode, err);
}

static atomic_bool *being_written(const struct kept_file *k)
{
	return &k->clerk->keeping[k->volumes != NULL];
}

static void run_writing(struct cpl_request *head)
{
	struct kept_file *k = (struct kept_file *)head;
	const struct cpl_config *config = k->snapshot->config;
	const struct cpl_record_keep keep = {.count = config->keep_samples};
	struct cpl_error err = {""};

	if (cpl_record_dir_is_ours(k->clerk->records) &&
	    !write_file(k, &err) && !k->volumes)
		cpl_record_prune(config->state_dir, CPL_SAMPLES, &keep,
		                 time(NULL), &err);
	if (err.text[0])
		engine_log(k->clerk, CPL_ENGINE_ERROR, "%s", err.text);
	atomic_store(being_written(k), false);
}

static void run_reading(struct cpl_request *head)
{
	struct kept_file *k = (struct kept_file *)head;
	struct cpl_volumes *volumes = malloc(sizeof(*volumes));
	char *path = cpl_path_join(k->snapshot->config->state_dir,
	                           CPL_VOLUMES_FILE, NULL);
	struct cpl_error err = {""};

	if (volumes && path && cpl_record_dir_is_ours(k->clerk->records) &&
	    cpl_file_exists(path)) {
		if (cpl_volumes_load(path, volumes, &err))
			engine_log(k->clerk, CPL_ENGINE_ERROR,
			           "volumes of job names begin anew: %s",
			           err.text);
		pthread_mutex_lock(&k->clerk->lock);
		free(k->clerk->volumes);
		k->clerk->volumes = volumes;
		volumes = NULL;
		pthread_mutex_unlock(&k->clerk->lock);
	}
	cpl_free_all(path, volumes);
}

/* NULL: there is nothing to keep in, or memory is out. */
static struct kept_file *kept_new(const struct ledger *ledger,
                                   void (*run)(struct cpl_request *head))
{
	struct kept_file *k = NULL;

	if (ledger->snapshot && ledger->snapshot->config->state_dir)
		k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->head.run = run;
	k->head.free = kept_free;
	k->clerk = ledger->clerk;
	k->snapshot = engine_snapshot_hold(ledger->snapshot);
	return k;
}

/* One of a kind at a time: a file system that hangs holds no more than that. False: it is
 * dropped. */
static bool queue(struct ledger *ledger, struct kept_file *k)
{
	atomic_bool *writes = being_written(k);

	if (atomic_exchange(writes, true)) {
		kept_free(&k->head);
		return false;
	}
	if (!cpl_worker_queue(ledger->clerk->worker, CPL_QUEUE_WRITE, &k->head,
	                      false, NULL))
		return true;
	atomic_store(writes, false);
	return false;
}

void engine_volumes_read(struct ledger *ledger)
{
	struct kept_file *k = kept_new(ledger, run_reading);

	if (k)
		cpl_worker_queue(ledger->clerk->worker, CPL_QUEUE_WRITE,
		                 &k->head, false, NULL);
}

void engine_volumes_take(struct ledger *ledger, struct cpl_volumes *volumes)
{
	if (volumes)
		cpl_volumes_merge(&ledger->volumes, volumes,
		                  !ledger->volumes.changed);
	free(volumes);
}

void engine_volumes_keep(struct ledger *ledger, bool now)
{
	struct kept_file *k;

	if (!ledger->volumes.changed || !ledger->in_charge ||
	    (!now && cpl_now() < ledger->volumes_next))
		return;
	k = kept_new(ledger, run_writing);
	if (!k)
		return;
	k->volumes = malloc(sizeof(*k->volumes));
	if (!k->volumes) {
		kept_free(&k->head);
		return;
	}
	*k->volumes = ledger->volumes;
	if (!queue(ledger, k))
		return;
	ledger->volumes.changed = false;
	ledger->volumes_next = cpl_now() + VOLUMES_NS;
}

static int copy_sample(const struct ledger *ledger, struct cpl_sample *out)
{
	int rc = cpl_sample_add(out, ledger->rest.load);

	out->id = ledger->rest.id;
	for (int i = 0; i < ledger->n_running && !rc; i++)
		if (ledger->running[i].shape)
			rc = cpl_sample_add(out, ledger->running[i].load);
	return rc;
}

void engine_sample_keep(struct ledger *ledger, int64_t id)
{
	struct kept_file *k;

	if (!id || id != ledger->rest.id || ledger->rest.kept)
		return;
	k = kept_new(ledger, run_writing);
	if (!k)
		return;
	if (copy_sample(ledger, &k->sample))
		kept_free(&k->head);
	else
		ledger->rest.kept = queue(ledger, k);
}
