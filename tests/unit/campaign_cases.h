/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logs, maps and campaigns of the tests. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "campaign/campaign.h"
#include "mapping/mappers.h"
#include "mapping/quick.h"

static inline int parse_log(const char *text, int procs, struct cpl_log *log,
                            struct cpl_error *err)
{
	char *copy = strdup(text);

	assert_non_null(copy);
	return cpl_log_parse(copy, strlen(text), "log", procs, log, err);
}

static inline void take_log(const char *text, int procs, struct cpl_log *log)
{
	struct cpl_error err = {""};

	if (parse_log(text, procs, log, &err))
		fail_msg("%s", err.text);
}

#define SWF(id, submit, run, used, asked, limit)                               \
#id " " #submit " 7 " #run " " #used " -1 -1 " #asked " " #limit       \
	    " -1 1 5 6 17 2 -1 -1 0\n"

static inline void take_jobs(const char *text, struct cpl_jobs *jobs)
{
	struct cpl_error err = {""};

	if (cpl_jobs_parse(text, strlen(text), "map", jobs, &err))
		fail_msg("%s", err.text);
}

static const char sixteen[] =
        "{\"format\":\"commplace-network\",\"version\":1,\"type\":\"fattree\","
        "\"nodes_per_router\":4,\"leaves\":4,\"levels\":[{\"down\":4,"
        "\"up\":1,\"links\":1}],\"nodes\":\"n[0-15]\"}";

static inline struct cpl_network *make_network(void)
{
	struct cpl_error err = {""};
	struct cpl_network *net =
	        cpl_network_parse(sixteen, strlen(sixteen), "net", &err);

	if (!net)
		fail_msg("%s", err.text);
	return net;
}

/* A campaign on 16 nodes, and what is under each policy. */
struct played {
	struct cpl_network *net;
	struct cpl_log log;
	struct cpl_jobs jobs;
	struct cpl_signature *signature[8];
	struct cpl_campaign c;
	struct cpl_campaign_result result[4];
	int n;
};

/* On the network, or 16 nodes where it is NULL. */
static inline void get_ready(struct played *p, struct cpl_network *net,
                             const char *log, const char *map)
{
	*p = (struct played){.net = net ? net : make_network()};
	take_log(log, 1, &p->log);
	take_jobs(map, &p->jobs);
	p->c = (struct cpl_campaign){
	        .net = p->net,
	        .routing = cpl_routing_find_quick(p->net, NULL, NULL),
	        .log = &p->log,
	        .jobs = &p->jobs,
	        .signature = p->signature,
	        .wish.mapper = &cpl_mapper_greedyallc,
	        .backfill = true,
	        .reference = CPL_CAMPAIGN_ALONE,
	        .seed = 1,
	        .threads = 1,
	        .keep_nodes = true};
}

static inline void play_ready(struct played *p, const char *const *policy,
                              int n)
{
	struct cpl_error err = {""};

	p->n = n;
	if (cpl_campaign_run(&p->c, policy, n, p->result, &err))
		fail_msg("%s", err.text);
}

static inline void play_kept(struct played *p, const char *log, const char *map,
                             const char *const *policy, int n, int threads,
                             enum cpl_campaign_reference reference,
                             const char *mapping, uint64_t kept)
{
	get_ready(p, NULL, log, map);
	p->c.wish.mapper = cpl_mapper_find(mapping, NULL);
	p->c.kept = kept;
	p->c.reference = reference;
	p->c.threads = threads;
	play_ready(p, policy, n);
}

static inline void play(struct played *p, const char *log, const char *map,
                        const char *const *policy, int n, int threads,
                        enum cpl_campaign_reference reference)
{
	play_kept(p, log, map, policy, n, threads, reference, "greedyallc", 0);
}

static inline void unplay(struct played *p)
{
	for (int i = 0; i < p->n; i++)
		cpl_campaign_free(&p->result[i], p->log.n_jobs);
	cpl_jobs_free(&p->jobs);
	cpl_log_free(&p->log);
	cpl_network_free(p->net);
}

/* 200 jobs of 1 to 16 nodes; by a formula. */
static inline char *many_jobs(void)
{
	char *text = malloc(200 * 64);
	size_t used = 0;

	assert_non_null(text);
	for (unsigned i = 0; i < 200; i++)
		used += (size_t)sprintf(
		        text + used,
		        "%u %u -1 %u %u -1 -1 -1 %u -1 1 1 1 %u 1 -1 -1 0\n",
		        i + 1, 40 * i, 50 + i * 7919 % 400, 1 + i * i * 31 % 16,
		        50 + i * 7919 % 400 * 2, i % 3);
	return text;
}
