/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/reader/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "network/type.h"
#include "network/reader/reader_internal.h"

int cpl_lines_next(struct cpl_lines *in)
{
	const char *newline;

	if (in->next >= in->end)
		return 0;
	newline = memchr(in->next, '\n', (size_t)(in->end - in->next));
	in->p = in->next;
	in->line_end = newline ? newline : in->end;
	in->next = newline ? newline + 1 : in->end;
	in->line++;
	return 1;
}

bool cpl_lines_end(struct cpl_lines *in)
{
	while (in->p < in->line_end &&
	       (*in->p == ' ' || *in->p == '\t' || *in->p == '\r'))
		in->p++;
	return in->p == in->line_end;
}

bool cpl_lines_take(struct cpl_lines *in, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(in->line_end - in->p) < n || strncasecmp(in->p, text, n))
		return false;
	in->p += n;
	return true;
}

bool cpl_lines_number(struct cpl_lines *in, int *out)
{
	int digits = 0;

	*out = 0;
	for (; in->p < in->line_end && *in->p >= '0' && *in->p <= '9' &&
	       digits < 9;
	     digits++)
		*out = *out * 10 + (*in->p++ - '0');
	return digits > 0 &&
	       (in->p == in->line_end || *in->p < '0' || *in->p > '9');
}

int cpl_lines_fail(const struct cpl_lines *in, const char *fmt, ...)
{
	char text[CPL_ERROR_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return cpl_fail(in->err, "%s:%d: %s", in->source, in->line, text);
}

int cpl_lines_prefix(const struct cpl_lines *in)
{
	return cpl_fail_prefix(in->err, "%s:%d: ", in->source, in->line);
}

static const struct cpl_network_reader *find(const char *format,
                                             struct cpl_error *err)
{
	const struct cpl_entry *found = cpl_registry_find(
	        &cpl_network_readers, format, strlen(format), NULL, NULL);
	char list[128];

	if (!found)
		cpl_fail(err, "unknown format '%.40s'; it must be one of %s",
		         format,
		         cpl_registry_names(&cpl_network_readers, 0, NULL, NULL,
		                            list, sizeof(list)));
	return (const struct cpl_network_reader *)found;
}

int cpl_network_import_format(const char *format, struct cpl_error *err)
{
	return find(format, err) ? 0 : -1;
}

/* The description must be one that the loader takes, routes and all. */
static int check(const json_t *root, const struct cpl_network_import *in,
                 const char *routes, struct cpl_error *err)
{
	char *text = json_dumps(root, 0);
	struct cpl_network *net;
	int rc = 0;

	if (!text)
		return cpl_fail_memory(err);
	net = cpl_network_parse(text, strlen(text), in->source, err);
	free(text);
	if (!net)
		return -1;
	if (routes)
		rc = cpl_network_parse_routes(net, routes, strlen(routes),
		                              in->routes_source, err);
	cpl_network_free(net);
	return rc;
}

json_t *cpl_network_import(const struct cpl_network_import *in, char **routes,
                           struct cpl_error *err)
{
	const struct cpl_network_reader *reader = find(in->format, err);
	struct cpl_lines lines = {.source = in->source,
	                          .next = in->text,
	                          .end = in->text + in->length,
	                          .err = err};
	struct cpl_draft draft = {.err = err};
	json_t *root = NULL;

	*routes = NULL;
	if (!reader)
		return NULL;
	if (in->routes && !reader->routes) {
		cpl_fail(err, "format %s has no routes", in->format);
		return NULL;
	}
	if (in->length >= 2 && !memcmp(in->text, "\x1f\x8b", 2)) {
		cpl_fail(err, "%s: is compressed; gunzip it first", in->source);
		return NULL;
	}
	if (!reader->read(&lines, in, &draft))
		root = draft.description ? json_incref(draft.description)
		                         : cpl_draft_finish(&draft, in);
	if (in->why)
		snprintf(in->why, in->why_size, "%s", draft.why);
	if (root && in->routes) {
		lines = (struct cpl_lines){.source = in->routes_source,
		                           .next = in->routes,
		                           .end = in->routes +
		                                  in->routes_length,
		                           .err = err};
		*routes = reader->routes(&lines, &draft);
	}
	if (!root)
		goto out;
	if ((in->routes && !*routes) || check(root, in, *routes, err))
		goto fail;
	if (*routes && json_object_set_new(root, "routing_table",
	                                   json_string(in->routing_table))) {
		cpl_fail_memory(err);
		goto fail;
	}
	goto out;
fail:
	json_decref(root);
	free(*routes);
	*routes = NULL;
	root = NULL;
out:
	cpl_draft_free(&draft);
	return root;
}
