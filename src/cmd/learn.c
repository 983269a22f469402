/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `commplace learn`: a model of time from a table of features. */
#include "commplace-config.h"
#include "learn.h"

static struct cpl_model *learn(const struct learn_options *o, const char *path,
                               struct cpl_error *err)
{
	int column[CPL_SAMPLES_MAX_COLUMNS];
	struct cpl_learn_options to = {.feature = column};
	struct cpl_samples *s =
	        learn_find_method(o, &to, err) ? NULL : cpl_samples_load(path, err);
	struct cpl_model *m = NULL;

	to.n_features = s ? learn_choose(s, o, column, err) : -1;
	if (to.n_features > 0)
		m = cpl_learn(s, &to, err);
	if (s && !m)
		cpl_fail_prefix(err, "%s: ", path);
	cpl_samples_free(s);
	return m;
}

static int print_json(const struct cmd *self, const struct cpl_model *m)
{
	return cmd_print_pack(
	        self, "{s:s, s:s, s:i, s:i, s:f, s:f, s:[f, f], s:o}", "method",
	        m->method, "target", m->target, "samples", m->samples, "trees",
	        m->n_trees, "concordant", m->score.concordant, "r2",
	        m->score.r2, "errors", m->score.low, m->score.high, "features",
	        cpl_model_features(m));
}

static int print_text(const struct cpl_model *m)
{
	printf("%s of %d samples, %d trees. On thirds held out: %.1f %% of "
	       "pairs in the right order, R2 %.3f; 10 %% took less than %+.1f "
	       "%%, 10 %% more than %+.1f %% of what was told\n\n",
	       m->method, m->samples, m->n_trees, 100 * m->score.concordant,
	       m->score.r2, 100 * m->score.low, 100 * m->score.high);
	return learn_print_features(m);
}

static int learn_from_table(const struct cmd *self, const struct learn_options *o,
                            const char *path)
{
	struct cpl_error err = {""};
	struct cpl_model *m = learn(o, path, &err);
	int rc;

	if (!m || (o->output && cpl_model_write(m, o->output, &err)))
		rc = cmd_fail(self, &err);
	else
		rc = o->json ? print_json(self, m) : print_text(m);
	cpl_model_free(m);
	return rc;
}

static int run_learn(const struct cmd *self, int argc, char **argv)
{
	struct learn_options o = {.method = "extra-trees",
	                          .target = "seconds",
	                          .seed = 1,
	                          .keep = LEARN_KEEP};
	int rc = learn_parse(self, argc, argv, &o);

	if (rc)
		return rc;
	if (o.versions || o.version)
		return learn_store(self, &o);
	return o.from == LEARN_FROM_RECORDS
	               ? learn_from_records(self, &o)
	               : learn_from_table(self, &o, argv[optind]);
}

const struct cmd cmd_learn = {"learn", run_learn};
