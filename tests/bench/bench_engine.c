/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the engine takes of a scheduler's time, without a scheduler: a machine
 * of the size of bench-slurmctld's with 60 running jobs. CPU milliseconds of
 * the calling thread, medians, of calls whose state is new and of those asked
 * again, and of jobs that begin one after the other.
 *
 *   bench_engine [-tbslm] [-p POLICY] [-n CALLS] [-d DIR]
 *                [-c LINE-OF-COMMPLACE.CONF]...
 *
 * -t: a torus of 8,192 nodes in place of the dragonfly of 9,216; -b: a dragonfly of
 * 131,072, with what the process then has of memory for each; -s: without
 * the large job; -l: nothing else; -d: StateDir, whose records stay, so that
 * those of two builds can be compared (compare-records); -m: instead, how the
 * process grows by 500 running jobs of 4,096 ranks, each of a profile of its
 * own, and by 50,000 small ones that begin and end.
 */
#include "commplace-config.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/sort.h"
#include "site/engine.h"

#define PER_NODE 24
#define JOBS 60
#define CALLS_MAX 1000

static char dir[] = "/tmp/commplace-bench-XXXXXX";
static int n_hosts;
static unsigned char *taken; /* [n_hosts] */
static int first, last;      /* hosts that may be had: first .. last - 1 */
static int *given, n_given;

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int measure(void *arg, uint32_t *cpus, uint64_t *rank,
		   struct cpl_engine_span *span)
{
	*span = (struct cpl_engine_span){first, last};
	for (int i = first; i < last; i++) {
		cpus[i] = taken[i] ? 0 : PER_NODE;
		rank[i] = 1;
	}
	return 0;
}

static bool place(void *arg, const int *host, int n, const char *words)
{
	memcpy(given, host, (size_t)n * sizeof(*host));
	qsort(given, (size_t)n, sizeof(int), cpl_by_int);
	n_given = n;
	return true;
}

static void narrow(void *arg, uint32_t *cpus)
{
}

static int stock(void *arg, int *host)
{
	int n = 0, wanted = *(const int *)arg;

	for (int i = first; i < last && n < wanted; i++)
		if (!taken[i])
			host[n++] = i;
	return n == wanted ? n : 0;
}

static int layout(void *arg, int ranks, int *rank_host)
{
	for (int r = 0; r < ranks; r++)
		rank_host[r] = r / PER_NODE;
	return 0;
}

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

static void stencil(const char *name, int a, int b, int c)
{
	char text[512], file[64];

	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-signature\", \"version\": 1, "
	         "\"name\": \"%s\", \"ranks\": %d, \"phases\": [{\"name\": "
	         "\"halo\", \"weight\": 100, \"time\": 0.02, "
	         "\"compute_time\": 0.01, \"pattern\": {\"type\": "
	         "\"stencil\", \"dims\": [%d, %d, %d], \"points\": 7, "
	         "\"periodic\": true, \"bytes\": 1048576}}]}",
	         name, a * b * c, a, b, c);
	snprintf(file, sizeof(file), "%s.json", name);
	put(file, text);
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
	return remove(path);
}

static void say(enum cpl_engine_log level, const char *text)
{
	if (level == CPL_ENGINE_ERROR)
		fprintf(stderr, "%s\n", text);
}

static struct cpl_engine *engine;
static int64_t last_id;
static const char *policy = "auto";

static struct cpl_engine_request request(const char *profile, int nodes,
                                         bool start)
{
	return (struct cpl_engine_request){
	        .job = {.id = ++last_id,
	                .name = "job",
	                .profile = profile,
	                .policy = profile ? policy : NULL},
	        .need = {.min_nodes = (uint32_t)nodes,
	                 .max_nodes = (uint32_t)nodes,
	                 .nodes = (uint32_t)nodes,
	                 .cpus = (uint32_t)nodes * PER_NODE,
	                 .tasks_per_node = PER_NODE},
	        .ranks = nodes * PER_NODE,
	        .n_hosts = n_hosts,
	        .start = start,
	};
}

static double decide(const struct cpl_engine_request *req, bool expect)
{
	int wanted = (int)req->need.min_nodes;
	struct cpl_engine_scheduler s = {.arg = &wanted,
	                                 .measure = measure,
	                                 .place = place,
	                                 .narrow = narrow,
	                                 .stock = stock,
	                                 .compare = stock};
	char text[512] = "";
	double begin = cpu_ms(), ms;
	enum cpl_engine_answer answer =
	        cpl_engine_decide(engine, req, &s, text, sizeof(text));

	ms = cpu_ms() - begin;
	if (expect && answer != CPL_ENGINE_PLACED) {
		fprintf(stderr, "bench_engine: %s\n", text);
		exit(1);
	}
	return ms;
}

static double begin_job(int64_t id)
{
	struct cpl_engine_allocation got = {.id = id,
	                                    .host = given,
	                                    .n_hosts = n_given,
	                                    .layout = layout};
	struct cpl_engine_notice notice;
	double begin = cpu_ms();

	cpl_engine_start(engine, &got, &notice);
	return cpu_ms() - begin;
}

static void take(unsigned char value)
{
	for (int i = 0; i < n_given; i++)
		taken[given[i]] = value;
}

static void tell(const char *what, double *ms, int n)
{
	qsort(ms, (size_t)n, sizeof(*ms), cpl_by_double);
	printf("%-44s %8.3f ms, worst %8.3f (%d)\n", what, ms[n / 2], ms[n - 1],
	       n);
}

/* Another background: a small job ends, and one begins elsewhere. */
static void stir(void)
{
	static int64_t id;
	static int host[2];
	struct cpl_engine_request req = request("two", 2, true);

	req.job.policy = "linear";
	decide(&req, true);
	begin_job(req.job.id);
	take(1);
	if (id) {
		cpl_engine_end(engine, id);
		taken[host[0]] = taken[host[1]] = 0;
	}
	id = req.job.id;
	memcpy(host, given, sizeof(host));
	cpl_engine_idle(engine, 10000);
}

/* A job asked for, asked for again, begun and ended, so many times. */
static void run(const char *what, const char *profile, int nodes, int calls)
{
	static double new[CALLS_MAX], again[CALLS_MAX], start[CALLS_MAX],
	        end[CALLS_MAX];
	char line[128];

	for (int i = 0; i < calls; i++) {
		struct cpl_engine_request req = request(profile, nodes, true);
		double begin;

		if (profile)
			stir();
		new[i] = decide(&req, profile != NULL);
		again[i] = decide(&req, profile != NULL);
		if (!profile)
			continue;
		start[i] = begin_job(req.job.id);
		take(1);
		begin = cpu_ms();
		cpl_engine_end(engine, req.job.id);
		end[i] = cpu_ms() - begin;
		take(0);
		cpl_engine_idle(engine, 10000);
	}
	snprintf(line, sizeof(line), "%s: decision", what);
	tell(line, new, calls);
	snprintf(line, sizeof(line), "%s: again", what);
	tell(line, again, calls);
	if (!profile)
		return;
	snprintf(line, sizeof(line), "%s: start", what);
	tell(line, start, calls);
	snprintf(line, sizeof(line), "%s: end", what);
	tell(line, end, calls);
}

/* Jobs that begin one after the other, as of a queue; of them so many run. */
#define QUEUED_RUN 100

static void run_queue(const char *what, const char *profile, int nodes,
                      int calls)
{
	static double new[CALLS_MAX], start[CALLS_MAX], end[CALLS_MAX];
	static int64_t id[CALLS_MAX];
	static int *host[CALLS_MAX];
	char line[128];
	int ended = 0;

	for (int i = 0; i < calls; i++) {
		struct cpl_engine_request req = request(profile, nodes, true);

		new[i] = decide(&req, true);
		start[i] = begin_job(req.job.id);
		take(1);
		id[i] = req.job.id;
		host[i] = malloc((size_t)nodes * sizeof(int));
		memcpy(host[i], given, (size_t)nodes * sizeof(int));
		for (; ended <= i && (i - ended >= QUEUED_RUN || i == calls - 1);
		     ended++) {
			double begin = cpu_ms();

			cpl_engine_end(engine, id[ended]);
			end[ended] = cpu_ms() - begin;
			for (int k = 0; k < nodes; k++)
				taken[host[ended][k]] = 0;
			free(host[ended]);
		}
		cpl_engine_idle(engine, 10000);
	}
	snprintf(line, sizeof(line), "%s: decision", what);
	tell(line, new, calls);
	snprintf(line, sizeof(line), "%s: start", what);
	tell(line, start, calls);
	snprintf(line, sizeof(line), "%s: end", what);
	tell(line, end, calls);
}

static long resident_kb(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%*d %ld", &pages) != 1)
		abort();
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) >> 10);
}

enum machine { DRAGONFLY, TORUS, BIG };

static void set_up(enum machine machine, const char *state_dir, const char *lines)
{
	static const char *const shape[] = {
	        "\"type\": \"dragonfly\", \"groups\": 24, \"rows\": 6, "
	        "\"columns\": 16, \"nodes_per_router\": 4, "
	        "\"global_links_per_group_pair\": 4, \"bandwidth\": {\"row\": "
	        "5.25e9, \"column\": 15.75e9, \"global\": 4.7e9, "
	        "\"injection\": 16e9}, \"routing\": \"static-direct\"",
	        "\"type\": \"torus\", \"dims\": [16, 16, 32], "
	        "\"nodes_per_router\": 1, \"routing\": \"dimension-order\"",
	        "\"type\": \"dragonfly\", \"groups\": 128, \"rows\": 16, "
	        "\"columns\": 16, \"nodes_per_router\": 4, "
	        "\"global_links_per_group_pair\": 2, \"bandwidth\": {\"row\": "
	        "5.25e9, \"column\": 15.75e9, \"global\": 4.7e9, "
	        "\"injection\": 16e9}, \"routing\": \"static-direct\"",
	};
	static const int hosts[] = {9216, 8192, 131072};
	long before = resident_kb();
	char text[2048], path[256];
	const char **name;

	n_hosts = hosts[machine];
	if (!mkdtemp(dir))
		abort();
	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-network\", \"version\": 1, "
	         "\"name\": \"bench\", %s, \"nodes\": \"n[0-%d]\"}",
	         shape[machine], n_hosts - 1);
	put("network.json", text);
	snprintf(text, sizeof(text),
	         "NetworkFile=%s/network.json\nProfileDir=%s\n"
	         "StateDir=%s%s\n%s",
	         dir, dir, state_dir ? state_dir : dir,
	         state_dir ? "" : "/state", lines);
	put("commplace.conf", text);
	stencil("fill", 4, 23, 24);
	stencil("big", 16, 24, 32);
	stencil("two", 4, 4, 3);
	snprintf(path, sizeof(path), "%s/commplace.conf", dir);
	engine = cpl_engine_new(path, say, NULL);
	name = malloc((size_t)n_hosts * sizeof(*name));
	taken = calloc((size_t)n_hosts, 1);
	given = malloc((size_t)n_hosts * sizeof(*given));
	if (!engine || !name || !taken || !given)
		abort();
	for (int i = 0; i < n_hosts; i++) {
		char host[16];

		snprintf(host, sizeof(host), "n%d", i);
		name[i] = strdup(host);
	}
	last = n_hosts;
	if (cpl_engine_load(engine, 20000, NULL) ||
	    cpl_engine_set_hosts(engine, name, n_hosts, NULL))
		abort();
	printf("%ld bytes for each of %d nodes\n",
	       (resident_kb() - before) * 1024 / n_hosts, n_hosts);
}

/* Read the profiles before they are timed. */
static void warm(void)
{
	static const struct {
		const char *profile;
		int nodes;
	} job[] = {{"fill", 92}, {"big", 512}, {"two", 2}};

	for (size_t i = 0; i < sizeof(job) / sizeof(*job); i++) {
		struct cpl_engine_request req =
		        request(job[i].profile, job[i].nodes, false);

		decide(&req, false);
		cpl_engine_idle(engine, 20000);
	}
}

static long resident_mb(void)
{
	return resident_kb() >> 10;
}

static void grow(void)
{
	long before = resident_mb(), with_jobs;
	int n = 171, placed = 0;
	char name[16];

	for (int i = 0; i < 500; i++) {
		struct cpl_engine_request req;

		snprintf(name, sizeof(name), "p%d", i);
		stencil(name, 16, 16, 16);
		/* Four slots of the last host stay empty. */
		req = request(name, n, true);
		req.ranks = 4096;
		for (int tries = 0; tries < 2; tries++) {
			decide(&req, false);
			cpl_engine_idle(engine, 20000);
		}
		placed += n_given == n;
		begin_job(req.job.id);
	}
	cpl_engine_idle(engine, 20000);
	with_jobs = resident_mb();
	printf("%d running jobs of 4,096 ranks: %ld MB\n", placed,
	       with_jobs - before);
	policy = "linear";
	for (int i = 0; i < 50000; i++) {
		struct cpl_engine_request req = request("two", 2, true);

		decide(&req, false);
		begin_job(req.job.id);
		cpl_engine_end(engine, req.job.id);
		if (i % 5000 == 4999) {
			cpl_engine_idle(engine, 60000);
			printf("%d jobs more, ended: %ld MB\n", i + 1,
			       resident_mb() - with_jobs);
			fflush(stdout);
		}
	}
}

int main(int argc, char **argv)
{
	char lines[1024] = "MaxDecisionTime=20s\nMaxPassTime=60s\n";
	int calls = 15, o;
	bool small = true, large = true, memory = false;
	enum machine machine = DRAGONFLY;
	const char *asked = "auto", *state_dir = NULL;

	while ((o = getopt(argc, argv, "tbslmp:n:d:c:")) != -1) {
		if (o == 't')
			machine = TORUS;
		else if (o == 'b')
			machine = BIG;
		else if (o == 's')
			large = false;
		else if (o == 'l')
			small = false;
		else if (o == 'd')
			state_dir = optarg;
		else if (o == 'm')
			memory = true;
		else if (o == 'p')
			asked = optarg;
		else if (o == 'n')
			calls = atoi(optarg);
		else if (o == 'c')
			strncat(strncat(lines, optarg, 200), "\n", 2);
		else
			return 2;
	}
	if (calls > CALLS_MAX)
		calls = CALLS_MAX;
	set_up(machine, state_dir, lines);
	if (memory) {
		grow();
		goto out;
	}
	warm();
	policy = machine == TORUS ? "random-nodes" : "random-groups";
	for (int i = 0; i < JOBS; i++) {
		struct cpl_engine_request req = request("fill", 92, true);

		decide(&req, true);
		begin_job(req.job.id);
		take(1);
	}
	policy = asked;
	if (large)
		run("512 nodes, 12,288 ranks", "big", 512, calls);
	if (!small)
		goto done;
	run("2 nodes", "two", 2, calls);
	run("2 nodes, no profile", NULL, 2, calls);
	run_queue("2 nodes, queued", "two", 2, calls);
	first = n_hosts - 200;
	run("2 nodes of 200", "two", 2, calls);
done:
	cpl_engine_idle(engine, 10000);
out:
	cpl_engine_free(engine);
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}
