/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An archive of OTF2, written as Score-P writes it, and what is read of it. */
#include "commplace-config.h"
#include <unistd.h>

#include "unit.h"

#include "number.h"
#include "otf2_calls.h"
#include "otf2_sample.h"

static void collective(OTF2_EvtWriter *w, OTF2_CollectiveOp op, OTF2_CommRef comm,
                       uint32_t root, uint64_t sent, uint64_t received)
{
	good(OTF2_EvtWriter_MpiCollectiveBegin(w, NULL, 1));
	good(OTF2_EvtWriter_MpiCollectiveEnd(w, NULL, 1, op, comm, root, sent,
	                                     received));
}

/*
 * All: a barrier by messages to the next and the one after it, a broadcast of 8 bytes from rank 0 by the tree 0 to 2 and 1,
 * 2 to 3, an all-reduce of 16 bytes by doubling. Rank 0 sends 10 bytes to 3 and
 * 20 twice, gets 5 of rank 1. Ranks 3 and 1 exchange 6 bytes, and 3, which is
 * rank 0 there, sends its rank 1 4 bytes.
 */
static void write_rank(OTF2_Archive *archive, int rank, uint32_t wrong)
{
	const uint32_t none = OTF2_COLLECTIVE_ROOT_NONE;
	OTF2_EvtWriter *w = sample_begin(archive, rank);

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
	sample_end(archive, w, rank);
}

static void write_archive(const char *name, bool mpi, uint32_t wrong)
{
	OTF2_Archive *archive = sample_open(name);

	for (int r = 0; r < RANKS; r++)
		write_rank(archive, r, wrong);
	sample_close(archive, 1, 0, mpi, NULL);
}

static void test_archive(void **state)
{
	static const struct cpl_comm_entry want[] = {
	        {0, 1, 24, 3}, {0, 2, 24, 3}, {0, 3, 50, 3}, {1, 0, 21, 2},
	        {1, 2, 0, 1},  {1, 3, 22, 3}, {2, 0, 16, 2}, {2, 3, 24, 3},
	        {3, 0, 0, 1},  {3, 1, 26, 4}, {3, 2, 16, 1}};
	struct cpl_error err = {""};
	const struct cpl_comm *comm;
	struct cpl_signature *sig;
	int64_t i = 0;

	write_archive("good", true, 0);
	sig = cpl_otf2_matrix("good/traces.otf2", "n", "app", &err);
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

	assert_null(cpl_otf2_matrix(path, "n", NULL, &err));
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

	return cmocka_run_group_tests(tests, sample_into_dir, sample_out_of_dir);
}
