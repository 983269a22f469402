/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Extremely randomised trees (Geurts, Ernst, Wehenkel, Machine Learning 63, 2006)
 * are grown from all samples. One split is drawn for each feature and the best of
 * these is taken until nodes have few samples. The result is the mean of all
 * trees. */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "learn/learn.h"

#define LEAST 5 /* the paper's value for regression */
#define DEPTH 64

static int grow(const struct cpl_learn_task *task, struct cpl_model *model,
                struct cpl_error *err)
{
	int *row = malloc((size_t)task->n * sizeof(*row));
	int rc = -1;

	model->tree = calloc((size_t)task->trees, sizeof(*model->tree));
	if (cpl_out_of_memory(!row || !model->tree, err))
		goto out;
	model->base = 0;
	model->rate = 1.0 / task->trees;
	while (model->n_trees < task->trees) {
		struct cpl_learn_tree_task one = {
		        .n = task->n,
		        .n_features = task->n_features,
		        .x = task->x,
		        .y = task->y,
		        .row = row,
		        .depth = DEPTH,
		        .least = LEAST,
		        .random = true,
		        .seed = cpl_random_key(task->seed,
		                               (uint64_t)model->n_trees),
		        .gain = model->importance};

		memcpy(row, task->row, (size_t)task->n * sizeof(*row));
		if (cpl_learn_tree_grow(&one, &model->tree[model->n_trees++], err))
			goto out;
	}
	rc = 0;
out:
	free(row);
	return rc;
}

const struct cpl_learner cpl_learn_extra_trees = {
        .name = "extra-trees",
        .summary = "mean of trees with splits that are drawn",
        .trees = 200,
        .grow = grow,
};
