/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "lib_internal.h"

#include <string.h>

const char *commplace_version(void)
{
	return PACKAGE_VERSION;
}

int cpl_lib_fail(struct commplace_error *err, const struct cpl_error *why)
{
	_Static_assert(sizeof(err->text) == sizeof(why->text), "texts fit");
	if (err)
		memcpy(err->text, why->text, sizeof(err->text));
	return -1;
}

int cpl_lib_check_nodes(const struct commplace_network *net, const int *node,
                        int n, struct cpl_error *err)
{
	if (n < 1)
		return cpl_fail(err, "no nodes are given");
	for (int i = 0; i < n; i++)
		if (!commplace_network_host(net, node[i]))
			return cpl_fail(err, "network %s has no node %d",
			                net->net->name, node[i]);
	return 0;
}
