/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic/dilation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "traffic/stream_internal.h"

#define CHUNKS 64
#define HOPS_COUNTED 64
/* Equal dilations are not above their average by a rounding error. */
#define SAME 1e-12

/* Dilations of the pairs of a chunk of ranks: whole numbers of links, up to
 * some, are counted, others added up. */
struct tally {
	int64_t count[HOPS_COUNTED];
	double sum; /* of the others */
	int64_t others, above;
	double sum_above;
	bool out_of_memory;
};

struct dilation_pass {
	struct stream s;
	const struct cpl_routing *routing;
	double limit; /* tell others above this apart */
	struct tally tally[CHUNKS];
};

struct dilation_look {
	const struct dilation_pass *w;
	struct tally *tally;
};

static void count(const struct dilation_look *look, int from, int to, int64_t n)
{
	const struct stream *s = &look->w->s;
	int here = s->host_router[from], there = s->host_router[to];
	struct tally *t = look->tally;
	double hops = 0;

	if (here != there)
		hops = cpl_station_hops(s->net, look->w->routing, here, there);
	if (hops < HOPS_COUNTED && hops == floor(hops)) {
		t->count[(int)hops] += n;
		return;
	}
	t->sum += hops * (double)n;
	t->others += n;
	if (hops > look->w->limit) {
		t->sum_above += hops * (double)n;
		t->above += n;
	}
}

static void rows(void *arg, int from, int alike,
                 const struct cpl_comm_entry *entry, int64_t n)
{
	const struct dilation_look *look = arg;
	const struct stream *s = &look->w->s;
	int each = s->job->ranks_per_node;

	for (int64_t i = 0; i < n; i++) {
		int a = from, b = entry[i].to, left = alike;

		if (a == b || !(entry[i].bytes > 0))
			continue;
		while (left > 0) {
			int at = stream_host_of(s, a),
			    to = stream_host_of(s, b);
			int part = (at + 1) * each - a;

			if ((to + 1) * each - b < part)
				part = (to + 1) * each - b;
			part = part < left ? part : left;
			count(look, at, to, part);
			a += part;
			b += part;
			left -= part;
		}
	}
}

static void run_chunk(void *arg, int64_t index, int thread)
{
	struct dilation_pass *w = arg;
	const struct cpl_rows *r = w->s.job->rows;
	struct dilation_look look = {.w = w, .tally = &w->tally[index]};
	int first = (int)cpl_parallel_first(r->ranks, CHUNKS, index);
	int last = (int)cpl_parallel_first(r->ranks, CHUNKS, index + 1);

	if (cpl_rows_each(r, first, last, rows, &look, NULL))
		look.tally->out_of_memory = true;
}

/* Add the dilations of all jobs' pairs to *sum. */
static int tally_up(const struct cpl_network *net,
                    const struct cpl_routing *routing,
                    const struct cpl_job *job, int n, int threads, double limit,
                    struct tally *sum, struct cpl_error *err)
{
	struct dilation_pass *w = calloc(1, sizeof(*w));
	int rc = -1;

	memset(sum, 0, sizeof(*sum));
	if (!w)
		return cpl_fail_memory(err);
	for (int j = 0; j < n; j++) {
		struct cpl_stream stream = {
		        .rows = job[j].rows,
		        .node = job[j].node,
		        .ranks_per_node = job[j].ranks_per_node
		                                  ? job[j].ranks_per_node
		                                  : 1,
		        .threads = threads};

		if (cpl_stream_open(&w->s, net, &stream, err))
			goto out;
		w->routing = routing;
		w->limit = limit;
		memset(w->tally, 0, sizeof(w->tally));
		cpl_parallel(threads, CHUNKS, run_chunk, w);
		cpl_stream_close(&w->s);
		for (int i = 0; i < CHUNKS; i++) {
			const struct tally *t = &w->tally[i];

			for (int k = 0; k < HOPS_COUNTED; k++)
				sum->count[k] += t->count[k];
			sum->sum += t->sum;
			sum->others += t->others;
			sum->above += t->above;
			sum->sum_above += t->sum_above;
			if (cpl_out_of_memory(t->out_of_memory, err))
				goto out;
		}
	}
	rc = 0;
out:
	free(w);
	return rc;
}

int cpl_dilation(const struct cpl_network *net,
                 const struct cpl_routing *routing, const struct cpl_job *job,
                 int n, int threads, struct cpl_dilation *out,
                 struct cpl_error *err)
{
	struct tally t;
	double above;

	memset(out, 0, sizeof(*out));
	if (tally_up(net, routing, job, n, threads, INFINITY, &t, err))
		return -1;
	out->pairs = t.others;
	out->average = t.sum;
	for (int k = 0; k < HOPS_COUNTED; k++) {
		out->pairs += t.count[k];
		out->average += (double)k * (double)t.count[k];
	}
	if (!out->pairs)
		return 0;
	out->average /= (double)out->pairs;
	if (t.others && tally_up(net, routing, job, n, threads,
	                         out->average * (1 + SAME), &t, err))
		return -1;
	out->pairs_above = t.above;
	above = t.sum_above;
	for (int k = 0; k < HOPS_COUNTED; k++)
		if (k > out->average * (1 + SAME)) {
			out->pairs_above += t.count[k];
			above += (double)k * (double)t.count[k];
		}
	if (out->pairs_above)
		out->above_average = above / (double)out->pairs_above;
	return 0;
}
