/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "lib_internal.h"

#include <stdlib.h>
#include <string.h>

const char *commplace_version(void)
{
	return PACKAGE_VERSION;
}

int cpl_lib_fail(struct commplace_error *err, const struct cpl_error *why)
{
	if (err)
		memcpy(err->text, why->text, sizeof(err->text));
	return -1;
}

void *cpl_lib_made(void *made, const struct cpl_error *why,
                   struct commplace_error *err)
{
	if (!made)
		cpl_lib_fail(err, why);
	return made;
}

int cpl_lib_check_nodes(const struct cpl_network *net, const int *node, int n,
                        struct cpl_error *err)
{
	if (n < 1)
		return cpl_fail(err, "no nodes are given");
	for (int i = 0; i < n; i++)
		if (node[i] < 0 || node[i] >= net->n_nodes ||
		    !net->node_name[node[i]])
			return cpl_fail(err, "network %s has no node %d",
			                net->name, node[i]);
	return 0;
}

int cpl_lib_check_distinct(const char *what, const int *id, int n, int limit,
                           struct cpl_error *err)
{
	unsigned char *seen = calloc((size_t)limit, 1);
	int rc = seen ? 0 : cpl_fail_memory(err);

	for (int i = 0; i < n && !rc; i++)
		if (seen[id[i]]++)
			rc = cpl_fail(err, "%s %d is given twice", what, id[i]);
	free(seen);
	return rc;
}
