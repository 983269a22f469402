/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * No memory: every allocation of a campaign, and of reading its log and map,
 * fails once. failing_alloc.h has the allocators.
 */
#include "commplace-config.h"
#include <stdbool.h>

#include "unit.h"

#include "campaign/summary.h"
#include "campaign_cases.h"
#include "failing_alloc.h"

#define JOBS 4

static const char log_text[] = SWF(1, 0, 100, 3, 3, -1) SWF(2, 5, 100, 8, 8, -1)
        SWF(3, 6, 50, 5, 5, -1) SWF(4, 7, 50, 16, 16, -1);
static const char map_text[] =
        "Match Nodes=8 Signature=far Share=50 Options=\"--segment=4 "
        "--consolidate-segments\"\n"
        "Match Nodes=5 Pattern=none Options=--exclusive=topo\n"
        "Mix Pattern=stencil-2d Share=60 RanksPerNode=2\n";
/* Slurm's queue has no job that asks for more of its nodes. */
static const char plain_text[] =
        "Match Nodes=8 Signature=far Share=50\n"
        "Mix Pattern=stencil-2d Share=60 RanksPerNode=2\n";

/* Each with one that is not near, so that a mapper moves ranks. */
static const char far_text[] =
        "{\"format\": \"commplace-signature\", \"version\": 1, \"ranks\": 8, "
        "\"phases\": [{\"traffic\": [[0, 4, 100, 1], [1, 5, 100, 1], "
        "[2, 6, 100, 1], [3, 7, 100, 1]]}]}";

/* What is known of a campaign that had memory. */
struct outcome {
	double start, end, cost, slowdown;
	int node[16];
};

static struct cpl_network *net;
static const struct cpl_slurm_queue *queue; /* or NULL */
static struct cpl_signature *signature[3]; /* by the lines of the map */

static int summarise(const struct cpl_campaign *c,
                     const struct cpl_campaign_result *result,
                     struct cpl_error *err)
{
	struct cpl_campaign_summary s;
	struct cpl_campaign_class *class;
	int n;

	if (cpl_campaign_summarise(c, result, result, &s, err))
		return -1;
	class = cpl_campaign_classes(c, result, result, &n, err);
	free(class);
	return class ? 0 : -1;
}

static int play_all(const char *policy, enum cpl_objective objective,
                    struct outcome *out, struct cpl_error *err)
{
	struct cpl_campaign_result result = {0};
	struct cpl_jobs jobs = {0};
	struct cpl_log log = {0};
	char *text = __real_strdup(log_text);
	const char *map = queue ? plain_text : map_text;
	struct cpl_campaign c = {
	        .net = net,
	        .routing = cpl_routing_find_quick(net, NULL, NULL),
	        .log = &log,
	        .jobs = &jobs,
	        .signature = signature,
	        .wish = {.mapper = &cpl_mapper_greedyallc,
	                 .objective = objective,
	                 .own_weight = 1,
	                 .others_weight = 1},
	        .backfill = true,
	        .slurm = queue,
	        .threads = 1,
	        .keep_nodes = true};
	int rc = -1;

	memset(out, 0, JOBS * sizeof(*out));
	if (!cpl_log_parse(text, strlen(log_text), "log", 1, &log, err) &&
	    !cpl_jobs_parse(map, strlen(map), "map", &jobs, err) &&
	    !cpl_campaign_run(&c, &policy, 1, &result, err) &&
	    !summarise(&c, &result, err))
		rc = 0;
	for (int i = 0; i < JOBS && !rc; i++) {
		const struct cpl_campaign_job *job = &result.job[i];

		out[i] = (struct outcome){
		        job->start, job->end, job->cost, job->slowdown, {0}};
		memcpy(out[i].node, job->node,
		       (size_t)log.job[i].nodes * sizeof(int));
	}
	cpl_campaign_free(&result, log.n_jobs);
	cpl_jobs_free(&jobs);
	cpl_log_free(&log);
	return rc;
}

/* It fails, or is what it would be; `every` allocation so many behind the first
 * ones. */
static void check(const char *policy, enum cpl_objective objective, int every)
{
	struct outcome want[JOBS], got[JOBS];
	struct cpl_error err = {""};
	int n = 0;

	net = make_network();
	signature[0] =
	        cpl_signature_parse(far_text, strlen(far_text), "far", &err);
	assert_non_null(signature[0]);
	if (play_all(policy, objective, want, &err))
		fail_msg("%s", err.text);
	for (;; n += n < 300 ? 1 : every) {
		bool failed;
		int rc;

		err.text[0] = '\0';
		left = n;
		rc = play_all(policy, objective, got, &err);
		failed = left < 0;
		left = -1;
		if (!failed)
			break;
		if (rc && !strstr(err.text, "out of memory"))
			fail_msg("allocation %d: '%s'", n, err.text);
		for (int i = 0; i < JOBS && !rc; i++)
			if (memcmp(&got[i], &want[i], sizeof(*got)))
				fail_msg("%s, allocation %d: job %d is another",
				         policy, n, i);
	}
	/* The allocators were really in the way. */
	assert_true(n > 100);
	cpl_signature_free(signature[0]);
	cpl_network_free(net);
}

static void test_policies(void **state)
{
	check("auto+mapping", CPL_OBJECTIVE_MAX, 13);
	check("adaptive+quick", CPL_OBJECTIVE_MAX, 1);
	check("tree-rank+greedyallc", CPL_OBJECTIVE_MAX, 1);
}

static void test_interference(void **state)
{
	check("auto+quick", CPL_OBJECTIVE_INTERFERENCE, 23);
}

static void test_queue(void **state)
{
	struct cpl_slurm_queue slurm = {0};

	assert_int_equal(cpl_backfill_parse("", &slurm.options, NULL), 0);
	queue = &slurm;
	check("flat", CPL_OBJECTIVE_MAX, 1);
	queue = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_policies),
	        cmocka_unit_test(test_interference),
	        cmocka_unit_test(test_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
