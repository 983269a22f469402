/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/import/otf2_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"

/* libotf2 says here what is wrong, and its first message names the cause. */
static OTF2_ErrorCode on_error(void *arg, const char *file, uint64_t line,
                               const char *function, OTF2_ErrorCode error,
                               const char *format, va_list args)
{
	struct otf2_archive *a = arg;
	char text[160];

	vsnprintf(text, sizeof(text), format, args);
	if (!*a->err->text && !a->quiet)
		cpl_fail(a->err, "%s: %s", OTF2_Error_GetDescription(error),
		         text);
	return error;
}

/* Local definitions map numbers of events to global ones and correct clocks. A
 * location need not have any. */
static int map_location(struct otf2_archive *a, OTF2_LocationRef location)
{
	OTF2_ErrorCode error;
	OTF2_DefReader *defs;
	uint64_t n = 0;

	a->quiet = true;
	defs = OTF2_Reader_GetDefReader(a->reader, location);
	a->quiet = false;
	if (!defs)
		return 0;
	error = OTF2_Reader_ReadAllLocalDefinitions(a->reader, defs, &n);
	OTF2_Reader_CloseDefReader(a->reader, defs);
	return cpl_otf2_check(a, error, "local definitions");
}

static int map_locations(struct otf2_archive *a)
{
	OTF2_ErrorCode error;
	int rc = 0;

	a->quiet = true;
	error = OTF2_Reader_OpenDefFiles(a->reader);
	a->quiet = false;
	if (error != OTF2_SUCCESS)
		return 0;
	for (int64_t i = 0; i < a->locations.n && !rc; i++)
		rc = map_location(a, a->location[i]);
	OTF2_Reader_CloseDefFiles(a->reader);
	return rc;
}

static int open_reader(struct otf2_archive *a, const char *path, bool names)
{
	a->reader = OTF2_Reader_Open(path);
	if (!a->reader)
		return *a->err->text ? -1
		                     : cpl_fail(a->err, "is no OTF2 archive that "
		                                        "can be opened");
	if (cpl_otf2_check(a, OTF2_Reader_SetSerialCollectiveCallbacks(a->reader),
	          "open") ||
	    cpl_otf2_definitions(a, names))
		return -1;
	for (int64_t i = 0; i < a->locations.n; i++)
		OTF2_Reader_SelectLocation(a->reader, a->location[i]);
	return map_locations(a) ||
	                       cpl_otf2_check(a, OTF2_Reader_OpenEvtFiles(a->reader),
	                             "events")
	               ? -1
	               : 0;
}

int cpl_otf2_archive_open(struct otf2_archive *a, const char *path, bool names,
                      struct cpl_error *err)
{
	struct cpl_file_stamp stamp;
	int fd;

	*a = (struct otf2_archive){.err = err, .path = path, .world = -1};
	*err->text = '\0';
	fd = cpl_file_open(path, CPL_LINKS_FOLLOW, CPL_JSON_MAX_BYTES, &stamp,
	                   err);
	if (fd < 0)
		return -1;
	close(fd);
	a->before = OTF2_Error_RegisterCallback(on_error, a);
	a->is_open = true;
	return open_reader(a, path, names) ? cpl_fail_prefix(err, "%s: ", path)
	                                   : 0;
}

void cpl_otf2_archive_close(struct otf2_archive *a)
{
	if (!a->is_open)
		return;
	a->quiet = true;
	if (a->reader) {
		OTF2_Reader_CloseEvtFiles(a->reader);
		OTF2_Reader_Close(a->reader);
	}
	OTF2_Error_RegisterCallback(a->before, NULL);
	for (int64_t g = 0; g < a->n_groups; g++) {
		cpl_free_all(a->group[g].member, a->group[g].rank,
		             a->group[g].places.item);
	}
	for (int64_t s = 0; s < a->n_strings; s++)
		free(a->string[s]);
	cpl_free_all(a->string, a->group, a->region, a->location, a->stated,
	             a->locations.item, a->groups.item, a->comms.item,
	             a->windows.item, a->regions.item, a->strings.item);
	*a = (struct otf2_archive){0};
}

static int read_location(struct otf2_archive *a, int64_t location,
                         const OTF2_EvtReaderCallbacks *on, void *arg)
{
	OTF2_EvtReader *events =
	        OTF2_Reader_GetEvtReader(a->reader, a->location[location]);
	OTF2_ErrorCode error = OTF2_ERROR_INVALID;
	uint64_t n = 0;

	if (events)
		error = OTF2_Reader_RegisterEvtCallbacks(a->reader, events, on,
		                                         arg);
	if (error == OTF2_SUCCESS)
		error = OTF2_Reader_ReadAllLocalEvents(a->reader, events, &n);
	if (events)
		OTF2_Reader_CloseEvtReader(a->reader, events);
	if (cpl_otf2_check(a, error, "events"))
		return -1;
	return n >= a->stated[location]
	               ? 0
	               : cpl_fail(a->err, "they end after %llu of %llu",
	                          (unsigned long long)n,
	                          (unsigned long long)a->stated[location]);
}

int cpl_otf2_archive_read(struct otf2_archive *a, int rank,
                      const OTF2_EvtReaderCallbacks *on, void *arg)
{
	int64_t at = cpl_otf2_find(&a->locations,
	                       a->group[a->world].member[rank]);

	if (at < 0)
		return cpl_fail(a->err, "%s: rank %d has no location", a->path,
		                rank);
	return read_location(a, at, on, arg)
	               ? cpl_fail_prefix(a->err, "%s: events of rank %d: ",
	                                 a->path, rank)
	               : 0;
}
