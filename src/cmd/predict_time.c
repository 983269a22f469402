/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `commplace predict-time`: the times that a model predicts for rows of
 * features. */
#include "cmd.h"

#include <stdlib.h>

#include "learn/concordant.h"
#include "learn/model.h"
#include "learn/samples.h"
#include "options.h"

struct prediction {
	struct cpl_model *model;
	struct cpl_samples *samples;
	double *told;   /* [rows] */
	double *actual; /* [rows], NULL: the table has no such column */
	double concordant; /* of actual */
};

/* The columns of the model's features. 0, or -1 with err. */
static int find_columns(const struct prediction *p, const char *path,
                        int *column, struct cpl_error *err)
{
	for (int f = 0; f < p->model->n_features; f++) {
		column[f] = cpl_samples_column(p->samples, p->model->feature[f]);
		if (column[f] < 0)
			return cpl_fail(err, "%s: no column of numbers %.60s",
			                path, p->model->feature[f]);
	}
	return 0;
}

static int predict(struct prediction *p, const char *path,
                   struct cpl_error *err)
{
	const struct cpl_samples *s = p->samples;
	int column[CPL_SAMPLES_MAX_COLUMNS];
	int target = cpl_samples_column(s, p->model->target);
	double x[CPL_SAMPLES_MAX_COLUMNS];

	p->told = calloc((size_t)s->n, sizeof(double));
	if (target >= 0)
		p->actual = calloc((size_t)s->n, sizeof(double));
	if (!p->told || (target >= 0 && !p->actual))
		return cpl_fail_memory(err);
	if (find_columns(p, path, column, err))
		return -1;
	for (int i = 0; i < s->n; i++) {
		const double *row = s->value + (int64_t)i * s->n_columns;

		for (int f = 0; f < p->model->n_features; f++)
			x[f] = row[column[f]];
		p->told[i] = cpl_model_value(p->model, x);
		if (p->actual)
			p->actual[i] = row[target];
	}
	return p->actual ? cpl_concordant(p->told, p->actual, s->n,
	                                  &p->concordant, err)
	                 : 0;
}

static double low_of(const struct prediction *p, int i)
{
	return p->told[i] * (1 + p->model->score.low);
}

static double high_of(const struct prediction *p, int i)
{
	return p->told[i] * (1 + p->model->score.high);
}

static json_t *row_json(const struct prediction *p, int i)
{
	json_t *row = json_pack("{s:s, s:f, s:f, s:f}", "row",
	                        p->samples->label[i], "predicted", p->told[i],
	                        "low", low_of(p, i), "high", high_of(p, i));

	if (!p->actual || !json_object_set_new(row, "actual",
	                                       json_real(p->actual[i])))
		return row;
	json_decref(row);
	return NULL;
}

static int print_json(const struct cmd *self, const struct prediction *p)
{
	json_t *rows = json_array(), *all;

	for (int i = 0; rows && i < p->samples->n; i++)
		if (json_array_append_new(rows, row_json(p, i))) {
			json_decref(rows);
			rows = NULL;
		}
	all = json_pack("{s:s, s:s, s:o}", "method", p->model->method, "target",
	                p->model->target, "rows", rows);
	if (p->actual)
		json_object_set_new(all, "concordant",
		                    json_real(p->concordant));
	return cmd_print_json(self, all);
}

static int print_text(const struct prediction *p)
{
	struct cmd_table *table = cmd_table_new(p->actual ? "lrrrr" : "lrrr");
	char label[256];

	cmd_table_row(table, p->actual
	                             ? "row|predicted|10 %% below|10 %% "
	                               "above|actual"
	                             : "row|predicted|10 %% below|10 %% above");
	for (int i = 0; i < p->samples->n; i++) {
		cmd_printable(p->samples->label[i], label, sizeof(label));
		if (p->actual)
			cmd_table_row(table, "%s|%.5g|%.5g|%.5g|%.5g", label,
			              p->told[i], low_of(p, i), high_of(p, i),
			              p->actual[i]);
		else
			cmd_table_row(table, "%s|%.5g|%.5g|%.5g", label,
			              p->told[i], low_of(p, i), high_of(p, i));
	}
	if (cmd_table_print(table))
		return CMD_FAILED;
	if (p->actual)
		printf("\n%.1f %% of pairs in the right order\n",
		       100 * p->concordant);
	return CMD_OK;
}

static int run_predict_time(const struct cmd *self, int argc, char **argv)
{
	struct prediction p = {NULL};
	struct cpl_error err = {""};
	const char *model = NULL;
	bool json = false;
	const struct cmd_option table[] = {
	        {"model", .text = &model, .needed = true},
	        {"json", .flag = &json},
	        {0},
	};
	int rc = cmd_options(self, argc, argv, table, CMD_WORDS);

	if (rc)
		return rc;
	if (optind + 1 != argc)
		return cmd_usage(self, "one table of features is wanted");
	p.model = cpl_model_load(model, &err);
	if (p.model)
		p.samples = cpl_samples_load(argv[optind], &err);
	if (!p.samples || predict(&p, argv[optind], &err))
		rc = cmd_fail(self, &err);
	else
		rc = json ? print_json(self, &p) : print_text(&p);
	cpl_free_all(p.told, p.actual);
	cpl_samples_free(p.samples);
	cpl_model_free(p.model);
	return rc;
}

const struct cmd cmd_predict_time = {"predict-time", run_predict_time};
