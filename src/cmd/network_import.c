/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/gunzip.h"
#include "base/json.h"
#include "network/reader/reader.h"

/* Uncompressed: more than ten million lines. */
#define MAX_BYTES (UINT64_C(1) << 30)

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The file's name without its extension. */
static char *default_name(const char *path)
{
	const char *base = base_name(path), *dot = strrchr(base, '.');

	return strndup(base,
	               dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

static int write_files(const struct cmd_import *in, const json_t *root,
                       const char *routes, const char *table,
                       struct cpl_error *err)
{
	if (routes &&
	    cpl_file_write_atomic(table, routes, strlen(routes), 0644, err))
		return -1;
	if (!cpl_json_write_atomic(root, in->output, 0644, err))
		return 0;
	if (routes)
		unlink(table);
	return -1;
}

/* A user wants to know why it is no dragonfly. */
static void tell(const struct cmd_import *in, const json_t *root,
                 const char *why)
{
	printf("%s: %s%s%s\n", in->output,
	       json_string_value(json_object_get(root, "type")),
	       *why ? ", not a dragonfly: " : "", why);
}

int cmd_network_import(const struct cmd_import *in, struct cpl_error *err)
{
	struct cpl_error why = {""};
	struct cpl_network_import import = {
	        .format = in->format,
	        .source = in->path,
	        .routes_source = in->routes,
	        .nodes = in->nodes,
	        .nodes_per_router = in->nodes_per_router,
	        .why = &why,
	};
	char *name = NULL, *table = NULL, *text = NULL, *routes = NULL;
	char *made = NULL;
	json_t *root = NULL;
	int rc = -1;

	if (cpl_network_import_format(in->format, err))
		return -1;
	name = in->name ? strdup(in->name) : default_name(in->output);
	if (!name || asprintf(&table, "%s.routes", in->output) < 0) {
		table = NULL;
		cpl_fail_memory(err);
		goto out;
	}
	import.name = name;
	import.routing_table = base_name(table);
	text = cpl_file_read_gunzip(in->path, MAX_BYTES, &import.length, err);
	if (!text)
		goto out;
	import.text = text;
	if (in->routes) {
		routes = cpl_file_read_gunzip(in->routes, MAX_BYTES,
		                              &import.routes_length, err);
		if (!routes)
			goto out;
		import.routes = routes;
	}
	root = cpl_network_import(&import, &made, err);
	if (root)
		rc = write_files(in, root, made, table, err);
	if (!rc)
		tell(in, root, why.text);
out:
	json_decref(root);
	free(name);
	free(table);
	free(text);
	free(routes);
	free(made);
	return rc;
}
