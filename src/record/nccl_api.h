/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This is the profiler interface of NCCL, versions 4 to 6, as far as a plugin has to
 * know it: what the library hands over, byte by byte. RCCL has the same (its version
 * 6 adds members behind those of an operation of the proxy). The declarations are
 * made from the public interface (NCCL, src/include/plugin/profiler), so that
 * neither NCCL nor CUDA is needed to build or to run this.
 *
 * Versions differ in the order of init's arguments (4 against 5 and 6), in the width
 * of an event's type (one byte in 4, eight in 5 and 6; the members behind it are
 * where they were), and in members at the ends, which are left out here where nothing
 * reads them. The library owns what it hands over, and strings may be NULL.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* These types of events are bits of the mask by which a plugin asks for them. */
enum nccl_type {
	NCCL_GROUP = 1 << 0,
	NCCL_COLLECTIVE = 1 << 1,
	NCCL_P2P = 1 << 2,
	NCCL_PROXY_OPERATION = 1 << 3,
	NCCL_PROXY_STEP = 1 << 4,
	NCCL_PROXY_CONTROL = 1 << 5,
	NCCL_KERNEL_CHANNEL = 1 << 6,
	NCCL_NET_PLUGIN = 1 << 7,
	NCCL_GROUP_CALL = 1 << 8,
	NCCL_COLLECTIVE_CALL = 1 << 9,
	NCCL_P2P_CALL = 1 << 10,
	NCCL_KERNEL_LAUNCH = 1 << 11,
	NCCL_COPY_COLLECTIVE = 1 << 12, /* by copy engines; from version 6 on */
	NCCL_COPY_SYNC = 1 << 13,
	NCCL_COPY_BATCH = 1 << 14,
};
#define NCCL_TYPES_4 (NCCL_NET_PLUGIN * 2 - 1)
#define NCCL_TYPES_5 (NCCL_KERNEL_LAUNCH * 2 - 1)
#define NCCL_TYPES_6 (NCCL_COPY_BATCH * 2 - 1)

/* In this state of a step, the send has been handed to the network, and transSize is
 * its size. In the states before it is that of the step before. */
#define NCCL_STATE_SEND_WAIT 9

/* A group of calls may have several of these. */
struct nccl_collective {
	uint64_t sequence;
	const char *function; /* "AllReduce" */
	const void *send;
	void *receive;
	size_t count; /* of a rank's block in AllGather and ReduceScatter */
	int root;
	const char *datatype; /* "ncclFloat32" */
	uint8_t channels, warps;
	const char *algorithm, *protocol; /* "RING", "LL128" */
};

struct nccl_p2p {
	const char *function; /* "Send" or "Recv" */
	void *buffer;
	const char *datatype;
	size_t count;
	int peer;
	uint8_t channels;
};

struct nccl_proxy_operation {
	/* The process that called for it. In another (PXN: a GPU's traffic leaves by
	 * the NIC of a neighbour) the parent and the context are pointers of that
	 * process, and mean nothing. */
	int32_t pid;
	uint8_t channel;
	int peer;
	int steps;
	int chunk; /* bytes */
	int is_send;
};

struct nccl_copy_collective {
	uint64_t sequence;
	const char *function;
	const void *send;
	void *receive;
	size_t count; /* of a rank's block */
	int root;
	const char *datatype;
};

/* What an event is about, by its type. */
union nccl_subject {
	struct nccl_collective collective;
	struct nccl_p2p p2p;
	struct nccl_proxy_operation operation;
	struct nccl_copy_collective copy;
};

struct nccl_event_4 {
	uint8_t type;
	void *parent;
	int rank;
	union nccl_subject subject;
};

struct nccl_event {
	uint64_t type;
	void *parent;
	int rank;
	union nccl_subject subject;
};

/* Of a step of the proxy. */
struct nccl_state {
	size_t size; /* transSize */
};

_Static_assert(sizeof(size_t) == 8 && sizeof(void *) == 8,
               "NCCL's interface is that of 64 bits");
_Static_assert(offsetof(struct nccl_event_4, parent) == 8 &&
                       offsetof(struct nccl_event_4, rank) == 16 &&
                       offsetof(struct nccl_event_4, subject) == 24,
               "the head of an event, version 4");
_Static_assert(offsetof(struct nccl_event, parent) == 8 &&
                       offsetof(struct nccl_event, rank) == 16 &&
                       offsetof(struct nccl_event, subject) == 24,
               "the head of an event");
_Static_assert(offsetof(struct nccl_collective, function) == 8 &&
                       offsetof(struct nccl_collective, count) == 32 &&
                       offsetof(struct nccl_collective, root) == 40 &&
                       offsetof(struct nccl_collective, datatype) == 48 &&
                       offsetof(struct nccl_collective, channels) == 56 &&
                       offsetof(struct nccl_collective, algorithm) == 64 &&
                       offsetof(struct nccl_collective, protocol) == 72,
               "a collective operation");
_Static_assert(offsetof(struct nccl_p2p, datatype) == 16 &&
                       offsetof(struct nccl_p2p, count) == 24 &&
                       offsetof(struct nccl_p2p, peer) == 32 &&
                       offsetof(struct nccl_p2p, channels) == 36,
               "a message");
_Static_assert(offsetof(struct nccl_proxy_operation, channel) == 4 &&
                       offsetof(struct nccl_proxy_operation, peer) == 8 &&
                       offsetof(struct nccl_proxy_operation, chunk) == 16 &&
                       offsetof(struct nccl_proxy_operation, is_send) == 20,
               "an operation of the proxy");
_Static_assert(offsetof(struct nccl_copy_collective, count) == 32 &&
                       offsetof(struct nccl_copy_collective, datatype) == 48,
               "a collective operation by copy engines");

/* This is what NCCL writes messages with; nothing of ours calls it. */
typedef void nccl_logger(int level, unsigned long flags, const char *file,
                         int line, const char *format, ...);

/* NCCL looks for a variable of this type and of the name ncclProfiler_v4, or for
 * ncclProfiler_v5 and ncclProfiler_v6 below. All functions return 0. init is called
 * for each communicator of a process, from any thread; *mask has the types that are
 * wanted. Events come from several threads at once, and those of the proxy still when
 * the event that is their parent has been stopped. */
struct nccl_profiler_4 {
	const char *name;
	int (*init)(void **context, int *mask, const char *name, uint64_t id,
	            int nodes, int ranks, int rank, nccl_logger *log);
	int (*start)(void *context, void **handle,
	             const struct nccl_event_4 *event);
	int (*stop)(void *handle);
	int (*state)(void *handle, int state, const struct nccl_state *args);
	int (*finalize)(void *context);
};

struct nccl_profiler {
	const char *name;
	int (*init)(void **context, uint64_t id, int *mask, const char *name,
	            int nodes, int ranks, int rank, nccl_logger *log);
	int (*start)(void *context, void **handle,
	             const struct nccl_event *event);
	int (*stop)(void *handle);
	int (*state)(void *handle, int state, const struct nccl_state *args);
	int (*finalize)(void *context);
};
