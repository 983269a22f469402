/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "placement/decide_internal.h"

/* Entries of one seat's row, collected densely. */
struct row {
	double *bytes, *messages; /* [seats] */
	int *touched;
	unsigned char *is_touched;
	int n;
};

static void add_rank(const struct cpl_comm *comm, int rank, int per_node,
                     struct row *row)
{
	for (int64_t e = comm->row[rank]; e < comm->row[rank + 1]; e++) {
		int to = comm->to[e] / per_node;

		if (!row->is_touched[to]) {
			row->is_touched[to] = 1;
			row->touched[row->n++] = to;
		}
		row->bytes[to] += comm->bytes[e];
		row->messages[to] += comm->messages[e];
	}
}

static int push_row(struct row *row, int seat, struct cpl_comm_entry **entry,
                    int64_t *n, int64_t *room)
{
	if (*n + row->n > *room) {
		int64_t more = 2 * *room + row->n;
		struct cpl_comm_entry *p =
		        realloc(*entry, (size_t)more * sizeof(*p));

		if (!p)
			return -1;
		*entry = p;
		*room = more;
	}
	for (int i = 0; i < row->n; i++) {
		int to = row->touched[i];

		(*entry)[(*n)++] = (struct cpl_comm_entry){
		        .from = seat,
		        .to = to,
		        .bytes = row->bytes[to],
		        .messages = row->messages[to],
		};
		row->bytes[to] = row->messages[to] = 0;
		row->is_touched[to] = 0;
	}
	row->n = 0;
	return 0;
}

static struct cpl_comm *between_seats(const struct cpl_comm *comm, int per_node,
                                      int n_seats, struct cpl_error *err)
{
	size_t n = (size_t)n_seats;
	struct row row = {
	        .bytes = calloc(n, sizeof(*row.bytes)),
	        .messages = calloc(n, sizeof(*row.messages)),
	        .touched = malloc(n * sizeof(*row.touched)),
	        .is_touched = calloc(n, 1),
	};
	struct cpl_comm_entry *entry = NULL;
	struct cpl_comm *seats = NULL;
	int64_t n_entries = 0, room = 0;

	if (!row.bytes || !row.messages || !row.touched || !row.is_touched)
		goto memory;
	for (int rank = 0; rank < comm->ranks; rank++) {
		add_rank(comm, rank, per_node, &row);
		if ((rank + 1) % per_node && rank + 1 < comm->ranks)
			continue;
		if (push_row(&row, rank / per_node, &entry, &n_entries, &room))
			goto memory;
	}
	seats = cpl_comm_build(n_seats, entry, n_entries, err);
	goto out;
memory:
	cpl_fail_memory(err);
out:
	free(entry);
	free(row.bytes);
	free(row.messages);
	free(row.touched);
	free(row.is_touched);
	return seats;
}

int cpl_evaluator_init(struct cpl_evaluator *ev,
                       const struct cpl_decide_request *req,
                       struct cpl_error *err)
{
	*ev = (struct cpl_evaluator){.req = req};
	ev->seats = between_seats(req->comm, req->ranks_per_node,
	                          req->place.n_nodes_wanted, err);
	if (!ev->seats)
		return -1;
	ev->work = cpl_traffic_work_new(req->place.net, ev->seats, err);
	if (!ev->work)
		return -1;
	return cpl_load_init(&ev->load, req->place.net, err);
}

void cpl_evaluator_run(struct cpl_evaluator *ev, const int *node,
                       struct cpl_metrics *metrics, struct cpl_job_sums *sums)
{
	cpl_evaluator_run_by(ev, ev->req->routing, node, metrics, sums);
}

void cpl_evaluator_run_by(struct cpl_evaluator *ev,
                          const struct cpl_routing *routing, const int *node,
                          struct cpl_metrics *metrics,
                          struct cpl_job_sums *sums)
{
	const struct cpl_decide_request *req = ev->req;

	cpl_load_clear(&ev->load, req->place.net);
	cpl_traffic_add(req->place.net, routing, ev->seats, node, ev->work,
	                &ev->load, sums);
	cpl_traffic_metrics(req->place.net, &ev->load, req->background,
	                    metrics);
}

void cpl_evaluator_free(struct cpl_evaluator *ev)
{
	cpl_comm_free(ev->seats);
	cpl_traffic_work_free(ev->work);
	cpl_load_free(&ev->load);
}
