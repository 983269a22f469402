/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the bandwidths of a network can be meant as they are stated. */
#include <math.h>

#include "network/network.h"

/* Numbers up to this are ratios to others, as is the 1 where nothing is stated:
 * links of computers carry more than 8 Mbit/s, and less than 80 Tbit/s. */
#define RATIO_MAX 10
#define LEAST_PLAUSIBLE 1e6
#define MOST_PLAUSIBLE 1e13

static int64_t n_rates(const struct cpl_network *net)
{
	return CPL_INSIDES + net->n_classes +
	       (net->cable_bandwidth ? cpl_network_port_cables(net)
	                             : net->n_ports);
}

/* What a cable has, and what it is called: accelerators', the classes, then the
 * ports. */
static double rate_of(const struct cpl_network *net, int64_t i,
                      const char **name)
{
	static const char *const inside[] = {"node_bandwidth", "domain"};
	int64_t port = i - CPL_INSIDES - net->n_classes;

	if (i < CPL_INSIDES) {
		*name = inside[i];
		return net->accelerators.bandwidth[i];
	}
	i -= CPL_INSIDES;
	if (port < 0) {
		*name = net->link_class[i].name;
		return net->link_class[i].bandwidth / net->link_class[i].cables;
	}
	*name = "injection";
	return net->cable_bandwidth ? net->cable_bandwidth[port]
	                            : net->port_bandwidth[port];
}

/* The least and the largest of the links that there are. */
struct rate_range {
	double least, most;
	const char *least_name, *most_name;
};

static struct rate_range range_of(const struct cpl_network *net)
{
	struct rate_range r = {.least_name = NULL};

	for (int64_t i = 0; i < n_rates(net); i++) {
		int64_t class = i - CPL_INSIDES;
		const char *name;
		double rate;

		if (class < 0 &&
		    (!net->accelerators.per_node ||
		     isinf(net->accelerators.bandwidth[i])))
			continue;
		if (class >= 0 && class < net->n_classes &&
		    !net->link_class[class].count)
			continue;
		rate = rate_of(net, i, &name);
		if (!r.least_name || rate < r.least) {
			r.least = rate;
			r.least_name = name;
		}
		if (!r.most_name || rate > r.most) {
			r.most = rate;
			r.most_name = name;
		}
	}
	return r;
}

bool cpl_network_has_bandwidths(const struct cpl_network *net)
{
	struct rate_range r = range_of(net);

	return r.least != 1 || r.most != 1;
}

int cpl_network_check_bandwidths(const struct cpl_network *net,
                                 struct cpl_error *err)
{
	struct rate_range r = range_of(net);

	if (r.least != 1 || r.most < LEAST_PLAUSIBLE)
		return 0;
	return cpl_fail(err,
	                "bandwidth: \"%s\" is not stated and would be 1 byte/s "
	                "next to %g of \"%s\"; state all of them or none",
	                r.least_name, r.most, r.most_name);
}

int cpl_network_doubt_bandwidths(const struct cpl_network *net,
                                 struct cpl_error *err)
{
	struct rate_range r = range_of(net);

	if (r.most > MOST_PLAUSIBLE)
		return cpl_fail(err,
		                "%g bytes/s of \"%s\" are more than any link "
		                "has; if bits are meant, they are %g bytes/s",
		                r.most, r.most_name, r.most / 8);
	if (r.most < RATIO_MAX || r.most >= LEAST_PLAUSIBLE)
		return 0;
	return cpl_fail(err,
	                "%g bytes/s of \"%s\" are less than any link has; if "
	                "Gbit/s are meant, they are %g bytes/s",
	                r.most, r.most_name, r.most * 1.25e8);
}
