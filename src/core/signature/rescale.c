/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "signature/rescale.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "signature/grid_model.h"

/* Entries that are looked at for each grid that is tried. */
#define SAMPLE 20000
/* Entries that are made. */
#define MAX_MADE (INT64_C(1) << 24)
/* Entries and ranks that are looked at while grids are tried: anybody may have
 * the scheduler rescale a profile. */
#define MAX_STEPS 1e9
/* Bytes of an entry that is made: in its phase, in the matrix of the whole run
 * and in its graph, as in matrix_budget; of a rank, rows of these. */
#define MADE_ENTRY 60
#define MADE_RANK 24

/* The next lengths of as many axes with this product, all at least 2 (but for
 * one axis alone), the first ones falling slowest; false behind the last. */
static bool next_lengths(int ranks, int n, int *length)
{
	int rest = ranks;

	for (int a = 0; a < n - 1; a++)
		rest /= length[a];
	/* As an odometer whose last axis follows from the others. */
	for (int a = n - 2; a >= 0; a--) {
		rest *= length[a];
		while (--length[a] >= 2)
			if (rest % length[a] == 0)
				break;
		if (length[a] < 2)
			continue;
		rest /= length[a];
		/* The ones behind it begin anew, with their largest. */
		for (int b = a + 1; b < n - 1; b++) {
			length[b] = rest;
			rest = 1;
		}
		length[n - 1] = rest;
		return true;
	}
	return false;
}

struct search {
	struct grid_sums sums;
	double *near;              /* [ranks] zeros */
	struct grid_model *model;  /* scratch */
	uint64_t max_bytes, bytes; /* 0: no limit; made so far */
};

static void search_free(struct search *x)
{
	free(x->sums.bytes);
	free(x->sums.messages);
	free(x->near);
	free(x->model);
}

static int search_init(struct search *x, int ranks, struct cpl_error *err)
{
	x->sums.bytes = malloc((size_t)ranks * sizeof(double));
	x->sums.messages = malloc((size_t)ranks * sizeof(double));
	x->near = calloc((size_t)ranks, sizeof(double));
	x->model = malloc(sizeof(*x->model));
	return x->sums.bytes && x->sums.messages && x->near && x->model
	               ? 0
	               : cpl_fail_memory(err);
}

/* A length of 1 is no axis. */
static bool is_whole(const int *length, int n)
{
	for (int a = 0; a < n && n > 1; a++)
		if (length[a] < 2)
			return false;
	return true;
}

/* Grids of so many ranks with n axes. */
static double count_grids(int ranks, int n)
{
	int length[RESCALE_DIMS] = {ranks, 1, 1, 1};
	double count = n == 1;

	while (n > 1 && next_lengths(ranks, n, length))
		count += is_whole(length, n);
	return count;
}

/* The grid with the smallest error; of equals the one with fewest axes, then
 * the first. */
static int find_grid(struct search *x, const struct cpl_comm *comm,
                     struct grid *best, struct cpl_error *err)
{
	struct grid_sample s = {comm, comm->ranks};
	double least = INFINITY, steps = 0;
	double looked = fmin((double)comm->n_entries, SAMPLE) + comm->ranks;

	if (comm->n_entries > SAMPLE) {
		s.n = (int)(comm->ranks * (double)SAMPLE / comm->n_entries);
		s.n = s.n < 64 ? 64 : s.n;
		s.n = s.n > comm->ranks ? comm->ranks : s.n;
	}
	best->n_dims = 0;
	for (int n = 1; n <= RESCALE_DIMS; n++) {
		struct grid *g = &x->model->grid;
		bool more = true;

		steps += looked * count_grids(comm->ranks, n);
		/* None is better than without an error. */
		if (least <= 1e-9 || steps > MAX_STEPS)
			break;
		*g = (struct grid){.n_dims = n};
		for (int a = 0; a < n; a++)
			g->dim[a] = a ? 1 : comm->ranks;
		if (n > 1)
			more = next_lengths(comm->ranks, n, g->dim);
		for (; more;
		     more = n > 1 && next_lengths(comm->ranks, n, g->dim)) {
			double apart = 0, both = 0;

			if (!is_whole(g->dim, n))
				continue;
			grid_set_strides(g);
			if (grid_model_find(x->model, &s, &x->sums))
				return cpl_fail_memory(err);
			grid_model_compare(x->model, &s, x->near, 1, &apart,
			                   &both);
			if (both > 0 && apart / both < least - 1e-9) {
				least = apart / both;
				*best = *g;
			}
		}
	}
	return 0;
}

static void print_grid(char *text, size_t size, const int *dim, int n)
{
	size_t at = 0;

	for (int a = 0; a < n && at < size; a++)
		at += (size_t)snprintf(text + at, size - at, "%s%d",
		                       a ? "x" : "", dim[a]);
}

/* How far the lengths are from the same proportions: what the axis that grows
 * most grows by, over that which grows least; infinite: not allowed. */
static double stretch(const struct grid *from, const int *to)
{
	double most = 0, least = INFINITY;

	for (int a = 0; a < from->n_dims; a++) {
		double growth = (double)to[a] / from->dim[a];

		if (to[a] != from->dim[a] && from->dim[a] < RESCALE_MIN_AXIS)
			return INFINITY;
		/* What cannot grow says nothing. */
		if (from->dim[a] < RESCALE_MIN_AXIS)
			continue;
		most = fmax(most, growth);
		least = fmin(least, growth);
	}
	return most > 0 ? most / least : 1;
}

/* Lengths of so many ranks, of equal ones those that begin with the largest, as
 * MPI_Dims_create has them. */
static int choose_lengths(const struct grid *from, int ranks, int *to,
                          struct cpl_error *err)
{
	int length[RESCALE_DIMS] = {ranks, 1, 1, 1}, n = from->n_dims;
	double least = INFINITY;
	char text[64];
	bool more = true;

	for (; more; more = n > 1 && next_lengths(ranks, n, length)) {
		double s = stretch(from, length);

		if (s >= least - 1e-9)
			continue;
		least = s;
		memcpy(to, length, sizeof(length));
	}
	/* Twice as long in one axis only is still the same shape. */
	if (least <= 2 + 1e-9)
		return 0;
	print_grid(text, sizeof(text), from->dim, n);
	return cpl_fail(err,
	                "%d ranks make no grid of the proportions of %s, "
	                "which was recognised",
	                ranks, text);
}

static int64_t degree(const struct grid_model *m, const struct grid *to)
{
	int64_t n = m->n_near;

	for (int a = 0; a < to->n_dims; a++)
		n += m->axis_bytes[a] > 0 ? to->dim[a] - 1 : 0;
	return n;
}

static int64_t put_row(const struct grid_model *m, int from,
                       struct cpl_comm_entry *out)
{
	const struct grid *g = &m->grid;
	int64_t n = 0;

	for (int i = 0; i < m->n_near; i++) {
		const struct near *near = &m->near[i];
		int to = 0;

		if (!grid_model_has(m, from, near->offset))
			continue;
		for (int a = 0; a < g->n_dims; a++) {
			int d = g->dim[a];
			int x = grid_coordinate(g, from, a) + near->offset[a];

			to += (x % d + d) % d * g->stride[a];
		}
		if (to != from)
			out[n++] = (struct cpl_comm_entry){
			        from, to, near->bytes, near->messages};
	}
	for (int a = 0; a < g->n_dims; a++) {
		int x = grid_coordinate(g, from, a);

		for (int i = 0; i < g->dim[a] && m->axis_bytes[a] > 0; i++)
			if (i != x)
				out[n++] = (struct cpl_comm_entry){
				        from, from + (i - x) * g->stride[a],
				        m->axis_bytes[a], m->axis_messages[a]};
	}
	return n;
}

/* The model's matrix in another grid. */
static struct cpl_comm *make(struct search *x, const struct grid *to,
                             struct cpl_error *err)
{
	struct grid_model *m = x->model;
	int64_t most = degree(m, to), n = 0;
	struct cpl_comm_entry *entry;
	struct cpl_comm *comm;

	if (most > MAX_MADE / to->ranks) {
		cpl_fail(err,
		         "%d ranks with up to %lld partners each are too "
		         "many",
		         to->ranks, (long long)most);
		return NULL;
	}
	x->bytes +=
	        (uint64_t)to->ranks * (MADE_RANK + MADE_ENTRY * (uint64_t)most);
	if (x->max_bytes && x->bytes > x->max_bytes) {
		cpl_fail(err,
		         "it may need more than the %llu MiB of memory that "
		         "are used at most (ProfileMemory in commplace.conf)",
		         (unsigned long long)(x->max_bytes >> 20));
		return NULL;
	}
	entry = malloc((size_t)(most * to->ranks + 1) * sizeof(*entry));
	if (!entry) {
		cpl_fail_memory(err);
		return NULL;
	}
	/* A rank's share along an axis is cut into more pieces. */
	for (int a = 0; a < to->n_dims; a++)
		if (m->axis_bytes[a] > 0 && to->dim[a] > 1)
			m->axis_bytes[a] *=
			        (m->grid.dim[a] - 1.0) / (to->dim[a] - 1);
	m->grid = *to;
	for (int r = 0; r < to->ranks; r++)
		n += put_row(m, r, entry + n);
	comm = cpl_comm_build(to->ranks, entry, n, err);
	free(entry);
	return comm;
}

static struct cpl_comm *phase_comm(const struct cpl_signature *sig, int i,
                                   struct cpl_error *err)
{
	struct cpl_phase once = sig->phase[i];
	struct cpl_signature one = {
	        .ranks = sig->ranks, .n_phases = 1, .phase = &once};

	once.weight = 1;
	return cpl_signature_total(&one, err);
}

/* One phase in the other grid; what it is apart from it in this one is added
 * up. */
static int rescale_phase(struct search *x, const struct cpl_signature *sig,
                         int i, const struct grid *from, const struct grid *to,
                         double *apart, double *both, struct cpl_phase *out,
                         struct cpl_error *err)
{
	const struct cpl_phase *p = &sig->phase[i];
	struct cpl_comm *comm = phase_comm(sig, i, err);
	struct grid_sample s = {comm, sig->ranks};

	*out = (struct cpl_phase){.weight = p->weight,
	                          .time = p->time,
	                          .compute_time = p->compute_time};
	out->name = strdup(p->name ? p->name : "");
	if (!comm)
		return -1;
	x->model->grid = *from;
	if (!out->name || grid_model_find(x->model, &s, &x->sums)) {
		cpl_fail_memory(err);
	} else {
		grid_model_compare(x->model, &s, x->near, p->weight, apart,
		                   both);
		out->comm = make(x, to, err);
	}
	cpl_comm_free(comm);
	return out->comm ? 0 : -1;
}

static int note(struct cpl_signature *out, const struct cpl_signature *sig,
                const struct cpl_rescaled *how, struct cpl_error *err)
{
	json_t *recorded =
	        sig->recorded ? json_loads(sig->recorded, 0, NULL) : NULL;
	char from[64], to[64];

	print_grid(from, sizeof(from), how->from, how->n_dims);
	print_grid(to, sizeof(to), how->to, how->n_dims);
	if (!recorded)
		recorded = json_object();
	json_object_set_new(recorded, "rescaled",
	                    json_pack("{s:i, s:s, s:s, s:f}", "from_ranks",
	                              sig->ranks, "from", from, "to", to,
	                              "error", how->error));
	out->recorded =
	        json_dumps(recorded, JSON_COMPACT | JSON_REAL_PRECISION(17));
	json_decref(recorded);
	return out->recorded ? 0 : cpl_fail_memory(err);
}

static struct cpl_signature *empty_like(const struct cpl_signature *sig,
                                        int ranks, struct cpl_error *err)
{
	struct cpl_signature *out = calloc(1, sizeof(*out));

	if (!out) {
		cpl_fail_memory(err);
		return NULL;
	}
	out->ranks = ranks;
	out->name = strdup(sig->name ? sig->name : "");
	out->application = sig->application ? strdup(sig->application) : NULL;
	out->phase = calloc((size_t)sig->n_phases, sizeof(*out->phase));
	if (out->name && out->phase && (out->application || !sig->application))
		return out;
	cpl_signature_free(out);
	cpl_fail_memory(err);
	return NULL;
}

static int no_grid(double error, struct cpl_error *err)
{
	return cpl_fail(err,
	                "its traffic is that of no grid (%.0f %% of it is not "
	                "explained by the best, at most %.0f %% may be)",
	                100 * error, 100 * RESCALE_MAX_ERROR);
}

static int rescale(struct search *x, const struct cpl_signature *sig,
                   const struct cpl_comm *total, struct cpl_signature *out,
                   struct cpl_rescaled *how, struct cpl_error *err)
{
	struct grid_sample all = {total, sig->ranks};
	struct grid from, to;
	double apart = 0, both = 0;

	if (find_grid(x, total, &from, err))
		return -1;
	if (!from.n_dims)
		return cpl_fail(err, "it has no traffic to recognise");
	/* What is no grid is no matter of lengths. */
	x->model->grid = from;
	if (grid_model_find(x->model, &all, &x->sums))
		return cpl_fail_memory(err);
	grid_model_compare(x->model, &all, x->near, 1, &apart, &both);
	if (apart / both > RESCALE_MAX_ERROR)
		return no_grid(apart / both, err);
	apart = both = 0;
	to = from;
	if (choose_lengths(&from, out->ranks, to.dim, err))
		return -1;
	grid_set_strides(&to);
	for (int i = 0; i < sig->n_phases; i++) {
		out->n_phases = i + 1;
		if (rescale_phase(x, sig, i, &from, &to, &apart, &both,
		                  &out->phase[i], err))
			return -1;
	}
	how->n_dims = from.n_dims;
	memcpy(how->from, from.dim, sizeof(from.dim));
	memcpy(how->to, to.dim, sizeof(to.dim));
	how->error = both > 0 ? apart / both : 1;
	if (how->error > RESCALE_MAX_ERROR)
		return no_grid(how->error, err);
	return note(out, sig, how, err);
}

struct cpl_signature *cpl_signature_rescale(const struct cpl_signature *sig,
                                            int ranks, uint64_t max_bytes,
                                            struct cpl_rescaled *how,
                                            struct cpl_error *err)
{
	struct cpl_signature *out = NULL;
	struct cpl_comm *total;
	struct search x = {.max_bytes = max_bytes};

	memset(how, 0, sizeof(*how));
	/* A job may ask for any number; lengths of grids are found by trial. */
	if (ranks > CPL_SIGNATURE_MAX_RANKS) {
		cpl_fail(err,
		         "%s cannot be rescaled to %d ranks: at most %d "
		         "are allowed",
		         sig->name, ranks, CPL_SIGNATURE_MAX_RANKS);
		return NULL;
	}
	total = cpl_signature_total(sig, err);
	if (total && !search_init(&x, sig->ranks, err))
		out = empty_like(sig, ranks, err);
	if (out && rescale(&x, sig, total, out, how, err)) {
		if (!cpl_error_is_memory(err))
			cpl_fail_prefix(err,
			                "%s cannot be rescaled from %d "
			                "to %d ranks: ",
			                sig->name, sig->ranks, ranks);
		cpl_signature_free(out);
		out = NULL;
	}
	search_free(&x);
	cpl_comm_free(total);
	return out;
}
