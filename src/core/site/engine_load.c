/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading configuration and network, on the worker. */
#include "site/engine_clerk.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "learn/models.h"
#include "placement/wish.h"

struct load {
	struct cpl_request head;
	struct clerk *clerk;
	int rc;
	struct cpl_error err;
};

/* cpl_config_find_users's: a rule that fits nobody is worth a line. */
static void say_user(void *arg, const char *text)
{
	engine_log(arg, CPL_ENGINE_ERROR, "%s; the line is not for them", text);
}

/* Units that the network has not are not kept. */
static void say_units(struct clerk *clerk, const struct snapshot *now,
                      const struct cpl_defaults *d, int line)
{
	struct cpl_error err = {""};

	if (cpl_wish_units(&(struct cpl_wish){0}, now->net, d->keep_whole,
	                   &err))
		engine_log(clerk, CPL_ENGINE_ERROR,
		           "%s:%d: KeepWhole: %s; nothing is kept",
		           now->config->path, line, err.text);
}

static void say_all_units(struct clerk *clerk, const struct snapshot *now)
{
	const struct cpl_config *c = now->config;

	say_units(clerk, now, &c->defaults, cpl_config_line(c, "KeepWhole"));
	for (int i = 0; i < c->n_partitions; i++)
		say_units(clerk, now, &c->partition[i].defaults,
		          c->partition[i].line);
	for (int i = 0; i < c->n_matches; i++)
		say_units(clerk, now, &c->match[i].defaults, c->match[i].line);
}

/* Before the file is read; of one that does not open nothing is marked. */
static void mark_file(const char *path, struct cpl_file_mark *mark)
{
	struct cpl_file_stamp stamp;
	int fd =
	        cpl_file_open(path, CPL_LINKS_FOLLOW, UINT64_MAX, &stamp, NULL);

	*mark = (struct cpl_file_mark){.part = 0};
	if (fd < 0)
		return;
	cpl_file_mark(fd, &stamp, UINT64_MAX, mark);
	close(fd);
}

static bool is_marked(const char *path, struct cpl_file_mark *mark)
{
	struct cpl_file_stamp now;
	int fd = cpl_file_open(path, CPL_LINKS_FOLLOW, UINT64_MAX, &now, NULL);
	bool same = fd >= 0 && cpl_file_marked(fd, &now, mark);

	if (fd >= 0)
		close(fd);
	return same;
}

/* The model, where it is needed. -1 with err. */
static int load_model(struct snapshot *now, struct cpl_error *err)
{
	const struct cpl_config *c = now->config;

	if (!cpl_config_learned(c))
		return 0;
	if (!c->time_model)
		return cpl_fail(err, "%s: Objective=learned needs TimeModel",
		                c->path);
	mark_file(c->time_model, &now->model_mark);
	now->model_file = cpl_models_used(c->time_model);
	if (!now->model_file)
		return cpl_fail_memory(err);
	now->learned = cpl_learned_load(c->time_model, err);
	return now->learned ? 0 : cpl_fail_prefix(err, "%s: TimeModel: ",
	                                          c->path);
}

/* What a trial has shown. A file that is broken stops nothing. */
static void load_trial(struct clerk *clerk, struct snapshot *now)
{
	struct cpl_error err = {""};
	char *path;

	if (!now->config->trial_stop)
		return;
	path = cpl_trial_path(now->config->state_dir, NULL);
	if (!path)
		return;
	mark_file(path, &now->trial_mark);
	if (cpl_trial_load(path, &now->trial, &err) < 0)
		engine_log(clerk, CPL_ENGINE_ERROR,
		           "%s; TrialStop stops nothing", err.text);
	for (int i = 0; i < now->trial.n; i++)
		engine_log(clerk, CPL_ENGINE_INFO,
		           "profile %.128s: placement is switched off, since "
		           "its %lld jobs ran %.1f %% longer placed (%.1f to "
		           "%.1f %%) (TrialStop)",
		           now->trial.stopped[i].profile,
		           (long long)now->trial.stopped[i].jobs,
		           -100 * now->trial.stopped[i].gain,
		           -100 * now->trial.stopped[i].high,
		           -100 * now->trial.stopped[i].low);
	free(path);
}

static int most_decision_ms(const struct cpl_config *config)
{
	int most = config->max_decision_ms;

	for (int i = 0; i < config->n_partitions; i++)
		if (config->partition[i].defaults.max_decision_ms > most)
			most = config->partition[i].defaults.max_decision_ms;
	for (int i = 0; i < config->n_matches; i++)
		if (config->match[i].defaults.max_decision_ms > most)
			most = config->match[i].defaults.max_decision_ms;
	return most;
}

static struct snapshot *snapshot_load(struct clerk *clerk, const char *path,
                                      struct cpl_error *err)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));

	if (!snapshot) {
		cpl_fail_memory(err);
		return NULL;
	}
	snapshot->refs = 1;
	mark_file(path, &snapshot->config_mark);
	snapshot->config = cpl_config_load(path, err);
	if (snapshot->config)
		snapshot->most_decision_ms = most_decision_ms(snapshot->config);
	if (!snapshot->config ||
	    cpl_config_find_users(snapshot->config, say_user, clerk, err))
		goto fail;
	if (cpl_config_is_off(snapshot->config))
		return snapshot;
	if (!snapshot->config->network_file) {
		cpl_fail(err, "%s: NetworkFile is not set", path);
		goto fail;
	}
	mark_file(snapshot->config->network_file, &snapshot->net_mark);
	snapshot->net = cpl_network_load(snapshot->config->network_file, err);
	if (!snapshot->net)
		goto fail;
	snapshot->routing = cpl_routing_find_quick(
	        snapshot->net, snapshot->config->routing, err);
	if (!snapshot->routing) {
		cpl_fail_prefix(err, "%s: Routing: ", path);
		goto fail;
	}
	snapshot->stated = cpl_routing_find(snapshot->net,
	                                    snapshot->config->routing, NULL);
	if (load_model(snapshot, err))
		goto fail;
	load_trial(clerk, snapshot);
	say_all_units(clerk, snapshot);
	return snapshot;
fail:
	engine_snapshot_drop(snapshot);
	return NULL;
}

static bool same_model(struct clerk *clerk)
{
	return !clerk->last_model ||
	       is_marked(clerk->last_model, &clerk->model_mark);
}

/* One that was not there, or is not any more, is the same as none. */
static bool same_trial(struct clerk *clerk)
{
	struct cpl_file_stamp now;

	if (!clerk->last_trial)
		return true;
	if (cpl_file_stamp(clerk->last_trial, &now))
		return !clerk->trial_mark.stamp.inode;
	return is_marked(clerk->last_trial, &clerk->trial_mark);
}

/* No file differs from what was loaded last. */
static bool unchanged(struct clerk *clerk)
{
	return clerk->loaded && !clerk->last_routes &&
	       is_marked(clerk->config_path, &clerk->config_mark) &&
	       clerk->last_network &&
	       is_marked(clerk->last_network, &clerk->net_mark) &&
	       same_model(clerk) && same_trial(clerk);
}

static int run_load(struct clerk *clerk, struct cpl_error *err)
{
	struct snapshot *snapshot, *old, *held;
	const char *mode;
	struct tm tm;
	time_t now;

	if (unchanged(clerk)) {
		engine_log(clerk, CPL_ENGINE_INFO,
		           "%s is in force, unchanged since %s",
		           clerk->config_path, clerk->loaded_at);
		return 0;
	}
	snapshot = snapshot_load(clerk, clerk->config_path, err);
	if (!snapshot) {
		if (clerk->loaded)
			engine_log(clerk, CPL_ENGINE_ERROR,
			           "%s; the configuration in force stays, "
			           "that of %s",
			           err->text, clerk->loaded_at);
		else
			engine_log(clerk, CPL_ENGINE_ERROR,
			           "%s; all answers are the stock ones",
			           err->text);
		return -1;
	}
	cpl_free_all(clerk->last_network, clerk->last_model, clerk->last_trial);
	clerk->last_trial =
	        snapshot->config->trial_stop
	                ? cpl_trial_path(snapshot->config->state_dir, NULL)
	                : NULL;
	clerk->trial_mark = snapshot->trial_mark;
	clerk->last_model =
	        snapshot->learned ? strdup(snapshot->config->time_model) : NULL;
	clerk->model_mark = snapshot->model_mark;
	clerk->last_network =
	        snapshot->net ? strdup(snapshot->config->network_file) : NULL;
	clerk->config_mark = snapshot->config_mark;
	clerk->net_mark = snapshot->net_mark;
	clerk->last_routes = snapshot->net && snapshot->net->routes;
	clerk->loaded = true;
	now = time(NULL);
	if (localtime_r(&now, &tm))
		strftime(clerk->loaded_at, sizeof(clerk->loaded_at),
		         "%Y-%m-%dT%H:%M:%S", &tm);
	/* Whoever adopts it may free it. */
	mode = cpl_mode_name(snapshot->config->mode);
	held = engine_snapshot_hold(snapshot);
	pthread_mutex_lock(&clerk->lock);
	old = clerk->staged;
	clerk->staged = snapshot;
	pthread_mutex_unlock(&clerk->lock);
	engine_snapshot_drop(old);
	engine_links_watch(clerk, held);
	engine_snapshot_drop(held);
	engine_log(clerk, CPL_ENGINE_INFO, "%s is in force: Mode=%s, %s",
	           clerk->config_path, mode,
	           clerk->last_network ? clerk->last_network : "no network");
	return 0;
}

static void run_request(struct cpl_request *head)
{
	struct load *load = (struct load *)head;

	load->rc = run_load(load->clerk, &load->err);
}

int engine_load(struct clerk *clerk, int64_t deadline, struct cpl_error *err)
{
	struct load *load = calloc(1, sizeof(*load));
	int rc = -1;

	if (load) {
		load->head.run = run_request;
		load->clerk = clerk;
	}
	if (cpl_worker_queue(clerk->worker, CPL_QUEUE_LOAD,
	                     load ? &load->head : NULL, true, err))
		return -1;
	if (!cpl_worker_wait(clerk->worker, &load->head, deadline))
		cpl_fail(err, "%s: still being read", clerk->config_path);
	else if (load->rc)
		cpl_fail(err, "%s", load->err.text);
	else
		rc = 0;
	cpl_worker_drop(clerk->worker, &load->head);
	return rc;
}
