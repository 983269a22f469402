/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

int cpl_array_grow(void *array, int64_t n, size_t size, struct cpl_error *err)
{
	size_t bytes;
	void *p;

	if (n & (n - 1))
		return 0;
	if (__builtin_mul_overflow(n ? 2 * (size_t)n : 1, size, &bytes))
		return cpl_fail_memory(err);
	memcpy(&p, array, sizeof(p));
	p = realloc(p, bytes);
	if (!p)
		return cpl_fail_memory(err);
	memcpy(array, &p, sizeof(p));
	return 0;
}
