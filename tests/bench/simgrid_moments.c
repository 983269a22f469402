/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moments of a campaign in SimGrid's flow simulation: the jobs that run then
 * under the first policy are placed by each policy, in the order in which they
 * started. Each sends at once what it sends in a second of its run, on plain
 * links, from a moment of that second on that is its own, so that some meet and
 * some do not. Told is each policy's communication time over the first's, the
 * geometric mean over the jobs of a moment, by SimGrid and by traffic/times.h.
 * Paths are those of the library: the links of each route, taken apart.
 *
 *	simgrid_moments NETWORK LOG MAP POLICY,POLICY... MOMENTS JOBS [VARIANT]
 *
 * MOMENTS are drawn evenly over the starts of the log's first JOBS jobs. Slow:
 * a moment of some 10,000 flows takes some seconds. At the end each policy's
 * simulated time over ours, by how much longer than alone it is by ours.
 *
 * flow_moments is the same with our own max-min shares in SimGrid's place, and
 * with what tells one cause of a difference from the other, VARIANTs:
 *
 *	ways	as SimGrid: each way of a message is a flow (the default)
 *	alone	so, one job after the other, once (SimGrid has it too)
 *	whole	the ways of a message keep their proportions
 *	jobs	whole, and jobs have equal shares of links
 *	smooth	whole, each job alone on links of which others have, all of the
 *		time, what our model takes them to have on the mean
 *	whole-alone
 *	draws	no simulation: our model's busiest link where the others are not
 *		there on the mean, but each there or not, drawn by how long it
 *		sends (DRAWS times, the geometric mean)
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "campaign/campaign_internal.h"
#include "mapping/quick.h"
#include "graph/contract.h"
#include "simgrid_flows.h"

#define MAX_POLICIES 4
#define MAX_RUNNING 1024
/* Bytes of a flow are whole ones in SimGrid: links are at least so fast, and
 * flows that are less than the least are left out. */
#define BANDWIDTH 1e9
#define LEAST 1.0
#define DRAWS 200

static const struct variant {
	const char *name;
	bool alone, whole, jobs, smooth, draws;
} variants[] = {
        {.name = "ways"},
        {.name = "alone", .alone = true},
        {.name = "whole", .whole = true},
        {.name = "jobs", .whole = true, .jobs = true},
        {.name = "smooth", .alone = true, .whole = true, .smooth = true},
        {.name = "whole-alone", .alone = true, .whole = true},
        {.name = "draws", .whole = true, .draws = true},
};
#define VARIANTS ((int)(sizeof(variants) / sizeof(*variants)))

struct placed {
	int job;
	int *node, *rank_host;
	struct cpl_times *times;
	double ours, alone, theirs; /* seconds in one of the run */
};

struct moment {
	const struct cpl_campaign *c;
	struct kinds *kinds;
	const struct cpl_stock_tree *tree;
	struct cpl_times_space *space;
	struct cpl_route_finder *finder;
	int n;
	int job[MAX_RUNNING]; /* by start */
	struct placed placed[MAX_RUNNING];
	struct cpl_load rates;
	struct cpl_scene scene; /* with the same of the jobs placed */
	/* Paths and flows of all of them. */
	int *path_first, *path_link, n_paths, n_path_links;
	int max_paths, max_path_links;
	struct flow *flow;
	int n_flows, max_flows;
	struct flow_run run[MAX_RUNNING];
	double *left; /* [links] of one route */
	int n_messages;
	const struct variant *variant;
	double scale; /* of bytes and bandwidths */
};

static void die(const char *why)
{
	fprintf(stderr, "simgrid_moments: %s\n", why);
	exit(1);
}

static void *grow(void *p, int n, int *max, size_t size)
{
	if (n < *max)
		return p;
	*max = 2 * n + 1024;
	p = realloc(p, (size_t)*max * size);
	if (!p)
		die("out of memory");
	return p;
}

static struct kind *kind_of(const struct moment *m, int job)
{
	int kind = m->kinds->of[job];

	return kind < 0 || !m->kinds->kind[kind].sends
	               ? NULL
	               : &m->kinds->kind[kind];
}

static int add_flows(struct moment *m, int i, const struct cpl_comm *comm,
                     struct cpl_error *err);

static int settle(struct moment *m, const struct kind *kind, struct placed *p,
                  struct cpl_error *err)
{
	const struct cpl_times_rate *rate;
	struct cpl_job_load *load;
	int64_t n = 0;

	p->times = cpl_times_open(kind->phase, kind->n_phases, kind->ranks,
	                          err);
	if (!p->times ||
	    cpl_times_order(p->times, p->rank_host, kind->ranks_per_node,
	                    kind->nodes, err) ||
	    cpl_times_put(p->times, m->space, p->node, err))
		return -1;
	cpl_times_add(p->times, 1, &m->rates);
	rate = cpl_times_rates(p->times, &n);
	load = cpl_job_load_of_rates(rate, n, err);
	if (!load)
		return -1;
	load->id = p->job;
	return cpl_scene_add(&m->scene, load, err);
}

/* The i-th job by the policy, beside those before. */
static int place(struct moment *m, const struct chooser *chooser,
                 unsigned char *is_free, int *loud, int i,
                 struct cpl_error *err)
{
	struct placed *p = &m->placed[i];
	struct kind *kind = kind_of(m, p->job);
	int n = m->c->log->job[p->job].nodes;
	struct choice_request req = {.campaign = m->c,
	                             .kind = kind,
	                             .stock = {.tree = m->tree,
	                                       .free = is_free,
	                                       .n = n,
	                                       .communicates = kind != NULL,
	                                       .loud = loud},
	                             .scene = &m->scene};
	int rc;

	p->node = malloc((size_t)n * sizeof(*p->node));
	if (!p->node)
		return cpl_fail_memory(err);
	if (kind && campaign_traffic_take(m->kinds, kind, chooser,
	                                  &req.traffic, err))
		return -1;
	rc = campaign_choose(chooser, &req, p->node, &p->rank_host, err);
	for (int k = 0; k < n && !rc; k++) {
		is_free[p->node[k]] = 0;
		loud[m->tree->leaf_of[p->node[k]]] += kind != NULL;
	}
	if (!rc && kind)
		rc = settle(m, kind, p, err) ||
		     add_flows(m, i, req.traffic.comm, err);
	if (kind)
		campaign_traffic_give(m->kinds, kind);
	return rc ? -1 : 0;
}

static void push_path(struct moment *m, int from, int to, const int *link,
                      int n, double bytes)
{
	int n_links = (int)m->c->net->n_links, n_nodes = m->c->net->n_nodes;

	bytes *= m->scale;
	if (bytes < LEAST)
		return;
	m->path_first = grow(m->path_first, m->n_paths + 1, &m->max_paths,
	                     sizeof(int));
	m->path_link = grow(m->path_link, m->n_path_links + n + 2,
	                    &m->max_path_links, sizeof(int));
	m->path_link[m->n_path_links++] = n_links + from;
	for (int i = 0; i < n; i++)
		m->path_link[m->n_path_links++] = link[i];
	m->path_link[m->n_path_links++] = n_links + n_nodes + to;
	m->flow = grow(m->flow, m->n_flows, &m->max_flows, sizeof(*m->flow));
	m->flow[m->n_flows++] =
	        (struct flow){m->n_paths, bytes, m->n_messages};
	m->path_first[++m->n_paths] = m->n_path_links;
}

/* A route's links with their parts as ways, each as broad as its narrowest
 * link, the broadest link first. */
static void take_apart(struct moment *m, int from, int to, double bytes)
{
	const struct cpl_network *net = m->c->net;
	int a = cpl_network_router(net, from), b = cpl_network_router(net, to);
	int n, way[256];
	const struct cpl_share *share = cpl_route_find(m->finder, a, b, &n);
	double rest = 1;

	m->n_messages++;
	if (a == b) {
		push_path(m, from, to, NULL, 0, bytes);
		return;
	}
	for (int i = 0; i < n; i++)
		m->left[share[i].link] += share[i].part;
	while (rest > 1e-6) {
		double part = rest;
		int length = 0;

		for (int at = a; at != b && length < 256;) {
			int best = -1;

			for (int i = 0; i < n; i++) {
				int l = share[i].link;

				if (net->link_from[l] == at &&
				    m->left[l] > 1e-9 &&
				    (best < 0 || m->left[l] > m->left[best]))
					best = l;
			}
			if (best < 0)
				die("a route that ends on its way");
			way[length++] = best;
			part = fmin(part, m->left[best]);
			at = net->link_to[best];
		}
		for (int i = 0; i < length; i++)
			m->left[way[i]] -= part;
		push_path(m, from, to, way, length, bytes * part);
		rest -= part;
	}
	for (int i = 0; i < n; i++)
		m->left[share[i].link] = 0;
}

/* What the job sends in a second, between its nodes. */
static int add_flows(struct moment *m, int i, const struct cpl_comm *comm,
                     struct cpl_error *err)
{
	struct placed *p = &m->placed[i];
	const struct kind *kind = kind_of(m, p->job);
	int *host = malloc((size_t)kind->ranks * sizeof(*host));
	struct cpl_comm *hosts;

	if (!host)
		return cpl_fail_memory(err);
	for (int r = 0; r < kind->ranks; r++)
		host[r] = p->rank_host ? p->rank_host[r]
		                       : r / kind->ranks_per_node;
	hosts = cpl_comm_contract(comm, host, kind->nodes,
	                          CPL_CONTRACT_INSIDE, err);
	free(host);
	if (!hosts)
		return -1;
	/* Evenly spread: by the golden section. */
	m->run[i].start = fmod(0.6180339887 * p->job, 1);
	m->run[i].first = m->n_flows;
	for (int h = 0; h < hosts->ranks; h++)
		for (int64_t e = hosts->row[h]; e < hosts->row[h + 1]; e++)
			if (hosts->to[e] != h)
				take_apart(m, p->node[h],
				           p->node[hosts->to[e]],
				           hosts->bytes[e]);
	m->run[i].n = m->n_flows - m->run[i].first;
	cpl_comm_free(hosts);
	return 0;
}

/* What others have of the links, taken off them: [links], then those of the
 * nodes' ports, all as cpl_times_links numbers them. */
static void take_others(struct moment *m, const struct cpl_times *times,
                        int all, double *bandwidth)
{
	const struct cpl_network *net = m->c->net;

	cpl_times_add(times, -1, &m->rates);
	for (int l = 0; l < all; l++)
		bandwidth[l] /= 1 + fmax(0, *cpl_times_at(&m->rates, l)) /
		                            cpl_times_bandwidth(net, l);
	cpl_times_add(times, 1, &m->rates);
}

/* Each job by itself, beside what others have of the links. */
static void simulate_smooth(struct moment *m, const struct flow_problem *of)
{
	double *bandwidth =
	        malloc((size_t)of->n_links * sizeof(*bandwidth));
	struct flow_problem problem = *of;

	if (!bandwidth)
		die("out of memory");
	problem.bandwidth = bandwidth;
	problem.n_runs = 1;
	for (int i = 0; i < m->n; i++) {
		if (!m->placed[i].times)
			continue;
		memcpy(bandwidth, of->bandwidth,
		       (size_t)of->n_links * sizeof(*bandwidth));
		take_others(m, m->placed[i].times, of->n_links, bandwidth);
		problem.run = &m->run[i];
		flows_simulate(&problem);
	}
	free(bandwidth);
}

/* What one that sends, for `part` of the time, takes of its links meanwhile. */
static void add_sender(const struct moment *m, const struct placed *p,
                       double part, double *taken)
{
	int64_t n;
	const struct cpl_times_rate *rate = cpl_times_rates(p->times, &n);

	for (int64_t k = 0; k < n; k++)
		taken[rate[k].link] +=
		        rate[k].rate / part /
		        cpl_times_bandwidth(m->c->net, rate[k].link);
}

/* Seconds of a job's busiest link for what is sent in one. */
static double busiest(const struct moment *m, const struct placed *p,
                      const double *taken)
{
	int64_t n;
	const struct cpl_times_rate *rate = cpl_times_rates(p->times, &n);
	double most = 0;

	for (int64_t k = 0; k < n; k++)
		most = fmax(most, rate[k].rate /
		                          cpl_times_bandwidth(m->c->net,
		                                              rate[k].link) *
		                          (1 + taken[rate[k].link]));
	return most;
}

static void draw(struct moment *m, int all)
{
	double *taken = malloc((size_t)all * sizeof(*taken));
	double part[MAX_RUNNING] = {0};

	if (!taken)
		die("out of memory");
	memset(taken, 0, (size_t)all * sizeof(*taken));
	for (int i = 0; i < m->n; i++)
		if (m->placed[i].times)
			part[i] = busiest(m, &m->placed[i], taken) *
			          m->placed[i].ours / m->placed[i].alone;
	for (int i = 0; i < m->n; i++) {
		double sum = 0;

		for (int d = 0; d < DRAWS && part[i] > 0; d++) {
			memset(taken, 0, (size_t)all * sizeof(*taken));
			for (int j = 0; j < m->n; j++)
				if (j != i && part[j] > 0 &&
				    (double)cpl_random_below(
				            (uint64_t)i, (uint64_t)j,
				            (uint64_t)d, 1000000) <
				            1e6 * part[j])
					add_sender(m, &m->placed[j], part[j],
					           taken);
			sum += log(busiest(m, &m->placed[i], taken));
		}
		m->run[i].seconds = part[i] > 0 ? exp(sum / DRAWS) : 0;
	}
	free(taken);
}

/* SimGrid lives once in a process: a child of its own. Where that ends before,
 * the moment does not count. */
static void simulate(struct moment *m)
{
	const struct cpl_network *net = m->c->net;
	int n_links = (int)net->n_links, all = n_links + 2 * net->n_nodes;
	double *bandwidth = malloc((size_t)all * sizeof(*bandwidth));
	struct flow_problem problem = {.n_links = all,
	                               .bandwidth = bandwidth,
	                               .n_paths = m->n_paths,
	                               .path_first = m->path_first,
	                               .path_link = m->path_link,
	                               .flow = m->flow,
	                               .ideal = true,
	                               .n_runs = m->n,
	                               .run = m->run,
	                               .together = !m->variant->alone,
	                               .period = m->variant->alone ? 0 : 1,
	                               .whole = m->variant->whole,
	                               .jobs = m->variant->jobs};
	size_t size = (size_t)m->n * sizeof(*m->run);
	int fd[2], status;

	if (m->variant->draws) {
		free(bandwidth);
		draw(m, all);
		return;
	}
	if (!bandwidth || pipe(fd))
		die("no memory or pipe");
	for (int l = 0; l < all; l++)
		bandwidth[l] = m->scale *
		               (l < n_links ? cpl_network_link_bandwidth(net, l)
		                            : net->port_bandwidth[0]);
	fflush(stdout);
	if (!fork()) {
		if (m->variant->smooth)
			simulate_smooth(m, &problem);
		else
			flows_simulate(&problem);
		_exit(write(fd[1], m->run, size) != (ssize_t)size);
	}
	close(fd[1]);
	if (read(fd[0], m->run, size) != (ssize_t)size)
		memset(m->run, 0, size);
	wait(&status);
	close(fd[0]);
	free(bandwidth);
}

static int play(struct moment *m, const struct chooser *chooser,
                struct cpl_error *err)
{
	const struct cpl_network *net = m->c->net;
	unsigned char *is_free = malloc((size_t)net->n_nodes);
	int *loud = calloc((size_t)m->tree->n_leaves, sizeof(*loud));
	int rc = is_free && loud ? 0 : cpl_fail_memory(err);

	cpl_load_clear(&m->rates, net);
	cpl_scene_close(&m->scene);
	m->scene = (struct cpl_scene){.net = net, .routing = m->c->routing};
	m->n_paths = m->n_path_links = m->n_flows = 0;
	m->path_first = grow(m->path_first, 0, &m->max_paths, sizeof(int));
	m->path_first[0] = 0;
	for (int i = 0; i < net->n_nodes && !rc; i++)
		is_free[i] = net->node_name[i] != NULL;
	for (int i = 0; i < m->n && !rc; i++) {
		m->placed[i] = (struct placed){.job = m->job[i]};
		m->run[i] = (struct flow_run){0};
		rc = place(m, chooser, is_free, loud, i, err);
	}
	for (int i = 0; i < m->n && !rc; i++) {
		struct cpl_times_result result;
		double seconds;

		if (!m->placed[i].times)
			continue;
		cpl_times_judge(m->placed[i].times, &m->rates, true, &result);
		seconds = kind_of(m, m->placed[i].job)->seconds;
		m->placed[i].ours = result.seconds / seconds;
		m->placed[i].alone = result.alone / seconds;
	}
	if (!rc)
		simulate(m);
	for (int i = 0; i < m->n; i++) {
		m->placed[i].theirs = m->run[i].seconds;
		cpl_times_close(m->placed[i].times);
		free(m->placed[i].node);
		free(m->placed[i].rank_host);
	}
	free(is_free);
	free(loud);
	return rc;
}

/* Those that run at a time, by start. */
static void gather(struct moment *m, const struct cpl_campaign_job *job,
                   double time)
{
	m->n = 0;
	for (int i = 0; i < m->c->log->n_jobs; i++) {
		int at = m->n;

		if (job[i].start < 0 || job[i].start > time ||
		    job[i].end <= time || m->n == MAX_RUNNING)
			continue;
		for (; at > 0 && job[m->job[at - 1]].start > job[i].start; at--)
			m->job[at] = m->job[at - 1];
		m->job[at] = i;
		m->n++;
	}
}

static int by_double(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Logarithms' sums by ours over ours alone: all, then those below each bound. */
static const double bound[] = {1.01, 1.2, 1.4, 1.6, 1.8, 2.2, INFINITY};
#define BOUNDS ((int)(sizeof(bound) / sizeof(*bound)))

struct summary {
	long n[BOUNDS + 1];
	double ours[BOUNDS + 1], theirs[BOUNDS + 1]; /* over ours alone */
};

static void count(struct summary *s, const struct placed *p)
{
	double ours = p->ours / p->alone;
	int b = 1;

	while (b < BOUNDS && ours >= bound[b - 1])
		b++;
	for (int i = 0; i <= b; i += b) {
		s->n[i]++;
		s->ours[i] += log(ours);
		s->theirs[i] += log(p->theirs / p->alone);
	}
}

static void tell(const char *policy, const struct summary *s)
{
	for (int b = 0; b <= BOUNDS; b++) {
		double n = (double)s->n[b];

		if (!s->n[b])
			continue;
		printf("| %s |", policy);
		if (b)
			printf(" below %g |", bound[b - 1]);
		else
			printf(" all |");
		printf(" %ld | %.2f | %.2f | %.2f |\n", s->n[b],
		       exp(s->ours[b] / n), exp(s->theirs[b] / n),
		       exp((s->theirs[b] - s->ours[b]) / n));
	}
}

/* All moments; the sums of logarithms over them. */
static int play_all(struct moment *m, const struct cpl_campaign_job *job,
                    int n_moments, const char *const *policy,
                    const struct chooser *chooser, int n_policies,
                    struct cpl_error *err)
{
	int n_jobs = m->c->log->n_jobs, n_starts = 0;
	double *start = malloc(((size_t)n_jobs + 1) * sizeof(*start));
	double all[MAX_POLICIES][2] = {0}, first[MAX_RUNNING][2];
	long total[MAX_POLICIES] = {0};
	static struct summary summary[MAX_POLICIES];

	for (int i = 0; start && i < n_jobs; i++)
		if (job[i].start >= 0)
			start[n_starts++] = job[i].start;
	if (!start || !n_starts)
		return cpl_fail(err, "no job started");
	qsort(start, (size_t)n_starts, sizeof(*start), by_double);
	printf("| moment | jobs | flows |");
	for (int p = 1; p < n_policies; p++)
		printf(" %s, %s | ours |", policy[p],
		       flows_are_ours ? "simulated" : "SimGrid");
	printf("\n|---|---|---|");
	for (int p = 1; p < n_policies; p++)
		printf("---|---|");
	printf("\n");
	for (int k = 0; k < n_moments; k++) {
		int loud = 0;

		gather(m, job, start[(2 * k + 1) * (long)n_starts /
		                     (2 * n_moments)]);
		for (int p = 0; p < n_policies; p++) {
			double sum[2] = {0};
			int both = 0;

			if (play(m, &chooser[p], err))
				return -1;
			for (int i = 0; i < m->n; i++) {
				const struct placed *at = &m->placed[i];

				if (at->theirs > 0)
					count(&summary[p], at);
				if (!p) {
					first[i][0] = at->theirs;
					first[i][1] = at->ours;
					loud += at->theirs > 0;
				} else if (at->theirs > 0 && first[i][0] > 0) {
					both++;
					sum[0] += log(at->theirs / first[i][0]);
					sum[1] += log(at->ours / first[i][1]);
				}
			}
			if (!p)
				printf("| %d | %d | %d |", k + 1, loud,
				       m->n_flows);
			else
				printf(" %+.1f %% | %+.1f %% |",
				       100 * (exp(sum[0] / fmax(both, 1)) - 1),
				       100 * (exp(sum[1] / fmax(both, 1)) - 1));
			all[p][0] += sum[0];
			all[p][1] += sum[1];
			total[p] += both;
		}
		printf("\n");
		fflush(stdout);
	}
	printf("| all | | |");
	for (int p = 1; p < n_policies; p++)
		printf(" %+.1f %% | %+.1f %% |",
		       100 * (exp(all[p][0] / (double)total[p]) - 1),
		       100 * (exp(all[p][1] / (double)total[p]) - 1));
	printf("\n\n| policy | ours over ours alone | jobs | that, mean | "
	       "simulated over ours alone | over ours |\n"
	       "|---|---|---|---|---|---|\n");
	for (int p = 0; p < n_policies; p++)
		tell(policy[p], &summary[p]);
	free(start);
	return 0;
}

int main(int argc, char **argv)
{
	struct cpl_error err = {"usage: simgrid_moments NETWORK LOG MAP "
	                        "POLICY,POLICY... MOMENTS JOBS [VARIANT]"};
	const struct variant *variant = variants;
	struct cpl_log log = {0};
	struct cpl_jobs jobs = {0};
	struct cpl_campaign c = {.log = &log,
	                         .jobs = &jobs,
	                         .wish.mapper = &cpl_mapper_quick,
	                         .backfill = true,
	                         .seed = 1,
	                         .threads = 1,
	                         .wish.objective = CPL_OBJECTIVE_TIME};
	static struct moment m;
	struct cpl_campaign_result first = {0};
	struct cpl_stock_tree tree = {0};
	struct kinds kinds = {0};
	struct cpl_route_finder finder = {0};
	struct cpl_network *net = NULL;
	const char *policy[MAX_POLICIES];
	struct chooser chooser[MAX_POLICIES];
	int n = 0, rc = -1;

	if (argc != 7 && argc != 8)
		goto out;
	while (argc == 8 && variant < variants + VARIANTS &&
	       strcmp(variant->name, argv[7]) != 0)
		variant++;
	if (variant == variants + VARIANTS ||
	    (variant->whole && !flows_are_ours)) {
		cpl_fail(&err, "there is no variant %s here", argv[7]);
		goto out;
	}
	net = cpl_network_load(argv[1], &err);
	c.net = net;
	if (!net || cpl_log_load(argv[2], 1, &log, &err) ||
	    cpl_jobs_load(argv[3], &jobs, &err))
		goto out;
	if (atoi(argv[6]) < log.n_jobs)
		log.n_jobs = atoi(argv[6]);
	c.signature = calloc((size_t)jobs.n_rules + 1, sizeof(*c.signature));
	c.routing = cpl_routing_by_flow(net, cpl_routing_minimal(net));
	for (char *p = strtok(argv[4], ","); p && n < MAX_POLICIES;
	     p = strtok(NULL, ",")) {
		policy[n] = p;
		if (campaign_chooser(net, p, &c.wish, &chooser[n++], &err))
			goto out;
	}
	m = (struct moment){.c = &c, .kinds = &kinds, .tree = &tree,
	                    .finder = &finder,
	                    .variant = variant,
	                    .scale = fmax(1, BANDWIDTH /
	                                             net->port_bandwidth[0])};
	m.left = calloc((size_t)net->n_links + 1, sizeof(*m.left));
	m.space = cpl_times_space_new(net, c.routing, &err);
	if (!c.signature || !m.left || !m.space ||
	    cpl_load_init_rates(&m.rates, net, &err) ||
	    cpl_route_finder_init(&finder, net, c.routing, &err) ||
	    cpl_stock_tree_init(&tree, net, &err) ||
	    campaign_kinds(&c, 0, &kinds, &err) ||
	    cpl_campaign_run(&c, policy, 1, &first, &err))
		goto out;
	rc = play_all(&m, first.job, atoi(argv[5]), policy, chooser, n, &err);
out:
	if (rc)
		fprintf(stderr, "simgrid_moments: %s\n", err.text);
	return rc != 0;
}
