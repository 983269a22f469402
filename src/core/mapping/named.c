/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/mapping.h"

#include <string.h>
#include <strings.h>

const struct cpl_entry *cpl_mapper_entry(const struct cpl_registry *mappers,
                                         const char *name,
                                         struct cpl_error *err)
{
	char list[CPL_ERROR_MAX], hint[64];
	size_t length = strcspn(name, ":");
	const struct cpl_entry *found =
	        cpl_registry_find(mappers, name, length, NULL, NULL);

	if (length == 7 && !strncasecmp(name, "default", length))
		found = cpl_registry_find(mappers, "linear", 6, NULL, NULL);
	if (found)
		return found;
	if (cpl_registry_find(&cpl_mappers_lacking, name, length, NULL, NULL))
		cpl_fail(err,
		         "rank mapping '%.*s' is not in this commplaced: only "
		         "in one built with --enable-lab-mappers",
		         (int)length, name);
	else if (length == 6 && !strncasecmp(name, "scotch", length))
		cpl_fail(err, "rank mapping 'scotch' is not in this program: "
		              "it is only in a commplace command built with "
		              "Scotch");
	else
		cpl_fail(err,
		         "unknown rank mapping '%.64s'%s; it must be one of "
		         "default, %s",
		         name,
		         cpl_registry_hint(mappers, name, hint, sizeof(hint)),
		         cpl_registry_names(mappers, 0, NULL, NULL, list,
		                            sizeof(list)));
	return NULL;
}
