/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/reader/aries.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/sort.h"

enum { ROW, COLUMN, GLOBAL, KINDS };

/* A cable, its ends by router id. */
struct cable {
	int from, to;
};

struct aries_shape {
	int size[CPL_ARIES_DIMS];   /* groups, rows, columns */
	struct cable *cable[KINDS]; /* sorted by ends */
	int n[KINDS];
	int per_pair[KINDS]; /* cables between two routers, or groups */
};

static CPL_SORT_BY(compare, struct cable, CPL_UP(from), CPL_UP(to))

/* Routers are sorted, so that all groups must repeat the first one. */
static int find_sizes(const struct cpl_aries_list *list, struct aries_shape *s,
                      struct cpl_draft *draft)
{
	const struct cpl_aries_tile *r = list->router;
	int n = list->n_routers, group = 1, columns = 1;

	while (group < n && r[group].at[0] == r[0].at[0])
		group++;
	while (columns < group && r[columns].at[1] == r[0].at[1])
		columns++;
	s->size[0] = n / group;
	s->size[1] = group / columns;
	s->size[2] = columns;
	for (int i = 0; i < n; i++) {
		const int *at = r[i].at, *like = r[i % group].at;
		const int *row = r[i % columns].at;

		if (at[1] != like[1] || at[2] != like[2] || at[2] != row[2] ||
		    at[0] != r[i - i % group].at[0] ||
		    at[1] != r[i - i % columns].at[1])
			return cpl_fail(&draft->why,
			                "router %d:%d:%d is where the first "
			                "group has another or none",
			                at[0], at[1], at[2]);
	}
	if (n % group)
		return cpl_fail(&draft->why,
		                "group %d has fewer routers than %d",
		                r[n - 1].at[0], r[0].at[0]);
	return 0;
}

static int kind_of(const struct cpl_aries_link *l)
{
	const int *a = l->from.at, *b = l->to.at;

	if (a[0] != b[0])
		return GLOBAL;
	if (a[1] == b[1])
		return ROW;
	return a[2] == b[2] ? COLUMN : -1;
}

static int sort_cables(const struct cpl_aries_list *list, struct aries_shape *s,
                       struct cpl_draft *draft)
{
	for (int k = 0; k < KINDS; k++) {
		s->cable[k] =
		        malloc(((size_t)list->n + 1) * sizeof(*s->cable[k]));
		if (!s->cable[k])
			return cpl_fail_memory(draft->err);
	}
	for (int i = 0; i < list->n; i++) {
		const struct cpl_aries_link *l = &list->item[i];
		int k = kind_of(l);

		if (k < 0)
			return cpl_fail(&draft->why,
			                "the link of line %d joins neither a "
			                "row nor a column nor two groups",
			                l->line);
		s->cable[k][s->n[k]++] =
		        (struct cable){l->from_router, l->to_router};
	}
	for (int k = 0; k < KINDS; k++)
		qsort(s->cable[k], (size_t)s->n[k], sizeof(*s->cable[k]),
		      compare);
	return 0;
}

/* Each ordered pair of routers of a row (or a column) has equally many. */
static int check_local(const struct cpl_aries_list *list, struct aries_shape *s,
                       int kind, struct cpl_draft *draft)
{
	int others = s->size[kind == ROW ? 2 : 1] - 1;
	int64_t pairs = (int64_t)list->n_routers * others;
	int each = pairs ? (int)(s->n[kind] / pairs) : 0;
	const struct cable *cable = s->cable[kind];

	s->per_pair[kind] = each ? each : 1;
	if (!pairs)
		return 0;
	if (!each)
		return cpl_fail(&draft->why,
		                "not each two routers of a %s are joined",
		                kind == ROW ? "row" : "column");
	for (int i = 0, run; i < s->n[kind]; i += run) {
		const int *a = list->router[cable[i].from].at;
		const int *b = list->router[cable[i].to].at;

		run = 1;
		while (i + run < s->n[kind] &&
		       !compare(&cable[i], &cable[i + run]))
			run++;
		if (run != each)
			return cpl_fail(&draft->why,
			                "%d:%d:%d to %d:%d:%d has %d links, "
			                "other pairs have more, fewer or none",
			                a[0], a[1], a[2], b[0], b[1], b[2],
			                run);
	}
	return 0;
}

/* As many each way, and all pairs of groups have equally many. */
static int check_global(const struct cpl_aries_list *list,
                        struct aries_shape *s, struct cpl_draft *draft)
{
	int64_t groups = s->size[0], pairs = groups * (groups - 1);
	int each = pairs ? (int)(s->n[GLOBAL] / pairs) : 0, rc = 0;
	int size = list->n_routers / (int)groups;
	struct cable *back;
	int *count;

	s->per_pair[GLOBAL] = each ? each : 1;
	if (groups == 1)
		return 0;
	if (s->n[GLOBAL] / 2 > CPL_DRAFT_MAX_LINKS)
		return cpl_fail(draft->err, "more than %d global links",
		                CPL_DRAFT_MAX_LINKS);
	/* Fewer cables than pairs cannot be regular, and need no table. */
	if (!each)
		return cpl_fail(&draft->why, "not each two groups are joined");
	back = malloc(((size_t)s->n[GLOBAL] + 1) * sizeof(*back));
	count = calloc((size_t)(groups * groups), sizeof(*count));
	if (!back || !count) {
		rc = cpl_fail_memory(draft->err);
		goto out;
	}
	for (int i = 0; i < s->n[GLOBAL]; i++) {
		const struct cable *c = &s->cable[GLOBAL][i];

		back[i] = (struct cable){c->to, c->from};
		count[c->from / size * groups + c->to / size]++;
	}
	qsort(back, (size_t)s->n[GLOBAL], sizeof(*back), compare);
	for (int i = 0; i < s->n[GLOBAL]; i++) {
		const int *at = list->router[back[i].from].at;

		if (!compare(&back[i], &s->cable[GLOBAL][i]))
			continue;
		rc = cpl_fail(&draft->why,
		              "a global link at router %d:%d:%d goes one way "
		              "only",
		              at[0], at[1], at[2]);
		goto out;
	}
	for (int64_t i = 0; i < groups * groups && !rc; i++)
		if (i / groups != i % groups && count[i] != each)
			rc = cpl_fail(&draft->why,
			              "groups %d and %d are joined by %d "
			              "links, others by more or fewer",
			              list->router[i / groups * size].at[0],
			              list->router[i % groups * size].at[0],
			              count[i]);
out:
	cpl_free_all(back, count);
	return rc;
}

static json_t *describe(const struct cpl_aries_list *list,
                        const struct aries_shape *s,
                        const struct cpl_network_import *how,
                        const struct cpl_hostlist *hosts, int per_router)
{
	int size = s->size[1] * s->size[2];
	char *nodes = cpl_hostlist_format(hosts->name, hosts->count);
	json_t *links = json_array(), *root = NULL;

	if (!nodes || !links)
		goto out;
	for (int i = 0; i < s->n[GLOBAL]; i++) {
		const struct cable *c = &s->cable[GLOBAL][i];

		if (c->from < c->to &&
		    cpl_json_append(links, "[i, i, i, i]", c->from / size,
		                    c->from % size, c->to / size, c->to % size))
			goto out;
	}
	root = json_pack(
	        "{s:s, s:i, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:s, "
	        "s:{s:f, s:f, s:f, s:f}, s:s, s:O}",
	        "format", "commplace-network", "version", 1, "name", how->name,
	        "type", "dragonfly", "groups", s->size[0], "rows", s->size[1],
	        "columns", s->size[2], "nodes_per_router", per_router,
	        "row_links_per_router_pair", s->per_pair[ROW],
	        "column_links_per_router_pair", s->per_pair[COLUMN],
	        "global_links_per_group_pair", s->per_pair[GLOBAL],
	        "global_wiring", "list", "bandwidth", "row",
	        CPL_ARIES_ELECTRICAL, "column", CPL_ARIES_ELECTRICAL, "global",
	        CPL_ARIES_OPTICAL, "injection", CPL_ARIES_INJECTION, "nodes",
	        nodes, "global_links", links);
out:
	json_decref(links);
	free(nodes);
	return root;
}

int cpl_aries_dragonfly(const struct cpl_lines *in,
                        const struct cpl_network_import *how,
                        const struct cpl_aries_list *list,
                        const struct cpl_hostlist *hosts,
                        struct cpl_draft *draft)
{
	struct aries_shape s = {.n = {0}};
	int rc = find_sizes(list, &s, draft);

	if (!rc)
		rc = sort_cables(list, &s, draft);
	for (int k = ROW; k < GLOBAL && !rc; k++)
		rc = check_local(list, &s, k, draft);
	if (!rc)
		rc = check_global(list, &s, draft);
	if (!rc) {
		draft->description =
		        describe(list, &s, how, hosts, draft->nodes_per_router);
		if (!draft->description)
			rc = cpl_fail(draft->err,
			              "%s: out of memory, or a name that is "
			              "not UTF-8",
			              in->source);
	}
	for (int k = 0; k < KINDS; k++)
		free(s.cable[k]);
	return draft->why.text[0] ? 0 : rc;
}
