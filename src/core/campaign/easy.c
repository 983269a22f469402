/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "campaign/easy.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"

int cpl_easy_init(struct cpl_easy *easy, int n, int max_jobs, bool backfill,
                  struct cpl_error *err)
{
	size_t room = (size_t)max_jobs + 1;

	*easy = (struct cpl_easy){.n_free = n, .backfill = backfill};
	easy->waits = malloc(room * sizeof(*easy->waits));
	easy->runs = malloc(room * sizeof(*easy->runs));
	easy->least = malloc((room / CPL_EASY_BLOCK + 1) * sizeof(*easy->least));
	return easy->waits && easy->runs && easy->least ? 0
	                                                : cpl_fail_memory(err);
}

void cpl_easy_free(struct cpl_easy *easy)
{
	cpl_free_all(easy->waits, easy->runs, easy->least);
}

static const struct cpl_easy_job nobody = {-1, INT_MAX, INFINITY, 0};

static void take_least(struct cpl_easy_job *least, const struct cpl_easy_job *job)
{
	least->nodes = job->nodes < least->nodes ? job->nodes : least->nodes;
	least->limit = fmin(job->limit, least->limit);
}

void cpl_easy_submit(struct cpl_easy *easy, int job, int nodes, double limit)
{
	struct cpl_easy_job *least = &easy->least[easy->end / CPL_EASY_BLOCK];

	if (easy->end % CPL_EASY_BLOCK == 0)
		*least = nobody;
	easy->waits[easy->end] = (struct cpl_easy_job){
	        .job = job, .nodes = nodes, .limit = limit};
	take_least(least, &easy->waits[easy->end++]);
	easy->n_waits++;
}

static void leave_queue(struct cpl_easy *easy, int at)
{
	int block = at / CPL_EASY_BLOCK, i = block * CPL_EASY_BLOCK;
	int end = i + CPL_EASY_BLOCK < easy->end ? i + CPL_EASY_BLOCK : easy->end;

	easy->waits[at] = nobody;
	easy->n_waits--;
	for (easy->least[block] = nobody; i < end; i++)
		take_least(&easy->least[block], &easy->waits[i]);
	while (easy->first < easy->end && easy->waits[easy->first].job < 0)
		easy->first++;
}

int cpl_easy_begin(struct cpl_easy *easy, int at, double now)
{
	struct cpl_easy_job job = easy->waits[at];
	int i = easy->n_runs++;

	leave_queue(easy, at);
	job.end = now + job.limit;
	for (; i > 0 && (easy->runs[i - 1].end > job.end ||
	                 (easy->runs[i - 1].end == job.end &&
	                  easy->runs[i - 1].job > job.job));
	     i--)
		easy->runs[i] = easy->runs[i - 1];
	easy->runs[i] = job;
	easy->n_free -= job.nodes;
	return job.job;
}

/* This returns when the first of the queue will start, and how many nodes are left
 * over then. */
static double reserve(const struct cpl_easy *easy, double now, int *extra)
{
	int n_free = easy->n_free, wanted = easy->waits[easy->first].nodes, i = 0;
	double at = now;

	while (i < easy->n_runs && n_free < wanted) {
		at = easy->runs[i].end;
		n_free += easy->runs[i++].nodes;
	}
	/* Jobs that end at the same moment leave their nodes, too. */
	for (; i < easy->n_runs && easy->runs[i].end <= at; i++)
		n_free += easy->runs[i].nodes;
	*extra = n_free - wanted;
	return at > now ? at : now;
}

static enum cpl_easy_need need_of(const struct cpl_easy *easy, int at)
{
	return easy->nodes ? easy->nodes->need(easy->nodes->arg,
	                                       easy->waits[at].job)
	                   : CPL_EASY_ANY;
}

static bool has(const struct cpl_easy *easy, int at, bool spare)
{
	return easy->waits[at].nodes <= easy->n_free &&
	       (!easy->nodes || easy->nodes->has(easy->nodes->arg,
	                                         easy->waits[at].job, spare));
}

static bool keep(const struct cpl_easy *easy, int n)
{
	return easy->nodes->keep(easy->nodes->arg,
	                         easy->waits[easy->first].job, easy->runs, n);
}

/* This finds the fewest of the running jobs, by their ends, whose nodes are enough
 * for the first of the queue beside the free ones, and keeps these. */
static void plan(struct cpl_easy *easy)
{
	int low = 1, high = easy->n_runs;

	if (easy->planned)
		return;
	easy->planned = true;
	easy->never = !high || !keep(easy, high);
	if (easy->never)
		return;
	CPL_BISECT(low, high, middle, !keep(easy, middle));
	easy->at = easy->runs[high - 1].end;
	/* Jobs that end at the same moment leave their nodes, too. */
	while (high < easy->n_runs && easy->runs[high].end <= easy->at)
		high++;
	easy->never = !keep(easy, high);
}

/* This says whether the job may go before the first, which needs nodes of its own, or
 * which it may take more from than its number. */
static bool may_pass(struct cpl_easy *easy, int i, double now)
{
	plan(easy);
	if (easy->never)
		return false;
	return has(easy, i, now + easy->waits[i].limit >
	                            (easy->at > now ? easy->at : now));
}

/* This starts the first job of those behind the first that may go before it. */
static int backfill(struct cpl_easy *easy, double now)
{
	enum cpl_easy_need first = need_of(easy, easy->first);
	int extra;
	double at = reserve(easy, now, &extra);

	for (int i = easy->first + 1; i < easy->end; i++) {
		const struct cpl_easy_job *job = &easy->waits[i];
		const struct cpl_easy_job *least = &easy->least[i / CPL_EASY_BLOCK];

		/* Of the whole block nobody fits, or goes by numbers alone. */
		if (least->nodes > easy->n_free ||
		    (!easy->nodes && now + least->limit > at &&
		     least->nodes > extra)) {
			i |= CPL_EASY_BLOCK - 1;
			continue;
		}
		if (job->nodes > easy->n_free)
			continue;
		if (first != CPL_EASY_ANY || need_of(easy, i) == CPL_EASY_MORE) {
			if (may_pass(easy, i, now))
				return cpl_easy_begin(easy, i, now);
		} else if ((now + job->limit <= at || job->nodes <= extra) &&
		           has(easy, i, false)) {
			easy->planned = false;
			return cpl_easy_begin(easy, i, now);
		}
	}
	return -1;
}

int cpl_easy_start(struct cpl_easy *easy, double now)
{
	if (!easy->n_waits)
		return -1;
	if (has(easy, easy->first, false)) {
		easy->planned = false;
		return cpl_easy_begin(easy, easy->first, now);
	}
	return easy->backfill && easy->n_free ? backfill(easy, now) : -1;
}

void cpl_easy_take(struct cpl_easy *easy, int job, int more)
{
	for (int i = 0; i < easy->n_runs; i++)
		if (easy->runs[i].job == job)
			easy->runs[i].nodes += more;
	easy->n_free -= more;
}

void cpl_easy_end(struct cpl_easy *easy, int job)
{
	int i = 0;

	while (i < easy->n_runs && easy->runs[i].job != job)
		i++;
	if (i == easy->n_runs)
		return;
	easy->n_free += easy->runs[i].nodes;
	easy->planned = false;
	memmove(&easy->runs[i], &easy->runs[i + 1],
	        (size_t)(--easy->n_runs - i) * sizeof(*easy->runs));
}
