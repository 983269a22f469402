/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "door/forms.h"

#include <stdlib.h>
#include <string.h>

static size_t left(const struct cpl_unpacker *in)
{
	return in->bad ? 0 : (size_t)(in->end - in->at);
}

void cpl_form_put_bytes(struct cpl_packer *o, const void *data, size_t n)
{
	cpl_put_number(o, n);
	cpl_put(o, data, n);
}

const void *cpl_form_get_bytes(struct cpl_unpacker *in, size_t *n)
{
	uint64_t size = cpl_get_number(in);
	const void *data = in->at;

	*n = 0;
	if (size > left(in))
		in->bad = true;
	if (in->bad)
		return NULL;
	in->at += size;
	*n = (size_t)size;
	return data;
}

/* With its zero, so that it can be read where it stands; NULL: no bytes. */
void cpl_form_put_text(struct cpl_packer *o, const char *text)
{
	cpl_form_put_bytes(o, text, text ? strlen(text) + 1 : 0);
}

const char *cpl_form_get_text(struct cpl_unpacker *in)
{
	size_t n;
	const char *text = cpl_form_get_bytes(in, &n);

	if (!n)
		return NULL;
	if (memchr(text, '\0', n) != text + n - 1) {
		in->bad = true;
		return NULL;
	}
	return text;
}

void cpl_form_put_signed(struct cpl_packer *o, int64_t value)
{
	cpl_put_number(o, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

int64_t cpl_form_get_signed(struct cpl_unpacker *in)
{
	uint64_t n = cpl_get_number(in);

	return (int64_t)(n >> 1 ^ (n & 1 ? UINT64_MAX : 0));
}

void cpl_form_put_ints(struct cpl_packer *o, const int *value, int n)
{
	int64_t last = 0;

	cpl_put_number(o, (uint64_t)n);
	for (int i = 0; i < n; i++) {
		cpl_form_put_signed(o, value[i] - last);
		last = value[i];
	}
}

int *cpl_form_get_ints(struct cpl_unpacker *in, int *n)
{
	uint64_t many = cpl_get_number(in);
	int64_t last = 0;
	int *value = NULL;

	*n = 0;
	/* Each takes a byte at least. */
	if (many <= left(in) && many <= INT32_MAX)
		value = malloc(((size_t)many + 1) * sizeof(*value));
	for (uint64_t i = 0; value && i < many && !in->bad; i++) {
		last = (int64_t)((uint64_t)last +
		                 (uint64_t)cpl_form_get_signed(in));
		if (last < INT32_MIN || last > INT32_MAX)
			in->bad = true;
		else
			value[i] = (int)last;
	}
	if (!value || in->bad) {
		in->bad = true;
		free(value);
		return NULL;
	}
	*n = (int)many;
	return value;
}

void cpl_form_put_runs(struct cpl_packer *o, const uint64_t *value, int n)
{
	for (int i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && value[end] == value[i];)
			end++;
		cpl_put_number(o, (uint64_t)(end - i));
		cpl_put_number(o, value[i]);
	}
}

void cpl_form_get_runs(struct cpl_unpacker *in, uint64_t *value, int n)
{
	for (int i = 0; i < n && !in->bad;) {
		uint64_t many = cpl_get_number(in);
		uint64_t each = cpl_get_number(in);

		if (!many || many > (uint64_t)(n - i))
			in->bad = true;
		for (; !in->bad && many; many--)
			value[i++] = each;
	}
}

void cpl_form_put_facts(struct cpl_packer *o, const struct cpl_job_facts *job)
{
	const char *const text[] = {job->profile, job->policy,   job->mapping,
	                            job->name,    job->qos,      job->account,
	                            job->command, job->partition};

	cpl_form_put_signed(o, job->id);
	cpl_put_number(o, job->uid);
	cpl_put_number(o, job->gid);
	cpl_put_number(o, job->has_uid);
	cpl_put_number(o, (uint64_t)job->nodes);
	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++)
		cpl_form_put_text(o, text[i]);
}

static uint32_t get_u32(struct cpl_unpacker *in)
{
	uint64_t n = cpl_get_number(in);

	if (n > UINT32_MAX)
		in->bad = true;
	return in->bad ? 0 : (uint32_t)n;
}

static bool get_bool(struct cpl_unpacker *in)
{
	return cpl_get_int(in, 1) == 1;
}

void cpl_form_get_facts(struct cpl_unpacker *in, struct cpl_job_facts *job)
{
	const char **const text[] = {
	        &job->profile, &job->policy,  &job->mapping, &job->name,
	        &job->qos,     &job->account, &job->command, &job->partition};

	job->id = cpl_form_get_signed(in);
	job->uid = get_u32(in);
	job->gid = get_u32(in);
	job->has_uid = get_bool(in);
	job->nodes = cpl_get_int(in, INT32_MAX);
	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++)
		*text[i] = cpl_form_get_text(in);
}

void cpl_form_put_submission(struct cpl_packer *o,
                             const struct cpl_submission *s)
{
	cpl_form_put_facts(o, &s->job);
	cpl_form_put_signed(o, s->ranks);
	cpl_put_number(o, s->min_implied);
	cpl_put_number(o, s->max_implied);
	cpl_form_put_text(o, s->record);
}

void cpl_form_get_submission(struct cpl_unpacker *in, struct cpl_submission *s)
{
	cpl_form_get_facts(in, &s->job);
	s->ranks = cpl_form_get_signed(in);
	s->min_implied = get_u32(in);
	s->max_implied = get_u32(in);
	s->record = cpl_form_get_text(in);
}

void cpl_form_put_verdict(struct cpl_packer *o, const struct cpl_verdict *v)
{
	cpl_put_number(o, v->refused);
	cpl_form_put_text(o, v->message);
	cpl_form_put_text(o, v->attach);
	cpl_form_put_text(o, v->comment);
	cpl_form_put_text(o, v->record);
	cpl_form_put_text(o, v->store);
}

static char *copy(struct cpl_unpacker *in)
{
	const char *text = cpl_form_get_text(in);

	return text ? strdup(text) : NULL;
}

void cpl_form_get_verdict(struct cpl_unpacker *in, struct cpl_verdict *v)
{
	v->refused = get_bool(in);
	v->message = copy(in);
	v->attach = copy(in);
	v->comment = copy(in);
	v->record = copy(in);
	v->store = copy(in);
}

static void put_need(struct cpl_packer *o, const struct cpl_need *need)
{
	cpl_put_number(o, need->min_nodes);
	cpl_put_number(o, need->max_nodes);
	cpl_put_number(o, need->nodes);
	cpl_put_number(o, need->cpus);
	cpl_put_number(o, need->node_cpus);
	cpl_put_number(o, need->cpus_per_task);
	cpl_put_number(o, need->tasks_per_node);
	cpl_put_number(o, need->overcommit);
}

static void get_need(struct cpl_unpacker *in, struct cpl_need *need)
{
	need->min_nodes = get_u32(in);
	need->max_nodes = get_u32(in);
	need->nodes = get_u32(in);
	need->cpus = get_u32(in);
	need->node_cpus = get_u32(in);
	need->cpus_per_task = get_u32(in);
	need->tasks_per_node = get_u32(in);
	need->overcommit = get_bool(in);
}

void cpl_form_put_request(struct cpl_packer *o,
                          const struct cpl_engine_request *req)
{
	cpl_form_put_facts(o, &req->job);
	put_need(o, &req->need);
	cpl_form_put_signed(o, req->array_id);
	cpl_put_number(o, (uint64_t)req->ranks);
	cpl_put_number(o, (uint64_t)req->n_hosts);
	cpl_form_put_ints(o, req->required, req->n_required);
	cpl_put_number(o, req->own_order);
	cpl_put_number(o, req->batch);
	cpl_form_put_text(o, req->rules);
	cpl_form_put_text(o, req->units);
	cpl_put_number(o, req->segments);
	cpl_put_number(o, req->by_stock);
	cpl_form_put_text(o, req->stock_reason);
	cpl_put_number(o, req->start);
}

void cpl_form_get_request(struct cpl_unpacker *in,
                          struct cpl_engine_request *req, int **required)
{
	memset(req, 0, sizeof(*req));
	cpl_form_get_facts(in, &req->job);
	get_need(in, &req->need);
	req->array_id = cpl_form_get_signed(in);
	req->ranks = cpl_get_int(in, INT32_MAX);
	req->n_hosts = cpl_get_int(in, INT32_MAX);
	req->required = *required = cpl_form_get_ints(in, &req->n_required);
	req->own_order = get_bool(in);
	req->batch = get_bool(in);
	req->rules = cpl_form_get_text(in);
	req->units = cpl_form_get_text(in);
	req->segments = get_bool(in);
	req->by_stock = get_bool(in);
	in->bad |= (req->rules != NULL) != (req->units != NULL);
	req->stock_reason = cpl_form_get_text(in);
	req->start = get_bool(in);
}

void cpl_form_put_measured(struct cpl_packer *o, const uint32_t *cpus,
                           const uint64_t *rank, struct cpl_engine_span span)
{
	int n = span.end - span.first;
	uint64_t *wide =
	        cpus ? malloc(((size_t)n + 1) * sizeof(*wide)) : NULL;

	cpl_put_number(o, wide != NULL);
	if (!wide)
		return;
	for (int i = 0; i < n; i++)
		wide[i] = cpus[span.first + i];
	cpl_put_number(o, (uint64_t)span.first);
	cpl_put_number(o, (uint64_t)n);
	cpl_form_put_runs(o, wide, n);
	cpl_form_put_runs(o, rank + span.first, n);
	free(wide);
}

int cpl_form_get_measured(struct cpl_unpacker *in, int n_hosts, uint32_t *cpus,
                          uint64_t *rank, struct cpl_engine_span *span)
{
	uint64_t *wide;
	int n;

	if (!cpl_get_int(in, 1))
		return -1;
	span->first = cpl_get_int(in, n_hosts);
	n = cpl_get_int(in, n_hosts);
	if (in->bad || n > n_hosts - span->first)
		return -1;
	span->end = span->first + n;
	wide = malloc(((size_t)n + 1) * sizeof(*wide));
	if (!wide)
		return -1;
	cpl_form_get_runs(in, wide, n);
	for (int i = 0; i < n && !in->bad; i++)
		cpus[span->first + i] = (uint32_t)wide[i];
	cpl_form_get_runs(in, rank + span->first, n);
	free(wide);
	return in->bad ? -1 : 0;
}

void cpl_form_put_allocation(struct cpl_packer *o,
                             const struct cpl_engine_allocation *a)
{
	cpl_form_put_signed(o, a->id);
	cpl_form_put_facts(o, &a->job);
	cpl_put_number(o, (uint64_t)a->ranks);
	cpl_form_put_signed(o, a->array_id);
	cpl_form_put_text(o, a->shown_as);
	cpl_form_put_ints(o, a->host, a->n_hosts);
	cpl_put_number(o, a->own_order);
	cpl_put_number(o, a->order_max);
}

void cpl_form_get_allocation(struct cpl_unpacker *in,
                             struct cpl_engine_allocation *a, int **host)
{
	memset(a, 0, sizeof(*a));
	a->id = cpl_form_get_signed(in);
	cpl_form_get_facts(in, &a->job);
	a->ranks = cpl_get_int(in, INT32_MAX);
	a->array_id = cpl_form_get_signed(in);
	a->shown_as = cpl_form_get_text(in);
	a->host = *host = cpl_form_get_ints(in, &a->n_hosts);
	a->own_order = get_bool(in);
	a->order_max = cpl_get_number(in);
}

/* The tasks of the nodes, and of each node its ranks: as runs, since a step in
 * blocks has them in a row. */
static void put_ids(struct cpl_packer *o, const struct cpl_engine_step *step)
{
	for (int i = 0; i < step->n_hosts; i++) {
		int64_t next = 0;

		for (int k = 0; k < step->tasks[i]; k++) {
			cpl_form_put_signed(o, step->ids[i][k] - next);
			next = (int64_t)step->ids[i][k] + 1;
		}
	}
}

static void get_ids(struct cpl_unpacker *in, const struct cpl_engine_step *step)
{
	for (int i = 0; i < step->n_hosts; i++) {
		int64_t next = 0;

		for (int k = 0; k < step->tasks[i] && !in->bad; k++) {
			next = (int64_t)((uint64_t)next +
			                 (uint64_t)cpl_form_get_signed(in));
			if (next < 0 || next > UINT32_MAX)
				in->bad = true;
			else
				step->ids[i][k] = (uint32_t)next++;
		}
	}
}

void cpl_form_put_step(struct cpl_packer *o, const struct cpl_engine_step *step)
{
	cpl_form_put_facts(o, &step->job);
	cpl_form_put_text(o, step->hosts);
	cpl_put_number(o, (uint64_t)step->ranks);
	cpl_put_number(o, step->own_order);
	cpl_put_number(o, step->part);
	cpl_put_number(o, step->limit);
	cpl_put_number(o, (uint64_t)step->n_hosts);
	for (int i = 0; i < step->n_hosts; i++)
		cpl_put_number(o, step->tasks[i]);
	put_ids(o, step);
}

/* What the tasks of a step are in. */
struct step_memory {
	uint16_t *tasks;
	uint32_t **ids, *all;
};

/* How many tasks its nodes have; each takes a byte of what follows. */
static size_t get_tasks(struct cpl_unpacker *in, int n, uint16_t *tasks)
{
	size_t sum = 0;

	for (int i = 0; i < n && !in->bad; i++) {
		tasks[i] = (uint16_t)cpl_get_int(in, UINT16_MAX);
		sum += tasks[i];
	}
	if (sum > left(in))
		in->bad = true;
	return sum;
}

void cpl_form_get_step(struct cpl_unpacker *in, struct cpl_engine_step *step,
                       void **memory)
{
	uint32_t *id = NULL, **ids;
	uint16_t *tasks;
	size_t n, sum;

	memset(step, 0, sizeof(*step));
	*memory = NULL;
	cpl_form_get_facts(in, &step->job);
	step->hosts = cpl_form_get_text(in);
	step->ranks = cpl_get_int(in, INT32_MAX);
	step->own_order = get_bool(in);
	step->part = get_bool(in);
	step->limit = cpl_get_number(in);
	n = (size_t)cpl_get_int(in, INT32_MAX);
	if (in->bad || !step->hosts || n > left(in)) {
		in->bad = true;
		return;
	}
	tasks = malloc((n + 1) * sizeof(*tasks));
	if (!tasks) {
		in->bad = true;
		return;
	}
	sum = get_tasks(in, (int)n, tasks);
	/* One piece: pointers, ranks, tasks. */
	ids = in->bad ? NULL
	              : malloc(n * sizeof(*ids) + sum * sizeof(*id) +
	                       (n + 1) * sizeof(*tasks));
	if (!ids) {
		free(tasks);
		in->bad = true;
		return;
	}
	*memory = ids;
	id = (uint32_t *)(ids + n);
	step->tasks = memcpy(id + sum, tasks, n * sizeof(*tasks));
	free(tasks);
	for (size_t i = 0; i < n; i++) {
		ids[i] = id;
		id += step->tasks[i];
	}
	step->ids = ids;
	step->n_hosts = (int)n;
	get_ids(in, step);
}

void cpl_form_put_layout(struct cpl_packer *o,
                         const struct cpl_engine_step *step,
                         const struct cpl_engine_layout *layout)
{
	cpl_put_number(o, layout->changed);
	cpl_form_put_bytes(o, layout->data, layout->data ? layout->size : 0);
	cpl_form_put_text(o, layout->unchanged.text);
	cpl_form_put_text(o, layout->travel.text);
	if (layout->changed)
		put_ids(o, step);
}

void cpl_form_get_error(struct cpl_unpacker *in, struct cpl_error *err)
{
	const char *text = cpl_form_get_text(in);

	if (text)
		cpl_fail(err, "%s", text);
}

/* Into the step, where they are its ranks, each once. */
static void take_ids(struct cpl_unpacker *in,
                     const struct cpl_engine_step *step)
{
	size_t ranks = (size_t)step->ranks, sum = 0, at = 0;
	uint32_t **row = NULL, *id = NULL;
	unsigned char *seen = NULL;

	for (int i = 0; i < step->n_hosts; i++)
		sum += step->tasks[i];
	row = malloc(((size_t)step->n_hosts + 1) * sizeof(*row));
	id = malloc((sum + 1) * sizeof(*id));
	seen = calloc(ranks + 1, 1);
	if (!row || !id || !seen || sum != ranks)
		in->bad = true;
	for (int i = 0; !in->bad && i < step->n_hosts; i++) {
		row[i] = id + at;
		at += step->tasks[i];
	}
	if (!in->bad)
		get_ids(in, &(struct cpl_engine_step){.n_hosts = step->n_hosts,
		                                      .tasks = step->tasks,
		                                      .ids = row});
	for (size_t r = 0; !in->bad && r < ranks; r++)
		if (id[r] >= ranks || seen[id[r]]++)
			in->bad = true;
	for (int i = 0; !in->bad && i < step->n_hosts; i++)
		memcpy(step->ids[i], row[i], step->tasks[i] * sizeof(*id));
	cpl_free_all(row, id, seen);
}

void cpl_form_get_layout(struct cpl_unpacker *in,
                         const struct cpl_engine_step *step,
                         struct cpl_engine_layout *layout)
{
	const void *data;

	layout->changed = get_bool(in);
	data = cpl_form_get_bytes(in, &layout->size);
	cpl_form_get_error(in, &layout->unchanged);
	cpl_form_get_error(in, &layout->travel);
	if (layout->size) {
		layout->data = malloc(layout->size);
		if (layout->data)
			memcpy(layout->data, data, layout->size);
	}
	if (layout->changed)
		take_ids(in, step);
	if (in->bad)
		layout->changed = false;
}
