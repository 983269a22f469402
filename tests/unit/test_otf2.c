/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An archive of OTF2, written as Score-P writes it, and what is read of it. */
#include "commplace-config.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <ftw.h>
#include <cmocka.h>
#include <otf2/otf2.h>

#include "number.h"
#include "signature/import/import.h"

static char dir[] = "/tmp/commplace-otf2-XXXXXX";

static int into_dir(void **state)
{
	return mkdtemp(dir) && !chdir(dir) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *info, int type,
                      struct FTW *at)
{
	return remove(path);
}

static int out_of_dir(void **state)
{
	return chdir("/") || nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

enum { RANKS = 4 };
/* A location of a thread stands before those of the ranks. */
enum { THREAD = 7, FIRST = 100 };
/* Groups and communicators: all, and ranks 3, 1 in that order. */
enum { LOCATIONS, ALL, PAIR };
enum { WORLD = 5, TWO = 9, WINDOW = 2 };

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

static void good(OTF2_ErrorCode error)
{
	assert_int_equal(error, OTF2_SUCCESS);
}

static void collective(OTF2_EvtWriter *w, OTF2_CollectiveOp op, OTF2_CommRef comm,
                       uint32_t root, uint64_t sent, uint64_t received)
{
	good(OTF2_EvtWriter_MpiCollectiveBegin(w, NULL, 1));
	good(OTF2_EvtWriter_MpiCollectiveEnd(w, NULL, 1, op, comm, root, sent,
	                                     received));
}

/*
 * All: a barrier, a broadcast of 8 bytes from rank 0 by the tree 0 to 2 and 1,
 * 2 to 3, an all-reduce of 16 bytes by doubling. Rank 0 sends 10 bytes to 3 and
 * 20 twice, gets 5 of rank 1. Ranks 3 and 1 exchange 6 bytes, and 3, which is
 * rank 0 there, sends its rank 1 4 bytes.
 */
static void write_rank(OTF2_Archive *archive, uint64_t rank, uint32_t wrong)
{
	const uint32_t none = OTF2_COLLECTIVE_ROOT_NONE;
	OTF2_EvtWriter *w = OTF2_Archive_GetEvtWriter(archive, FIRST + rank);

	assert_non_null(w);
	collective(w, OTF2_COLLECTIVE_OP_CREATE_HANDLE, WORLD, none, 0, 0);
	collective(w, OTF2_COLLECTIVE_OP_BARRIER, WORLD, none, 0, 0);
	collective(w, OTF2_COLLECTIVE_OP_BCAST, WORLD, 0,
	           rank ? 0 : 8 * RANKS, 8);
	good(OTF2_EvtWriter_NonBlockingCollectiveComplete(
	        w, NULL, 1, OTF2_COLLECTIVE_OP_ALLREDUCE, WORLD, none,
	        16 * RANKS, 16 * RANKS, 3));
	if (rank == 0) {
		good(OTF2_EvtWriter_MpiSend(w, NULL, 1, 3 + wrong, WORLD, 0,
		                            10));
		good(OTF2_EvtWriter_MpiIsend(w, NULL, 1, 3, WORLD, 0, 20, 1));
		good(OTF2_EvtWriter_MpiIsend(w, NULL, 1, 3, WORLD, 0, 20, 2));
		good(OTF2_EvtWriter_RmaGet(w, NULL, 1, WINDOW, 1, 5, 1));
	}
	if (rank % 2)
		collective(w, OTF2_COLLECTIVE_OP_ALLTOALL, TWO, none, 2 * 6,
		           2 * 6);
	if (rank == 3)
		good(OTF2_EvtWriter_MpiSend(w, NULL, 1, 1, TWO, 0, 4));
	good(OTF2_Archive_CloseEvtWriter(archive, w));
}

static void write_definitions(OTF2_Archive *archive, bool mpi)
{
	OTF2_GlobalDefWriter *w = OTF2_Archive_GetGlobalDefWriter(archive);
	const uint64_t locations[] = {FIRST, FIRST + 1, FIRST + 2, FIRST + 3};
	const uint64_t all[] = {0, 1, 2, 3}, pair[] = {3, 1};

	assert_non_null(w);
	good(OTF2_GlobalDefWriter_WriteClockProperties(w, 1, 0, 2, 0));
	good(OTF2_GlobalDefWriter_WriteString(w, 0, ""));
	good(OTF2_GlobalDefWriter_WriteSystemTreeNode(
	        w, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
	good(OTF2_GlobalDefWriter_WriteLocationGroup(
	        w, 0, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
	        OTF2_UNDEFINED_LOCATION_GROUP));
	good(OTF2_GlobalDefWriter_WriteLocation(
	        w, THREAD, 0, OTF2_LOCATION_TYPE_CPU_THREAD, 0, 0));
	for (uint64_t r = 0; r < RANKS; r++)
		good(OTF2_GlobalDefWriter_WriteLocation(
		        w, FIRST + r, 0, OTF2_LOCATION_TYPE_CPU_THREAD, 9, 0));
	if (!mpi)
		return;
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

static void write_archive(const char *name, bool mpi, uint32_t wrong)
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
	for (uint64_t r = 0; r < RANKS; r++)
		write_rank(archive, r, wrong);
	good(OTF2_Archive_CloseEvtFiles(archive));
	write_definitions(archive, mpi);
	good(OTF2_Archive_Close(archive));
}

static void test_archive(void **state)
{
	static const struct cpl_comm_entry want[] = {
	        {0, 1, 24, 2}, {0, 2, 24, 2}, {0, 3, 50, 3}, {1, 0, 21, 2},
	        {1, 3, 22, 2}, {2, 0, 16, 1}, {2, 3, 24, 2}, {3, 1, 26, 3},
	        {3, 2, 16, 1}};
	struct cpl_error err = {""};
	const struct cpl_comm *comm;
	struct cpl_signature *sig;
	int64_t i = 0;

	write_archive("good", true, 0);
	sig = cpl_signature_import_otf2("good/traces.otf2", "n", "app", &err);
	if (!sig)
		fail_msg("%s", err.text);
	assert_int_equal(sig->ranks, RANKS);
	assert_string_equal(sig->application, "app");
	comm = sig->phase[0].comm;
	for (int r = 0; r < RANKS; r++)
		for (; i < comm->row[r + 1]; i++) {
			assert_int_equal(want[i].from, r);
			assert_int_equal(want[i].to, comm->to[i]);
			assert_number(comm->bytes[i], want[i].bytes, 0);
			assert_number(comm->messages[i], want[i].messages, 0);
		}
	assert_int_equal(i, sizeof(want) / sizeof(*want));
	cpl_signature_free(sig);
}

static void refused(const char *path, const char *why)
{
	struct cpl_error err = {""};

	assert_null(cpl_signature_import_otf2(path, "n", NULL, &err));
	if (strncmp(err.text, path, strlen(path)) || !strstr(err.text, why))
		fail_msg("'%s', not '%s'", err.text, why);
}

static void test_refused(void **state)
{
	write_archive("other", false, 0);
	write_archive("wrong", true, 4);
	refused("none.otf2", "No such file");
	refused("other/traces.otf2", "is no trace of an MPI program");
	refused("wrong/traces.otf2",
	        "an event of rank 0 names rank 7 of a communicator of 4");
	/* without the events of a rank */
	assert_int_equal(unlink("good/traces/102.evt"), 0);
	refused("good/traces.otf2", "102.evt");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_archive),
	        cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, into_dir, out_of_dir);
}
