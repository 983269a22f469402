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

static int write_all(int fd, const char *data, size_t length)
{
	while (length > 0) {
		ssize_t n = write(fd, data, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		data += n;
		length -= (size_t)n;
	}
	return 0;
}

int cpl_file_write_atomic(const char *path, const void *data, size_t length,
                          int mode, struct cpl_error *err)
{
	struct stat st;
	char *temp;
	int fd, failed;

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return cpl_fail(err, "%s: exists and is not a regular file",
		                path);
	if (asprintf(&temp, "%s.tmp-XXXXXX", path) < 0)
		return cpl_fail_memory(err);
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0) {
		cpl_fail(err, "%s: cannot be written: %s", path,
		         strerror(errno));
		free(temp);
		return -1;
	}
	failed = write_all(fd, data, length) || fchmod(fd, (mode_t)mode);
	/* close() can report a full disk or quota, and must run in any case. */
	if (failed) {
		int saved = errno;

		close(fd);
		errno = saved;
	} else {
		failed = close(fd);
	}
	if (failed || rename(temp, path) < 0) {
		cpl_fail(err, "%s: cannot be written: %s", path,
		         strerror(errno));
		unlink(temp);
		failed = -1;
	}
	free(temp);
	return failed ? -1 : 0;
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
