/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/cost.h"

#include <math.h>
#include <stdlib.h>

const struct cpl_price_entry cpl_price_list[CPL_PRICES] = {
        [CPL_PRICE_ROUTER] = {"router", 646.11, 0},
        [CPL_PRICE_PORT] = {"port", 140.11, 0},
        [CPL_PRICE_ROUTER_FACTOR] = {"router-factor", 2, 0},
        [CPL_PRICE_COPPER] = {"copper", 56.2, 0},
        [CPL_PRICE_COPPER_METRE] = {"copper-metre", 10.743, 0},
        [CPL_PRICE_OPTICAL] = {"optical", 340.95, 0},
        [CPL_PRICE_OPTICAL_METRE] = {"optical-metre", 5.787, 0},
        [CPL_PRICE_OPTICAL_SQUARE] = {"optical-square", 0.028, 0},
        [CPL_PRICE_CABLE_FACTOR] = {"cable-factor", 1.35, 0},
        [CPL_PRICE_COPPER_MOST] = {"copper-most", 6, 0},
        [CPL_PRICE_CABINET] = {"cabinet", 192, 1},
        [CPL_PRICE_WIDTH] = {"width", 0.6, 0},
        [CPL_PRICE_PITCH] = {"pitch", 2.4, 0},
        [CPL_PRICE_INSIDE] = {"inside", 1, 0},
        [CPL_PRICE_SLACK] = {"slack", 2, 0},
};

/* Where routers stand. */
struct floor {
	const struct cpl_network *net;
	const double *price;
	struct cpl_network_cost *out;
	int *cabinet; /* [n_routers] */
	int *ports;   /* [n_routers] */
	int row;      /* cabinets of a row */
};

static int nodes_of(const struct cpl_network *net, int router)
{
	return net->router_first[router + 1] - net->router_first[router];
}

/* Routers fill one cabinet after the other: those with nodes by nodes, the
 * others by ports. */
static void stand(struct floor *f)
{
	const struct cpl_network *net = f->net;
	double room = f->price[CPL_PRICE_CABINET], used = 0, ports = 0;
	int cabinet = 0;

	for (int r = 0; r < net->n_node_routers; r++) {
		if (used > 0 && used + nodes_of(net, r) > room) {
			cabinet++;
			used = 0;
		}
		used += nodes_of(net, r);
		ports += f->ports[r];
		f->cabinet[r] = cabinet;
	}
	/* The other cabinets have as many ports as those with nodes. */
	room = ceil(ports / (cabinet + 1));
	used = room;
	for (int r = net->n_node_routers; r < net->n_routers; r++) {
		if (used + f->ports[r] > room) {
			cabinet++;
			used = 0;
		}
		used += f->ports[r];
		f->cabinet[r] = cabinet;
	}
	f->out->cabinets = cabinet + 1;
	/* Rows * pitch is as long as a row. */
	f->row = (int)ceil(sqrt((double)f->out->cabinets *
	                        f->price[CPL_PRICE_PITCH] /
	                        fmax(f->price[CPL_PRICE_WIDTH], 1e-9)));
	if (f->row > f->out->cabinets)
		f->row = f->out->cabinets;
	if (f->row < 1)
		f->row = 1;
}

static void count_ports(struct floor *f)
{
	const struct cpl_network *net = f->net;

	for (int64_t l = 0; l < net->n_links; l++)
		f->ports[net->link_from[l]] +=
		        net->link_class[net->link_class_of[l]].cables;
	for (int n = 0; n < net->n_nodes; n++)
		for (int p = 0; net->node_name[n] && p < net->n_ports; p++)
			f->ports[net->port_router[n * net->n_ports + p]]++;
}

static double length(const struct floor *f, int a, int b)
{
	a = f->cabinet[a];
	b = f->cabinet[b];
	if (a == b)
		return f->price[CPL_PRICE_INSIDE];
	return abs(a % f->row - b % f->row) * f->price[CPL_PRICE_WIDTH] +
	       abs(a / f->row - b / f->row) * f->price[CPL_PRICE_PITCH] +
	       f->price[CPL_PRICE_SLACK];
}

/* How many times half a cable: links are directed. */
static void lay(struct floor *f, double x, int64_t halves, int64_t *copper,
                int64_t *optical)
{
	const double *p = f->price;
	double n = (double)halves / 2;

	f->out->metres += n * x;
	if (x <= p[CPL_PRICE_COPPER_MOST]) {
		*copper += halves;
		f->out->copper_cost += n * p[CPL_PRICE_CABLE_FACTOR] *
		                       (p[CPL_PRICE_COPPER] +
		                        p[CPL_PRICE_COPPER_METRE] * x);
	} else {
		*optical += halves;
		f->out->optical_cost += n * p[CPL_PRICE_CABLE_FACTOR] *
		                        (p[CPL_PRICE_OPTICAL] +
		                         p[CPL_PRICE_OPTICAL_METRE] * x +
		                         p[CPL_PRICE_OPTICAL_SQUARE] * x * x);
	}
}

static void lay_all(struct floor *f)
{
	const struct cpl_network *net = f->net;
	int64_t copper = 0, optical = 0;

	for (int64_t l = 0; l < net->n_links; l++)
		lay(f, length(f, net->link_from[l], net->link_to[l]),
		    net->link_class[net->link_class_of[l]].cables, &copper,
		    &optical);
	for (int n = 0; n < net->n_nodes; n++)
		for (int p = 0; net->node_name[n] && p < net->n_ports; p++)
			lay(f,
			    length(f, net->port_router[n * net->n_ports],
			           net->port_router[n * net->n_ports + p]),
			    2, &copper, &optical);
	f->out->copper = (copper + 1) / 2;
	f->out->optical = (optical + 1) / 2;
}

int cpl_network_cost(const struct cpl_network *net, const double *price,
                     struct cpl_network_cost *out, struct cpl_error *err)
{
	size_t n = (size_t)net->n_routers + 1;
	struct floor f = {.net = net,
	                  .price = price,
	                  .out = out,
	                  .cabinet = calloc(n, sizeof(int)),
	                  .ports = calloc(n, sizeof(int))};
	int rc = 0;

	*out = (struct cpl_network_cost){0};
	if (!f.cabinet || !f.ports) {
		rc = cpl_fail_memory(err);
	} else {
		count_ports(&f);
		stand(&f);
		lay_all(&f);
		for (int r = 0; r < net->n_routers; r++)
			out->ports += f.ports[r];
		out->router_cost =
		        price[CPL_PRICE_ROUTER_FACTOR] *
		        (net->n_routers * price[CPL_PRICE_ROUTER] +
		         (double)out->ports * price[CPL_PRICE_PORT]);
	}
	cpl_free_all(f.cabinet, f.ports);
	return rc;
}
