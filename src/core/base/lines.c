/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/lines.h"

#include <string.h>
#include <strings.h>

struct cpl_lines cpl_lines_of(const char *source, const char *text,
                              size_t length, struct cpl_error *err)
{
	return (struct cpl_lines){.source = source,
	                          .next = text,
	                          .end = text + length,
	                          .p = text,
	                          .line_end = text,
	                          .err = err};
}

bool cpl_lines_next(struct cpl_lines *in)
{
	const char *newline;

	if (in->next >= in->end)
		return false;
	newline = memchr(in->next, '\n', (size_t)(in->end - in->next));
	in->p = in->next;
	in->line_end = newline ? newline : in->end;
	in->next = newline ? newline + 1 : in->end;
	in->line++;
	return true;
}

bool cpl_lines_end(struct cpl_lines *in)
{
	while (in->p < in->line_end &&
	       (*in->p == ' ' || *in->p == '\t' || *in->p == '\r'))
		in->p++;
	return in->p == in->line_end;
}

bool cpl_lines_done(struct cpl_lines *in)
{
	return cpl_lines_end(in) || *in->p == '#';
}

bool cpl_lines_take(struct cpl_lines *in, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(in->line_end - in->p) < n || strncasecmp(in->p, text, n))
		return false;
	in->p += n;
	return true;
}

bool cpl_lines_take_word(struct cpl_lines *in, const char *word)
{
	const char *first = in->p;

	if (cpl_lines_take(in, word) &&
	    (cpl_lines_take(in, " ") || cpl_lines_take(in, "\t")))
		return true;
	in->p = first;
	return false;
}

bool cpl_lines_number(struct cpl_lines *in, int *out)
{
	const char *first = in->p;

	*out = 0;
	while (in->p < in->line_end && *in->p >= '0' && *in->p <= '9') {
		if (in->p - first == 9)
			return false;
		*out = *out * 10 + (*in->p++ - '0');
	}
	return in->p > first;
}

int cpl_lines_fail(const struct cpl_lines *in, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cpl_vfail(in->err, fmt, ap);
	va_end(ap);
	return cpl_lines_prefix(in);
}

int cpl_lines_prefix(const struct cpl_lines *in)
{
	return cpl_fail_prefix(in->err, "%s:%d: ", in->source, in->line);
}
