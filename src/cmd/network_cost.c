/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `commplace network cost`: what routers and cables cost, by a price list. */
#include "network_cost.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int network_cost_take(const struct cmd *self, void *into, const char *option,
                      const char *value)
{
	struct network_prices *prices = into;
	size_t n = strcspn(value, "=");
	char *end;
	double v;

	for (int i = 0; i < CPL_PRICES; i++) {
		const struct cpl_price_entry *e = &cpl_price_list[i];

		if (strlen(e->name) != n || strncmp(e->name, value, n))
			continue;
		errno = 0;
		v = value[n] ? strtod(value + n + 1, &end) : 0;
		if (!value[n] || end == value + n + 1 || *end || errno ||
		    !isfinite(v) || v < e->least || v > 1e12)
			return cmd_failf(self,
			                 "%s: %s is a number from %g to 1e12, "
			                 "as in %s=%g",
			                 option, e->name, e->least, e->name,
			                 e->built_in);
		prices->given = true;
		prices->price[i] = v;
		return CMD_OK;
	}
	return cmd_failf(self,
	                 "%s: '%.40s' is no price; see commplace network "
	                 "--help",
	                 option, value);
}

void network_cost_defaults(struct network_prices *prices)
{
	prices->given = false;
	for (int i = 0; i < CPL_PRICES; i++)
		prices->price[i] = cpl_price_list[i].built_in;
}

static int print_json(const struct cmd *self, const struct cpl_network *net,
                      const struct network_prices *prices,
                      const struct cpl_network_cost *c, int hosts)
{
	double all = c->router_cost + c->copper_cost + c->optical_cost;
	json_t *list = json_object();

	for (int i = 0; i < CPL_PRICES; i++)
		json_object_set_new(list, cpl_price_list[i].name,
		                    json_real(prices->price[i]));
	return cmd_print_json(
	        self,
	        json_pack("{s:s, s:i, s:i, s:i, s:I, s:I, s:I, s:f, s:f, s:f, "
	                  "s:f, s:f, s:f, s:o}",
	                  "name", net->name, "nodes", hosts, "routers",
	                  net->n_routers, "cabinets", c->cabinets, "ports",
	                  (json_int_t)c->ports, "copper_cables",
	                  (json_int_t)c->copper, "optical_cables",
	                  (json_int_t)c->optical, "metres", c->metres,
	                  "router_cost", c->router_cost, "copper_cost",
	                  c->copper_cost, "optical_cost", c->optical_cost,
	                  "cost", all, "cost_per_node", all / hosts, "prices",
	                  list));
}

/* Percent; where nothing has a price, 0. */
static double share(double part, double all)
{
	return all > 0 ? 100 * part / all : 0;
}

static int print_text(const struct cpl_network *net,
                      const struct cpl_network_cost *c, int hosts)
{
	double all = c->router_cost + c->copper_cost + c->optical_cost;
	struct cmd_table *table = cmd_table_new("lrrr");

	printf("%s: %d nodes, %d routers with %" PRId64
	       " ports in use, %d cabinets, %.0f m of cables\n\n",
	       net->name, hosts, net->n_routers, c->ports, c->cabinets,
	       c->metres);
	cmd_table_row(table, "part|number|cost|of all");
	cmd_table_row(table, "routers|%d|%.0f|%.1f %%", net->n_routers,
	              c->router_cost, share(c->router_cost, all));
	cmd_table_row(table, "copper cables|%" PRId64 "|%.0f|%.1f %%",
	              c->copper, c->copper_cost, share(c->copper_cost, all));
	cmd_table_row(table, "optical cables|%" PRId64 "|%.0f|%.1f %%",
	              c->optical, c->optical_cost, share(c->optical_cost, all));
	cmd_table_row(table, "all||%.0f|", all);
	cmd_table_row(table, "each node||%.2f|", all / hosts);
	return cmd_table_print(table);
}

int network_cost(const struct cmd *self, const char *path,
                 const struct network_prices *prices, bool json)
{
	struct cpl_error err = {""};
	struct cpl_network *net = cpl_network_load(path, &err);
	struct cpl_network_cost c;
	int hosts, rc;

	if (!net)
		return cmd_fail(self, &err);
	hosts = cpl_network_hosts(net);
	if (cpl_network_cost(net, prices->price, &c, &err))
		rc = cmd_fail(self, &err);
	else
		rc = json ? print_json(self, net, prices, &c, hosts)
		          : print_text(net, &c, hosts);
	cpl_network_free(net);
	return rc;
}
