/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nccl_count.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* The low bits of a handle, which is a cell's address. */
enum {
	OF_CALL = 1,
	OF_MESSAGE,
	OF_MESSAGE_OPERATION,
	OF_OPERATION, /* below a collective, or of unknown descent */
	OF_MESSAGE_STEP,
	OF_STEP,
	OF_BITS = 63,
};

struct nccl_losses nccl_losses;

static struct {
	struct nccl_cell *cell; /* [most] */
	uint32_t most;
	_Atomic uint32_t used;
	/* Slots of cells by their keys: number + 1, 0: free. Twice as many as cells,
	 * a power of two. */
	_Atomic uint32_t *slot;
	uint32_t mask;
	struct nccl_logged *log; /* [most] */
	_Atomic uint64_t logged; /* with those that found no room */
	int32_t pid;
} all;

static void *reserve(void *old, size_t old_size, size_t size)
{
	void *p;

	if (old)
		munmap(old, old_size);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE,
	         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

int nccl_begin(int mebibytes)
{
	uint32_t most = (uint32_t)mebibytes << 14, slots = 1;
	size_t cells = all.most * sizeof(*all.cell);
	size_t found = all.slot ? (all.mask + 1) * sizeof(*all.slot) : 0;

	while (slots < 2 * most)
		slots *= 2;
	memset(&nccl_losses, 0, sizeof(nccl_losses));
	atomic_store(&all.used, 0);
	all.cell = reserve(all.cell, cells, most * sizeof(*all.cell));
	all.slot = reserve(all.slot, found, slots * sizeof(*all.slot));
	all.log = reserve(all.log, all.most * sizeof(*all.log),
	                  most * sizeof(*all.log));
	atomic_store(&all.logged, 0);
	all.most = all.cell && all.slot && all.log ? most : 0;
	all.mask = slots - 1;
	all.pid = getpid();
	return all.most ? 0 : -1;
}

static void count_one(_Atomic uint64_t *counter, uint64_t by)
{
	uint64_t before =
	        atomic_fetch_add_explicit(counter, by, memory_order_relaxed);

	/* No sum runs over, whatever a library claims. */
	if (before > UINT64_MAX / 2)
		atomic_store_explicit(counter, UINT64_MAX / 2,
		                      memory_order_relaxed);
}

static void count_full(uint64_t bytes)
{
	count_one(&nccl_losses.full, 1);
	count_one(&nccl_losses.full_bytes, bytes);
}

/* This returns the number of a new cell, or UINT32_MAX. */
static uint32_t new_cell(void)
{
	uint32_t i = atomic_load_explicit(&all.used, memory_order_relaxed);

	do {
		if (i >= all.most)
			return UINT32_MAX;
	} while (!atomic_compare_exchange_weak_explicit(&all.used, &i, i + 1,
	                                                memory_order_relaxed,
	                                                memory_order_relaxed));
	return i;
}

static bool is_cell(const struct nccl_cell *c, uint32_t kind, uint32_t of,
                    uint64_t key)
{
	return atomic_load_explicit(&c->kind, memory_order_relaxed) == kind &&
	       c->communicator == of && c->key == key;
}

/* This finds the cell of a key, or makes it; NULL: memory is full. */
static struct nccl_cell *find_cell(uint32_t kind, uint32_t of, uint64_t key)
{
	uint64_t hash = ((key ^ (uint64_t)of << 40) + kind) *
	                UINT64_C(0x9e3779b97f4a7c15);
	uint32_t made = UINT32_MAX, at = (uint32_t)(hash >> 32) & all.mask, is;

	for (;; at = (at + 1) & all.mask) {
		is = atomic_load_explicit(&all.slot[at], memory_order_acquire);
		while (!is) {
			struct nccl_cell *c;

			if (made == UINT32_MAX)
				made = new_cell();
			if (made == UINT32_MAX)
				return NULL;
			c = &all.cell[made];
			c->communicator = of;
			c->key = key;
			atomic_store_explicit(&c->kind, kind,
			                      memory_order_release);
			if (atomic_compare_exchange_strong_explicit(
			            &all.slot[at], &is, made + 1,
			            memory_order_acq_rel, memory_order_acquire))
				return c;
		}
		if (!is_cell(&all.cell[is - 1], kind, of, key))
			continue;
		if (made != UINT32_MAX)
			atomic_store_explicit(&all.cell[made].kind,
			                      NCCL_CELL_FREE,
			                      memory_order_relaxed);
		return &all.cell[is - 1];
	}
}

/* This returns the cell of a handle or context of such a kind, or NULL: not ours. */
static struct nccl_cell *cell_of(void *handle, unsigned bits, uint32_t kind)
{
	uintptr_t at = (uintptr_t)handle - (uintptr_t)all.cell - bits;
	struct nccl_cell *c;

	if (at % sizeof(*c) || at / sizeof(*c) >= all.most)
		return NULL;
	c = &all.cell[at / sizeof(*c)];
	return atomic_load_explicit(&c->kind, memory_order_relaxed) == kind
	               ? c
	               : NULL;
}

static void *handle_of(struct nccl_cell *c, unsigned bits)
{
	return (char *)c + bits;
}

void *nccl_open(const struct nccl_communicator *about)
{
	uint32_t i = new_cell();

	if (i == UINT32_MAX)
		return NULL;
	all.cell[i].communicator = i;
	all.cell[i].about = *about;
	atomic_store_explicit(&all.cell[i].kind, NCCL_CELL_COMMUNICATOR,
	                      memory_order_release);
	return &all.cell[i];
}

/* The size of an element, or 0. */
static uint64_t element(const char *datatype)
{
	static const struct nccl_size {
		char name[12];
		uint8_t bytes;
	} known[] = {{"Bfloat16", 2}, {"Float32", 4},    {"Float16", 2},
	             {"Int8", 1},     {"Float8e4m3", 1}, {"Float8e5m2", 1},
	             {"Float64", 8},  {"Int32", 4},      {"Int64", 8},
	             {"Uint8", 1},    {"Uint32", 4},     {"Uint64", 8}};

	if (!datatype || strncmp(datatype, "nccl", 4))
		return 0;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(datatype + 4, known[i].name))
			return known[i].bytes;
	return 0;
}

static bool take_bytes(const char *datatype, size_t count, uint64_t *bytes)
{
	uint64_t size = element(datatype);

	if (size && !__builtin_mul_overflow(size, count, bytes) &&
	    *bytes < NCCL_MOST_BYTES)
		return true;
	count_one(&nccl_losses.refused, 1);
	return false;
}

static bool is_rank(const struct nccl_cell *context, int rank)
{
	return rank >= 0 && rank < context->about.ranks;
}

static enum nccl_function function_of(const char *name)
{
	static const char known[NCCL_FUNCTIONS][16] = {
	        [NCCL_ALLGATHER] = "AllGather",
	        [NCCL_ALLREDUCE] = "AllReduce",
	        [NCCL_ALLTOALL] = "AlltoAll",
	        [NCCL_BROADCAST] = "Broadcast",
	        [NCCL_GATHER] = "Gather",
	        [NCCL_REDUCE] = "Reduce",
	        [NCCL_REDUCE_SCATTER] = "ReduceScatter",
	        [NCCL_SCATTER] = "Scatter"};

	for (int i = 1; name && i < NCCL_FUNCTIONS; i++)
		if (!strcmp(name, known[i]))
			return (enum nccl_function)i;
	return NCCL_NO_FUNCTION;
}

static enum nccl_shape shape_of(const char *algorithm)
{
	if (!algorithm)
		return NCCL_RING;
	if (!strcmp(algorithm, "TREE") || !strcmp(algorithm, "COLLNET_CHAIN"))
		return NCCL_CHAIN;
	if (!strncmp(algorithm, "NVLS", 4) ||
	    !strcmp(algorithm, "COLLNET_DIRECT"))
		return NCCL_DIRECT;
	return NCCL_RING;
}

static uint64_t pack_call(const struct nccl_call *call)
{
	return (uint64_t)(uint32_t)call->root << 32 |
	       (uint32_t)call->channels << 16 | (uint32_t)call->shape << 8 |
	       call->function;
}

struct nccl_call nccl_call_unpack(uint64_t key)
{
	return (struct nccl_call){.function = (uint8_t)key,
	                          .shape = (uint8_t)(key >> 8),
	                          .channels = (uint8_t)(key >> 16),
	                          .root = (int32_t)(key >> 32)};
}

/* Threads are told apart by where their stacks are, which is nowhere twice. */
static void write_down(const struct nccl_cell *c, uint64_t bytes)
{
	uint64_t i = atomic_fetch_add_explicit(&all.logged, 1,
	                                       memory_order_relaxed);
	struct nccl_logged *l;
	struct timespec t;

	if (i >= all.most)
		return;
	l = &all.log[i];
	clock_gettime(CLOCK_MONOTONIC, &t);
	l->time = (uint64_t)t.tv_sec * UINT64_C(1000000000) +
	          (uint64_t)t.tv_nsec;
	l->bytes = bytes;
	l->cell = (uint32_t)(c - all.cell);
	atomic_store_explicit(&l->thread,
	                      (uint32_t)((uintptr_t)pthread_self() >> 6) | 1,
	                      memory_order_release);
}

uint32_t nccl_log(const struct nccl_logged **log, uint64_t *missed)
{
	uint64_t n = atomic_load(&all.logged);

	*log = all.log;
	*missed = n > all.most ? n - all.most : 0;
	return (uint32_t)(n - *missed);
}

/* A collective operation as both kinds of events tell of it. */
static void *count_call(struct nccl_cell *context, struct nccl_call *call,
                        int root, const char *datatype, size_t count)
{
	struct nccl_cell *c;
	uint64_t bytes;

	call->root = 0;
	if (call->function == NCCL_BROADCAST || call->function == NCCL_REDUCE ||
	    call->function == NCCL_GATHER || call->function == NCCL_SCATTER)
		call->root = root;
	if (call->function == NCCL_NO_FUNCTION ||
	    !is_rank(context, call->root)) {
		count_one(&nccl_losses.refused, 1);
		return NULL;
	}
	if (!take_bytes(datatype, count, &bytes))
		return NULL;
	c = find_cell(NCCL_CELL_CALLS, context->communicator, pack_call(call));
	if (!c) {
		count_full(bytes);
		return NULL;
	}
	count_one(&c->sum[NCCL_CALLS], 1);
	count_one(&c->sum[NCCL_CALLED], bytes);
	write_down(c, bytes);
	return handle_of(c, OF_CALL);
}

static void *start_collective(struct nccl_cell *context,
                              const struct nccl_collective *e)
{
	struct nccl_call call = {.function = (uint8_t)function_of(e->function),
	                         .shape = (uint8_t)shape_of(e->algorithm),
	                         .channels = e->channels};

	return count_call(context, &call, e->root, e->datatype, e->count);
}

static void *start_copy(struct nccl_cell *context,
                        const struct nccl_copy_collective *e)
{
	struct nccl_call call = {.function = (uint8_t)function_of(e->function),
	                         .shape = NCCL_DIRECT};

	return count_call(context, &call, e->root, e->datatype, e->count);
}

static void *start_p2p(struct nccl_cell *context, const struct nccl_p2p *e)
{
	struct nccl_cell *c;
	uint64_t bytes;

	if (e->function && !strcmp(e->function, "Recv"))
		return NULL;
	if (!e->function || strcmp(e->function, "Send") ||
	    !is_rank(context, e->peer)) {
		count_one(&nccl_losses.refused, 1);
		return NULL;
	}
	if (!take_bytes(e->datatype, e->count, &bytes))
		return NULL;
	c = find_cell(NCCL_CELL_PAIR, context->communicator, (uint64_t)e->peer);
	if (!c) {
		count_full(bytes);
		return NULL;
	}
	count_one(&c->sum[NCCL_SENDS], 1);
	count_one(&c->sum[NCCL_SENT], bytes);
	write_down(c, bytes);
	return handle_of(c, OF_MESSAGE);
}

static void *start_operation(void *context, void *parent,
                             const struct nccl_proxy_operation *e)
{
	struct nccl_cell *of, *calls, *c;

	if (!e->is_send)
		return NULL;
	if (e->pid && e->pid != all.pid) {
		count_one(&nccl_losses.foreign, 1);
		return NULL;
	}
	of = cell_of(context, 0, NCCL_CELL_COMMUNICATOR);
	if (!of || !is_rank(of, e->peer)) {
		count_one(&nccl_losses.refused, 1);
		return NULL;
	}
	calls = cell_of(parent, OF_CALL, NCCL_CELL_CALLS);
	if (calls)
		count_one(&calls->sum[NCCL_OPERATIONS], 1);
	c = find_cell(NCCL_CELL_PAIR, of->communicator, (uint64_t)e->peer);
	if (!c) {
		count_full(e->chunk > 0 && e->steps > 0
		                   ? (uint64_t)e->chunk * (uint64_t)e->steps
		                   : 0);
		return NULL;
	}
	return handle_of(c, cell_of(parent, OF_MESSAGE, NCCL_CELL_PAIR)
	                            ? OF_MESSAGE_OPERATION
	                            : OF_OPERATION);
}

static void *start_step(void *parent)
{
	struct nccl_cell *c =
	        cell_of(parent, OF_MESSAGE_OPERATION, NCCL_CELL_PAIR);

	if (c)
		return handle_of(c, OF_MESSAGE_STEP);
	c = cell_of(parent, OF_OPERATION, NCCL_CELL_PAIR);
	return c ? handle_of(c, OF_STEP) : NULL;
}

void nccl_start(void *context, void **handle, uint64_t type, void *parent,
                const union nccl_subject *subject, uint64_t types)
{
	struct nccl_cell *of;

	if (type == NCCL_PROXY_STEP) {
		*handle = start_step(parent);
		return;
	}
	if (type == NCCL_PROXY_OPERATION) {
		*handle = start_operation(context, parent, &subject->operation);
		return;
	}
	*handle = NULL;
	if (!type || type & (type - 1) || !(type & types)) {
		count_one(&nccl_losses.unknown, 1);
		return;
	}
	if (!(type & (NCCL_COLLECTIVE | NCCL_P2P | NCCL_COPY_COLLECTIVE)))
		return;
	of = cell_of(context, 0, NCCL_CELL_COMMUNICATOR);
	if (!of)
		count_one(&nccl_losses.refused, 1);
	else if (type == NCCL_COLLECTIVE)
		*handle = start_collective(of, &subject->collective);
	else if (type == NCCL_P2P)
		*handle = start_p2p(of, &subject->p2p);
	else
		*handle = start_copy(of, &subject->copy);
}

void nccl_advance(void *handle, int state, const struct nccl_state *args)
{
	struct nccl_cell *c;
	int at = NCCL_P2P_STEPS;

	if (state != NCCL_STATE_SEND_WAIT || !args)
		return;
	c = cell_of(handle, OF_MESSAGE_STEP, NCCL_CELL_PAIR);
	if (!c) {
		c = cell_of(handle, OF_STEP, NCCL_CELL_PAIR);
		at = NCCL_OTHER_STEPS;
	}
	if (!c || args->size >= NCCL_MOST_BYTES) {
		count_one(&nccl_losses.refused, 1);
		return;
	}
	count_one(&c->sum[at], 1);
	count_one(&c->sum[at + 1], args->size);
}

uint32_t nccl_cells(void)
{
	return atomic_load(&all.used);
}

const struct nccl_cell *nccl_cell_at(uint32_t i)
{
	return &all.cell[i];
}
