/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "segments:N": the job in segments of N nodes, each inside one domain of
 * accelerators, or where the network has none inside a unit of the finest level
 * that has several nodes, as `sbatch --segment` has them inside blocks. Domains that hold most segments are used
 * first, the last one is the fullest that holds the rest. Nodes that make no
 * segment anywhere come last.
 *
 * As a candidate N is 2, 4, 8 or 16, by the seed: groups of ranks that
 * communicate most (tensor, expert parallel) are powers of two.
 */
#include <ctype.h>
#include <stdlib.h>

#include "placement/cut.h"
#include "placement/placement.h"

#define SEGMENT_MAX 65536

struct segments {
	const struct cpl_placement_request *req;
	struct cpl_whole_units units;
	int *left; /* [units.n] free nodes that are not taken */
	unsigned char *taken;
	int *out, n;
};

/* Of units that have a multiple of `each` nodes, the one that has most; or the
 * one with the fewest that hold n. -1: none has as many. */
static int pick(const struct segments *s, int each, int n)
{
	int best = -1, size = 0;

	for (int u = 0; u < s->units.n; u++) {
		int has = s->left[u] / each * each;

		if (has && (size >= n ? has >= n && s->left[u] < s->left[best]
		                      : has > size)) {
			best = u;
			size = has;
		}
	}
	return best;
}

static void take_nodes(struct segments *s, int unit, int n)
{
	const struct cpl_placement_request *req = s->req;

	s->left[unit] -= n;
	for (int i = 0; i < req->net->n_nodes && n > 0; i++)
		if (req->free[i] && !s->taken[i] && s->units.unit[i] == unit) {
			s->taken[i] = 1;
			s->out[s->n++] = i;
			n--;
		}
}

/* Segments of `each` nodes, as far as there are some. */
static void fill(struct segments *s, int each, int until)
{
	while (until - s->n >= each) {
		int n = (until - s->n) / each * each, has;
		int unit = pick(s, each, n);

		if (unit < 0)
			return;
		has = s->left[unit] / each * each;
		take_nodes(s, unit, has < n ? has : n);
	}
}

/* Domains, else routers, or the finest level whose units have several nodes. */
static struct cpl_cut cut_of(const struct cpl_network *net)
{
	struct cpl_cut cut = {.domains = net->accelerators.n_domains};

	cut.routers = !cut.domains && net->n_node_routers < net->n_nodes;
	for (int i = net->n_levels - 1; !cut.domains && !cut.routers && i >= 0;
	     i--)
		if (!cut.level && net->level[i].n_units < net->n_nodes)
			cut.level = &net->level[i];
	cut.routers = !cut.domains && !cut.level;
	return cut;
}

/* O(nodes * domains taken). */
static int place_segments(const struct cpl_placement_request *req, int *out,
                          struct cpl_error *err)
{
	int wanted = req->n_nodes_wanted;
	int each = req->option ? atoi(req->option)
	                       : 2 << (req->seed + 3) % 4;
	struct cpl_cut cut = cut_of(req->net);
	struct segments s = {.req = req, .out = out};

	if (cpl_whole_units_open(&s.units, req->net, req->free, &cut, err))
		return -1;
	s.taken = cpl_arena_take(&s.units.arena, req->net->n_nodes, 1);
	s.left = cpl_arena_take(&s.units.arena, s.units.n, sizeof(*s.left));
	if (s.units.arena.failed)
		return cpl_arena_end(&s.units.arena, -1, err);
	for (int u = 0; u < s.units.n; u++)
		s.left[u] = s.units.free[u];
	fill(&s, each, wanted);
	/* The rest is less than a segment, or there are no more. */
	while (s.n < wanted) {
		int n = wanted - s.n, unit = pick(&s, 1, n);

		take_nodes(&s, unit, s.left[unit] < n ? s.left[unit] : n);
	}
	cpl_whole_units_close(&s.units);
	return cpl_placement_require(req, out, err);
}

static int check(const struct cpl_network *net, const char *option,
                 struct cpl_error *err)
{
	long n = option && isdigit((unsigned char)*option)
	                 ? strtol(option, (char **)&option, 10)
	                 : 0;

	(void)net;
	if (n < 1 || n > SEGMENT_MAX || *option)
		return cpl_fail(err, "it needs the nodes of a segment: "
		                     "segments:N with N of 1 to %d",
		                SEGMENT_MAX);
	return 0;
}

const struct cpl_placement_policy cpl_placement_segments = {
        .name = "segments",
        .summary = "in segments of N nodes (segments:N), each inside a domain "
                   "of accelerators, or a router",
        .flags = CPL_PLACEMENT_CLASS | CPL_PLACEMENT_RANDOM,
        .check = check,
        .place = place_segments,
};
