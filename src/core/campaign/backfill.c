/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "campaign/backfill.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"

/* slurmctld gives a job that is over its limit so many seconds more, by default. */
#define KILL_WAIT 30
/* Ends of running jobs that are so many seconds apart count as one, at first. */
#define NEAR 30

/* From begin until end these nodes are in no job's plan. */
struct plan_span {
	int64_t begin, end;
	unsigned char *open; /* a set */
};

/* A set has a byte for each node, 0 or 1, and is gone through by eight at a time: cycles
 * take all their time with that. */
static uint64_t *eights(const void *set)
{
	return (uint64_t *)set;
}

static size_t n_eights(const struct cpl_backfill *b)
{
	return ((size_t)b->tree->net->n_nodes + 7) / 8;
}

static unsigned char *new_set(const struct cpl_backfill *b)
{
	return calloc(n_eights(b), 8);
}

static size_t n_all(const struct cpl_backfill *b)
{
	return (size_t)b->tree->net->n_nodes;
}

int cpl_backfill_init(struct cpl_backfill *b,
                      const struct cpl_backfill_options *options,
                      const struct cpl_stock_tree *tree, struct cpl_error *err)
{
	*b = (struct cpl_backfill){.options = options, .tree = tree};
	b->may = new_set(b);
	b->then = new_set(b);
	b->node = malloc(n_all(b) * sizeof(*b->node));
	return b->may && b->then && b->node ? 0 : cpl_fail_memory(err);
}

void cpl_backfill_free(struct cpl_backfill *b)
{
	for (int i = 0; i < b->n_made; i++)
		free(b->span[i].open);
	cpl_free_all(b->span, b->may, b->then, b->node);
}

int64_t cpl_backfill_limit(double seconds)
{
	int64_t minutes = (int64_t)floor(seconds / 60 + 0.5);

	return 60 * (minutes > 1 ? minutes : 1);
}

static int64_t rounded(const struct cpl_backfill *b, int64_t at)
{
	return at / b->options->resolution * b->options->resolution;
}

/* There is one span more, at the end, with contents of no meaning. */
static int add_span(struct cpl_backfill *b, struct cpl_error *err)
{
	if (b->n_spans == b->n_made) {
		if (cpl_array_grow(&b->span, b->n_made, sizeof(*b->span), err))
			return -1;
		b->span[b->n_made].open = new_set(b);
		if (!b->span[b->n_made].open)
			return cpl_fail_memory(err);
		b->n_made++;
	}
	b->n_spans++;
	b->records++;
	return 0;
}

int cpl_backfill_begin(struct cpl_backfill *b, int64_t now, struct cpl_error *err)
{
	const struct cpl_network *net = b->tree->net;

	b->now = now;
	b->at = b->tried = b->planned = b->records = b->n_spans = 0;
	b->begun = -1;
	if (add_span(b, err))
		return -1;
	b->span->begin = rounded(b, now);
	b->span->end = rounded(b, now + b->options->window);
	for (int i = 0; i < net->n_nodes; i++)
		b->span->open[i] = net->node_name[i] != NULL;
	return 0;
}

/* Span j ends then, and another one begins with the same nodes. */
static int split(struct cpl_backfill *b, int j, int64_t at, struct cpl_error *err)
{
	struct plan_span next;

	if (add_span(b, err))
		return -1;
	next = b->span[b->n_spans - 1];
	memmove(&b->span[j + 2], &b->span[j + 1],
	        (size_t)(b->n_spans - j - 2) * sizeof(next));
	next.begin = at;
	next.end = b->span[j].end;
	memcpy(next.open, b->span[j].open, 8 * n_eights(b));
	b->span[j].end = at;
	b->span[j + 1] = next;
	return 0;
}

/* These nodes are in a plan from begin until end. */
static int reserve(struct cpl_backfill *b, int64_t begin, int64_t end,
                   const int *node, int n, struct cpl_error *err)
{
	int j = 0;

	if (end < begin + b->options->resolution)
		end = begin + b->options->resolution;
	while (j < b->n_spans && b->span[j].end < begin)
		j++;
	if (j < b->n_spans && b->span[j].end > begin && split(b, j, begin, err))
		return -1;
	for (j++; j < b->n_spans; j++) {
		if (end < b->span[j].end && split(b, j, end, err))
			return -1;
		for (int i = 0; i < n; i++)
			b->span[j].open[node[i]] = 0;
		if (b->span[j].end == end)
			break;
	}
	return 0;
}

/* Does the span behind have nodes that may[] has not in this one? */
static bool gains(const struct cpl_backfill *b, int j)
{
	const uint64_t *open = eights(b->span[j].open);
	const uint64_t *next = eights(b->span[j + 1].open);

	for (size_t i = 0; i < n_eights(b); i++)
		if (next[i] & ~(eights(b->may)[i] & open[i]))
			return true;
	return false;
}

/* This sets may[] to nodes that are in no plan between these times. It returns when it
 * is worth to look again, or 0. */
static int64_t look(struct cpl_backfill *b, int64_t from, int64_t until)
{
	int64_t later = 0;

	memset(b->may, 1, n_all(b));
	for (int j = 0; j < b->n_spans; j++) {
		const struct plan_span *span = &b->span[j];

		if (span->end <= from)
			continue;
		if (!later && j + 1 < b->n_spans && gains(b, j))
			later = span->end;
		if (span->begin > until)
			break;
		for (size_t i = 0; i < n_eights(b); i++)
			eights(b->may)[i] &= eights(span->open)[i];
	}
	return later;
}

static int count(const struct cpl_backfill *b, const unsigned char *set)
{
	int n = 0;

	for (size_t i = 0; i < n_eights(b); i++)
		n += __builtin_popcountll(eights(set)[i]);
	return n;
}

/* Is one of the nodes in a plan between these times? */
static bool overlaps(const struct cpl_backfill *b, int64_t begin, int64_t end, int n)
{
	for (int j = 0; j < b->n_spans; j++)
		for (int i = 0; i < n && b->span[j].end > begin &&
		                b->span[j].begin < end; i++)
			if (!b->span[j].open[b->node[i]])
				return true;
	return false;
}

/* This finds n nodes of then[], if there are so many: 1, else 0, or -1 with err. */
static int find(struct cpl_backfill *b, int n, struct cpl_error *err)
{
	struct cpl_stock_request req = {.tree = b->tree, .free = b->then, .n = n};

	if (count(b, b->then) < n)
		return 0;
	return cpl_stock_flat(&req, b->node, err) ? -1 : 1;
}

/* The nodes of may[] that this job has are free now. */
static bool end_run(struct cpl_backfill *b, const struct cpl_backfill_run *run)
{
	bool any = false;

	for (int i = 0; i < run->n; i++)
		if (b->may[run->node[i]]) {
			b->then[run->node[i]] = 1;
			any = true;
		}
	return any;
}

/* Running jobs end one after the other until there are enough nodes; of those that end
 * within `near` seconds of each other all do before this is looked at. It returns when,
 * 0: never, or -1 with err. */
static int64_t will_run(struct cpl_backfill *b, int n,
                        const struct cpl_backfill_state *state,
                        struct cpl_error *err)
{
	const struct cpl_backfill_run *runs = state->runs;
	int64_t end = 0, near = NEAR;

	for (int i = 0; i < state->n_runs;) {
		int last = -1, next = -1, rc;

		while (i < state->n_runs) {
			int run = i++;

			if (!end_run(b, &runs[run]))
				continue;
			if (!end)
				end = runs[run].end + near - runs[run].end % near;
			last = run;
			next = i < state->n_runs ? i : -1;
			if (next < 0 || runs[next].end > end + near)
				break;
		}
		if (last < 0)
			break;
		do
			near += b->options->linear ? b->options->linear : near;
		while (next >= 0 && runs[next].end > end + near);
		rc = find(b, n, err);
		if (rc < 0)
			return -1;
		if (rc && runs[last].end > b->now)
			return runs[last].end;
		if (rc)
			return runs[last].end + KILL_WAIT > b->now
			               ? runs[last].end + KILL_WAIT
			               : b->now + 1;
	}
	return 0;
}

/* This finds out when n of the nodes of may[] are free: as above. */
static int64_t when(struct cpl_backfill *b, int n, bool only_now,
                    const struct cpl_backfill_state *state, struct cpl_error *err)
{
	int rc;

	for (size_t i = 0; i < n_all(b); i++)
		b->then[i] = b->may[i] && state->free[i];
	rc = find(b, n, err);
	if (rc)
		return rc < 0 ? -1 : b->now;
	return only_now ? 0 : will_run(b, n, state, err);
}

/* This job starts now (1), has a plan or none (0), or there is no room in the table
 * (2); -1 with err when memory is out. */
static int consider(struct cpl_backfill *b, const struct cpl_easy_job *job,
                    const struct cpl_backfill_state *state, struct cpl_error *err)
{
	const struct cpl_backfill_options *o = b->options;
	int64_t from = b->now, later, limit = cpl_backfill_limit(job->limit);
	bool only_now = o->reserve && b->planned >= o->reserve, tried = false;

	for (;; from = later) {
		int64_t at = 0, begin, end;

		later = look(b, from, from + limit);
		if (count(b, b->may) >= job->nodes) {
			b->tried += !tried;
			tried = true;
			at = when(b, job->nodes, only_now, state, err);
		}
		if (at < 0)
			return -1;
		if (!at && later && !only_now)
			continue;
		if (!at)
			return 0;
		at = at > from ? at : from;
		if (at <= b->now)
			return 1;
		if (only_now)
			return 0;
		if (later && at > later)
			continue;
		if (at > b->now + o->window)
			return 0;
		begin = rounded(b, at);
		end = rounded(b, at + limit);
		if (overlaps(b, begin, end, job->nodes)) {
			later = at;
			continue;
		}
		if (b->records >= o->records)
			return 2;
		b->planned++;
		return reserve(b, begin, end, b->node, job->nodes, err);
	}
}

static CPL_SORT_BY(by_end, struct cpl_backfill_run, CPL_UP(end), CPL_UP(job))

/* What the job has that started last is in the plan, too. */
static int reserve_begun(struct cpl_backfill *b,
                         const struct cpl_backfill_state *state,
                         struct cpl_error *err)
{
	for (int i = 0; i < state->n_runs; i++) {
		const struct cpl_backfill_run *run = &state->runs[i];

		if (run->job == b->begun && b->records < b->options->records)
			return reserve(b, b->span->begin, rounded(b, run->end),
			               run->node, run->n, err);
	}
	return 0;
}

int cpl_backfill_next(struct cpl_backfill *b, const struct cpl_backfill_state *state,
                      struct cpl_error *err)
{
	qsort(state->runs, (size_t)state->n_runs, sizeof(*state->runs), by_end);
	if (reserve_begun(b, state, err))
		return -2;
	for (; b->at < state->n_waits && b->tried < b->options->jobs; b->at++) {
		int rc = state->waits[b->at].job < 0
		                 ? 0
		                 : consider(b, &state->waits[b->at], state, err);

		if (rc < 0)
			return -2;
		if (rc == 2)
			break;
		if (rc == 1) {
			b->begun = state->waits[b->at].job;
			for (size_t i = 0; i < n_all(b); i++)
				b->may[i] &= state->free[i];
			return b->at;
		}
	}
	return -1;
}
