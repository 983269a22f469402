/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that may be gzipped, as any bytes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/gunzip.h"

#define MAX_BYTES 100000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct cpl_error err = {""};
	char path[64], *text;
	size_t length = 0;

	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	if (fd < 0 || ftruncate(fd, (off_t)size) ||
	    pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	text = cpl_file_read_gunzip(path, MAX_BYTES, &length, &err);
	if (!text && !err.text[0])
		abort();
	if (text && (length > MAX_BYTES || text[length]))
		abort();
	/* What does not begin as gzip comes out as it is. */
	if (text && (size < 2 || memcmp(data, "\x1f\x8b", 2)) &&
	    (length != size || (size && memcmp(text, data, size))))
		abort();
	free(text);
	return 0;
}
