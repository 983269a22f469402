/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Over all intermediate routers a flow's source sends 1 / (n - 2) of it to
 * every router but itself and the destination, and its destination gets as much
 * from every one but itself and the source. So routers u and v exchange
 * (sent[u] + received[v] - 2 flow[u, v]) / (n - 2) bytes directly, and each
 * pair is spread once, whatever the flows are.
 */
#include <string.h>

#include "network/dragonfly/dragonfly_kinds.h"
#include "routing/routing.h"

struct kinds_solve {
	const struct cpl_network *net;
	const struct cpl_routing *direct;
	double *load;
	double *sent, *received; /* [routers] */
	double *out, *in;        /* [routers] links to all others, from them */
};

static size_t scratch_size(const struct cpl_network *net)
{
	return 4 * (size_t)net->n_routers * sizeof(double);
}

static double hops(const struct cpl_network *net, int from, int to)
{
	return cpl_routing_kinds_direct.hops(net, from, to);
}

/* There is no third router, so all flows go directly. */
static void go_directly(const struct kinds_solve *s,
                        const struct cpl_flows *flows,
                        struct cpl_routed *routed)
{
	for (int i = 0; i < flows->n_from; i++)
		for (int64_t m = flows->row[i]; m < flows->row[i + 1]; m++) {
			double n = s->direct->add_hops(
			        s->net, flows->from[i], flows->to[m],
			        flows->bytes[m], s->load);

			routed->hop_bytes += n * flows->bytes[m];
			if (n > routed->max_hops)
				routed->max_hops = n;
		}
}

static void sum_up(const struct kinds_solve *s, const struct cpl_flows *flows)
{
	for (int i = 0; i < flows->n_from; i++)
		for (int64_t m = flows->row[i]; m < flows->row[i + 1]; m++) {
			s->sent[flows->from[i]] += flows->bytes[m];
			s->received[flows->to[m]] += flows->bytes[m];
		}
}

/* Spreads the legs from router u; `row` is its row of flows if it has one. */
static double legs(const struct kinds_solve *s, int u,
                   const struct cpl_flows *flows, int row)
{
	int n = s->net->n_routers;
	int64_t m = row < 0 ? 0 : flows->row[row];
	int64_t end = row < 0 ? 0 : flows->row[row + 1];
	double hop_bytes = 0;

	for (int v = 0; v < n; v++) {
		double bytes = s->sent[u] + s->received[v], links;

		/* Each of the two sums contains the flow. */
		if (m < end && flows->to[m] == v)
			bytes -= 2 * flows->bytes[m++];
		if (v == u)
			continue;
		if (!(bytes > 0)) {
			links = s->direct->hops(s->net, u, v);
		} else {
			links = s->direct->add_hops(s->net, u, v,
			                            bytes / (n - 2), s->load);
			hop_bytes += links * bytes / (n - 2);
		}
		s->out[u] += links;
		s->in[v] += links;
	}
	return hop_bytes;
}

static double farthest(const struct kinds_solve *s,
                       const struct cpl_flows *flows)
{
	double most = 0;

	for (int i = 0; i < flows->n_from; i++)
		for (int64_t m = flows->row[i]; m < flows->row[i + 1]; m++) {
			int from = flows->from[i], to = flows->to[m];
			double mean = (s->out[from] + s->in[to] -
			               2 * hops(s->net, from, to)) /
			              (s->net->n_routers - 2);

			if (mean > most)
				most = mean;
		}
	return most;
}

static void solve(const struct cpl_network *net, const struct cpl_flows *flows,
                  void *scratch, double *load, struct cpl_routed *routed)
{
	int n = net->n_routers, row = 0;
	struct kinds_solve s = {.net = net,
	                        .direct = &cpl_routing_kinds_direct,
	                        .load = load,
	                        .sent = scratch};

	*routed = (struct cpl_routed){0, 0};
	if (n < 3) {
		go_directly(&s, flows, routed);
		return;
	}
	s.received = s.sent + n;
	s.out = s.received + n;
	s.in = s.out + n;
	memset(scratch, 0, scratch_size(net));
	sum_up(&s, flows);
	for (int u = 0; u < n; u++) {
		bool sends = row < flows->n_from && flows->from[row] == u;

		routed->hop_bytes += legs(&s, u, flows, sends ? row : -1);
		row += sends;
	}
	routed->max_hops = farthest(&s, flows);
}

const struct cpl_routing cpl_routing_kinds_indirect = {
        .name = "static-indirect",
        .short_name = "SI",
        .type = &cpl_network_dragonfly_kinds,
        .summary = "evenly over all intermediate routers, in expectation",
        .solve = solve,
        .scratch_size = scratch_size,
        .hops = hops,
};
