/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What links carried and ranks did over time, as JSON and as a picture. */
#include "simulate.h"

#include <math.h>
#include <stdlib.h>

#include "plot/plot.h"

#define MAX_ROWS 240

/* A part of the links: of a class (number -1: all), injection or ejection. */
struct link_set {
	const char *name;
	int64_t first, n;
};

static int n_link_sets(const struct simulate *s)
{
	return s->net->n_classes + 3;
}

static struct link_set link_set_at(const struct simulate *s, int i)
{
	const struct cpl_network *net = s->net;
	int64_t cables = cpl_network_port_cables(net);
	int class = i - 1;

	if (class < 0)
		return (struct link_set){"all", 0, net->n_links};
	if (class < net->n_classes)
		return (struct link_set){net->link_class[class].name,
		                         net->link_class[class].first,
		                         net->link_class[class].count};
	if (class == net->n_classes)
		return (struct link_set){"injection", net->n_links, cables};
	return (struct link_set){"ejection", net->n_links + cables, cables};
}

static int used_bins(const struct simulate *s)
{
	return cpl_timeline_used(&s->result.timeline, s->result.seconds);
}

/* Mean and maximum of the links' use in each bin, of the bandwidth. */
static void use_of(const struct simulate *s, struct link_set part, double *mean,
                   double *most)
{
	const struct cpl_timeline *t = &s->result.timeline;
	int bins = used_bins(s);

	for (int b = 0; b < bins; b++) {
		double sum = 0, top = 0;

		for (int64_t l = part.first; l < part.first + part.n; l++) {
			double use = t->link[l * t->bins + b];

			sum += use;
			top = fmax(top, use);
		}
		mean[b] = t->width > 0 && part.n
		                  ? fmin(1, sum / (double)part.n / t->width)
		                  : 0;
		most[b] = t->width > 0 ? fmin(1, top / t->width) : 0;
	}
}

static json_t *array_of(const double *value, int n)
{
	json_t *list = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(list, json_real(value[i]));
	return list;
}

static const float *rank_row(const struct simulate *s, int64_t rank, int state)
{
	const struct cpl_timeline *t = &s->result.timeline;

	return t->rank + (rank * CPL_TIMELINE_STATES + state) * t->bins;
}

/* Parts of a job's ranks, over time. */
static json_t *job_json(const struct simulate *s, int64_t first, int n,
                        double *part)
{
	static const char *const name[CPL_TIMELINE_STATES] = {
	        "compute", "communication", "waiting"};
	const struct cpl_timeline *t = &s->result.timeline;
	json_t *job = json_object();
	int bins = used_bins(s);

	for (int state = 0; state < CPL_TIMELINE_STATES; state++) {
		for (int b = 0; b < bins; b++) {
			double sum = 0;

			for (int r = 0; r < n; r++)
				sum += rank_row(s, first + r, state)[b];
			part[b] = t->width > 0 ? fmin(1, sum / n / t->width)
			                       : 0;
		}
		json_object_set_new(job, name[state], array_of(part, bins));
	}
	return job;
}

json_t *simulate_timeline_json(const struct simulate *s)
{
	int bins = used_bins(s);
	double *mean = malloc(2 * (size_t)bins * sizeof(*mean));
	json_t *links = json_object(), *jobs = json_array();
	int64_t first = 0;

	if (!mean) {
		json_decref(links);
		json_decref(jobs);
		return NULL;
	}
	for (int i = 0; i < n_link_sets(s); i++) {
		struct link_set part = link_set_at(s, i);

		use_of(s, part, mean, mean + bins);
		json_object_set_new(links, part.name,
		                    json_pack("{s:o, s:o}", "mean",
		                              array_of(mean, bins), "max",
		                              array_of(mean + bins, bins)));
	}
	for (int i = 0; i < s->result.n_jobs; i++) {
		int n = s->result.job[i].n_ranks;

		json_array_append_new(jobs, job_json(s, first, n, mean));
		first += n;
	}
	free(mean);
	return json_pack("{s:f, s:i, s:o, s:o}", "bin_seconds",
	                 s->result.timeline.width, "bins", bins, "links", links,
	                 "jobs", jobs);
}

/* What these ranks did for the longest time of a bin. */
static unsigned char state_of(const struct simulate *s, int64_t first,
                              int64_t end, int bin)
{
	static const unsigned char shown[CPL_TIMELINE_STATES] = {
	        PLOT_COMPUTING, PLOT_COMMUNICATING, PLOT_WAITING};
	double rest = s->result.timeline.width * (double)(end - first);
	double most = 0;
	unsigned char found = PLOT_NOTHING;

	for (int state = 0; state < CPL_TIMELINE_STATES; state++) {
		double sum = 0;

		for (int64_t r = first; r < end; r++)
			sum += rank_row(s, r, state)[bin];
		rest -= sum;
		if (sum > most) {
			most = sum;
			found = shown[state];
		}
	}
	return rest > most ? PLOT_NOTHING : found;
}

static void fill_states(const struct simulate *s, struct plot_timeline *p,
                        unsigned char *state)
{
	for (int64_t row = 0; row < p->n_rows; row++)
		for (int b = 0; b < p->bins; b++)
			state[row * p->bins + b] = state_of(
			        s, row * p->n_ranks / p->n_rows,
			        (row + 1) * p->n_ranks / p->n_rows, b);
}

static void fill_curves(const struct simulate *s, int bins,
                        struct plot_curve *curve, double *value)
{
	for (int i = 0; i < n_link_sets(s); i++) {
		struct link_set part = link_set_at(s, i);
		double *mean = value + 2 * (int64_t)i * bins;

		use_of(s, part, mean, mean + bins);
		snprintf(curve[i].name, sizeof(curve[i].name), "%.40s%s",
		         part.name, i ? "" : " links between routers");
		curve[i].mean = mean;
		curve[i].most = mean + bins;
	}
}

static void write_plot(const struct simulate *s, struct plot_timeline *p,
                       struct plot_curve *curve, double *value,
                       unsigned char *state, FILE *out)
{
	char title[160], subtitle[320];
	int n;

	fill_curves(s, p->bins, curve, value);
	fill_states(s, p, state);
	snprintf(title, sizeof(title), "Links and ranks of %.100s over time",
	         s->net->name);
	n = snprintf(subtitle, sizeof(subtitle), "%.60s", s->jobs.job->sig->name);
	if (s->jobs.n > 1)
		n += snprintf(subtitle + n, sizeof(subtitle) - (size_t)n,
		              " and %d more", s->jobs.n - 1);
	snprintf(subtitle + n, sizeof(subtitle) - (size_t)n,
	         ", level %s, %.6g s", s->options.level->name,
	         s->result.seconds);
	p->title = title;
	p->subtitle = subtitle;
	p->n_curves = n_link_sets(s);
	p->curve = curve;
	p->state = state;
	plot_write_timeline(p, out);
}

int simulate_plot(const struct simulate *s, FILE *out, struct cpl_error *err)
{
	const struct cpl_timeline *t = &s->result.timeline;
	struct plot_timeline p = {
	        .bins = used_bins(s),
	        .width = t->width > 0 ? t->width : 1,
	        .n_ranks = (int)t->n_ranks,
	        .n_rows = t->n_ranks < MAX_ROWS ? (int)t->n_ranks : MAX_ROWS};
	struct plot_curve *curve =
	        calloc((size_t)n_link_sets(s), sizeof(*curve));
	double *value = calloc(2 * (size_t)n_link_sets(s) * (size_t)p.bins,
	                       sizeof(*value));
	unsigned char *state = calloc((size_t)p.n_rows, (size_t)p.bins);
	int rc = 0;

	if (curve && value && state)
		write_plot(s, &p, curve, value, state, out);
	else
		rc = cpl_fail_memory(err);
	cpl_free_all(curve, value, state);
	return rc;
}
