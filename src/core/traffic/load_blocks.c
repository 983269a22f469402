/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic/load_blocks.h"

#include <stdlib.h>

#define BLOCK 128

/* Seconds of the links of a block. */
struct load_block {
	double sum, max;
	bool stale;
};

/* Blocks of links first, then of injection, then of ejection. */
struct cpl_load_blocks {
	const struct cpl_network *net;
	const struct cpl_load *load;
	int64_t *stale; /* [n_stale] blocks */
	int64_t n_stale, n;
	struct load_block block[];
};

static int64_t blocks_of(int64_t n)
{
	return (n + BLOCK - 1) / BLOCK;
}

static int64_t last_of(int64_t block, int64_t n)
{
	int64_t end = (block + 1) * BLOCK;

	return end < n ? end : n;
}

static struct load_block of_links(const struct cpl_network *net,
                                  const double *bytes, int64_t at)
{
	struct load_block b = {0};

	for (int64_t i = at * BLOCK; i < last_of(at, net->n_links); i++) {
		double x;

		if (!(bytes[i] > 0))
			continue;
		x = bytes[i] / cpl_network_link_bandwidth(net, i);
		b.sum += x;
		b.max = x > b.max ? x : b.max;
	}
	return b;
}

static struct load_block of_nodes(const struct cpl_network *net,
                                  const double *bytes, int64_t at)
{
	struct load_block b = {0};

	for (int64_t i = at * BLOCK;
	     i < last_of(at, cpl_network_port_cables(net)); i++) {
		double x = bytes[i] / cpl_network_port_bandwidth(net, i);

		b.max = x > b.max ? x : b.max;
	}
	return b;
}

static struct load_block make_block(const struct cpl_network *net,
                                    const struct cpl_load *load, int64_t at)
{
	int64_t links = blocks_of(net->n_links);
	int64_t nodes = blocks_of(cpl_network_port_cables(net));

	if (at < links)
		return of_links(net, load->link, at);
	at -= links;
	return at < nodes ? of_nodes(net, load->injection, at)
	                  : of_nodes(net, load->ejection, at - nodes);
}

static int64_t count(const struct cpl_network *net)
{
	return blocks_of(net->n_links) + 2 * blocks_of(cpl_network_port_cables(net));
}

struct cpl_load_blocks *cpl_load_blocks_new(const struct cpl_network *net,
                                            const struct cpl_load *load,
                                            struct cpl_error *err)
{
	int64_t n = count(net);
	struct cpl_load_blocks *blocks = malloc(
	        sizeof(*blocks) + (size_t)n * sizeof(*blocks->block));
	int64_t *stale = malloc((size_t)n * sizeof(*stale));

	if (!blocks || !stale) {
		cpl_free_all(blocks, stale);
		cpl_fail_memory(err);
		return NULL;
	}
	*blocks = (struct cpl_load_blocks){
	        .net = net, .load = load, .stale = stale, .n = n};
	for (int64_t i = 0; i < n; i++)
		blocks->block[i] = make_block(net, load, i);
	return blocks;
}

void cpl_load_blocks_free(struct cpl_load_blocks *blocks)
{
	if (blocks)
		free(blocks->stale);
	free(blocks);
}

void cpl_load_blocks_changed(struct cpl_load_blocks *blocks, int64_t link)
{
	int64_t links = blocks->net->n_links;
	int64_t nodes = cpl_network_port_cables(blocks->net);
	int64_t at = link / BLOCK;

	/* Links of accelerators are in no block. */
	if (link >= links + 2 * nodes)
		return;
	if (link >= links) {
		at = blocks_of(links) + (link - links) / BLOCK;
		if (link >= links + nodes)
			at = blocks_of(links) + blocks_of(nodes) +
			     (link - links - nodes) / BLOCK;
	}
	if (blocks->block[at].stale)
		return;
	blocks->block[at].stale = true;
	blocks->stale[blocks->n_stale++] = at;
}

static void freshen(struct cpl_load_blocks *blocks)
{
	while (blocks->n_stale) {
		int64_t at = blocks->stale[--blocks->n_stale];

		blocks->block[at] = make_block(blocks->net, blocks->load, at);
	}
}

void cpl_load_top(const struct cpl_network *net, const struct cpl_load *load,
                  struct cpl_metrics *out)
{
	int64_t links = blocks_of(net->n_links);
	double sum = 0;

	*out = (struct cpl_metrics){0};
	if (load->blocks)
		freshen(load->blocks);
	for (int64_t i = 0; i < count(net); i++) {
		struct load_block b = load->blocks ? load->blocks->block[i]
		                                   : make_block(net, load, i);
		double *max =
		        i < links ? &out->max_congestion : &out->max_injection;

		sum += b.sum;
		*max = b.max > *max ? b.max : *max;
	}
	if (net->n_links)
		out->mean_congestion = sum / (double)net->n_links;
}
