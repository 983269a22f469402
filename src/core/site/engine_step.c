/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Steps of running jobs: the order of their ranks, and what travels. */
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "site/handed.h"
#include "site/engine_internal.h"
#include "site/launch.h"

/* A step's hosts as the network and the job's record have them. */
struct step_hosts {
	int *node, *slots; /* [n] */
	int n;
	int *at; /* [record->n_hosts] position of a host of the record, or -1 */
};

static void step_hosts_free(struct step_hosts *hosts)
{
	cpl_free_all(hosts->node, hosts->slots, hosts->at);
}

static int find_hosts(const struct cpl_network *net, char *const *name,
                      const struct cpl_record *record, struct step_hosts *out,
                      struct cpl_error *err)
{
	int *position = malloc(((size_t)net->n_nodes + 1) * sizeof(int));
	int rc = -1;

	if (!position)
		return cpl_fail_memory(err);
	for (int i = 0; i < net->n_nodes; i++)
		position[i] = -1;
	for (int i = 0; i < out->n; i++) {
		out->node[i] = cpl_network_node(net, name[i]);
		if (out->node[i] < 0) {
			cpl_fail(err, "%s is not in the network", name[i]);
			goto out;
		}
		position[out->node[i]] = i;
	}
	for (int h = 0; h < record->n_hosts; h++) {
		int node = cpl_network_node(net, record->host[h]);

		out->at[h] = node >= 0 ? position[node] : -1;
	}
	rc = 0;
out:
	free(position);
	return rc;
}

static int step_hosts_get(const struct cpl_network *net,
                          const struct cpl_engine_step *step,
                          const struct cpl_record *record,
                          struct step_hosts *out, struct cpl_error *err)
{
	struct cpl_hostlist list = {0};
	int rc = -1;

	if (cpl_hostlist_parse(&list, step->hosts, err))
		return -1;
	out->n = list.count;
	out->node = malloc(((size_t)list.count + 1) * sizeof(int));
	out->slots = malloc(((size_t)list.count + 1) * sizeof(int));
	out->at = calloc((size_t)record->n_hosts + 1, sizeof(int));
	if (!out->node || !out->slots || !out->at)
		cpl_fail_memory(err);
	else if (list.count != step->n_hosts)
		cpl_fail(err, "the layout has %d nodes, its list %d",
		         step->n_hosts, list.count);
	else
		rc = find_hosts(net, list.name, record, out, err);
	for (int i = 0; i < list.count && !rc; i++)
		out->slots[i] = step->tasks[i];
	cpl_hostlist_free(&list);
	return rc;
}

/* rank_host[r] = position in the step, as our layout of the job has it. */
static int as_laid_out(const struct running *job,
                       const struct step_hosts *hosts, int *rank_host,
                       struct cpl_error *err)
{
	const int *plan = job->own_order ? job->plan : job->record->rank_host;

	if (!plan)
		return cpl_fail(err, "our order is not known any more");
	for (int r = 0; r < job->record->ranks; r++) {
		rank_host[r] = hosts->at[plan[r]];
		if (rank_host[r] < 0)
			return cpl_fail(err, "the step lacks hosts of the "
			                     "job's layout");
	}
	return 0;
}

static int *copy(const int *from, int n)
{
	int *to = malloc(((size_t)n + 1) * sizeof(*to));

	return to ? memcpy(to, from, (size_t)n * sizeof(*to)) : NULL;
}

/* Without memory it is mapped again. */
static void remember(struct running *job, const struct step_hosts *hosts,
                     const int *rank_host)
{
	struct step_order *order = &job->step;

	engine_step_order_free(order);
	order->n_hosts = hosts->n;
	order->ranks = job->record->ranks;
	order->node = copy(hosts->node, hosts->n);
	order->slots = copy(hosts->slots, hosts->n);
	order->rank_host = copy(rank_host, order->ranks);
	if (!order->node || !order->slots || !order->rank_host)
		engine_step_order_free(order);
}

static bool same(const int *a, const int *b, int n)
{
	return !memcmp(a, b, (size_t)n * sizeof(*a));
}

static bool remembers(const struct running *job, const struct step_hosts *hosts)
{
	const struct step_order *order = &job->step;

	return order->ranks && order->ranks == job->record->ranks &&
	       order->n_hosts == hosts->n &&
	       same(order->node, hosts->node, hosts->n) &&
	       same(order->slots, hosts->slots, hosts->n);
}

/* The step's hosts in the order of the job's, by which its ranks were mapped
 * first: into node[] and slots[], their positions in the step into at[]. */
static void in_job_order(const struct running *job,
                         const struct step_hosts *hosts, int *node, int *slots,
                         int *at)
{
	int n = 0;

	for (int h = 0; h < job->record->n_hosts; h++) {
		int i = hosts->at[h];

		if (i < 0 || n == hosts->n)
			continue;
		node[n] = hosts->node[i];
		slots[n] = hosts->slots[i];
		at[n++] = i;
	}
}

/* Mapped as at its start: the job itself is no background. */
static int map_beside_others(struct desk *desk, struct ledger *ledger,
                             struct running *job, struct cpl_profile *profile,
                             const int *node, const int *slots, int n,
                             struct cpl_map_result *result,
                             struct cpl_error *err)
{
	bool stood = job->suspended;
	int rc;

	job->suspended = true;
	engine_running_count(ledger, job, NULL);
	rc = engine_map_ranks(desk, ledger, profile, job->record, node, slots,
	                      NULL, n, result, err);
	job->suspended = stood;
	engine_running_count(ledger, job, NULL);
	return rc;
}

/* Mapped anew, for other counts or after a step in another order. */
static int mapped(struct desk *desk, struct ledger *ledger, struct running *job,
                  const struct step_hosts *hosts, int *rank_host,
                  struct cpl_error *err)
{
	struct cpl_map_result result = {0};
	size_t size = (size_t)job->record->ranks * sizeof(int);
	int n = hosts->n, rc = -1, *node;
	struct cpl_profile *profile;

	if (remembers(job, hosts)) {
		memcpy(rank_host, job->step.rank_host, size);
		return 0;
	}
	node = calloc(3 * ((size_t)n + 1), sizeof(int));
	profile =
	        engine_running_profile(ledger, job, engine_deadline(desk), err);
	if (!node) {
		cpl_fail_memory(err);
	} else if (profile) {
		int *slots = node + n, *at = slots + n;

		in_job_order(job, hosts, node, slots, at);
		rc = map_beside_others(desk, ledger, job, profile, node, slots,
		                       n, &result, err);
	}
	if (!rc) {
		int *at = node + 2 * n;

		for (int r = 0; r < job->record->ranks; r++)
			rank_host[r] = at[result.rank_host[r]];
		remember(job, hosts, rank_host);
	}
	cpl_map_result_free(&result);
	cpl_profile_drop(profile);
	free(node);
	return rc;
}

/*
 * This is how the job's ranks run now: for its record and its load. Without
 * memory the former order stays on record. Ours is kept meanwhile: mapped anew,
 * in another order of hosts, it need not come out the same.
 */
static void note_order(struct ledger *ledger, struct running *job,
                       const struct cpl_engine_step *step,
                       const struct step_hosts *hosts, bool own)
{
	struct cpl_record *record = job->record;
	int *host = malloc(((size_t)hosts->n + 1) * sizeof(int));
	int *order = malloc(((size_t)record->ranks + 1) * sizeof(int));

	if (!host || !order)
		goto out;
	for (int i = 0; i < hosts->n; i++)
		host[i] = -1;
	for (int h = 0; h < record->n_hosts; h++)
		if (hosts->at[h] >= 0)
			host[hosts->at[h]] = h;
	for (int i = 0; i < hosts->n; i++)
		for (int k = 0; k < step->tasks[i]; k++) {
			uint32_t rank = step->ids[i][k];

			if (host[i] < 0 || rank >= (uint32_t)record->ranks)
				goto out;
			order[rank] = host[i];
		}
	if (record->own_order == own &&
	    !memcmp(order, record->rank_host,
	            (size_t)record->ranks * sizeof(int)))
		goto out;
	if (own && !job->own_order)
		job->plan = copy(record->rank_host, record->ranks);
	job->own_order = record->own_order = own;
	record->mapping_kept_default = own || !job->traffic;
	if (own)
		record->map_max_before = record->map_max_after = 0;
	memcpy(record->rank_host, order, (size_t)record->ranks * sizeof(int));
	if (!own) {
		free(job->plan);
		job->plan = NULL;
	}
	engine_running_changed(ledger, job);
	cpl_record_dir_write(ledger->clerk->records, record);
out:
	cpl_free_all(host, order);
}

/* A step with an order of its own, or other ranks, tells of the launcher where it
 * is on all nodes. A task of each is a daemon of mpirun, which may read the host
 * file. */
static void refuses(struct desk *desk, struct running *job,
                    const struct cpl_engine_step *step)
{
	if (step->n_hosts == job->record->n_hosts)
		engine_reach_shown(desk, job,
		                   step->ranks == step->n_hosts &&
		                                   !step->own_order
		                           ? CPL_ORDER_MAY
		                           : CPL_ORDER_NOT);
}

/* Is the user's order of the step ours all the same, from the host file? */
static bool follows(const struct running *job,
                    const struct cpl_engine_step *step,
                    const struct step_hosts *hosts, int *rank_host)
{
	struct cpl_error why;

	if (job->ordered || as_laid_out(job, hosts, rank_host, &why))
		return false;
	for (int i = 0; i < step->n_hosts; i++)
		for (int k = 0; k < step->tasks[i]; k++)
			if (step->ids[i][k] >= (uint32_t)step->ranks ||
			    rank_host[step->ids[i][k]] != i)
				return false;
	return true;
}

static int lay_out(struct desk *desk, struct ledger *ledger,
                   struct running *job, const struct cpl_engine_step *step,
                   struct cpl_error *err)
{
	struct step_hosts hosts = {0};
	struct cpl_error why = {""};
	int *rank_host = malloc(((size_t)step->ranks + 1) * sizeof(int));
	int rc = -1;

	if (!rank_host) {
		cpl_fail_memory(err);
		goto out;
	}
	if (step_hosts_get(desk->snapshot->net, step, job->record, &hosts, err))
		goto out;
	if (step->own_order) {
		if (follows(job, step, &hosts, rank_host))
			engine_reach_shown(desk, job, CPL_ORDER_REACHES);
		else
			refuses(desk, job, step);
		if (!job->ordered)
			note_order(ledger, job, step, &hosts, true);
		cpl_fail(err, "the order is the user's");
		goto out;
	}
	if (job->ordered) {
		rc = engine_order_ranks(desk->snapshot->net,
		                        engine_order(job->record), hosts.node,
		                        hosts.slots, hosts.n, rank_host, &why);
		rc = rc ? rc : cpl_step_permute(step, rank_host, &why);
	} else if (job->own_order && !job->traffic) {
		cpl_rank_groups_list_blocks(hosts.slots, hosts.n, step->ranks,
		                            rank_host);
		rc = cpl_step_permute(step, rank_host, &why);
	} else if (!as_laid_out(job, &hosts, rank_host, &why)) {
		rc = cpl_step_permute(step, rank_host, &why);
	}
	if (rc && job->traffic &&
	    !mapped(desk, ledger, job, &hosts, rank_host, &why))
		rc = cpl_step_permute(step, rank_host, &why);
	if (rc) {
		cpl_fail(err, "%s", why.text);
		goto out;
	}
	engine_reach_shown(desk, job, CPL_ORDER_REACHES);
	if (job->own_order)
		note_order(ledger, job, step, &hosts, false);
out:
	free(rank_host);
	step_hosts_free(&hosts);
	return rc;
}

/* What the step's nodes need to bind, or NULL. */
static unsigned char *travels(struct desk *desk, const struct running *job,
                              const struct cpl_engine_step *step, size_t *size,
                              struct cpl_error *err)
{
	const struct cpl_config *config = desk->snapshot->config;
	struct cpl_resolved want;
	struct cpl_launch_step layout = {
	        .ranks = step->ranks,
	        .n_nodes = step->n_hosts,
	        .tasks = step->tasks,
	        .ids = step->ids,
	        .part = step->part,
	};
	struct cpl_store_answer found;
	unsigned char *data;

	cpl_resolve(config, desk->snapshot->net, &step->job, &want);
	if (!want.binding.value)
		return NULL;
	engine_step_profile(desk->clerk, job, config, &step->job, &want,
	                    step->part ? 0 : step->ranks, engine_deadline(desk),
	                    &found);
	data = cpl_site_launch(config, &want, &found, &layout,
	                       step->limit ? step->limit : CPL_LAUNCH_MAX_BYTES,
	                       size, err);
	cpl_profile_drop(found.profile);
	return data;
}

void cpl_engine_step(struct cpl_engine *engine,
                     const struct cpl_engine_step *step,
                     struct cpl_engine_layout *out)
{
	int64_t entered = engine_enter(engine);
	struct running *job;

	memset(out, 0, sizeof(*out));
	engine_adopt(engine);
	engine_for(&engine->desk, engine_user_of(&step->job), ENGINE_LARGE);
	job = engine_running_find(&engine->ledger, step->job.id);
	if (job && (job->has_layout || job->ordered) && engine->desk.snapshot &&
	    engine->desk.snapshot->net) {
		if (!job->ordered && job->record->ranks != step->ranks) {
			cpl_fail(&out->unchanged,
			         "the step has %d tasks, the layout %d ranks",
			         step->ranks, job->record->ranks);
			refuses(&engine->desk, job, step);
		} else {
			out->changed = !lay_out(&engine->desk, &engine->ledger,
			                        job, step, &out->unchanged);
		}
	}
	if (engine->desk.snapshot)
		out->data = travels(&engine->desk, job, step, &out->size,
		                    &out->travel);
	engine_leave(engine, CPL_TIME_HELD_STEP, entered, 0);
}
