/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * switch/commplace exists from Slurm 24.05 on, where its hooks are the only ones
 * between the layout of a step and its credential. Ranks are laid out there, and
 * what the nodes need travels inside the credential, which only slurmctld (or the
 * job's step manager) signs and only slurmstepd opens.
 *
 * Slurm takes one switch plugin, so a site's own is wrapped: it is named in
 * slurm.conf as SwitchParameters=commplace_wraps=switch/NAME, and gets every
 * call with its own data in the place of ours.
 *
 * Where Slurm's stepmgr makes a job's steps, in the slurmstepd of its first
 * node, what slurmctld's engine knows of the job is in the job's own data.
 */
#pragma once

#include "slurm_compat_ctld.h"
#include "slurm_compat_slurmd.h"

#include "base/error.h"

/* This names a hook that has an object and a verb, which 25.11 turned round. */
#if CPLSLURM_SERIES < 2511
#define CPLSLURM_SWITCH_HOOK(object, verb) switch_p_##verb##_##object
#else
#define CPLSLURM_SWITCH_HOOK(object, verb) switch_p_##object##_##verb
#endif

/* These are the wrapped plugin's hooks, as all series have them. */
struct cplslurm_wrapped {
	int (*save)(void);
	int (*restore)(bool recover);
	void (*jobinfo_pack)(void *info, buf_t *buffer, uint16_t version);
	int (*jobinfo_unpack)(void **info, buf_t *buffer, uint16_t version);
	void (*stepinfo_duplicate)(void *from, void **to);
	void (*stepinfo_free)(void *info);
	void (*stepinfo_pack)(void *info, buf_t *buffer, uint16_t version);
	int (*stepinfo_unpack)(void **info, buf_t *buffer, uint16_t version);
	int (*job_preinit)(stepd_step_rec_t *step);
	int (*job_init)(stepd_step_rec_t *step);
	int (*job_postfini)(stepd_step_rec_t *step);
	int (*job_attach)(void *info, char ***env, uint32_t node, uint32_t proc,
	                  uint32_t nodes, uint32_t procs, uint32_t rank);
	int (*job_step_complete)(void *info, char *nodes);
	void (*job_complete)(job_record_t *job);
	int (*fs_init)(stepd_step_rec_t *step);
#if CPLSLURM_SERIES < 2511
	int (*stepinfo_build)(void **info, slurm_step_layout_t *layout,
	                      step_record_t *step);
	void (*job_start)(job_record_t *job);
	void (*extern_stepinfo)(void **info, job_record_t *job);
#else
	int (*stepinfo_build)(void **info, void *jobinfo, step_record_t *step);
	int (*job_start)(job_record_t *job, bool test_only);
	bool (*setup_special_steps)(void);
	uint32_t (*job_channel)(job_record_t *job, char *node);
#endif
#if CPLSLURM_SERIES >= 2505
	void (*jobinfo_free)(job_record_t *job);
#endif
#if CPLSLURM_SERIES >= 2411 && CPLSLURM_SERIES < 2605
	void (*extern_step_fini)(uint32_t job);
#elif CPLSLURM_SERIES >= 2605
	void (*stepmgr_init)(void);
	void (*stepmgr_fini)(uint32_t job);
#endif
	uint32_t plugin_id;
};

/* Load and initialise the plugin that SwitchParameters names; *out is NULL for none.
 * Return 0, or -1 with err where one is named and cannot be had. */
int cplslurm_wrap(const struct cplslurm_wrapped **out, struct cpl_error *err);
void cplslurm_unwrap(void);

/* Wrapped plugins look at their data of other jobs (nvidia_imex: which channels are
 * taken) and other steps (hpe_slingshot: of the same het step), too. Put theirs in
 * the place of ours in slurmctld's other jobs, or in the other steps of a job and of
 * the jobs that are heterogeneous with it, with Slurm's locks held, until
 * cplslurm_hide. Return 0, or -1 where memory is out and nothing is changed.
 * O(jobs), or O(steps). */
struct cplslurm_shown {
	struct cplslurm_slot {
		void **at;
		struct cplslurm_switch *ours;
	} * slot;
	int n;
	const void *except;
	bool failed;
};
int cplslurm_show_jobs(struct cplslurm_shown *out, const job_record_t *except);
int cplslurm_show_steps(struct cplslurm_shown *out,
                        const step_record_t *except);
void cplslurm_hide(struct cplslurm_shown *shown);
