/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic/stream_internal.h"

bool cpl_stream_by_groups(const struct cpl_network *net,
                          const struct cpl_routing *routing)
{
	return false;
}

int cpl_stream_groups(const struct cpl_network *net,
                      const struct cpl_stream *job,
                      const struct stream_sinks *sinks, struct cpl_error *err)
{
	return 0;
}
