/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "signature/rows.h"
#include "site_files.h"

#define HOSTS_FILE_MAX (1ULL << 30)

struct cpl_signature *cmd_load_signature(const char *text,
                                         const char *profile_dir,
                                         struct cpl_error *err)
{
	const char *dot = strrchr(text, '.');

	if (strchr(text, '/') || (dot && !strcmp(dot, ".json")))
		return cpl_signature_load(text, err);
	return cpl_profile_load(cmd_profile_dir(profile_dir), text, err);
}

struct cpl_comm *cmd_comm(const struct cpl_signature *sig, const char *phase,
                          struct cpl_error *err)
{
	struct cpl_rows *rows;
	struct cpl_comm *comm = NULL;

	if (!phase)
		return cpl_signature_total(sig, err);
	rows = cpl_rows_new(sig, phase, err);
	if (rows)
		comm = cpl_rows_comm(rows, err);
	cpl_rows_free(rows);
	return comm;
}

/* One line without its blanks and comment; NULL when nothing is left. */
static char *trim(char *line)
{
	char *end;

	line[strcspn(line, "#")] = '\0';
	line += strspn(line, " \t\r");
	end = line + strlen(line);
	while (end > line && strchr(" \t\r", end[-1]))
		*--end = '\0';
	return *line ? line : NULL;
}

static int add_host(const char *path, int number, const char *name,
                    struct cpl_hostlist *out, struct cpl_error *err)
{
	struct cpl_hostlist one = {0};
	int rc = -1;

	/* The list's own parser knows what a host name is. */
	if (cpl_hostlist_parse(&one, name, err))
		return cpl_fail_prefix(err, "%s:%d: ", path, number);
	if (one.count != 1)
		cpl_fail(err, "%s:%d: '%.60s' is %d hosts; give one per line",
		         path, number, name, one.count);
	else if (out->count == CPL_HOSTLIST_MAX)
		cpl_fail(err, "%s:%d: more than %d hosts", path, number,
		         CPL_HOSTLIST_MAX);
	else
		rc = cpl_hostlist_push(out, one.name[0], err);
	cpl_hostlist_free(&one);
	return rc;
}

int cmd_hosts_file(const char *path, struct cpl_hostlist *out,
                   struct cpl_error *err)
{
	size_t length;
	char *text = cpl_file_read(path, HOSTS_FILE_MAX, &length, err);
	int rc = -1, number = 0;

	memset(out, 0, sizeof(*out));
	if (!text)
		return -1;
	if (strlen(text) != length) {
		cpl_fail(err, "%s: holds a NUL character; host names are text",
		         path);
		goto out;
	}
	for (char *line = text, *next; line; line = next) {
		char *name;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		number++;
		name = trim(line);
		if (name && add_host(path, number, name, out, err))
			goto out;
	}
	if (out->count == 0) {
		cpl_fail(err,
		         "%s: contains no host; give one host name per line",
		         path);
		goto out;
	}
	rc = 0;
out:
	free(text);
	if (rc)
		cpl_hostlist_free(out);
	return rc;
}

int *cmd_node_ids(const struct cpl_network *net, const char *option,
                  const struct cpl_hostlist *hosts, struct cpl_error *err)
{
	int *node = malloc(((size_t)hosts->count + 1) * sizeof(*node));

	if (!node) {
		cpl_fail_memory(err);
		return NULL;
	}
	for (int i = 0; i < hosts->count; i++) {
		node[i] = cpl_network_node(net, hosts->name[i]);
		if (node[i] < 0) {
			cpl_fail(err,
			         "%s: host %.60s is not in the network "
			         "description (%s)",
			         option, hosts->name[i], net->name);
			free(node);
			return NULL;
		}
	}
	return node;
}
