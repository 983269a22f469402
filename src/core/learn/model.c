/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "learn/model.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "learn/samples.h"

#define FORMAT "commplace-time-model"
#define MAX_TREES 100000
/* Times and parts of them are limited so that their products remain numbers. */
#define MOST 1e100

/* It returns NULL when memory is out. */
static json_t *tree_json(const struct cpl_learn_tree *tree)
{
	json_t *list = json_array();

	for (int i = 0; list && i < tree->n; i++) {
		const struct cpl_learn_tree_node *node = &tree->node[i];
		json_t *one = node->feature < 0
		                      ? json_pack("[f]", node->value)
		                      : json_pack("[i, f, i]", node->feature,
		                                  node->value, node->above);

		if (json_array_append_new(list, one)) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}

static json_t *trees_json(const struct cpl_model *m)
{
	json_t *list = json_array();

	for (int t = 0; list && t < m->n_trees; t++)
		if (json_array_append_new(list, tree_json(&m->tree[t]))) {
			json_decref(list);
			list = NULL;
		}
	return list;
}

json_t *cpl_model_features(const struct cpl_model *m)
{
	json_t *list = json_array();

	for (int f = 0; list && f < m->n_features; f++)
		if (json_array_append_new(
		            list, json_pack("{s:s, s:f}", "name", m->feature[f],
		                            "importance", m->importance[f]))) {
			json_decref(list);
			list = NULL;
		}
	return list;
}

int cpl_model_write(const struct cpl_model *m, const char *path,
                    struct cpl_error *err)
{
	json_t *root;
	int rc;

	root = json_pack(
	        "{s:s, s:i, s:s, s:s, s:i, s:f, s:f, s:[f, f], s:[f, f], s:f, "
	        "s:f, s:o, s:o}",
	        "format", FORMAT, "version", 1, "method", m->method, "target",
	        m->target, "samples", m->samples, "concordant",
	        m->score.concordant, "r2", m->score.r2, "errors",
	        m->score.low, m->score.high, "range", m->least, m->most,
	        "base", m->base, "rate", m->rate, "features",
	        cpl_model_features(m), "trees", trees_json(m));
	rc = root ? cpl_json_write_atomic(root, path, 0644, err)
	          : cpl_fail_memory(err);
	json_decref(root);
	return rc;
}

/* This reads the two numbers of an array, the first no larger than the second. */
static int read_pair(const json_t *root, const char *key, double *a, double *b,
                     struct cpl_error *err)
{
	const json_t *pair = json_object_get(root, key);
	const json_t *first = json_array_get(pair, 0);
	const json_t *second = json_array_get(pair, 1);

	*a = json_number_value(first);
	*b = json_number_value(second);
	return json_array_size(pair) == 2 && json_is_number(first) &&
	                       json_is_number(second) && -MOST <= *a &&
	                       *a <= *b && *b <= MOST
	               ? 0
	               : cpl_fail(err, "%s: not two numbers in order, none beyond "
	                               "%g", key, MOST);
}

static int need_number(const json_t *root, const char *key, double *out,
                       struct cpl_error *err)
{
	int got = cpl_json_number(root, key, -DBL_MAX, DBL_MAX, out, err);

	return got > 0 ? 0 : got < 0 ? -1 : cpl_fail(err, "%s is missing", key);
}

static int need_text(const json_t *root, const char *key, char **out,
                     struct cpl_error *err)
{
	const char *text;
	int got = cpl_json_string(root, key, &text, err);

	if (got <= 0)
		return got < 0 ? -1 : cpl_fail(err, "%s is missing", key);
	*out = strdup(text);
	return *out ? 0 : cpl_fail_memory(err);
}

static int read_features(struct cpl_model *m, const json_t *list,
                         struct cpl_error *err)
{
	size_t n = json_array_size(list);

	if (!n || n > CPL_SAMPLES_MAX_COLUMNS)
		return cpl_fail(err, "features: 1 to %d are wanted",
		                CPL_SAMPLES_MAX_COLUMNS);
	m->feature = calloc(n, sizeof(*m->feature));
	m->importance = calloc(n, sizeof(*m->importance));
	if (!m->feature || !m->importance)
		return cpl_fail_memory(err);
	for (size_t i = 0; i < n; i++) {
		const json_t *one = json_array_get(list, i);

		if (!json_is_object(one))
			return cpl_fail(err, "features[%zu]: no object", i);
		m->n_features++;
		if (need_text(one, "name", &m->feature[i], err) ||
		    need_number(one, "importance", &m->importance[i], err))
			return cpl_fail_prefix(err, "features[%zu]: ", i);
	}
	return 0;
}

/* Links in a tree only lead on, so that every path ends. */
static int read_node(struct cpl_learn_tree_node *node, const json_t *from, int i,
                     int n, int n_features, struct cpl_error *err)
{
	size_t parts = json_array_size(from);
	const json_t *value = json_array_get(from, parts == 1 ? 0 : 1);
	const json_t *feature = json_array_get(from, 0);
	const json_t *above = json_array_get(from, 2);

	if ((parts != 1 && parts != 3) || !json_is_number(value))
		return cpl_fail(err, "[%d]: neither a leaf nor a split", i);
	*node = (struct cpl_learn_tree_node){-1, 0, json_number_value(value)};
	if (parts == 1)
		return 0;
	if (!json_is_integer(feature) || json_integer_value(feature) < 0 ||
	    json_integer_value(feature) >= n_features)
		return cpl_fail(err, "[%d]: no such feature", i);
	if (!json_is_integer(above) || json_integer_value(above) <= i + 1 ||
	    json_integer_value(above) >= n)
		return cpl_fail(err, "[%d]: no node behind it", i);
	node->feature = (int)json_integer_value(feature);
	node->above = (int)json_integer_value(above);
	return 0;
}

static int read_tree(struct cpl_learn_tree *tree, const json_t *list,
                     int n_features, struct cpl_error *err)
{
	size_t n = json_array_size(list);

	if (!n || n >= INT_MAX)
		return cpl_fail(err, ": no nodes");
	tree->node = calloc(n, sizeof(*tree->node));
	if (!tree->node)
		return cpl_fail_memory(err);
	for (tree->n = 0; tree->n < (int)n; tree->n++)
		if (read_node(&tree->node[tree->n],
		              json_array_get(list, (size_t)tree->n), tree->n,
		              (int)n, n_features, err))
			return -1;
	return 0;
}

static int read_trees(struct cpl_model *m, const json_t *list,
                      struct cpl_error *err)
{
	size_t n = json_array_size(list);

	if (!n || n > MAX_TREES)
		return cpl_fail(err, "trees: 1 to %d are wanted", MAX_TREES);
	m->tree = calloc(n, sizeof(*m->tree));
	if (!m->tree)
		return cpl_fail_memory(err);
	for (size_t t = 0; t < n; t++) {
		m->n_trees++;
		if (read_tree(&m->tree[t], json_array_get(list, t),
		              m->n_features, err))
			return cpl_fail_prefix(err, "trees[%zu]", t);
	}
	return 0;
}

static int read_model(struct cpl_model *m, const json_t *root,
                      struct cpl_error *err)
{
	int64_t samples = 0;

	if (cpl_json_expect_format(root, FORMAT, err) ||
	    need_text(root, "method", &m->method, err) ||
	    need_text(root, "target", &m->target, err) ||
	    cpl_json_int(root, "samples", 0, INT_MAX, &samples, err) < 0 ||
	    need_number(root, "concordant", &m->score.concordant, err) ||
	    need_number(root, "r2", &m->score.r2, err) ||
	    read_pair(root, "errors", &m->score.low, &m->score.high, err) ||
	    read_pair(root, "range", &m->least, &m->most, err) ||
	    need_number(root, "base", &m->base, err) ||
	    need_number(root, "rate", &m->rate, err) ||
	    read_features(m, json_object_get(root, "features"), err) ||
	    read_trees(m, json_object_get(root, "trees"), err))
		return -1;
	m->samples = (int)samples;
	return 0;
}

static struct cpl_model *take_model(json_t *root, const char *name,
                                    struct cpl_error *err)
{
	struct cpl_model *m = root ? calloc(1, sizeof(*m)) : NULL;

	if (root && !m)
		cpl_fail_memory(err);
	if (m && read_model(m, root, err)) {
		cpl_fail_prefix(err, "%s: ", name);
		cpl_model_free(m);
		m = NULL;
	}
	json_decref(root);
	return m;
}

struct cpl_model *cpl_model_load(const char *path, struct cpl_error *err)
{
	return take_model(cpl_json_load(path, err), path, err);
}

struct cpl_model *cpl_model_parse(const char *text, size_t length,
                                  const char *name, struct cpl_error *err)
{
	return take_model(cpl_json_parse(text, length, name, err), name, err);
}

void cpl_model_free(struct cpl_model *m)
{
	if (!m)
		return;
	for (int f = 0; m->feature && f < m->n_features; f++)
		free(m->feature[f]);
	for (int t = 0; m->tree && t < m->n_trees; t++)
		cpl_learn_tree_free(&m->tree[t]);
	cpl_free_all(m->method, m->target, m->feature, m->importance, m->tree,
	             m);
}

double cpl_model_value(const struct cpl_model *m, const double *x)
{
	double sum = 0;

	for (int t = 0; t < m->n_trees; t++)
		sum += cpl_learn_tree_value(&m->tree[t], x);
	return fmin(fmax(m->base + m->rate * sum, m->least), m->most);
}
