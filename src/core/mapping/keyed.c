/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "mapping/mapping_internal.h"

static int by_key(const void *a, const void *b)
{
	const struct cpl_keyed *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->item > y->item) - (x->item < y->item);
}

void cpl_keyed_sort(struct cpl_keyed *keyed, int n)
{
	qsort(keyed, (size_t)n, sizeof(*keyed), by_key);
}
