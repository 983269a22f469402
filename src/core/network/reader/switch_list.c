/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/reader/switch_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* The router that joins switches with nothing above them; no switch has that
 * name. */
#define TOP "(top)"

static const char *line_word(const struct cpl_switch_list *r)
{
	return r->place ? r->place : "line";
}

int cpl_switch_list_find(struct cpl_switch_list *r, const char *name)
{
	int at = cpl_draft_router(r->draft, name, strlen(name));

	if (at < 0)
		return cpl_lines_prefix(r->in);
	if (at < r->n)
		return at;
	if (cpl_array_grow(&r->above, r->n, sizeof(*r->above), r->in->err) ||
	    cpl_array_grow(&r->link, r->n, sizeof(*r->link), r->in->err))
		return -1;
	r->above[r->n] = r->link[r->n] = -1;
	r->n++;
	return at;
}

int cpl_switch_list_join(struct cpl_switch_list *r, int at, int above)
{
	struct cpl_draft_link link = {
	        .from = at, .to = above, .line = r->in->line};
	const struct cpl_draft_router *router = r->draft->router;

	if (r->above[at] == above)
		return 0;
	if (r->above[at] >= 0)
		return cpl_lines_fail(r->in,
		                      "switch %.40s is below %.40s, but below "
		                      "%.40s in %s %d",
		                      router[at].name, router[above].name,
		                      router[r->above[at]].name, line_word(r),
		                      r->draft->link[r->link[at]].line);
	r->above[at] = above;
	r->link[at] = r->draft->n_links;
	return cpl_draft_add_link(r->draft, &link) ? cpl_lines_prefix(r->in)
	                                           : 0;
}

/* A switch that is above itself is in a circle, which one link closed. */
static int fail_circle(const struct cpl_switch_list *r, int at)
{
	int last = at;

	for (int up = r->above[at]; up != at; up = r->above[up])
		if (r->link[up] > r->link[last])
			last = up;
	return cpl_fail(r->in->err, "%s:%d: switch %.40s is above itself",
	                r->in->source, r->draft->link[r->link[last]].line,
	                r->draft->router[last].name);
}

/* Each path upwards ends where one before it has been. O(switches). */
static int check_circles(const struct cpl_switch_list *r)
{
	int *way = calloc((size_t)r->n + 1, sizeof(*way)), rc = 0;

	if (!way)
		return cpl_fail_memory(r->in->err);
	for (int i = 0; i < r->n && !rc; i++) {
		int at = i;

		for (; at >= 0 && !way[at]; at = r->above[at])
			way[at] = i + 1;
		if (at >= 0 && way[at] == i + 1)
			rc = fail_circle(r, at);
	}
	free(way);
	return rc;
}

/* Switches with nothing above. */
static int close_top(struct cpl_switch_list *r)
{
	int tops = 0, n = r->n, top;

	for (int i = 0; i < n; i++)
		tops += r->above[i] < 0;
	if (tops < 2)
		return 0;
	cpl_fail(&r->draft->doubt,
	         "how %d switches are joined is not told; a switch above all of "
	         "them stands for it",
	         tops);
	top = cpl_switch_list_find(r, TOP);
	for (int i = 0; i < n && top >= 0; i++)
		if (r->above[i] < 0 && cpl_switch_list_join(r, i, top))
			return -1;
	return top < 0 ? -1 : 0;
}

int cpl_switch_list_close(struct cpl_switch_list *r, int rc)
{
	if (!rc)
		rc = check_circles(r) ? -1 : close_top(r);
	cpl_free_all(r->above, r->link);
	return rc;
}
