/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An OTF2 archive: its calls, and its matrix. An input is the definitions and the
 * events of locations 100 and 101, each after its length, two bytes; what comes
 * behind those is of location 101, too, and 102 and 103 have the same. The anchor
 * file is a good one: libotf2 itself allocates whatever one asks for.
 *
 * fuzz-sources: src/cmd/otf2_calls.c src/cmd/otf2_match.c src/cmd/otf2_messages.c
 * src/cmd/otf2_rank.c src/record/collectives.c src/record/events.c
 * src/record/fold.c src/record/kinds.c src/record/section.c src/record/table.c
 * fuzz-options: -malloc_limit_mb=1000000
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "otf2_calls.h"
#include "signature/signature.h"

#define PARTS 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);
const char *__asan_default_options(void);

/* libotf2 allocates as many members of a group as the archive states, and leaks
 * what it read of one that it refuses. */
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

const char *__lsan_default_suppressions(void)
{
	return "leak:libopen-trace-format2\n";
}

/* Of libotf2 3.0.2. */
static const uint8_t anchor[] = {
	0x03, 0x42, 0x4f, 0x54, 0x46, 0x32, 0x00, 0x03, 0x02, 0x03, 0x00, 0x02,
	0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x01, 0x01, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x1f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x5a, 0x30, 0x0c, 0x80, 0x3a, 0xc0, 0x6e,
	0x41, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x01, 0x00,
};

static char dir[64];

static void leave_dir(void)
{
	static const char *const name[] = {"traces/100.evt", "traces/101.evt",
	                                   "traces/102.evt", "traces/103.evt",
	                                   "traces.otf2",    "traces.def"};

	for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
		unlink(name[i]);
	rmdir("traces");
	rmdir(dir);
}

static void enter_dir(void)
{
	snprintf(dir, sizeof(dir), "%s/fuzz-otf2-XXXXXX",
	         access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(dir) || chdir(dir) || mkdir("traces", 0700))
		abort();
	atexit(leave_dir);
}

static void put(const char *path, const uint8_t *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

/* One line that names the file. */
static void check(const struct cpl_error *err)
{
	if (strncmp(err->text, "traces.otf2: ", 13) || strchr(err->text, '\n'))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const path[PARTS] = {
	        "traces.def", "traces/100.evt", "traces/101.evt"};
	struct cpl_error err = {""};
	struct otf2_mended mended;
	struct cpl_run_events *e;
	struct cpl_signature *sig;

	if (!*dir) {
		enter_dir();
		put("traces.otf2", anchor, sizeof(anchor));
	}
	for (int i = 0; i < PARTS; i++) {
		size_t n = size < 2 ? 0 : data[0] + 256u * data[1];

		data += size < 2 ? size : 2;
		size -= size < 2 ? size : 2;
		if (n > size || i == PARTS - 1)
			n = size;
		put(path[i], data, n);
		if (i == PARTS - 1) {
			put("traces/102.evt", data, n);
			put("traces/103.evt", data, n);
		}
		data += n;
		size -= n;
	}
	e = cpl_otf2_calls("traces.otf2", &mended, &err);
	if (!e)
		check(&err);
	cpl_run_events_free(e);
	sig = cpl_otf2_matrix("traces.otf2", "n", NULL, &err);
	if (!sig)
		check(&err);
	cpl_signature_free(sig);
	return 0;
}
