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

/* Volumes change with each sample; they are written so often. */
#define VOLUMES_NS (60 * INT64_C(1000000000))

struct keeping {
	struct cpl_request head;
	struct clerk *clerk;
	struct snapshot *snapshot;
	struct cpl_volumes *volumes; /* to be written, or NULL */
	struct cpl_sample sample;    /* the same, id 0: none */
};

static void keeping_free(struct cpl_request *head)
{
	struct keeping *k = (struct keeping *)head;

	engine_snapshot_drop(k->snapshot);
	cpl_sample_free(&k->sample);
	free(k->volumes);
	free(k);
}

static char *path_of(const struct keeping *k, const char *name,
                     struct cpl_error *err)
{
	return cpl_path_join(k->snapshot->config->state_dir, name, err);
}

static void say(const struct keeping *k, const struct cpl_error *err)
{
	if (err->text[0])
		engine_log(k->clerk, CPL_ENGINE_ERROR, "%s", err->text);
}

static int write_text(const struct keeping *k, const char *name, int mode,
                      char *text, size_t length, struct cpl_error *err)
{
	char *path = text ? path_of(k, name, err) : NULL;
	int rc = path ? cpl_file_write_atomic(path, text, length, mode, err)
	              : -1;

	free(path);
	free(text);
	return rc;
}

static void write_volumes(const struct keeping *k, struct cpl_error *err)
{
	size_t length;
	char *text = cpl_volumes_text(k->volumes, &length, err);

	write_text(k, CPL_VOLUMES_FILE, 0600, text, length, err);
}

static void write_sample(const struct keeping *k, struct cpl_error *err)
{
	const struct cpl_config *config = k->snapshot->config;
	const struct cpl_record_keep keep = {.count = config->keep_samples};
	int mode = cpl_record_file_mode(config->state_dir);
	char name[48], *dir = path_of(k, CPL_SAMPLES, err), *text;
	size_t length;

	if (!dir)
		return;
	/* As the folders of records: whatever the umask is. */
	if (!mkdir(dir, 0755))
		chmod(dir, mode & 0044 ? 0755 : 0711);
	free(dir);
	snprintf(name, sizeof(name), CPL_SAMPLES "/%lld.json",
	         (long long)k->sample.id);
	text = cpl_sample_text(&k->sample, &length, err);
	if (!write_text(k, name, mode, text, length, err))
		cpl_record_prune(config->state_dir, CPL_SAMPLES, &keep,
		                 time(NULL), err);
}

static void run_writing(struct cpl_request *head)
{
	struct keeping *k = (struct keeping *)head;
	struct cpl_error err = {""};

	/* What comes before a first record does finds a directory that is nobody's
	 * yet. */
	if (cpl_record_dir_is_ours(k->clerk->records)) {
		if (k->volumes)
			write_volumes(k, &err);
		else
			write_sample(k, &err);
	}
	say(k, &err);
	atomic_store(&k->clerk->keeping, false);
}

static void run_reading(struct cpl_request *head)
{
	struct keeping *k = (struct keeping *)head;
	struct cpl_volumes *volumes = malloc(sizeof(*volumes));
	char *path = path_of(k, CPL_VOLUMES_FILE, NULL), *text = NULL;
	struct cpl_error err = {""};
	size_t length;

	if (!volumes || !path || !cpl_record_dir_is_ours(k->clerk->records) ||
	    !cpl_file_exists(path))
		goto out;
	text = cpl_file_read(path, CPL_VOLUMES_MAX_BYTES, &length, &err);
	if (!text || cpl_volumes_parse(text, length, path, volumes, &err)) {
		if (!cpl_error_is_memory(&err))
			cpl_fail_prefix(&err, "volumes of job names begin anew: ");
		say(k, &err);
		goto out;
	}
	pthread_mutex_lock(&k->clerk->lock);
	free(k->clerk->volumes);
	k->clerk->volumes = volumes;
	volumes = NULL;
	pthread_mutex_unlock(&k->clerk->lock);
out:
	free(text);
	free(path);
	free(volumes);
}

/* NULL: there is nothing to keep in, or memory is out. */
static struct keeping *keeping_new(const struct ledger *ledger,
                                   void (*run)(struct cpl_request *head))
{
	struct keeping *k = NULL;

	if (ledger->snapshot && ledger->snapshot->config->state_dir)
		k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->head.run = run;
	k->head.free = keeping_free;
	k->clerk = ledger->clerk;
	k->snapshot = engine_snapshot_hold(ledger->snapshot);
	return k;
}

/* One at a time: a file system that hangs holds no more than that. False: it is
 * dropped. */
static bool queue(struct ledger *ledger, struct keeping *k)
{
	if (atomic_exchange(&ledger->clerk->keeping, true)) {
		keeping_free(&k->head);
		return false;
	}
	if (!cpl_worker_queue(ledger->clerk->worker, CPL_QUEUE_WRITE, &k->head,
	                      false, NULL))
		return true;
	atomic_store(&ledger->clerk->keeping, false);
	return false;
}

void engine_volumes_read(struct ledger *ledger)
{
	struct keeping *k = keeping_new(ledger, run_reading);

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
	struct keeping *k;

	if (!ledger->volumes.changed || !ledger->in_charge ||
	    (!now && cpl_now() < ledger->volumes_next))
		return;
	k = keeping_new(ledger, run_writing);
	if (!k)
		return;
	k->volumes = malloc(sizeof(*k->volumes));
	if (!k->volumes) {
		keeping_free(&k->head);
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
	int rc = cpl_sample_add(out, ledger->rest.load, NULL);

	out->id = ledger->rest.id;
	for (int i = 0; i < ledger->n_running && !rc; i++)
		if (ledger->running[i].shape)
			rc = cpl_sample_add(out, ledger->running[i].load, NULL);
	return rc;
}

void engine_sample_keep(struct ledger *ledger, int64_t id)
{
	struct keeping *k;

	if (!id || id != ledger->rest.id || ledger->rest.kept)
		return;
	k = keeping_new(ledger, run_writing);
	if (!k)
		return;
	if (copy_sample(ledger, &k->sample))
		keeping_free(&k->head);
	else
		ledger->rest.kept = queue(ledger, k);
}
