/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A network of a test; one that cannot be read ends it. */
#pragma once

#include <string.h>

#include "network/network.h"

static inline struct cpl_network *parse_network(const char *text)
{
	struct cpl_error err = {""};
	struct cpl_network *net =
	        cpl_network_parse(text, strlen(text), "net", &err);

	if (!net)
		fail_msg("%s: %s", text, err.text);
	return net;
}
