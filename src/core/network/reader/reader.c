/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/reader/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "network/type.h"
#include "network/reader/reader_internal.h"

static const struct cpl_network_reader *find(const char *format,
                                             struct cpl_error *err)
{
	return (const struct cpl_network_reader *)cpl_registry_format(
	        &cpl_network_readers, format, err);
}

int cpl_network_import_format(const char *format, struct cpl_error *err)
{
	return find(format, err) ? 0 : -1;
}

static void describe(const struct cpl_network *net, struct cpl_error *out)
{
	FILE *to = fmemopen(out->text, sizeof(out->text), "w");

	/* Where memory is out, there are no words. */
	if (!to)
		return;
	net->type->describe(net, to);
	fclose(to);
}

/* The description must be one that the loader takes, routes and all; then it
 * names their table. */
static int check(json_t *root, const struct cpl_network_import *in,
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
	if (in->found)
		describe(net, in->found);
	cpl_network_free(net);
	if (!rc && routes &&
	    json_object_set_new(root, "routing_table",
	                        json_string(in->routing_table)))
		rc = cpl_fail_memory(err);
	return rc;
}

json_t *cpl_network_import(const struct cpl_network_import *in, char **routes,
                           struct cpl_error *err)
{
	const struct cpl_network_reader *reader = find(in->format, err);
	struct cpl_lines lines =
	        cpl_lines_of(in->source, in->text, in->length, err);
	struct cpl_draft draft = {.err = err};
	json_t *root = NULL;

	*routes = NULL;
	if (!reader)
		return NULL;
	if (in->routes && !reader->routes)
		return cpl_fail_null(err, "format %s has no routes",
		                     in->format);
	if (in->length >= 2 && !memcmp(in->text, "\x1f\x8b", 2))
		return cpl_fail_null(err, "%s: is compressed; gunzip it first",
		                     in->source);
	if (!reader->read(&lines, in, &draft))
		root = draft.description ? json_incref(draft.description)
		                         : cpl_draft_finish(&draft, in);
	if (in->why)
		*in->why = draft.why;
	if (in->doubt)
		*in->doubt = draft.doubt;
	if (root && in->routes) {
		lines = cpl_lines_of(in->routes_source, in->routes,
		                     in->routes_length, err);
		*routes = reader->routes(&lines, &draft);
	}
	cpl_draft_free(&draft);
	if (root &&
	    ((in->routes && !*routes) || check(root, in, *routes, err))) {
		json_decref(root);
		free(*routes);
		*routes = NULL;
		root = NULL;
	}
	return root;
}
