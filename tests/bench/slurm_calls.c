/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Times calls of slurmctld as a client sees them, by Slurm's public library.
 *
 *   slurm_calls start|will-run COUNT NODES TASKS PER_NODE [OPTION=VALUE]...
 *   slurm_calls start-fresh COUNT NODES TASKS PER_NODE [...]  each on a machine
 *                                   that was never asked about before
 *   slurm_calls keep COUNT NODES TASKS PER_NODE [...]  start and leave running
 *   slurm_calls queue COUNT NODES TASKS PER_NODE [...] submit, pending or not
 *   slurm_calls started N SECONDS   wait for N starts since slurmctld's last
 *                                   reset of statistics; prints starts, seconds
 *   slurm_calls reset               of those statistics
 *   slurm_calls list SECONDS        list jobs again and again; prints the
 *                                   longest call, ms
 *
 * Options: profile, policy, mapping, partition, and pid, which is slurmctld's. Prints
 * milliseconds, a line for each call of start and will-run, and beside them, with pid,
 * milliseconds of CPU that slurmctld used meanwhile.
 */
#include "commplace-config.h"

#include <signal.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* slurmctld's, whose CPU is told, or 0. */
static pid_t told;

static double cpu_ms(void)
{
	clockid_t clock;
	struct timespec t;

	if (!told || clock_getcpuclockid(told, &clock) ||
	    clock_gettime(clock, &t))
		return 0;
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

struct took {
	double ms, cpu;
};

static struct took began(void)
{
	return (struct took){now_ms(), cpu_ms()};
}

static struct took since(struct took begin)
{
	return (struct took){now_ms() - begin.ms, cpu_ms() - begin.cpu};
}

static void print(struct took took)
{
	printf(told ? "%.3f %.3f\n" : "%.3f\n", took.ms, took.cpu);
	fflush(stdout);
}

/* From 24.11 on the error is errno, from 25.11 on jobs are steps. */
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 11, 0)
#define LAST_ERROR slurm_get_errno()
#else
#include <errno.h>
#define LAST_ERROR errno
#endif
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(25, 11, 0)
#define JOB_ID(message) (message)->job_id
#else
#define JOB_ID(message) (message)->step_id.job_id
#endif

static int fail(const char *what)
{
	fprintf(stderr, "slurm_calls: %s: %s\n", what,
	        slurm_strerror(LAST_ERROR));
	return 1;
}

struct job {
	job_desc_msg_t desc;
	char *env[4], *environment[2];
	uint32_t n_env;
};

static void add_env(struct job *job, const char *name, const char *value)
{
	char *text;

	if (job->n_env == 4 || asprintf(&text, "%s=%s", name, value) < 0)
		abort();
	job->env[job->n_env++] = text;
}

static int describe(struct job *job, char **argv)
{
	static const char *const name[][2] = {
	        {"profile=", "COMM_PROFILE"},
	        {"policy=", "_SLURM_SPANK_OPTION_commplace_placement_policy"},
	        {"mapping=", "COMM_RANK_MAPPING"},
	};

	slurm_init_job_desc_msg(&job->desc);
	job->desc.name = "bench";
	job->desc.user_id = getuid();
	job->desc.group_id = getgid();
	job->desc.work_dir = "/tmp";
	job->desc.min_nodes = job->desc.max_nodes = (uint32_t)atoi(argv[0]);
	job->desc.num_tasks = (uint32_t)atoi(argv[1]);
	job->desc.ntasks_per_node = (uint16_t)atoi(argv[2]);
	job->desc.min_cpus = job->desc.num_tasks;
	job->desc.time_limit = 1000;
	job->desc.shared = JOB_SHARED_NONE;
	for (argv += 3; *argv; argv++) {
		size_t i = 0;

		if (!strncmp(*argv, "partition=", 10)) {
			job->desc.partition = *argv + 10;
			continue;
		}
		if (!strncmp(*argv, "pid=", 4)) {
			told = atoi(*argv + 4);
			continue;
		}
		while (i < 3 && strncmp(*argv, name[i][0], strlen(name[i][0])))
			i++;
		if (i == 3) {
			fprintf(stderr, "slurm_calls: option %s\n", *argv);
			return 2;
		}
		add_env(job, name[i][1], *argv + strlen(name[i][0]));
	}
	job->desc.spank_job_env = job->env;
	job->desc.spank_job_env_size = job->n_env;
	return 0;
}

/* Start it at once; took: of the call. 0: it waits, or cannot be. */
static uint32_t started_job(struct job *job, struct took *took)
{
	resource_allocation_response_msg_t *got = NULL;
	struct took begin = began();
	uint32_t id;

	job->desc.immediate = 1;
	if (slurm_allocate_resources(&job->desc, &got)) {
		fail("allocate");
		return 0;
	}
	*took = since(begin);
	id = JOB_ID(got);
	if (!got->node_cnt) {
		fprintf(stderr, "slurm_calls: job %u waits\n", id);
		id = 0;
	}
	slurm_free_resource_allocation_response_msg(got);
	return id;
}

static void end_job(uint32_t id)
{
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(26, 5, 0)
	slurm_kill_job(id, SIGKILL, 0);
#else
	slurm_step_id_t step = SLURM_STEP_ID_INITIALIZER;

	step.job_id = id;
	slurm_kill_job(step, SIGKILL, 0);
#endif
}

static int start(struct job *job, int count, int keep)
{
	for (int i = 0; i < count; i++) {
		struct took took;
		uint32_t id = started_job(job, &took);

		if (!id)
			return 1;
		print(took);
		if (!keep) {
			end_job(id);
			usleep(300000);
		}
	}
	return 0;
}

/* Another job, of as many nodes as no call before, changes the machine first. */
static int start_fresh(struct job *job, int count)
{
	struct job other = {0};
	struct took took;

	slurm_init_job_desc_msg(&other.desc);
	other.desc.name = "other";
	other.desc.user_id = getuid();
	other.desc.group_id = getgid();
	other.desc.work_dir = "/tmp";
	other.desc.time_limit = 1000;
	other.desc.shared = JOB_SHARED_NONE;
	for (uint32_t i = 1; i <= (uint32_t)count; i++) {
		uint32_t before, id;

		other.desc.min_nodes = other.desc.max_nodes = i;
		other.desc.num_tasks = other.desc.min_cpus = i;
		other.desc.ntasks_per_node = 1;
		before = started_job(&other, &took);
		id = before ? started_job(job, &took) : 0;
		if (!id)
			return 1;
		print(took);
		end_job(id);
		end_job(before);
		usleep(300000);
	}
	return 0;
}

static int will_run(struct job *job, int count)
{
	for (int i = 0; i < count; i++) {
		will_run_response_msg_t *got = NULL;
		struct took begin = began();

		if (slurm_job_will_run2(&job->desc, &got) || !got)
			return fail("will run");
		print(since(begin));
		if (got->start_time > time(NULL) + 5)
			fprintf(stderr, "slurm_calls: starts later\n");
		usleep(20000);
	}
	return 0;
}

static int queue(struct job *job, int count)
{
	job->environment[0] = "PATH=/bin";
	job->desc.environment = job->environment;
	job->desc.env_size = 1;
	job->desc.script = "#!/bin/sh\nexit 0\n";
	job->desc.std_out = job->desc.std_err = "/dev/null";
	for (int i = 0; i < count; i++) {
		submit_response_msg_t *got = NULL;

		if (slurm_submit_batch_job(&job->desc, &got))
			return fail("submit");
		slurm_free_submit_response_response_msg(got);
	}
	return 0;
}

static int started(int n, double seconds)
{
	stats_info_request_msg_t ask = {.command_id = STAT_COMMAND_GET};
	double begin = now_ms(), first = 0, last = 0;
	uint32_t at_first = 0, seen = 0;

	while (seen < (uint32_t)n && now_ms() - begin < seconds * 1e3) {
		stats_info_response_msg_t *got = NULL;

		if (slurm_get_statistics(&got, &ask))
			return fail("statistics");
		if (got->jobs_started > seen) {
			last = now_ms();
			if (!first) {
				first = last;
				at_first = got->jobs_started;
			}
		}
		seen = got->jobs_started;
		usleep(200000);
	}
	if (last > first)
		printf("%u starts, %.1f a second\n", seen,
		       (seen - at_first) / ((last - first) / 1e3));
	return seen >= (uint32_t)n ? 0 : 1;
}

static int reset(void)
{
	stats_info_request_msg_t ask = {.command_id = STAT_COMMAND_RESET};

	return slurm_reset_statistics(&ask) ? fail("reset") : 0;
}

static int list_jobs(double seconds)
{
	double begin = now_ms(), worst = 0;

	while (now_ms() - begin < seconds * 1e3) {
		job_info_msg_t *jobs = NULL;
		double at = now_ms(), ms;

		if (slurm_load_jobs(0, &jobs, SHOW_ALL))
			return fail("jobs");
		ms = now_ms() - at;
		worst = ms > worst ? ms : worst;
		slurm_free_job_info_msg(jobs);
		usleep(5000);
	}
	printf("%.1f\n", worst);
	return 0;
}

int main(int argc, char **argv)
{
	static struct job job;
	int rc = 2;

	slurm_init(NULL);
	if (argc == 4 && !strcmp(argv[1], "started"))
		return started(atoi(argv[2]), atof(argv[3]));
	if (argc == 3 && !strcmp(argv[1], "list"))
		return list_jobs(atof(argv[2]));
	if (argc == 2 && !strcmp(argv[1], "reset"))
		return reset();
	if (argc >= 6 && !describe(&job, argv + 3)) {
		if (!strcmp(argv[1], "start"))
			rc = start(&job, atoi(argv[2]), 0);
		else if (!strcmp(argv[1], "start-fresh"))
			rc = start_fresh(&job, atoi(argv[2]));
		else if (!strcmp(argv[1], "keep"))
			rc = start(&job, atoi(argv[2]), 1);
		else if (!strcmp(argv[1], "will-run"))
			rc = will_run(&job, atoi(argv[2]));
		else if (!strcmp(argv[1], "queue"))
			rc = queue(&job, atoi(argv[2]));
	}
	if (rc == 2)
		fprintf(stderr, "usage: slurm_calls "
		                "start|start-fresh|keep|will-run|queue "
		                "COUNT NODES TASKS PER_NODE [OPTION=VALUE]...\n"
		                "       slurm_calls started N SECONDS | reset | "
		                "list SECONDS\n");
	return rc;
}
