/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job's steps where there is no engine. What travels (base/packed.h):
 *   "CPH1"  ranks of the layout, 0: none
 *   with a layout: its hosts as a list, for each rank the index of its host
 *   length and bytes of a launch (binding/launch.h), 0: nothing to bind by;
 *   its rows are of one node that has all ranks
 *   FNV-1a of all that (4 bytes)
 */
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/packed.h"
#include "mapping/rank_order.h"
#include "site/engine_internal.h"
#include "site/launch.h"

#define MAGIC "CPH1"
#define MAGIC_BYTES 4
#define SUM_BYTES 4
/* The length of a launch of at most CPL_LAUNCH_MAX_BYTES. */
#define LENGTH_BYTES 3

static uint32_t *all_ranks(int n)
{
	uint32_t *id = malloc(((size_t)n + 1) * sizeof(*id));

	for (int r = 0; id && r < n; r++)
		id[r] = (uint32_t)r;
	return id;
}

/* The whole of a profile's traffic. */
static unsigned char *whole(struct cpl_engine *engine,
                            const struct cpl_job_facts *job, size_t limit,
                            size_t *size, struct cpl_error *err)
{
	const struct snapshot *now = engine->snapshot;
	uint32_t *id = NULL;
	uint16_t tasks = 0;
	/* Left without ranks, it is the version of the file that is meant. */
	struct cpl_launch_step all = {
	        .n_nodes = 1, .tasks = &tasks, .ids = &id, .part = true};
	const struct running *running;
	struct cpl_store_answer found;
	struct cpl_resolved want;
	unsigned char *data = NULL;

	cpl_resolve(now->config, now->net, job, &want);
	if (!want.binding.value)
		return NULL;
	running = engine_running_find(engine, job->id);
	engine_find_profile(engine, job, &want,
	                    running ? running->record->ranks : 0,
	                    engine_deadline(engine), &found);
	if (found.profile && found.profile->ranks <= UINT16_MAX) {
		id = all_ranks(found.profile->ranks);
		all.ranks = found.profile->ranks;
		tasks = (uint16_t)all.ranks;
	}
	if (all.ranks && !id)
		cpl_fail_memory(err);
	else
		data = cpl_site_launch(now->config, &want, &found, &all, limit,
		                       size, err);
	free(id);
	cpl_profile_drop(found.profile);
	return data;
}

static void put_layout(struct cpl_packer *o, const struct cpl_record *record)
{
	char *hosts = cpl_hostlist_format(record->host, record->n_hosts);

	if (hosts) {
		cpl_put_number(o, (uint64_t)record->ranks);
		cpl_put_text(o, hosts);
	} else {
		o->failed = true;
	}
	for (int r = 0; r < record->ranks; r++)
		cpl_put_number(o, (uint64_t)record->rank_host[r]);
	free(hosts);
}

unsigned char *cpl_engine_handover(struct cpl_engine *engine,
                                   const struct cpl_job_facts *job,
                                   size_t limit, size_t *size,
                                   struct cpl_error *err)
{
	struct cpl_packer o = {.limit = limit - LENGTH_BYTES - SUM_BYTES};
	const struct running *running;
	unsigned char *launch = NULL;
	size_t launch_size = 0;
	int ranks = 0;
	int64_t entered = engine_enter(engine);
	bool nothing;

	engine_adopt(engine);
	engine_for(engine, engine_user_of(job), ENGINE_LARGE);
	running = engine_running_find(engine, job->id);
	if (running && running->has_layout && engine->snapshot->net)
		ranks = running->record->ranks;
	cpl_put(&o, MAGIC, MAGIC_BYTES);
	if (ranks)
		put_layout(&o, running->record);
	else
		cpl_put_number(&o, 0);
	if (engine->snapshot && !o.full && !o.failed)
		launch =
		        whole(engine, job, o.limit - o.used, &launch_size, err);
	engine_leave(engine, CPL_TIME_HELD_START, entered, 0);
	if (o.full)
		cpl_fail(err,
		         "the layout of %d ranks takes more than %zu bytes",
		         ranks, limit);
	nothing = o.full || (!ranks && !launch);
	o.limit = limit;
	cpl_put_number(&o, launch_size);
	cpl_put(&o, launch, launch_size);
	cpl_put_fixed(&o, cpl_fnv(o.data, o.used), SUM_BYTES);
	free(launch);
	if (o.failed)
		cpl_fail_memory(err);
	if (o.failed || nothing) {
		free(o.data);
		return NULL;
	}
	*size = o.used;
	return o.data;
}

char *cpl_engine_rank_order(struct cpl_engine *engine, int64_t id, size_t limit)
{
	int64_t entered = engine_enter(engine);
	const struct running *running = engine_running_find(engine, id);
	const struct cpl_record *record = running ? running->record : NULL;
	char *text = NULL;

	if (record && running->has_layout && record->ranks)
		text = cpl_rank_order_text(record->host, record->n_hosts,
		                           record->rank_host, record->ranks,
		                           limit);
	engine_leave(engine, CPL_TIME_HELD_START, entered, 0);
	return text;
}

/* What was handed over; *launch points into it. */
struct handed {
	int ranks, *rank_host;
	struct cpl_hostlist hosts;
	const unsigned char *launch;
	size_t launch_size;
};

static void handed_free(struct handed *handed)
{
	cpl_hostlist_free(&handed->hosts);
	free(handed->rank_host);
}

static int damaged(struct cpl_error *err)
{
	return cpl_fail(err, "what slurmctld handed over is damaged, or of "
	                     "another version");
}

static int get_layout(struct cpl_unpacker *in, struct handed *out,
                      struct cpl_error *err)
{
	size_t room = (size_t)(in->end - in->at) + 1;
	char *hosts = malloc(room);
	int rc = -1;

	/* A rank has a byte or more. */
	if ((size_t)out->ranks > room) {
		damaged(err);
		goto out;
	}
	out->rank_host = malloc(((size_t)out->ranks + 1) * sizeof(int));
	if (!hosts || !out->rank_host) {
		cpl_fail_memory(err);
		goto out;
	}
	cpl_get_text(in, hosts, room);
	if (cpl_hostlist_parse(&out->hosts, hosts, err))
		goto out;
	for (int r = 0; r < out->ranks; r++) {
		out->rank_host[r] = cpl_get_int(in, INT32_MAX);
		in->bad |= out->rank_host[r] >= out->hosts.count;
	}
	rc = in->bad ? damaged(err) : 0;
out:
	free(hosts);
	return rc;
}

static int read_handed(const unsigned char *data, size_t size,
                       struct handed *out, struct cpl_error *err)
{
	struct cpl_unpacker in, sum;

	if (size < MAGIC_BYTES + SUM_BYTES || size > CPL_LAUNCH_MAX_BYTES ||
	    memcmp(data, MAGIC, MAGIC_BYTES) != 0)
		return damaged(err);
	in = (struct cpl_unpacker){.at = data + MAGIC_BYTES,
	                           .end = data + size - SUM_BYTES};
	sum = (struct cpl_unpacker){.at = in.end, .end = data + size};
	if (cpl_get_fixed(&sum, SUM_BYTES) != cpl_fnv(data, size - SUM_BYTES))
		return damaged(err);
	out->ranks = cpl_get_int(&in, INT32_MAX);
	if (out->ranks && get_layout(&in, out, err))
		return -1;
	out->launch_size = (size_t)cpl_get_int(&in, CPL_LAUNCH_MAX_BYTES);
	out->launch = in.at;
	if (in.bad || out->launch_size != (size_t)(in.end - in.at))
		return damaged(err);
	return 0;
}

struct place {
	const char *name;
	int at;
};

static int by_name(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* to[h] = position in the step of the layout's host h, or -1. */
static int find_hosts(const struct cpl_hostlist *layout,
                      const struct cpl_hostlist *step, int *to,
                      struct cpl_error *err)
{
	struct place *place =
	        malloc(((size_t)step->count + 1) * sizeof(*place));

	if (!place)
		return cpl_fail_memory(err);
	for (int i = 0; i < step->count; i++)
		place[i] = (struct place){step->name[i], i};
	qsort(place, (size_t)step->count, sizeof(*place), by_name);
	for (int h = 0; h < layout->count; h++) {
		struct place wanted = {layout->name[h], -1};
		const struct place *found =
		        bsearch(&wanted, place, (size_t)step->count,
		                sizeof(*place), by_name);

		to[h] = found ? found->at : -1;
	}
	free(place);
	return 0;
}

static int follow(const struct handed *handed,
                  const struct cpl_engine_step *step, struct cpl_error *err)
{
	struct cpl_hostlist hosts = {0};
	int *to = NULL, *rank_host = NULL, rc = -1;

	if (handed->ranks != step->ranks)
		return cpl_fail(err,
		                "the step has %d tasks, the layout %d ranks",
		                step->ranks, handed->ranks);
	if (step->own_order)
		return cpl_fail(err, "the order is the user's");
	if (cpl_hostlist_parse(&hosts, step->hosts, err))
		return -1;
	to = malloc(((size_t)handed->hosts.count + 1) * sizeof(int));
	rank_host = malloc(((size_t)handed->ranks + 1) * sizeof(int));
	if (!to || !rank_host) {
		cpl_fail_memory(err);
		goto out;
	}
	if (hosts.count != step->n_hosts) {
		cpl_fail(err, "the layout has %d nodes, its list %d",
		         step->n_hosts, hosts.count);
		goto out;
	}
	if (find_hosts(&handed->hosts, &hosts, to, err))
		goto out;
	for (int r = 0; r < handed->ranks; r++) {
		rank_host[r] = to[handed->rank_host[r]];
		if (rank_host[r] < 0) {
			cpl_fail(err, "the step lacks hosts of the job's "
			              "layout");
			goto out;
		}
	}
	rc = engine_permute(step, rank_host, err);
out:
	free(rank_host);
	free(to);
	cpl_hostlist_free(&hosts);
	return rc;
}

/* The traffic of all ranks, of the rows for one node that has them all. */
static struct cpl_comm *graph_of(const struct handed *handed, int ranks,
                                 struct cpl_error *err)
{
	struct cpl_comm *half = NULL, *graph;
	uint32_t *id;

	if (ranks > UINT16_MAX) {
		damaged(err);
		return NULL;
	}
	id = all_ranks(ranks);
	if (id)
		half = cpl_launch_rows(handed->launch, handed->launch_size,
		                       ranks, 0, id, ranks, err);
	else
		cpl_fail_memory(err);
	graph = half ? cpl_comm_symmetric(half, err) : NULL;
	cpl_comm_free(half);
	free(id);
	return graph;
}

/* The launch of a step, of that for all. */
static unsigned char *launch_of(const struct handed *handed,
                                const struct cpl_engine_step *step,
                                size_t *size, struct cpl_error *err)
{
	struct cpl_launch_step layout = {
	        .ranks = step->ranks,
	        .n_nodes = step->n_hosts,
	        .tasks = step->tasks,
	        .ids = step->ids,
	};
	size_t limit = step->limit ? step->limit : CPL_LAUNCH_MAX_BYTES;
	struct cpl_error why = {""};
	struct cpl_comm *graph = NULL;
	unsigned char *data = NULL;
	struct cpl_launch head;
	bool full;

	if (cpl_launch_read(handed->launch, handed->launch_size, &head, err))
		return NULL;
	if (head.kind == CPL_LAUNCH_ROWS)
		graph = graph_of(handed, head.ranks, &why);
	else if (head.kind == CPL_LAUNCH_FILE && head.ranks != step->ranks)
		cpl_fail(&why, "profile %s is of %d ranks, the step has %d",
		         head.profile, head.ranks, step->ranks);
	if (!why.text[0])
		data = cpl_launch_write(&head, graph, &layout, limit, size,
		                        &full, &why);
	cpl_comm_free(graph);
	if (data)
		return data;
	head.kind = CPL_LAUNCH_NOTHING;
	memcpy(head.reason, why.text, sizeof(head.reason));
	return cpl_launch_write(&head, NULL, NULL, limit, size, &full, err);
}

int cpl_engine_step_handed(const void *data, size_t size,
                           const struct cpl_engine_step *step,
                           struct cpl_engine_layout *out, struct cpl_error *err)
{
	struct handed handed = {0};
	int rc = read_handed(data, size, &handed, err);

	memset(out, 0, sizeof(*out));
	if (!rc && handed.ranks)
		out->changed = !follow(&handed, step, &out->unchanged);
	if (!rc && handed.launch_size)
		out->data = launch_of(&handed, step, &out->size, &out->travel);
	handed_free(&handed);
	return rc;
}
