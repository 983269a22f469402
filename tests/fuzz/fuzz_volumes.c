/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "site/volumes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int load(int fd, struct cpl_volumes *out, struct cpl_error *err)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return cpl_volumes_load(path, out, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cpl_volumes read, again;
	struct cpl_error err = {""};
	int fd = memfd_create("volumes", 0);
	FILE *out = fd < 0 ? NULL : fdopen(dup(fd), "w");

	if (!out || write(fd, data, size) != (ssize_t)size)
		abort();
	if (load(fd, &read, &err)) {
		if (!err.text[0])
			abort();
	} else {
		/* What was read can be written and read again. */
		if (ftruncate(fd, 0) || fseek(out, 0, SEEK_SET))
			abort();
		cpl_volumes_write(&read, out);
		if (fflush(out) || load(fd, &again, &err))
			abort();
		for (int i = 0; i < CPL_VOLUMES; i++)
			if (read.at[i].name &&
			    !(read.at[i].volume >= 0 && read.at[i].volume < 1e300))
				abort();
	}
	fclose(out);
	close(fd);
	return 0;
}
