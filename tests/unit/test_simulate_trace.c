/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recorded calls replayed: who waits for whom, and for how long. */
#include "unit.h"

#include "simulate/trace.h"
#include "simulate_cases.h"
#include "trace_text.h"

/* Rank r on node r of a network of at least as many. */
static int replay(const char *network, const struct cpl_run_events *trace,
                  const struct cpl_sim_options *given,
                  struct cpl_sim_result *result, struct cpl_error *err)
{
	struct cpl_network *net = parse_network(network);
	struct cpl_sim_options o = sim_options(net, given);
	struct cpl_signature sig = {.name = "s", .ranks = trace->ranks};
	struct cpl_sim_job job = {.sig = &sig, .trace = trace};
	int node[64], rc;

	for (int r = 0; r < trace->ranks; r++)
		node[r] = r;
	job.rank_node = node;
	rc = cpl_simulate(&o, &job, 1, result, err);
	cpl_network_free(net);
	return rc;
}

/* Nodes of 1 GB/s on one router. */
static const struct {
	const char *name, *trace;
	double seconds;
	struct cpl_sim_options options;
} timed[] = {
        {"ping-pong",
         "Send>1:1e9 Recv<1\n"
         "Recv<0 Send>0:1e9\n",
         2, {0}},
        {"computing is scaled, and goes on behind the last call",
         "+2 Send>1:1e9 +4 Wtime\n"
         "Recv<0\n",
         4, {.speed = 2}},
        {"what is sent goes while the rank computes",
         "Isend>1:1e9 +3 Wait\n"
         "Irecv<0 +3 Wait\n",
         3, {0}},
        {"but its software is done first",
         "Isend>1:1e9 +3 Wait\n"
         "Irecv<0 +3 Wait\n",
         5, {.overhead = 2, .queue = CPL_SIM_QUEUE_SENDER}},
        {"software of who puts and gets alone",
         "Put>1:1e9 Put>1:1e9 Get^1:1e9 Win_fence\nWin_fence\n", 7,
         {.overhead = 2, .queue = CPL_SIM_QUEUE_BOTH}},
        {"a wait is for the oldest request",
         "Isend>1:1e9 Isend>2:3e9 Wait Send>3:0\n"
         "Recv<0\nRecv<0\nRecv<0 +4 Wtime\n",
         6, {0}},
        {"and Waitall for all",
         "Isend>1:1e9 Isend>2:3e9 Waitall Send>3:0\n"
         "Recv<0\nRecv<0\nRecv<0 +4 Wtime\n",
         8, {0}},
        {"a large message waits for its receive",
         "Send>1:1e9\n+2 Recv<0\n", 3, {.eager = 1e6}},
        {"a small one does not", "Send>1:1e9\n+2 Recv<0\n", 2, {0}},
        {"Ssend does", "Ssend>1:1e9\n+2 Recv<0\n", 3, {0}},
        {"nobody waits for Bsend",
         "Bsend>1:1e9 Send>2:1\n+4 Recv<0\nRecv<0 +3 Wtime\n", 4,
         {.eager = 1}},
        {"a blocking call waits for its own",
         "Irecv<1 Send>1:1e9 Wait\n"
         "Recv<0 Send>0:1e9\n",
         2, {0}},
        {"to and fro at once",
         "Sendrecv>1:1e9<1\nSendrecv>0:1e9<0\n", 1, {0}},
        {"a chain that has ends",
         "Sendrecv>1:1e9@1\nSendrecv>2:1e9<0\nSendrecv<1\n", 1, {0}},
        {"from any, but not what another receive needs",
         "Recv<any Recv<2\n"
         "+5 Send>0:1e9\n"
         "Send>0:1e9\n",
         6, {0}},
        {"from any, who comes first",
         "Recv<any +2 Recv<any\n"
         "+5 Send>0:1e9\n"
         "Send>0:1e9\n",
         6, {0}},
        {"a receive from any is there first",
         "Irecv<any Irecv<any +1 Waitall\n"
         "Send>0:1e9\n"
         "Ssend>0:1e9\n",
         2, {0}},
        {"Sendrecv from any, since somebody sends",
         "Sendrecv>1:1e9@1\nSendrecv>0:1e9<any\n", 1, {.eager = 1}},
        {"a barrier",
         "+1 Barrier@1>1:0>2:0\n"
         "Barrier@1>2:0>0:0 Send>2:1e9\n"
         "Barrier@1>0:0>1:0 Recv<1\n",
         2, {0}},
        {"a tree: the root sends two, then one sends on",
         "Bcast@1>2:1e9>1:1e9\n"
         "Bcast@1\n"
         "Bcast@1>3:1e9\n"
         "Bcast@1\n",
         3, {0}},
        {"up a tree",
         "Reduce@1\n"
         "Reduce@1>0:1e9\n"
         "Reduce@1>0:1e9\n"
         "Reduce@1>2:1e9\n",
         2, {0}},
        {"recursive doubling",
         "Allreduce@1>1:1e9>2:1e9\n"
         "Allreduce@1>0:1e9>3:1e9\n"
         "Allreduce@1>3:1e9>0:1e9\n"
         "Allreduce@1>2:1e9>1:1e9\n",
         2, {0}},
        {"of three, one gets what another has before it takes part for it",
         "Allreduce@1>1:1e9\n"
         "Allreduce@1>2:1e9>0:1e9\n"
         "Allreduce@1>1:1e9\n",
         4, {0}},
        {"round a ring",
         "Allgather@1>1:3e9*3\nAllgather@1>2:3e9*3\n"
         "Allgather@1>3:3e9*3\nAllgather@1>0:3e9*3\n",
         3, {0}},
        {"all at once",
         "Alltoall@1>1:1e9>2:1e9\nAlltoall@1>2:1e9>0:1e9\n"
         "Alltoall@1>0:1e9>1:1e9\n",
         2, {0}},
        {"and not waited for",
         "Ialltoall@1>1:1e9 +1 Wait\nIalltoall@1>0:1e9 +2 Wait\n", 2, {0}},
        {"loops",
         "3[ Send>1:1e9 2[ +1 Recv<1 ] ]\n"
         "3[ Recv<0 2[ Send>0:1 ] ]\n",
         9, {0}},
        {"entries of a loop with different rounds",
         "2[ 5/2[ Send>1:1e9 ] Recv<1 ]\n"
         "2[ Recv<0 Recv<0 Send>0:0 ] Recv<0\n",
         5, {0}},
        {"one-sided, without the other's doing",
         "Put>1:1e9 Win_fence Get^1:1e9 Win_fence\n"
         "+1 Win_fence Win_fence\n",
         2, {0}},
        {"one-sided messages where none belong",
         "Send^1:1e9 Allgather@1^2:1e9\nAllgather@1\nAllgather@1 +2 Wtime\n",
         2, {0}},
        {"operations begun long before others come",
         "9[ Bcast@1>1:0>2:0 ]\n+1 Wtime 9[ Bcast@1 ]\n9[ Bcast@1 ]\n", 1, {0}},
        {"persistent receives, started together, are not told",
         "Startall>1:1e9 Waitall\n"
         "Startall Waitall +3 Wtime\n",
         3, {.eager = 1}},
        {"a persistent receive alone",
         "Start>1:1e9 Wait\n"
         "+1 Start Wait\n",
         2, {.eager = 1}},
};

static void calls_take_their_time(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(timed) / sizeof(*timed); i++)
		for (int packets = 0; packets < 2; packets++) {
			struct cpl_run_events *e = parse_trace(timed[i].trace);
			struct cpl_sim_options o = timed[i].options;
			struct cpl_sim_result r;
			struct cpl_error err = {""};
			double seconds = timed[i].seconds, most = 0;

			if (packets) {
				o.level = &cpl_sim_packet;
				o.packet = 1e6;
			}
			if (replay(STAR, e, &o, &r, &err))
				fail_msg("%s: %s", timed[i].name, err.text);
			for (int k = 0; k < r.job->n_ranks; k++)
				most = fmax(most, r.job->rank[k].end);
			/* A packet more on a way of two links. */
			if (!(fabs(r.seconds - seconds) <=
			      (packets ? 0.02 : 1e-9)))
				fail_msg("%s: %.17g s, not %g, %s",
				         timed[i].name, r.seconds, seconds,
				         o.level ? "packets" : "flows");
			assert_true(most == r.seconds);
			cpl_sim_result_free(&r);
			cpl_run_events_free(e);
		}
}

static const struct {
	const char *trace, *error;
	double eager;
} stuck[] = {
        {"Recv<1\n+1 Recv<0\n",
         "deadlock: rank 0 of s in Recv, its call 1: its receive from rank 1 "
         "has no send; rank 1 of s in Recv, its call 1: its receive from rank "
         "0 has no send",
         0},
        {"Send>1:10 Recv<1\nSend>0:10 Recv<0\n",
         "deadlock: rank 0 of s in Send, its call 1: its send to rank 1 has "
         "no receive; rank 1 of s in Send, its call 1: its send to rank 0 has "
         "no receive",
         1},
        {"Irecv<1\nBarrier\n",
         "deadlock: rank 0 of s in Finalize: its receive from rank 1 has no "
         "send",
         0},
        {"Recv<any\nBarrier\n",
         "deadlock: rank 0 of s in Recv, its call 1: its receive from any "
         "rank has no send",
         0},
        {"Recv<1\nRecv<2\nRecv<3\nRecv<4\nRecv<0\n", "no send; 2 more", 0},
        {"Barrier Barrier@1>1:0\nWait\n",
         "deadlock: rank 0 in Barrier, its call 2: of the 2 ranks of its "
         "communicator only 1 make collective calls",
         0},
        {"Barrier@1>1:0 Barrier@1>1:0\nBarrier@1>0:0\n",
         "deadlock: rank 0 in Barrier, its call 2: rank 1 makes no call there",
         0},
        {"Barrier@1>1:0 Barrier@2>1:0\nBarrier@1>0:0 Barrier@1>0:0\n",
         "trace s: rank 0: its communicators 1 and 2 are the same", 0},
        {"Barrier@1>1:0\nBcast@1\n",
         "deadlock: rank 0 in Barrier, its call 1: rank 1 makes Bcast there",
         0},
};

static void deadlocks_are_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(stuck) / sizeof(*stuck); i++) {
		struct cpl_run_events *e = parse_trace(stuck[i].trace);
		struct cpl_error err = {""};
		struct cpl_sim_result r;

		assert_int_equal(replay(STAR, e,
		                        &(struct cpl_sim_options){
		                                .eager = stuck[i].eager},
		                        &r, &err),
		                 -1);
		if (!strstr(err.text, stuck[i].error))
			fail_msg("'%s', not '%s'", err.text, stuck[i].error);
		cpl_sim_result_free(&r);
		cpl_run_events_free(e);
	}
}

static void refused(struct cpl_run_events *e, const char *error)
{
	struct cpl_error err = {""};
	struct cpl_sim_result r;

	assert_int_equal(replay(STAR, e, &(struct cpl_sim_options){0}, &r,
	                        &err),
	                 -1);
	assert_string_equal(err.text, error);
	cpl_sim_result_free(&r);
}

static void parts_of_a_run_are_refused(void **state)
{
	struct cpl_run_events *e = parse_trace("Send>1:1\nRecv<0\n");

	(void)state;
	e->n = 1;
	refused(e, "trace s: rank 1 of 2 is missing");
	e->n = 2;
	e->rank[1].rank = 0;
	refused(e, "trace s: rank 1 of 2 is missing");
	e->rank[1].rank = 1;
	e->rank[1].n_unordered = 1;
	refused(e, "trace s: rank 1: the order of a part of its calls is not "
	           "known, since they were too different to be kept");
	e->rank[1].n_unordered = 0;
	e->rank[0].lost = 3;
	refused(e, "trace s: rank 0: memory was out for 3 messages");
	e->rank[0].lost = 0;
	e->rank[0].has_events = false;
	refused(e, "trace s: rank 0 has totals only, no calls");
	cpl_run_events_free(e);
}

/* The same messages as a signature's and as calls: the same times. */
static void traces_are_as_signatures(void **state)
{
	(void)state;
	for (int seed = 1; seed <= 4; seed++) {
		static char text[16384], trace[65536];
		struct cpl_network *net = parse_network(TORUS);
		struct cpl_signature *sig;
		struct cpl_sim_options o = {.eager = seed % 2 ? 5e5 : INFINITY};
		struct cpl_sim_result as_sig, as_trace;
		const struct cpl_comm *comm;
		struct cpl_run_events *e;
		struct cpl_error err = {""};
		size_t n = 0;

		uneven_signature(text, sizeof(text), (uint64_t)seed);
		sig = parse_signature(text);
		comm = sig->phase->comm;
		for (int r = 0; r < sig->ranks; r++) {
			for (int64_t i = comm->row[r]; i < comm->row[r + 1];
			     i++)
				n += (size_t)snprintf(trace + n,
				                      sizeof(trace) - n,
				                      "Isend>%d:%.0f*%.0f ",
				                      comm->to[i],
				                      comm->bytes[i],
				                      comm->messages[i]);
			for (int from = 0; from < sig->ranks; from++)
				for (int64_t i = comm->row[from];
				     i < comm->row[from + 1]; i++)
					if (comm->to[i] == r)
						n += (size_t)snprintf(
						        trace + n,
						        sizeof(trace) - n,
						        "Irecv<%d ", from);
			n += (size_t)snprintf(trace + n, sizeof(trace) - n,
			                      "Waitall\n");
		}
		e = parse_trace(trace);
		as_sig = simulate_on(net, sig, &o);
		assert_int_equal(replay(TORUS, e, &o, &as_trace, &err), 0);
		assert_true(as_trace.seconds == as_sig.seconds);
		assert_true(as_trace.messages == as_sig.messages);
		assert_memory_equal(as_trace.bytes.link, as_sig.bytes.link,
		                    (size_t)net->n_links *
		                            sizeof(*as_sig.bytes.link));
		cpl_sim_result_free(&as_sig);
		cpl_sim_result_free(&as_trace);
		cpl_run_events_free(e);
		cpl_signature_free(sig);
		cpl_network_free(net);
	}
}

/* Those of a rank that is far ahead, each in the same time. */
static void sends_wait_in_a_row(void **state)
{
	struct cpl_run_events *e = parse_trace(
	        "200000[ Bsend>1:8 ]\n+1 200000[ Recv<0 ]\n");
	struct cpl_sim_options o = {.eager = 1e6};
	struct cpl_sim_result r;
	struct cpl_error err = {""};

	(void)state;
	if (replay(STAR, e, &o, &r, &err))
		fail_msg("%s", err.text);
	assert_int_equal(r.messages, 200000);
	cpl_sim_result_free(&r);
	cpl_run_events_free(e);
}

static void rounds_are_counted(void **state)
{
	struct cpl_run_events *e = parse_trace(
	        "Send>1:8 3[ Recv<1 2[ Wtime ] ]\nRecv<0 3[ Send>0:8 ]\n");

	(void)state;
	assert_true(cpl_trace_size(e) == 2 + 1 + 3 + 3 + 6 + 1 + 1 + 3 * 2);
	e->rank[1].node[1].rounds = 1e12;
	assert_true(cpl_trace_size(e) == 15 + 2 + 2e12);
	cpl_run_events_free(e);
	e = parse_trace("7/2[ Wtime ]\n");
	assert_true(cpl_trace_size(e) == 1 + 3.5);
	/* More than a number can be is more than any limit. */
	e->rank[0].node[0].rounds = 1e308;
	e->rank[0].node[0].entries = 1e-300;
	assert_true(cpl_trace_size(e) > 1e300);
	cpl_run_events_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(calls_take_their_time),
	        cmocka_unit_test(deadlocks_are_told),
	        cmocka_unit_test(parts_of_a_run_are_refused),
	        cmocka_unit_test(traces_are_as_signatures),
	        cmocka_unit_test(sends_wait_in_a_row),
	        cmocka_unit_test(rounds_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
