/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "signature/install.h"
#include "signature/rows.h"
#include "site_files.h"

#define LINES_MAX (1ULL << 30) /* bytes */

/* The store that has the name. The user's comes first, as it does for the
 * scheduler. */
static const char *own_or_site(const char *profile_dir, const char *name)
{
	const char *own = profile_dir ? NULL : cmd_user_profile_dir(NULL);
	char *path = own ? cpl_profile_path(own, name, NULL) : NULL;
	bool there = path && !access(path, F_OK);

	free(path);
	return there ? own : cmd_profile_dir(profile_dir);
}

/* A file's name without a slash looks like a profile's. */
static struct cpl_signature *load_profile(const char *dir, const char *name,
                                          struct cpl_error *err)
{
	struct cpl_signature *sig = cpl_profile_load(dir, name, err);
	char *path = sig ? NULL : cpl_profile_path(dir, name, NULL);
	struct cpl_error why = *err;

	if (path && access(path, F_OK))
		cpl_fail(err,
		         "%s; '%.60s' is looked for among the profiles: "
		         "for a file write ./%.60s or %.60s.json",
		         why.text, name, name, name);
	free(path);
	return sig;
}

struct cpl_signature *cmd_load_signature(const char *text,
                                         const char *profile_dir,
                                         struct cpl_error *err)
{
	const char *dot = strrchr(text, '.'), *at = strrchr(text, '@'), *dir;
	const struct cpl_signature_limits none = {.max_bytes = UINT64_MAX};
	struct cpl_signature *sig;
	char *name, *path;
	int64_t ranks;

	if (strchr(text, '/') || (dot && !strcmp(dot, ".json")))
		return cpl_signature_load(text, err);
	if (!at)
		return load_profile(own_or_site(profile_dir, text), text, err);
	if (cmd_int("ranks", at + 1, 1, CPL_SIGNATURE_MAX_RANKS, &ranks, err)) {
		cpl_fail_prefix(err, "%.60s: ", text);
		return NULL;
	}
	name = strndup(text, (size_t)(at - text));
	if (!name)
		return cpl_fail_null_memory(err);
	dir = own_or_site(profile_dir, name);
	path = cpl_profile_file(dir, name, (int)ranks, err);
	sig = path ? cpl_signature_load_within(path, &none, err) : NULL;
	if (sig && sig->ranks != ranks) {
		cpl_fail(err, "%s is of %d ranks, not %d", path, sig->ranks,
		         (int)ranks);
		cpl_signature_free(sig);
		sig = NULL;
	}
	cpl_free_all(name, path);
	return sig;
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

int cmd_each_line(const char *path, cmd_line *take, void *arg,
                  struct cpl_error *err)
{
	size_t length;
	char *text = cpl_file_read(path, LINES_MAX, &length, err);
	char *rest = text, *line;
	int rc = -1, number = 0;

	if (text && strlen(text) != length)
		cpl_fail(err, "%s: holds a NUL byte", path);
	else if (text)
		rc = 0;
	while (!rc && (line = strsep(&rest, "\n"))) {
		number++;
		line = trim(line);
		if (line)
			rc = take(arg, path, number, line, err);
	}
	free(text);
	return rc;
}

static int add_host(void *arg, const char *path, int number, const char *name,
                    struct cpl_error *err)
{
	struct cpl_hostlist *out = arg, one = {0};
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

/* A node or hosts file. */
static int hosts_file(const char *path, struct cpl_hostlist *out,
                      struct cpl_error *err)
{
	if (cmd_each_line(path, add_host, out, err))
		return -1;
	return out->count ? 0
	                  : cpl_fail(err,
	                             "%s: contains no host; give one host name "
	                             "per line",
	                             path);
}

static int *node_ids(const struct cpl_network *net, const char *option,
                     const struct cpl_hostlist *hosts, struct cpl_error *err)
{
	int *node = malloc(((size_t)hosts->count + 1) * sizeof(*node));

	if (!node)
		return cpl_fail_null_memory(err);
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

int *cmd_hosts(const struct cpl_network *net, const char *option,
               const char *text, const char *file, int *n,
               struct cpl_error *err)
{
	struct cpl_hostlist list = {0};
	int *node = NULL;

	if (text && cpl_hostlist_parse(&list, text, err))
		cpl_fail_prefix(err, "%s: ", option);
	else if (text || !hosts_file(file, &list, err))
		node = node_ids(net, option, &list, err);
	*n = list.count;
	cpl_hostlist_free(&list);
	return node;
}

int *cmd_hosts_once(const struct cpl_network *net, const char *option,
                    const char *text, const char *file, int *n,
                    struct cpl_error *err)
{
	int *node = cmd_hosts(net, option, text, file, n, err);
	unsigned char *seen = calloc((size_t)net->n_nodes, 1);
	int rc = 0;

	if (node && !seen)
		rc = cpl_fail_memory(err);
	for (int i = 0; node && i < *n && !rc; i++)
		if (seen[node[i]]++)
			rc = cpl_fail(err, "%s: host %.60s is given twice",
			              option, net->node_name[node[i]]);
	free(seen);
	if (!rc)
		return node;
	free(node);
	return NULL;
}

json_t *cmd_hosts_json(const struct cpl_network *net, const int *node, int n)
{
	json_t *array = json_array();

	for (int i = 0; array && i < n; i++)
		if (json_array_append_new(
		            array, json_string(net->node_name[node[i]]))) {
			json_decref(array);
			return NULL;
		}
	return array;
}

char *cmd_hosts_text(const struct cpl_network *net, const int *node, int n)
{
	char **name = malloc((size_t)n * sizeof(*name));
	char *text = NULL;

	for (int i = 0; name && i < n; i++)
		name[i] = net->node_name[node[i]];
	if (name)
		text = cpl_hostlist_format(name, n);
	free(name);
	return text;
}

int cmd_rank_hosts(const struct cpl_network *net, const int *node, int n,
                   int *host, int *rank_host, struct cpl_error *err)
{
	int *at = calloc((size_t)net->n_nodes + 1, sizeof(*at)), n_hosts = 0;

	if (!at)
		return cpl_fail_memory(err);
	for (int r = 0; r < n; r++) {
		if (!at[node[r]]) {
			host[n_hosts] = node[r];
			at[node[r]] = ++n_hosts;
		}
		rank_host[r] = at[node[r]] - 1;
	}
	free(at);
	return n_hosts;
}
