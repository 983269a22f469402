/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The gain of a trial as a page, and as a figure. */
#include "benefit.h"

#include <stdlib.h>

#include "base/sort.h"
#include "html.h"
#include "plot/plot.h"

/* Groups in the figure, those with the narrowest intervals. */
#define DRAWN 40

static CPL_SORT_BY(by_precision, struct cpl_benefit_pool *,
                   CPL_KEY((*y)->measure[CPL_MEASURE_SECONDS].precision,
                           (*x)->measure[CPL_MEASURE_SECONDS].precision),
                   CPL_KEY(*x, *y))

static CPL_SORT_BY(by_address, struct cpl_benefit_pool *, CPL_KEY(*x, *y))

static void set_gain(struct plot_gain *to, const struct cpl_benefit_pool *pool)
{
	const struct cpl_gain *g = &pool->measure[CPL_MEASURE_SECONDS];
	char name[48] = "over all";

	if (pool->profile)
		cmd_printable(pool->profile, name, sizeof(name));
	snprintf(to->label, sizeof(to->label), pool->ranks ? "%.40s, %d" : "%.40s",
	         name, pool->ranks);
	snprintf(to->note, sizeof(to->note), "%+.1f %%, %s, %lld jobs",
	         100 * g->gain, cpl_gain_verdict_name(g->verdict),
	         (long long)(pool->jobs[0] + pool->jobs[1]));
	to->gain = 100 * g->gain;
	to->low = 100 * g->low;
	to->high = 100 * g->high;
	to->mark = !pool->profile;
}

/* Groups with an interval, at most DRAWN, into pool; how many. */
static int choose(const struct cpl_benefit *b,
                  const struct cpl_benefit_pool **pool)
{
	int64_t n = 0;

	for (int64_t i = 0; i < b->n_groups; i++)
		if (b->group[i].measure[CPL_MEASURE_SECONDS].bounded)
			pool[n++] = &b->group[i];
	qsort(pool, (size_t)n, sizeof(*pool), by_precision);
	n = n < DRAWN ? n : DRAWN;
	qsort(pool, (size_t)n, sizeof(*pool), by_address);
	return (int)n;
}

void benefit_plot(const struct benefit_report *r, FILE *out)
{
	const struct cpl_benefit *b = r->benefit;
	const struct cpl_benefit_pool **pool =
	        malloc(((size_t)b->n_groups + 1) * sizeof(*pool));
	struct plot_gain gain[DRAWN + 1];
	struct plot_gains plot = {
	        .title = "Gain in elapsed time, with intervals valid at every "
	                 "look",
	        .gain = gain};

	if (pool)
		plot.n = choose(b, pool);
	for (int i = 0; i < plot.n; i++)
		set_gain(&gain[i], pool[i]);
	if (b->overall.measure[CPL_MEASURE_SECONDS].bounded)
		set_gain(&gain[plot.n++], &b->overall);
	plot_write_gains(&plot, out);
	free(pool);
}

int benefit_write_html(const struct benefit_report *r, FILE *out,
                       struct cpl_error *err)
{
	const struct cpl_benefit_pool *all = &r->benefit->overall;
	const struct cpl_gain *g = &all->measure[CPL_MEASURE_SECONDS];
	char line[BENEFIT_LINES][CPL_ERROR_MAX];
	int n = benefit_lines(r, line);

	html_begin(out, "Does placement help?",
	           "Jobs drawn to be placed, against jobs drawn to stay stock", 0);
	html_cards(out);
	html_card(out, "Gain over all", g->known ? "%+.1f %%" : "-",
	          100 * g->gain);
	html_card(out, "Interval", g->bounded ? "%+.1f to %+.1f %%" : "-",
	          100 * g->low, 100 * g->high);
	html_card(out, "Verdict", "%s", cpl_gain_verdict_name(g->verdict));
	html_card(out, "Jobs", "%lld", (long long)(all->jobs[0] + all->jobs[1]));
	html_cards_end(out);
	for (int i = 0; i < n; i++)
		html_item(out, line[i]);
	html_figure(out, false);
	benefit_plot(r, out);
	html_figure_end(out);
	html_section(out, "Elapsed time",
	             "The gain is 1 minus the ratio of geometric means.");
	if (html_table(out, benefit_gains(r), err))
		return -1;
	for (int m = CPL_MEASURE_ENERGY; m < CPL_MEASURES; m++) {
		struct cmd_table *table =
		        benefit_measure(r, (enum cpl_measure)m);

		if (!table)
			continue;
		html_section(out, m == CPL_MEASURE_ENERGY ? "Energy" : "Merit",
		             NULL);
		if (html_table(out, table, err))
			return -1;
	}
	html_end(out, HTML_MEASURED);
	return 0;
}
