/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `commplace network cost`: what routers and cables cost, by a price list. */
#include "network_cost.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

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

int network_cost_performance(const struct cmd *self, void *into,
                             const char *option, const char *value)
{
	struct network_prices *prices = into;

	if (prices->n_simulations == NETWORK_MOST_SIMULATIONS)
		return cmd_failf(self, "%s: more than %d of them", option,
		                 NETWORK_MOST_SIMULATIONS);
	prices->simulation[prices->n_simulations++] = value;
	prices->given = true;
	return CMD_OK;
}

void network_cost_defaults(struct network_prices *prices)
{
	prices->given = false;
	prices->n_simulations = 0;
	for (int i = 0; i < CPL_PRICES; i++)
		prices->price[i] = cpl_price_list[i].built_in;
}

/* What one simulation tells: how long the longest of its runs takes. */
struct performance {
	const char *path;
	double seconds;
};

static double cost_of_all(const struct cpl_network_cost *c)
{
	return c->router_cost + c->copper_cost + c->optical_cost;
}

/* Runs a second for each million that the network costs. */
static double per_million(const struct performance *p,
                          const struct cpl_network_cost *c)
{
	return 1e6 / (p->seconds * cost_of_all(c));
}

static int longest_run(const json_t *root, const struct cpl_network *net,
                       double *seconds, struct cpl_error *err)
{
	const json_t *jobs = json_object_get(root, "jobs"), *job;
	const char *name = NULL;
	size_t i;

	if (cpl_json_string(root, "network", &name, err) < 0)
		return -1;
	if (!name || !json_array_size(jobs))
		return cpl_fail(err, "it must be what simulate --json prints");
	if (strcmp(name, net->name) != 0)
		return cpl_fail(err,
		                "it is of the network %.60s, not of %.60s",
		                name, net->name);
	*seconds = 0;
	json_array_foreach(jobs, i, job)
	{
		double run = 0;
		int rc = cpl_json_number(job, "run_seconds", 0, 1e100, &run,
		                         err);

		if (rc < 0)
			return cpl_fail_prefix(err, "jobs[%zu]: ", i);
		if (!rc)
			return cpl_fail(err,
			                "jobs[%zu]: \"run_seconds\" is missing",
			                i);
		*seconds = fmax(*seconds, run);
	}
	return *seconds > 0 ? 0 : cpl_fail(err, "its jobs take no time");
}

/* Reads the simulations; all is what the network costs. */
static int read_performances(const struct network_prices *prices,
                             const struct cpl_network *net, double all,
                             struct performance *out, struct cpl_error *err)
{
	if (prices->n_simulations && !(all > 0))
		return cpl_fail(err, "--performance: %.60s costs nothing",
		                net->name);
	for (int i = 0; i < prices->n_simulations; i++) {
		const char *path = prices->simulation[i];
		json_t *root = cpl_json_load(path, err);
		int rc;

		if (!root)
			return -1;
		rc = longest_run(root, net, &out[i].seconds, err);
		json_decref(root);
		if (rc)
			return cpl_fail_prefix(err, "%s: ", path);
		out[i].path = path;
	}
	return 0;
}

static json_t *performances_json(const struct performance *p, int n,
                                 const struct cpl_network_cost *c)
{
	json_t *out = json_array();

	for (int i = 0; i < n; i++)
		cpl_json_append(out, "{s:s, s:f, s:f}", "file", p[i].path,
		                "run_seconds", p[i].seconds,
		                "runs_per_second_and_million",
		                per_million(&p[i], c));
	return out;
}

static int print_json(const struct cmd *self, const struct cpl_network *net,
                      const struct network_prices *prices,
                      const struct cpl_network_cost *c, int hosts,
                      const struct performance *p)
{
	double all = cost_of_all(c);
	json_t *list = json_object(), *out;

	for (int i = 0; i < CPL_PRICES; i++)
		json_object_set_new(list, cpl_price_list[i].name,
		                    json_real(prices->price[i]));
	out = json_pack("{s:s, s:i, s:i, s:i, s:I, s:I, s:I, s:f, s:f, s:f, "
	                "s:f, s:f, s:f, s:o}",
	                "name", net->name, "nodes", hosts, "routers",
	                net->n_routers, "cabinets", c->cabinets, "ports",
	                (json_int_t)c->ports, "copper_cables",
	                (json_int_t)c->copper, "optical_cables",
	                (json_int_t)c->optical, "metres", c->metres,
	                "router_cost", c->router_cost, "copper_cost",
	                c->copper_cost, "optical_cost", c->optical_cost, "cost",
	                all, "cost_per_node", all / hosts, "prices", list);
	if (prices->n_simulations)
		json_object_set_new(
		        out, "performance",
		        performances_json(p, prices->n_simulations, c));
	return cmd_print_json(self, out);
}

/* Percent; where nothing has a price, 0. */
static double share(double part, double all)
{
	return all > 0 ? 100 * part / all : 0;
}

static int print_text(const struct cpl_network *net,
                      const struct cpl_network_cost *c, int hosts)
{
	double all = cost_of_all(c);
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

static int print_performances(const struct performance *p, int n,
                              const struct cpl_network_cost *c)
{
	struct cmd_table *table = cmd_table_new("lrr");

	putchar('\n');
	cmd_table_row(table, "simulation|seconds|runs a second and million");
	for (int i = 0; i < n; i++)
		cmd_table_row(table, "%s|%.6g|%.6g", p[i].path, p[i].seconds,
		              per_million(&p[i], c));
	return cmd_table_print(table);
}

int network_cost(const struct cmd *self, const char *path,
                 const struct network_prices *prices, bool json)
{
	struct cpl_error err = {""};
	struct cpl_network *net = cpl_network_load(path, &err);
	struct performance p[NETWORK_MOST_SIMULATIONS];
	struct cpl_network_cost c;
	int hosts, rc, n = prices->n_simulations;

	if (!net)
		return cmd_fail(self, &err);
	hosts = cpl_network_hosts(net);
	if (cpl_network_cost(net, prices->price, &c, &err) ||
	    read_performances(prices, net, cost_of_all(&c), p, &err))
		rc = cmd_fail(self, &err);
	else if (json)
		rc = print_json(self, net, prices, &c, hosts, p);
	else
		rc = print_text(net, &c, hosts);
	if (rc == CMD_OK && n && !json)
		rc = print_performances(p, n, &c);
	cpl_network_free(net);
	return rc;
}
