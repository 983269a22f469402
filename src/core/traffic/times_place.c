/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A job on its nodes: the links of its phases and what is on them. */
#include "traffic/times_internal.h"

#include <math.h>

#include "network/type.h"
#include "traffic/accelerators.h"

/* Bytes of a pair's last packets, of all its messages, each after the other. */
static double last_packets(const struct times_pair *pair)
{
	double messages = fmax(pair->messages, 1);

	return fmin(pair->bytes / pair->pairs, CPL_TIMES_PACKET * messages);
}

/* Seconds of a byte over all of some links, and over the slowest. */
struct byte_times {
	double sum, most;
};

static void add_byte(struct byte_times *t, double part, double bandwidth)
{
	t->sum += part / bandwidth;
	t->most = fmax(t->most, part / bandwidth);
}

static struct byte_times over_ports(const struct cpl_network *net, int node)
{
	struct byte_times t = {0, 0};

	for (int k = 0; k < net->n_ports; k++)
		if (net->port_share[k] > 0)
			add_byte(&t, net->port_share[k],
			         cpl_network_port_bandwidth(
			                 net, (int64_t)node * net->n_ports + k));
	return t;
}

static struct byte_times over_route(const struct cpl_network *net,
                                    const struct cpl_share *share, int n)
{
	struct byte_times t = {0, 0};

	for (int i = 0; i < n; i++)
		add_byte(&t, share[i].part,
		         cpl_network_link_bandwidth(net, share[i].link));
	return t;
}

/* A flow's last packets take so many seconds. */
static void last_there(struct times_placing *p, double seconds)
{
	p->phase->latency = fmax(p->phase->latency, seconds);
	p->latency += seconds;
	p->n++;
}

static int64_t add_to_link(struct times_placing *p, int64_t link, double bytes,
                           double messages)
{
	int64_t at = times_use_link(p, link);

	if (at < 0)
		return -1;
	p->phase->link[at].bytes += bytes;
	p->phase->link[at].messages += messages;
	return at;
}

static int64_t from_port(const struct cpl_network *net, int node, int port)
{
	return net->n_links + (int64_t)node * net->n_ports + port;
}

static int64_t to_port(const struct cpl_network *net, int node, int port)
{
	return cpl_network_port_cables(net) + from_port(net, node, port);
}

/* Are both on one node, ports of it included? */
static bool stays(const struct times_placing *p, int a, int b)
{
	const struct cpl_network *ported = p->space->ported;

	return ported ? a / ported->n_ports == b / ported->n_ports : a == b;
}

/* The accelerators of a node that ranks have, where all have as many. */
static int used_accelerators(const struct times_placing *p)
{
	int ranks = (p->times->ranks - 1) / p->times->n_hosts + 1;
	int n = p->space->net->accelerators.per_node;

	return ranks < n ? ranks : n;
}

/* The links of accelerators that bytes between two nodes are on, or -1. */
static int inside(const struct times_placing *p, int a, int b)
{
	const struct cpl_network *net = p->space->net;

	if (!net->accelerators.per_node)
		return -1;
	if (stays(p, a, b))
		return used_accelerators(p) > 1
		               ? cpl_accelerators_inside(net, a)
		               : -1;
	return cpl_network_share_domain(net, a, b) ? CPL_INSIDE_DOMAIN : -1;
}

/* Do they wait for no link? */
static bool is_free(const struct times_placing *p, int a, int b)
{
	return stays(p, a, b) && inside(p, a, b) < 0;
}

static int64_t count_flows(const struct times_placing *p)
{
	const struct times_phase *phase = p->phase;
	int64_t n = 0;

	for (int h = 0; h < p->times->n_ends; h++)
		for (int64_t i = phase->first[h]; i < phase->first[h + 1]; i++)
			n += !is_free(p, p->node[h],
			              p->node[times_pair_at(phase, i).to]);
	return n;
}

/* For few flows: each with its paths. */

static int add_route(struct times_placing *p, int64_t *n, int64_t link, double part,
                   const struct times_pair *pair)
{
	struct times_phase *phase = p->phase;
	int64_t at =
	        add_to_link(p, link, part * pair->bytes, part * pair->messages);

	if (at < 0 || times_room(&phase->way, &phase->max_ways, *n + 1,
	                         sizeof(*phase->way), p->err))
		return -1;
	phase->way[(*n)++] = (struct times_path){(int)at, part};
	return 0;
}

/* Add the ports of a node that sends, or gets. */
static int add_ports(struct times_placing *p, int64_t *n, int node, bool sends,
                     const struct times_pair *pair)
{
	const struct cpl_network *net = p->space->net;

	for (int k = 0; k < net->n_ports; k++)
		if (net->port_share[k] > 0 &&
		    add_route(p, n,
		            sends ? from_port(net, node, k)
		                  : to_port(net, node, k),
		            net->port_share[k], pair))
			return -1;
	return 0;
}

/* Add the links of a node's accelerators of a kind. */
static int add_inside(struct times_placing *p, int64_t *n, int node, int kind,
                      bool sends, const struct times_pair *pair)
{
	const struct cpl_network *net = p->space->net;
	int used = used_accelerators(p);
	int64_t first = cpl_times_inside(net, kind) +
	                (sends ? 0 : net->accelerators.n) +
	                cpl_network_accelerator(net, node);

	for (int k = 0; k < used; k++)
		if (n ? add_route(p, n, first + k, 1.0 / used, pair)
		      : add_to_link(p, first + k, pair->bytes / used,
		                    pair->messages / used) < 0)
			return -1;
	return 0;
}

static int add_flow(struct times_placing *p, int64_t *n, struct times_flow *flow,
                    const struct times_pair *pair)
{
	const struct cpl_network *net = p->space->net;
	int from = p->node[flow->from], to = p->node[pair->to], shares;
	int kind = inside(p, from, to);
	const struct cpl_share *share =
	        cpl_route_find(&p->space->finder, cpl_network_station(net, from),
	                       cpl_network_station(net, to), &shares);
	struct byte_times out, way, in;

	if (kind >= 0)
		return add_inside(p, n, from, kind, true, pair) ||
		                       add_inside(p, n, to, kind, false, pair)
		               ? -1
		               : 0;
	out = over_ports(net, from);
	way = over_route(net, share, shares);
	in = over_ports(net, to);
	flow->late = cpl_network_route_latency(net, share, shares) +
	             last_packets(pair) * (out.sum + way.sum + in.sum);
	last_there(p, flow->late);
	/* Its own time has that of the slowest link. */
	flow->late -= last_packets(pair) * fmax(fmax(out.most, way.most), in.most);
	if (add_ports(p, n, from, true, pair))
		return -1;
	for (int i = 0; i < shares; i++)
		if (add_route(p, n, share[i].link, share[i].part, pair))
			return -1;
	return add_ports(p, n, to, false, pair);
}

static int place_flows(struct times_placing *p)
{
	struct times_phase *phase = p->phase;
	int64_t n_ways = 0;
	int n = 0;

	if (times_room(&phase->flow, &phase->max_flows, phase->n_flows + 1,
	               sizeof(*phase->flow), p->err) ||
	    times_room(&p->times->progress, &p->times->max_progress,
	               phase->n_flows, sizeof(*p->times->progress), p->err))
		return -1;
	for (int h = 0; h < p->times->n_ends; h++)
		for (int64_t i = phase->first[h]; i < phase->first[h + 1];
		     i++) {
			const struct times_pair pair = times_pair_at(phase, i);

			if (is_free(p, p->node[h], p->node[pair.to]))
				continue;
			phase->flow[n] = (struct times_flow){
			        .bytes = pair.bytes,
			        .pairs = pair.pairs,
			        .first = (int)n_ways,
			        .from = h,
			        .to = pair.to};
			if (add_flow(p, &n_ways, &phase->flow[n++], &pair))
				return -1;
		}
	phase->flow[n].first = (int)n_ways;
	if (times_room(&p->times->share, &p->times->max_share,
	               phase->n_links + 1, sizeof(*p->times->share), p->err) ||
	    times_room(&p->times->open, &p->times->max_open, phase->n_links,
	               sizeof(*p->times->open), p->err))
		return -1;
	return times_room(&p->times->flow_of, &p->times->max_flow_of, n_ways,
	                  sizeof(*p->times->flow_of), p->err);
}

/* For many flows: by pairs of stations. */

static int add_to_ports(struct times_placing *p, int64_t first, double bytes,
                        double messages)
{
	const struct cpl_network *net = p->space->net;

	for (int k = 0; k < net->n_ports; k++) {
		double part = net->port_share[k];

		if (part > 0 && add_to_link(p, first + k, part * bytes,
		                            part * messages) < 0)
			return -1;
	}
	return 0;
}

static int add_host(struct times_placing *p, int host, int *n_touched)
{
	const struct times_phase *phase = p->phase;
	struct cpl_times_space *space = p->space;
	int node = p->node[host];
	double bytes = 0, messages = 0;
	struct byte_times out = over_ports(space->net, node);

	for (int64_t i = phase->first[host]; i < phase->first[host + 1]; i++) {
		const struct times_pair pair = times_pair_at(phase, i);
		int there = p->node[pair.to];
		int station = cpl_network_station(space->net, there);
		int kind = inside(p, node, there);
		double last = last_packets(&pair);
		struct byte_times in;

		if (kind >= 0 &&
		    (add_inside(p, NULL, node, kind, true, &pair) ||
		     add_inside(p, NULL, there, kind, false, &pair)))
			return -1;
		if (kind >= 0 || stays(p, there, node))
			continue;
		bytes += pair.bytes;
		messages += pair.messages;
		if (add_to_ports(p, to_port(space->net, there, 0), pair.bytes,
		                 pair.messages))
			return -1;
		if (!(space->bytes[station] > 0))
			space->touched[(*n_touched)++] = station;
		space->bytes[station] += pair.bytes;
		space->messages[station] += pair.messages;
		space->packet[station] = fmax(space->packet[station], last);
		in = over_ports(space->net, there);
		space->ports[station] =
		        fmax(space->ports[station], last * (out.sum + in.sum));
		if (phase->round < 0)
			continue;
		/* Each flow of a round by itself counts, too. */
		space->most[station] = fmax(space->most[station], pair.bytes);
		space->slow[station] =
		        fmax(space->slow[station], fmax(out.most, in.most));
	}
	if (!(bytes > 0))
		return 0;
	return add_to_ports(p, from_port(space->net, node, 0), bytes, messages);
}

/* Add what the hosts of a station sent, and clear it. */
static int add_routes(struct times_placing *p, int from, int n_touched)
{
	struct cpl_times_space *space = p->space;
	const struct cpl_network *net = space->net;
	int rc = 0;

	for (int i = 0; i < n_touched; i++) {
		int to = space->touched[i], shares;
		const struct cpl_share *share =
		        cpl_route_find(&space->finder, from, to, &shares);
		struct byte_times way = over_route(net, share, shares);
		/* A round's own time has that of its last packets. */
		double slow = p->phase->round >= 0
		                      ? fmax(space->slow[to], way.most)
		                      : 0;

		for (int k = 0; k < shares && !rc; k++)
			if (add_to_link(p, share[k].link,
			                share[k].part * space->bytes[to],
			                share[k].part * space->messages[to]) <
			    0)
				rc = -1;
		p->own += space->most[to] * slow;
		last_there(p, cpl_network_route_latency(net, share, shares) +
		                       space->ports[to] +
		                       space->packet[to] * (way.sum - slow));
		space->bytes[to] = space->messages[to] = 0;
		space->packet[to] = space->ports[to] = 0;
		space->most[to] = space->slow[to] = 0;
	}
	return rc;
}

static int place_routers(struct times_placing *p)
{
	struct cpl_times_space *space = p->space;
	const struct cpl_network *net = space->net;
	int n = p->times->n_ends, rc = 0;

	if (times_room(&space->next, &space->max_hosts, n, sizeof(*space->next),
	               p->err))
		return -1;
	for (int h = n - 1; h >= 0; h--) {
		int *head = &space->head[cpl_network_station(net, p->node[h])];

		space->next[h] = *head;
		*head = h + 1;
	}
	for (int h = 0; h < n; h++) {
		int from = cpl_network_station(net, p->node[h]), n_touched = 0;
		int on = space->head[from];

		space->head[from] = 0;
		for (; on; on = space->next[on - 1])
			if (!rc && add_host(p, on - 1, &n_touched))
				rc = -1;
		if (add_routes(p, from, n_touched))
			rc = -1;
	}
	return rc;
}

/* Counts the flows of all phases. Rounds are gone through host by host where each has few
 * of them, as each flow needs its way for that. */
static void find_chains(struct times_placing *p)
{
	struct cpl_times *times = p->times;

	for (int k = 0, n; k < times->n_phases; k += n) {
		struct times_phase *first = &times->phase[k];
		bool few = first->round >= 0;

		n = times_rounds_from(times, k);
		for (p->phase = first; p->phase < first + n; p->phase++) {
			p->phase->n_flows = count_flows(p);
			few = few && p->phase->n_flows <= times->exact;
		}
		for (int i = 0; i < n; i++)
			first[i].chained = few;
	}
}

static int place_phase(struct times_placing *p)
{
	struct times_phase *phase = p->phase;
	bool adapts = p->space->workload;
	int rc;

	phase->n_links = 0;
	phase->latency = p->latency = p->own = 0;
	p->n = 0;
	phase->exact = !adapts && phase->n_flows <= p->times->exact;
	rc = phase->exact || phase->chained ? place_flows(p) : place_routers(p);
	/* The flow that has most of it is seldom the one that ends last. */
	if (p->n)
		phase->latency = (phase->latency + p->latency / (double)p->n) / 2;
	phase->own = p->n ? p->own / (double)p->n : 0;
	adapts = adapts && phase->n_flows;
	if (adapts && !rc)
		rc = times_adapt(p);
	/* Beside others, of what these leave to choose. */
	if (adapts && p->others && !rc)
		rc = times_adapt_to_others(p);
	/* Of 1 byte/s there are sums of bytes, no times. */
	if (!p->space->timed)
		times_stretch_latency(phase, 0);
	if (!rc)
		rc = times_rounds_room(p->times, phase, p->err);
	if (!rc)
		times_alone(p->times, phase);
	for (int64_t i = 0; i < phase->n_links; i++)
		p->space->at[phase->link[i].link] = 0;
	return rc;
}

/* The links of all phases, with sums of weight * bytes. */
static int sum_phases(struct cpl_times *times, struct cpl_times_space *space,
                      struct cpl_error *err)
{
	int rc = 0;

	times->n_rates = 0;
	for (int k = 0; k < times->n_phases && !rc; k++) {
		struct times_phase *phase = &times->phase[k];

		if (times_room(&times->rate, &times->max_rates,
		               times->n_rates + phase->n_links,
		               sizeof(*times->rate), err))
			rc = -1;
		for (int64_t i = 0; i < phase->n_links && !rc; i++) {
			struct times_link *l = &phase->link[i];
			int *at = &space->at[l->link];

			if (!*at) {
				times->rate[times->n_rates++] =
				        (struct cpl_times_rate){l->link, 0};
				*at = (int)times->n_rates;
			}
			l->rate = *at - 1;
			times->rate[l->rate].rate += phase->weight * l->bytes;
		}
	}
	for (int64_t i = 0; i < times->n_rates; i++)
		space->at[times->rate[i].link] = 0;
	return rc;
}

/* Hosts that are on one node, as lists of a host for each rank have them: ranks
 * share its ports, and what they send each other stays there. */
static int find_twins(struct cpl_times *times, struct cpl_times_space *space,
                      const int *node, struct cpl_error *err)
{
	int *seen = space->seen, n = times->n_hosts, rc = 0;

	times->twins = false;
	for (int h = 0; h < n; h++) {
		times->twins |= seen[node[h]] > 0;
		if (!seen[node[h]])
			seen[node[h]] = h + 1;
	}
	if (times->twins)
		rc = times_room(&times->twin, &times->max_twin, n,
		                sizeof(*times->twin), err);
	for (int h = 0; times->twins && !rc && h < n; h++)
		times->twin[h] = seen[node[h]] - 1;
	for (int h = 0; h < n; h++)
		seen[node[h]] = 0;
	return rc;
}

static int put_hosts(struct cpl_times *times, struct cpl_times_space *space,
                     const int *node, const struct cpl_load *others,
                     struct cpl_error *err)
{
	int ports = space->ported ? space->ported->n_ports : 1;
	struct times_placing p = {.times = times,
	                    .space = space,
	                    .others = others,
	                    .err = err};
	double busiest = 0;

	if (find_twins(times, space, node, err) ||
	    times_pair_up(times, space->ported, err))
		return -1;
	p.node = times->end_node;
	for (int i = 0; i < times->n_ends; i++)
		times->end_node[i] = node[i / ports] * ports + i % ports;
	times->net = space->net;
	times->timed = space->timed;
	times->choosing = space->workload && space->routing->send ? space->routing
	                                                          : NULL;
	times->staged = space->net->type->staged;
	times->at_once =
	        space->workload ? CPL_TIMES_ADAPTING_AT_ONCE : CPL_TIMES_AT_ONCE;
	find_chains(&p);
	for (int i = 0; i < times->n_phases; i++) {
		p.phase = &times->phase[i];
		if (place_phase(&p))
			return -1;
	}
	if (sum_phases(times, space, err))
		return -1;
	for (int64_t i = 0; !(times->run.seconds > 0) && i < times->n_rates; i++) {
		double seconds =
		        times->rate[i].rate /
		        cpl_times_bandwidth(space->net, times->rate[i].link);

		busiest = seconds > busiest ? seconds : busiest;
	}
	times->period = times->run.seconds > 0 ? times->run.seconds : busiest;
	for (int64_t i = 0; i < times->n_rates; i++)
		times->rate[i].rate /= times->period;
	if (times_room(&times->passed, &times->max_passed, times->n_rates,
	               sizeof(*times->passed), err))
		return -1;
	if (!others)
		times_whole(times);
	return 0;
}

int cpl_times_put(struct cpl_times *times, struct cpl_times_space *space,
                  const int *node, struct cpl_error *err)
{
	return put_hosts(times, space, node, NULL, err);
}

int cpl_times_adapt(struct cpl_times *times, struct cpl_times_space *space,
                    const int *node, struct cpl_load *rates,
                    struct cpl_error *err)
{
	if (!space->workload)
		return 0;
	cpl_times_add(times, -1, rates);
	if (put_hosts(times, space, node, rates, err))
		return -1;
	cpl_times_add(times, 1, rates);
	return 0;
}

int cpl_times_of(struct cpl_times_space *space, const struct cpl_times_job *job,
                 const struct cpl_load *background,
                 struct cpl_times_result *out, struct cpl_error *err)
{
	struct cpl_times *times =
	        cpl_times_open(job->phase, job->n_phases, job->ranks, err);
	int rc = -1;

	if (times &&
	    !cpl_times_order(times, job->rank_host, job->ranks_per_node,
	                     job->n_hosts, err) &&
	    !cpl_times_put(times, space, job->node, err)) {
		cpl_times_judge(times, background, false, out);
		rc = 0;
	}
	cpl_times_close(times);
	return rc;
}
