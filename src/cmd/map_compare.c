/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms.h"
#include "traffic/workload.h"

struct mapper_row {
	const struct cpl_mapper *mapper;
	char name[128]; /* with its option */
	struct cpl_metrics metrics;
	struct cpl_job_sums sums;
	double ienpc, wtad, hybrid;
	double seconds;
	struct cpl_error err; /* "": it has an answer */
};

struct comparison {
	const struct cpl_map_request *req;
	int n;
	struct mapper_row *row;
	struct mapper_row reference; /* the default order */
	struct cpl_workload *workload;
	int *rank_host;
};

/* The station of a rank. */
static int station_of(const struct comparison *c, int rank)
{
	return cpl_network_station(c->req->net,
	                           c->req->host[c->rank_host[rank]]);
}

/* Sum over pairs of messages, both ways, times hops (Sharunov 2017). */
static double ienpc(const struct comparison *c)
{
	const struct cpl_map_request *req = c->req;
	const struct cpl_comm *comm = req->comm;
	double sum = 0;

	for (int r = 0; r < comm->ranks; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++)
			sum += comm->messages[e] *
			       cpl_station_hops(req->net, req->routing,
			                        station_of(c, r),
			                        station_of(c, comm->to[e]));
	return sum;
}

static int evaluate(struct comparison *c, struct mapper_row *row,
                    struct cpl_error *err)
{
	const struct cpl_map_request *req = c->req;
	struct cpl_job job = {.routing = req->routing,
	                      .comm = req->comm,
	                      .node = req->host,
	                      .rank_host = c->rank_host};
	double n = 0;

	for (int h = 0; h < req->n_hosts; h++)
		n += req->slots[h] > 0;
	if (cpl_workload_evaluate(c->workload, &job, req->background,
	                          &row->metrics, &row->sums, err))
		return -1;
	row->ienpc = ienpc(c);
	row->wtad = n > 1 ? 2 * row->ienpc / (n * (n - 1)) : 0;
	return 0;
}

static int run_all(struct comparison *c, void (*start)(void *arg),
                   struct cpl_error *err)
{
	struct cpl_map_request with_option = *c->req, *req = &with_option;

	if (cpl_map_run(&cpl_mapper_linear, req, c->rank_host, err) ||
	    evaluate(c, &c->reference, err))
		return -1;
	for (int i = 0; i < c->n; i++) {
		struct mapper_row *row = &c->row[i];
		double begin = cpl_clock();

		if (start)
			start(req->expired_arg);
		req->option = cpl_mapper_option(row->name);
		if (cpl_map_run(row->mapper, req, c->rank_host, &row->err))
			continue;
		row->seconds = cpl_clock() - begin;
		if (evaluate(c, row, err))
			return -1;
		row->hybrid = cpl_metrics_hybrid(
		        &row->metrics, row->sums.hop_bytes,
		        &c->reference.metrics, c->reference.sums.hop_bytes);
	}
	return 0;
}

static int add_row(struct comparison *c, const char *name,
                   struct cpl_error *err)
{
	struct mapper_row *row = &c->row[c->n];
	const char *option = cpl_mapper_option(name);

	row->mapper = cpl_mapper_find_in(CMD_MAPPERS, name, err);
	if (!row->mapper)
		return cpl_fail_prefix(err, "--compare: ");
	snprintf(row->name, sizeof(row->name), "%s%s%s", row->mapper->name,
	         option ? ":" : "", option ? option : "");
	c->n++;
	return 0;
}

static int find_mappers(struct comparison *c, const char *names,
                        struct cpl_error *err)
{
	char *text = strdup(names), *rest = text, *name;
	const struct cpl_entry *e;
	int most = 1, rc = 0;

	while (cpl_registry_at(CMD_MAPPERS, most - 1))
		most++;
	for (const char *s = names; *s; s++)
		most += *s == ',';
	c->row = calloc((size_t)most, sizeof(*c->row));
	if (!text || !c->row)
		rc = cpl_fail_memory(err);
	else if (!strcmp(names, "all"))
		while (!rc && (e = cpl_registry_at(CMD_MAPPERS, c->n)))
			rc = add_row(c, e->name, err);
	else
		while (!rc && (name = strsep(&rest, ",")))
			rc = add_row(c, name, err);
	free(text);
	return rc;
}

static json_t *to_json(const struct comparison *c)
{
	json_t *rows = json_array();

	for (int i = 0; i < c->n; i++) {
		const struct mapper_row *r = &c->row[i];
		json_t *out;

		if (r->err.text[0]) {
			cpl_json_append(rows, "{s:s, s:s}", "algorithm",
			                r->name, "error", r->err.text);
			continue;
		}
		out = job_metrics_json(&r->metrics, &r->sums);
		cpl_json_update(out, "{s:s, s:f, s:f, s:f, s:f}", "algorithm",
		                r->name, "hybrid", r->hybrid, "wtad", r->wtad,
		                "ienpc", r->ienpc, "seconds", r->seconds);
		json_array_append_new(rows, out);
	}
	return json_pack("{s:s, s:o}", "routing", c->req->routing->name, "rows",
	                 rows);
}

static int print_table(const struct comparison *c)
{
	struct cmd_table *table = cmd_table_new("lrrrrrrrr");

	cmd_table_row(table, "algorithm|hop-bytes|max congestion|NZCA|NZCV|"
	                     "hybrid|WTAD|IeNPC|seconds");
	for (int i = 0; i < c->n; i++) {
		const struct mapper_row *r = &c->row[i];

		if (r->err.text[0])
			cmd_table_row(table, "%s|-|-|-|-|-|-|-|-", r->name);
		else
			cmd_table_row(table,
			              "%s|%s|%.4g|%.4g|%.4g|%.3f|%.4g|%.10g|"
			              "%.3f",
			              r->name, CMD_BYTES(r->sums.hop_bytes),
			              r->metrics.max_congestion,
			              r->metrics.nonzero_average,
			              r->metrics.nonzero_variance, r->hybrid,
			              r->wtad, r->ienpc, r->seconds);
	}
	if (cmd_table_print(table) != CMD_OK)
		return CMD_FAILED;
	for (int i = 0; i < c->n; i++)
		if (c->row[i].err.text[0])
			printf("%s: %s\n", c->row[i].name, c->row[i].err.text);
	return CMD_OK;
}

int map_compare(const struct cmd *self, const struct cpl_map_request *request,
                const char *names, bool json, void (*start)(void *arg))
{
	struct cpl_map_request req = *request;
	struct comparison c = {.req = &req};
	size_t ranks = (size_t)req.comm->ranks;
	struct cpl_comm *graph = NULL;
	struct cpl_error err = {""};
	int rc = CMD_FAILED;

	c.rank_host = malloc(ranks * sizeof(*c.rank_host));
	if (!c.rank_host) {
		cpl_fail_memory(&err);
		goto out;
	}
	if (find_mappers(&c, names, &err))
		goto out;
	req.graph = graph = cpl_comm_symmetric(req.comm, &err);
	c.workload = graph ? cpl_workload_new(req.net, 1, &err) : NULL;
	if (!c.workload || run_all(&c, start, &err))
		goto out;
	rc = json ? cmd_print_json(self, to_json(&c)) : print_table(&c);
out:
	if (err.text[0])
		cmd_fail(self, &err);
	cpl_comm_free(graph);
	cpl_workload_free(c.workload);
	cpl_free_all(c.row, c.rank_host);
	return rc;
}
