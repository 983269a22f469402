/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "switch_hooks.h"

#include <stdlib.h>
#include <string.h>

#include "ctld_internal.h"
#include "layout.h"
#include "slurm_share.h"
#include "src/common/pack.h"
#include "src/common/run_in_daemon.h"

const char plugin_name[] = "commplace: rank order and profiles of steps";
const char plugin_type[] = "switch/commplace";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;
const uint32_t plugin_id = CPLSLURM_SWITCH_ID;

/* Slurm names the hooks in its table of symbols and declares them nowhere. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define HOOK CPLSLURM_SWITCH_HOOK

#define FORMAT 1

static struct cplslurm_layout job_layout = CPLSLURM_LAYOUT(job_record_t);
static struct cplslurm_layout step_layout = CPLSLURM_LAYOUT(step_record_t);
static struct cplslurm_layout stepd_layout = CPLSLURM_LAYOUT(stepd_step_rec_t);

typedef struct cplslurm_switch info_t;

static const struct cplslurm_wrapped *theirs;
static const struct cplslurm_share *engine;
static void *engine_handle;

int init(void)
{
	struct cpl_error err = {""};

	if (cplslurm_ctld_check(&err) || cplslurm_wrap(&theirs, &err)) {
		error("commplace: %s", err.text);
		return SLURM_ERROR;
	}
	return SLURM_SUCCESS;
}

int fini(void)
{
	cplslurm_unwrap();
	theirs = NULL;
	engine = NULL;
	return SLURM_SUCCESS;
}

static info_t *make(void)
{
	info_t *info = calloc(1, sizeof(*info));

	if (info)
		info->magic = CPLSLURM_SWITCH_MAGIC;
	return info;
}

static void drop_data(info_t *info)
{
	free(info->data);
	info->data = NULL;
	info->size = 0;
}

static void *their(const void *info)
{
	return info ? ((const info_t *)info)->theirs : NULL;
}

/* The wrapped plugin's data is packed apart, under its number as Slurm has it, so
 * that whoever does not wrap it skips it. */
static void pack(const info_t *info, buf_t *buffer, uint16_t version,
                 void (*pack_theirs)(void *, buf_t *, uint16_t))
{
	pack16(FORMAT, buffer);
	packmem(info ? info->data : NULL, info ? info->size : 0, buffer);
	if (theirs) {
		buf_t *inner = init_buf(1024);

		pack32(theirs->plugin_id, inner);
		pack_theirs(their(info), inner, version);
		packmem(get_buf_data(inner), get_buf_offset(inner), buffer);
		free_buf(inner);
	} else {
		packmem(NULL, 0, buffer);
	}
}

static int unpack_inner(info_t *info, char *data, uint32_t size,
                        uint16_t version,
                        int (*unpack_theirs)(void **, buf_t *, uint16_t))
{
	int rc = SLURM_SUCCESS;
	uint32_t id = 0;
	buf_t *inner;
	char *copy;

	if (!theirs || !size)
		return SLURM_SUCCESS;
	/* A buffer owns what it reads. */
	copy = try_xmalloc(size);
	if (!copy)
		return SLURM_ERROR;
	memcpy(copy, data, size);
	inner = create_buf(copy, size);
	if (!inner) {
		xfree(copy);
		return SLURM_ERROR;
	}
	if (unpack32(&id, inner) == SLURM_SUCCESS && id == theirs->plugin_id)
		rc = unpack_theirs(&info->theirs, inner, version);
	free_buf(inner);
	return rc;
}

static int unpack(void **out, buf_t *buffer, uint16_t version,
                  int (*unpack_theirs)(void **, buf_t *, uint16_t))
{
	char *data = NULL, *inner = NULL;
	uint32_t size = 0, inner_size = 0;
	uint16_t format = 0;
	info_t *info;

	*out = NULL;
	if (unpack16(&format, buffer) != SLURM_SUCCESS ||
	    unpackmem_ptr(&data, &size, buffer) != SLURM_SUCCESS ||
	    unpackmem_ptr(&inner, &inner_size, buffer) != SLURM_SUCCESS)
		return SLURM_ERROR;
	/* All formats have two blocks. A job without what is in them is stock; an
	 * error would lose it. */
	if (format != FORMAT || (!size && !inner_size))
		return SLURM_SUCCESS;
	info = make();
	if (!info)
		return SLURM_ERROR;
	if (size && size <= CPLSLURM_SWITCH_MAX)
		info->data = malloc(size);
	if (info->data) {
		memcpy(info->data, data, size);
		info->size = size;
	}
	*out = info;
	return unpack_inner(info, inner, inner_size, version, unpack_theirs);
}

/* Make the call with the wrapped plugin's data in the place of ours. */
#define WITH_THEIRS(field, call)                                               \
	do {                                                                   \
		info_t *ours_ = (field);                                       \
		(field) = their(ours_);                                        \
		call;                                                          \
		(field) = keep(ours_, (field));                                \
	} while (0)

static info_t *keep(info_t *ours, void *changed)
{
	if (!ours && changed)
		ours = make();
	if (ours)
		ours->theirs = changed;
	return ours;
}

static void find_engine(void)
{
	if (!engine && running_in_slurmctld())
		engine = cplslurm_share_find(&engine_handle);
}

int switch_p_save(void)
{
#if CPLSLURM_SERIES >= 2505
	/* slurmctld ends or gives way. Earlier series tell the select plugin. */
	find_engine();
	if (engine)
		engine->drain();
#endif
	return theirs ? theirs->save() : SLURM_SUCCESS;
}

int switch_p_restore(bool recover)
{
	return theirs ? theirs->restore(recover) : SLURM_SUCCESS;
}

void HOOK(jobinfo, pack)(void *info, buf_t *buffer, uint16_t version)
{
	pack(info, buffer, version, theirs ? theirs->jobinfo_pack : NULL);
#if CPLSLURM_SERIES < 2505
	/* Each node's slurmd hands it on to a slurmstepd, once, and then frees
	 * the job but not this. */
	if (info && running_in_slurmd())
		drop_data(info);
#endif
}

int HOOK(jobinfo, unpack)(void **info, buf_t *buffer, uint16_t version)
{
	return unpack(info, buffer, version,
	              theirs ? theirs->jobinfo_unpack : NULL);
}

static void by_handover(const void *arg, const struct cpl_engine_step *step,
                        struct cpl_engine_layout *out)
{
	const info_t *handed = arg;
	struct cpl_error err = {""};

	if (cpl_engine_step_handed(handed->data, handed->size, step, out, &err))
		error("commplace: JobId=%lld: a step is left to Slurm: %s",
		      (long long)step->job.id, err.text);
}

/* A step without ranks of its own has the wrapped plugin's data only. */
static int build(void **out, const info_t *job, step_record_t *step,
                 void *inner)
{
	struct cpl_engine_layout layout = {0};
	info_t *info;

	find_engine();
	if (engine && step)
		engine->step((struct cplslurm_step *)step, &layout);
	/* Here slurmstepd is the manager of the job's steps. */
	else if (step && job && job->data && !running_in_slurmctld())
		cplslurm_step((struct cplslurm_step *)step, by_handover, job,
		              &layout);
	if (layout.size > CPLSLURM_SWITCH_MAX) {
		free(layout.data);
		layout.data = NULL;
	}
	*out = NULL;
	if (!layout.data && !inner)
		return SLURM_SUCCESS;
	info = make();
	if (!info) {
		free(layout.data);
		return SLURM_ERROR;
	}
	info->data = layout.data;
	info->size = layout.data ? (uint32_t)layout.size : 0;
	info->theirs = inner;
	*out = info;
	return SLURM_SUCCESS;
}

/*
 * A job whose steps are made in the slurmstepd of its first node takes along
 * what the engine knows: this comes before Slurm packs the job for that.
 */
static void hand_over(job_record_t *job)
{
	unsigned char *data = NULL;
	size_t size = 0;
	info_t *info;

	find_engine();
	if (engine && job->bit_flags & STEPMGR_ENABLED)
		data = engine->handover(job, CPLSLURM_SWITCH_MAX, &size);
	info = job->switch_jobinfo;
	if (data && !info)
		job->switch_jobinfo = info = make();
	if (!info) {
		free(data);
		return;
	}
	drop_data(info);
	info->data = data;
	info->size = (uint32_t)size;
}

#if CPLSLURM_SERIES < 2511

int switch_p_build_stepinfo(void **out, slurm_step_layout_t *layout,
                            step_record_t *step)
{
	job_record_t *job = step && cplslurm_is_ours(&step_layout, step)
	                            ? step->job_ptr
	                            : NULL;
	struct cplslurm_shown others;
	void *inner = NULL;
	int rc = SLURM_SUCCESS;

	*out = NULL;
	if (!job || !cplslurm_is_ours(&job_layout, job))
		return SLURM_SUCCESS;
	if (theirs && cplslurm_show_steps(&others, step))
		return SLURM_ERROR;
	if (theirs) {
		WITH_THEIRS(job->switch_jobinfo,
		            rc = theirs->stepinfo_build(&inner, layout, step));
		cplslurm_hide(&others);
	}
	return rc == SLURM_SUCCESS
	               ? build(out, job->switch_jobinfo, step, inner)
	               : rc;
}

void switch_p_extern_stepinfo(void **out, job_record_t *job)
{
	void *inner = NULL;

	*out = NULL;
	if (!theirs || !cplslurm_is_ours(&job_layout, job))
		return;
	WITH_THEIRS(job->switch_jobinfo, theirs->extern_stepinfo(&inner, job));
	if (inner)
		*out = keep(NULL, inner);
}

void switch_p_job_start(job_record_t *job)
{
	struct cplslurm_shown others;

	if (!cplslurm_is_ours(&job_layout, job))
		return;
	hand_over(job);
	if (!theirs || cplslurm_show_jobs(&others, job))
		return;
	WITH_THEIRS(job->switch_jobinfo, theirs->job_start(job));
	cplslurm_hide(&others);
}

#else

int switch_p_stepinfo_build(void **out, void *jobinfo, step_record_t *step)
{
	struct cplslurm_shown others = {0};
	job_record_t *job = NULL;
	void *inner = NULL;
	int rc = SLURM_SUCCESS;

	*out = NULL;
	if (step && cplslurm_is_ours(&step_layout, step))
		job = step->job_ptr;
	if (step && (!job || !cplslurm_is_ours(&job_layout, job)))
		return SLURM_SUCCESS;
	if (theirs && job && cplslurm_show_steps(&others, step))
		return SLURM_ERROR;
	if (theirs && job)
		WITH_THEIRS(job->switch_jobinfo,
		            rc = theirs->stepinfo_build(
		                    &inner, job->switch_jobinfo, step));
	else if (theirs)
		rc = theirs->stepinfo_build(&inner, their(jobinfo), NULL);
	cplslurm_hide(&others);
	return rc == SLURM_SUCCESS ? build(out, jobinfo, step, inner) : rc;
}

bool switch_p_setup_special_steps(void)
{
	return theirs && theirs->setup_special_steps();
}

int switch_p_job_start(job_record_t *job, bool test_only)
{
	struct cplslurm_shown others;
	int rc = SLURM_SUCCESS;

	if (!cplslurm_is_ours(&job_layout, job))
		return SLURM_SUCCESS;
	if (!test_only)
		hand_over(job);
	if (!theirs)
		return SLURM_SUCCESS;
	if (cplslurm_show_jobs(&others, job))
		return SLURM_ERROR;
	WITH_THEIRS(job->switch_jobinfo,
	            rc = theirs->job_start(job, test_only));
	cplslurm_hide(&others);
	return rc;
}

uint32_t switch_p_job_channel(job_record_t *job, char *node)
{
	uint32_t channel = NO_VAL;

	if (theirs && cplslurm_is_ours(&job_layout, job))
		WITH_THEIRS(job->switch_jobinfo,
		            channel = theirs->job_channel(job, node));
	return channel;
}

#endif

static void free_job(job_record_t *job)
{
	info_t *info = job->switch_jobinfo;

	if (!info)
		return;
#if CPLSLURM_SERIES >= 2505
	if (theirs && info->theirs)
		WITH_THEIRS(job->switch_jobinfo, theirs->jobinfo_free(job));
#endif
	drop_data(info);
	free(info);
	job->switch_jobinfo = NULL;
}

#if CPLSLURM_SERIES >= 2505
void HOOK(jobinfo, free)(job_record_t *job)
{
	if (cplslurm_is_ours(&job_layout, job))
		free_job(job);
}
#endif

#if CPLSLURM_SERIES >= 2411 && CPLSLURM_SERIES < 2605

void switch_p_extern_step_fini(uint32_t job)
{
	if (theirs)
		theirs->extern_step_fini(job);
}

#elif CPLSLURM_SERIES >= 2605

void switch_p_stepmgr_init(void)
{
	if (theirs)
		theirs->stepmgr_init();
}

void switch_p_stepmgr_fini(uint32_t job)
{
	if (theirs)
		theirs->stepmgr_fini(job);
}

#endif

/*
 * The answer to srun is made from a copy, after the credential: it needs
 * nothing of ours, nor does slurmctld's saved state.
 */
void HOOK(stepinfo, duplicate)(void *from, void **to)
{
	info_t *source = from;
	void *inner = NULL;

	*to = NULL;
	if (!source)
		return;
	if (theirs && source->theirs)
		theirs->stepinfo_duplicate(source->theirs, &inner);
	if (running_in_slurmctld())
		drop_data(source);
	if (inner)
		*to = keep(NULL, inner);
}

void HOOK(stepinfo, free)(void *stepinfo)
{
	info_t *info = stepinfo;

	if (!info)
		return;
	if (theirs && info->theirs)
		theirs->stepinfo_free(info->theirs);
	drop_data(info);
	free(info);
}

void HOOK(stepinfo, pack)(void *info, buf_t *buffer, uint16_t version)
{
	pack(info, buffer, version, theirs ? theirs->stepinfo_pack : NULL);
}

int HOOK(stepinfo, unpack)(void **info, buf_t *buffer, uint16_t version)
{
	return unpack(info, buffer, version,
	              theirs ? theirs->stepinfo_unpack : NULL);
}

/* Make the call in slurmstepd, where Slurm wraps the step's data, as we do. */
static int in_step(stepd_step_rec_t *step, int (*call)(stepd_step_rec_t *))
{
	dynamic_plugin_data_t *door;
	int rc;

	if (!cplslurm_is_ours(&stepd_layout, step))
		return SLURM_SUCCESS;
	door = step->switch_step;
	if (!door)
		return call(step);
	WITH_THEIRS(door->data, rc = call(step));
	return rc;
}

int switch_p_job_preinit(stepd_step_rec_t *step)
{
	return theirs ? in_step(step, theirs->job_preinit) : SLURM_SUCCESS;
}

int switch_p_job_init(stepd_step_rec_t *step)
{
	return theirs ? in_step(step, theirs->job_init) : SLURM_SUCCESS;
}

int switch_p_job_postfini(stepd_step_rec_t *step)
{
	return theirs ? in_step(step, theirs->job_postfini) : SLURM_SUCCESS;
}

int switch_p_fs_init(stepd_step_rec_t *step)
{
	return theirs ? in_step(step, theirs->fs_init) : SLURM_SUCCESS;
}

int switch_p_job_attach(void *info, char ***env, uint32_t node, uint32_t proc,
                        uint32_t nodes, uint32_t procs, uint32_t rank)
{
	return theirs ? theirs->job_attach(their(info), env, node, proc, nodes,
	                                   procs, rank)
	              : SLURM_SUCCESS;
}

int switch_p_job_step_complete(void *info, char *nodes)
{
	return theirs ? theirs->job_step_complete(their(info), nodes)
	              : SLURM_SUCCESS;
}

void switch_p_job_complete(job_record_t *job)
{
	if (!cplslurm_is_ours(&job_layout, job))
		return;
	if (theirs)
		WITH_THEIRS(job->switch_jobinfo, theirs->job_complete(job));
	free_job(job);
}
