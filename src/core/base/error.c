/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/error.h"

#include <stdio.h>
#include <string.h>

int cpl_fail(struct cpl_error *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return -1;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return -1;
}

int cpl_fail_prefix(struct cpl_error *err, const char *fmt, ...)
{
	struct cpl_error old;
	va_list ap;
	size_t n;

	if (!err)
		return -1;
	old = *err;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	n = strlen(err->text);
	snprintf(err->text + n, sizeof(err->text) - n, "%s", old.text);
	return -1;
}

int cpl_fail_memory(struct cpl_error *err)
{
	return cpl_fail(err, "out of memory");
}
