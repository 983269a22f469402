/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays that grow by one item at a time. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Make sure that an array of n items, each of `size` bytes, can take one more;
 * array is the address of its pointer, NULL when n is 0. It is full when n is a
 * power of two, so that nobody need note its capacity; all items must come in
 * this way. 0, or -1 with err and the array as it was. Amortised O(1).
 */
int cpl_array_grow(void *array, int64_t n, size_t size, struct cpl_error *err);
