/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One request, HTTP/1.0, so that the answer ends with the connection. */
#include "commplace-config.h"

#include <errno.h>
#include <math.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/json.h"
#include "measured/source.h"
#include "measured/source_internal.h"

struct address {
	char host[256], port[8];
	const char *path;
};

/* "HOST", "HOST:PORT" or "[IPv6]:PORT", and "/PATH". */
static int split(const char *where, struct address *a, struct cpl_error *err)
{
	size_t n = strcspn(where, "/");
	const char *host = where, *end = where + n, *colon;
	size_t length;

	a->path = where[n] ? where + n : "/";
	if (*where == '[') {
		host++;
		colon = memchr(where, ']', n);
		length = colon ? (size_t)(colon - host) : 0;
		colon = colon && colon + 1 < end ? colon + 1 : NULL;
	} else {
		colon = memchr(where, ':', n);
		length = colon ? (size_t)(colon - host) : n;
	}
	if (!length || length >= sizeof(a->host) ||
	    (colon && (*colon != ':' || end - colon < 2 ||
	               end - colon > (ptrdiff_t)sizeof(a->port))))
		return cpl_fail(err, "http://HOST:PORT/PATH is needed");
	memcpy(a->host, host, length);
	a->host[length] = '\0';
	snprintf(a->port, sizeof(a->port), "%.*s",
	         colon ? (int)(end - colon - 1) : 2,
	         colon ? colon + 1 : "80");
	/* A request is a line. */
	for (const char *p = where; *p; p++)
		if (*p <= ' ' || *p == 127)
			return cpl_fail(err, "blanks are to be %%20");
	return 0;
}

static int connect_one(const struct addrinfo *to, int64_t deadline)
{
	int fd = socket(to->ai_family,
	                to->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
	                to->ai_protocol);
	int failed = 0;
	socklen_t size = sizeof(failed);

	if (fd < 0)
		return -1;
	if (!connect(fd, to->ai_addr, to->ai_addrlen))
		return fd;
	if (errno != EINPROGRESS)
		failed = errno;
	else if (measured_wait(fd, POLLOUT, deadline) ||
	         getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size))
		failed = errno;
	if (!failed)
		return fd;
	close(fd);
	errno = failed;
	return -1;
}

static int connect_to(const struct address *a, int64_t deadline,
                      struct cpl_error *err)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL;
	int rc = getaddrinfo(a->host, a->port, &hints, &list), fd = -1;

	if (rc)
		return cpl_fail(err, "%s", gai_strerror(rc));
	for (const struct addrinfo *to = list; to && fd < 0; to = to->ai_next)
		fd = connect_one(to, deadline);
	if (fd < 0)
		cpl_fail(err, "%s", strerror(errno));
	freeaddrinfo(list);
	return fd;
}

static int send_request(int fd, const struct address *a, int64_t deadline,
                        struct cpl_error *err)
{
	char *text = NULL;
	int n = asprintf(&text,
	                 "GET %s HTTP/1.0\r\nHost: %s:%s\r\n"
	                 "Accept: application/json, text/csv\r\n\r\n",
	                 a->path, a->host, a->port),
	    sent = 0;

	if (n < 0)
		return cpl_fail_memory(err);
	while (sent < n) {
		ssize_t now;

		if (measured_wait(fd, POLLOUT, deadline))
			break;
		now = send(fd, text + sent, (size_t)(n - sent), MSG_NOSIGNAL);
		if (now < 0 && errno != EINTR && errno != EAGAIN)
			break;
		sent += now > 0 ? (int)now : 0;
	}
	free(text);
	return sent < n ? cpl_fail(err, "%s", strerror(errno)) : 0;
}

/* Where the body is, or NULL. */
static const char *find_body(const char *text, size_t length)
{
	const char *end = memmem(text, length, "\r\n\r\n", 4);

	return end ? end + 4 : NULL;
}

/* The value of a line of the head, which ends at body; NULL: there is none. */
static const char *find_line(const char *text, const char *body,
                             const char *name)
{
	size_t n = strlen(name);

	/* The head's end differs from any name. */
	while ((text = memmem(text, (size_t)(body - 2 - text), "\r\n", 2))) {
		text += 2;
		if (!strncasecmp(text, name, n) && text[n] == ':')
			return text + n + 1 + strspn(text + n + 1, " \t");
	}
	return NULL;
}

/* Content-Length; SIZE_MAX: the head does not say it. */
static size_t body_length(const char *text, const char *body)
{
	const char *value = find_line(text, body, "Content-Length");

	return value && *value >= '0' && *value <= '9'
	               ? strtoull(value, NULL, 10)
	               : SIZE_MAX;
}

/* A server may keep the connection. */
static bool is_whole(const char *text, size_t length)
{
	const char *body = find_body(text, length);

	return body && length - (size_t)(body - text) >= body_length(text, body);
}

/* As it was asked for: neither in chunks nor compressed, and to its end. */
static int check_body(const char *text, const char *body, size_t length,
                      struct cpl_error *err)
{
	static const char *const name[] = {"Transfer-Encoding",
	                                   "Content-Encoding"};
	size_t all = body_length(text, body);

	for (int i = 0; i < 2; i++) {
		const char *how = find_line(text, body, name[i]);

		if (how && strncasecmp(how, "identity\r", 9))
			return cpl_fail(err,
			                "the answer has %s: %.*s, which HTTP/1.0 "
			                "was not asked for",
			                name[i], (int)strcspn(how, "\r\n"), how);
	}
	if (all != SIZE_MAX && length < all)
		return cpl_fail(err, "the answer ends after %zu of %zu bytes",
		                length, all);
	return 0;
}

char *measured_body(char *text, size_t *length, struct cpl_error *err)
{
	char *body = (char *)find_body(text, *length);

	if (!body || strncmp(text, "HTTP/1.", 7)) {
		cpl_fail(err, "no answer of HTTP/1.0 came");
		return NULL;
	}
	if (strncmp(text + 8, " 200", 4)) {
		cpl_fail(err, "the server says: %.*s",
		         (int)strcspn(text + 8, "\r\n"), text + 8);
		return NULL;
	}
	*length -= (size_t)(body - text);
	return check_body(text, body, *length, err) ? NULL : body;
}

/* Answers of Prometheus are objects; other ones are taken as they are. */
static char *take_body(const char *body, size_t n, size_t *length,
                       struct cpl_error *err)
{
	char *text;

	if (*body == '{')
		return cpl_measured_from_prometheus(body, n, length, err);
	text = malloc(n + 1);
	if (!text)
		return cpl_fail_null_memory(err);
	memcpy(text, body, n + 1);
	*length = n;
	return text;
}

char *measured_http(const char *source, const char *where, int64_t deadline,
                    size_t *length, struct cpl_error *err)
{
	struct address a;
	char *text = NULL, *body, *out = NULL;
	size_t n;
	int fd = -1;

	if (split(where, &a, err))
		goto out;
	fd = connect_to(&a, deadline, err);
	if (fd < 0 || send_request(fd, &a, deadline, err))
		goto out;
	text = measured_read_all(fd, deadline, is_whole, &n);
	if (!text) {
		cpl_fail(err, "%s", strerror(errno));
		goto out;
	}
	body = measured_body(text, &n, err);
	out = body ? take_body(body, n, length, err) : NULL;
out:
	if (fd >= 0)
		close(fd);
	free(text);
	if (!out)
		cpl_fail_prefix(err, "%.200s: ", source);
	return out;
}

/* A label; what it holds must stand in CSV. */
static const char *label_of(const json_t *sample, const char *name)
{
	const char *text = json_string_value(
	        json_object_get(json_object_get(sample, "metric"), name));

	return text && !strpbrk(text, "\"\n\r") ? text : "";
}

/* {"metric": {"from": ..., "to": ...}, "value": [TIME, "NUMBER"]}; what it lacks
 * shows when the row is read. */
static void write_sample(const json_t *sample, FILE *out)
{
	const json_t *value = json_object_get(sample, "value");
	const json_t *time = json_array_get(value, 0);
	const char *text = json_string_value(json_array_get(value, 1));

	fprintf(out, "%.17g,\"%s\",\"%s\",%s\n",
	        json_is_number(time) ? json_number_value(time) : NAN,
	        label_of(sample, "from"), label_of(sample, "to"),
	        text && !strpbrk(text, ",\"\n\r") ? text : "");
}

char *cpl_measured_from_prometheus(const char *text, size_t length,
                                   size_t *out_length, struct cpl_error *err)
{
	json_t *root = cpl_json_parse(text, length, "the answer", err);
	const json_t *data = json_object_get(root, "data");
	const json_t *list = json_object_get(data, "result");
	const char *type = json_string_value(json_object_get(data, "resultType"));
	char *csv = NULL;
	FILE *out = NULL;

	if (!root)
		return NULL;
	if (!json_is_array(list) || !type || strcmp(type, "vector")) {
		cpl_fail(err, "the answer is not that of Prometheus to an "
		              "instant query, a vector");
	} else if (!(out = open_memstream(&csv, out_length))) {
		cpl_fail_memory(err);
	} else {
		fputs("time,from,to,bytes_per_second\n", out);
		for (size_t i = 0; i < json_array_size(list); i++)
			write_sample(json_array_get(list, i), out);
		if (ferror(out) | fclose(out)) {
			free(csv);
			csv = NULL;
			cpl_fail_memory(err);
		}
	}
	json_decref(root);
	return csv;
}
