/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/printable.h"

static void print_message(const struct cmd *self, const char *fmt, va_list ap)
{
	char text[2 * CPL_ERROR_MAX];
	int n = snprintf(text, sizeof(text), "commplace %s: ", self->name);

	vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	/* Names out of files may hold line breaks; a message is one line. */
	fprintf(stderr, "%s\n", cpl_printable(text));
}

int cmd_fail(const struct cmd *self, const struct cpl_error *err)
{
	return cmd_failf(self, "%s", err->text);
}

int cmd_failf(const struct cmd *self, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_message(self, fmt, ap);
	va_end(ap);
	return CMD_FAILED;
}

int cmd_fail_memory(const struct cmd *self)
{
	return cmd_failf(self, "out of memory");
}

int cmd_usage(const struct cmd *self, const char *fmt, ...)
{
	char text[CPL_ERROR_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	cmd_failf(self, "%s; see `commplace %s --help`", text, self->name);
	return CMD_USAGE;
}

int cmd_int(const char *option, const char *text, int64_t low, int64_t high,
            int64_t *out, struct cpl_error *err)
{
	const char *digits = text[0] == '-' ? text + 1 : text;
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (digits[0] < '0' || digits[0] > '9' || *end)
		return cpl_fail(err, "%s: '%.60s' is not a whole number",
		                option, text);
	if (errno || value < low || value > high)
		return cpl_fail(err,
		                "%s: %.60s is outside %" PRId64 " .. %" PRId64,
		                option, text, low, high);
	*out = value;
	return 0;
}

int cmd_int_list(const char *option, const char *text, int low, int high,
                 int *out, int most, struct cpl_error *err)
{
	int n = 0;

	for (const char *rest = text;; rest++) {
		size_t length = strcspn(rest, ",");
		char word[24];
		int64_t value;

		snprintf(word, sizeof(word), "%.*s", (int)length, rest);
		if (cmd_int(option, word, low, high, &value, err))
			return -1;
		if (n < most)
			out[n] = (int)value;
		n++;
		rest += length;
		if (!*rest)
			return n;
	}
}

int cmd_number(const char *option, const char *text, double low, double high,
               double *out, struct cpl_error *err)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || text[0] == ' ' || strpbrk(text, "xX") ||
	    !isfinite(value))
		return cpl_fail(err, "%s: '%.60s' is not a number", option,
		                text);
	if (value < low || value > high)
		return cpl_fail(err, "%s: %.60s is outside %g .. %g", option,
		                text, low, high);
	*out = value;
	return 0;
}

int cmd_files_open(struct cmd_file *file, int n, struct cpl_error *err)
{
	for (int i = 0; i < n; i++) {
		file[i].writer = NULL;
		if (!file[i].path)
			continue;
		file[i].writer = cpl_file_open_atomic(file[i].path, err);
		if (!file[i].writer)
			return cmd_files_close(file, i, -1, err);
	}
	return 0;
}

int cmd_files_close(struct cmd_file *file, int n, int rc, struct cpl_error *err)
{
	for (int i = 0; i < n; i++) {
		if (file[i].writer && rc)
			cpl_file_abandon(file[i].writer);
		else if (file[i].writer)
			rc = cpl_file_commit(file[i].writer, 0644, err);
		file[i].writer = NULL;
	}
	return rc;
}

int cmd_print_json(const struct cmd *self, json_t *root)
{
	int rc = CMD_OK;
	char *text;

	if (!root)
		return cmd_fail_memory(self);
	text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
	json_decref(root);
	text = text ? cpl_printable_json(text) : NULL;
	if (!text)
		return cmd_fail_memory(self);
	if (puts(text) < 0)
		rc = cmd_failf(self, "standard output: %s", strerror(errno));
	free(text);
	return rc;
}

int cmd_print_pack(const struct cmd *self, const char *format, ...)
{
	va_list ap;
	json_t *root;

	va_start(ap, format);
	root = json_vpack_ex(NULL, 0, format, ap);
	va_end(ap);
	return cmd_print_json(self, root);
}

char *cmd_bytes(double bytes, char buf[CMD_BYTES_MAX])
{
	static const char *const unit[] = {"B",  "kB", "MB", "GB",
	                                   "TB", "PB", "EB"};
	size_t i = 0;

	while (fabs(bytes) >= 999.5 && i + 1 < sizeof(unit) / sizeof(*unit)) {
		bytes /= 1000;
		i++;
	}
	snprintf(buf, CMD_BYTES_MAX, "%.3g %s", bytes, unit[i]);
	return buf;
}

char *cmd_printable(const char *text, char *buffer, size_t size)
{
	snprintf(buffer, size, "%s", text ? text : "");
	return cpl_printable(buffer);
}

void cmd_write_field(FILE *out, const char *text)
{
	char buffer[CPL_ERROR_MAX];

	for (const char *c = cmd_printable(text, buffer, sizeof(buffer)); *c;
	     c++)
		putc(*c == ',' ? '_' : *c, out);
	putc(',', out);
}
