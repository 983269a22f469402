/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* Texts quote what users wrote: a line break or an escape sequence in it must
 * not reach a log or a terminal. */
static void one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
}

int cpl_fail(struct cpl_error *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return -1;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	one_line(err->text);
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
	one_line(err->text);
	n = strlen(err->text);
	snprintf(err->text + n, sizeof(err->text) - n, "%s", old.text);
	return -1;
}

int cpl_fail_memory(struct cpl_error *err)
{
	return cpl_fail(err, "out of memory");
}
