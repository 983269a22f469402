/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "map_compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_inputs.h"

struct row {
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
	struct row *row;
	struct row reference; /* the default order */
	struct cpl_traffic_work *work;
	struct cpl_load load;
	int *rank_host, *rank_node;
};

/* Sum over pairs of messages, both ways, times hops (Sharunov 2017). */
static double ienpc(const struct comparison *c)
{
	const struct cpl_map_request *req = c->req;
	const struct cpl_comm *comm = req->comm;
	double sum = 0;

	for (int r = 0; r < comm->ranks; r++) {
		int from = cpl_network_router(req->net, c->rank_node[r]);

		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++)
			sum += comm->messages[e] *
			       req->routing->hops(
			               req->net, from,
			               cpl_network_router(
			                       req->net,
			                       c->rank_node[comm->to[e]]));
	}
	return sum;
}

static void evaluate(struct comparison *c, struct row *row)
{
	const struct cpl_map_request *req = c->req;
	double n = 0;

	for (int h = 0; h < req->n_hosts; h++)
		n += req->slots[h] > 0;
	for (int r = 0; r < req->comm->ranks; r++)
		c->rank_node[r] = req->host[c->rank_host[r]];
	cpl_load_clear(&c->load, req->net);
	cpl_traffic_add(req->net, req->routing, req->comm, c->rank_node,
	                c->work, &c->load, &row->sums);
	cpl_traffic_metrics(req->net, &c->load, req->background, &row->metrics);
	row->ienpc = ienpc(c);
	row->wtad = n > 1 ? 2 * row->ienpc / (n * (n - 1)) : 0;
}

static int run_all(struct comparison *c, void (*start)(void *arg),
                   struct cpl_error *err)
{
	struct cpl_map_request with_option = *c->req, *req = &with_option;

	if (cpl_map_run(&cpl_mapper_linear, req, c->rank_host, err))
		return -1;
	evaluate(c, &c->reference);
	for (int i = 0; i < c->n; i++) {
		struct row *row = &c->row[i];
		double begin = job_clock();

		if (start)
			start(req->expired_arg);
		req->option = cpl_mapper_option(row->name);
		if (cpl_map_run(row->mapper, req, c->rank_host, &row->err))
			continue;
		row->seconds = job_clock() - begin;
		evaluate(c, row);
		row->hybrid = cpl_metrics_hybrid(
		        &row->metrics, row->sums.hop_bytes,
		        &c->reference.metrics, c->reference.sums.hop_bytes);
	}
	return 0;
}

static int find_mappers(struct comparison *c, const char *names,
                        struct cpl_error *err)
{
	const struct cpl_mapper *const *all = cpl_mapper_all();
	int max = 1;

	for (int i = 0; all[i]; i++)
		max++;
	for (const char *p = names; *p; p++)
		max += *p == ',';
	c->row = calloc((size_t)max, sizeof(*c->row));
	if (!c->row)
		return cpl_fail_memory(err);
	if (!strcmp(names, "all")) {
		while (all[c->n]) {
			c->row[c->n].mapper = all[c->n];
			snprintf(c->row[c->n].name, sizeof(c->row->name), "%s",
			         all[c->n]->name);
			c->n++;
		}
		return 0;
	}
	for (const char *p = names;; p++) {
		size_t length = strcspn(p, ",");
		struct row *row = &c->row[c->n];
		const char *option;
		char word[96];

		snprintf(word, sizeof(word), "%.*s",
		         length < sizeof(word) ? (int)length : 95, p);
		row->mapper = cpl_mapper_find(word, err);
		if (!row->mapper)
			return cpl_fail_prefix(err, "--compare: ");
		option = cpl_mapper_option(word);
		snprintf(row->name, sizeof(row->name), "%s%s%s",
		         row->mapper->name, option ? ":" : "",
		         option ? option : "");
		c->n++;
		p += length;
		if (!*p)
			return 0;
	}
}

static json_t *to_json(const struct comparison *c)
{
	json_t *rows = json_array();

	for (int i = 0; i < c->n; i++) {
		const struct row *r = &c->row[i];
		json_t *out;

		if (r->err.text[0]) {
			json_array_append_new(
			        rows, json_pack("{s:s, s:s}", "algorithm",
			                        r->name, "error", r->err.text));
			continue;
		}
		out = job_metrics_json(&r->metrics, &r->sums);
		json_object_set_new(out, "algorithm", json_string(r->name));
		json_object_set_new(out, "hybrid", json_real(r->hybrid));
		json_object_set_new(out, "wtad", json_real(r->wtad));
		json_object_set_new(out, "ienpc", json_real(r->ienpc));
		json_object_set_new(out, "seconds", json_real(r->seconds));
		json_array_append_new(rows, out);
	}
	return json_pack("{s:s, s:o}", "routing", c->req->routing->name, "rows",
	                 rows);
}

static int print_table(const struct comparison *c)
{
	struct cmd_table *table = cmd_table_new(9, "lrrrrrrrr");

	cmd_table_row(table, "algorithm", "hop-bytes", "max congestion", "NZCA",
	              "NZCV", "hybrid", "WTAD", "IeNPC", "seconds");
	for (int i = 0; i < c->n; i++) {
		const struct row *r = &c->row[i];
		char text[8][32];
		const double value[] = {r->metrics.max_congestion,
		                        r->metrics.nonzero_average,
		                        r->metrics.nonzero_variance};

		if (r->err.text[0]) {
			cmd_table_row(table, r->name, "-", "-", "-", "-", "-",
			              "-", "-", "-");
			continue;
		}
		cmd_bytes(r->sums.hop_bytes, text[0], sizeof(text[0]));
		for (int k = 0; k < 3; k++)
			snprintf(text[1 + k], sizeof(text[0]), "%.4g",
			         value[k]);
		snprintf(text[4], sizeof(text[0]), "%.3f", r->hybrid);
		snprintf(text[5], sizeof(text[0]), "%.4g", r->wtad);
		snprintf(text[6], sizeof(text[0]), "%.10g", r->ienpc);
		snprintf(text[7], sizeof(text[0]), "%.3f", r->seconds);
		cmd_table_row(table, r->name, text[0], text[1], text[2],
		              text[3], text[4], text[5], text[6], text[7]);
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
	c.rank_node = malloc(ranks * sizeof(*c.rank_node));
	if (!c.rank_host || !c.rank_node) {
		cpl_fail_memory(&err);
		goto out;
	}
	if (find_mappers(&c, names, &err))
		goto out;
	req.graph = graph = cpl_comm_symmetric(req.comm, &err);
	c.work = graph ? cpl_traffic_work_new(req.net, req.comm, &err) : NULL;
	if (!c.work || cpl_load_init(&c.load, req.net, &err) ||
	    run_all(&c, start, &err))
		goto out;
	rc = json ? cmd_print_json(self, to_json(&c)) : print_table(&c);
out:
	if (err.text[0])
		cmd_fail(self, &err);
	cpl_comm_free(graph);
	cpl_traffic_work_free(c.work);
	cpl_load_free(&c.load);
	free(c.row);
	free(c.rank_host);
	free(c.rank_node);
	return rc;
}
