/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What commplaced holds, by its socket in StateDir (src/commplaced/tree.h). */
#include "status.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/printable.h"
#include "base/socket.h"
#include "site/engine.h"

#define WAIT_S 5

/* A stream to and from commplaced; NULL with err: nobody answers there. */
static FILE *open_stream(const char *state_dir, struct cpl_error *err)
{
	char at[PATH_MAX];
	FILE *stream;
	int fd;

	/* What does not fit is too long for a socket in any case. */
	snprintf(at, sizeof(at), "%s/" CPL_ENGINE_SOCKET, state_dir);
	fd = cpl_socket_connect(at, 0, WAIT_S);
	stream = fd >= 0 ? fdopen(fd, "r+") : NULL;
	if (stream)
		return stream;
	cpl_fail(err,
	         "%.150s/" CPL_ENGINE_SOCKET ": %s: no commplaced answers; "
	         "commplace status without --tree shows what is on record",
	         state_dir, strerror(errno));
	if (fd >= 0)
		close(fd);
	return NULL;
}

json_t *status_ask(const char *state_dir, const char *path,
                   struct cpl_error *err)
{
	FILE *stream = open_stream(state_dir, err);
	json_t *answer = NULL, *value;
	const char *why;

	if (!stream)
		return NULL;
	signal(SIGPIPE, SIG_IGN);
	if (fprintf(stream, "%s\n", path) > 0 && !fflush(stream))
		answer = json_loadf(stream, JSON_DECODE_ANY, NULL);
	fclose(stream);
	value = json_incref(json_object_get(answer, "value"));
	why = json_string_value(json_object_get(answer, "error"));
	if (!value)
		cpl_fail(err, "%.100s: %.100s", path,
		         why ? why : "commplaced does not answer now");
	json_decref(answer);
	return value;
}

/* Print a line for each leaf and each empty object, with the path that leads to
 * it. */
static void print_below(const char *path, const json_t *value)
{
	char below[512], *text;
	const char *key;
	json_t *child;

	if (json_is_object(value) && json_object_size(value)) {
		json_object_foreach((json_t *)value, key, child)
		{
			snprintf(below, sizeof(below), "%s/%s", path, key);
			print_below(below, child);
		}
	} else if (json_is_object(value)) {
		printf("%s/\n", path);
	} else if (json_is_string(value)) {
		printf("%s %s\n", path, json_string_value(value));
	} else {
		text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
		printf("%s %s\n", path, text ? text : "?");
		free(text);
	}
}

int status_print_tree(const struct cmd *self, const char *state_dir,
                      const char *path, bool json)
{
	struct cpl_error err = {""};
	size_t length = strlen(path);
	json_t *value = status_ask(state_dir, path, &err);
	char base[256];

	if (!value)
		return cmd_fail(self, &err);
	if (json)
		return cmd_print_json(
		        self, json_is_object(value)
		                      ? value
		                      : json_pack("{s:o}", "value", value));
	while (length && path[length - 1] == '/')
		length--;
	snprintf(base, sizeof(base), "%s%.*s",
	         *path == '/' || !length ? "" : "/", (int)length, path);
	print_below(cpl_printable(base), value);
	json_decref(value);
	return CMD_OK;
}
