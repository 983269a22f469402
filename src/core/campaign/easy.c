/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "campaign/easy.h"

#include <stdlib.h>
#include <string.h>

int cpl_easy_init(struct cpl_easy *easy, int n, int max_jobs, bool backfill,
                  struct cpl_error *err)
{
	size_t room = (size_t)max_jobs + 1;

	*easy = (struct cpl_easy){.n_free = n, .backfill = backfill};
	easy->waits = malloc(room * sizeof(*easy->waits));
	easy->runs = malloc(room * sizeof(*easy->runs));
	return easy->waits && easy->runs ? 0 : cpl_fail_memory(err);
}

void cpl_easy_free(struct cpl_easy *easy)
{
	free(easy->waits);
	free(easy->runs);
}

void cpl_easy_submit(struct cpl_easy *easy, int job, int nodes, double limit)
{
	easy->waits[easy->n_waits++] =
	        (struct cpl_easy_job){.job = job, .nodes = nodes,
	                              .limit = limit};
}

/* This moves a job from the queue to the running ones. */
static int start(struct cpl_easy *easy, int at, double now)
{
	struct cpl_easy_job job = easy->waits[at];
	int i = easy->n_runs++;

	memmove(&easy->waits[at], &easy->waits[at + 1],
	        (size_t)(--easy->n_waits - at) * sizeof(job));
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
	int n_free = easy->n_free, i = 0;
	double at = now;

	while (i < easy->n_runs && n_free < easy->waits[0].nodes) {
		at = easy->runs[i].end;
		n_free += easy->runs[i++].nodes;
	}
	/* Jobs that end at the same moment leave their nodes, too. */
	for (; i < easy->n_runs && easy->runs[i].end <= at; i++)
		n_free += easy->runs[i].nodes;
	*extra = n_free - easy->waits[0].nodes;
	return at > now ? at : now;
}

int cpl_easy_start(struct cpl_easy *easy, double now)
{
	double at;
	int extra;

	if (!easy->n_waits)
		return -1;
	if (easy->waits[0].nodes <= easy->n_free)
		return start(easy, 0, now);
	if (!easy->backfill || !easy->n_free)
		return -1;
	at = reserve(easy, now, &extra);
	for (int i = 1; i < easy->n_waits; i++) {
		const struct cpl_easy_job *job = &easy->waits[i];

		if (job->nodes <= easy->n_free &&
		    (now + job->limit <= at || job->nodes <= extra))
			return start(easy, i, now);
	}
	return -1;
}

void cpl_easy_end(struct cpl_easy *easy, int job)
{
	int i = 0;

	while (i < easy->n_runs && easy->runs[i].job != job)
		i++;
	if (i == easy->n_runs)
		return;
	easy->n_free += easy->runs[i].nodes;
	memmove(&easy->runs[i], &easy->runs[i + 1],
	        (size_t)(--easy->n_runs - i) * sizeof(*easy->runs));
}
