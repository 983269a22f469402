/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/handed.h"

#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/packed.h"
#include "binding/launch.h"

uint32_t *cpl_handed_ranks(int n)
{
	uint32_t *id = malloc(((size_t)n + 1) * sizeof(*id));

	for (int r = 0; id && r < n; r++)
		id[r] = (uint32_t)r;
	return id;
}

int cpl_step_permute(const struct cpl_engine_step *step, const int *rank_host,
                     struct cpl_error *err)
{
	int *used = calloc((size_t)step->n_hosts + 1, sizeof(int));
	int rc = -1;

	if (!used)
		return cpl_fail_memory(err);
	for (int r = 0; r < step->ranks; r++)
		used[rank_host[r]]++;
	for (int i = 0; i < step->n_hosts; i++)
		if (used[i] != step->tasks[i]) {
			cpl_fail(err, "the step has other counts per node "
			              "than the job's layout");
			goto out;
		}
	memset(used, 0, (size_t)step->n_hosts * sizeof(int));
	for (int r = 0; r < step->ranks; r++)
		step->ids[rank_host[r]][used[rank_host[r]]++] = (uint32_t)r;
	rc = 0;
out:
	free(used);
	return rc;
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
	if (cpl_out_of_memory(!hosts || !out->rank_host, err))
		goto out;
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

	if (size < CPL_HANDED_MAGIC_BYTES + CPL_HANDED_SUM_BYTES ||
	    size > CPL_LAUNCH_MAX_BYTES ||
	    memcmp(data, CPL_HANDED_MAGIC, CPL_HANDED_MAGIC_BYTES) != 0)
		return damaged(err);
	in = (struct cpl_unpacker){.at = data + CPL_HANDED_MAGIC_BYTES,
	                           .end = data + size - CPL_HANDED_SUM_BYTES};
	sum = (struct cpl_unpacker){.at = in.end, .end = data + size};
	if (cpl_get_fixed(&sum, CPL_HANDED_SUM_BYTES) !=
	    cpl_fnv(CPL_FNV, data, size - CPL_HANDED_SUM_BYTES))
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
	if (cpl_out_of_memory(!to || !rank_host, err))
		goto out;
	if (hosts.count != step->n_hosts) {
		cpl_fail(err, "the layout has %d nodes, its list %d",
		         step->n_hosts, hosts.count);
		goto out;
	}
	/* to[h] = position in the step of the layout's host h, or -1. */
	if (cpl_hostlist_find(&hosts, &handed->hosts, to, err))
		goto out;
	for (int r = 0; r < handed->ranks; r++) {
		rank_host[r] = to[handed->rank_host[r]];
		if (rank_host[r] < 0) {
			cpl_fail(err, "the step lacks hosts of the job's "
			              "layout");
			goto out;
		}
	}
	rc = cpl_step_permute(step, rank_host, err);
out:
	cpl_free_all(rank_host, to);
	cpl_hostlist_free(&hosts);
	return rc;
}

/* The traffic of all ranks, read from the rows for one node that has them
 * all. */
static struct cpl_comm *graph_of(const struct handed *handed, int ranks,
                                 struct cpl_error *err)
{
	struct cpl_comm *half = NULL, *graph;
	uint32_t *id;

	if (ranks > UINT16_MAX) {
		damaged(err);
		return NULL;
	}
	id = cpl_handed_ranks(ranks);
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

/* The launch of a step, taken from the one for all ranks. */
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
