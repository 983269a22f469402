/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "learn/learned.h"

#include <stdlib.h>
#include <string.h>

#include "learn/samples.h"

struct cpl_learned {
	struct cpl_model *model;
	enum cpl_feature column[]; /* of the model's features */
};

static int find_column(const char *name, enum cpl_feature *out)
{
	for (int i = 0; i < CPL_FEATURES; i++)
		if (!strcmp(name, cpl_feature_name[i])) {
			*out = (enum cpl_feature)i;
			return 0;
		}
	return -1;
}

/* The learned one takes over the model, or it is freed. */
static struct cpl_learned *take_model(struct cpl_model *model, const char *name,
                                      struct cpl_error *err)
{
	struct cpl_learned *l;

	if (!model)
		return NULL;
	l = calloc(1, sizeof(*l) +
	                      (size_t)model->n_features * sizeof(l->column[0]));
	if (!l) {
		cpl_fail_memory(err);
		cpl_model_free(model);
		return NULL;
	}
	l->model = model;
	for (int f = 0; f < model->n_features; f++)
		if (find_column(model->feature[f], &l->column[f])) {
			cpl_fail(err,
			         "%s: it goes by %.60s, which is not known "
			         "before a job has run; learn --features "
			         "without it",
			         name, model->feature[f]);
			cpl_learned_free(l);
			return NULL;
		}
	return l;
}

struct cpl_learned *cpl_learned_load(const char *path, struct cpl_error *err)
{
	return take_model(cpl_model_load(path, err), path, err);
}

void cpl_learned_free(struct cpl_learned *l)
{
	if (!l)
		return;
	cpl_model_free(l->model);
	free(l);
}

const struct cpl_model *cpl_learned_model(const struct cpl_learned *l)
{
	return l->model;
}

int cpl_learned_seconds(const struct cpl_learned *l,
                        const struct cpl_feature_job *job, double *seconds,
                        struct cpl_error *err)
{
	double value[CPL_FEATURES], x[CPL_SAMPLES_MAX_COLUMNS];

	if (cpl_features(job, value, err))
		return -1;
	for (int f = 0; f < l->model->n_features; f++)
		x[f] = value[l->column[f]];
	*seconds = cpl_model_value(l->model, x);
	return 0;
}
