/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A job's phases, and what its hosts send each other in them. */
#include "traffic/times_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/members.h"
#include "signature/rounds.h"
#include "traffic/ports.h"

int times_room(void *array, int64_t *max, int64_t n, size_t size,
               struct cpl_error *err)
{
	int64_t room = *max + *max / 2;
	void **to = array;
	void *more;

	if (n <= *max)
		return 0;
	room = room < n ? n : room;
	more = realloc(*to, (size_t)room * size);
	if (!more)
		return cpl_fail_memory(err);
	*to = more;
	*max = room;
	return 0;
}

int64_t cpl_times_links(const struct cpl_network *net)
{
	return net->n_links + 2 * cpl_network_port_cables(net) +
	       2 * CPL_INSIDES * net->accelerators.n;
}

int64_t cpl_times_inside(const struct cpl_network *net, enum cpl_inside kind)
{
	return net->n_links + 2 * cpl_network_port_cables(net) +
	       2 * kind * net->accelerators.n;
}

double cpl_times_bandwidth(const struct cpl_network *net, int64_t link)
{
	if (link < net->n_links)
		return cpl_network_link_bandwidth(net, link);
	if (link >= cpl_times_inside(net, CPL_INSIDE_NODE))
		return net->accelerators.bandwidth
		        [link >= cpl_times_inside(net, CPL_INSIDE_DOMAIN)];
	/* As many of either kind. */
	link -= net->n_links;
	if (link >= cpl_network_port_cables(net))
		link -= cpl_network_port_cables(net);
	return cpl_network_port_bandwidth(net, link);
}

static struct cpl_times *times_new(int ranks, int n_phases,
                                   struct cpl_error *err)
{
	struct cpl_times *times = calloc(1, sizeof(*times));

	if (times)
		times->phase =
		        calloc((size_t)n_phases + 1, sizeof(*times->phase));
	if (times)
		times->rank_host = malloc(((size_t)ranks + 1) *
		                          sizeof(*times->rank_host));
	if (!times || !times->phase || !times->rank_host) {
		if (times) {
			free(times->phase);
			free(times->rank_host);
		}
		free(times);
		cpl_fail_memory(err);
		return NULL;
	}
	times->ranks = ranks;
	times->exact = CPL_TIMES_EXACT;
	times->n_phases = n_phases;
	return times;
}

/* How many phases one is judged as. */
static int64_t rounds_judged(const struct cpl_phase *phase)
{
	int64_t rounds = cpl_phase_rounds(phase);

	return rounds > 1 && rounds <= CPL_TIMES_ROUNDS ? rounds : 1;
}

static int open_phase(struct times_phase *p, const struct cpl_phase *of,
                      int64_t round, int ranks, struct cpl_error *err)
{
	p->weight = of->weight;
	p->round = round;
	p->of = *of;
	if (round >= 0 || of->comm)
		return 0;
	p->rows = cpl_rows_of_phase(of, ranks, err);
	return p->rows ? 0 : -1;
}

struct cpl_times *cpl_times_open(const struct cpl_phase *phase, int n,
                                 int ranks, struct cpl_error *err)
{
	struct cpl_times *times;
	int parts = 0, at = 0;

	for (int i = 0; i < n; i++)
		parts += (int)rounds_judged(&phase[i]);
	times = times_new(ranks, parts, err);
	if (!times)
		return NULL;
	times->run = cpl_run_times(phase, n);
	for (int i = 0; i < n; i++) {
		int64_t rounds = rounds_judged(&phase[i]);

		for (int64_t k = 0; k < rounds; k++, at++) {
			times->phase[at].stated = i;
			if (open_phase(&times->phase[at], &phase[i],
			               rounds > 1 ? k : -1, ranks, err)) {
				cpl_times_close(times);
				return NULL;
			}
		}
	}
	return times;
}

static void free_pairs(struct times_phase *p)
{
	cpl_rows_free(p->rows);
	cpl_free_all(p->first, p->pair, p->packed, p->alike);
}

void cpl_times_close(struct cpl_times *times)
{
	if (!times)
		return;
	for (int i = 0; i < times->n_phases; i++) {
		struct times_phase *p = &times->phase[i];

		if (!times->lent)
			free_pairs(p);
		free(p->link);
		free(p->flow);
		free(p->way);
		free(p->met);
	}
	free(times->phase);
	free(times->rank_host);
	free(times->end_node);
	free(times->twin);
	free(times->rate);
	cpl_free_all(times->meeting, times->place, times->shared_rate, times->own);
	free(times->share);
	free(times->open);
	free(times->flow_of);
	free(times->progress);
	cpl_free_all(times->per_byte, times->chain, times->passed);
	free(times);
}

void cpl_times_stay(struct cpl_times *times)
{
	for (int i = 0; !times->lent && i < times->n_phases; i++)
		free_pairs(&times->phase[i]);
	times->lent = true;
}

/* Which of those alike a pair is, of *n so far, most often the one before it; or -1:
 * there are too many. */
static int find_alike(struct times_pair *alike, int *n, const struct times_pair *pair,
                      int before)
{
	for (int k = -1; k < *n; k++) {
		int at = k < 0 ? before : k;

		if (at < *n && alike[at].pairs == pair->pairs &&
		    alike[at].bytes == pair->bytes &&
		    alike[at].messages == pair->messages)
			return at;
	}
	if (*n == TIMES_ALIKE)
		return -1;
	alike[*n] = *pair;
	return (*n)++;
}

/* *fits tells whether it can be. */
static int pack_phase(const struct cpl_times *times, int i, struct times_phase *to,
                      bool *fits, struct cpl_error *err)
{
	const struct times_phase *from = &times->phase[i];
	size_t n = (size_t)from->first[times->n_ends];
	size_t ends = ((size_t)times->n_ends + 1) * sizeof(*to->first);
	struct times_pair *less;
	int n_alike = 0, at = 0;

	*to = (struct times_phase){.weight = from->weight,
	                           .stated = from->stated,
	                           .round = from->round,
	                           .packets = from->packets};
	to->first = malloc(ends);
	to->packed = malloc((n + 1) * sizeof(*to->packed));
	to->alike = malloc(TIMES_ALIKE * sizeof(*to->alike));
	if (!to->first || !to->packed || !to->alike)
		return cpl_fail_memory(err);
	memcpy(to->first, from->first, ends);
	for (size_t k = 0; k < n && *fits; k++) {
		at = find_alike(to->alike, &n_alike, &from->pair[k], at);
		*fits = at >= 0;
		to->packed[k] = (uint32_t)at << TIMES_HOST_BITS |
		                (uint32_t)from->pair[k].to;
	}
	less = realloc(to->alike, (size_t)(n_alike + 1) * sizeof(*less));
	to->alike = less ? less : to->alike;
	return 0;
}

/* One with so many phases as another one, of the same run. */
static struct cpl_times *times_like(const struct cpl_times *times,
                                    struct cpl_error *err)
{
	struct cpl_times *out = times_new(0, times->n_phases, err);

	if (!out)
		return NULL;
	out->run = times->run;
	out->ranks = times->ranks;
	out->exact = times->exact;
	out->n_hosts = times->n_hosts;
	out->n_ends = times->n_ends;
	out->paired = true;
	out->ported = times->ported;
	return out;
}

int cpl_times_pack(struct cpl_times *times, const struct cpl_network *net,
                   uint64_t most, struct cpl_times **out, uint64_t *bytes,
                   struct cpl_error *err)
{
	bool fits;
	int rc = 0;

	*out = NULL;
	*bytes = 0;
	times->twins = false;
	if (times_pair_up(times, net->by_port ? net : NULL, err))
		return -1;
	for (int i = 0; i < times->n_phases; i++)
		*bytes += (uint64_t)times->phase[i].first[times->n_ends] *
		                  sizeof(uint32_t) +
		          ((uint64_t)times->n_ends + 1) * sizeof(int64_t);
	fits = times->n_ends <= TIMES_HOSTS && *bytes <= most;
	if (!fits)
		return 0;
	*out = times_like(times, err);
	if (!*out)
		return -1;
	for (int i = 0; !rc && fits && i < times->n_phases; i++)
		rc = pack_phase(times, i, &(*out)->phase[i], &fits, err);
	if (!rc && fits)
		return 0;
	cpl_times_close(*out);
	*out = NULL;
	return rc;
}

struct cpl_times *cpl_times_again(const struct cpl_times *packed,
                                  struct cpl_error *err)
{
	struct cpl_times *out = times_like(packed, err);

	if (!out)
		return NULL;
	out->lent = true;
	if (times_room(&out->end_node, &out->max_ends, out->n_ends,
	               sizeof(*out->end_node), err)) {
		cpl_times_close(out);
		return NULL;
	}
	memcpy(out->phase, packed->phase,
	       (size_t)out->n_phases * sizeof(*out->phase));
	return out;
}

const struct cpl_run_times *cpl_times_run(const struct cpl_times *times)
{
	return &times->run;
}

const struct cpl_times_rate *cpl_times_rates(const struct cpl_times *times,
                                             int64_t *n)
{
	*n = times->n_rates;
	return times->rate;
}

void cpl_times_add(const struct cpl_times *times, double sign,
                   struct cpl_load *load)
{
	for (int64_t i = 0; i < times->n_rates; i++) {
		const struct cpl_times_rate *own = &times->rate[i];

		*cpl_times_at(load, own->link) += sign * own->rate;
		if (load->squares)
			load->squares[own->link] += sign * own->rate * own->rate;
	}
}

/* Ranks by host, and the sums of a host's rows while they are made. */
struct ordering {
	const int *host; /* [ranks] */
	int *first;      /* [n_hosts + 2] into rank */
	int *rank;       /* [ranks] by host, increasing */
	int *at;         /* [n_hosts] place in the row + 1, 0: none */
	struct cpl_comm_entry *entry;
	struct times_phase *phase;
	int64_t start, n; /* of the row, of all pairs */
	struct cpl_error *err;
};

/* `pairs` of ranks, each with so many bytes, to ranks of host `to`. */
static int add_pair(struct ordering *o, int to, double pairs, double bytes,
                    double messages)
{
	struct times_phase *p = o->phase;
	struct times_pair *pair;

	if (!o->at[to]) {
		if (times_room(&p->pair, &p->max_pairs, o->n + 1,
		               sizeof(*p->pair), o->err))
			return -1;
		p->pair[o->n++] = (struct times_pair){.to = to};
		o->at[to] = (int)(o->n - o->start);
	}
	pair = &p->pair[o->start + o->at[to] - 1];
	pair->pairs += pairs;
	pair->bytes += pairs * bytes;
	if (messages > pair->messages)
		pair->messages = messages;
	return 0;
}

static int add_round(struct ordering *o, int rank)
{
	const struct times_phase *p = o->phase;
	struct cpl_exchange x = cpl_phase_round(&p->of, p->round, rank);

	return x.to >= 0 && x.to != rank && x.bytes > 0
	               ? add_pair(o, o->host[x.to], 1, x.bytes, 1)
	               : 0;
}

static int add_comm_rank(struct ordering *o, int rank)
{
	const struct cpl_comm *comm = o->phase->of.comm;

	for (int64_t i = comm->row[rank]; i < comm->row[rank + 1]; i++)
		if (comm->bytes[i] > 0 && comm->to[i] != rank &&
		    add_pair(o, o->host[comm->to[i]], 1, comm->bytes[i],
		             comm->messages[i]))
			return -1;
	return 0;
}

/* Entries of ranks that come after each other may be alike. */
static int add_rows(struct ordering *o, int from, int last)
{
	struct cpl_rows_iter iter = cpl_rows_iter(from, last);
	struct cpl_rows_batch batch;

	while (cpl_rows_next(o->phase->rows, &iter, &batch, o->entry))
		for (int64_t i = 0; i < batch.n; i++) {
			const struct cpl_comm_entry *e = &o->entry[i];

			if (!(e->bytes > 0) || e->to == batch.from)
				continue;
			for (int k = 0; k < batch.count; k++)
				if (add_pair(o, o->host[e->to + k], 1, e->bytes,
				             e->messages))
					return -1;
		}
	return 0;
}

static int add_host(struct ordering *o, int host)
{
	int last = o->first[host + 1];

	for (int i = o->first[host], end; i < last; i = end) {
		int rank = o->rank[i];

		end = i + 1;
		if (!o->phase->rows) {
			if (o->phase->round < 0 ? add_comm_rank(o, rank)
			                        : add_round(o, rank))
				return -1;
			continue;
		}
		while (end < last && o->rank[end] == rank + (end - i))
			end++;
		if (add_rows(o, rank, rank + (end - i)))
			return -1;
	}
	for (int64_t i = o->start; i < o->n; i++)
		o->at[o->phase->pair[i].to] = 0;
	return 0;
}

/* How many packets messages between hosts have on the average. */
static void count_packets(struct times_phase *phase, int n_hosts)
{
	double bytes = 0, messages = 0;

	for (int host = 0; host < n_hosts; host++)
		for (int64_t i = phase->first[host]; i < phase->first[host + 1];
		     i++) {
			const struct times_pair *pair = &phase->pair[i];

			if (pair->to == host)
				continue;
			bytes += pair->bytes;
			messages += pair->pairs * fmax(pair->messages, 1);
		}
	phase->packets = bytes / fmax(messages, 1) / CPL_TIMES_PACKET;
}

static int order_phase(struct ordering *o, struct times_phase *phase,
                       int n_hosts)
{
	int64_t *first =
	        realloc(phase->first, ((size_t)n_hosts + 1) * sizeof(*first));

	if (!first)
		return cpl_fail_memory(o->err);
	phase->first = first;
	o->phase = phase;
	o->n = 0;
	for (int host = 0; host < n_hosts; host++) {
		o->start = phase->first[host] = o->n;
		if (add_host(o, host))
			return -1;
	}
	phase->first[n_hosts] = o->n;
	count_packets(phase, n_hosts);
	return 0;
}

int cpl_times_order(struct cpl_times *times, const int *rank_host,
                    int ranks_per_node, int n_hosts, struct cpl_error *err)
{
	int each = ranks_per_node > 0 ? ranks_per_node : 1;

	for (int r = 0; r < times->ranks; r++) {
		int host = rank_host ? rank_host[r] : r / each;

		if (host < 0 || host >= n_hosts)
			return cpl_fail(err, "rank %d on host %d of %d", r,
			                host, n_hosts);
		times->rank_host[r] = host;
	}
	times->n_hosts = n_hosts;
	times->paired = false;
	return 0;
}

int times_pair_up(struct cpl_times *times, const struct cpl_network *ported,
                  struct cpl_error *err)
{
	struct cpl_arena arena = {0};
	struct ordering o = {.host = times->rank_host, .err = err};
	int n = times->n_hosts * (ported ? ported->n_ports : 1), rc = -1;
	int64_t most = 1;
	int *host, *cable;

	if (times->paired && times->ported == ported && !times->twins)
		return 0;
	for (int i = 0; i < times->n_phases; i++)
		if (times->phase[i].rows &&
		    times->phase[i].rows->max_entries > most)
			most = times->phase[i].rows->max_entries;
	o.first = cpl_arena_take(&arena, n + 2, sizeof(*o.first));
	o.rank = cpl_arena_take(&arena, times->ranks, sizeof(*o.rank));
	o.at = cpl_arena_take(&arena, n, sizeof(*o.at));
	o.entry = cpl_arena_take_raw(&arena, most, sizeof(*o.entry));
	host = cpl_arena_take_raw(&arena, times->twins ? times->ranks : 0,
	                          sizeof(*host));
	cable = cpl_arena_take_raw(&arena, ported ? times->ranks : 0,
	                           sizeof(*cable));
	if (arena.failed ||
	    times_room(&times->end_node, &times->max_ends, n,
	               sizeof(*times->end_node), err))
		goto out;
	for (int r = 0; times->twins && r < times->ranks; r++)
		host[r] = times->twin[times->rank_host[r]];
	if (times->twins)
		o.host = host;
	if (ported) {
		if (cpl_port_pin(ported, o.host, times->n_hosts, times->ranks,
		                 cable, err))
			goto out;
		o.host = cable;
	}
	cpl_members_list(o.host, times->ranks, n, o.first, o.rank);
	rc = 0;
	for (int i = 0; i < times->n_phases && !rc; i++)
		rc = order_phase(&o, &times->phase[i], n);
	/* Others are twins where it is placed next. */
	times->paired = !rc && !times->twins;
	times->ported = ported;
	times->n_ends = n;
out:
	return cpl_arena_end(&arena, rc, err);
}
