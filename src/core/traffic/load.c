/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "traffic/load_blocks.h"

int cpl_load_init(struct cpl_load *load, const struct cpl_network *net,
                  struct cpl_error *err)
{
	/* The arrays follow one another, as cpl_times_at counts them. One item
	 * more is allocated, since a network may have neither. */
	size_t links = (size_t)net->n_links;
	size_t cables = (size_t)cpl_network_port_cables(net);

	load->blocks = NULL;
	load->link = calloc(links + 2 * cables + 1, sizeof(double));
	load->injection = load->ejection = NULL;
	if (!load->link)
		return cpl_fail_memory(err);
	load->injection = load->link + links;
	load->ejection = load->injection + cables;
	return 0;
}

void cpl_load_clear(struct cpl_load *load, const struct cpl_network *net)
{
	size_t cables = (size_t)cpl_network_port_cables(net);

	memset(load->link, 0,
	       ((size_t)net->n_links + 2 * cables) * sizeof(double));
}

void cpl_load_free(struct cpl_load *load)
{
	free(load->link);
	cpl_load_blocks_free(load->blocks);
	memset(load, 0, sizeof(*load));
}

void cpl_load_add(struct cpl_load *into, const struct cpl_load *from,
                  const struct cpl_network *net)
{
	for (int64_t i = 0; i < net->n_links; i++)
		into->link[i] += from->link[i];
	for (int64_t i = 0; i < cpl_network_port_cables(net); i++) {
		into->injection[i] += from->injection[i];
		into->ejection[i] += from->ejection[i];
	}
}

void cpl_load_scale(struct cpl_load *into, const struct cpl_load *from,
                    double factor, const struct cpl_network *net)
{
	for (int64_t i = 0; i < net->n_links; i++)
		into->link[i] = from->link[i] * factor;
	for (int64_t i = 0; i < cpl_network_port_cables(net); i++) {
		into->injection[i] = from->injection[i] * factor;
		into->ejection[i] = from->ejection[i] * factor;
	}
}

static double largest(const double *value, int64_t n, double bandwidth,
                      double most)
{
	for (int64_t i = 0; i < n; i++)
		if (value[i] / bandwidth > most)
			most = value[i] / bandwidth;
	return most;
}

double cpl_load_seconds(const struct cpl_load *load,
                        const struct cpl_network *net)
{
	double most = 0;

	for (int c = 0; c < net->n_classes; c++)
		most = largest(load->link + net->link_class[c].first,
		               net->link_class[c].count,
		               net->link_class[c].bandwidth, most);
	for (int64_t i = 0; i < cpl_network_port_cables(net); i++) {
		double bandwidth = cpl_network_port_bandwidth(net, i);

		most = fmax(most, load->injection[i] / bandwidth);
		most = fmax(most, load->ejection[i] / bandwidth);
	}
	return most;
}
