/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From calls to phases: folding, kinds, the file of events, what is found. */
#include <math.h>

#include "unit.h"

#include "played_run.h"
#include "signature/phases/predict.h"

static double dropped;

static void drop(void *arg, uint32_t event, const struct rec_amount *a)
{
	dropped += (double)a->count;
}

/* "(ab2c)3": loops by brackets, an event is a letter; rounds per entry. */
static void draw(const struct rec_fold *f, const struct rec_node *node,
                 char *out)
{
	if (node->event != REC_FOLD_NONE) {
		sprintf(out + strlen(out), "%c", 'a' + (int)node->event);
		return;
	}
	strcat(out, "(");
	for (uint32_t c = node->first; c != REC_FOLD_NONE;
	     c = rec_fold_node(f, c)->next)
		draw(f, rec_fold_node(f, c), out);
	sprintf(out + strlen(out), ")%llu",
	        (unsigned long long)(node->rounds / node->entries));
}

static double count(const struct rec_fold *f, const struct rec_node *node)
{
	double sum = 0;

	if (node->event != REC_FOLD_NONE)
		return (double)node->amount.count;
	for (uint32_t c = node->first; c != REC_FOLD_NONE;
	     c = rec_fold_node(f, c)->next)
		sum += count(f, rec_fold_node(f, c));
	return sum;
}

static double count_all(const struct rec_fold *f)
{
	double sum = 0;

	for (uint32_t i = 0; i < rec_fold_length(f); i++)
		sum += count(f, rec_fold_top(f, i));
	return sum;
}

static void sequences_fold_into_loops(void **state)
{
	static const struct {
		const char *sequence, *folded;
	} row[] = {
	        {"a", "a"},
	        {"aaaa", "(a)4"},
	        {"ababab", "(ab)3"},
	        {"abcabcab", "(abc)2ab"},
	        {"xabababyxabababyxabababy", "(x(ab)3y)3"},
	        /* a loop ends when something else comes */
	        {"aaabbbaaabbbaaabbbc", "((a)3(b)3)3c"},
	        {"saaasaaasaaas", "(s(a)3)3s"},
	        {"aabaabaabaab", "((a)2b)4"},
	        /* other rounds: another loop */
	        {"xaaaxaaxaaax", "x(a)3x(a)2x(a)3x"},
	        {"abcd", "abcd"},
	        {"abba", "a(b)2a"},
	        {"aabbaabbaabbx", "((a)2(b)2)3x"},
	        /* loops that begin alike */
	        {"wawawbwbwawawbwbwawawbwbwc", "((wa)2(wb)2)2(wa)2(wb)2wc"},
	        {"wawawbwbwawawbwbwawawbwbx", "((wa)2(wb)2)3x"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct rec_fold *f = rec_fold_new(REC_FOLD_NODES, drop, NULL);
		struct rec_amount one = {1, 0, 0, 0};
		char got[256] = "";

		assert_non_null(f);
		for (const char *c = row[i].sequence; *c; c++)
			rec_fold_append(f, (uint32_t)(*c - 'a'), &one);
		for (uint32_t k = 0; k < rec_fold_length(f); k++)
			draw(f, rec_fold_top(f, k), got);
		assert_string_equal(got, row[i].folded);
		assert_true(count_all(f) == (double)strlen(row[i].sequence));
		rec_fold_free(f);
	}
}

/* A million events of a program's shape take as many nodes as ten thousand. */
static void loops_take_no_memory(void **state)
{
	struct rec_fold *f = rec_fold_new(64, drop, NULL);
	struct rec_amount one = {1, 0, 0, 0};

	dropped = 0;
	for (int step = 0; step < 10000; step++) {
		for (uint32_t e = 0; e < 10; e++)
			rec_fold_append(f, e, &one);
		for (int solve = 0; solve < 45; solve++) {
			rec_fold_append(f, 20, &one);
			rec_fold_append(f, 21, &one);
		}
	}
	assert_true(dropped == 0);
	assert_true(count_all(f) == 1e6);
	assert_in_range(rec_fold_length(f), 1, 32);
	rec_fold_free(f);
}

/* Beyond the bound rounds no longer count, then the oldest loses its order. */
static void memory_is_bounded(void **state)
{
	struct rec_amount one = {1, 0, 0, 0};
	struct rec_fold *f = rec_fold_new(64, drop, NULL);
	uint32_t seed = 1;

	dropped = 0;
	for (int step = 0; step < 1000; step++) { /* loops of other lengths */
		rec_fold_append(f, 1, &one);
		for (int i = 0; i < 2 + step % 7; i++)
			rec_fold_append(f, 2, &one);
	}
	assert_true(dropped == 0);
	assert_in_range(rec_fold_length(f), 1, 63);
	rec_fold_free(f);

	f = rec_fold_new(64, drop, NULL);
	for (int i = 0; i < 100000; i++) { /* chance */
		seed = seed * 1664525 + 1013904223;
		rec_fold_append(f, seed >> 27, &one);
	}
	assert_true(dropped > 0);
	assert_true(dropped + count_all(f) == 1e5);
	assert_in_range(rec_fold_length(f), 1, 64);
	rec_fold_free(f);
}

static uint32_t kind_of(struct rec_kinds *k, int function, int peer,
                        uint64_t bytes)
{
	struct rec_kind_message m = {peer, false, bytes, 1};
	struct rec_event e = {.function = (uint16_t)function,
	                      .source = REC_NO_RANK,
	                      .bytes = bytes,
	                      .message = &m,
	                      .n = 1};

	return rec_kinds_find(k, &e);
}

static void kinds_are_alike_in_bytes(void **state)
{
	struct rec_kinds k;

	assert_int_equal(rec_kinds_init(&k, 4), 0);
	assert_int_equal(kind_of(&k, 1, 5, 1000), 0);
	assert_int_equal(kind_of(&k, 1, 5, 800), 0);
	assert_int_equal(kind_of(&k, 1, 5, 1300), 0);
	assert_int_equal(kind_of(&k, 1, 5, 1400), 1); /* 400 > 1400 / 4 */
	assert_int_equal(kind_of(&k, 1, 5, 1300), 1); /* the nearest */
	assert_int_equal(kind_of(&k, 1, 5, 1200), 0); /* the oldest */
	assert_int_equal(kind_of(&k, 1, 6, 1000), 2);
	assert_int_equal(kind_of(&k, 2, 5, 1000), 3);
	assert_int_equal(kind_of(&k, 2, 5, 0), 4);
	assert_true(k.message[0].bytes == 4300 && k.message[0].messages == 4);
	/* what has no room has a kind of its function, without messages */
	for (uint32_t i = k.n; i < REC_KINDS_MAX; i++)
		assert_int_equal(kind_of(&k, 3, (int)i, 8), i);
	assert_int_equal(kind_of(&k, 3, 1, 8), REC_KINDS_MAX);
	assert_int_equal(kind_of(&k, 3, 2, 8), REC_KINDS_MAX);
	assert_int_equal(kind_of(&k, 1, 5, 1000), 0);
	assert_int_equal(k.kind[REC_KINDS_MAX].n, 0);
	assert_true(k.kind[REC_KINDS_MAX].events == 2);
	rec_kinds_free(&k);
}

static struct bytes make_file(int steps, int later)
{
	return make_file_of(NULL, steps, later, 0, 0);
}

static double sum_bytes(const struct cpl_signature *sig, double *messages)
{
	double bytes = 0;

	*messages = 0;
	for (int k = 0; k < sig->n_phases; k++)
		for (int64_t e = 0; e < sig->phase[k].comm->n_entries; e++) {
			bytes += sig->phase[k].weight *
			         sig->phase[k].comm->bytes[e];
			*messages += sig->phase[k].weight *
			             sig->phase[k].comm->messages[e];
		}
	return bytes;
}

static double pet(const struct cpl_signature *sig)
{
	double time = 0;

	for (int k = 0; k < sig->n_phases; k++)
		time += sig->phase[k].weight * sig->phase[k].time;
	return time;
}

static void phases_are_found(void **state)
{
	struct cpl_phase_options options = CPL_PHASE_OPTIONS;
	struct cpl_error err = {""};
	struct bytes file = make_file(60, 1);
	struct cpl_run_events *e =
	        cpl_run_events_parse(file.data, file.n, "f", &err);
	struct cpl_phase_call *calls;
	struct cpl_signature *sig, *all;
	struct cpl_phases *p;
	double messages, run;

	assert_non_null(e);
	assert_int_equal(e->n, RANKS_OF_TEST);
	assert_string_equal(e->function[RECV], "Recv");
	options.relevant = 0;
	p = cpl_phases_find(e, &options, &err);
	assert_non_null(p);
	sig = cpl_phases_signature(e, p, "n", NULL, &err);
	assert_non_null(sig);
	assert_string_equal(sig->application, "app");
	all = cpl_phases_signature(e, NULL, "n", "other", &err);
	assert_non_null(all);
	assert_string_equal(all->application, "other");
	cpl_signature_free(all);
	/* a command need not be UTF-8 */
	e->command[0] = '\xff';
	e->n--;
	all = cpl_phases_signature(e, NULL, "n", "other", &err);
	e->n++;
	assert_non_null(all);
	assert_non_null(strstr(all->recorded, "\"incomplete_ranks\": 1"));
	assert_null(strstr(all->recorded, "command"));
	cpl_signature_free(all);
	all = cpl_phases_signature(e, NULL, "n", "other", &err);
	assert_non_null(all);
	assert_int_equal(all->n_phases, 1);
	/* halo and solver; the first step is before the loop, and what follows
	 * the last one is the solver again */
	assert_string_equal(sig->phase[0].name, "phase1");
	assert_string_equal(sig->phase[1].name, "phase2");
	assert_string_equal(sig->phase[2].name, "start");
	assert_string_equal(sig->phase[sig->n_phases - 1].name, "rest");
	assert_in_range(sig->phase[0].weight, 58, 60);
	assert_in_range(sig->phase[1].weight, 690, 700);
	assert_true(fabs(sig->phase[1].time - 1.001e-3) < 1e-6);
	assert_true(fabs(sig->phase[1].compute_time - 1e-3) < 1e-6);
	/* nothing is lost: bytes, messages, time */
	run = sum_bytes(all, &messages);
	assert_true(fabs(sum_bytes(sig, &messages) - run) < 1e-6 * run);
	assert_true(fabs(pet(sig) - p->time) < 1e-6);
	assert_true(fabs(pet(all) - p->time) < 1e-12);
	/* the calls of rank 1: two sends, polls are one, a receive */
	assert_int_equal(cpl_phase_calls(p, 0, 0, &calls, &err) > 1, 1);
	assert_int_equal(calls[0].function, SEND);
	assert_int_equal(calls[0].partner, 1);
	assert_true(calls[0].bytes > 999 && calls[0].bytes < 1201);
	free(calls);
	/* a rank that others' calls came to, without a round */
	p->phase[0].rank[0].rounds = 0;
	assert_int_equal(cpl_phase_calls(p, 0, 0, &calls, &err), 0);
	assert_null(calls);
	cpl_signature_free(all);
	cpl_signature_free(sig);
	cpl_phases_free(p);
	cpl_run_events_free(e);
	free(file.data);
}

/* The last phase that is a loop. */
static int last_loop(const struct cpl_phases *p)
{
	int k = p->n - 1;

	while (k > 0 && p->phase[k].kind >= CPL_PHASE_START)
		k--;
	return k;
}

/* The same calls with other computation between are another phase. */
static void computation_tells_phases_apart(void **state)
{
	struct cpl_phase_options options = CPL_PHASE_OPTIONS;
	struct cpl_error err = {""};
	struct bytes file = make_file(60, 20);
	struct cpl_run_events *e =
	        cpl_run_events_parse(file.data, file.n, "f", &err);
	struct cpl_phases *p;
	int last;

	assert_non_null(e);
	p = cpl_phases_find(e, &options, &err);
	assert_non_null(p);
	last = last_loop(p);
	/* 100 rounds of the later loop, with the last of the steps */
	assert_in_range(p->phase[last].weight, 100, 110);
	assert_true(p->phase[last].compute > 15e-3);
	cpl_phases_free(p);
	options.similarity = 100;
	p = cpl_phases_find(e, &options, &err);
	assert_non_null(p);
	for (int k = 0; k < p->n - 1; k++)
		assert_true(p->phase[k].compute < 10e-3);
	cpl_phases_free(p);
	cpl_run_events_free(e);
	free(file.data);
}

/* What each rank computes stays in the signature, where ranks differ. */
static void ranks_compute_as_long_as_they_do(void **state)
{
	const char *path = "phases-test.json";

	for (int slow = 0; slow < RANKS_OF_TEST; slow += 3) {
		struct cpl_phase_options options = CPL_PHASE_OPTIONS;
		struct cpl_error err = {""};
		struct bytes file = make_file_of("(hra)30", 0, 0, slow, 0);
		struct cpl_run_events *e =
		        cpl_run_events_parse(file.data, file.n, "f", &err);
		struct cpl_phases *p = cpl_phases_find(e, &options, &err);
		struct cpl_signature *sig =
		        cpl_phases_signature(e, p, "n", NULL, &err);
		struct cpl_signature *again;

		assert_non_null(sig);
		assert_int_equal(cpl_signature_write(sig, path, &err), 0);
		again = cpl_signature_load(path, &err);
		assert_non_null(again);
		assert_int_equal(again->phase[0].rank_compute != NULL, slow > 0);
		/* 2 ms of computation a round, or three times as much */
		for (int r = 0; r < RANKS_OF_TEST && slow; r++)
			assert_true(fabs(again->phase[0].rank_compute[r] /
			                         (r < slow ? 2e-3 : 6e-3) -
			                 1) < 0.02);
		remove(path);
		cpl_signature_free(again);
		cpl_signature_free(sig);
		cpl_phases_free(p);
		cpl_run_events_free(e);
		free(file.data);
	}
}

/* Every beginning of a file is refused or is a file of fewer ranks. */
static void pieces_of_files_are_refused(void **state)
{
	struct bytes file = make_file(6, 1);
	int whole = 0;

	for (size_t n = 0; n <= file.n; n++) {
		struct cpl_error err = {""};
		unsigned char *copy = malloc(n + 1); /* for the sanitizer */
		struct cpl_run_events *e;

		memcpy(copy, file.data, n);
		e = cpl_run_events_parse(copy, n, "f", &err);
		assert_true(e || err.text[0]);
		whole += e != NULL;
		cpl_run_events_free(e);
		free(copy);
	}
	assert_int_equal(whole, RANKS_OF_TEST);
	free(file.data);
}

static void hostile_numbers_are_refused(void **state)
{
	/* head of 4 ranks, four empty facts, no or one function */
#define HEAD0 "CPLEVENT\x01\x04\0\0\0\0\0"
#define HEAD "CPLEVENT\x01\x04\0\0\0\0\x01\x01S"
	static const struct {
		const char *data;
		size_t n;
		const char *error;
	} row[] = {
#define ROW(text, error) {text, sizeof(text) - 1, error}
	        ROW("", "f: no file of events"),
	        ROW("CPLEVENT\x02\x04", "f: a version of the format that"),
	        ROW("CPLEVENT\x01\0", "f: no number of ranks"),
	        ROW(HEAD, "f: no rank"),
	        ROW(HEAD "\x04", "f: it ends early"),
	        /* rank, time, mpi, lost, ended, tables, events */
	        ROW(HEAD "\0\0\0\0\1\0\0\0" "\0\0\0\0\1\0\0\0",
	            "f: rank 0 comes twice"),
	        ROW("CPLEVENT\1\1\0\0\0\0\0" "\0\0\0\0\1\0\0\0"
	            "\0\0\0\0\1\0\0\0",
	            "f: more ranks than there are, at byte 23"),
	        ROW(HEAD "\0\0\0\0\1\xff\xff\xff\xff\x0f\0\0",
	            "f: it ends early"),
	        ROW(HEAD "\0\0\0\0\1\1\x09\1\1\0\0", "f: it ends early"),
	        /* communicators; kinds: function 1 of one */
	        ROW(HEAD "\0\0\0\0\1\0\0\1" "\0" "\1\1\0\0\1\1\0" "\0\0",
	            "f: it ends early"),
	        /* a message to rank 4 */
	        ROW(HEAD "\0\0\0\0\1\0\0\1" "\0" "\1\0\0\0\1\1\1\x08\1\1" "\0\0",
	            "f: a message to a rank that is not there"),
	        /* a kind, but none of one function that there is */
	        ROW(HEAD0 "\0\0\0\0\1\0\0\1" "\0" "\1\0\0\0\1\1\0" "\0\0",
	            "f: it ends early"),
	        /* a loop of no rounds */
	        ROW(HEAD "\0\0\0\0\1\0\0\1" "\0" "\1\0\0\0\1\1\0" "\0"
	                 "\1\0\0\0\1\1\1\1\1\1",
	            "f: a loop without rounds or body"),
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_error err = {""};
		struct cpl_run_events *e = cpl_run_events_parse(
		        row[i].data, row[i].n, "f", &err);

		if (e || strncmp(err.text, row[i].error, strlen(row[i].error)))
			fail_msg("row %zu: %s", i, err.text);
	}
}

static struct cpl_machine *machine_of(const char *text)
{
	struct cpl_error err = {""};
	struct cpl_machine *m =
	        cpl_machine_parse(text, strlen(text), "m", &err);

	if (!m)
		fail_msg("%s", err.text);
	return m;
}

#define MACHINE                                                                \
	"{\"format\":\"commplace-machine\",\"version\":1,\"levels\":{"           \
	"\"core\":{\"latency\":1e-6,\"seconds_per_byte\":1e-9},"               \
	"\"node\":{\"latency\":1e-5,\"seconds_per_byte\":1e-8,"                \
	"\"sizes\":[[0,1e-5],[100,2e-5],[1000,1e-4]]}}}"

static void machines_say_seconds(void **state)
{
	static const struct {
		int level;
		double bytes, seconds;
	} row[] = {
	        {CPL_BY_CORE, 0, 1e-6},      {CPL_BY_CORE, 1000, 2e-6},
	        {CPL_BY_SOCKET, 1000, 2e-6}, /* as the nearer one */
	        {CPL_BY_NODE, 0, 1e-5},      {CPL_BY_NODE, 50, 1.5e-5},
	        {CPL_BY_NODE, 100, 2e-5},    {CPL_BY_NODE, 550, 6e-5},
	        {CPL_BY_NODE, 1000, 1e-4},   {CPL_BY_NODE, 2000, 1.1e-4},
	        {CPL_BY_GROUP, 50, 1.5e-5},
	};
	struct cpl_machine *m = machine_of(MACHINE);

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		assert_true(fabs(cpl_machine_seconds(m, row[i].level,
		                                     row[i].bytes) -
		                 row[i].seconds) < 1e-12);
	cpl_machine_free(m);
	m = machine_of("{\"format\":\"commplace-machine\",\"version\":1,"
	               "\"levels\":{\"router\":{\"latency\":3,"
	               "\"seconds_per_byte\":0}}}");
	/* the next further one, where none is nearer */
	assert_true(cpl_machine_seconds(m, CPL_BY_CORE, 9) == 3);
	cpl_machine_free(m);
}

/* One phase of two ranks, 1000 bytes in a message from 0 to 1. */
static void predict_one(double time, double compute, const char *machine,
                        bool apart, struct cpl_predicted_phase *out)
{
	const struct cpl_rank_location together[2] = {{.node = 0}};
	const struct cpl_rank_location nodes[2] = {{.node = 0},
	                                           {.node = 1, .socket = 1}};
	const struct cpl_run_location near = {.rank = together};
	const struct cpl_run_location far = {.rank = nodes};
	struct cpl_comm_entry entry = {0, 1, 1000, 1};
	struct cpl_error err = {""};
	struct cpl_phase phase = {
	        .name = "a",
	        .weight = 3,
	        .time = time,
	        .compute_time = compute,
	        .comm = cpl_comm_build(2, &entry, 1, &err),
	};
	struct cpl_signature sig = {
	        .ranks = 2, .n_phases = 1, .phase = &phase};
	struct cpl_machine *m = machine_of(machine);

	assert_int_equal(cpl_predict(&sig, NULL, m, apart ? &far : &near,
	                             apart ? &near : &far, out, &err),
	                 0);
	cpl_comm_free(phase.comm);
	cpl_machine_free(m);
}

/* Equations 2 and 3, idle time is never below 0 and 0 where communication is
 * what the table says; rows of the paper's Table III in their terms. */
static void time_is_split(void **state)
{
	static const struct {
		double comm, comp, transfer, idle; /* Table III, transfer:
		                                      MTTimeP - Comp */
	} row[] = {
	        {904.93, 53.28, 102.08, 802.85},
	        {2846.64, 275.31, 1055.25, 1791.39},
	        {1278.83, 251.38, 614.23, 664.60},
	        {89.34, 64.46, 51.04, 38.30},
	};
	struct cpl_predicted_phase p;
	char machine[256];

	predict_one(1e-3, 9e-4, MACHINE, true, &p);
	assert_true(fabs(p.transfer - 1e-4) < 1e-12 && fabs(p.idle) < 1e-12);
	/* inside a node the message takes a fiftieth */
	assert_true(fabs(p.elsewhere - (9e-4 + 2e-6)) < 1e-12);
	predict_one(1e-3, 95e-5, MACHINE, true, &p);
	assert_true(p.transfer <= 5e-5 + 1e-12 && p.idle >= 0);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		snprintf(machine, sizeof(machine),
		         "{\"format\":\"commplace-machine\",\"version\":1,"
		         "\"levels\":{\"node\":{\"latency\":%.2f,"
		         "\"seconds_per_byte\":0}}}",
		         row[i].transfer);
		predict_one(row[i].comm + row[i].comp, row[i].comp, machine,
		            true, &p);
		assert_true(fabs(p.compute - row[i].comp) < 1e-9);
		assert_true(fabs(p.idle - row[i].idle) < 0.02);
		assert_true(fabs(p.time - p.compute - p.transfer - p.idle) <
		            1e-9);
	}
}

/* LogGP: 3 messages of 2000 bytes one way, 1 of 1000 the other. L is 1.5 us, the
 * overheads 1 and 0.5 us, the gap 2 us, a byte takes 1 ns. */
static void messages_overlap(void **state)
{
	static const char *const costs[] = {
	        "", ",\"send_overhead\":1e-6,\"receive_overhead\":5e-7,"
	            "\"gap\":2e-6"};
	/* whole times; or 3 * 3 us and 2 us until the last is there */
	static const double want[] = {15e-6, 11e-6};
	const struct cpl_rank_location place[2] = {{.node = 0}};
	const struct cpl_run_location here = {.rank = place};

	for (int i = 0; i < 2; i++) {
		struct cpl_comm_entry entry[] = {{0, 1, 6000, 3},
		                                 {1, 0, 1000, 1}};
		struct cpl_error err = {""};
		struct cpl_phase phase = {
		        .name = "a", .weight = 1, .time = 1,
		        .comm = cpl_comm_build(2, entry, 2, &err)};
		struct cpl_signature sig = {
		        .ranks = 2, .n_phases = 1, .phase = &phase};
		struct cpl_predicted_phase p;
		struct cpl_machine *m;
		char text[256];

		snprintf(text, sizeof(text),
		         "{\"format\":\"commplace-machine\",\"version\":1,"
		         "\"levels\":{\"core\":{\"latency\":3e-6,"
		         "\"seconds_per_byte\":1e-9%s}}}",
		         costs[i]);
		m = machine_of(text);
		assert_true(fabs(cpl_machine_occupancy(m, CPL_BY_CORE, 1000) -
		                 (i ? 2e-6 : 4e-6)) < 1e-15);
		assert_int_equal(cpl_predict(&sig, NULL, m, &here, NULL, &p,
		                             &err),
		                 0);
		assert_true(fabs(p.transfer - want[i]) < 1e-12);
		cpl_comm_free(phase.comm);
		cpl_machine_free(m);
	}
}

/* Levels beyond the node, and links that take longer than any rank's transfer:
 * 1000 bytes in a message, of whose 0.01 s a half is communication. */
static void network_is_told(void **state)
{
	static const char text[] =
	        "{\"format\":\"commplace-machine\",\"version\":1,\"levels\":"
	        "{\"node\":{\"latency\":0.001,\"seconds_per_byte\":0},"
	        "\"router\":{\"latency\":0.002,\"seconds_per_byte\":0},"
	        "\"group\":{\"latency\":0.004,\"seconds_per_byte\":0}}}";
	static const struct {
		int router, group;
		double here, there; /* on the links */
		double transfer, elsewhere;
	} row[] = {
	        {0, 0, 0, 0, 0.001, 0.01},
	        {1, 0, 0, 0, 0.001, 0.005 + 0.005 * 2},
	        {1, 1, 0, 0, 0.001, 0.005 + 0.005 * 4},
	        /* links count where they take longer */
	        {1, 0, 0.0005, 0.003, 0.001, 0.005 + 0.005 * 3},
	        {1, 0, 0.004, 0.003, 0.004, 0.005 + 0.005 * 0.75},
	        {0, 0, 0.009, 0.003, 0.005, 0.005 + 0.005 / 3},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		const struct cpl_rank_location near[2] = {
		        {.node = 0}, {.node = 1, .socket = 1}};
		const struct cpl_rank_location far[2] = {
		        {.node = 0}, {1, 1, row[i].router, row[i].group}};
		const struct cpl_run_location here = {near, &row[i].here};
		const struct cpl_run_location there = {far, &row[i].there};
		struct cpl_comm_entry entry = {0, 1, 1000, 1};
		struct cpl_error err = {""};
		struct cpl_phase phase = {
		        .name = "a",
		        .weight = 3,
		        .time = 0.01,
		        .compute_time = 0.005,
		        .comm = cpl_comm_build(2, &entry, 1, &err),
		};
		struct cpl_signature sig = {
		        .ranks = 2, .n_phases = 1, .phase = &phase};
		struct cpl_machine *m = machine_of(text);
		struct cpl_predicted_phase out;

		assert_int_equal(cpl_predict(&sig, NULL, m, &here, &there, &out,
		                             &err),
		                 0);
		assert_true(fabs(out.transfer - row[i].transfer) < 1e-12);
		assert_true(fabs(out.elsewhere - row[i].elsewhere) < 1e-12);
		assert_true(out.network[0] == row[i].here);
		assert_true(out.network[1] == row[i].there);
		cpl_comm_free(phase.comm);
		cpl_machine_free(m);
	}
}

/* A rank that computes longest is waited for. */
static void waiting_ranks_are_named(void **state)
{
	struct cpl_phase_options options = CPL_PHASE_OPTIONS;
	const struct cpl_rank_location one_node[RANKS_OF_TEST] = {{0}};
	const struct cpl_run_location place = {.rank = one_node};
	struct cpl_error err = {""};
	struct bytes file = make_file(60, 1);
	struct cpl_run_events *e =
	        cpl_run_events_parse(file.data, file.n, "f", &err);
	struct cpl_predicted_phase out[8];
	struct cpl_machine *m = machine_of(MACHINE);
	struct cpl_signature *sig;
	struct cpl_phases *p;

	/* rank 2 computes for what the others wait */
	for (int i = 0; i < e->n; i++)
		for (int64_t k = 0; k < e->rank[i].n_nodes; k++) {
			struct cpl_run_node *node = &e->rank[i].node[k];

			if (node->kind < 0 || !(node->compute > 0))
				continue;
			if (e->rank[i].rank == 2)
				node->compute *= 3;
			else
				node->duration += 2 * node->compute;
		}
	p = cpl_phases_find(e, &options, &err);
	assert_non_null(p);
	sig = cpl_phases_signature(e, p, "n", NULL, &err);
	assert_non_null(sig);
	assert_in_range(sig->n_phases, 2, 8);
	assert_int_equal(cpl_predict(sig, p, m, &place, NULL, out, &err), 0);
	for (int r = 0; r < RANKS_OF_TEST; r++)
		assert_int_equal(cpl_predict_waits(&out[last_loop(p)], r),
		                 r != 2);
	assert_int_equal(out[last_loop(p)].waited_for, 2);
	cpl_predict_free(out, sig->n_phases);
	cpl_signature_free(sig);
	cpl_phases_free(p);
	cpl_machine_free(m);
	cpl_run_events_free(e);
	free(file.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(sequences_fold_into_loops),
	        cmocka_unit_test(loops_take_no_memory),
	        cmocka_unit_test(memory_is_bounded),
	        cmocka_unit_test(kinds_are_alike_in_bytes),
	        cmocka_unit_test(phases_are_found),
	        cmocka_unit_test(computation_tells_phases_apart),
	        cmocka_unit_test(ranks_compute_as_long_as_they_do),
	        cmocka_unit_test(pieces_of_files_are_refused),
	        cmocka_unit_test(hostile_numbers_are_refused),
	        cmocka_unit_test(machines_say_seconds),
	        cmocka_unit_test(time_is_split),
	        cmocka_unit_test(messages_overlap),
	        cmocka_unit_test(network_is_told),
	        cmocka_unit_test(waiting_ranks_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
