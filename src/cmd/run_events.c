/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "run_events.h"

#include <stdio.h>
#include <string.h>

#include "otf2_calls.h"

enum form { OTHER, EVENTS, OTF2 };

/* An anchor file has the kind of its buffer, the order of bytes, and this. */
static enum form form_of(const char *path)
{
	char magic[8] = "";
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(magic, 1, sizeof(magic), f) : 0;

	if (f)
		fclose(f);
	if (n == sizeof(magic) && !memcmp(magic, "CPLEVENT", sizeof(magic)))
		return EVENTS;
	return n >= 6 && !memcmp(magic + 2, "OTF2", 4) ? OTF2 : OTHER;
}

bool cmd_is_run_events(const char *path)
{
	return form_of(path) != OTHER;
}

static struct cpl_run_events *read_otf2(const char *path, struct cpl_error *err)
{
#ifdef HAVE_OTF2
	struct otf2_mended mended;
	struct cpl_run_events *events = cpl_otf2_calls(path, &mended, err);

	if (events && mended.events)
		fprintf(stderr,
		        "commplace: %s: clocks of %d ranks run back, by up to "
		        "%.3g s; %llu events have the time of the one before\n",
		        path, mended.ranks, mended.most,
		        (unsigned long long)mended.events);
	return events;
#else
	cpl_fail(err,
	         "%s: is an OTF2 archive; this program was built without "
	         "libotf2",
	         path);
	return NULL;
#endif
}

struct cpl_run_events *cmd_run_events(const char *const *path, int n,
                                      struct cpl_error *err)
{
	if (form_of(path[0]) != OTF2)
		return cpl_run_events_read(path, n, err);
	if (n > 1)
		return cpl_fail_null(
		        err, "%s: an OTF2 archive is one file, not one of %d",
		        path[0], n);
	return read_otf2(path[0], err);
}
