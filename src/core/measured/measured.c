/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "measured/measured.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/printable.h"
#include "base/sort.h"
#include "measured/rows.h"

/* While the links are gone through. */
struct measured_reading {
	struct cpl_measured *out;
	struct measured_names names;
	struct measured_rows rows;
	const struct cpl_measured_at *at;
};

/* The rows of a link, or of parallel ones: row[first .. n - 1] have the newest
 * time, row[before .. first - 1] the one before it. */
struct samples {
	const struct measured_row *row;
	int64_t n, first, before;
	double bandwidth; /* bytes/s of all cables together */
};

static struct samples samples_of(const struct measured_row *row, int64_t n)
{
	struct samples s = {.row = row, .n = n, .first = n};

	while (s.first && row[s.first - 1].time == row[n - 1].time)
		s.first--;
	s.before = s.first;
	while (s.before && row[s.before - 1].time == row[s.first - 1].time)
		s.before--;
	return s;
}

static bool any_bad(const struct samples *s, bool counters)
{
	for (int64_t i = counters ? s->before : s->first; i < s->n; i++)
		if (s->row[i].bad)
			return true;
	return false;
}

/* Seconds between the two samples. */
static double span_of(const struct samples *s)
{
	return s->row[s->first].time - s->row[s->before].time;
}

/* What one of the newest rows says, in bytes/s. -1: nothing, for that reason. */
static double rate_of(enum measured_kind kind, const struct samples *s,
                      int64_t i, const char **why)
{
	const struct measured_row *row = &s->row[s->first + i];
	const struct measured_row *old = &s->row[s->before + i];
	double share = s->bandwidth / (double)(s->n - s->first), rate;
	uint64_t bytes;

	if (kind == MEASURED_RATES) {
		rate = row->rate;
		*why = "it is more than the link carries";
	} else {
		bytes = row->count - old->count;
		*why = "the counter was reset, or counts more than the link "
		       "carries";
		if (kind == MEASURED_COUNTERS_32) {
			bytes &= UINT32_MAX;
			*why = "the counter may have wrapped twice between the "
			       "samples";
			if (share * span_of(s) > UINT32_MAX)
				return -1;
		}
		rate = (double)bytes / span_of(s);
	}
	return rate > CPL_MEASURED_MOST * share ? -1 : rate;
}

/* Another number of cables was measured than the link has. */
static bool is_odd(const struct samples *s, int cables)
{
	int64_t n = s->n - s->first;

	return n != cables && (n > 1 || s->row[s->first].port);
}

/* Why the samples cannot be used, whatever they say; NULL: they can. */
static const char *refusal(const struct measured_reading *r, const struct samples *s,
                           int cables)
{
	double now = r->at->now, time = s->row[s->first].time;
	bool counters = r->rows.kind != MEASURED_RATES;
	int64_t n = s->n - s->first;

	if (any_bad(s, counters))
		return "a sample of the link is no number";
	if (now > 0 && time > now + CPL_MEASURED_AHEAD)
		return "the time is still to come";
	if (now > 0 && now - time > r->at->max_age)
		return "the sample is too old";
	if (is_odd(s, cables))
		return "the link has another number of cables than rows of "
		       "that time";
	if (counters && !s->first)
		return "the counter has no sample before this one";
	if (counters && s->first - s->before != n)
		return "the sample before this one has another number of rows";
	return NULL;
}

static double bandwidth_of(const struct cpl_network *net,
                           const struct measured_group *group)
{
	double sum = 0;

	if (!group->link)
		return cpl_times_bandwidth(net, group->id);
	for (int i = 0; i < group->n_links; i++)
		sum += cpl_network_link_bandwidth(net, group->link[i]);
	return sum;
}

static void add_rate(struct cpl_measured *out, int64_t link, double rate)
{
	out->rate[out->n++] = (struct cpl_times_rate){link, rate};
}

/* Share rates of cables, or of all together, among the links. */
static void share_out(struct measured_reading *r, const struct measured_group *group,
                      const struct samples *s, const double *rate)
{
	const struct cpl_network *net = r->names.net;
	bool together = s->n - s->first < group->cables;

	if (!group->link) {
		add_rate(r->out, group->id, rate[0]);
		return;
	}
	for (int i = 0, at = 0; i < group->n_links; i++) {
		int link = group->link[i];
		double sum = 0;

		if (together)
			sum = rate[0] * cpl_network_link_bandwidth(net, link) /
			      s->bandwidth;
		for (int k = 0; k < cpl_network_link_cables(net, link) &&
		                !together;
		     k++)
			sum += rate[at++];
		add_rate(r->out, link, sum);
	}
}

static void name_router(const struct cpl_network *net, int router, char out[64])
{
	if (net->router_name && *net->router_name[router])
		snprintf(out, 64, "%.63s", net->router_name[router]);
	else
		snprintf(out, 64, "%d", router);
	cpl_printable(out);
}

static void note_odd(struct measured_reading *r, const struct samples *s,
                     const struct measured_group *group)
{
	const struct cpl_network *net = r->names.net;
	struct cpl_measured_odd odd = {.counted = (int)(s->n - s->first),
	                               .cables = group->cables};
	int64_t cable = (group->id - net->n_links) % cpl_network_port_cables(net);

	if (group->link) {
		name_router(net, net->link_from[*group->link], odd.from);
		name_router(net, net->link_to[*group->link], odd.to);
	} else {
		snprintf(odd.from, sizeof(odd.from), "%.63s",
		         net->node_name[cable / net->n_ports]);
		name_router(net, net->port_router[cable], odd.to);
	}
	measured_note_odd(r->out, &odd);
}

/* The times of the set are those of its oldest samples. */
static void note_times(struct measured_reading *r, const struct samples *s)
{
	struct cpl_measured *out = r->out;
	double time = s->row[s->first].time, since = time;

	if (r->rows.kind != MEASURED_RATES)
		since = s->row[s->before].time;
	if (!out->n || time < out->time)
		out->time = time;
	if (!out->n || since < out->since)
		out->since = since;
}

/* The rows of one link, or of parallel ones. rate: memory for as many. */
static void read_group(struct measured_reading *r, const struct measured_row *row,
                       int64_t n, double *rate)
{
	struct measured_group group = measured_group(&r->names, row->group);
	struct samples s = samples_of(row, n);
	const char *why = refusal(r, &s, group.cables);
	int64_t rows = s.n - s.first, bad = s.first;

	s.bandwidth = bandwidth_of(r->names.net, &group);
	r->out->rows += rows;
	for (int64_t i = 0; i < rows && !why; i++) {
		const char *reason;

		rate[i] = rate_of(r->rows.kind, &s, i, &reason);
		bad = s.first + i;
		if (rate[i] < 0)
			why = reason;
	}
	if (is_odd(&s, group.cables))
		note_odd(r, &s, &group);
	if (why) {
		measured_leave_out(&r->rows, rows, row[bad].line, "%s", why);
		return;
	}
	note_times(r, &s);
	share_out(r, &group, &s, rate);
}

static CPL_SORT_BY(by_link, struct cpl_times_rate, CPL_UP(link))

static int read_groups(struct measured_reading *r, struct cpl_error *err)
{
	const struct measured_rows *rows = &r->rows;
	size_t links = (size_t)cpl_times_links(r->names.net);
	double *rate = malloc(((size_t)rows->n + 1) * sizeof(*rate));

	r->out->rate = malloc((links + 1) * sizeof(*r->out->rate));
	if (!rate || !r->out->rate) {
		free(rate);
		return cpl_fail_memory(err);
	}
	r->out->rows = rows->left_out;
	for (int64_t i = 0, end; i < rows->n; i = end) {
		for (end = i + 1; end < rows->n &&
		                  rows->row[end].group == rows->row[i].group;)
			end++;
		read_group(r, &rows->row[i], end - i, rate);
	}
	free(rate);
	if (r->out->n)
		qsort(r->out->rate, (size_t)r->out->n, sizeof(*r->out->rate),
		      by_link);
	return 0;
}

/* Is what was read worth anything? */
static int check(struct measured_reading *r, struct cpl_error *err)
{
	struct cpl_measured *out = r->out;

	out->left_out = r->rows.left_out;
	if (out->left_out)
		out->why = r->rows.why;
	if (out->left_out * 2 > out->rows)
		return cpl_fail(err,
		                "%s: %lld of %lld rows cannot be used, so that "
		                "none is; the first: %s",
		                r->rows.name, (long long)out->left_out,
		                (long long)out->rows, out->why.text);
	return out->n ? 0 : cpl_fail(err, "%s: there is no row", r->rows.name);
}

int cpl_measured_parse(struct cpl_measured *out, const struct cpl_network *net,
                       const char *text, size_t length, const char *name,
                       const struct cpl_measured_at *at, struct cpl_error *err)
{
	struct measured_reading r = {.out = out, .rows = {.name = name, .out = out}, .at = at};
	int rc = -1;

	*out = (struct cpl_measured){0};
	if (!cpl_network_has_bandwidths(net))
		return cpl_fail(err, "%s: the network file states no "
		                     "bandwidths, so that bytes/s say nothing",
		                name);
	if (!measured_names_open(&r.names, net, err) &&
	    !measured_rows_read(&r.rows, &r.names, text, length, err) &&
	    !read_groups(&r, err))
		rc = check(&r, err);
	measured_names_close(&r.names);
	free(r.rows.row);
	if (rc)
		cpl_measured_free(out);
	return rc;
}

int cpl_measured_load(struct cpl_measured *out, const struct cpl_network *net,
                      const char *path, const struct cpl_measured_at *at,
                      struct cpl_error *err)
{
	size_t length;
	char *text = cpl_file_read(path, CPL_MEASURED_MAX_BYTES, &length, err);
	int rc;

	*out = (struct cpl_measured){0};
	if (!text)
		return -1;
	rc = cpl_measured_parse(out, net, text, length, path, at, err);
	free(text);
	return rc;
}

static void write_node_rate(const struct cpl_network *net, int64_t cable,
                            FILE *out)
{
	int64_t ports = cpl_network_port_cables(net);
	bool in = cable >= ports;
	char port[16] = "";

	cable -= in ? ports : 0;
	if (net->n_ports > 1)
		snprintf(port, sizeof(port), ":%d", (int)(cable % net->n_ports));
	fprintf(out, in ? ",%s%s," : "%s%s,,",
	        net->node_name[cable / net->n_ports], port);
}

/* As many rows as there were cables, which no link takes. */
static void write_odd(const struct cpl_measured_odd *odd, double time, FILE *out)
{
	int rows = odd->cables ? odd->counted : 1;

	for (int i = 0; i < rows; i++) {
		fprintf(out, "%.17g,", time);
		if (odd->cables)
			fprintf(out, "\"%s[%d]\",", odd->from, i);
		else
			fprintf(out, "\"%s\",", odd->from);
		fprintf(out, "\"%s\",0\n", odd->to);
	}
}

void cpl_measured_write(const struct cpl_measured *measured,
                        const struct cpl_network *net, FILE *out)
{
	fputs("time,from,to,bytes_per_second\n", out);
	for (int64_t i = 0; i < measured->n; i++) {
		int64_t link = measured->rate[i].link;
		int cables = link < net->n_links
		                     ? cpl_network_link_cables(net, link)
		                     : 1;

		for (int k = 0; k < cables; k++) {
			fprintf(out, "%.17g,", measured->time);
			if (link < net->n_links)
				fprintf(out, "%d,%d,", net->link_from[link],
				        net->link_to[link]);
			else
				write_node_rate(net, link - net->n_links, out);
			fprintf(out, "%.17g\n",
			        measured->rate[i].rate / cables);
		}
	}
	for (int i = 0; i < measured->n_odds; i++)
		write_odd(&measured->odd[i], measured->time, out);
}

void cpl_measured_free(struct cpl_measured *measured)
{
	free(measured->rate);
	*measured = (struct cpl_measured){0};
}

struct cpl_job_load *cpl_measured_rest(const struct cpl_measured *measured,
                                       const struct cpl_network *net,
                                       const struct cpl_load *own,
                                       struct cpl_error *err)
{
	struct cpl_times_rate *rest =
	        malloc(((size_t)measured->n + 1) * sizeof(*rest));
	int64_t n = 0;

	for (int64_t i = 0; rest && i < measured->n; i++) {
		int64_t link = measured->rate[i].link;
		double rate = measured->rate[i].rate;

		if (own)
			rate -= *cpl_times_at(own, link);
		if (rate > CPL_MEASURED_LEAST * cpl_times_bandwidth(net, link))
			rest[n++] = (struct cpl_times_rate){link, rate};
	}
	return cpl_job_load_of_rest(rest, n, err);
}

double cpl_measured_coverage(const struct cpl_measured *links, double began,
                             double ended)
{
	double from = began > links->since ? began : links->since;
	double to = ended < links->time ? ended : links->time;

	if (links->since < links->time)
		return to > from ? (to - from) / (links->time - links->since)
		                 : 0;
	return began <= links->time && links->time <= ended;
}
