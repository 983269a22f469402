/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_regular(const char *path, uint64_t max, uint64_t *size,
                        struct cpl_error *err)
{
	struct stat st;
	/* Non-blocking, or opening a FIFO would wait for its writer. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return cpl_fail(err, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) < 0) {
		cpl_fail(err, "%s: %s", path, strerror(errno));
		goto fail;
	}
	if (S_ISDIR(st.st_mode)) {
		cpl_fail(err, "%s: is a directory; a file is needed", path);
		goto fail;
	}
	if (!S_ISREG(st.st_mode)) {
		cpl_fail(err, "%s: is not a regular file", path);
		goto fail;
	}
	if ((uint64_t)st.st_size > max) {
		cpl_fail(err, "%s: has %lld bytes; at most %llu are read", path,
		         (long long)st.st_size, (unsigned long long)max);
		goto fail;
	}
	*size = (uint64_t)st.st_size;
	return fd;
fail:
	close(fd);
	return -1;
}

char *cpl_file_read(const char *path, uint64_t max, size_t *length,
                    struct cpl_error *err)
{
	uint64_t size = 0;
	size_t done = 0;
	char *text;
	int fd = open_regular(path, max, &size, err);

	if (fd < 0)
		return NULL;
	text = malloc((size_t)size + 1);
	if (!text) {
		cpl_fail(err, "%s: out of memory", path);
		goto out;
	}
	while (done < size) {
		ssize_t n = read(fd, text + done, (size_t)size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			cpl_fail(err, "%s: %s", path, strerror(errno));
			free(text);
			text = NULL;
			goto out;
		}
		if (n == 0)
			break;
		done += (size_t)n;
	}
	text[done] = '\0';
	*length = done;
out:
	close(fd);
	return text;
}

struct cpl_file_writer {
	char *path, *temp;
	FILE *stream;
};

struct cpl_file_writer *cpl_file_open_atomic(const char *path,
                                             struct cpl_error *err)
{
	struct cpl_file_writer *w = NULL;
	struct stat st;
	int fd = -1;

	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		cpl_fail(err, "%s: exists and is not a regular file", path);
		return NULL;
	}
	w = calloc(1, sizeof(*w));
	if (!w)
		goto memory;
	w->path = strdup(path);
	if (!w->path || asprintf(&w->temp, "%s.tmp-XXXXXX", path) < 0) {
		if (w->path)
			w->temp = NULL;
		goto memory;
	}
	fd = mkostemp(w->temp, O_CLOEXEC);
	if (fd < 0) {
		cpl_fail(err, "%s: cannot be written: %s", path,
		         strerror(errno));
		free(w->temp);
		w->temp = NULL;
		goto fail;
	}
	w->stream = fdopen(fd, "w");
	if (w->stream)
		return w;
	close(fd);
memory:
	cpl_fail_memory(err);
fail:
	cpl_file_abandon(w);
	return NULL;
}

FILE *cpl_file_stream(struct cpl_file_writer *writer)
{
	return writer->stream;
}

void cpl_file_abandon(struct cpl_file_writer *writer)
{
	if (!writer)
		return;
	if (writer->stream)
		fclose(writer->stream);
	if (writer->temp)
		unlink(writer->temp);
	free(writer->temp);
	free(writer->path);
	free(writer);
}

int cpl_file_commit(struct cpl_file_writer *writer, int mode,
                    struct cpl_error *err)
{
	FILE *f = writer->stream;
	int rc = 0;

	errno = 0;
	if (fflush(f) || ferror(f) || fchmod(fileno(f), (mode_t)mode))
		rc = errno ? errno : EIO;
	writer->stream = NULL;
	/* close() can be what reports a full disk or quota. */
	if (fclose(f) && !rc)
		rc = errno;
	if (!rc && rename(writer->temp, writer->path))
		rc = errno;
	if (rc) {
		cpl_fail(err, "%s: cannot be written: %s", writer->path,
		         strerror(rc));
	} else {
		free(writer->temp);
		writer->temp = NULL;
	}
	cpl_file_abandon(writer);
	return rc ? -1 : 0;
}

int cpl_file_write_atomic(const char *path, const void *data, size_t length,
                          int mode, struct cpl_error *err)
{
	struct cpl_file_writer *w = cpl_file_open_atomic(path, err);

	if (!w)
		return -1;
	fwrite(data, 1, length, w->stream);
	return cpl_file_commit(w, mode, err);
}

char *cpl_path_join(const char *dir, const char *name, struct cpl_error *err)
{
	size_t n = strlen(dir);
	char *path;

	while (n > 1 && dir[n - 1] == '/')
		n--;
	if (asprintf(&path, "%.*s%s%s", (int)n, dir,
	             n && dir[n - 1] == '/' ? "" : "/", name) < 0) {
		cpl_fail_memory(err);
		return NULL;
	}
	return path;
}
