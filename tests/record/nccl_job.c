/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This stands in for NCCL and a program that uses it: it loads the profiler plugin as
 * NCCL does, and drives its callbacks in NCCL's order from two threads for each rank,
 * that of the program and that of the proxy, which works on operations whose events
 * have stopped. It counts by itself who sends how much to whom.
 *
 *   nccl_job PLUGIN VERSION RANKS NODES FIRST HERE CALLS [OPTION]...
 *
 * Ranks FIRST .. FIRST + HERE - 1 of RANKS, on NODES nodes of as many consecutive
 * ranks, are in this process. Each makes CALLS calls on a communicator of all ranks
 * and on one of its node's. Channel c of a ring comes to a node at its rank c and goes
 * round its ranks. Lines "FROM TO BYTES MESSAGES" go to stdout, without pairs that
 * have none.
 *
 *   fork      a child is made in between, which counts, too, and ends
 *   again     communicators are made, finalized and made again
 *   crash     it ends by _exit without finalizing
 *   hostile   it also says what makes no sense
 *   steps=N   behind these calls come N times as many, the same each time, and three more
 *   peers=N   instead of all that, rank FIRST sends 1 byte to each of the first N
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/nccl_api.h"

#define BATCH 1000
#define CHANNELS 8
#define MOST 64 /* ranks */

static const struct nccl_profiler_4 *four;
static const struct nccl_profiler *other;
static int version, ranks, nodes, first, here, mask;
static int calls, n_steps;
static bool hostile, again;

static int fail(const char *what)
{
	fprintf(stderr, "nccl_job: %s\n", what);
	exit(2);
}

/* NCCL asks for the versions that it knows, the newest first. */
static void load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	char name[32];

	if (!library)
		fail(dlerror());
	snprintf(name, sizeof(name), "ncclProfiler_v%d", version);
	if (version == 4)
		four = dlsym(library, name);
	else
		other = dlsym(library, name);
	if (four || other)
		return;
	printf("External profiler plugin is unsupported\n");
	dlclose(library);
	exit(0);
}

static void *init(uint64_t id, int n, int of, int rank)
{
	void *context = NULL;
	int rc =
	        four ? four->init(&context, &mask, "all", id, of, n, rank, NULL)
	             : other->init(&context, id, &mask, NULL, of, n, rank,
	                           NULL);

	if (rc)
		fail("init");
	return context;
}

static void *start(void *context, uint64_t type, void *parent, int rank,
                   const union nccl_subject *subject)
{
	struct nccl_event_4 e4 = {(uint8_t)type, parent, rank, *subject};
	struct nccl_event e = {type, parent, rank, *subject};
	void *handle = &e;

	if (four ? four->start(context, &handle, &e4)
	         : other->start(context, &handle, &e))
		fail("start");
	return handle;
}

/* NCCL keeps to itself what has no handle. */
static void state(void *handle, int number, size_t size)
{
	struct nccl_state args = {size};

	if (handle)
		(four ? four->state : other->state)(handle, number, &args);
}

static void stop(void *handle)
{
	if (handle)
		(four ? four->stop : other->stop)(handle);
}

static void finalize(void *context)
{
	(four ? four->finalize : other->finalize)(context);
}

struct sum {
	uint64_t bytes, messages;
};

/* An operation of the proxy. */
struct job {
	void *context, *parent;
	int rank, to, peer; /* `to` is the peer's rank of the run */
	uint64_t bytes;
};

struct rank {
	pthread_t program, proxy;
	pthread_barrier_t both;
	int number;
	void *all, *node;
	struct sum sent[MOST];
	uint64_t ring_calls
	        [2][2]; /* of all and of the node; AllGather, AllReduce */
	struct job job[2][BATCH * CHANNELS];
	int n[2];
	bool last[2]; /* this batch is empty, and no other comes */
	uint64_t seed;
};

static struct rank *rank_at;

static uint64_t draw(struct rank *r, uint64_t below)
{
	r->seed = r->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (r->seed >> 33) % below;
}

static void give_job(struct rank *r, int batch, void *context, void *parent,
                     int rank, int peer, int to, uint64_t bytes)
{
	r->job[batch][r->n[batch]++] =
	        (struct job){context, parent, rank, to, peer, bytes};
}

static void count(struct rank *r, int to, uint64_t bytes, uint64_t messages)
{
	r->sent[to].bytes += bytes;
	r->sent[to].messages += messages;
}

static void p2p(struct rank *r, int batch, int per_node)
{
	int peer = (int)draw(r, (uint64_t)ranks);
	uint64_t n = 1 + draw(r, 100000);
	union nccl_subject s = {.p2p = {.function = "Send",
	                                .datatype = "ncclBfloat16",
	                                .count = n,
	                                .peer = peer,
	                                .channels = 2}};
	void *send = start(r->all, NCCL_P2P, NULL, r->number, &s), *receive;

	s.p2p.function = "Recv";
	receive = start(r->all, NCCL_P2P, NULL, r->number, &s);
	if (peer / per_node == r->number / per_node)
		count(r, peer, 2 * n, 1);
	else
		give_job(r, batch, r->all, send, r->number, peer, peer, 2 * n);
	stop(send);
	stop(receive);
}

/* A collective operation in rings, whose bytes all channels share. */
static void ring(struct rank *r, int batch, int per_node, bool of_node)
{
	int n = of_node ? per_node : ranks, at = r->number % per_node;
	int node = r->number / per_node * per_node, next = node;
	int me = of_node ? at : r->number;
	uint64_t block = (1 + draw(r, 1000)) * CHANNELS;
	bool reduces = draw(r, 2);
	union nccl_subject s = {
	        .collective = {.function = reduces ? "AllReduce" : "AllGather",
	                       .datatype = reduces ? "ncclFloat32" : "ncclInt8",
	                       .count = reduces ? block * (uint64_t)n : block,
	                       .channels = CHANNELS,
	                       .algorithm = "RING",
	                       .protocol = "SIMPLE"}};
	uint64_t each = reduces ? 2 * (uint64_t)(n - 1) * 4 * block / CHANNELS
	                        : (uint64_t)(n - 1) * block / CHANNELS;
	void *context = of_node ? r->node : r->all;
	void *e = start(context, NCCL_COLLECTIVE, NULL, me, &s);

	r->ring_calls[of_node][reduces]++;
	for (int c = 0; c < CHANNELS; c++) {
		bool leaves = !of_node && ranks > per_node &&
		              (at + 1) % per_node == c % per_node;

		next = leaves ? (node + per_node) % ranks + c % per_node
		              : node + (at + 1) % per_node;
		if (leaves)
			give_job(r, batch, context, e, me, next, next, each);
		else if (next != r->number)
			r->sent[next].bytes += each;
	}
	stop(e);
}

/* An AllReduce in trees, of which a node's ranks are a chain. */
static void tree(struct rank *r, int batch, int per_node)
{
	int at = r->number % per_node;
	uint64_t n = 1 + draw(r, 1000);
	union nccl_subject s = {.collective = {.function = "AllReduce",
	                                       .datatype = "ncclFloat16",
	                                       .count = n,
	                                       .channels = CHANNELS,
	                                       .algorithm = "TREE",
	                                       .protocol = "LL"}};
	void *e = start(r->all, NCCL_COLLECTIVE, NULL, r->number, &s);

	if (at > 0)
		count(r, r->number - 1, 2 * n, 1);
	if (at + 1 < per_node)
		count(r, r->number + 1, 2 * n, 1);
	if (at == 0 && ranks > per_node)
		give_job(r, batch, r->all, e, r->number,
		         (r->number + per_node) % ranks,
		         (r->number + per_node) % ranks, 4 * n);
	stop(e);
}

/* The network is given a transfer in pieces of whatever size. */
static void work(struct rank *r, const struct job *j)
{
	union nccl_subject s = {.operation = {.pid = getpid(),
	                                      .peer = j->peer,
	                                      .steps = 2,
	                                      .chunk = 1 << 19,
	                                      .is_send = 1}};
	void *send =
	        start(j->context, NCCL_PROXY_OPERATION, j->parent, j->rank, &s);
	void *receive, *step;
	uint64_t left = j->bytes, size = 0;

	s.operation.is_send = 0;
	receive =
	        start(j->context, NCCL_PROXY_OPERATION, j->parent, j->rank, &s);
	state(send, 19, 0);
	for (int i = 0; i < 2; i++) {
		step = start(j->context, NCCL_PROXY_STEP, send, j->rank, &s);
		state(step, 8, size);
		state(step, 20, size);
		size = i ? left : left / 3;
		left -= size;
		state(step, NCCL_STATE_SEND_WAIT, size);
		count(r, j->to, size, 1);
		stop(step);
	}
	stop(send);
	stop(receive);
}

static void *proxy(void *arg)
{
	struct rank *r = arg;

	for (int batch = 0;; batch = !batch) {
		pthread_barrier_wait(&r->both);
		if (r->last[batch])
			return NULL;
		for (int i = 0; i < r->n[batch]; i++)
			work(r, &r->job[batch][i]);
		r->n[batch] = 0;
	}
}

static void talk_nonsense(struct rank *r)
{
	union nccl_subject s = {{0}};
	char odd[64];
	void *e;

	start(r->all, NCCL_COLLECTIVE, NULL, -1, &s);
	start(r->all, NCCL_P2P, NULL, 1 << 30, &s);
	start(NULL, NCCL_P2P, NULL, 0, &s);
	start(odd + 1, NCCL_PROXY_OPERATION, odd, 0, &s);
	start(r->all, NCCL_PROXY_STEP, odd, 0, &s);
	start(r->all, version == 4 ? 0x40 | 1 : UINT64_C(1) << 40, NULL, 0, &s);
	s.collective = (struct nccl_collective){.function = "AllReduce",
	                                        .datatype = "ncclFloat64",
	                                        .count = SIZE_MAX,
	                                        .algorithm = "RING"};
	start(r->all, NCCL_COLLECTIVE, NULL, r->number, &s);
	s.collective.count = SIZE_MAX / 8;
	start(r->all, NCCL_COLLECTIVE, NULL, r->number, &s);
	s.p2p = (struct nccl_p2p){.function = "Send",
	                          .datatype = "ncclInt8",
	                          .count = 1,
	                          .peer = INT32_MAX};
	start(r->all, NCCL_P2P, NULL, r->number, &s);
	s.operation = (struct nccl_proxy_operation){
	        .pid = getpid(), .peer = r->number, .is_send = 1};
	e = start(r->all, NCCL_PROXY_OPERATION, NULL, r->number, &s);
	e = start(r->all, NCCL_PROXY_STEP, e, r->number, &s);
	state(e, NCCL_STATE_SEND_WAIT, SIZE_MAX);
	stop(e);
	stop(e);
	state(e, 12345, 1);
	state(odd, NCCL_STATE_SEND_WAIT, 1);
	(four ? four->state : other->state)(e, NCCL_STATE_SEND_WAIT, NULL);
	stop(odd);
	stop((void *)1);
	/* Another process's, whose pointers are not ours. */
	s.operation.pid = getpid() + 1;
	e = start((void *)8, NCCL_PROXY_OPERATION, (void *)16, 3, &s);
	if (e)
		fail("an operation of another process has a handle");
}

/* What is drawn for call i begins anew with each step, and behind them. */
static void begin_step(struct rank *r, int i)
{
	bool end = i == calls * (n_steps + 1);

	if (n_steps && i && i % calls == 0 && i <= calls * (n_steps + 1))
		r->seed = (uint64_t)r->number + (end ? 2000 : 1000);
}

static void *program(void *arg)
{
	struct rank *r = arg;
	int per_node = ranks / nodes, node = r->number / per_node;
	int n = n_steps ? calls * (n_steps + 1) + 3 : calls;

	r->all = init(0x1234567890abcdef, ranks, nodes, r->number);
	r->node = init(0x1000 + (uint64_t)node, per_node, 1,
	               r->number % per_node);
	for (int i = 0, batch = 0; i <= n; i++) {
		uint64_t kind;

		begin_step(r, i);
		kind = draw(r, 8);
		if (i == n || i % BATCH == BATCH - 1) {
			pthread_barrier_wait(&r->both);
			batch = !batch;
		}
		if (i == n) {
			r->last[batch] = true;
			pthread_barrier_wait(&r->both);
			pthread_join(r->proxy, NULL);
			break;
		}
		if (hostile && i % 100 == 0)
			talk_nonsense(r);
		if (kind < 4)
			p2p(r, batch, per_node);
		else if (kind < 6)
			ring(r, batch, per_node, kind == 5);
		else
			tree(r, batch, per_node);
	}
	return NULL;
}

static void run_ranks(void)
{
	for (int i = 0; i < here; i++) {
		struct rank *r = &rank_at[i];

		r->last[0] = r->last[1] = false;
		pthread_create(&r->proxy, NULL, proxy, r);
		pthread_create(&r->program, NULL, program, r);
	}
	for (int i = 0; i < here; i++)
		pthread_join(rank_at[i].program, NULL);
}

/* A ring's messages are as many as one rank sends, times the channels that it has
 * in the node. */
static void count_ring_messages(struct rank *r, int per_node)
{
	int next = r->number / per_node * per_node + (r->number + 1) % per_node;
	uint64_t stays =
	        ranks > per_node ? (uint64_t)per_node - 1 : (uint64_t)per_node;

	if (per_node == 1)
		return;
	for (uint64_t reduces = 0; reduces < 2; reduces++) {
		uint64_t steps = (uint64_t)(ranks - 1) << reduces;

		r->sent[next].messages +=
		        (r->ring_calls[0][reduces] * steps * stays * 2 +
		         (uint64_t)per_node) /
		        (2 * (uint64_t)per_node);
		r->sent[next].messages +=
		        r->ring_calls[1][reduces] * (uint64_t)(per_node - 1)
		        << reduces;
	}
}

static void print_counts(void)
{
	for (int i = 0; i < here; i++) {
		count_ring_messages(&rank_at[i], ranks / nodes);
		for (int to = 0; to < ranks; to++)
			if (rank_at[i].sent[to].messages)
				printf("%d %d %llu %llu\n", rank_at[i].number,
				       to,
				       (unsigned long long)rank_at[i]
				               .sent[to]
				               .bytes,
				       (unsigned long long)rank_at[i]
				               .sent[to]
				               .messages);
	}
	fflush(stdout);
}

static int send_to_peers(int peers)
{
	union nccl_subject s = {.p2p = {.function = "Send",
	                                .datatype = "ncclInt8",
	                                .count = 1}};
	void *context = init(77, ranks, 1, first);

	for (int peer = 0; peer < peers; peer++) {
		s.p2p.peer = peer;
		stop(start(context, NCCL_P2P, NULL, first, &s));
	}
	finalize(context);
	return 0;
}

/* The child's counts are not its parent's. */
static void make_child(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		union nccl_subject s = {.p2p = {.function = "Send",
		                                .datatype = "ncclInt8",
		                                .count = 1,
		                                .peer = 0}};

		start(rank_at[0].all, NCCL_P2P, NULL, 0, &s);
		finalize(rank_at[0].all);
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		fail("the child");
}

static bool has(int argc, char **argv, const char *option)
{
	for (int i = 8; i < argc; i++)
		if (!strcmp(argv[i], option))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	if (argc < 8)
		return fail("arguments");
	version = atoi(argv[2]);
	ranks = atoi(argv[3]);
	nodes = atoi(argv[4]);
	first = atoi(argv[5]);
	here = atoi(argv[6]);
	calls = atoi(argv[7]);
	load(argv[1]);
	if (argc > 8 && !strncmp(argv[8], "peers=", 6))
		return send_to_peers(atoi(argv[8] + 6));
	if (argc > 8 && !strncmp(argv[8], "steps=", 6))
		n_steps = atoi(argv[8] + 6);
	hostile = has(argc, argv, "hostile");
	again = has(argc, argv, "again");
	if (ranks > MOST || ranks % nodes || !(ranks / nodes))
		return fail("ranks");
	rank_at = calloc((size_t)here, sizeof(*rank_at));
	for (int i = 0; i < here; i++) {
		rank_at[i].number = first + i;
		rank_at[i].seed = (uint64_t)(first + i) + 1;
		pthread_barrier_init(&rank_at[i].both, NULL, 2);
	}
	for (int round = 0; round <= again; round++) {
		run_ranks();
		if (has(argc, argv, "fork"))
			make_child();
		if (has(argc, argv, "crash"))
			break;
		for (int i = 0; i < here; i++) {
			finalize(rank_at[i].all);
			finalize(rank_at[i].node);
		}
	}
	if (hostile) {
		state((char *)rank_at[0].all + 3, NCCL_STATE_SEND_WAIT, 1);
		stop(rank_at[0].all);
		finalize(rank_at[0].all);
		finalize(NULL);
	}
	print_counts();
	if (has(argc, argv, "crash"))
		_exit(0);
	return 0;
}
