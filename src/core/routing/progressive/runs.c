/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "routing/progressive/runs.h"

#include <math.h>

#include "routing/dragonfly_paths.h"

static struct cpl_gateways gateways_of(const struct solve *s, int from, int a,
                                       int b)
{
	struct cpl_where here =
	        cpl_where_in(cpl_dragonfly_of(s->g.net), a, from);

	return cpl_gateways(s->g.net, &here, b, 0);
}

/* A flow's minimal paths on a dragonfly with up to 64 links between groups:
 * each link gets `each` of the bytes, those in `twice` get double. */
struct crossing {
	uint64_t all, twice;
	int hops; /* links of each path */
	double each;
};

/* near belongs to the flow's source, far to its destination. */
static inline struct crossing cross(const struct solve *s,
                                    const struct cpl_gateways *near,
                                    const struct cpl_gateways *far)
{
	struct cpl_shortest w = cpl_shortest(near, far);
	int paths = 0;

	/* Few bits are set: a loop is quicker than a count. */
	for (uint64_t left = w.once; left; left &= left - 1)
		paths++;
	for (uint64_t left = w.twice; left; left &= left - 1)
		paths += 2;
	return (struct crossing){.all = w.once | w.twice,
	                         .twice = w.twice,
	                         .hops = w.hops + 1,
	                         .each = s->inverse[paths]};
}

/* Adds a flow to its runs (near: of the run out); returns its paths' links. */
static int add_path_links(const struct solve *s, const struct gateway_run *run,
                          const struct cpl_gateways *near, int to, double bytes,
                          double *out, double *in)
{
	const struct cpl_linked_groups *g = &s->g;
	int64_t base;
	int n;

	if (s->masks) {
		struct crossing c = cross(s, near, &s->enter[to]);
		double part = c.each * bytes;

		for (uint64_t left = c.all; left; left &= left - 1) {
			int k = __builtin_ctzll(left);
			double here = c.twice >> k & 1 ? 2 * part : part;

			out[k] += here;
			in[k] += here;
		}
		return c.hops;
	}
	if (s->even) {
		*out += bytes;
		*in += bytes;
		return (int)s->minimal->hops(g->net, run->router, to);
	}
	base = g->first + cpl_groups_pair(g, run->own, run->other) * g->links;
	n = s->minimal->links(g->net, run->router, to, s->share);
	for (int i = 0; i < n; i++) {
		int64_t k = s->share[i].link - base;

		if (k < 0 || k >= g->links)
			continue;
		out[k] += s->share[i].part * bytes;
		in[k] += s->share[i].part * bytes;
	}
	return (int)s->minimal->hops(g->net, run->router, to);
}

/* A flow's share of bytes on detours; *hops: the links of its minimal paths. */
static double diverted_fraction(const struct solve *s,
                                const struct gateway_run *run,
                                const struct cpl_gateways *near, int to,
                                int *hops)
{
	const double *moved =
	        s->moved + cpl_groups_pair(&s->g, run->own, run->other) *
	                           s->g.links;
	double *part = s->scratch, sum = 0;

	if (s->masks) {
		struct crossing c = cross(s, near, &s->enter[to]);

		for (uint64_t left = c.all; left; left &= left - 1) {
			int k = __builtin_ctzll(left);

			sum += (c.twice >> k & 1 ? 2 * c.each : c.each) *
			       moved[k];
		}
		*hops = c.hops;
		return sum;
	}
	for (int k = 0; k < s->width; k++)
		part[k] = 0;
	*hops = add_path_links(s, run, near, to, 1, part, part + s->width);
	for (int k = 0; k < s->g.links; k++)
		sum += moved[k] * (s->even ? *part / s->g.links : part[k]);
	return sum;
}

/* Counts the runs of a job. */
static void count_runs(struct solve *s, const struct cpl_flows *flows,
                       struct job_runs *job)
{
	for (int r = 0; r < s->g.net->n_routers; r++)
		s->stamp[r] = -1;
	for (int i = 0; i < flows->n_from; i++) {
		int a = s->group_of[flows->from[i]], last = -1;

		for (int64_t m = flows->row[i]; m < flows->row[i + 1]; m++) {
			int to = flows->to[m], b = s->group_of[to];

			if (a == b)
				continue;
			job->out.n += b != last;
			last = b;
			job->in.n += s->stamp[to] != a;
			s->stamp[to] = a;
		}
	}
}

static void take_runs(struct solve *s, struct runs *runs)
{
	runs->run = cpl_arena_take_raw(&s->arena, runs->n, sizeof(*runs->run));
	runs->bytes =
	        cpl_arena_take(&s->arena, runs->n * s->width, sizeof(double));
	runs->n = 0;
}

static double *begin_run(const struct solve *s, struct runs *runs, int router,
                         int own, int other)
{
	runs->run[runs->n] = (struct gateway_run){
	        .router = router, .own = own, .other = other, .next = -1};
	return runs->bytes + runs->n++ * s->width;
}

/* Puts a router's flows inside its group on their paths and sums up others. */
static void sum_flows(struct solve *s, const struct cpl_flows *flows, int i,
                      struct job_runs *job, struct cpl_routed *routed)
{
	int from = flows->from[i], a = s->group_of[from], last = -1;
	struct cpl_gateways near = {{0}};
	double *out = NULL;

	for (int64_t m = flows->row[i]; m < flows->row[i + 1]; m++) {
		int to = flows->to[m], b = s->group_of[to], hops;
		struct gateway_run *run;

		if (a == b) {
			double far = s->minimal->hops(s->g.net, from, to);

			s->minimal->add(s->g.net, from, to, flows->bytes[m],
			                s->load);
			routed->hop_bytes += far * flows->bytes[m];
			routed->max_hops = fmax(routed->max_hops, far);
			continue;
		}
		if (b != last) {
			out = begin_run(s, &job->out, from, a, b);
			if (s->masks)
				near = gateways_of(s, from, a, b);
			last = b;
		}
		if (s->stamp[to] != a) {
			s->stamp[to] = a;
			s->slot[to] = job->in.n;
			begin_run(s, &job->in, to, b, a);
			if (s->masks)
				s->enter[to] = gateways_of(s, to, b, a);
		}
		run = &job->out.run[job->out.n - 1];
		hops = add_path_links(s, run, &near, to, flows->bytes[m], out,
		                      job->in.bytes + s->slot[to] * s->width);
		run->hops = hops > run->hops ? hops : run->hops;
	}
}

/* The bytes of a run's minimal paths on link k. */
static double on_link(const struct solve *s, const struct runs *runs, int64_t r,
                      int k)
{
	return s->even ? runs->bytes[r] / s->g.links
	               : runs->bytes[r * s->width + k];
}

void cpl_runs_sum(struct solve *s, struct cpl_adaptive_job *job,
                  struct job_runs *runs)
{
	const struct cpl_linked_groups *g = &s->g;

	job->routed = (struct cpl_routed){0, 0};
	count_runs(s, job->flows, runs);
	take_runs(s, &runs->out);
	take_runs(s, &runs->in);
	if (s->arena.failed)
		return;
	for (int r = 0; r < g->net->n_routers; r++)
		s->stamp[r] = -1;
	for (int i = 0; i < job->flows->n_from; i++)
		sum_flows(s, job->flows, i, runs, &job->routed);
	for (int64_t r = 0; r < runs->out.n; r++) {
		const struct gateway_run *run = &runs->out.run[r];
		int64_t base =
		        cpl_groups_pair(g, run->own, run->other) * g->links;

		for (int k = 0; k < g->links; k++)
			s->on[base + k] += on_link(s, &runs->out, r, k);
	}
}

/* Puts what stays on a run's minimal paths on the links; those between groups
 * come with the runs out. Returns the hop-bytes. */
static double keep(struct solve *s, struct runs *runs, int64_t r, bool out)
{
	const struct cpl_linked_groups *g = &s->g;
	struct gateway_run *run = &runs->run[r];
	int64_t base = out ? cpl_groups_pair(g, run->own, run->other)
	                   : cpl_groups_pair(g, run->other, run->own);
	double hops = 0;

	for (int k = 0; k < g->links; k++) {
		int64_t at = base * g->links + k;
		double bytes = on_link(s, runs, r, k), stays;
		int link = (int)(g->first + at);

		if (!(bytes > 0))
			continue;
		stays = bytes * (1 - s->moved[at]);
		run->gone += bytes - stays;
		if (out) {
			s->load[link] += stays;
			hops += stays *
			        (1 + cpl_groups_inside(g, run->router,
			                               g->net->link_from[link],
			                               stays, s->load));
		} else {
			hops += stays *
			        cpl_groups_inside(g, g->net->link_to[link],
			                          run->router, stays, s->load);
		}
	}
	return hops;
}

double cpl_runs_keep(struct solve *s)
{
	struct runs *out = &s->at->out, *in = &s->at->in;
	double hops = 0;

	for (int64_t r = 0; r < out->n; r++) {
		hops += keep(s, out, r, true);
		cpl_detours_add(&s->g, &s->d, out->run[r].own,
		                out->run[r].other, out->run[r].gone);
	}
	for (int64_t r = 0; r < in->n; r++) {
		hops += keep(s, in, r, false);
		in->run[r].next = s->head[in->run[r].router];
		s->head[in->run[r].router] = r;
	}
	return hops;
}

/* A bound on the mean links of a run's flows whose destination is that far from
 * the links of detours: no path has more links than the longest, and no link
 * diverts more than the one that diverts most. */
struct run_bound {
	double longest, most_gone;
};

static struct run_bound bound_of(const struct solve *s,
                                 const struct gateway_run *run)
{
	const double *moved =
	        s->moved + cpl_groups_pair(&s->g, run->own, run->other) *
	                           s->g.links;
	struct run_bound b = {.longest = run->hops};

	for (int k = 0; k < s->g.links; k++)
		b.most_gone = moved[k] > b.most_gone ? moved[k] : b.most_gone;
	return b;
}

static bool may_exceed(const struct run_bound *b, double detour, double most)
{
	double more = detour > b->longest ? detour - b->longest : 0;

	return (b->longest + more * b->most_gone) * (1 + 1e-9) > most;
}

/* For a run with bytes on detours to to[0 .. n - 1]: the mean links of the flow
 * that goes farthest, if they exceed `most`. */
static double farthest(struct solve *s, const struct gateway_run *run,
                       const int *to, int64_t n, double most)
{
	struct run_bound b = bound_of(s, run);
	struct cpl_gateways near = {{0}};
	double between;

	between = s->between[cpl_groups_pair(&s->g, run->own, run->other)];
	if (s->masks)
		near = gateways_of(s, run->router, run->own, run->other);
	for (int64_t m = 0; m < n; m++) {
		double detour = 2 + between + run->reach +
		                s->at->in.run[s->slot[to[m]]].reach;
		double gone;
		int minimal;

		if (!may_exceed(&b, detour, most))
			continue;
		gone = diverted_fraction(s, run, &near, to[m], &minimal);
		most = fmax(most, minimal * (1 - gone) + detour * gone);
	}
	return most;
}

/* The run in number r is of the group at hand. */
static void enter(struct solve *s, int64_t r)
{
	const struct gateway_run *run = &s->at->in.run[r];

	s->slot[run->router] = r;
	if (s->masks)
		s->enter[run->router] =
		        gateways_of(s, run->router, run->own, run->other);
}

/* Runs are in the order of the flows. */
double cpl_runs_farthest(struct solve *s, const struct cpl_flows *flows)
{
	const struct runs *out = &s->at->out, *in = &s->at->in;
	int64_t run = 0, arrived = 0;
	double most = 0;

	for (int i = 0; i < flows->n_from; i++) {
		int a = s->group_of[flows->from[i]];

		for (; arrived < in->n && in->run[arrived].other == a;
		     arrived++)
			enter(s, arrived);
		for (int64_t m = flows->row[i], end; m < flows->row[i + 1];
		     m = end) {
			int b = s->group_of[flows->to[m]];

			for (end = m; end < flows->row[i + 1] &&
			              s->group_of[flows->to[end]] == b;
			     end++)
				;
			if (b == a)
				continue;
			if (out->run[run].gone > 0)
				most = farthest(s, &out->run[run],
				                flows->to + m, end - m, most);
			else
				most = fmax(most, out->run[run].hops);
			run++;
		}
	}
	return most;
}
