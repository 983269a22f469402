/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What slurmctld's schedulers are set to, and when they looked at the queue. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/lines.h"
#include "campaign/backfill.h"

#define MAX_BYTES (64 << 20)

static int number(const char *text, const char *name, long low, long high, int *out,
                  struct cpl_error *err)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || (*end && *end != ',') || value < low ||
	    value > high)
		return cpl_fail(err, "%s: needs a number from %ld to %ld", name, low,
		                high);
	*out = (int)value;
	return 0;
}

int cpl_backfill_parse(const char *text, struct cpl_backfill_options *out,
                       struct cpl_error *err)
{
	const struct {
		const char *name;
		int *value;
		long low, high;
	} known[] = {
	        {"bf_interval", &out->interval, 1, 10800},
	        {"bf_resolution", &out->resolution, 1, 3600},
	        {"bf_window", &out->window, 1, 43200},
	        {"bf_max_job_test", &out->jobs, 1, 1000000},
	        {"bf_node_space_size", &out->records, 2, 2000000},
	        {"bf_job_part_count_reserve", &out->reserve, 0, 100000},
	        {"bf_window_linear", &out->linear, 1, 1000000},
	        {"sched_interval", &out->main, 1, 1000000},
	        {"batch_sched_delay", &out->delay, 0, 1000000},
	};

	*out = (struct cpl_backfill_options){.interval = 30,
	                                     .resolution = 60,
	                                     .window = 1440,
	                                     .jobs = 500,
	                                     .main = 60,
	                                     .delay = 3};
	for (; text && *text; text += strcspn(text, ",")) {
		text += strspn(text, ", ");
		for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
			size_t n = strlen(known[i].name);

			if (!strncasecmp(text, known[i].name, n) &&
			    text[n] == '=' &&
			    number(text + n + 1, known[i].name, known[i].low,
			           known[i].high, known[i].value, err))
				return -1;
		}
	}
	out->window *= 60;
	if (!out->records)
		out->records = out->jobs;
	return 0;
}

static int read_pass(struct cpl_lines *in, double last, struct cpl_pass *out)
{
	char *end;

	out->at = strtod(in->p, &end);
	if (end == in->p || !isblank((unsigned char)*end) || !isfinite(out->at))
		return cpl_lines_fail(in, "needs SECONDS main, or SECONDS backfill");
	in->p = end + strspn(end, " \t");
	out->backfill = cpl_lines_take(in, "backfill");
	if ((!out->backfill && !cpl_lines_take(in, "main")) || !cpl_lines_end(in))
		return cpl_lines_fail(in, "needs main or backfill behind the "
		                          "seconds");
	return out->at < last ? cpl_lines_fail(in, "comes before the line above")
	                      : 0;
}

int cpl_passes_load(const char *path, struct cpl_pass **out, int *n,
                    struct cpl_error *err)
{
	size_t length;
	char *text = cpl_file_read(path, MAX_BYTES, &length, err);
	struct cpl_lines in = cpl_lines_of(path, text, text ? length : 0, err);
	struct cpl_pass pass = {.at = -INFINITY};
	int rc = text ? 0 : -1;

	*out = NULL;
	*n = 0;
	while (!rc && cpl_lines_next(&in))
		if (!cpl_lines_done(&in) &&
		    !(rc = read_pass(&in, pass.at, &pass)) &&
		    !(rc = cpl_array_grow(out, *n, sizeof(pass), err)))
			(*out)[(*n)++] = pass;
	free(text);
	if (rc) {
		free(*out);
		*out = NULL;
	}
	return rc;
}

/* Every so many seconds after the last time, from now on. */
static double every(double last, double seconds, double now)
{
	return last + seconds * fmax(1, ceil((now - last) / seconds));
}

struct cpl_pass cpl_pass_next(struct cpl_pass_clock *c, double now)
{
	const struct cpl_slurm_queue *q = c->queue;
	struct cpl_pass main = {every(c->main, q->options.main, now), false};
	struct cpl_pass backfill = {every(c->backfill, q->options.interval, now),
	                            true};

	while (c->next < q->n_passes && q->pass[c->next].at - c->first < now)
		c->next++;
	if (c->next < q->n_passes)
		return (struct cpl_pass){q->pass[c->next].at - c->first,
		                         q->pass[c->next].backfill};
	if (c->wanted)
		main.at = fmin(main.at,
		               fmax(ceil(now), c->main + q->options.delay));
	return main.at <= backfill.at ? main : backfill;
}

void cpl_pass_made(struct cpl_pass_clock *c, const struct cpl_pass *pass)
{
	c->next += c->next < c->queue->n_passes;
	*(pass->backfill ? &c->backfill : &c->main) = pass->at;
	c->wanted &= pass->backfill;
}
