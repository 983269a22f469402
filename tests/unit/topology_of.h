/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree of a node, as tests of binding name it. */
#pragma once

#include "binding/binding.h"

/* text as for cpl_topology_load; the test fails where that does. */
static inline hwloc_topology_t topology_of(const char *text)
{
	hwloc_topology_t topology;
	struct cpl_error err = {""};

	if (cpl_topology_load(text, &topology, &err))
		fail_msg("%s", err.text);
	return topology;
}
