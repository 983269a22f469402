/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a load comes to over all links, kept while the bytes of a few of them
 * change: summed up in blocks of links, so that it depends on the bytes alone,
 * whatever they were before.
 */
#pragma once

#include "traffic/traffic.h"

/*
 * Make the blocks of a load, which has to live as long. NULL with err (memory).
 * O(links + nodes).
 */
struct cpl_load_blocks *cpl_load_blocks_new(const struct cpl_network *net,
                                            const struct cpl_load *load,
                                            struct cpl_error *err);
void cpl_load_blocks_free(struct cpl_load_blocks *blocks);

/* To be called when the bytes of a link, as cpl_times_links numbers them, have
 * changed. O(1). */
void cpl_load_blocks_changed(struct cpl_load_blocks *blocks, int64_t link);

/*
 * Largest and mean congestion and the largest of node links; all else is 0. By
 * load->blocks, where its owner keeps them, O((links + nodes) / size of a block
 * + links of blocks that changed), else O(links + nodes): to the bit the same.
 */
void cpl_load_top(const struct cpl_network *net, const struct cpl_load *load,
                  struct cpl_metrics *out);
