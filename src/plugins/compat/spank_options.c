/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spank_options.h"

#include <slurm/slurm.h>

#include "layout.h"
#include "series.h"

bool cplslurm_spank_register(spank_t sp, const char *name, const char *usage,
                             int number,
                             int (*take)(int number, const char *value,
                                         int remote))
{
	/* Slurm copies the option. */
	struct spank_option option = {
	        .name = (char *)name,
	        .arginfo = "NAME",
	        .usage = (char *)usage,
	        .has_arg = 1,
	        .val = number,
	        .cb = take,
	};

	return spank_option_register(sp, &option) == ESPANK_SUCCESS;
}

bool cplslurm_spank_is_batch(spank_t sp)
{
	uint32_t step;

	return spank_get_item(sp, S_JOB_STEPID, &step) == ESPANK_SUCCESS &&
	       step == SLURM_BATCH_SCRIPT;
}

/* It is weak, since only Slurm's own programs have it. */
extern slurm_conf_t slurm_conf __attribute__((weak));

bool cplslurm_spank_default_is_no_pack(void)
{
	return cplslurm_conf_size() == sizeof(slurm_conf) &&
	       !(slurm_conf.select_type_param & CR_PACK_NODES);
}
