/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Millions of names are right, but take seconds: small ranges do, and no more
 * than so many of them. */
static int is_long(const uint8_t *data, size_t size, size_t most)
{
	size_t digits = 0, brackets = 0;

	for (size_t i = 0; i < size; i++) {
		brackets += data[i] == '[';
		digits = data[i] >= '0' && data[i] <= '9' ? digits + 1 : 0;
		if (digits > 3 || brackets > most)
			return 1;
	}
	return 0;
}
