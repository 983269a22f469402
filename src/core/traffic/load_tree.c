/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic/load_tree.h"

#include <stdlib.h>

#include "graph/arena.h"

#define FAN 8
/* 8^21 = 2^63 values. */
#define MAX_LEVELS 21

struct load_level {
	int64_t n; /* nodes; there is room for whole fans of them */
	struct cpl_load_summary *node;
	unsigned char *is_dirty; /* [n] */
	int64_t *dirty;          /* [n] */
	int64_t n_dirty;
	unsigned char *is_old;             /* [n] has an entry in old */
	int64_t *old;                      /* [n] nodes computed since keep */
	struct cpl_load_summary *old_node; /* [n] what they were */
	int64_t n_old;
};

struct cpl_load_tree {
	struct cpl_arena arena; /* of all arrays, and of this */
	int64_t n;
	double *value;         /* [n], filled up with 0 to whole fans */
	unsigned char *is_old; /* [n] */
	int64_t *old;          /* [n] values set since keep */
	double *old_value;     /* [n] what they were */
	int64_t n_old;
	int n_levels; /* level 0 sums up values; the last has one node */
	struct load_level level[MAX_LEVELS];
};

static int64_t fans(int64_t n)
{
	return (n + FAN - 1) / FAN;
}

static void make_level(struct cpl_arena *arena, struct load_level *level,
                       int64_t n)
{
	level->n = n;
	level->node = cpl_arena_take_long(arena, fans(n) * FAN,
	                                  sizeof(*level->node), false);
	for (int64_t i = n; level->node && i < fans(n) * FAN; i++)
		level->node[i] = (struct cpl_load_summary){0};
	level->is_dirty = cpl_arena_take_long(arena, n, 1, true);
	level->dirty = cpl_arena_take_long(arena, n, sizeof(*level->dirty), false);
	level->is_old = cpl_arena_take_long(arena, n, 1, true);
	level->old = cpl_arena_take_long(arena, n, sizeof(*level->old), false);
	level->old_node =
	        cpl_arena_take_long(arena, n, sizeof(*level->old_node), false);
}

struct cpl_load_tree *cpl_load_tree_new(int64_t n, struct cpl_error *err)
{
	struct cpl_arena arena = {0};
	struct cpl_load_tree *t = cpl_arena_take(&arena, 1, sizeof(*t));

	if (t) {
		t->n = n;
		t->value = cpl_arena_take_long(&arena, fans(n + 1) * FAN,
		                               sizeof(*t->value), false);
		for (int64_t i = n; t->value && i < fans(n + 1) * FAN; i++)
			t->value[i] = 0;
		t->is_old = cpl_arena_take_long(&arena, n, 1, true);
		t->old = cpl_arena_take_long(&arena, n, sizeof(*t->old), false);
		t->old_value = cpl_arena_take_long(
		        &arena, n, sizeof(*t->old_value), false);
		n = fans(n + 1);
		do {
			make_level(&arena, &t->level[t->n_levels++], n);
			n = fans(n);
		} while (t->level[t->n_levels - 1].n > 1);
		t->arena = arena;
	}
	if (!arena.failed)
		return t;
	cpl_arena_end(&arena, -1, err);
	return NULL;
}

static void forget_old(struct cpl_load_tree *t)
{
	for (int64_t i = 0; i < t->n_old; i++)
		t->is_old[t->old[i]] = 0;
	t->n_old = 0;
	for (int k = 0; k < t->n_levels; k++) {
		struct load_level *level = &t->level[k];

		for (int64_t i = 0; i < level->n_old; i++)
			level->is_old[level->old[i]] = 0;
		level->n_old = 0;
	}
}

static void forget_dirty(struct load_level *level)
{
	for (int64_t d = 0; d < level->n_dirty; d++)
		level->is_dirty[level->dirty[d]] = 0;
	level->n_dirty = 0;
}

void cpl_load_tree_free(struct cpl_load_tree *t)
{
	struct cpl_arena arena;

	if (!t)
		return;
	/* What says which values have changed goes back as it came. */
	forget_old(t);
	cpl_arena_clean(&t->arena, t->is_old);
	for (int k = 0; k < t->n_levels; k++) {
		forget_dirty(&t->level[k]);
		cpl_arena_clean(&t->arena, t->level[k].is_old);
		cpl_arena_clean(&t->arena, t->level[k].is_dirty);
	}
	/* The tree itself is in it. */
	arena = t->arena;
	cpl_arena_free(&arena);
}

static void mark_dirty(struct load_level *level, int64_t i)
{
	if (level->is_dirty[i])
		return;
	level->is_dirty[i] = 1;
	level->dirty[level->n_dirty++] = i;
}

void cpl_load_tree_set(struct cpl_load_tree *t, int64_t i, double value)
{
	if (t->value[i] == value)
		return;
	if (!t->is_old[i]) {
		t->is_old[i] = 1;
		t->old_value[t->n_old] = t->value[i];
		t->old[t->n_old++] = i;
	}
	t->value[i] = value;
	mark_dirty(&t->level[0], i / FAN);
}

double cpl_load_tree_get(const struct cpl_load_tree *t, int64_t i)
{
	return t->value[i];
}

/* Two at a time. */
typedef double pair __attribute__((vector_size(16)));

static pair load_pair(const double *x)
{
	return (pair){x[0], x[1]};
}

static void add_up_values(const double *x, struct cpl_load_summary *s)
{
	pair sum = {0, 0}, powers = {0, 0};
	double max = x[0];

	for (int i = 0; i < FAN; i += 2) {
		pair y = load_pair(x + i), square = y * y;

		sum += y;
		powers += square * square;
	}
	for (int i = 1; i < FAN; i++)
		max = x[i] > max ? x[i] : max;
	s->max = max;
	s->sum = sum[0] + sum[1];
	s->powers = powers[0] + powers[1];
}

static void add_up_nodes(const struct cpl_load_summary *child,
                         struct cpl_load_summary *s)
{
	*s = (struct cpl_load_summary){0};
	for (int i = 0; i < FAN; i++) {
		s->max = child[i].max > s->max ? child[i].max : s->max;
		s->sum += child[i].sum;
		s->powers += child[i].powers;
	}
}

static void add_up(struct cpl_load_tree *t, int k, int64_t i)
{
	struct load_level *level = &t->level[k];

	if (k)
		add_up_nodes(level[-1].node + i * FAN, &level->node[i]);
	else
		add_up_values(t->value + i * FAN, &level->node[i]);
}

void cpl_load_tree_put(struct cpl_load_tree *t, int64_t i, double value)
{
	t->value[i] = value;
}

static void update(struct cpl_load_tree *t)
{
	for (int k = 0; k < t->n_levels; k++) {
		struct load_level *level = &t->level[k];

		for (int64_t d = 0; d < level->n_dirty; d++) {
			int64_t i = level->dirty[d];

			level->is_dirty[i] = 0;
			if (!level->is_old[i]) {
				level->is_old[i] = 1;
				level->old_node[level->n_old] = level->node[i];
				level->old[level->n_old++] = i;
			}
			add_up(t, k, i);
			if (k + 1 < t->n_levels)
				mark_dirty(level + 1, i / FAN);
		}
		level->n_dirty = 0;
	}
}

const struct cpl_load_summary *cpl_load_tree_all(struct cpl_load_tree *t)
{
	update(t);
	return &t->level[t->n_levels - 1].node[0];
}

int64_t cpl_load_tree_largest(struct cpl_load_tree *t)
{
	double max = cpl_load_tree_all(t)->max;
	int64_t i = 0;

	for (int k = t->n_levels - 2; k >= 0; k--)
		for (i *= FAN; t->level[k].node[i].max != max; i++)
			;
	for (i *= FAN; t->value[i] != max; i++)
		;
	return i < t->n ? i : t->n - 1;
}

void cpl_load_tree_sum(struct cpl_load_tree *t)
{
	for (int k = 0; k < t->n_levels; k++) {
		struct load_level *level = &t->level[k];

		forget_dirty(level);
		for (int64_t i = 0; i < level->n; i++)
			add_up(t, k, i);
	}
	forget_old(t);
}

void cpl_load_tree_keep(struct cpl_load_tree *t)
{
	/* Otherwise a later undo would take nodes that are not computed yet for
	 * up to date. */
	update(t);
	forget_old(t);
}

void cpl_load_tree_undo(struct cpl_load_tree *t)
{
	for (int64_t i = 0; i < t->n_old; i++)
		t->value[t->old[i]] = t->old_value[i];
	for (int k = 0; k < t->n_levels; k++) {
		struct load_level *level = &t->level[k];

		for (int64_t i = 0; i < level->n_old; i++)
			level->node[level->old[i]] = level->old_node[i];
		/* What was not computed yet still holds for the old values. */
		forget_dirty(level);
	}
	forget_old(t);
}
