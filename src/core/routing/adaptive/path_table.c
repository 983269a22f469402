/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/adaptive/path_table.h"

/* Paths are looked up for up to so many links between groups, in 4 bits for
 * each of at most 16 paths. */
#define MAX_LINKS 4
/* The most entries of the tables of distances, and of segments in a group. */
#define MAX_NEAR (INT64_C(1) << 22)
#define MAX_SEGMENTS (INT64_C(1) << 17)

static int combos(const struct cpl_network *net)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);
	int n = 1;

	if (df->global_per_pair < 2 || df->global_per_pair > MAX_LINKS ||
	    (int64_t)net->n_routers * df->groups > MAX_NEAR)
		return 0;
	for (int k = 0; k < df->global_per_pair; k++)
		n *= 3;
	return n;
}

/* The entries of segment[]; 0: there is none. */
static size_t segments(const struct cpl_path_table *w)
{
	int64_t n = 2 * (int64_t)w->per_group * w->per_group;

	return n > MAX_SEGMENTS ? 0 : (size_t)n;
}

void cpl_path_table_init(struct cpl_path_table *w,
                         const struct cpl_network *net)
{
	const struct cpl_dragonfly *df = cpl_dragonfly_of(net);

	*w = (struct cpl_path_table){
	        .net = net,
	        .routers = net->n_routers,
	        .groups = df->groups,
	        .k_links = df->global_per_pair,
	        .rows = df->rows,
	        .columns = df->columns,
	        .per_group = df->routers_per_group,
	};
	w->per_group_inverse = ((uint64_t)1 << 44) / (uint64_t)w->per_group + 1;
	w->first_column = w->per_group * (w->columns - 1);
	w->first_global = w->first_column + w->per_group * (w->rows - 1);
	w->first_none = w->first_global + (w->groups - 1) * w->k_links;
	w->cells = w->first_none + CPL_NO_LINKS;
	w->combos = combos(net);
}

static bool is_modulo(const struct cpl_path_table *w)
{
	return cpl_dragonfly_of(w->net)->wires.wiring == CPL_WIRING_MODULO;
}

/* The bytes of home[] or gateway[]. */
static size_t gateways(const struct cpl_path_table *w)
{
	if (is_modulo(w))
		return (size_t)w->groups * (size_t)w->k_links *
		       sizeof(*w->home);
	return (size_t)w->net->link_class[CPL_DRAGONFLY_GLOBAL].count *
	       sizeof(*w->gateway);
}

/* Tables are in the order of their alignment, from 8 bytes to 1. */
size_t cpl_path_table_size(const struct cpl_path_table *w)
{
	size_t n = (size_t)w->combos * (size_t)w->combos;

	return n * (sizeof(*w->choice) + sizeof(*w->n_choices)) +
	       (size_t)w->per_group * sizeof(*w->position) + gateways(w) +
	       segments(w) * sizeof(*w->segment) +
	       (size_t)w->groups * (size_t)w->cells +
	       (w->combos ? (size_t)w->routers * (size_t)w->groups : 0);
}

/* Lists paths over gateways at these distances, as cpl_path_table_nth does. */
static int list_paths(int k_links, int before, int after, uint64_t *list)
{
	int near[MAX_LINKS], far[MAX_LINKS], fewest = 4, n = 0;

	*list = 0;
	for (int k = 0; k < k_links; k++) {
		near[k] = before % 3;
		far[k] = after % 3;
		before /= 3;
		after /= 3;
		if (near[k] + far[k] < fewest)
			fewest = near[k] + far[k];
	}
	for (int k = 0; k < k_links; k++) {
		if (near[k] + far[k] != fewest)
			continue;
		for (int end = 0; end < cpl_local_paths(far[k]); end++)
			for (int start = 0; start < cpl_local_paths(near[k]);
			     start++)
				*list |= (uint64_t)(k << 2 | end << 1 | start)
				         << (4 * n++);
	}
	return n;
}

static void fill_choices(const struct cpl_path_table *w, uint64_t *choice,
                         unsigned char *n_choices)
{
	for (int i = 0; i < w->combos; i++)
		for (int j = 0; j < w->combos; j++)
			*n_choices++ = (unsigned char)list_paths(w->k_links, i,
			                                         j, choice++);
}

static void fill_near(const struct cpl_path_table *w, unsigned char *near)
{
	for (int r = 0; r < w->routers; r++)
		for (int g = 0; g < w->groups; g++) {
			struct cpl_group_router at =
			        cpl_path_table_router(w, r);
			int digits = 0;

			if (g == at.group) {
				*near++ = 0;
				continue;
			}
			for (int k = w->k_links - 1; k >= 0; k--)
				digits = digits * 3 +
				         cpl_path_table_local(
				                 w, at.local,
				                 cpl_path_table_gateway(
				                         w, at.group, g, k)
				                         .own);
			*near++ = (unsigned char)digits;
		}
}

static void fill_home(const struct cpl_path_table *w, int *home)
{
	for (int64_t i = 0; i < (int64_t)w->groups * w->k_links; i++)
		*home++ = (int)(i % w->per_group);
}

static void fill_gateways(const struct cpl_path_table *w,
                          struct cpl_gateway *out)
{
	const int *gateway = cpl_dragonfly_of(w->net)->gateway;

	for (int a = 0; a < w->groups; a++)
		for (int b = 0; b < w->groups; b++)
			for (int k = 0; k < w->k_links && a != b; k++) {
				int64_t own =
				        cpl_dragonfly_global(w->net, a, b, k);
				int64_t far =
				        cpl_dragonfly_global(w->net, b, a, k);

				*out++ = (struct cpl_gateway){
				        gateway[own] % w->per_group,
				        gateway[far] % w->per_group,
				};
			}
}

static void fill_segments(const struct cpl_path_table *w, uint64_t *segment)
{
	for (int from = 0; from < w->per_group; from++)
		for (int to = 0; to < w->per_group; to++)
			for (unsigned turn = 0; turn < 2; turn++)
				*segment++ =
				        cpl_segment_cells(w, from, to, turn);
}

void cpl_path_table_fill(struct cpl_path_table *w, void *memory)
{
	size_t n = (size_t)w->combos * (size_t)w->combos;
	size_t cells = (size_t)w->groups * (size_t)w->cells;
	uint64_t *choice = memory, *segment = choice + n;
	struct cpl_row_column *position =
	        (struct cpl_row_column *)(segment + segments(w));
	void *gateway = position + w->per_group;
	unsigned char *n_choices = (unsigned char *)gateway + gateways(w);
	unsigned char *is_link = n_choices + n, *near = is_link + cells;

	w->choice = choice;
	w->position = position;
	w->n_choices = n_choices;
	w->is_link = is_link;
	w->near = near;
	for (int r = 0; r < w->per_group; r++)
		position[r] =
		        (struct cpl_row_column){r / w->columns, r % w->columns};
	for (size_t i = 0; i < cells; i++)
		is_link[i] = (int)(i % (size_t)w->cells) < w->first_none;
	if (is_modulo(w)) {
		fill_home(w, gateway);
		w->home = gateway;
	} else {
		fill_gateways(w, gateway);
		w->gateway = gateway;
	}
	if (segments(w)) {
		fill_segments(w, segment);
		w->segment = segment;
	}
	if (w->combos) {
		fill_choices(w, choice, n_choices);
		fill_near(w, near);
	}
}

int cpl_path_table_nth(const struct cpl_path_table *w, int from, int to, int i,
                       int *over)
{
	struct cpl_group_router a = cpl_path_table_router(w, from),
	                        b = cpl_path_table_router(w, to);
	int fewest = cpl_path_table_fewest(w, a, b), n = 0;

	for (int k = 0; k < w->k_links; k++) {
		struct cpl_gateway gateway =
		        cpl_path_table_gateway(w, a.group, b.group, k);
		int before = cpl_path_table_local(w, a.local, gateway.own);
		int after = cpl_path_table_local(w, gateway.far, b.local);
		int table = cpl_local_paths(before), paths;

		if (before + after != fewest)
			continue;
		paths = table * cpl_local_paths(after);
		if (over && i < n + paths) {
			*over = k;
			return table < 2 ? (i - n) << 1 : i - n;
		}
		n += paths;
	}
	return n;
}
