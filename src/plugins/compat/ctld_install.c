/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This tells which of our plugins slurm.conf names and if slurmctld is in charge. */
#include "ctld_internal.h"

#include <string.h>

/* Tell whether commplace is in the list, with the type's prefix or without. */
static bool names_us(const char *list, const char *prefix)
{
	static const char us[] = "commplace";
	size_t skip = strlen(prefix), n;

	for (; list && *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (n > skip && !strncmp(list, prefix, skip) &&
		    n - skip == sizeof(us) - 1 &&
		    !strncmp(list + skip, us, n - skip))
			return true;
		if (n == sizeof(us) - 1 && !strncmp(list, us, n))
			return true;
	}
	return false;
}

bool cplslurm_lays_out(void)
{
	return CPLSLURM_SERIES < 2405 ||
	       names_us(slurm_conf.switch_type, "switch/");
}

bool cplslurm_takes_charge(void)
{
	/* slurmctld sets it when all is read; a backup in standby clears it. */
	return &control_time && !control_time;
}

#if CPLSLURM_SERIES < 2505
bool cplslurm_is_leaving(void)
{
	return &slurmctld_config && slurmctld_config.shutdown_time;
}
#endif

static const char *or_nothing(const char *value)
{
	return value ? value : "";
}

void cplslurm_say_missing(void)
{
	if (!cplslurm_lays_out())
		info("commplace: SwitchType=%s is not switch/commplace: ranks "
		     "keep Slurm's order",
		     or_nothing(slurm_conf.switch_type));
	if (!names_us(slurm_conf.task_plugin, "task/"))
		info("commplace: TaskPlugin=%s without task/commplace: tasks "
		     "are bound by Slurm alone",
		     or_nothing(slurm_conf.task_plugin));
	if (!names_us(slurm_conf.job_submit_plugins, "job_submit/"))
		info("commplace: JobSubmitPlugins=%s without commplace: options "
		     "are not checked at submission, profiles that cannot be "
		     "used end in the stock nodes",
		     or_nothing(slurm_conf.job_submit_plugins));
}
