/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/sort.h"
#include "mapping/mapping_internal.h"

static CPL_SORT_BY(by_key, struct cpl_keyed, CPL_UP(key), CPL_UP(item))

void cpl_keyed_sort(struct cpl_keyed *keyed, int n)
{
	qsort(keyed, (size_t)n, sizeof(*keyed), by_key);
}
