/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A decision within its work: counted beforehand, so that the same is judged on
 * every machine, and at every run, before a clock ends it. */
#include "mapping/mappers.h"
#include "placement/judge_internal.h"

/* Links of a route, and what noting them costs; less where there are more
 * routes than links. */
#define ROUTE_WORK 8
#define ROUTE_WORK_MANY 6
/* How often that by a routing which does all flows together. */
#define WHOLE_WORK 2

/* Of a search, in links of routes: without a limit, and within one, of which a
 * share at the most. In a search they take twice as long, what is made before
 * it included. */
#define SEARCH_WORK 600000L
#define SEARCH_LIMITED 400000L
#define SEARCH_SHARE 4
#define SEARCH_TWICE 2
/* Of a layout in domains (mapping/domain_layout.h): the share of the limit that one of
 * its searches has, and how many a policy and a mapper make. */
#define LAYOUT_SHARE 16
#define LAYOUTS_OF_POLICY 4
#define LAYOUTS_OF_MAPPER 2
/* How often flows are looked through, at the least, in one that is worth it. */
#define SEARCH_PICKS 3

/* Of one evaluation on node[]: the flows, the routes of the pairs of stations
 * that they are between, and where they are many the passes over all links. */
static long evaluation_work(struct judge *j, const int *node)
{
	const struct cpl_network *net = j->req->place.net;
	long flows = (long)j->quick.block.hosts->n_entries, stations = 0, pairs;
	long work;

	for (int i = 0; i < j->n; i++) {
		unsigned char *at =
		        &j->station[cpl_network_station(net, node[i])];

		stations += !*at;
		*at = 1;
	}
	for (int i = 0; i < j->n; i++)
		j->station[cpl_network_station(net, node[i])] = 0;
	pairs = flows < stations * stations ? flows : stations * stations;
	work = flows +
	       (pairs > net->n_links ? ROUTE_WORK_MANY : ROUTE_WORK) * pairs +
	       (j->quick.ev.few ? 0 : (long)net->n_links);
	return j->req->routing->add ? work : WHOLE_WORK * work;
}

static bool has(const struct judge *j, long work)
{
	return work <= j->req->work - j->spent - j->kept;
}

bool cpl_judge_has_work(struct judge *j, const int *node, int evaluations,
                        long more)
{
	return !j->station ||
	       has(j, evaluations * evaluation_work(j, node) + more);
}

bool cpl_judge_affords(struct judge *j, const int *node, int evaluations,
                       long more)
{
	long work;

	if (!j->station)
		return true;
	work = evaluations * evaluation_work(j, node) + more;
	if (!has(j, work)) {
		j->limited = true;
		return false;
	}
	j->spent += work;
	return true;
}

long cpl_judge_layout_work(const struct judge *j)
{
	return j->req->work / LAYOUT_SHARE;
}

long cpl_judge_layouts_work(const struct judge *j,
                            const struct cpl_placement_policy *policy,
                            const struct cpl_mapper *mapper)
{
	int n = (policy == &cpl_placement_groups ? LAYOUTS_OF_POLICY : 0) +
	        (mapper == &cpl_mapper_groups ? LAYOUTS_OF_MAPPER : 0);

	return j->req->place.net->accelerators.domain_of
	               ? n * cpl_judge_layout_work(j)
	               : 0;
}

int cpl_judge_begin_work(struct judge *j, struct cpl_error *err)
{
	if (!j->req->work)
		return 0;
	j->station =
	        cpl_arena_take(&j->arena, j->req->place.net->n_stations, 1);
	return j->station ? 0 : cpl_fail_memory(err);
}

/* The most that a search takes within the limit. */
static long limited_search(const struct judge *j)
{
	long share = j->req->work / SEARCH_SHARE;

	return share < SEARCH_LIMITED ? share : SEARCH_LIMITED;
}

/* Does it come to more than to look for hosts to move? */
static bool is_worth_it(const struct judge *j)
{
	const struct cpl_comm *flows = cpl_rank_groups_judged(&j->quick.block);

	return SEARCH_PICKS * ROUTE_WORK * (long)flows->n_entries <
	       limited_search(j);
}

void cpl_judge_keep_work(struct judge *j, bool mapping)
{
	const struct cpl_decision *out = j->out;

	if (j->station && is_worth_it(j) &&
	    out->candidate[out->n_candidates - 1].policy ==
	            &cpl_placement_traffic)
		j->kept = (mapping ? 1 : SEARCH_TWICE) * limited_search(j);
}

bool cpl_judge_can_search(struct judge *j)
{
	const struct cpl_decision *out = j->out;
	const int *node = j->layout[out->chosen].node;
	/* Of what it finds, in the scheduler's order. */
	bool plain = j->req->order == CPL_ORDER_MAY;

	if (j->mapper && !out->candidate[out->chosen].is_mapped)
		return false;
	j->kept = 0;
	return cpl_judge_affords(j, node, plain, 0) &&
	       (!j->station || j->spent < j->req->work);
}

long cpl_judge_search_work(struct judge *j)
{
	if (j->station && !has(j, SEARCH_TWICE * SEARCH_LIMITED))
		j->limited = true;
	if (!j->limited)
		return SEARCH_WORK;
	return (j->quick.watches ? 4 : 3) * limited_search(j) / 3;
}
