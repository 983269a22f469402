/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * switch/test: a site's own switch plugin, for tests that wrap it. Jobs and
 * steps have data of its own; each hook says "switch_test: HOOK DATA" in the
 * log of the daemon that it is called in, and tasks get the data of their step
 * as SWITCH_TEST. Data that is not its own is an error in the log.
 */
#include "switch_hooks.h"

#include <stdio.h>
#include <string.h>

#include "src/common/pack.h"
#include "src/common/run_in_daemon.h"

const char plugin_name[] = "test";
const char plugin_type[] = "switch/test";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;
const uint32_t plugin_id = 0x5454;

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#if CPLSLURM_SERIES < 2511
#define HOOK(object, verb) switch_p_##verb##_##object
#else
#define HOOK(object, verb) switch_p_##object##_##verb
#endif

#define MAGIC 0x0badcafe

struct own {
	uint32_t magic;
	char text[32]; /* "JOB" or "JOB.STEP" */
};

static char *text(const char *hook, void *data)
{
	struct own *own = data;

	if (!own)
		return "none";
	if (own->magic == MAGIC && xsize(data) == sizeof(*own))
		return own->text;
	error("switch_test: %s: foreign data", hook);
	return "foreign";
}

static void say(const char *hook, void *data)
{
	info("switch_test: %s %s", hook, text(hook, data));
}

static struct own *make(const char *what)
{
	struct own *own = xmalloc(sizeof(*own));

	own->magic = MAGIC;
	snprintf(own->text, sizeof(own->text), "%s", what);
	return own;
}

static void *data_of(const stepd_step_rec_t *step)
{
	return step->switch_step ? step->switch_step->data : NULL;
}

static void pack(struct own *own, buf_t *buffer)
{
	char *what = own ? text("pack", own) : NULL;

	packstr(what, buffer);
}

static int unpack(void **out, buf_t *buffer)
{
	char *what = NULL;
	uint32_t n;

	*out = NULL;
	if (unpackstr_xmalloc(&what, &n, buffer) != SLURM_SUCCESS)
		return SLURM_ERROR;
	if (what)
		*out = make(what);
	xfree(what);
	return SLURM_SUCCESS;
}

int init(void)
{
	info("switch_test: init %s",
	     slurm_conf.switch_param ? slurm_conf.switch_param : "none");
	return SLURM_SUCCESS;
}

int fini(void)
{
	return SLURM_SUCCESS;
}

int switch_p_save(void)
{
	say("save", NULL);
	return SLURM_SUCCESS;
}

int switch_p_restore(bool recover)
{
	say("restore", NULL);
	return SLURM_SUCCESS;
}

void HOOK(jobinfo, pack)(void *info, buf_t *buffer, uint16_t version)
{
	pack(info, buffer);
}

int HOOK(jobinfo, unpack)(void **out, buf_t *buffer, uint16_t version)
{
	int rc = unpack(out, buffer);

	if (rc == SLURM_SUCCESS && *out)
		say("jobinfo_unpack", *out);
	return rc;
}

/* As switch/hpe_slingshot for the parts of a het step. */
static int other_step(void *x, void *arg)
{
	step_record_t *step = x;

	if (step->switch_step)
		say("other step", step->switch_step->data);
	return 0;
}

static void build(void **out, step_record_t *step)
{
	char what[32];

	list_for_each(step->job_ptr->step_list, other_step, NULL);
	snprintf(what, sizeof(what), "%.16s.%u",
	         text("build", step->job_ptr->switch_jobinfo),
	         step->step_id.step_id);
	*out = make(what);
	say("stepinfo_build", *out);
}

/* As switch/nvidia_imex for the channels that are taken. */
static int other_job(void *x, void *arg)
{
	job_record_t *job = x;

	if (job->switch_jobinfo)
		say("other job", job->switch_jobinfo);
	return 0;
}

static void start(job_record_t *job)
{
	char what[32];

	list_for_each(job_list, other_job, NULL);
	snprintf(what, sizeof(what), "%u", job->job_id);
	job->switch_jobinfo = make(what);
	say("job_start", job->switch_jobinfo);
}

static void drop(const char *hook, job_record_t *job)
{
	say(hook, job->switch_jobinfo);
	xfree(job->switch_jobinfo);
}

#if CPLSLURM_SERIES < 2511

int switch_p_build_stepinfo(void **out, slurm_step_layout_t *layout,
                            step_record_t *step)
{
	build(out, step);
	return SLURM_SUCCESS;
}

void switch_p_extern_stepinfo(void **out, job_record_t *job)
{
	*out = make(text("extern", job->switch_jobinfo));
	say("extern_stepinfo", *out);
}

void switch_p_job_start(job_record_t *job)
{
	start(job);
}

#else

int switch_p_stepinfo_build(void **out, void *jobinfo, step_record_t *step)
{
	if (step) {
		build(out, step);
	} else {
		*out = make(text("special", jobinfo));
		say("special step", *out);
	}
	return SLURM_SUCCESS;
}

bool switch_p_setup_special_steps(void)
{
	return true;
}

int switch_p_job_start(job_record_t *job, bool test_only)
{
	if (!test_only)
		start(job);
	return SLURM_SUCCESS;
}

uint32_t switch_p_job_channel(job_record_t *job, char *node)
{
	text("job_channel", job->switch_jobinfo);
	return 7;
}

#endif

#if CPLSLURM_SERIES >= 2505
void HOOK(jobinfo, free)(job_record_t *job)
{
	drop("jobinfo_free", job);
}
#endif

#if CPLSLURM_SERIES >= 2411 && CPLSLURM_SERIES < 2605

void switch_p_extern_step_fini(uint32_t job)
{
	info("switch_test: extern_step_fini %u", job);
}

#elif CPLSLURM_SERIES >= 2605

void switch_p_stepmgr_init(void)
{
	say("stepmgr_init", NULL);
}

void switch_p_stepmgr_fini(uint32_t job)
{
	info("switch_test: stepmgr_fini %u", job);
}

#endif

void HOOK(stepinfo, duplicate)(void *from, void **to)
{
	*to = from ? make(text("duplicate", from)) : NULL;
}

void HOOK(stepinfo, free)(void *info)
{
	text("free", info);
	xfree(info);
}

void HOOK(stepinfo, pack)(void *info, buf_t *buffer, uint16_t version)
{
	pack(info, buffer);
}

int HOOK(stepinfo, unpack)(void **out, buf_t *buffer, uint16_t version)
{
	return unpack(out, buffer);
}

int switch_p_job_preinit(stepd_step_rec_t *step)
{
	say("job_preinit", data_of(step));
	return SLURM_SUCCESS;
}

int switch_p_job_init(stepd_step_rec_t *step)
{
	say("job_init", data_of(step));
	return SLURM_SUCCESS;
}

int switch_p_job_postfini(stepd_step_rec_t *step)
{
	say("job_postfini", data_of(step));
	return SLURM_SUCCESS;
}

int switch_p_fs_init(stepd_step_rec_t *step)
{
	say("fs_init", data_of(step));
	return SLURM_SUCCESS;
}

int switch_p_job_attach(void *info, char ***env, uint32_t node, uint32_t proc,
                        uint32_t nodes, uint32_t procs, uint32_t rank)
{
	env_array_overwrite(env, "SWITCH_TEST", text("job_attach", info));
	return SLURM_SUCCESS;
}

int switch_p_job_step_complete(void *info, char *nodes)
{
	say("job_step_complete", info);
	return SLURM_SUCCESS;
}

void switch_p_job_complete(job_record_t *job)
{
	drop("job_complete", job);
}
