/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "switch_hooks.h"

#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const char option[] = "commplace_wraps=";

static struct cplslurm_wrapped wrapped;
static void *handle;

#define TEXT(name) #name
#define NAME(name) TEXT(name)
#define FIELD(field, symbol)                                                   \
	{                                                                      \
		offsetof(struct cplslurm_wrapped, field), symbol               \
	}
#define ONE(field) FIELD(field, "switch_p_" #field)
#define PAIR(object, verb)                                                     \
	FIELD(object##_##verb, NAME(CPLSLURM_SWITCH_HOOK(object, verb)))

static const struct {
	size_t offset;
	const char *symbol;
} hook[] = {
        ONE(save),
        ONE(restore),
        PAIR(jobinfo, pack),
        PAIR(jobinfo, unpack),
        PAIR(stepinfo, build),
        PAIR(stepinfo, duplicate),
        PAIR(stepinfo, free),
        PAIR(stepinfo, pack),
        PAIR(stepinfo, unpack),
        ONE(job_preinit),
        ONE(job_init),
        ONE(job_postfini),
        ONE(job_attach),
        ONE(job_step_complete),
        ONE(job_start),
        ONE(job_complete),
        ONE(fs_init),
#if CPLSLURM_SERIES < 2511
        ONE(extern_stepinfo),
#else
        ONE(setup_special_steps),
        ONE(job_channel),
#endif
#if CPLSLURM_SERIES >= 2505
        PAIR(jobinfo, free),
#endif
#if CPLSLURM_SERIES >= 2411 && CPLSLURM_SERIES < 2605
        ONE(extern_step_fini),
#elif CPLSLURM_SERIES >= 2605
        ONE(stepmgr_init),
        ONE(stepmgr_fini),
#endif
};
_Static_assert(sizeof(hook) / sizeof(*hook) * sizeof(void *) ==
                       offsetof(struct cplslurm_wrapped, plugin_id),
               "a symbol a field");

/* Find the name after the option and return its length, 0 if it is not there. */
static size_t named(const char *parameters, const char **name)
{
	const char *at = parameters ? strstr(parameters, option) : NULL;

	if (!at)
		return 0;
	*name = at + sizeof(option) - 1;
	return strcspn(*name, ",");
}

/* Return SwitchParameters as the wrapped plugin may see them, without our word. */
static char *without_option(void)
{
	const char *all = slurm_conf.switch_param;
	const char *at = strstr(all, option);
	size_t before = (size_t)(at - all);
	const char *rest = at + strcspn(at, ",");
	char *text = malloc(strlen(all) + 1);

	if (!text)
		return NULL;
	if (*rest)
		rest++;
	else if (before)
		before--; /* The comma goes, too. */
	memcpy(text, all, before);
	strcpy(text + before, rest);
	return text;
}

static int start(const char *file, struct cpl_error *err)
{
	int (*their_init)(void) =
	        (int (*)(void))(uintptr_t)dlsym(handle, "init");
	char *saved = slurm_conf.switch_param, *text = without_option();
	int rc = 0;

	if (!text)
		return cpl_fail_memory(err);
	slurm_conf.switch_param = *text ? text : NULL;
	if (their_init && their_init() != SLURM_SUCCESS)
		rc = cpl_fail(err, "init() of %s failed", file);
	slurm_conf.switch_param = saved;
	free(text);
	return rc;
}

static int resolve(const char *file, struct cpl_error *err)
{
	const uint32_t *version = dlsym(handle, "plugin_version");
	const uint32_t *id = dlsym(handle, "plugin_id");

	if (!version || *version != SLURM_VERSION_NUMBER)
		return cpl_fail(err,
		                "%s is of version %#x, this plugin is for "
		                "%#x",
		                file, version ? *version : 0,
		                SLURM_VERSION_NUMBER);
	if (!id)
		return cpl_fail(err, "%s has no plugin_id", file);
	wrapped.plugin_id = *id;
	for (size_t i = 0; i < sizeof(hook) / sizeof(*hook); i++) {
		void *address = dlsym(handle, hook[i].symbol);

		if (!address)
			return cpl_fail(err, "%s has no %s", file,
			                hook[i].symbol);
		memcpy((char *)&wrapped + hook[i].offset, &address,
		       sizeof(address));
	}
	return start(file, err);
}

int cplslurm_wrap(const struct cplslurm_wrapped **out, struct cpl_error *err)
{
	static const char type[] = "switch/";
	const char *name = NULL, *why;
	size_t n = named(slurm_conf.switch_param, &name);
	char file[NAME_MAX];

	*out = NULL;
	if (!name)
		return 0;
	if (n > sizeof(type) - 1 && !strncmp(name, type, sizeof(type) - 1)) {
		name += sizeof(type) - 1;
		n -= sizeof(type) - 1;
	}
	if (!n || n > 64 ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyz"
	                 "0123456789_") < n ||
	    (n == strlen("commplace") && !strncmp(name, "commplace", n)))
		return cpl_fail(err,
		                "SwitchParameters=%s%.*s names no other switch "
		                "plugin",
		                option, (int)n, name);
	snprintf(file, sizeof(file), "switch_%.*s.so", (int)n, name);
	handle = cplslurm_open_plugin(file, RTLD_LAZY | RTLD_LOCAL);
	if (!handle) {
		why = dlerror();
		return cpl_fail(err, "cannot load %s: %s", file,
		                why ? why : "not in PluginDir");
	}
	if (resolve(file, err)) {
		cplslurm_unwrap();
		return -1;
	}
	*out = &wrapped;
	return 0;
}

void cplslurm_unwrap(void)
{
	int (*their_fini)(void);

	if (!handle)
		return;
	their_fini = (int (*)(void))(uintptr_t)dlsym(handle, "fini");
	if (their_fini)
		their_fini();
	dlclose(handle);
	handle = NULL;
}

static void show(struct cplslurm_shown *shown, void **at)
{
	struct cplslurm_switch *ours = *at;

	if (!ours || shown->failed)
		return;
	shown->failed = cpl_array_grow(&shown->slot, shown->n,
	                               sizeof(*shown->slot), NULL);
	if (shown->failed)
		return;
	shown->slot[shown->n++] = (struct cplslurm_slot){at, ours};
	*at = ours->theirs;
}

static int show_job(void *x, void *arg)
{
	job_record_t *job = x;
	struct cplslurm_shown *shown = arg;

	if (job != shown->except)
		show(shown, &job->switch_jobinfo);
	return 0;
}

static int show_step(void *x, void *arg)
{
	step_record_t *step = x;
	struct cplslurm_shown *shown = arg;
	dynamic_plugin_data_t *door = step->switch_step;

	if (step != shown->except && door)
		show(shown, &door->data);
	return 0;
}

/* Show the other components of a heterogeneous job. */
static int show_component(void *x, void *arg)
{
	job_record_t *job = x;
	struct cplslurm_shown *shown = arg;
	const step_record_t *step = shown->except;

	if (job != step->job_ptr && job->step_list &&
	    job->het_job_id == step->job_ptr->het_job_id)
		list_for_each(job->step_list, show_step, shown);
	return 0;
}

static int all_shown(struct cplslurm_shown *out)
{
	if (out->failed)
		cplslurm_hide(out);
	return out->failed ? -1 : 0;
}

int cplslurm_show_jobs(struct cplslurm_shown *out, const job_record_t *except)
{
	*out = (struct cplslurm_shown){.except = except};
	if (&job_list && job_list)
		list_for_each(job_list, show_job, out);
	return all_shown(out);
}

int cplslurm_show_steps(struct cplslurm_shown *out, const step_record_t *except)
{
	const job_record_t *job = except->job_ptr;

	*out = (struct cplslurm_shown){.except = except};
	if (job->step_list)
		list_for_each(job->step_list, show_step, out);
	if (job->het_job_id && &job_list && job_list)
		list_for_each(job_list, show_component, out);
	return all_shown(out);
}

void cplslurm_hide(struct cplslurm_shown *shown)
{
	while (shown->n) {
		struct cplslurm_slot *slot = &shown->slot[--shown->n];

		slot->ours->theirs = *slot->at;
		*slot->at = slot->ours;
	}
	free(shown->slot);
	shown->slot = NULL;
}
