/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `commplace map --compare`: mappers side by side. */
#ifndef CMD_MAP_COMPARE_H
#define CMD_MAP_COMPARE_H

#include "cmd.h"
#include "mapping/mapping.h"

/*
 * Run the mappers of `names` ("all", or names with commas between) on one
 * request, each as it is: without the refinement and the comparison with the
 * default order that cpl_map adds. Prints a table, or one JSON object. `start`
 * is called before each mapper with the request's expired_arg, to set its
 * budget; NULL: none. Returns an exit code.
 */
int map_compare(const struct cmd *self, const struct cpl_map_request *req,
                const char *names, bool json, void (*start)(void *arg));

#endif
