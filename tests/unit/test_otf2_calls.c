/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The MPI calls of OTF2 archives as a run's events. */
#include "commplace-config.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#include "number.h"
#include "otf2_calls.h"
#include "otf2_sample.h"
#include "signature/phases/phases.h"
#include "simulate/trace.h"

enum { INIT, IRECV, ISEND, WAITALL, ALLREDUCE, COMM_RANK, FINALIZE, MAIN };
static const char *const regions[] = {
        "MPI_Init",      "MPI_Irecv",     "MPI_Isend",    "MPI_Waitall",
        "MPI_Allreduce", "MPI_Comm_rank", "MPI_Finalize", "main",
        NULL};

/* Ticks of 10 ns from here on. */
#define OFFSET 5000
#define ROUNDS 20

struct clock {
	OTF2_EvtWriter *w;
	uint64_t at;
};

static void enter(struct clock *c, uint64_t later, uint32_t region)
{
	c->at += later;
	good(OTF2_EvtWriter_Enter(c->w, NULL, c->at, region));
}

static void leave(struct clock *c, uint64_t later, uint32_t region)
{
	c->at += later;
	good(OTF2_EvtWriter_Leave(c->w, NULL, c->at, region));
}

/*
 * A ring: 20 times 500 ticks of computation, an Irecv of 10 ticks from the left,
 * an Isend of 20 to the right, a Waitall of 200. Numbers of requests are used
 * again. Then an all-reduce, after calls that are no events.
 */
static void write_ring(OTF2_Archive *archive, int rank)
{
	uint32_t left = (uint32_t)(rank + RANKS - 1) % RANKS;
	uint32_t right = (uint32_t)(rank + 1) % RANKS;
	struct clock c = {sample_begin(archive, rank), OFFSET};

	enter(&c, 0, MAIN);
	enter(&c, 100, INIT);
	leave(&c, 900, INIT);
	for (uint64_t i = 0; i < ROUNDS; i++) {
		enter(&c, 500, IRECV);
		good(OTF2_EvtWriter_MpiIrecvRequest(c.w, NULL, c.at, i % 2));
		leave(&c, 10, IRECV);
		enter(&c, 0, ISEND);
		good(OTF2_EvtWriter_MpiIsend(c.w, NULL, c.at, right, WORLD, 0,
		                             4096, 7));
		leave(&c, 20, ISEND);
		enter(&c, 0, WAITALL);
		good(OTF2_EvtWriter_MpiIrecv(c.w, NULL, c.at, left, WORLD, 0,
		                             4096, i % 2));
		good(OTF2_EvtWriter_MpiIsendComplete(c.w, NULL, c.at, 7));
		leave(&c, 200, WAITALL);
	}
	enter(&c, 30, COMM_RANK);
	leave(&c, 40, COMM_RANK);
	enter(&c, 0, ALLREDUCE);
	good(OTF2_EvtWriter_MpiCollectiveBegin(c.w, NULL, c.at));
	good(OTF2_EvtWriter_MpiCollectiveEnd(
	        c.w, NULL, c.at + 5, OTF2_COLLECTIVE_OP_ALLREDUCE, WORLD,
	        OTF2_COLLECTIVE_ROOT_NONE, 8 * RANKS, 8 * RANKS));
	leave(&c, 60, ALLREDUCE);
	enter(&c, 70, FINALIZE);
	leave(&c, 1000, FINALIZE);
	leave(&c, 0, MAIN);
	sample_end(archive, c.w, rank);
}

static void write_run(const char *name)
{
	OTF2_Archive *archive = sample_open(name);

	for (int r = 0; r < RANKS; r++)
		write_ring(archive, r);
	sample_close(archive, 100000000, OFFSET, true, regions);
}

static struct cpl_run_events *read_run(const char *path)
{
	struct otf2_mended mended;
	struct cpl_error err = {""};
	struct cpl_run_events *e = cpl_otf2_calls(path, &mended, &err);

	if (!e)
		fail_msg("%s", err.text);
	assert_int_equal(mended.events, 0);
	return e;
}

/* The kind of a function, which is the only one of it. */
static const struct cpl_run_kind *kind_of(const struct cpl_run_events *e,
                                          const struct cpl_run_rank *r,
                                          const char *function)
{
	const struct cpl_run_kind *found = NULL;

	for (int k = 0; k < r->n_kinds; k++) {
		if (strcmp(e->function[r->kind[k].function], function))
			continue;
		assert_null(found);
		found = &r->kind[k];
	}
	assert_non_null(found);
	return found;
}

static void test_calls(void **state)
{
	static const double duration[] = {10, 20, 200};
	struct cpl_run_events *e;

	write_run("ring");
	e = read_run("ring/traces.otf2");
	assert_int_equal(e->ranks, RANKS);
	assert_int_equal(e->n, RANKS);
	for (int i = 0; i < RANKS; i++) {
		const struct cpl_run_rank *r = &e->rank[i];
		const struct cpl_run_kind *k = kind_of(e, r, "Isend");

		assert_int_equal(r->ended, 0);
		assert_number(r->time, (ROUNDS * 730 + 200) * 1e-8, 1e-12);
		assert_number(r->mpi_time, (ROUNDS * 230 + 60) * 1e-8, 1e-12);
		assert_number(k->events, ROUNDS, 0);
		assert_int_equal(k->n, 1);
		assert_int_equal(r->message[k->first].peer, (i + 1) % RANKS);
		assert_number(r->message[k->first].bytes, ROUNDS * 4096, 0);
		k = kind_of(e, r, "Irecv");
		assert_int_equal(k->source, (i + RANKS - 1) % RANKS);
		assert_number(k->bytes, 4096, 0);
		k = kind_of(e, r, "Allreduce");
		assert_int_equal(k->n, 2); /* by doubling */
		assert_number(r->message[k->first].bytes, 8, 0);
		/* a loop of the three, then the all-reduce */
		assert_int_equal(r->n_nodes, 5);
		assert_int_equal(r->node[0].kind, -1);
		assert_number(r->node[0].rounds, ROUNDS, 0);
		for (int n = 1; n < 4; n++) {
			assert_number(r->node[n].duration,
			              ROUNDS * duration[n - 1] * 1e-8, 1e-12);
			assert_number(r->node[n].compute,
			              n == 1 ? ROUNDS * 500e-8 : 0, 1e-12);
		}
		assert_number(r->node[4].compute, 70e-8, 1e-12);
	}
	cpl_run_events_free(e);
}

/* What else reads events takes them: phases, and the simulator. */
static void test_used(void **state)
{
	struct cpl_phase_options options = CPL_PHASE_OPTIONS;
	struct cpl_run_events *e = read_run("ring/traces.otf2");
	struct cpl_error err = {""};
	struct cpl_phases *p = cpl_phases_find(e, &options, &err);
	struct cpl_trace *t = cpl_trace_new(e, &err);
	struct cpl_op op = {.kind = CPL_OP_PHASE};
	int received = 0;

	assert_non_null(p);
	/* the loop, the all-reduce behind it, and what is left */
	assert_int_equal(p->n, 3);
	assert_int_equal(p->phase[1].kind, CPL_PHASE_END);
	assert_number(p->phase[0].weight, ROUNDS, 0);
	assert_number(p->phase[0].compute, 500e-8, 1e-10);
	assert_non_null(t);
	assert_false(cpl_trace_takes_any(t, 0));
	while (op.kind != CPL_OP_END) {
		assert_int_equal(cpl_trace_next(t, 2, &op, &err), 0);
		received += op.kind == CPL_OP_RECEIVE && op.peer == 1 &&
		            op.context == 0;
	}
	assert_int_equal(received, ROUNDS);
	cpl_trace_free(t);
	cpl_phases_free(p);
	cpl_run_events_free(e);
}

/* Messages only, in no regions, as some tools write. Rank 1 asks for what never
 * comes, and what nobody asked for comes. */
static void write_bare(OTF2_Archive *archive, int rank)
{
	struct clock c = {sample_begin(archive, rank), OFFSET};

	if (rank == 0) {
		good(OTF2_EvtWriter_MpiSend(c.w, NULL, c.at, 1, WORLD, 0, 10));
		good(OTF2_EvtWriter_RmaGet(c.w, NULL, c.at, WINDOW, 3, 5, 1));
	}
	if (rank == 1) {
		good(OTF2_EvtWriter_MpiIrecvRequest(c.w, NULL, c.at, 1));
		good(OTF2_EvtWriter_MpiIrecv(c.w, NULL, c.at + 1, 0, WORLD, 0,
		                             10, 2));
		good(OTF2_EvtWriter_MpiRequestCancelled(c.w, NULL, c.at + 1,
		                                        1));
	}
	good(OTF2_EvtWriter_MpiCollectiveBegin(c.w, NULL, c.at + 100));
	good(OTF2_EvtWriter_MpiCollectiveEnd(
	        c.w, NULL, c.at + 300, OTF2_COLLECTIVE_OP_BARRIER, WORLD,
	        OTF2_COLLECTIVE_ROOT_NONE, 0, 0));
	good(OTF2_EvtWriter_NonBlockingCollectiveRequest(c.w, NULL, c.at + 400,
	                                                 9));
	good(OTF2_EvtWriter_NonBlockingCollectiveComplete(
	        c.w, NULL, c.at + 500, OTF2_COLLECTIVE_OP_GATHER, WORLD, 2, 16,
	        rank == 2 ? 16 * RANKS : 0, 9));
	sample_end(archive, c.w, rank);
}

static void test_bare(void **state)
{
	OTF2_Archive *archive = sample_open("bare");
	struct cpl_run_events *e;
	const struct cpl_run_kind *k;
	int receives = 0;

	for (int r = 0; r < RANKS; r++)
		write_bare(archive, r);
	sample_close(archive, 100000000, OFFSET, true, NULL);
	e = read_run("bare/traces.otf2");
	assert_number(e->rank[0].time, 500e-8, 1e-12);
	assert_int_equal(e->rank[0].ended, 0);
	k = kind_of(e, &e->rank[0], "Send");
	assert_int_equal(e->rank[0].message[k->first].peer, 1);
	k = kind_of(e, &e->rank[0], "Get");
	assert_int_equal(e->rank[0].message[k->first].peer, 3);
	assert_true(e->rank[0].message[k->first].inward);
	assert_int_equal(kind_of(e, &e->rank[0], "Barrier")->n, 2);
	assert_number(e->rank[0].mpi_time, 200e-8, 1e-12);
	/* the gather goes from 0 to 2, from 1 to 0, from 3 to 2 */
	k = kind_of(e, &e->rank[1], "Igather");
	assert_int_equal(k->n, 1);
	assert_int_equal(e->rank[1].message[k->first].peer, 0);
	assert_number(e->rank[1].message[k->first].bytes, 16, 0);
	/* two receives, of which one has a source */
	for (int i = 0; i < e->rank[1].n_kinds; i++) {
		k = &e->rank[1].kind[i];
		if (strcmp(e->function[k->function], "Irecv"))
			continue;
		assert_int_equal(k->source, k->communicator ? 0 : -1);
		receives++;
	}
	assert_int_equal(receives, 2);
	cpl_run_events_free(e);
}

/* A rank whose clock was corrected so that it runs back. */
static void test_clocks(void **state)
{
	struct otf2_mended mended;
	struct cpl_error err = {""};
	OTF2_Archive *archive = sample_open("clocks");
	struct cpl_run_events *e;
	OTF2_DefWriter *defs;

	for (int r = 0; r < RANKS; r++)
		write_ring(archive, r);
	good(OTF2_Archive_OpenDefFiles(archive));
	defs = OTF2_Archive_GetDefWriter(archive, FIRST + 2);
	assert_non_null(defs);
	/* from +10000 ticks to 0 within 5000 */
	good(OTF2_DefWriter_WriteClockOffset(defs, OFFSET, 10000, 0));
	good(OTF2_DefWriter_WriteClockOffset(defs, OFFSET + 5000, 0, 0));
	good(OTF2_Archive_CloseDefWriter(archive, defs));
	good(OTF2_Archive_CloseDefFiles(archive));
	sample_close(archive, 100000000, OFFSET, true, regions);
	e = cpl_otf2_calls("clocks/traces.otf2", &mended, &err);
	if (!e)
		fail_msg("%s", err.text);
	assert_int_equal(mended.ranks, 1);
	assert_true(mended.events > 10);
	assert_true(mended.most > 1000e-8);
	for (int i = 0; i < RANKS; i++)
		for (int64_t n = 0; n < e->rank[i].n_nodes; n++)
			if (e->rank[i].node[n].kind >= 0) {
				assert_true(e->rank[i].node[n].compute >= 0 &&
				            e->rank[i].node[n].compute < 1);
				assert_true(e->rank[i].node[n].duration >= 0 &&
				            e->rank[i].node[n].duration < 1);
			}
	cpl_run_events_free(e);
}

/* One line that begins with the path. */
static void refused(const char *path, const char *why)
{
	struct otf2_mended mended;
	struct cpl_error err = {""};

	assert_null(cpl_otf2_calls(path, &mended, &err));
	if (strncmp(err.text, path, strlen(path)) || !strstr(err.text, why) ||
	    strchr(err.text, '\n'))
		fail_msg("'%s', not '%s'", err.text, why);
}

static void test_refused(void **state)
{
	OTF2_Archive *archive;

	refused("none.otf2", "No such file");
	archive = sample_open("timeless");
	for (int r = 0; r < RANKS; r++)
		write_bare(archive, r);
	sample_close(archive, 0, OFFSET, true, NULL);
	refused("timeless/traces.otf2", "how fast its clock is");
	archive = sample_open("serial");
	for (int r = 0; r < RANKS; r++)
		write_bare(archive, r);
	sample_close(archive, 1000, OFFSET, false, NULL);
	refused("serial/traces.otf2", "is no trace of an MPI program");
}

/* Nodes of all ranks. */
static int64_t count_nodes(const struct cpl_run_events *e)
{
	int64_t n = 0;

	for (int i = 0; i < e->n; i++)
		n += e->rank[i].n_nodes;
	return n;
}

/* A file of an archive, cut at every length. Its last bytes mark its end: without
 * them it may be read, with all that is in it. */
static void cut_file(const char *file, int64_t nodes)
{
	struct cpl_run_events *e;
	struct stat info;
	char *data;
	int fd = open(file, O_RDWR);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &info), 0);
	data = malloc((size_t)info.st_size);
	assert_non_null(data);
	assert_int_equal(pread(fd, data, (size_t)info.st_size, 0),
	                 info.st_size);
	for (off_t n = info.st_size - 1; n >= 0; n -= n > 4096 ? 509 : 1) {
		struct otf2_mended mended;
		struct cpl_error err = {""};

		assert_int_equal(ftruncate(fd, n), 0);
		e = cpl_otf2_calls("cut/traces.otf2", &mended, &err);
		if (e) {
			assert_true(n >= info.st_size - 2);
			assert_int_equal(count_nodes(e), nodes);
			cpl_run_events_free(e);
			continue;
		}
		if (strncmp(err.text, "cut/traces.otf2: ", 17) ||
		    strchr(err.text, '\n'))
			fail_msg("%s with %lld bytes: '%s'", file, (long long)n,
			         err.text);
	}
	assert_int_equal(pwrite(fd, data, (size_t)info.st_size, 0),
	                 info.st_size);
	close(fd);
	free(data);
}

static void test_cut(void **state)
{
	struct cpl_run_events *e;
	struct dirent *entry;
	char path[300];
	int files = 0;
	int64_t nodes;
	DIR *d;

	write_run("cut");
	e = read_run("cut/traces.otf2");
	nodes = count_nodes(e);
	cpl_run_events_free(e);
	cut_file("cut/traces.otf2", nodes);
	cut_file("cut/traces.def", nodes);
	d = opendir("cut/traces");
	assert_non_null(d);
	while ((entry = readdir(d)))
		if (*entry->d_name != '.' && strcmp(entry->d_name, "7.evt")) {
			snprintf(path, sizeof(path), "cut/traces/%s",
			         entry->d_name);
			cut_file(path, nodes);
			files++;
		}
	closedir(d);
	assert_true(files >= RANKS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_calls),   cmocka_unit_test(test_used),
	        cmocka_unit_test(test_bare),    cmocka_unit_test(test_clocks),
	        cmocka_unit_test(test_refused), cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, sample_into_dir,
	                              sample_out_of_dir);
}
