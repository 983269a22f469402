/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of packets, their paths, and queues. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/packets.h"

/* The memory starts at a line of the cache. */
void *cpl_packets_lines(size_t size)
{
	return aligned_alloc(64, (size + 64) / 64 * 64);
}

/* Widens all queues for more classes of channels. */
static bool widen_queues(struct cpl_packets *p, int classes)
{
	int channels = classes * p->lanes;
	struct cpl_packet_queue *wider = cpl_packets_lines(
	        (size_t)p->n_links * (size_t)channels * sizeof(*wider));

	if (!wider)
		return false;
	for (int64_t l = 0; l < p->n_links; l++)
		for (int c = 0; c < channels; c++)
			wider[l * channels + c] =
			        c < p->channels ? p->queue[l * p->channels + c]
			                        : (struct cpl_packet_queue){
			                                  -1, -1, p->depth, 0};
	free(p->queue);
	p->queue = wider;
	p->classes = classes;
	p->channels = channels;
	return true;
}

/* Widens all paths for longer ones, or for more packets. */
static bool widen_paths(struct cpl_packets *p, int64_t room, int stride)
{
	int *wider = cpl_packets_lines((size_t)room * (size_t)stride *
	                               sizeof(*wider));

	if (!wider)
		return false;
	for (int64_t i = 0; i < p->n_packets && i < p->path_room; i++)
		for (int k = 0; k < p->stride; k++)
			wider[i * stride + k] = p->path[i * p->stride + k];
	free(p->path);
	p->path = wider;
	p->path_room = room;
	p->stride = stride;
	return true;
}

/* Each packet has a line of the cache to itself. */
static bool more_packets(struct cpl_packets *p)
{
	size_t size = sizeof(struct cpl_packet);
	int room = p->packet_room ? 2 * p->packet_room : 1024;
	struct cpl_packet *wider;

	if (p->packet_room > INT_MAX / 2)
		return false;
	wider = cpl_packets_lines((size_t)room * size);
	if (!wider)
		return false;
	if (p->packet_room)
		memcpy(wider, p->packet, (size_t)p->packet_room * size);
	free(p->packet);
	p->packet = wider;
	p->packet_room = room;
	return true;
}

bool cpl_packets_widen(struct cpl_simulation *sim, int stride, int classes)
{
	struct cpl_packets *p = sim->own;

	if ((!p->queue || classes > p->classes) && !widen_queues(p, classes))
		cpl_sim_fail_memory(sim);
	if (stride > p->stride && !widen_paths(p, p->path_room, stride))
		cpl_sim_fail_memory(sim);
	return !sim->failed;
}

bool cpl_packets_grow(struct cpl_packets *p)
{
	return (p->n_packets < p->packet_room || more_packets(p)) &&
	       (p->n_packets < p->path_room ||
	        widen_paths(p, p->path_room ? 2 * p->path_room : 1024,
	                    p->stride));
}
