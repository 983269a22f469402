/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This gives a job its nodes, and handles its start, its steps and its end. */
#include "select_internal.h"

#include <stdlib.h>

int cplselect_test(struct cplslurm_test *test)
{
	struct cpl_engine_scheduler scheduler = cplslurm_scheduler;
	enum cpl_engine_answer answer = CPL_ENGINE_NONE;
	struct cpl_engine_request req;
	int *required = NULL;
	char text[512] = "";

	if (!cplselect_engine || !cplslurm_test_is_choice(test))
		return cplslurm_ask(test);
	scheduler.arg = test;
	if (!cplslurm_request(test, &req, &required) && !cplselect_hosts())
		answer = cpl_engine_decide(cplselect_engine, &req, &scheduler,
		                           text, sizeof(text));
	free(required);
	cplslurm_test_done(test);
	return answer == CPL_ENGINE_NONE ? cplslurm_ask(test)
	                                 : cplslurm_answer(test, text);
}

void cplselect_job_begin(struct job_record *job)
{
	struct cpl_engine_notice notice;
	struct cplslurm_start start;

	if (!cplselect_engine)
		return;
	if (cplslurm_start(job, &start) && !cplselect_hosts()) {
		cpl_engine_start(cplselect_engine, &start.got, &notice);
		cplslurm_tell(job, &notice);
		cplslurm_give_order(job, notice.order);
		free(notice.order);
	}
	free(start.host);
}

void cplselect_job_resized(struct job_record *job)
{
	int n, *host;

	if (!cplselect_engine)
		return;
	host = cplslurm_job_hosts(job, &n);
	if (host && !cplselect_hosts())
		cpl_engine_resized(cplselect_engine, cplslurm_job_id(job), host,
		                   n);
	free(host);
}

void cplselect_job_suspended(const struct job_record *job, bool stands)
{
	if (cplselect_engine)
		cpl_engine_suspended(cplselect_engine, cplslurm_job_id(job),
		                     stands);
}

void cplselect_job_end(const struct job_record *job)
{
	if (cplselect_engine)
		cpl_engine_end(cplselect_engine, cplslurm_job_id(job));
}

static void lay_out(const void *arg, const struct cpl_engine_step *step,
                    struct cpl_engine_layout *out)
{
	cpl_engine_step(cplselect_engine, step, out);
}

bool cplselect_step(struct cplslurm_step *step, struct cpl_engine_layout *out)
{
	return cplselect_engine && cplslurm_step(step, lay_out, NULL, out);
}

unsigned char *cplselect_handover(const struct job_record *job, size_t limit,
                                  size_t *size)
{
	struct cpl_error err = {""};
	struct cpl_job_facts facts;
	unsigned char *data;

	if (!cplselect_engine || !cplslurm_facts(job, &facts))
		return NULL;
	data = cpl_engine_handover(cplselect_engine, &facts, limit, size, &err);
	if (err.text[0])
		cplslurm_log_error("commplace: JobId=%lld: its step manager "
		                   "goes without %s: %s",
		                   (long long)facts.id,
		                   data ? "a profile" : "a layout", err.text);
	return data;
}
