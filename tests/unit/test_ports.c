/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes with several ports: what each policy puts on ports and links, against
 * an enumeration of all shortest ways of random machines; and that what takes
 * hosts as a whole agrees with it.
 */
#include "unit.h"

#include "mapping/mappers.h"
#include "mapping/quick.h"
#include "number.h"
#include "placement/decide.h"
#include "placement/placement.h"
#include "routing_cases.h"
#include "signature/signature.h"
#include "traffic/distance.h"
#include "traffic/moves.h"
#include "traffic/times_internal.h"
#include "traffic/workload.h"

#define MACHINES 40
#define MAX_ROUTERS 7
#define MAX_NODES 8
#define MAX_PORTS 4
#define MAX_RANKS 24

static const char *const uses[] = {"spread", "round-robin", "nearest", "first"};

/* A machine as the test knows it. */
struct machine {
	int routers, nodes, ports, use;
	int joined[MAX_ROUTERS][MAX_ROUTERS];
	int hops[MAX_ROUTERS][MAX_ROUTERS];
	int at[MAX_NODES][MAX_PORTS]; /* routers, increasing */
	double bandwidth[MAX_PORTS];
	struct cpl_network *net;
	int id[MAX_NODES]; /* node ids in net */
	double link[MAX_ROUTERS][MAX_ROUTERS];
	double in[MAX_NODES][MAX_PORTS], out[MAX_NODES][MAX_PORTS];
	double hop_bytes, in_node;
};

static void measure(struct machine *m)
{
	for (int a = 0; a < m->routers; a++)
		for (int b = 0; b < m->routers; b++)
			m->hops[a][b] = a == b           ? 0
			                : m->joined[a][b] ? 1
			                                  : 99;
	for (int k = 0; k < m->routers; k++)
		for (int a = 0; a < m->routers; a++)
			for (int b = 0; b < m->routers; b++)
				if (m->hops[a][k] + m->hops[k][b] <
				    m->hops[a][b])
					m->hops[a][b] =
					        m->hops[a][k] + m->hops[k][b];
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void draw_machine(struct machine *m, uint64_t seed)
{
	uint64_t at = 10;

	memset(m, 0, sizeof(*m));
	m->routers = draw(seed, 0, 2, MAX_ROUTERS);
	m->nodes = draw(seed, 1, 2, MAX_NODES);
	m->ports = draw(seed, 2, 2, MAX_PORTS);
	m->use = (int)(seed / 2 % 4);
	for (int r = 1; r < m->routers; r++) {
		int to = draw(seed, at++, 0, r - 1);

		m->joined[r][to] = m->joined[to][r] = 1;
	}
	for (int i = 0; i < m->routers; i++) {
		int a = draw(seed, at++, 0, m->routers - 1);
		int b = draw(seed, at++, 0, m->routers - 1);

		if (a != b)
			m->joined[a][b] = m->joined[b][a] = 1;
	}
	measure(m);
	for (int n = 0; n < m->nodes; n++) {
		for (int p = 0; p < m->ports; p++)
			m->at[n][p] = n % 3 == 2
			                      ? m->at[n - 1][p]
			                      : draw(seed, at++, 0,
			                             m->routers - 1);
		qsort(m->at[n], (size_t)m->ports, sizeof(int), by_number);
	}
	for (int p = 0; p < m->ports; p++)
		m->bandwidth[p] = draw(seed, at++, 1, 4);
}

#define ADD(...) n += (size_t)snprintf(text + n, sizeof(text) - n, __VA_ARGS__)

static void read_machine(struct machine *m, const char *routing)
{
	char text[4096];
	size_t n = 0;

	ADD("{\"format\": \"commplace-network\", \"version\": 1, "
	    "\"type\": \"graph\", \"routers\": %d, \"nodes_per_router\": %d, "
	    "\"routing\": \"%s\", \"ports\": {\"count\": %d, \"use\": \"%s\", "
	    "\"bandwidth\": [",
	    m->routers, MAX_NODES * MAX_PORTS, routing, m->ports, uses[m->use]);
	for (int p = 0; p < m->ports; p++)
		ADD("%s%g", p ? ", " : "", m->bandwidth[p]);
	ADD("]}, \"links\": [");
	for (int a = 0, any = 0; a < m->routers; a++)
		for (int b = a + 1; b < m->routers; b++)
			if (m->joined[a][b])
				ADD("%s[%d, %d]", any++ ? ", " : "", a, b);
	ADD("], \"nodes\": {");
	for (int r = 0, any = 0; r < m->routers; r++) {
		int here = 0;

		for (int i = 0; i < m->nodes; i++)
			for (int p = 0; p < m->ports; p++)
				if (m->at[i][p] == r) {
					if (!here++)
						ADD("%s\"%d\": \"",
						    any++ ? ", " : "", r);
					else
						ADD(",");
					ADD("n%d", i);
				}
		if (here)
			ADD("\"");
	}
	ADD("}}");
	m->net = parse_network(text);
	for (int i = 0; i < m->nodes; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		m->id[i] = cpl_network_node(m->net, name);
		assert_true(m->id[i] >= 0);
		for (int p = 0; p < m->ports; p++)
			assert_int_equal(cpl_network_port(m->net, m->id[i], p),
			                 m->at[i][p]);
	}
}

/* All shortest ways, or the one over the lowest routers. */
static int count_ways(const struct machine *m, int from, int to)
{
	int n = 0;

	if (from == to)
		return 1;
	for (int r = 0; r < m->routers; r++)
		if (m->joined[from][r] && m->hops[r][to] < m->hops[from][to])
			n += count_ways(m, r, to);
	return n;
}

static void go(struct machine *m, int from, int to, double bytes, bool all)
{
	int ways = count_ways(m, from, to);

	if (from == to)
		return;
	for (int r = 0; r < m->routers; r++) {
		double part = bytes;

		if (!m->joined[from][r] || m->hops[r][to] >= m->hops[from][to])
			continue;
		if (all)
			part *= (double)count_ways(m, r, to) / ways;
		m->link[from][r] += part;
		m->hop_bytes += part;
		go(m, r, to, part, all);
		if (!all)
			return;
	}
}

static void carry(struct machine *m, int a, int p, int b, int q, double bytes,
                  bool all)
{
	m->out[a][p] += bytes;
	m->in[b][q] += bytes;
	go(m, m->at[a][p], m->at[b][q], bytes, all);
}

static int port_of(const struct machine *m, int i, int each)
{
	return m->use == 1 ? i % m->ports : m->use == 2 ? i * m->ports / each : 0;
}

/* Ranks `each` to a node, from node 0 on. */
static void send(struct machine *m, int rank, int to, int each, int ranks,
                 double bytes, bool all)
{
	int a = rank / each, b = to / each;
	int last = (ranks - 1) / each, rest = ranks - last * each;
	double sum = 0;

	if (a == b) {
		m->in_node += bytes;
		return;
	}
	if (m->use) {
		carry(m, a, port_of(m, rank % each, a == last ? rest : each), b,
		      port_of(m, to % each, b == last ? rest : each), bytes,
		      all);
		return;
	}
	for (int p = 0; p < m->ports; p++)
		sum += m->bandwidth[p];
	for (int p = 0; p < m->ports; p++)
		carry(m, a, p, b, p, bytes * m->bandwidth[p] / sum, all);
}

static struct cpl_comm *draw_comm(uint64_t seed, int ranks)
{
	struct cpl_comm_entry entry[3 * MAX_RANKS];
	struct cpl_error err = {""};
	int n = 3 * ranks;

	for (int i = 0; i < n; i++)
		entry[i] = (struct cpl_comm_entry){
		        draw(seed, 1000 + 3 * (uint64_t)i, 0, ranks - 1),
		        draw(seed, 1001 + 3 * (uint64_t)i, 0, ranks - 1),
		        draw(seed, 1002 + 3 * (uint64_t)i, 1, 1000), 1};
	return cpl_comm_build(ranks, entry, n, &err);
}

static void compare(const struct machine *m, const struct cpl_load *load)
{
	const struct cpl_network *net = m->net;

	for (int64_t l = 0; l < net->n_links; l++)
		assert_number(load->link[l],
		              m->link[net->link_from[l]][net->link_to[l]],
		              1e-9 * 72000);
	for (int i = 0; i < m->nodes; i++)
		for (int p = 0; p < m->ports; p++) {
			int cable = m->id[i] * m->ports + p;

			assert_number(load->injection[cable], m->out[i][p],
			              1e-9 * 72000);
			assert_number(load->ejection[cable], m->in[i][p],
			              1e-9 * 72000);
			assert_number(cpl_network_port_bandwidth(net, cable),
			              m->bandwidth[p], 0);
		}
}

/* Times: few flows exactly, or all by pairs of routers; hosts as such, or once
 * for each of their ranks. */
static void compare_times(struct machine *m, struct cpl_comm *comm, int each,
                          bool by_rank)
{
	int node[MAX_RANKS];
	struct cpl_phase phase = {.weight = 1, .comm = comm};
	struct cpl_error err = {""};
	struct cpl_times_space *space = cpl_times_space_new(
	        m->net, cpl_routing_find(m->net, NULL, &err), &err);
	struct cpl_times *times = cpl_times_open(&phase, 1, comm->ranks, &err);
	const struct cpl_times_rate *rate;
	struct cpl_load load;
	int64_t n;

	assert_int_equal(cpl_load_init(&load, m->net, &err), 0);
	for (int r = 0; r < comm->ranks; r++)
		node[r] = m->id[r / each];
	assert_int_equal(cpl_times_order(times, NULL, by_rank ? 1 : each,
	                                 by_rank ? comm->ranks : m->nodes,
	                                 &err),
	                 0);
	assert_int_equal(
	        cpl_times_put(times, space, by_rank ? node : m->id, &err), 0);
	rate = cpl_times_rates(times, &n);
	for (int64_t i = 0; i < n; i++)
		*cpl_times_at(&load, rate[i].link) +=
		        rate[i].rate * times->period;
	compare(m, &load);
	cpl_load_free(&load);
	cpl_times_close(times);
	cpl_times_space_free(space);
}

static void test_traffic(void **state)
{
	for (uint64_t seed = 0; seed < MACHINES; seed++) {
		bool all = seed & 1;
		struct cpl_error err = {""};
		struct machine m;
		struct cpl_comm *comm;
		struct cpl_workload *w;
		int each = draw(seed, 3, 1, 3), ranks;

		draw_machine(&m, seed);
		read_machine(&m, all ? "ecmp" : "shortest-path");
		ranks = (m.nodes - 1) * each + draw(seed, 4, 1, each);
		comm = draw_comm(seed, ranks);
		for (int r = 0; r < ranks; r++)
			for (int64_t e = comm->row[r]; e < comm->row[r + 1];
			     e++)
				send(&m, r, comm->to[e], each, ranks,
				     comm->bytes[e], all);
		w = cpl_workload_new(m.net, 1, &err);
		assert_non_null(w);
		assert_int_equal(
		        cpl_workload_add(
		                w,
		                &(struct cpl_job){
		                        .routing = cpl_routing_find(
		                                m.net, NULL, &err),
		                        .comm = comm,
		                        .node = m.id,
		                        .ranks_per_node = each},
		                &err),
		        0);
		assert_int_equal(cpl_workload_solve(w, &err), 0);
		compare(&m, cpl_workload_load(w));
		assert_number(cpl_workload_sums(w, 0)->hop_bytes, m.hop_bytes,
		              1e-9 * 72000);
		assert_number(cpl_workload_sums(w, 0)->bytes_in_node, m.in_node,
		              1e-9 * 72000);
		cpl_workload_free(w);
		/* All ways together are not what times go by. */
		for (int by_rank = 0; !all && by_rank < 2; by_rank++)
			compare_times(&m, comm, each, by_rank);
		cpl_comm_free(comm);
		cpl_network_free(m.net);
	}
}

/* Hosts whose ranks are not told apart: the mean over ports. */
static void send_hosts(struct machine *m, const struct cpl_comm *comm)
{
	for (int a = 0; a < comm->ranks; a++)
		for (int64_t e = comm->row[a]; e < comm->row[a + 1]; e++) {
			int b = comm->to[e];
			double part = 1.0 / m->ports;

			if (a == b)
				m->in_node += comm->bytes[e];
			else if (m->use == 0 || m->use == 3)
				send(m, a, b, 1, comm->ranks, comm->bytes[e],
				     false);
			else
				for (int p = 0; p < m->ports; p++)
					for (int q = 0; q < m->ports; q++)
						carry(m, a, p, b, q,
						      comm->bytes[e] * part *
						              part,
						      false);
		}
}

static double busiest_port(const struct machine *m)
{
	double most = 0;

	for (int i = 0; i < m->nodes; i++)
		for (int p = 0; p < m->ports; p++) {
			double in = m->in[i][p] / m->bandwidth[p];
			double out = m->out[i][p] / m->bandwidth[p];

			most = in > most ? in : most;
			most = out > most ? out : most;
		}
	return most;
}

/* Searches by increments, few flows, and all. */
static void compare_hosts(struct machine *m, const struct cpl_comm *comm,
                          bool few)
{
	const struct cpl_routing *routing;
	struct cpl_error err = {""};
	struct cpl_evaluator ev;
	struct cpl_figures figures;
	struct cpl_moves moves;
	struct cpl_distance distance;
	double hop_bytes = 0;

	routing = cpl_routing_find(m->net, NULL, &err);
	assert_int_equal(cpl_evaluator_open(&ev, m->net, routing, NULL, NULL,
	                                    few ? -1 : 1 << 20, false, &err),
	                 0);
	assert_int_equal(ev.few, few);
	assert_int_equal(cpl_evaluate(&ev, comm, m->id, &figures, &err), 0);
	assert_number(figures.metrics.max_injection, busiest_port(m), 1e-9 * 72000);
	assert_number(figures.sums.hop_bytes, m->hop_bytes, 1e-9 * 72000);
	cpl_evaluator_close(&ev);
	assert_int_equal(cpl_moves_init(&moves, m->net, routing, m->id,
	                                m->nodes, NULL, &err),
	                 0);
	assert_int_equal(cpl_moves_job(&moves, comm, m->id, false, &err), 0);
	for (int64_t l = 0; l < m->net->n_links; l++)
		assert_number(
		        moves.load[l],
		        m->link[m->net->link_from[l]][m->net->link_to[l]],
		        1e-9 * 72000);
	cpl_moves_free(&moves);
	assert_int_equal(cpl_distance_init(&distance, m->net, routing, m->id,
	                                   m->nodes, &err),
	                 0);
	for (int a = 0; a < comm->ranks; a++)
		for (int64_t e = comm->row[a]; e < comm->row[a + 1]; e++)
			hop_bytes += comm->bytes[e] *
			             cpl_distance_between(
			                     &distance, distance.leaf[a],
			                     distance.leaf[comm->to[e]]);
	assert_number(hop_bytes, m->hop_bytes, 1e-6 * 72000);
	cpl_distance_free(&distance);
}

static void test_hosts(void **state)
{
	for (uint64_t seed = 0; seed < MACHINES; seed++) {
		struct machine m;
		struct cpl_comm *comm;

		draw_machine(&m, seed);
		read_machine(&m, "shortest-path");
		comm = draw_comm(seed, m.nodes);
		send_hosts(&m, comm);
		compare_hosts(&m, comm, true);
		compare_hosts(&m, comm, false);
		cpl_comm_free(comm);
		cpl_network_free(m.net);
	}
}

/* What the full model has for a decision, or for stock's nodes mapped. */
static struct cpl_figures judge(const struct cpl_decide_request *req,
                                const int *node, const int *rank_host)
{
	struct cpl_job job = {.routing = req->routing,
	                      .comm = req->comm,
	                      .node = node,
	                      .rank_host = rank_host,
	                      .ranks_per_node = req->ranks_per_node};
	struct cpl_error err = {""};
	struct cpl_workload *w = cpl_workload_new(req->place.net, 1, &err);
	struct cpl_figures f;

	assert_non_null(w);
	assert_int_equal(cpl_workload_evaluate(w, &job, NULL, &f.metrics,
	                                       &f.sums, &err),
	                 0);
	f.metrics.seconds = cpl_traffic_seconds(req->place.net,
	                                        cpl_workload_load(w), NULL);
	cpl_workload_free(w);
	return f;
}

static struct cpl_figures judge_stock(const struct cpl_decide_request *req)
{
	int slots[MAX_NODES];
	struct cpl_map_request map = {.net = req->place.net,
	                              .routing = req->routing,
	                              .comm = req->comm,
	                              .n_hosts = req->place.n_nodes_wanted,
	                              .host = req->stock,
	                              .slots = slots,
	                              .objective = req->wish.objective,
	                              .seed = req->place.seed};
	struct cpl_error err = {""};
	struct cpl_map_result r;
	struct cpl_figures f;

	for (int i = 0; i < MAX_NODES; i++)
		slots[i] = req->ranks_per_node;
	assert_int_equal(cpl_map(&cpl_mapper_quick, &map, &r, &err), 0);
	f = judge(req, req->stock, r.rank_host);
	cpl_map_result_free(&r);
	return f;
}

/* A decision says what the full model says of it, and is no worse by it than
 * the stock nodes. */
static void check_decision(const struct cpl_decide_request *req)
{
	struct cpl_figures told, own, stock;
	struct cpl_error err = {""};
	struct cpl_decision d;
	double first;

	assert_int_equal(cpl_decide(req, &d, &err), 0);
	cpl_candidate_figures(&d.candidate[d.chosen], &told);
	own = judge(req, d.node, d.rank_host);
	stock = judge_stock(req);
	assert_number(told.metrics.max_congestion, own.metrics.max_congestion,
	              1e-9);
	assert_number(told.metrics.mean_congestion, own.metrics.mean_congestion,
	              1e-9);
	assert_number(told.metrics.max_injection, own.metrics.max_injection,
	              1e-9);
	assert_number(told.metrics.seconds, own.metrics.seconds, 1e-9);
	assert_number(told.sums.hop_bytes, own.sums.hop_bytes, 1e-9);
	assert_number(told.sums.bytes_in_node, own.sums.bytes_in_node, 1e-9);
	first = cpl_objective_first(req->wish.objective, &own.metrics,
	                            own.sums.hop_bytes);
	assert_true(first <= cpl_objective_first(req->wish.objective,
	                                         &stock.metrics,
	                                         stock.sums.hop_bytes) *
	                             (1 + 1e-9));
	cpl_decision_free(&d);
}

static void test_decisions(void **state)
{
	for (uint64_t seed = 0; seed < 4 * MACHINES; seed++) {
		struct cpl_error err = {""};
		struct machine m;
		unsigned char free[MAX_NODES];
		int each = draw(seed, 5, 1, 3), stock[MAX_NODES];
		struct cpl_decide_request req = {
		        .place = {.free = free, .seed = seed},
		        .ranks_per_node = each,
		        .wish.mapper = &cpl_mapper_quick,
		        .stock = stock};
		struct cpl_comm *comm;

		draw_machine(&m, seed);
		read_machine(&m, seed & 1 ? "ecmp" : "shortest-path");
		memset(free, 1, sizeof(free));
		for (int i = 0; i < m.nodes; i++)
			stock[i] = m.id[m.nodes - 1 - i];
		req.place.net = m.net;
		req.place.n_nodes_wanted = draw(seed, 6, 1, m.nodes);
		req.routing = cpl_routing_find(m.net, NULL, &err);
		comm = draw_comm(seed, req.place.n_nodes_wanted * each);
		req.comm = comm;
		for (int k = 0; k < 4; k++) {
			req.wish.policy = k % 2 ? &cpl_placement_traffic
			                        : &cpl_placement_auto;
			req.wish.objective =
			        k / 2 ? CPL_OBJECTIVE_TIME : CPL_OBJECTIVE_MAX;
			check_decision(&req);
		}
		cpl_comm_free(comm);
		cpl_network_free(m.net);
	}
}

/* Hosts that move and change places with all their ports, to the bit. */
static void test_moves_of_hosts(void **state)
{
	for (uint64_t seed = 0; seed < MACHINES; seed++) {
		struct machine m;
		struct cpl_error err = {""};
		const struct cpl_routing *routing;
		struct cpl_rank_groups groups;
		struct cpl_moves moves, afresh;
		struct cpl_comm *comm;
		int size[MAX_NODES], cable[MAX_NODES * MAX_PORTS], hosts;

		draw_machine(&m, seed);
		read_machine(&m, "shortest-path");
		if (m.use != 1 && m.use != 2) {
			assert_null(m.net->by_port);
			cpl_network_free(m.net);
			continue;
		}
		routing = cpl_routing_find(m.net, NULL, &err);
		hosts = m.nodes > 2 ? m.nodes - 1 : 2;
		for (int i = 0; i < hosts; i++)
			size[i] = 3;
		comm = draw_comm(seed, 3 * hosts);
		assert_int_equal(cpl_rank_groups_blocks(&groups, m.net, comm,
		                                        size, hosts, &err),
		                 0);
		for (int i = 0; i < m.nodes * m.ports; i++)
			cable[i] = i;
		assert_int_equal(cpl_moves_init(&moves, m.net->by_port, routing,
		                                NULL, 0, NULL, &err),
		                 0);
		assert_int_equal(cpl_moves_job(&moves, groups.ports, cable,
		                               true, &err),
		                 0);
		moves.ports = m.ports;
		cpl_moves_lift(&moves, 0);
		cpl_moves_put_swap(&moves, 0, 1);
		cpl_moves_keep(&moves);
		cpl_moves_lift(&moves, 1);
		cpl_moves_put(&moves, 1, m.nodes - 1);
		cpl_moves_keep(&moves);
		for (int p = 0; p < m.ports; p++) {
			cable[p] = m.ports + p;
			cable[m.ports + p] = (m.nodes - 1) * m.ports + p;
		}
		assert_memory_equal(moves.node, cable,
		                    (size_t)(hosts * m.ports) * sizeof(int));
		assert_int_equal(cpl_moves_init(&afresh, m.net->by_port,
		                                routing, NULL, 0, NULL, &err),
		                 0);
		assert_int_equal(cpl_moves_job(&afresh, groups.ports, cable,
		                               true, &err),
		                 0);
		assert_memory_equal(moves.load, afresh.load,
		                    (size_t)m.net->n_links * sizeof(double));
		cpl_moves_free(&moves);
		cpl_moves_free(&afresh);
		cpl_rank_groups_free(&groups);
		cpl_comm_free(comm);
		cpl_network_free(m.net);
	}
}

/* A host list: blocks of as many routers as ports. */
static void test_blocks(void **state)
{
	struct cpl_network *net = parse_network(
	        "{\"format\": \"commplace-network\", \"version\": 1, "
	        "\"type\": \"dragonfly\", \"groups\": 2, \"rows\": 1, "
	        "\"columns\": 4, \"nodes_per_router\": 3, "
	        "\"bandwidth\": {\"injection\": 5}, "
	        "\"ports\": {\"count\": 2}, \"nodes\": \"n[0-11]\"}");
	const struct cpl_level *group = cpl_network_level(net, "group");

	assert_int_equal(net->n_nodes, 12);
	assert_int_equal(net->n_stations, 4);
	assert_int_equal(cpl_network_port_cables(net), 24);
	for (int i = 0; i < 12; i++) {
		assert_int_equal(cpl_network_port(net, i, 0), i / 3 * 2);
		assert_int_equal(cpl_network_port(net, i, 1), i / 3 * 2 + 1);
		assert_int_equal(cpl_network_station(net, i), i / 3);
	}
	assert_number(net->port_bandwidth[1], 5, 0);
	assert_int_equal(cpl_network_nodes(net, 2).n, 3);
	assert_int_equal(cpl_network_nodes(net, 3).n, 0);
	assert_int_equal(group->first[1], 6);
	assert_int_equal(group->first_router[1], 4);
	cpl_network_free(net);
}

/* Every policy gives as many different free nodes as are wanted. */
static void test_policies(void **state)
{
	for (uint64_t seed = 0; seed < MACHINES; seed++) {
		struct machine m;
		int placed = 0;

		draw_machine(&m, seed);
		read_machine(&m, "shortest-path");
		for (int i = 0; cpl_placement_at(i); i++) {
			const struct cpl_placement_policy *policy =
			        cpl_placement_at(i);
			unsigned char free[MAX_NODES];
			struct cpl_placement_request req = {
			        .net = m.net, .free = free,
			        .n_nodes_wanted = m.nodes - 1, .seed = seed};
			struct cpl_error err = {""};
			int node[MAX_NODES];

			memset(free, 1, sizeof(free));
			free[0] = 0;
			if (!cpl_placement_takes(policy, m.net->type) ||
			    !policy->place || policy->check ||
			    policy->place(&req, node, &err))
				continue;
			placed++;
			for (int k = 0; k < m.nodes - 1; k++) {
				assert_in_range(node[k], 1, m.nodes - 1);
				assert_true(free[node[k]]);
				free[node[k]] = 0;
			}
			memset(free + 1, 1, sizeof(free) - 1);
		}
		assert_true(placed >= 4);
		cpl_network_free(m.net);
	}
}

static void refuse(const char *ports, const char *nodes, const char *why)
{
	struct cpl_error err = {""};
	struct cpl_network *net;
	char text[1024];

	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-network\", \"version\": 1, "
	         "\"type\": \"graph\", \"routers\": 3, \"nodes_per_router\": "
	         "2, \"links\": [[0, 1], [1, 2]], \"ports\": %s, "
	         "\"nodes\": %s}",
	         ports, nodes);
	net = cpl_network_parse(text, strlen(text), "net", &err);
	assert_null(net);
	if (!strstr(err.text, why))
		fail_msg("%s: %s, not %s", text, err.text, why);
}

static void test_refused(void **state)
{
	refuse("2", "\"n[0-2]\"", "\"ports\" must be an object");
	refuse("{\"cuont\": 2}", "\"n[0-2]\"", "cuont");
	refuse("{\"count\": 17}", "\"n[0-2]\"", "17");
	refuse("{\"count\": 0}", "\"n[0-2]\"", "ports: ");
	refuse("{\"count\": 2, \"use\": \"any\"}", "\"n[0-2]\"",
	       "ports: \"use\" is \"any\"");
	refuse("{\"count\": 2, \"bandwidth\": [1]}", "\"n[0-2]\"",
	       "an array of 2 numbers");
	refuse("{\"count\": 2, \"bandwidth\": [1, 0]}", "\"n[0-2]\"",
	       "\"bandwidth\"[1]");
	refuse("{\"count\": 2}", "\"n[0-2]\"",
	       "3 routers with nodes are no multiple of \"ports\" 2");
	refuse("{\"count\": 3}", "\"n[0-2]\"", "names 3 hosts; the sizes make 2");
	refuse("{\"count\": 2}", "{\"0\": \"n[0-1]\", \"1\": \"n0\"}",
	       "host n1 is on 1 router; \"ports\" says 2");
	refuse("{\"count\": 2}", "{\"0\": \"n[0-1]\", \"1\": \"n[0-1]\", "
	                         "\"2\": \"n0\"}",
	       "host n0 is on 3 routers");
	refuse("{\"count\": 2}", "{\"0\": \"n[0-2]\", \"1\": \"n[0-2]\"}",
	       "router 0: 3 ports of hosts; nodes_per_router is 2");
	refuse("{\"count\": 2}", "{\"0\": 5}", "router 0: a string");
	refuse("{\"count\": 2}", "{}", "names no host");
	refuse("{\"count\": 2}", "5", "wrong type");
}

/* The parts of the least bandwidths, and of the largest. */
static void test_shares(void **state)
{
	static const char *const bandwidths[] = {"5e-324, 5e-324",
	                                         "1.7e308, 1.7e308"};

	for (int i = 0; i < 2; i++) {
		char text[512];
		struct cpl_network *net;

		snprintf(text, sizeof(text),
		         "{\"format\": \"commplace-network\", "
		         "\"version\": 1, \"type\": \"graph\", "
		         "\"routers\": 2, \"links\": [[0, 1]], "
		         "\"bandwidth\": {\"link\": 1e9}, "
		         "\"ports\": {\"count\": 2, \"bandwidth\": [%s]}, "
		         "\"nodes\": \"n0\"}",
		         bandwidths[i]);
		net = parse_network(text);
		assert_true(net->port_share[0] == 0.5);
		assert_true(net->port_share[1] == 0.5);
		cpl_network_free(net);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_traffic),
	        cmocka_unit_test(test_hosts),
	        cmocka_unit_test(test_decisions),
	        cmocka_unit_test(test_moves_of_hosts),
	        cmocka_unit_test(test_blocks),
	        cmocka_unit_test(test_policies),
	        cmocka_unit_test(test_refused),
	        cmocka_unit_test(test_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
