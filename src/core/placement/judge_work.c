/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A decision within its work: counted beforehand, so that the same is judged on
 * every machine, and at every run, before a clock ends it. */
#include "placement/judge_internal.h"

/* Links of a route, and what noting them costs. */
#define ROUTE_WORK 8
/* How often that by a routing which does all flows together. */
#define WHOLE_WORK 2

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
	work = flows + ROUTE_WORK * pairs +
	       (j->quick.ev.few ? 0 : (long)net->n_links);
	return j->req->routing->add ? work : WHOLE_WORK * work;
}

bool cpl_judge_affords(struct judge *j, const int *node, int evaluations,
                       long more)
{
	long work;

	if (!j->station)
		return true;
	work = evaluations * evaluation_work(j, node) + more;
	if (work > j->req->work - j->spent) {
		j->limited = true;
		return false;
	}
	j->spent += work;
	return true;
}

int cpl_judge_begin_work(struct judge *j, struct cpl_error *err)
{
	if (!j->req->work)
		return 0;
	j->station =
	        cpl_arena_take(&j->arena, j->req->place.net->n_stations, 1);
	return j->station ? 0 : cpl_fail_memory(err);
}

bool cpl_judge_can_search(struct judge *j)
{
	const struct cpl_decision *out = j->out;

	return (!j->mapper || out->candidate[out->chosen].is_mapped) &&
	       cpl_judge_work_left(j, 1) > 0;
}

long cpl_judge_work_left(struct judge *j, long most)
{
	long left = j->req->work - j->spent;

	if (!j->station || left >= most)
		return most;
	j->limited = true;
	return left;
}
