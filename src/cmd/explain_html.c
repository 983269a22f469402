/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A decision as a page. */
#include "explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/printable.h"
#include "html.h"
#include "plot/plot.h"
#include "routing/routing.h"
#include "site/state.h"
#include "site_files.h"
#include "traffic/traffic.h"

/* Colours of the palette. */
enum { OTHER = 4, TAKEN = 0 };

/* The busiest link with the rank order, as far as it is known. */
static double judged_max(const struct cpl_record_candidate *c)
{
	return c->mapped ? c->mapped_max : c->max_congestion;
}

static double stock_max(const struct cpl_record *r)
{
	const struct cpl_record_candidate *taken = explain_taken(r);
	bool mapped = taken && taken->mapped && r->stock_mapped_max > 0;

	return mapped ? r->stock_mapped_max : r->stock_max_congestion;
}

/* Candidates by the number that they were judged by: bars, and a line for stock
 * Slurm. */
static void draw_candidates(const struct cpl_record *r, FILE *out)
{
	struct plot_bar *bar =
	        calloc((size_t)r->n_candidates + 1, sizeof(*bar));
	const struct cpl_record_candidate *taken = explain_taken(r);
	struct plot_bars plot = {
	        .title = "Busiest link of each candidate, in seconds",
	        .unit = "",
	        .bar = bar,
	        .line = stock_max(r),
	        .line_text = "stock Slurm"};

	for (int i = 0; bar && i < r->n_candidates; i++) {
		const struct cpl_record_candidate *k = &r->candidate[i];
		struct plot_bar *b = &bar[plot.n];

		if (!k->evaluated)
			continue;
		snprintf(b->label, sizeof(b->label), "%.40s, seed %" PRIu64,
		         k->policy, k->seed);
		snprintf(b->note, sizeof(b->note), "%.4g%s", judged_max(k),
		         k == taken ? ", taken" : "");
		b->mark = k == taken;
		b->n_parts = 1;
		b->part[0] = judged_max(k) > 0 ? judged_max(k) : 0;
		b->colour[0] = k == taken ? TAKEN : OTHER;
		plot.n++;
	}
	if (plot.n) {
		html_figure(out, false);
		plot_write_bars(&plot, out);
		html_figure_end(out);
	}
	free(bar);
}

static int draw_state(const struct cpl_network *net,
                      const struct cpl_routing *routing,
                      const struct explained *e, struct cpl_state *state,
                      const char *title, const char *subtitle, FILE *out,
                      struct cpl_error *err)
{
	struct cpl_profile_dirs dirs = cmd_profile_dirs(e->config, NULL);
	struct cpl_load load = {0};
	int rc = -1;

	if (!cpl_load_init(&load, net, err) &&
	    !cmd_state_profiles(state, &dirs, NULL, err) &&
	    !cpl_state_apply(state, net, routing, NULL, &load, err)) {
		html_figure(out, true);
		rc = plot_write_map(net, load.link, false, title, subtitle, out,
		                    err);
		html_figure_end(out);
	}
	cpl_load_free(&load);
	return rc;
}

/* Draw the job alone, and with the jobs that ran when it was decided. */
static int draw_jobs(const struct explained *e, const struct cpl_network *net,
                     struct cpl_running_job *job, FILE *out,
                     struct cpl_error *err)
{
	const struct cpl_record *r = e->record;
	const struct cpl_routing *routing =
	        cpl_routing_find_quick(net, r->routing, err);
	struct cpl_state own = {1, job};
	struct cpl_state others = {0};
	char title[96], subtitle[160];
	int rc = -1;

	if (!routing)
		return -1;
	snprintf(title, sizeof(title), "Link loads of job %" PRId64, r->job);
	snprintf(subtitle, sizeof(subtitle), "%.100s, routing %s",
	         r->profile ? r->profile : "", routing->name);
	if (draw_state(net, routing, e, &own, title, subtitle, out, err))
		return -1;
	if (!r->n_background)
		return 0;
	snprintf(title, sizeof(title), "Link loads of the jobs that ran then");
	snprintf(subtitle, sizeof(subtitle), "%" PRId64 " jobs, routing %s",
	         r->n_background, routing->name);
	if (!cpl_record_background(r, e->state_dir, &others, err))
		rc = draw_state(net, routing, e, &others, title, subtitle,
		                out, err);
	cpl_state_free(&others);
	return rc;
}

static struct cpl_record *copy(const struct cpl_record *r,
                               struct cpl_error *err)
{
	json_t *root = cpl_record_to_json(r, err);
	struct cpl_record *out = root ? cpl_record_from_json(root, err) : NULL;

	json_decref(root);
	return out;
}

/* Maps, as far as the files that the decision went by are there. */
static void write_maps(const struct explained *e, FILE *out)
{
	const struct cpl_record *r = e->record;
	struct cpl_running_job job = {0};
	struct cpl_network *net = NULL;
	struct cpl_record *own = NULL;
	struct cpl_error err = {""};
	char text[2 * CPL_ERROR_MAX];

	if (!r->profile || !r->ranks || !r->network_file || !*r->network_file)
		return;
	net = cpl_network_load(r->network_file, &err);
	if (net && !plot_has_map(net))
		goto out;
	html_section(out, "Links",
	             "Bytes of the whole run that the model puts on each "
	             "link.");
	own = net ? copy(r, &err) : NULL;
	if (!own || cpl_record_job(own, &job, &err) ||
	    draw_jobs(e, net, &job, out, &err)) {
		const char *line = text;

		snprintf(text, sizeof(text), "no map: %s", err.text);
		html_item(out, line);
	}
out:
	cpl_running_job_clear(&job);
	cpl_record_free(own);
	cpl_network_free(net);
}

static void write_cards(const struct cpl_record *r, FILE *out)
{
	const struct cpl_record_candidate *taken = explain_taken(r);
	bool known = taken && taken->evaluated;
	char profile[2 * CPL_ERROR_MAX];

	html_cards(out);
	html_card(out, "outcome", "%s", cpl_outcome_name(r->outcome));
	html_card(out, "profile", "%s",
	          r->profile ? explain_profile(r, profile, sizeof(profile))
	                     : "none");
	html_card(out, "policy", "%s", r->policy ? r->policy : "-");
	html_card(out, "nodes, ranks", "%d, %d", r->n_hosts, r->ranks);
	if (known)
		html_card(out, "busiest link", "%.4g s", judged_max(taken));
	if (known && stock_max(r) > 0)
		html_card(out, "against stock Slurm", "%s",
		          EXPLAIN_CHANGE(stock_max(r), judged_max(taken)));
	if (r->seconds > 0)
		html_card(out,
		          explain_is_minimal(r)
		                  ? "predicted communication, minimal routing"
		                  : "predicted communication",
		          "%.4g s", r->seconds);
	if (explain_slowdown(r) > 0)
		html_card(out, "slowdown by others", "%.2f",
		          explain_slowdown(r));
	html_card(out, "decided in", "%.3g ms", r->decision_ms);
	html_cards_end(out);
}

static void write_next(const struct cpl_record *r, FILE *out)
{
	char line[EXPLAIN_NEXT][CPL_ERROR_MAX];

	html_next(out, explain_next(r, line), line);
}

static int write_ranks(const struct cpl_record *r, FILE *out,
                       struct cpl_error *err)
{
	char text[CPL_ERROR_MAX];

	if (!r->ranks)
		return 0;
	html_section(out, "Ranks", explain_order(r, text, sizeof(text)));
	return html_folded(out, "host of each rank", explain_ranks(r), err);
}

int explain_html(const struct explained *e, FILE *out, struct cpl_error *err)
{
	const struct cpl_record *r = e->record;
	char title[2 * CPL_ERROR_MAX], when[64] = "-", text[CPL_ERROR_MAX];
	time_t t = (time_t)r->time;
	struct tm tm;

	if (gmtime_r(&t, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	snprintf(title, sizeof(title), "Job %" PRId64 "%s%s (%s)", r->job,
	         r->shown_as ? " = " : "", r->shown_as ? r->shown_as : "",
	         EXPLAIN_CLEAN(r->job_name));
	snprintf(text, sizeof(text),
	         "user id %" PRIu32 ", partition %.200s, %s, decided %s", r->uid,
	         r->partition ? r->partition : "-",
	         e->ended ? "ended" : "running", when);
	html_begin(out, title, text, 0);
	write_cards(r, out);
	write_next(r, out);
	html_section(out, "Decision", NULL);
	if (html_table(out, explain_facts(r), err))
		return -1;
	if (explain_has_compare(r)) {
		html_section(out, "Against stock Slurm's answer", NULL);
		if (html_table(out, explain_compare(r), err))
			return -1;
	}
	if (r->n_candidates) {
		html_section(out, "Candidates", NULL);
		draw_candidates(r, out);
		if (html_table(out, explain_candidates(r), err))
			return -1;
	}
	write_maps(e, out);
	if (write_ranks(r, out, err))
		return -1;
	/* If it were made printable, it would be another command. */
	if (e->replay && cpl_is_printable(e->replay)) {
		char state[128];

		html_section(out, "To repeat the decision",
		             explain_state(e, state));
		html_command(out, e->replay);
	}
	html_end(out, HTML_MODEL);
	return 0;
}
