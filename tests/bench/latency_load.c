/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Latency of messages over load, on the packet level:
 *
 *   latency_load [OPTION]... NETWORK PATTERN ROUTING LOAD...
 *
 * In each cycle each node sends a message of one packet with the probability
 * LOAD, whatever the network does with it (open loop, Bernoulli). A cycle is
 * the time that a link of bandwidth 1 takes for a packet, and a second of the
 * simulation. For each LOAD a line: it, the mean cycles of the messages that
 * were sent in the measured window, packets that arrived in it for each node
 * and cycle, and messages measured. ROUTING: as of `commplace simulate`.
 *
 *   -w CYCLES   before the window, and sending behind it (2000)
 *   -m CYCLES   window (6000)
 *   -l CYCLES   latency of a link (1)
 *   -b PACKETS  buffers of a channel (1024)
 *   -c N        channels that serve alike (1)
 *   -s SEED     of all that is drawn (1)
 *   -t CYCLES   instead of a line for each LOAD, of which there are two: the
 *               largest load between them whose mean is at most that, by
 *               halving six times
 *
 * Patterns: uniform; tornado, nearly half way round each dimension; neighbour,
 * +1 in each dimension, elsewhere the next node; adversarial, to random nodes
 * of the next group; complement, node n - 1 - i. What a node sends to itself is
 * not put on the network, but counted as an empty way over two links, as peers
 * send it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "simulate/simulate.h"

enum { STREAM_SENDS = 1, STREAM_TO };

#define HALVINGS 6

struct setup {
	const struct cpl_network *net;
	const struct pattern *pattern;
	struct cpl_sim_options options;
	int warm, window;
	double latency; /* of a link */
};

struct point {
	double begin, end; /* the window */
	double sum, n;     /* of messages sent in it */
	double arrived;    /* in it */
};

struct pattern {
	const char *name;
	bool (*fits)(const struct cpl_network *net);
	int (*to)(const struct cpl_network *net, int from, uint64_t random);
};

static bool fits_any(const struct cpl_network *net)
{
	return net->n_nodes > 1;
}

static bool fits_product(const struct cpl_network *net)
{
	return net->product.n_dims && net->node_is_router;
}

static bool fits_groups(const struct cpl_network *net)
{
	return cpl_network_type_has(net->type, "group") &&
	       net->n_nodes % net->level[0].n_units == 0;
}

static int uniform(const struct cpl_network *net, int from, uint64_t random)
{
	(void)from;
	return (int)cpl_random_scale(random, (uint64_t)net->n_nodes);
}

/* A step in each dimension, of all its length's parts. */
static int shifted(const struct cpl_product *p, int from, bool far)
{
	int to = 0, unit = 1;

	for (int d = 0; d < p->n_dims; d++) {
		int n = p->dim[d], step = far ? (n + 1) / 2 - 1 : 1;

		to += unit * ((from / unit % n + step) % n);
		unit *= n;
	}
	return to;
}

static int tornado(const struct cpl_network *net, int from, uint64_t random)
{
	(void)random;
	return shifted(&net->product, from, true);
}

static int neighbour(const struct cpl_network *net, int from, uint64_t random)
{
	(void)random;
	return fits_product(net) ? shifted(&net->product, from, false)
	                         : (from + 1) % net->n_nodes;
}

static int adversarial(const struct cpl_network *net, int from,
                       uint64_t random)
{
	int size = net->n_nodes / net->level[0].n_units;

	return ((from / size + 1) * size +
	        (int)cpl_random_scale(random, (uint64_t)size)) %
	       net->n_nodes;
}

static int complement(const struct cpl_network *net, int from, uint64_t random)
{
	(void)random;
	return net->n_nodes - 1 - from;
}

static const struct pattern patterns[] = {
        {"uniform", fits_any, uniform},
        {"tornado", fits_product, tornado},
        {"neighbour", fits_any, neighbour},
        {"adversarial", fits_groups, adversarial},
        {"complement", fits_any, complement},
};

static int fail(const char *text)
{
	fprintf(stderr, "latency_load: %s\n", text);
	return 1;
}

static void arrived(void *arg, double posted, double now, double messages)
{
	struct point *p = arg;

	if (posted >= p->begin && posted < p->end) {
		p->sum += (now - posted) * messages;
		p->n += messages;
	}
	if (now >= p->begin && now < p->end)
		p->arrived += messages;
}

/* What one rank, on the node of its number, sends: one-sided messages, the time
 * between them as computation. */
static int fill_rank(const struct setup *s, struct cpl_run_rank *r, int cycles,
                     double load, struct point *point)
{
	int n = s->net->n_nodes, last = 0;
	uint64_t sends = cpl_random_key(s->options.seed,
	                                ((uint64_t)r->rank << 2) | STREAM_SENDS);
	uint64_t to = cpl_random_key(s->options.seed,
	                             ((uint64_t)r->rank << 2) | STREAM_TO);
	size_t room = (size_t)(cycles * load +
	                       8 * sqrt(cycles * load * (1 - load)) + 16);

	r->has_events = true;
	r->kind = calloc((size_t)n, sizeof(*r->kind));
	r->message = calloc((size_t)n, sizeof(*r->message));
	r->node = calloc(room, sizeof(*r->node));
	if (!r->kind || !r->message || !r->node)
		return fail("out of memory");
	for (int c = 0; c < cycles && (size_t)r->n_nodes < room; c++) {
		double u = (double)(cpl_random_at(sends, (uint64_t)c) >> 11) *
		           0x1p-53;
		int peer;

		if (u >= load)
			continue;
		peer = s->pattern->to(s->net, r->rank,
		                      cpl_random_at(to, (uint64_t)c));
		if (peer == r->rank) {
			arrived(point, c, c + 2 * (1 + s->latency), 1);
			continue;
		}
		r->kind[peer].events++;
		r->node[r->n_nodes++] = (struct cpl_run_node){
		        .kind = peer,
		        .size = 1,
		        .count = 1,
		        .bytes = 1,
		        .compute = c - last};
		last = c;
	}
	r->time = last;
	r->n_kinds = n;
	r->n_messages = n;
	for (int p = 0; p < n; p++) {
		r->kind[p].source = -1;
		r->kind[p].bytes = 1;
		r->kind[p].first = p;
		r->kind[p].n = 1;
		r->message[p] = (struct cpl_run_messages){
		        .peer = p,
		        .bytes = r->kind[p].events,
		        .messages = r->kind[p].events};
	}
	return 0;
}

static void free_ranks(struct cpl_run_rank *rank, int n)
{
	for (int r = 0; rank && r < n; r++) {
		free(rank[r].kind);
		free(rank[r].message);
		free(rank[r].node);
	}
	free(rank);
}

static int measure(const struct setup *s, double load, struct point *point)
{
	static char put[] = "Put", *function[] = {put};
	int n = s->net->n_nodes, rc = 1;
	struct cpl_sim_options o = s->options;
	struct cpl_run_events trace = {.ranks = n,
	                               .function = function,
	                               .n_functions = 1,
	                               .rank = calloc((size_t)n,
	                                              sizeof(*trace.rank)),
	                               .n = n};
	struct cpl_signature sig = {.name = put, .ranks = n};
	int *node = calloc((size_t)n, sizeof(*node));
	struct cpl_sim_result result = {0};
	struct cpl_error err = {""};

	*point = (struct point){.begin = s->warm, .end = s->warm + s->window};
	if (!trace.rank || !node) {
		fail("out of memory");
		goto out;
	}
	for (int r = 0; r < n; r++) {
		node[r] = r;
		trace.rank[r].rank = r;
		if (fill_rank(s, &trace.rank[r], 2 * s->warm + s->window, load,
		              point))
			goto out;
	}
	o.arrived = arrived;
	o.arg = point;
	rc = cpl_simulate(&o,
	                  &(struct cpl_sim_job){.sig = &sig,
	                                        .trace = &trace,
	                                        .rank_node = node},
	                  1, &result, &err);
	if (rc)
		fail(err.text);
out:
	cpl_sim_result_free(&result);
	free_ranks(trace.rank, n);
	free(node);
	return rc;
}

static int print_loads(const struct setup *s, char **load, int n)
{
	for (int i = 0; i < n; i++) {
		struct point p;

		if (measure(s, atof(load[i]), &p))
			return 1;
		printf("%s %.3f %.4f %.0f\n", load[i], p.n ? p.sum / p.n : 0,
		       p.arrived / s->window / s->net->n_nodes, p.n);
		fflush(stdout);
	}
	return 0;
}

static int print_saturation(const struct setup *s, double low, double high,
                            double most)
{
	for (int i = 0; i < HALVINGS; i++) {
		double load = (low + high) / 2;
		struct point p;

		if (measure(s, load, &p))
			return 1;
		if (p.n && p.sum / p.n <= most)
			low = load;
		else
			high = load;
	}
	printf("%.5f\n", (low + high) / 2);
	return 0;
}

static int find(struct setup *s, char **name, struct cpl_error *err)
{
	const size_t n = sizeof(patterns) / sizeof(*patterns);
	struct cpl_sim_options *o = &s->options;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(patterns[i].name, name[1]))
			s->pattern = &patterns[i];
	if (!s->pattern || !s->pattern->fits(s->net))
		return cpl_fail(err, "no pattern %.60s on this network",
		                name[1]);
	o->net = s->net;
	o->choice = (const void *)cpl_registry_find(
	        &cpl_sim_routings, name[2], strlen(name[2]), NULL, NULL);
	o->routing = o->choice ? cpl_routing_minimal(s->net)
	                       : cpl_routing_find(s->net, name[2], err);
	return o->routing ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct setup s = {.warm = 2000,
	                  .window = 6000,
	                  .latency = 1,
	                  .options = {CPL_SIM_DEFAULTS, .seed = 1}};
	double most = 0, buffers = 1024;
	struct cpl_error err = {""};
	struct cpl_network *net;
	int option, rc = 1;

	while ((option = getopt(argc, argv, "w:m:l:b:c:s:t:")) != -1)
		switch (option) {
		case 'w':
			s.warm = atoi(optarg);
			break;
		case 'm':
			s.window = atoi(optarg);
			break;
		case 'l':
			s.latency = atof(optarg);
			break;
		case 'b':
			buffers = atof(optarg);
			break;
		case 'c':
			s.options.lanes = atoi(optarg);
			break;
		case 's':
			s.options.seed = strtoull(optarg, NULL, 10);
			break;
		case 't':
			most = atof(optarg);
			break;
		default:
			return 2;
		}
	argv += optind;
	argc -= optind;
	if (argc < 4 || (most > 0 && argc != 5))
		return fail("see the head of its source");
	s.options.level = &cpl_sim_packet;
	s.options.packet = 1;
	s.options.buffer = buffers;
	s.options.link_latency = s.latency;
	net = cpl_network_load(argv[0], &err);
	s.net = net;
	if (!net || find(&s, argv, &err))
		fail(err.text);
	else
		rc = most > 0 ? print_saturation(&s, atof(argv[3]),
		                                 atof(argv[4]), most)
		              : print_loads(&s, argv + 3, argc - 3);
	cpl_network_free(net);
	return rc;
}
