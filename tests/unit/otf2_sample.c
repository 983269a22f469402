/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "otf2_sample.h"

#include <ftw.h>
#include <unistd.h>

#include "unit.h"

static char dir[] = "/tmp/commplace-otf2-XXXXXX";
static uint64_t n_events[RANKS];

int sample_into_dir(void **state)
{
	return mkdtemp(dir) && !chdir(dir) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *info, int type,
                      struct FTW *at)
{
	return remove(path);
}

int sample_out_of_dir(void **state)
{
	return chdir("/") || nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void good(OTF2_ErrorCode error)
{
	assert_int_equal(error, OTF2_SUCCESS);
}

static OTF2_FlushType pre_flush(void *arg, OTF2_FileType type,
                                OTF2_LocationRef location, void *caller,
                                bool final)
{
	return OTF2_FLUSH;
}

static OTF2_TimeStamp post_flush(void *arg, OTF2_FileType type,
                                 OTF2_LocationRef location)
{
	return 1;
}

OTF2_Archive *sample_open(const char *name)
{
	static OTF2_FlushCallbacks flush = {.otf2_pre_flush = pre_flush,
	                                    .otf2_post_flush = post_flush};
	OTF2_Archive *archive = OTF2_Archive_Open(
	        name, "traces", OTF2_FILEMODE_WRITE, 1 << 18, 1 << 18,
	        OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);

	assert_non_null(archive);
	good(OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL));
	good(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
	good(OTF2_Archive_OpenEvtFiles(archive));
	return archive;
}

OTF2_EvtWriter *sample_begin(OTF2_Archive *archive, int rank)
{
	OTF2_EvtWriter *w =
	        OTF2_Archive_GetEvtWriter(archive, FIRST + (uint64_t)rank);

	assert_non_null(w);
	return w;
}

void sample_end(OTF2_Archive *archive, OTF2_EvtWriter *w, int rank)
{
	good(OTF2_EvtWriter_GetNumberOfEvents(w, &n_events[rank]));
	good(OTF2_Archive_CloseEvtWriter(archive, w));
}

/* Groups: where ranks are, all, and ranks 3, 1 in that order. */
enum { LOCATIONS, ALL, PAIR };

static void write_mpi(OTF2_GlobalDefWriter *w)
{
	const uint64_t locations[] = {FIRST, FIRST + 1, FIRST + 2, FIRST + 3};
	const uint64_t all[] = {0, 1, 2, 3}, pair[] = {3, 1};

	good(OTF2_GlobalDefWriter_WriteGroup(
	        w, LOCATIONS, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS,
	        OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, RANKS, locations));
	good(OTF2_GlobalDefWriter_WriteGroup(
	        w, ALL, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
	        OTF2_GROUP_FLAG_NONE, RANKS, all));
	good(OTF2_GlobalDefWriter_WriteGroup(
	        w, PAIR, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
	        OTF2_GROUP_FLAG_NONE, 2, pair));
	good(OTF2_GlobalDefWriter_WriteComm(w, WORLD, 0, ALL,
	                                    OTF2_UNDEFINED_COMM, 0));
	good(OTF2_GlobalDefWriter_WriteComm(w, TWO, 0, PAIR, WORLD, 0));
	good(OTF2_GlobalDefWriter_WriteRmaWin(w, WINDOW, 0, WORLD, 0));
}

static void write_regions(OTF2_GlobalDefWriter *w, const char *const *name)
{
	for (uint32_t i = 0; name && name[i]; i++) {
		good(OTF2_GlobalDefWriter_WriteString(w, i + 1, name[i]));
		good(OTF2_GlobalDefWriter_WriteRegion(
		        w, i, i + 1, i + 1, 0, OTF2_REGION_ROLE_UNKNOWN,
		        name[i][0] == 'M' ? OTF2_PARADIGM_MPI
		                          : OTF2_PARADIGM_USER,
		        OTF2_REGION_FLAG_NONE, 0, 0, 0));
	}
}

void sample_close(OTF2_Archive *archive, uint64_t ticks, uint64_t offset,
                  bool mpi, const char *const *regions)
{
	OTF2_GlobalDefWriter *w;

	good(OTF2_Archive_CloseEvtFiles(archive));
	w = OTF2_Archive_GetGlobalDefWriter(archive);
	assert_non_null(w);
	good(OTF2_GlobalDefWriter_WriteClockProperties(w, ticks, offset,
	                                               1000000, 0));
	good(OTF2_GlobalDefWriter_WriteString(w, 0, ""));
	write_regions(w, regions);
	good(OTF2_GlobalDefWriter_WriteSystemTreeNode(
	        w, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
	good(OTF2_GlobalDefWriter_WriteLocationGroup(
	        w, 0, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
	        OTF2_UNDEFINED_LOCATION_GROUP));
	good(OTF2_GlobalDefWriter_WriteLocation(
	        w, THREAD, 0, OTF2_LOCATION_TYPE_CPU_THREAD, 0, 0));
	for (int r = 0; r < RANKS; r++)
		good(OTF2_GlobalDefWriter_WriteLocation(
		        w, FIRST + (uint64_t)r, 0,
		        OTF2_LOCATION_TYPE_CPU_THREAD, n_events[r], 0));
	if (mpi)
		write_mpi(w);
	good(OTF2_Archive_Close(archive));
}
