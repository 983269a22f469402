/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes: which topology and algorithm, slot size and kind, number of ranks, 32
 * of allowed CPUs, then triples of source, destination and traffic.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "binding/binding.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CPU_BYTES 32
#define HEADER (3 + CPU_BYTES)
#define MAX_ENTRIES 256

/* Of our own: hwloc's parser leaks on some texts that it refuses. */
static const char *const tree[] = {
        "pack:2 l3:3 core:2 pu:1",  "pack:2 l3:2 core:4 pu:2",
        "pack:4 l3:2 core:12 pu:1", "core:16 pu:1",
        "pack:61 core:4 pu:1",      "pack:2 [numa] l3:2 l2:2 core:2 pu:2",
};
#define N_TREES (sizeof(tree) / sizeof(*tree))
/* Of the last, these are cores without a second thread and without some. */
#define OFFLINE "1,3,8-11,17,19-20"
#define WORK 100000

static hwloc_topology_t load(size_t which)
{
	static hwloc_topology_t topology[N_TREES];
	hwloc_bitmap_t left = hwloc_bitmap_alloc_full();
	hwloc_bitmap_t offline = hwloc_bitmap_alloc();
	struct cpl_error err = {""};

	if (!topology[which] &&
	    (cpl_topology_load(tree[which], &topology[which], &err) ||
	     (which == N_TREES - 1 &&
	      (hwloc_bitmap_list_sscanf(offline, OFFLINE) ||
	       hwloc_bitmap_andnot(left, left, offline) ||
	       hwloc_topology_restrict(topology[which], left, 0)))))
		abort();
	hwloc_bitmap_free(offline);
	hwloc_bitmap_free(left);
	return topology[which];
}

static const struct cpl_binder *choose(size_t which)
{
	int n = 0;

	while (cpl_binder_at(n))
		n++;
	return cpl_binder_at((int)(which % (size_t)n));
}

static void check(const struct cpl_bind_request *req,
                  const struct cpl_bind_result *result)
{
	hwloc_bitmap_t all = hwloc_bitmap_alloc();

	if (result->ranks != req->comm->ranks ||
	    result->cost > result->cost_default)
		abort();
	for (int r = 0; r < result->ranks; r++) {
		hwloc_const_cpuset_t own = result->cpuset[r];

		if (hwloc_bitmap_iszero(own) ||
		    hwloc_bitmap_intersects(own, all) ||
		    !hwloc_bitmap_isincluded(own, req->allowed))
			abort();
		hwloc_bitmap_or(all, all, own);
	}
	hwloc_bitmap_free(all);
}

static struct cpl_comm *build(const uint8_t *data, size_t size, int ranks)
{
	struct cpl_comm_entry entry[MAX_ENTRIES];
	int64_t n = 0;

	for (; size >= 3 && n < MAX_ENTRIES; data += 3, size -= 3)
		entry[n++] = (struct cpl_comm_entry){
		        data[0] % ranks, data[1] % ranks, data[2] * 100.0, 1};
	return cpl_comm_build(ranks, entry, n, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpl_bind_request req = {.work = WORK};
	const struct cpl_binder *binder;
	struct cpl_bind_result result, again;
	struct cpl_error err = {""};
	hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
	struct cpl_comm *comm = NULL;
	int ranks;

	if (size < HEADER || !allowed)
		goto out;
	req.topology = load(data[0] % N_TREES);
	binder = choose(data[0] / N_TREES);
	for (int i = 0; i < CPU_BYTES * 8; i++)
		if (data[3 + i / 8] >> i % 8 & 1)
			hwloc_bitmap_set(allowed, (unsigned)i);
	ranks = data[2] % 128 + 1;
	comm = build(data + HEADER, size - HEADER, ranks);
	if (!comm)
		goto out;
	req.allowed = allowed;
	req.comm = comm;
	req.by_pu = data[1] & 1;
	req.cores_per_rank = data[1] / 2 % 5;
	if (cpl_bind(binder, &req, &result, &err)) {
		if (!err.text[0] || result.cpuset)
			abort();
		goto out;
	}
	check(&req, &result);
	if (cpl_bind(binder, &req, &again, &err))
		abort();
	for (int r = 0; r < ranks; r++)
		if (!hwloc_bitmap_isequal(result.cpuset[r], again.cpuset[r]))
			abort();
	cpl_bind_result_free(&again);
	cpl_bind_result_free(&result);
out:
	cpl_comm_free(comm);
	hwloc_bitmap_free(allowed);
	return 0;
}
