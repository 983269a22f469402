/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/error.h"

#include <stdio.h>
#include <string.h>

#include "base/printable.h"

/* Texts quote what users wrote, which must not reach a log or a terminal as it
 * is. */
int cpl_vfail(struct cpl_error *err, const char *fmt, va_list ap)
{
	if (!err)
		return -1;
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	cpl_printable(err->text);
	return -1;
}

int cpl_fail(struct cpl_error *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cpl_vfail(err, fmt, ap);
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
	cpl_vfail(err, fmt, ap);
	va_end(ap);
	n = strlen(err->text);
	snprintf(err->text + n, sizeof(err->text) - n, "%s", old.text);
	return -1;
}

static const char out_of_memory[] = "out of memory";

int cpl_fail_memory(struct cpl_error *err)
{
	return cpl_fail(err, "%s", out_of_memory);
}

bool cpl_error_is_memory(const struct cpl_error *err)
{
	size_t n = strlen(err->text), length = strlen(out_of_memory);

	return n >= length && !strcmp(err->text + n - length, out_of_memory);
}
