/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dragonfly+ in the dump of a fabric, by structure alone: switches with hosts
 * are leaves, those joined to leaves spines; leaves and spines that are joined
 * make a cell; spines are joined to those of other cells. A few missing cables
 * are put down as doubts; in a large machine some always are.
 */

#include "graph/arena.h"
#include "network/reader/ib_plus.h"

#define MAX_CELLS 2048
/* One in so many may differ from what all others have. */
#define ODD_ONES 8
#define MAX_CABLES 63 /* of two switches or two cells */

static const char *name_of(const struct cpl_ib_fabric *f, int router)
{
	return f->draft->router[router].name;
}

static int find_root(struct cpl_ib_fabric *f, int i)
{
	while (f->root[i] != i)
		i = f->root[i] = f->root[f->root[i]];
	return i;
}

static void find_roles(struct cpl_ib_fabric *f)
{
	const struct cpl_draft *draft = f->draft;

	for (int i = 0; i < draft->n_routers; i++) {
		f->root[i] = i;
		f->role[i] = draft->router[i].hosts.count ? CPL_IB_LEAF : CPL_IB_OTHER;
	}
	for (int l = 0; l < draft->n_links; l++)
		if (f->role[draft->link[l].from] == CPL_IB_LEAF &&
		    f->role[draft->link[l].to] == CPL_IB_OTHER)
			f->role[draft->link[l].to] = CPL_IB_SPINE;
}

/* The lower one leads. */
static void join(struct cpl_ib_fabric *f, int a, int b)
{
	a = find_root(f, a);
	b = find_root(f, b);
	if (a < b)
		f->root[b] = a;
	else
		f->root[a] = b;
}

/* A switch without hosts whose neighbours are the spines of one cell is a leaf
 * of it. False: there are others, as in a tree. */
static bool settle_others(struct cpl_ib_fabric *f)
{
	const struct cpl_draft *draft = f->draft;
	int n = 0, first = -1;

	for (int l = 0; l < draft->n_links; l++) {
		int from = draft->link[l].from, to = draft->link[l].to;

		if (f->role[from] != CPL_IB_OTHER)
			continue;
		if (f->role[to] != CPL_IB_SPINE ||
		    (f->cell[from] >= 0 && f->cell[from] != find_root(f, to)))
			return false;
		f->cell[from] = find_root(f, to);
	}
	for (int i = 0; i < draft->n_routers; i++) {
		if (f->role[i] != CPL_IB_OTHER)
			continue;
		if (f->cell[i] < 0)
			return false;
		first = n++ ? first : i;
		f->role[i] = CPL_IB_LEAF;
		join(f, i, f->cell[i]);
	}
	if (n)
		cpl_draft_doubt(f->draft,
		                "%d switches without hosts are taken for "
		                "leaves; the first is %s",
		                n, name_of(f, first));
	return true;
}

static void find_sets(struct cpl_ib_fabric *f)
{
	const struct cpl_draft *draft = f->draft;

	for (int l = 0; l < draft->n_links; l++) {
		int from = draft->link[l].from, to = draft->link[l].to;

		if (f->role[from] == CPL_IB_LEAF && f->role[to] == CPL_IB_SPINE)
			join(f, from, to);
	}
	for (int i = 0; i < draft->n_routers; i++)
		f->cell[i] = -1;
}

/* Cells in the order of their first switches: how many. */
static int number_cells(struct cpl_ib_fabric *f)
{
	const struct cpl_draft *draft = f->draft;
	int n = 0;

	for (int i = 0; i < draft->n_routers; i++) {
		int root = find_root(f, i);

		f->cell[i] = root == i ? n++ : f->cell[root];
	}
	return n;
}

static int count_switches(struct cpl_ib_fabric *f, struct cpl_arena *arena)
{
	const struct cpl_draft *draft = f->draft;

	f->leaves = cpl_arena_take(arena, f->cells, sizeof(*f->leaves));
	f->spines = cpl_arena_take(arena, f->cells, sizeof(*f->spines));
	f->first = cpl_arena_take(arena, f->cells, sizeof(*f->first));
	if (arena->failed)
		return -1;
	for (int i = 0; i < draft->n_routers; i++)
		f->number[i] = f->role[i] == CPL_IB_LEAF ? f->leaves[f->cell[i]]++
		                                  : f->spines[f->cell[i]]++;
	for (int c = 0; c < f->cells; c++) {
		f->first[c] = f->pairs;
		f->pairs += (int64_t)f->leaves[c] * f->spines[c];
	}
	return 0;
}

/* Count cables; false, with why, where two switches are joined that may not be.
 */
static bool count_cables(struct cpl_ib_fabric *f)
{
	const struct cpl_draft *draft = f->draft;

	for (int l = 0; l < draft->n_links; l++) {
		int a = draft->link[l].from, b = draft->link[l].to;
		bool same = f->cell[a] == f->cell[b];

		if (f->role[a] == CPL_IB_LEAF && f->role[b] == CPL_IB_SPINE && same) {
			f->cables[f->first[f->cell[a]] +
			          (int64_t)f->number[a] *
			                  f->spines[f->cell[a]] +
			          f->number[b]]++;
		} else if (f->role[a] == CPL_IB_SPINE && f->role[b] == CPL_IB_SPINE &&
		           !same) {
			f->between[(int64_t)f->cell[a] * f->cells +
			           f->cell[b]]++;
		} else if (f->role[a] == f->role[b]) {
			cpl_fail(&f->draft->why,
			         "%s and %s, two %s, are joined", name_of(f, a),
			         name_of(f, b),
			         f->role[a] == CPL_IB_LEAF ? "switches with hosts"
			                            : "spines of one group");
			return false;
		}
	}
	return true;
}

/* The number above 0 that occurs most often, the larger of several. */
static int most_common(const int *count, int64_t n)
{
	int64_t have[MAX_CABLES + 1] = {0};
	int best = 0;

	for (int64_t i = 0; i < n; i++)
		if (count[i] > 0)
			have[count[i] < MAX_CABLES ? count[i] : MAX_CABLES]++;
	for (int c = 1; c <= MAX_CABLES; c++)
		if (have[c] && have[c] >= have[best])
			best = c;
	return best;
}

static bool check_leaves(struct cpl_ib_fabric *f)
{
	int64_t odd = 0;

	f->p = most_common(f->cables, f->pairs);
	for (int64_t i = 0; i < f->pairs; i++)
		odd += f->cables[i] != f->p;
	if (odd * ODD_ONES > f->pairs) {
		cpl_fail(&f->draft->why,
		         "of %lld pairs of leaf and spine in a group %lld do "
		         "not have %d cables",
		         (long long)f->pairs, (long long)odd, f->p);
		return false;
	}
	if (odd)
		cpl_draft_doubt(f->draft,
		                "%lld of %lld pairs of leaf and spine do not "
		                "have the %d cables that the others have",
		                (long long)odd, (long long)f->pairs, f->p);
	return true;
}

static bool check_cells(struct cpl_ib_fabric *f)
{
	int pairs = f->cells * (f->cells - 1) / 2, odd = 0;

	f->k = most_common(f->between, (int64_t)f->cells * f->cells);
	for (int a = 0; a < f->cells; a++)
		for (int b = a + 1; b < f->cells; b++) {
			int n = f->between[(int64_t)a * f->cells + b];

			odd += n != f->k;
			if (n)
				continue;
			cpl_fail(&f->draft->why,
			         "groups %d and %d have no link", a, b);
			return false;
		}
	if (odd * ODD_ONES > pairs) {
		cpl_fail(&f->draft->why,
		         "of %d pairs of groups %d do not have %d links", pairs,
		         odd, f->k);
		return false;
	}
	if (odd)
		cpl_draft_doubt(f->draft,
		                "%d of %d pairs of groups do not have the %d "
		                "links that the others have; where there are "
		                "fewer, some are repeated",
		                odd, pairs, f->k);
	return true;
}

/* List the first K links of each two cells; where there are fewer, begin again
 * with the first. */
static void list_rows(struct cpl_ib_fabric *f)
{
	const struct cpl_draft *draft = f->draft;
	int64_t pairs = (int64_t)f->cells * f->cells;

	for (int64_t i = 0; i < pairs; i++)
		f->between[i] = 0;
	for (int l = 0; l < draft->n_links; l++) {
		int a = f->cell[draft->link[l].from];
		int b = f->cell[draft->link[l].to];
		int64_t pair = (int64_t)a * f->cells + b;

		if (a < b && f->between[pair] < f->k)
			f->rows[pair * f->k + f->between[pair]++] = l;
	}
	for (int64_t pair = 0; pair < pairs; pair++)
		for (int k = f->between[pair]; k < f->k && f->between[pair];
		     k++)
			f->rows[pair * f->k + k] =
			        f->rows[pair * f->k + k % f->between[pair]];
}

/* Find roles, cells and what is between them; false: it is no dragonfly+, see
 * why. */
static bool recognise(struct cpl_ib_fabric *f, struct cpl_arena *arena)
{
	int routers = f->draft->n_routers;

	f->role = cpl_arena_take(arena, routers, sizeof(*f->role));
	f->root = cpl_arena_take(arena, routers, sizeof(*f->root));
	f->cell = cpl_arena_take(arena, routers, sizeof(*f->cell));
	f->number = cpl_arena_take(arena, routers, sizeof(*f->number));
	if (arena->failed)
		return false;
	find_roles(f);
	find_sets(f);
	if (!settle_others(f))
		return false;
	f->cells = number_cells(f);
	if (f->cells < 2 || f->cells > MAX_CELLS || count_switches(f, arena))
		return false;
	for (int c = 0; c < f->cells; c++)
		if (!f->leaves[c] || !f->spines[c])
			return false;
	f->cables = cpl_arena_take(arena, f->pairs, sizeof(*f->cables));
	f->between = cpl_arena_take(arena, (int64_t)f->cells * f->cells,
	                            sizeof(*f->between));
	if (arena->failed || !count_cables(f) || !check_leaves(f) ||
	    !check_cells(f))
		return false;
	f->rows = cpl_arena_take(arena,
	                         (int64_t)f->cells * f->cells * f->k,
	                         sizeof(*f->rows));
	if (!arena->failed)
		list_rows(f);
	return !arena->failed;
}

int cpl_ib_dragonfly_plus(const struct cpl_network_import *how,
                          struct cpl_draft *draft)
{
	struct cpl_error doubt = draft->doubt;
	struct cpl_ib_fabric f = {.draft = draft};
	struct cpl_arena arena = {0};
	int rc = 0;

	if (recognise(&f, &arena))
		rc = cpl_ib_plus_describe(&f, how);
	else
		draft->doubt = doubt;
	return cpl_arena_end(&arena, rc, draft->err);
}
