/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/tasks.h"

#include <stdlib.h>
#include <string.h>

/* Places that cpl_tasks_centre adds up distances to, at the most. */
#define CENTRE_SAMPLE 4096
/* Share of the places near another one after which all are looked at. */
#define RING_SHARE 8

static int list_places(struct cpl_tasks *t, struct cpl_error *err)
{
	const struct cpl_map_request *req = t->req;
	size_t hosts = (size_t)req->n_hosts;

	t->place_host = malloc(hosts * sizeof(*t->place_host));
	t->node = malloc(hosts * sizeof(*t->node));
	t->room = malloc(hosts * sizeof(*t->room));
	t->size = malloc(hosts * sizeof(*t->size));
	if (!t->place_host || !t->node || !t->room || !t->size)
		return cpl_fail_memory(err);
	for (int h = 0; h < req->n_hosts; h++) {
		if (!req->slots[h])
			continue;
		t->place_host[t->n] = h;
		t->node[t->n] = req->host[h];
		t->room[t->n] = t->size[t->n] = req->slots[h];
		t->n++;
	}
	return 0;
}

/* Traffic between different tasks. */
static double cut(const struct cpl_comm *graph, const int *task_of)
{
	double sum = 0;

	for (int r = 0; r < graph->ranks; r++)
		for (int64_t e = graph->row[r]; e < graph->row[r + 1]; e++)
			if (task_of[r] != task_of[graph->to[e]])
				sum += graph->bytes[e];
	return sum;
}

/* Block order, task 0 the first ranks, or a partition that cuts less. */
static int gather(struct cpl_tasks *t, struct cpl_error *err)
{
	const struct cpl_comm *graph = t->req->graph;
	int ranks = graph->ranks, rank = 0;
	int *part;

	for (int i = 0; i < t->n; i++)
		for (int k = 0; k < t->size[i]; k++)
			t->task_of[rank++] = i;
	if (ranks == t->n || t->n == 1)
		return 0;
	part = malloc((size_t)ranks * sizeof(*part));
	if (!part)
		return cpl_fail_memory(err);
	if (cpl_map_partition(graph, t->size, t->n, t->req->seed,
	                      t->req->expired, t->req->expired_arg, part,
	                      err)) {
		free(part);
		return -1;
	}
	if (cut(graph, part) < cut(graph, t->task_of))
		memcpy(t->task_of, part, (size_t)ranks * sizeof(*part));
	free(part);
	return 0;
}

static int contract(struct cpl_tasks *t, struct cpl_error *err)
{
	const struct cpl_comm *comm = t->req->comm;
	struct cpl_comm_entry *entry =
	        malloc(((size_t)comm->n_entries + 1) * sizeof(*entry));
	int64_t n = 0;

	if (!entry)
		return cpl_fail_memory(err);
	for (int r = 0; r < comm->ranks; r++) {
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			int a = t->task_of[r], b = t->task_of[comm->to[e]];

			if (a != b && comm->bytes[e] > 0)
				entry[n++] = (struct cpl_comm_entry){
				        a, b, comm->bytes[e],
				        comm->messages[e]};
		}
	}
	t->comm = cpl_comm_build(t->n, entry, n, err);
	free(entry);
	if (t->comm)
		t->graph = cpl_comm_symmetric(t->comm, err);
	return t->graph ? 0 : -1;
}

static int list_spots(struct cpl_tasks *t, struct cpl_error *err)
{
	size_t n = (size_t)t->n;

	t->first_on = malloc(n * sizeof(*t->first_on));
	t->next_on = malloc(n * sizeof(*t->next_on));
	if (!t->first_on || !t->next_on)
		return cpl_fail_memory(err);
	for (int i = 0; i < t->distance.n_spots; i++)
		t->first_on[i] = -1;
	for (int p = t->n - 1; p >= 0; p--) {
		int spot = t->distance.spot[p];

		t->next_on[p] = t->first_on[spot];
		t->first_on[spot] = p;
	}
	return 0;
}

int cpl_tasks_init(struct cpl_tasks *tasks, const struct cpl_map_request *req,
                   struct cpl_error *err)
{
	struct cpl_tasks t = {.req = req};

	if (list_places(&t, err))
		goto fail;
	t.task_of = malloc((size_t)req->comm->ranks * sizeof(*t.task_of));
	if (!t.task_of) {
		cpl_fail_memory(err);
		goto fail;
	}
	if (gather(&t, err) || contract(&t, err) ||
	    cpl_distance_init(&t.distance, req->net, req->routing, t.node, t.n,
	                      err) ||
	    list_spots(&t, err))
		goto fail;
	*tasks = t;
	/* The rings keep the address. */
	if (cpl_rings_init(&tasks->rings, &tasks->distance, err) < 0) {
		cpl_tasks_free(tasks);
		return -1;
	}
	return 0;
fail:
	cpl_tasks_free(&t);
	return -1;
}

void cpl_tasks_free(struct cpl_tasks *t)
{
	free(t->place_host);
	free(t->node);
	free(t->room);
	free(t->size);
	free(t->task_of);
	cpl_comm_free(t->comm);
	cpl_comm_free(t->graph);
	cpl_distance_free(&t->distance);
	cpl_rings_free(&t->rings);
	free(t->first_on);
	free(t->next_on);
	*t = (struct cpl_tasks){0};
}

double cpl_tasks_bytes(const struct cpl_tasks *t, int from, int to)
{
	const struct cpl_comm *comm = t->comm;
	int64_t low = comm->row[from], high = comm->row[from + 1];

	while (low < high) {
		int64_t middle = low + (high - low) / 2;

		if (comm->to[middle] < to)
			low = middle + 1;
		else
			high = middle;
	}
	return low < comm->row[from + 1] && comm->to[low] == to
	               ? comm->bytes[low]
	               : 0;
}

/* On a torus all sums at once; -1: not there, or no memory. */
static int centre_of_torus(const struct cpl_tasks *t, int stride)
{
	size_t n = (size_t)t->n;
	double *weight = calloc(n, sizeof(*weight));
	double *sum = malloc(n * sizeof(*sum));
	int best = -1;

	if (!weight || !sum)
		goto out;
	for (int q = 0; q < t->n; q += stride)
		weight[t->distance.spot[q]]++;
	if (!cpl_distance_sums(&t->distance, weight, sum))
		goto out;
	for (int p = 0; p < t->n; p++)
		if (best < 0 ||
		    sum[t->distance.spot[p]] < sum[t->distance.spot[best]])
			best = p;
out:
	free(weight);
	free(sum);
	return best;
}

int cpl_tasks_centre(struct cpl_tasks *t)
{
	int stride = (t->n + CENTRE_SAMPLE - 1) / CENTRE_SAMPLE;
	int best = centre_of_torus(t, stride);
	double least = 0;

	if (best >= 0)
		return best;
	best = 0;
	for (int p = 0; p < t->n; p++) {
		const float *row =
		        cpl_distance_row(&t->distance, t->distance.spot[p]);
		double sum = 0;

		for (int q = 0; q < t->n; q += stride)
			sum += (double)row[t->distance.spot[q]];
		if (p == 0 || sum < least) {
			least = sum;
			best = p;
		}
		if (p % 64 == 63 && cpl_tasks_expired(t))
			break;
	}
	return best;
}

int cpl_tasks_heaviest(const struct cpl_tasks *t)
{
	const struct cpl_comm *graph = t->graph;
	double most = -1;
	int best = 0;

	for (int i = 0; i < t->n; i++) {
		double sum = 0;

		for (int64_t e = graph->row[i]; e < graph->row[i + 1]; e++)
			sum += graph->bytes[e];
		if (sum > most) {
			most = sum;
			best = i;
		}
	}
	return best;
}

/* -1: none near enough. */
static int nearest_in_rings(const struct cpl_tasks *t, int task, int near,
                            const bool *used)
{
	const struct cpl_rings *rings = &t->rings;
	int centre = t->distance.spot[near];

	for (int l = 0; l <= rings->max; l++) {
		int best = -1;

		if (rings->start[l] > t->n / RING_SHARE)
			break;
		for (int64_t i = rings->start[l]; i < rings->start[l + 1];
		     i++) {
			int spot = cpl_rings_spot(rings, centre, i);

			if (spot < 0)
				continue;
			for (int p = t->first_on[spot]; p >= 0;
			     p = t->next_on[p])
				if (!used[p] && cpl_tasks_fit(t, task, p) &&
				    (best < 0 || p < best))
					best = p;
		}
		if (best >= 0)
			return best;
	}
	return -1;
}

int cpl_tasks_nearest(struct cpl_tasks *t, int task, int near, const bool *used)
{
	const float *row;
	float least = 0;
	int best = -1;

	if (t->rings.distance) {
		best = nearest_in_rings(t, task, near, used);
		if (best >= 0)
			return best;
	}
	row = cpl_distance_row(&t->distance, t->distance.spot[near]);
	for (int p = 0; p < t->n; p++) {
		float hops = row[t->distance.spot[p]];

		if (used[p] || !cpl_tasks_fit(t, task, p))
			continue;
		if (best < 0 || hops < least) {
			least = hops;
			best = p;
		}
	}
	return best;
}

double cpl_tasks_hop_bytes(struct cpl_tasks *t, const int *place_of)
{
	const struct cpl_comm *graph = t->graph;
	double sum = 0;

	for (int i = 0; i < t->n; i++)
		for (int64_t e = graph->row[i]; e < graph->row[i + 1]; e++)
			if (graph->to[e] > i)
				sum += graph->bytes[e] *
				       cpl_tasks_hops(t, place_of[i],
				                      place_of[graph->to[e]]);
	return sum;
}

int cpl_tasks_fill(const struct cpl_tasks *t, int *place_of,
                   struct cpl_error *err)
{
	bool *used = calloc((size_t)t->n, sizeof(*used));
	int size = -1, next = 0;

	if (!used)
		return cpl_fail_memory(err);
	for (int i = 0; i < t->n; i++)
		if (place_of[i] >= 0)
			used[place_of[i]] = true;
	for (int i = 0; i < t->n; i++) {
		if (place_of[i] >= 0)
			continue;
		if (t->size[i] != size) {
			size = t->size[i];
			next = 0;
		}
		while (used[next] || t->room[next] != size)
			next++;
		used[next] = true;
		place_of[i] = next;
	}
	free(used);
	return 0;
}

int cpl_tasks_pair(const struct cpl_tasks *t, const int *task, const int *place,
                   int *place_of, struct cpl_error *err)
{
	bool *used = calloc((size_t)t->n, sizeof(*used));
	int first = 0;

	if (!used)
		return cpl_fail_memory(err);
	for (int i = 0; i < t->n; i++) {
		int at = first;

		while (used[at] || !cpl_tasks_fit(t, task[i], place[at]))
			at++;
		used[at] = true;
		place_of[task[i]] = place[at];
		while (first < t->n && used[first])
			first++;
	}
	free(used);
	return 0;
}

int cpl_tasks_map(const struct cpl_map_request *req, int *rank_host,
                  int (*place)(struct cpl_tasks *tasks, int *place_of,
                               struct cpl_error *err),
                  struct cpl_error *err)
{
	struct cpl_tasks t;
	int *place_of, rc = -1;

	if (cpl_tasks_init(&t, req, err))
		return -1;
	place_of = malloc((size_t)t.n * sizeof(*place_of));
	if (!place_of) {
		cpl_fail_memory(err);
		goto out;
	}
	for (int i = 0; i < t.n; i++)
		place_of[i] = -1;
	if (place(&t, place_of, err) || cpl_tasks_fill(&t, place_of, err))
		goto out;
	for (int r = 0; r < req->comm->ranks; r++)
		rank_host[r] = t.place_host[place_of[t.task_of[r]]];
	rc = 0;
out:
	free(place_of);
	cpl_tasks_free(&t);
	return rc;
}
