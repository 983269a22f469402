/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program of others, linked with the public libslurm: it loads select
 * plugins when it meets data of jobs and nodes (fault 35). With "list" it
 * lists what a cluster has, for live tests.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include "series.h"

#define PLUGIN CPL_TEST_PLUGIN_DIR "/select_cons_tres_commplace.so"

static int test;

static int check(int ok, const char *what)
{
	const char *why = ok ? NULL : dlerror();

	printf("%sok %d - %s\n", ok ? "" : "not ", ++test, what);
	if (why)
		printf("# %s\n", why);
	return !ok;
}

/* A configuration is read, no daemon asked. */
static int write_conf(char *path)
{
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f)
		return -1;
	fprintf(f,
	        "ClusterName=fake\nSlurmctldHost=localhost\n"
	        "AuthType=auth/munge\nCredType=cred/munge\n"
	        "PluginDir=%s:%s\nSelectType=select/cons_tres_commplace\n"
	        "NodeName=n[0-3]\nPartitionName=main Nodes=n[0-3]\n",
	        CPL_TEST_PLUGIN_DIR, CPL_TEST_STOCK_DIR);
	return fclose(f);
}

static int loads(void)
{
	char path[] = "/tmp/cpl-public-XXXXXX";
	int failed;
	void *so;

	if (write_conf(path))
		return 99;
	setenv("SLURM_CONF", path, 1);
	slurm_init(path);
	so = dlopen(PLUGIN, RTLD_LAZY);
	failed = check(so != NULL, "the plugin loads beside libslurm");
	if (!so) {
		remove(path);
		return 1;
	}
#if CPLSLURM_SERIES < 2505
	/* Later only slurmctld has them. */
	int (*init)(void);
	void *(*node)(void);
	int (*node_free)(void *);

	*(void **)&init = dlsym(so, "init");
	*(void **)&node = dlsym(so, "select_p_select_nodeinfo_alloc");
	*(void **)&node_free = dlsym(so, "select_p_select_nodeinfo_free");
	failed |= check(init && !init(), "finds the stock plugin");
	so = node();
	failed |= check(so && !node_free(so), "makes data of a node");
#endif
	printf("1..%d\n", test);
	remove(path);
	return failed;
}

static int get_steps(job_step_info_response_msg_t **steps)
{
#if CPLSLURM_SERIES < 2511
	return slurm_get_job_steps(0, NO_VAL, NO_VAL, steps, SHOW_ALL);
#else
	return slurm_get_job_steps(NULL, steps, SHOW_ALL);
#endif
}

static int list(void)
{
	job_info_msg_t *jobs;
	node_info_msg_t *nodes;
	partition_info_msg_t *parts;
	job_step_info_response_msg_t *steps;

	slurm_init(NULL);
	if (slurm_load_jobs(0, &jobs, SHOW_ALL) ||
	    slurm_load_node(0, &nodes, SHOW_ALL) ||
	    slurm_load_partitions(0, &parts, SHOW_ALL) ||
	    get_steps(&steps)) {
		slurm_perror("list");
		return 1;
	}
	for (uint32_t i = 0; i < jobs->record_count; i++)
		printf("job %u %s\n", jobs->job_array[i].job_id,
		       jobs->job_array[i].nodes ? jobs->job_array[i].nodes
		                                : "");
	for (uint32_t i = 0; i < nodes->record_count; i++)
		printf("node %s\n", nodes->node_array[i].name);
	for (uint32_t i = 0; i < parts->record_count; i++)
		printf("partition %s\n", parts->partition_array[i].name);
	for (uint32_t i = 0; i < steps->job_step_count; i++)
		printf("step %u %s\n", steps->job_steps[i].step_id.job_id,
		       steps->job_steps[i].nodes);
	return 0;
}

int main(int argc, char **argv)
{
	return argc == 2 && !strcmp(argv[1], "list") ? list() : loads();
}
