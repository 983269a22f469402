/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/gunzip.h"
#include "signature/flags/flags_internal.h"
#include "signature/pattern/pattern.h"

#define MAX_BYTES (16 << 20)
/* A file with more keys is no configuration. */
#define MAX_FLAGS 100000

/* Calls of a group and operation, of the first stage and of all. */
struct told {
	double calls, bytes, sent;
};

/* The ranks of a stage. */
static double plane_of(const struct train_grid *g)
{
	return (double)g->tp * g->cp * g->dp;
}

/* The groups that have this call. */
static double groups_of(const struct train_grid *g, const struct llm_call *c)
{
	double plane = plane_of(g);
	int stages = (c->stages & LLM_ONLY) && g->pp == 1;

	if (c->kind == GRID_PP || c->kind == GRID_EMBEDDING)
		return plane;
	if (g->pp > 1) {
		stages += (c->stages & LLM_FIRST) != 0;
		stages += (c->stages & LLM_LAST) != 0;
		stages += c->stages & LLM_MIDDLE ? g->pp - 2 : 0;
	}
	return plane / c->call.group.size * stages;
}

static struct told add_up(const struct pattern_llm *m, enum grid_kind kind,
                          const char *operation)
{
	unsigned first = m->grid.pp == 1 ? LLM_ONLY : LLM_FIRST;
	struct told t = {0, 0, 0};

	for (int i = 0; i < m->n_calls; i++) {
		const struct llm_call *c = &m->call[i];

		if (c->kind != kind ||
		    strcmp(grid_operation_name(c->call.operation), operation))
			continue;
		t.sent += grid_sent(&c->call) * groups_of(&m->grid, c);
		/* It has nobody before it. */
		if (!(c->stages & first) ||
		    c->call.operation == GRID_SEND_PREVIOUS)
			continue;
		t.calls += c->call.calls;
		t.bytes += c->call.repeat * c->call.bytes;
	}
	return t;
}

static bool is_first(const struct pattern_llm *m, int i)
{
	for (int k = 0; k < i; k++)
		if (m->call[k].kind == m->call[i].kind &&
		    !strcmp(grid_operation_name(m->call[k].call.operation),
		            grid_operation_name(m->call[i].call.operation)))
			return false;
	return true;
}

/* As an import of AICB tells it. NULL with err. */
static json_t *communication(const struct pattern_llm *m, struct cpl_error *err)
{
	double plane = plane_of(&m->grid);
	json_t *list = json_array();
	int rc = list ? 0 : cpl_fail_memory(err);

	for (int i = 0; i < m->n_calls && !rc; i++) {
		const struct llm_call *c = &m->call[i];
		const char *operation = grid_operation_name(c->call.operation);
		struct grid_told told = {.phase = "step",
		                         .collective = operation,
		                         .kind = c->kind,
		                         .size = c->call.group.size};
		struct told t;

		if (!is_first(m, i))
			continue;
		t = add_up(m, c->kind, operation);
		/* These are the same ranks. */
		if (c->kind == GRID_DP_CP && m->grid.cp == 1)
			told.kind = GRID_DP;
		told.groups = (int)(c->kind == GRID_EMBEDDING
		                            ? plane
		                            : plane * m->grid.pp / told.size);
		told.calls = grid_amount(t.calls);
		told.bytes = grid_amount(t.bytes);
		told.sent = t.sent;
		rc = grid_tell(list, &told, err);
	}
	if (!rc)
		return list;
	json_decref(list);
	return NULL;
}

/* This sets sig->recorded. */
static int record(struct cpl_signature *sig, const struct flag_settings *s,
                  struct cpl_error *err)
{
	static const char *const name[] = {"unknown", "Megatron-LM",
	                                   "DeepSpeed", "torchtitan", "NeMo"};
	const struct pattern_llm *m = &sig->phase[0].pattern->params.llm;
	json_t *list = communication(m, err), *object;
	const char *framework = name[s->known[SET_FRAMEWORK]
	                                     ? s->value[SET_FRAMEWORK]
	                                     : ANY];

	if (!list)
		return -1;
	object = json_pack("{s:s, s:s, s:O, s:I, s:O, s:o}", "tool",
	                   "commplace signature from-flags", "framework",
	                   framework, "not_understood", s->not_understood,
	                   "harmless", (json_int_t)s->harmless, "assumed",
	                   s->assumed, "communication", list);
	sig->recorded = object ? json_dumps(object, 0) : NULL;
	json_decref(object);
	return sig->recorded ? 0 : cpl_fail_memory(err);
}

static struct cpl_signature *parse(json_t *pattern, int ranks, const char *name,
                                   struct cpl_error *err)
{
	json_t *root = json_pack("{s:s, s:i, s:s, s:i, s:[{s:s, s:O}]}",
	                         "format", "commplace-signature", "version", 1,
	                         "name", name, "ranks", ranks, "phases",
	                         "name", "step", "pattern", pattern);
	char *text = root ? json_dumps(root, 0) : NULL;
	struct cpl_signature *sig = NULL;

	if (text)
		sig = cpl_signature_parse(text, strlen(text), name, err);
	else
		cpl_fail_memory(err);
	free(text);
	json_decref(root);
	return sig;
}

static struct cpl_signature *make(const struct flag_list *list, int ranks,
                                  const char *name, struct cpl_error *err)
{
	struct flag_settings s = {.not_understood = json_array(),
	                     .assumed = json_array()};
	struct cpl_signature *sig = NULL;
	json_t *pattern = NULL;
	int rc = 0;

	if (!s.not_understood || !s.assumed)
		rc = cpl_fail_memory(err);
	if (list->n > MAX_FLAGS)
		rc = cpl_fail(err, "there are more than %d keys", MAX_FLAGS);
	for (int64_t i = 0; i < list->n && !rc; i++)
		rc = flags_take(&s, &list->flag[i], err);
	if (ranks)
		flags_set(&s, SET_RANKS, ranks);
	if (!rc)
		pattern = flags_make_pattern(&s, &ranks, err);
	if (pattern)
		sig = parse(pattern, ranks, name, err);
	if (sig && record(sig, &s, err)) {
		cpl_signature_free(sig);
		sig = NULL;
	}
	json_decref(pattern);
	json_decref(s.not_understood);
	json_decref(s.assumed);
	return sig;
}

static int read_file(const char *path, struct flag_list *out,
                     struct cpl_error *err)
{
	size_t length;
	char *text = cpl_file_read_gunzip(path, MAX_BYTES, &length, err);
	int rc = text ? flags_read_text(text, length, path, out, err) : -1;

	free(text);
	return rc;
}

/* Files that the words name, before the words, which win. */
static int read_named(const struct flag_list *words, struct flag_list *out,
                      struct cpl_error *err)
{
	static const char *const names[] = {"deepspeed", "deepspeed_config",
	                                    "job.config_file"};
	int rc = 0;

	for (int64_t i = 0; i < words->n && !rc; i++)
		for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
			if (!strcmp(words->flag[i].key, names[k]) &&
			    strchr(words->flag[i].value, '.'))
				rc = read_file(words->flag[i].value, out, err);
	for (int64_t i = 0; i < words->n && !rc; i++) {
		const struct flag *f = &words->flag[i];

		rc = flags_push(out, f->key, strlen(f->key), f->value,
		                strlen(f->value), err);
	}
	return rc;
}

struct cpl_signature *cpl_signature_from_flags(const struct cpl_flags_request *r,
                                               struct cpl_error *err)
{
	struct cpl_signature *sig = NULL;
	struct flag_list list = {NULL, 0}, words = {NULL, 0};
	int rc = 0;

	for (int i = 0; i < r->n_files && !rc; i++)
		rc = read_file(r->file[i], &list, err);
	if (!rc && r->n_words)
		rc = flags_read_words(r->word, r->n_words, &words, err);
	if (!rc)
		rc = read_named(&words, &list, err);
	if (!rc)
		sig = make(&list, r->ranks, r->name, err);
	flags_free(&words);
	flags_free(&list);
	return sig;
}

struct cpl_signature *cpl_signature_from_config(const char *text, size_t length,
                                                const char *name, int ranks,
                                                struct cpl_error *err)
{
	struct cpl_signature *sig = NULL;
	struct flag_list list = {NULL, 0};

	if (!flags_read_text(text, length, name, &list, err))
		sig = make(&list, ranks, name, err);
	flags_free(&list);
	return sig;
}
