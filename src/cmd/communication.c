/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "communication.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The jobs are judged one after the other in one space, then each among the
 * others. */
struct judging {
	const struct cpl_network *net;
	struct cpl_load rates;
	struct cpl_times **times; /* [n] as judged */
	/* [n] beside the others, where packets choose between two ways, or NULL */
	struct cpl_times **among;
};

const struct cpl_phase *communication_phases(const struct job_traffic *job,
                                             struct cpl_phase *one, int *n)
{
	const struct cpl_signature *sig = job->sig;

	for (int i = 0; job->phase && i < sig->n_phases; i++)
		if (!strcmp(sig->phase[i].name, job->phase)) {
			*one = sig->phase[i];
			one->weight = 1;
			*n = 1;
			return one;
		}
	*n = sig->n_phases;
	return sig->phase;
}

/* A job by itself, or NULL with err. */
static struct cpl_times *place_job(const struct job_traffic *job,
                                   struct cpl_times_space *space,
                                   struct cpl_error *err)
{
	struct cpl_phase one;
	int n;
	const struct cpl_phase *phase = communication_phases(job, &one, &n);
	struct cpl_times *times = cpl_times_open(phase, n, job->sig->ranks, err);

	if (times && !cpl_times_order(times, NULL, job->ranks_per_node,
	                              job->n_nodes, err) &&
	    !cpl_times_put(times, space, job->node, err))
		return times;
	cpl_times_close(times);
	return NULL;
}

/* As it is to the others. */
static struct cpl_times *among_others(const struct judging *j, int i)
{
	return j->among[i] ? j->among[i] : j->times[i];
}

static int place_first(struct judging *j, const struct job_traffic *job, int i,
                       struct cpl_times_space *space,
                       const struct cpl_routing *by, struct cpl_error *err)
{
	bool twice = by->flags & CPL_ROUTING_TWO_WAYS;

	j->times[i] = place_job(job, space, err);
	if (twice)
		j->among[i] = place_job(job, space, err);
	if (!j->times[i] || (twice && !j->among[i]))
		return -1;
	cpl_times_add(among_others(j, i), 1, &j->rates);
	return 0;
}

/* All jobs are placed first, then where packets adapt each again, beside what the
 * others send. */
static int place_jobs(struct judging *j, const struct job_traffic *job, int n,
                      const struct cpl_routing *routing, struct cpl_error *err)
{
	struct cpl_times_space *space = NULL;
	const struct cpl_routing *last = NULL;
	int rc = 0;

	for (int i = 0; i < 2 * n && !rc; i++) {
		const struct job_traffic *at = &job[i % n];
		const struct cpl_routing *by = routing ? routing : at->routing;

		if (i >= n && by->add)
			continue;
		if (by != last) {
			cpl_times_space_free(space);
			space = cpl_times_space_adaptive(j->net, by, err);
		}
		last = by;
		rc = !space ? -1
		     : i < n ? place_first(j, at, i, space, by, err)
		             : cpl_times_adapt(among_others(j, i % n), space,
		                               at->node, &j->rates, err);
	}
	cpl_times_space_free(space);
	return rc;
}

/* Of packets that choose between two ways what others are to these is counted: detours
 * that are left besides would count them twice. */
static void judge_job(struct judging *j, int i, struct cpl_times_result *out)
{
	if (!j->among[i]) {
		cpl_times_judge(j->times[i], &j->rates, true, out);
		return;
	}
	cpl_times_add(j->among[i], -1, &j->rates);
	cpl_times_judge(j->times[i], &j->rates, false, out);
	cpl_times_add(j->among[i], 1, &j->rates);
}

static double busiest(const struct cpl_network *net,
                      const struct cpl_times *times)
{
	int64_t n;
	const struct cpl_times_rate *rate = cpl_times_rates(times, &n);
	double most = 0;

	for (int64_t i = 0; i < n; i++) {
		double u =
		        rate[i].rate / cpl_times_bandwidth(net, rate[i].link);

		most = u > most ? u : most;
	}
	return most;
}

int communication_judge(const struct cpl_network *net,
                        const struct job_traffic *job, int n,
                        const struct cpl_routing *routing,
                        const struct cpl_load *running,
                        struct communication *out, struct cpl_error *err)
{
	struct judging j = {.net = net,
	                    .times = calloc((size_t)n, sizeof(*j.times)),
	                    .among = calloc((size_t)n, sizeof(*j.among))};
	bool stored = true;
	int rc = -1;

	for (int i = 0; i < n; i++) {
		out[i] = (struct communication){0};
		stored = stored && job[i].stored;
	}
	if (cpl_out_of_memory(!j.times || !j.among, err) ||
	    cpl_load_init_rates(&j.rates, net, err))
		goto out;
	rc = 0;
	if (!stored)
		goto out;
	if (running)
		cpl_load_add(&j.rates, running, net);
	rc = place_jobs(&j, job, n, routing, err);
	for (int i = 0; i < n && !rc; i++) {
		out[i].known = true;
		judge_job(&j, i, &out[i].times);
		out[i].run = *cpl_times_run(j.times[i]);
		out[i].routing = routing ? routing : job[i].routing;
		out[i].utilisation = cpl_network_has_bandwidths(net)
		                             ? busiest(net, j.times[i])
		                             : -1;
	}
out:
	for (int i = 0; j.times && i < n; i++)
		cpl_times_close(j.times[i]);
	for (int i = 0; j.among && i < n; i++)
		cpl_times_close(j.among[i]);
	free(j.times);
	free(j.among);
	cpl_load_free(&j.rates);
	return rc;
}

const char *communication_head(const struct cpl_routing *routing)
{
	return routing->add ? "communication"
	                    : "communication, minimal routing";
}

double communication_slowdown(double seconds, double reference)
{
	return reference > 0 ? seconds / reference : 1;
}

void communication_accelerator(const struct cpl_network *net, int64_t link,
                               char *text, size_t size)
{
	const struct cpl_accelerators *a = &net->accelerators;
	bool domain = link >= cpl_times_inside(net, CPL_INSIDE_DOMAIN);
	int64_t i = link - cpl_times_inside(net, domain);

	snprintf(text, size, "%s %s %s accelerator %d",
	         domain ? "domain" : "node", i < a->n ? "from" : "to",
	         net->node_name[i % a->n / a->per_node],
	         (int)(i % a->per_node));
}

void communication_link(const struct cpl_network *net, int64_t link, char *text,
                        size_t size)
{
	int64_t cables = cpl_network_port_cables(net);
	int64_t cable = link - net->n_links;
	char port[24] = "";

	if (link >= cpl_times_inside(net, CPL_INSIDE_NODE)) {
		communication_accelerator(net, link, text, size);
		return;
	}
	if (cable >= 0 && net->n_ports > 1)
		snprintf(port, sizeof(port), " port %d",
		         (int)(cable % net->n_ports));
	if (link < 0)
		snprintf(text, size, "-");
	else if (cable < 0)
		snprintf(text, size, "%s %d -> %d",
		         net->link_class[net->link_class_of[link]].name,
		         net->link_from[link], net->link_to[link]);
	else
		snprintf(text, size, "%s %s%s", cable < cables ? "from" : "to",
		         net->node_name[cable % cables / net->n_ports], port);
}

json_t *communication_json(const struct cpl_network *net,
                           const struct communication *c, double reference)
{
	char link[96];

	if (!c->known)
		return json_null();
	communication_link(net, c->times.link, link, sizeof(link));
	return json_pack(
	        "{s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:b, s:s, s:f, s:f, s:o}",
	        "seconds", c->times.seconds, "alone", c->times.alone,
	        "slowdown", communication_slowdown(c->times.seconds, reference),
	        "waiting", c->times.waiting, "latency", c->times.latency,
	        "busiest", c->times.busiest,
	        "busiest_link", link, "exact", c->times.exact, "routing",
	        c->routing->name, "run_seconds", c->run.seconds, "share",
	        c->run.share, "utilisation",
	        c->utilisation < 0 ? json_null() : json_real(c->utilisation));
}
