/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "benefit.h"

#include <inttypes.h>
#include <math.h>

#include "openmetrics.h"

/* "+5.1 %", or "-". */
static const char *percent(bool known, double pool, char buffer[32])
{
	snprintf(buffer, 32, known ? "%+.1f %%" : "-", 100 * pool);
	return buffer;
}
#define PERCENT(known, pool) percent(known, pool, (char[32]){""})

static const char *interval(const struct cpl_gain *g, char buffer[64])
{
	snprintf(buffer, 64, g->bounded ? "%+.1f to %+.1f %%" : "-",
	         100 * g->low, 100 * g->high);
	return buffer;
}

static const char *more(const struct cpl_gain *g, char buffer[32])
{
	snprintf(buffer, 32, g->more < 0 ? "-" : "%.0f", g->more);
	return buffer;
}

/* What a row begins with. */
static void name_pool(const struct cpl_benefit_pool *pool, char *name,
                      size_t size)
{
	char text[256];

	if (pool->profile)
		cmd_printable(pool->profile, text, sizeof(text));
	else if (pool->partition)
		snprintf(text, sizeof(text), "partition %.200s",
		         *pool->partition ? pool->partition : "(none)");
	else
		snprintf(text, sizeof(text), "over all");
	cmd_printable(text, name, size);
}

static void gain_row(struct cmd_table *table,
                     const struct cpl_benefit_pool *pool, int measure)
{
	const struct cpl_gain *g = &pool->measure[measure];
	char name[256], ranks[16] = "", range[64], jobs[32];

	name_pool(pool, name, sizeof(name));
	if (pool->ranks)
		snprintf(ranks, sizeof(ranks), "%d", pool->ranks);
	cmd_table_row(table, "%s|%s|%ld|%ld|%s|%s|%s|%s|%s", name, ranks,
	              (long)pool->jobs[CPL_ARM_STOCK],
	              (long)pool->jobs[CPL_ARM_PLACED],
	              PERCENT(g->known, g->gain), interval(g, range),
	              cpl_gain_verdict_name(g->verdict), more(g, jobs),
	              PERCENT(pool->has_predicted, pool->predicted));
}

static struct cmd_table *table_of(const struct benefit_report *r, int measure)
{
	const struct cpl_benefit *b = r->benefit;
	struct cmd_table *table = cmd_table_new("lrrrrrlrr");

	cmd_table_row(table, "profile|ranks|stock|commplace|gain|interval|"
	                     "verdict|more jobs|predicted");
	for (int64_t i = 0; i < b->n_groups; i++)
		gain_row(table, &b->group[i], measure);
	if (b->n_groups > b->n_profiles)
		for (int64_t i = 0; i < b->n_profiles; i++)
			gain_row(table, &b->profile[i], measure);
	if (b->has_partitions)
		for (int64_t i = 0; i < b->n_partitions; i++)
			gain_row(table, &b->partition[i], measure);
	gain_row(table, &b->overall, measure);
	return table;
}

struct cmd_table *benefit_gains(const struct benefit_report *r)
{
	return table_of(r, CPL_MEASURE_SECONDS);
}

struct cmd_table *benefit_measure(const struct benefit_report *r,
                                  enum cpl_measure measure)
{
	return r->benefit->overall.measure[measure].known ? table_of(r, measure)
	                                                  : NULL;
}

/* The lines so far, and room for the others. */
struct lines {
	char (*line)[CPL_ERROR_MAX];
	int n;
};

#define ADD(lines, ...)                                                        \
	do {                                                                   \
		if ((lines)->n < BENEFIT_LINES)                                \
			snprintf((lines)->line[(lines)->n++], CPL_ERROR_MAX,   \
			         __VA_ARGS__);                                 \
	} while (0)

static void add_sources(const struct benefit_report *r, struct lines *l)
{
	const struct benefit_sources *s = r->sources;

	if (s->table)
		return;
	if (s->unfinished[CPL_ARM_STOCK] + s->unfinished[CPL_ARM_PLACED])
		ADD(l,
		    "%" PRId64 " stock and %" PRId64
		    " placed jobs are left out: they did not complete",
		    s->unfinished[CPL_ARM_STOCK],
		    s->unfinished[CPL_ARM_PLACED]);
	if (s->unknown)
		ADD(l,
		    "%" PRId64 " jobs are left out: sacct does not say how "
		    "long they ran",
		    s->unknown);
	if (s->silent)
		ADD(l,
		    "%" PRId64 " jobs are left out: they reported no %s",
		    s->silent, s->keys.seconds);
	if (s->skipped)
		ADD(l, "%" PRId64 " records cannot be read", s->skipped);
}

static void add_stops(const struct cpl_benefit *b, struct lines *l)
{
	for (int64_t i = 0; i < b->n_profiles; i++)
		if (b->profile[i].stop)
			ADD(l,
			    "profile %.60s is worse beyond doubt: TrialStop "
			    "leaves its jobs to Slurm",
			    b->profile[i].profile);
}

int benefit_lines(const struct benefit_report *r,
                  char line[BENEFIT_LINES][CPL_ERROR_MAX])
{
	const struct cpl_benefit *b = r->benefit;
	const struct cpl_benefit_pool *all = &b->overall;
	const struct cpl_gain *g = &all->measure[CPL_MEASURE_SECONDS];
	struct lines l = {line, 0};

	if (g->verdict == CPL_GAIN_UNKNOWN && g->more == 0)
		ADD(&l, "a gain of %g %% would be expected to have shown",
		    100 * r->effect);
	else if (g->verdict == CPL_GAIN_UNKNOWN && g->more > 0)
		ADD(&l,
		    "a gain of %g %% is expected to show after %.0f more jobs",
		    100 * r->effect, g->more);
	if (all->spread[CPL_ARM_STOCK] > 0 && all->spread[CPL_ARM_PLACED] > 0)
		ADD(&l,
		    "elapsed times of jobs alike differ by %.1f %% (stock) and "
		    "%.1f %% (commplace), standard deviation",
		    100 * all->spread[CPL_ARM_STOCK],
		    100 * all->spread[CPL_ARM_PLACED]);
	if (all->clipped)
		ADD(&l,
		    "%" PRId64 " jobs are further than %g deviations from the "
		    "median of their kind and count as that far",
		    all->clipped, CPL_CLIP_DEVIATIONS);
	if (b->n_calibrated)
		ADD(&l,
		    "measured over predicted gain: %.2f, standard error %.2f, "
		    "of %" PRId64 " groups",
		    b->slope, b->slope_error, b->n_calibrated);
	if (b->beside.bounded)
		ADD(&l,
		    "jobs beside: where all of them are placed and not stock, a "
		    "job gains %+.1f %% (%+.1f to %+.1f %%, %s)",
		    100 * b->beside.gain, 100 * b->beside.low,
		    100 * b->beside.high,
		    cpl_gain_verdict_name(b->beside.verdict));
	if (b->drifts)
		ADD(&l,
		    "drift: the gain was %+.1f %% in the first half of the "
		    "jobs and %+.1f %% in the second",
		    100 * b->half[0].gain, 100 * b->half[1].gain);
	add_sources(r, &l);
	add_stops(b, &l);
	return l.n;
}

int benefit_print_text(const struct benefit_report *r)
{
	char line[BENEFIT_LINES][CPL_ERROR_MAX], text[CPL_ERROR_MAX];
	int n = benefit_lines(r, line);

	if (cmd_table_print(benefit_gains(r)))
		return CMD_FAILED;
	for (int m = CPL_MEASURE_ENERGY; m < CPL_MEASURES; m++) {
		struct cmd_table *table =
		        benefit_measure(r, (enum cpl_measure)m);

		if (!table)
			continue;
		printf("\n%s\n", cpl_measure_name((enum cpl_measure)m));
		if (cmd_table_print(table))
			return CMD_FAILED;
	}
	for (int i = 0; i < n; i++)
		printf("%s%s\n", i ? "" : "\n",
		       cmd_printable(line[i], text, sizeof(text)));
	return CMD_OK;
}

static json_t *real(bool known, double value)
{
	return known && isfinite(value) ? json_real(value) : json_null();
}

static void set_gain(json_t *to, const struct cpl_gain *g)
{
	cpl_json_update(to, "{s:o, s:o, s:o, s:s, s:o, s:o}", "gain",
	                real(g->known, g->gain), "low",
	                real(g->bounded, g->low), "high",
	                real(g->bounded, g->high), "verdict",
	                cpl_gain_verdict_name(g->verdict), "more_jobs",
	                real(g->more >= 0, g->more), "between",
	                real(g->precision > 0, g->between));
}

static json_t *pool_json(const struct cpl_benefit_pool *p)
{
	json_t *root = json_object();

	if (p->profile)
		json_object_set_new(root, "profile", json_string(p->profile));
	if (p->ranks)
		json_object_set_new(root, "ranks", json_integer(p->ranks));
	if (p->partition)
		json_object_set_new(root, "partition",
		                    json_string(p->partition));
	cpl_json_update(root, "{s:{s:I, s:I}}", "jobs",
	                cpl_arm_name(CPL_ARM_STOCK),
	                (json_int_t)p->jobs[CPL_ARM_STOCK],
	                cpl_arm_name(CPL_ARM_PLACED),
	                (json_int_t)p->jobs[CPL_ARM_PLACED]);
	set_gain(root, &p->measure[CPL_MEASURE_SECONDS]);
	cpl_json_update(
	        root, "{s:{s:o, s:o}, s:I, s:o}", "spread",
	        cpl_arm_name(CPL_ARM_STOCK),
	        real(p->spread[CPL_ARM_STOCK] > 0, p->spread[CPL_ARM_STOCK]),
	        cpl_arm_name(CPL_ARM_PLACED),
	        real(p->spread[CPL_ARM_PLACED] > 0, p->spread[CPL_ARM_PLACED]),
	        "clipped", (json_int_t)p->clipped, "predicted",
	        real(p->has_predicted, p->predicted));
	for (int m = CPL_MEASURE_ENERGY; m < CPL_MEASURES; m++) {
		json_t *other;

		if (!p->measure[m].known)
			continue;
		other = json_object();
		set_gain(other, &p->measure[m]);
		json_object_set_new(
		        root, cpl_measure_name((enum cpl_measure)m), other);
	}
	return root;
}

static json_t *pools_json(const struct cpl_benefit_pool *pool, int64_t n)
{
	json_t *list = json_array();

	for (int64_t i = 0; i < n; i++)
		json_array_append_new(list, pool_json(&pool[i]));
	return list;
}

static void set_sources(json_t *root, const struct benefit_sources *s)
{
	if (s->table)
		return;
	json_object_set_new(
	        root, "left_out",
	        json_pack("{s:{s:I, s:I}, s:I, s:I, s:I}", "unfinished",
	                  cpl_arm_name(CPL_ARM_STOCK),
	                  (json_int_t)s->unfinished[CPL_ARM_STOCK],
	                  cpl_arm_name(CPL_ARM_PLACED),
	                  (json_int_t)s->unfinished[CPL_ARM_PLACED], "unknown",
	                  (json_int_t)s->unknown, "silent",
	                  (json_int_t)s->silent, "unreadable",
	                  (json_int_t)s->skipped));
}

int benefit_print_json(const struct cmd *self, const struct benefit_report *r)
{
	const struct cpl_benefit *b = r->benefit;
	json_t *root = json_pack("{s:f, s:f, s:o}", "effect", r->effect, "alpha",
	                         CPL_BENEFIT_ALPHA, "groups",
	                         pools_json(b->group, b->n_groups));
	json_t *profiles = json_array(), *beside = json_object();

	for (int64_t i = 0; i < b->n_profiles; i++) {
		json_t *pool = pool_json(&b->profile[i]);

		json_object_set_new(pool, "stop",
		                    json_boolean(b->profile[i].stop));
		json_array_append_new(profiles, pool);
	}
	json_object_set_new(root, "profiles", profiles);
	if (b->has_partitions)
		json_object_set_new(
		        root, "partitions",
		        pools_json(b->partition, b->n_partitions));
	set_gain(beside, &b->beside);
	cpl_json_update(
	        root, "{s:o, s:{s:o, s:o, s:b}, s:{s:I, s:o, s:o}, s:o}",
	        "overall", pool_json(&b->overall), "drift", "first",
	        real(b->half[0].known, b->half[0].gain), "second",
	        real(b->half[1].known, b->half[1].gain), "changed", b->drifts,
	        "calibration", "groups", (json_int_t)b->n_calibrated, "slope",
	        real(b->n_calibrated, b->slope), "error",
	        real(b->n_calibrated, b->slope_error), "beside", beside);
	set_sources(root, r->sources);
	return cmd_print_json(self, root);
}

static void put_sample(FILE *out, const char *name,
                       const struct cpl_benefit_pool *pool, const char *arm)
{
	bool any = pool->profile || arm;

	fprintf(out, "commplace_%s%s", name, any ? "{" : "");
	if (pool->profile)
		metric_label(out, "profile", pool->profile);
	if (arm)
		fprintf(out, "%sarm=\"%s\"", pool->profile ? "," : "", arm);
	fputs(any ? "} " : " ", out);
}

enum { GAIN, LOW, HIGH };

static void put_gains(const struct benefit_report *r, const char *name,
                      const char *help, int which, FILE *out)
{
	const struct cpl_benefit *b = r->benefit;

	metric_family(out, name, "gauge", "ratio", help);
	for (int64_t i = 0; i <= b->n_profiles; i++) {
		const struct cpl_benefit_pool *p =
		        i < b->n_profiles ? &b->profile[i] : &b->overall;
		const struct cpl_gain *g = &p->measure[CPL_MEASURE_SECONDS];

		if (which == GAIN ? !g->known : !g->bounded)
			continue;
		put_sample(out, name, p, NULL);
		fprintf(out, "%.17g\n",
		        which == GAIN  ? g->gain
		        : which == LOW ? g->low
		                       : g->high);
	}
}

void benefit_write_metrics(const struct benefit_report *r, FILE *out)
{
	const struct cpl_benefit *b = r->benefit;

	metric_family(out, "trial_jobs", "gauge", NULL,
	              "Jobs of the trial, by arm.");
	for (int64_t i = 0; i < b->n_profiles; i++)
		for (int a = 0; a < CPL_ARMS; a++) {
			put_sample(out, "trial_jobs", &b->profile[i],
			           cpl_arm_name((enum cpl_arm)a));
			fprintf(out, "%" PRId64 "\n", b->profile[i].jobs[a]);
		}
	put_gains(r, "trial_gain_ratio",
	          "Gain in elapsed time, by profile and (no label) over all.",
	          GAIN, out);
	put_gains(r, "trial_gain_low_ratio", "Lower end of its interval.", LOW, out);
	put_gains(r, "trial_gain_high_ratio", "Upper end of its interval.", HIGH,
	          out);
	fputs("# EOF\n", out);
}
