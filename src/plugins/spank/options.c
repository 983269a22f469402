/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spank_internal.h"

#include <stdlib.h>
#include <string.h>

#include "mapping/mapping.h"
#include "placement/placement.h"

static int check_policy(const char *value, struct cpl_error *err)
{
	const unsigned search = CPL_PLACEMENT_SEARCH;
	char searches[64], others[CPL_ERROR_MAX];

	if (cpl_placement_named(value))
		return 0;
	return cpl_fail(err,
	                "no placement policy '%.64s'; it must be one of %s, %s",
	                value,
	                cpl_registry_names(&cpl_placements, 0, cpl_entry_has,
	                                   &search, searches, sizeof(searches)),
	                cpl_registry_names(&cpl_placements, 0, cpl_entry_lacks,
	                                   &search, others, sizeof(others)));
}

static int check_mapping(const char *value, struct cpl_error *err)
{
	return cpl_mapper_find(value, err) ? 0 : -1;
}

struct cplspank_option cplspank_option[CPLSPANK_COUNT] = {
        [CPLSPANK_PROFILE] =
                {
                        .name = "comm-profile",
                        .variable = "COMM_PROFILE",
                        .arginfo = "NAME",
                        .usage =
                                "communication profile of the application (see "
                                "`commplace signature list`); none: no profile",
                        .check = cpl_profile_name_check,
                },
        [CPLSPANK_POLICY] =
                {
                        .name = "placement-policy",
                        .variable = "COMM_PLACEMENT_POLICY",
                        .arginfo = "NAME",
                        .usage = "how nodes are chosen: auto, traffic or a "
                                 "policy of "
                                 "commplace-place(1)",
                        .check = check_policy,
                },
        [CPLSPANK_MAPPING] =
                {
                        .name = "rank-mapping",
                        .variable = "COMM_RANK_MAPPING",
                        .arginfo = "NAME",
                        .usage = "how ranks are laid out on the nodes: default "
                                 "or a "
                                 "mapper of commplace-map(1)",
                        .check = check_mapping,
                },
};

static int take(int which, const char *value, int remote)
{
	struct cplspank_option *option = &cplspank_option[which];
	struct cpl_error err = {{0}};

	if (!value || option->check(value, &err) ||
	    strlen(value) >= sizeof(option->value)) {
		/* In slurmstepd the job runs already: without our options. */
		if (remote)
			return 0;
		slurm_error("commplace: --%s: %s", option->name,
		            *err.text ? err.text : "a value is missing");
		return -1;
	}
	memcpy(option->value, value, strlen(value) + 1);
	return 0;
}

int cplspank_register(spank_t sp)
{
	for (int i = 0; i < CPLSPANK_COUNT; i++) {
		const struct cplspank_option *o = &cplspank_option[i];
		/* Slurm copies it. */
		struct spank_option registered = {
		        .name = (char *)o->name,
		        .arginfo = (char *)o->arginfo,
		        .usage = (char *)o->usage,
		        .has_arg = 1,
		        .val = i,
		        .cb = take,
		};

		if (spank_option_register(sp, &registered) != ESPANK_SUCCESS) {
			slurm_error("commplace: cannot register --%s", o->name);
			return -1;
		}
	}
	return 0;
}

/* Where the program has it: Slurm's own do. */
extern slurm_conf_t slurm_conf __attribute__((weak));

bool cplspank_can_mark(void)
{
	return &slurm_conf && !(slurm_conf.select_type_param & CR_PACK_NODES);
}

int cplspank_export(spank_t sp)
{
	for (int i = 0; i < CPLSPANK_COUNT; i++) {
		const struct cplspank_option *o = &cplspank_option[i];
		bool none;

		if (!*o->value)
			continue;
		/* slurmctld has to know of "none", programs have not. */
		none = !strcmp(o->value, CPL_PROFILE_NONE);
		if (spank_job_control_setenv(sp, o->variable, o->value, 1) !=
		            ESPANK_SUCCESS ||
		    (none ? unsetenv(o->variable)
		          : setenv(o->variable, o->value, 1))) {
			slurm_error("commplace: cannot pass on --%s", o->name);
			return -1;
		}
	}
	return 0;
}
