/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slurm_share.h"

#include "slurm_compat.h"

#include <dlfcn.h>
#include <string.h>

#define SELECT_TYPE_OURS "select/cons_tres_commplace"
#define SELECT_FILE "select_cons_tres_commplace.so"

const struct cplslurm_share *cplslurm_share_find(void **handle)
{
	const struct cplslurm_share *share = NULL;
	const char *type = slurm_conf.select_type;
	static bool said;

	if (!type || strcmp(type, SELECT_TYPE_OURS)) {
		if (!said)
			info("commplace: SelectType=%s is not " SELECT_TYPE_OURS
			     ": jobs have the stock nodes and rank order",
			     type ? type : "");
		said = true;
		return NULL;
	}
	if (!*handle)
		*handle = cplslurm_open_plugin(SELECT_FILE,
		                               RTLD_LAZY | RTLD_NOLOAD);
	if (*handle)
		share = dlsym(*handle, CPLSLURM_SHARE_NAME);
	if (share && !strcmp(share->version, PACKAGE_VERSION) &&
	    share->submission == sizeof(struct cpl_submission) &&
	    share->verdict == sizeof(struct cpl_verdict))
		return share;
	error("commplace: the select plugin that is loaded is of another "
	      "build; restart slurmctld after an update");
	return NULL;
}
