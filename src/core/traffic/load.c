/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "traffic/load_blocks.h"
#include "traffic/times.h"

/* So many times the links. */
static int open_load(struct cpl_load *load, const struct cpl_network *net,
                     size_t times, struct cpl_error *err)
{
	/* The arrays follow one another, as cpl_times_at counts them. One item
	 * more is allocated, since a network may have neither. */
	size_t cables = (size_t)cpl_network_port_cables(net);
	double *next;

	memset(load, 0, sizeof(*load));
	load->link = calloc(times * (size_t)cpl_times_links(net) + 1,
	                    sizeof(double));
	if (!load->link)
		return cpl_fail_memory(err);
	load->injection = load->link + net->n_links;
	load->ejection = load->injection + cables;
	next = load->ejection + cables;
	for (int k = 0; k < CPL_INSIDES; k++) {
		load->out[k] = next;
		load->in[k] = next + net->accelerators.n;
		next += 2 * net->accelerators.n;
	}
	return 0;
}

int cpl_load_init(struct cpl_load *load, const struct cpl_network *net,
                  struct cpl_error *err)
{
	return open_load(load, net, 1, err);
}

int cpl_load_init_rates(struct cpl_load *load, const struct cpl_network *net,
                        struct cpl_error *err)
{
	if (open_load(load, net, 2, err))
		return -1;
	load->squares = load->link + cpl_times_links(net);
	return 0;
}

/* Its arrays, of rates with the squares. */
static int64_t length_of(const struct cpl_load *load, const struct cpl_network *net)
{
	return (load->squares ? 2 : 1) * cpl_times_links(net);
}

void cpl_load_clear(struct cpl_load *load, const struct cpl_network *net)
{
	memset(load->link, 0, (size_t)length_of(load, net) * sizeof(double));
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
	int64_t n = from->squares ? length_of(into, net) : cpl_times_links(net);

	for (int64_t i = 0; i < n; i++)
		into->link[i] += from->link[i];
}

void cpl_load_scale(struct cpl_load *into, const struct cpl_load *from,
                    double factor, const struct cpl_network *net)
{
	for (int64_t i = 0; i < cpl_times_links(net); i++)
		into->link[i] = from->link[i] * factor;
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
	for (int k = 0; k < CPL_INSIDES; k++) {
		const struct cpl_accelerators *a = &net->accelerators;

		most = largest(load->out[k], a->n, a->bandwidth[k], most);
		most = largest(load->in[k], a->n, a->bandwidth[k], most);
	}
	return most;
}
