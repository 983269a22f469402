/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "writer.h"
#include "collectives.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void note(struct rec_writer *w, int failed)
{
	if (failed && !w->error)
		w->error = errno ? errno : EIO;
}

int rec_writer_open(struct rec_writer *w, const char *path)
{
	int fd;

	memset(w, 0, sizeof(*w));
	w->path = strdup(path);
	if (!w->path ||
	    asprintf(&w->temporary, "%s.%ld.tmp", path, (long)getpid()) < 0) {
		w->temporary = NULL;
		w->error = ENOMEM;
		goto fail;
	}
	fd = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		w->error = errno;
		goto fail;
	}
	w->file = fdopen(fd, "w");
	if (w->file)
		return 0;
	w->error = errno;
	close(fd);
	unlink(w->temporary);
fail:
	free(w->path);
	free(w->temporary);
	w->path = w->temporary = NULL;
	return -1;
}

static void put_text(struct rec_writer *w, const char *text)
{
	note(w, fputs(text, w->file) < 0);
}

static void put_u64(struct rec_writer *w, uint64_t value)
{
	note(w, fprintf(w->file, "%" PRIu64, value) < 0);
}

/* This writes microseconds with a point, whatever the program's locale says. */
static void put_seconds(struct rec_writer *w, double seconds)
{
	uint64_t us = seconds > 0 ? (uint64_t)(seconds * 1e6 + 0.5) : 0;

	note(w, fprintf(w->file, "%" PRIu64 ".%06" PRIu64, us / 1000000,
	                us % 1000000) < 0);
}

/* This returns the length of the valid UTF-8 sequence at s, or 0 if there is none. */
static int utf8_length(const unsigned char *s)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	int n = s[0] < 0x80             ? 1
	        : (s[0] & 0xe0) == 0xc0 ? 2
	        : (s[0] & 0xf0) == 0xe0 ? 3
	        : (s[0] & 0xf8) == 0xf0 ? 4
	                                : 0;
	uint32_t code = n ? s[0] & (0xff >> (n > 1 ? n + 1 : 0)) : 0;

	for (int i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (!n || code < least[n] || code > 0x10ffff ||
	    (code >= 0xd800 && code < 0xe000))
		return 0;
	return n;
}

static void put_string(struct rec_writer *w, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	put_text(w, "\"");
	while (*s) {
		int n = utf8_length(s);

		if (*s == '"' || *s == '\\')
			note(w, fprintf(w->file, "\\%c", *s) < 0);
		else if (*s < 0x20 || *s == 0x7f)
			note(w, fprintf(w->file, "\\u%04x", *s) < 0);
		else if (!n)
			put_text(w, "?");
		else
			note(w, fwrite(s, 1, (size_t)n, w->file) != (size_t)n);
		s += n ? n : 1;
	}
	put_text(w, "\"");
}

static void put_phase(struct rec_writer *w, const char *name, uint64_t weight,
                      double time)
{
	put_text(w, "{\"name\": ");
	put_string(w, name);
	put_text(w, ", \"weight\": ");
	put_u64(w, weight);
	put_text(w, ", \"time\": ");
	put_seconds(w, time);
}

void rec_writer_phase(struct rec_writer *w, const char *name, uint64_t weight,
                      double time)
{
	put_text(w, "\n]},\n");
	put_phase(w, name, weight, time);
	put_text(w, ",\n\"traffic\": [");
	w->rows = 0;
}

void rec_writer_head(struct rec_writer *w, const struct rec_facts *facts)
{
	put_text(w, "{\n\"format\": \"commplace-signature\",\n\"version\": 1,\n"
	            "\"name\": ");
	put_string(w, facts->name);
	put_text(w, ",\n\"application\": ");
	put_string(w, facts->application);
	put_text(w, ",\n\"ranks\": ");
	put_u64(w, (uint64_t)facts->ranks);
	put_text(w, ",\n\"phases\": [\n");
	put_phase(w, facts->phase ? facts->phase : "run", 1, facts->time);
	if (facts->compute_time >= 0) {
		put_text(w, ", \"compute_time\": ");
		put_seconds(w, facts->compute_time);
	}
	put_text(w, ",\n\"traffic\": [");
}

void rec_writer_row(struct rec_writer *w, int from, int to, uint64_t bytes,
                    uint64_t messages)
{
	note(w, fprintf(w->file, "%s\n[%d, %d, %" PRIu64 ", %" PRIu64 "]",
	                w->rows ? "," : "", from, to, bytes, messages) < 0);
	w->rows = 1;
}

void rec_writer_tail(struct rec_writer *w, const struct rec_facts *facts)
{
	put_text(w,
	         "\n]}\n],\n\"recorded\": {\n\"tool\": \"commplace-record\",\n"
	         "\"version\": ");
	put_string(w, PACKAGE_VERSION);
	if (facts->mpi) {
		put_text(w, ",\n\"mpi\": ");
		put_string(w, facts->mpi);
	} else {
		put_text(w, ",\n\"nccl\": {");
		put_text(w, facts->nccl);
		put_text(w, "}");
	}
	put_text(w, ",\n\"date\": ");
	put_string(w, facts->date);
	put_text(w, ",\n\"command\": ");
	put_string(w, facts->command);
	put_text(w, ",\n\"hosts\": ");
	put_u64(w, (uint64_t)facts->hosts);
	if (facts->mpi) {
		put_text(w, ",\n\"algorithms\": ");
		put_string(w, REC_ALGORITHMS);
	}
	put_text(w, ",\n\"outside_messages\": ");
	put_u64(w, facts->outside_messages);
	put_text(w, ",\n\"outside_bytes\": ");
	put_u64(w, facts->outside_bytes);
	put_text(w, ",\n\"lost_messages\": ");
	put_u64(w, facts->lost_messages);
	put_text(w, "\n}\n}\n");
}

int rec_writer_close(struct rec_writer *w, int keep)
{
	note(w, fclose(w->file) != 0);
	if (keep && !w->error)
		note(w, rename(w->temporary, w->path) != 0);
	if (!keep || w->error)
		unlink(w->temporary);
	free(w->path);
	free(w->temporary);
	w->path = w->temporary = NULL;
	w->file = NULL;
	return w->error ? -1 : 0;
}

void rec_profile_name(const char *path, char *out, size_t size)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                              "abcdefghijklmnopqrstuvwxyz0123456789_.-";
	const char *base = strrchr(path, '/');
	size_t n;

	base = base ? base + 1 : path;
	while (*base == '.')
		base++;
	n = strlen(base);
	if (n > 5 && !strcmp(base + n - 5, ".json"))
		n -= 5;
	if (n > size - 1)
		n = size - 1;
	for (size_t i = 0; i < n; i++)
		out[i] = base[i];
	if (!n)
		out[n++] = '-';
	out[n] = '\0';
	for (size_t i = 0; i < n; i++)
		if (!strchr(allowed, out[i]))
			out[i] = '-';
	/* A command would take such a name for an option. */
	if (*out == '-')
		*out = '_';
}

void rec_date_now(char out[REC_DATE])
{
	time_t now = time(NULL);
	struct tm utc;

	out[0] = '\0';
	if (gmtime_r(&now, &utc))
		strftime(out, REC_DATE, "%Y-%m-%dT%H:%M:%SZ", &utc);
}
