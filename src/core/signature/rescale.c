/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "signature/rescale.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "signature/grid_lengths.h"
#include "signature/grid_model.h"
#include "signature/grid_search.h"

/* At most so many entries are made. */
#define MAX_MADE (INT64_C(1) << 24)
/* These are the bytes of an entry that is made: in its phase, in the matrix of the
 * whole run and in its graph, as in matrix_budget; and of a rank, the rows of
 * these. */
#define MADE_ENTRY 60
#define MADE_RANK 24

struct rescale_search {
	struct grid_search g;
	uint64_t max_bytes, bytes; /* 0: no limit; made so far */
};

static void print_grid(char *text, size_t size, const int *dim, int n)
{
	size_t at = 0;

	for (int a = 0; a < n && at < size; a++)
		at += (size_t)snprintf(text + at, size - at, "%s%d",
		                       a ? "x" : "", dim[a]);
}

/* This returns how far the lengths are from the same proportions: the largest
 * growth of an axis over the smallest. It is infinite where the lengths are not
 * allowed. */
static double stretch(const struct grid *from, const int *to)
{
	double most = 0, least = INFINITY;

	for (int a = 0; a < from->n_dims; a++) {
		double growth = (double)to[a] / from->dim[a];

		if (to[a] != from->dim[a] && from->dim[a] < RESCALE_MIN_AXIS)
			return INFINITY;
		/* An axis that cannot grow tells nothing. */
		if (from->dim[a] < RESCALE_MIN_AXIS)
			continue;
		most = fmax(most, growth);
		least = fmin(least, growth);
	}
	return most > 0 ? most / least : 1;
}

/* This gives the lengths of n axes as MPI_Dims_create makes them, from the longest
 * down and as close to each other as possible. It returns -1 when memory is out. It
 * costs O(grids). */
static int balance(int ranks, int n, int *out)
{
	struct grid_lengths l;
	bool more;

	if (grid_lengths_init(&l, ranks))
		return -1;
	more = grid_lengths_first(&l, n, 1);
	memcpy(out, l.length, sizeof(l.length));
	/* The first axes fall slowest, so the last lengths are the most even. */
	for (; more; more = grid_lengths_next(&l)) {
		bool falls = true;

		for (int a = 1; a < n; a++)
			falls &= l.length[a] <= l.length[a - 1];
		if (falls)
			memcpy(out, l.length, sizeof(l.length));
	}
	grid_lengths_free(&l);
	return 0;
}

/* If MPI_Dims_create made these lengths, in whatever order, this gives the others
 * as it would make them. It returns 1 if so, 0 if not, and -1 when memory is out. */
static int recreate(const struct grid *from, int ranks, int *to)
{
	int was[RESCALE_DIMS], will[RESCALE_DIMS], n = from->n_dims;

	if (balance(from->ranks, n, was) || balance(ranks, n, will))
		return -1;
	memcpy(to, will, sizeof(will));
	for (int a = 0; a < n; a++) {
		int at = 0;

		while (at < n && was[at] != from->dim[a])
			at++;
		if (at == n)
			return 0;
		was[at] = 0;
		to[a] = will[at];
	}
	return 1;
}

/* This gives the lengths of so many ranks in the same proportions; of equal ones,
 * those that begin with the largest. */
static int keep_proportions(const struct grid *from, int ranks, int *to,
                            double *least)
{
	struct grid_lengths l;
	bool more;

	if (grid_lengths_init(&l, ranks))
		return -1;
	more = grid_lengths_first(&l, from->n_dims, 1);
	for (; more; more = grid_lengths_next(&l)) {
		double s = stretch(from, l.length);

		if (s >= *least - 1e-9)
			continue;
		*least = s;
		memcpy(to, l.length, sizeof(l.length));
	}
	grid_lengths_free(&l);
	return 0;
}

static int choose_lengths(const struct grid *from, int ranks, int *to,
                          struct cpl_error *err)
{
	int n = from->n_dims, made = recreate(from, ranks, to);
	double least = INFINITY;
	char text[64];

	if (made < 0)
		return cpl_fail_memory(err);
	/* If only one axis is twice as long, it still counts as the same shape. */
	if (made && stretch(from, to) <= 2 + 1e-9)
		return 0;
	if (keep_proportions(from, ranks, to, &least))
		return cpl_fail_memory(err);
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

/* This makes the model's matrix in another grid. */
static struct cpl_comm *make(struct rescale_search *x, const struct grid *to,
                             struct cpl_error *err)
{
	struct grid_model *m = x->g.model;
	int64_t most = degree(m, to), n = 0;
	struct cpl_comm_entry *entry;
	struct cpl_comm *comm;

	if (most > MAX_MADE / to->ranks)
		return cpl_fail_null(
		        err,
		        "%d ranks with up to %lld partners each are too "
		        "many",
		        to->ranks, (long long)most);
	x->bytes +=
	        (uint64_t)to->ranks * (MADE_RANK + MADE_ENTRY * (uint64_t)most);
	if (x->max_bytes && x->bytes > x->max_bytes)
		return cpl_fail_null(
		        err,
		        "it may need more than the %llu MiB of memory that "
		        "are used at most (ProfileMemory in commplace.conf)",
		        (unsigned long long)(x->max_bytes >> 20));
	entry = malloc((size_t)(most * to->ranks + 1) * sizeof(*entry));
	if (!entry)
		return cpl_fail_null_memory(err);
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

/* This rescales one phase to the other grid, and adds up how far the model is from
 * the phase in this one. */
static int rescale_phase(struct rescale_search *x,
                         const struct cpl_signature *sig, int i,
                         const struct grid *from, const struct grid *to,
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
	x->g.model->grid = *from;
	if (!out->name || grid_model_find(x->g.model, &s, &x->g.sums)) {
		cpl_fail_memory(err);
	} else {
		grid_model_compare(x->g.model, &s, x->g.near, p->weight, apart,
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

	if (!out)
		return cpl_fail_null_memory(err);
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

static int no_grid(const struct rescale_search *x, double error,
                   struct cpl_error *err)
{
	char tried[128] = "";

	if (x->g.axes < RESCALE_DIMS)
		snprintf(tried, sizeof(tried),
		         "; to try all grids of %d axes takes more than the "
		         "%.0f million steps that are made at most",
		         x->g.axes + 1, RESCALE_MAX_STEPS / 1e6);
	return cpl_fail(err,
	                "its traffic is that of no grid (%.0f %% of it is not "
	                "explained by the best, at most %.0f %% may be%s)",
	                100 * error, 100 * RESCALE_MAX_ERROR, tried);
}

static int rescale(struct rescale_search *x, const struct cpl_signature *sig,
                   const struct cpl_comm *total, struct cpl_signature *out,
                   struct cpl_rescaled *how, struct cpl_error *err)
{
	struct grid_sample all = {total, sig->ranks};
	struct grid from, to;
	double apart = 0, both = 0;

	if (grid_search_find(&x->g, total, &from, err))
		return -1;
	how->steps = x->g.steps;
	if (!from.n_dims)
		return cpl_fail(err, "it has no traffic to recognise");
	/* Where there is no grid the lengths do not matter. */
	x->g.model->grid = from;
	if (grid_model_find(x->g.model, &all, &x->g.sums))
		return cpl_fail_memory(err);
	grid_model_compare(x->g.model, &all, x->g.near, 1, &apart, &both);
	if (apart / both > RESCALE_MAX_ERROR)
		return no_grid(x, apart / both, err);
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
		return no_grid(x, how->error, err);
	return note(out, sig, how, err);
}

struct cpl_signature *cpl_signature_rescale(const struct cpl_signature *sig,
                                            int ranks, uint64_t max_bytes,
                                            struct cpl_rescaled *how,
                                            struct cpl_error *err)
{
	struct cpl_signature *out = NULL;
	struct cpl_comm *total;
	struct rescale_search x = {.max_bytes = max_bytes};

	memset(how, 0, sizeof(*how));
	/* A job may ask for any number, and lengths of grids are found by trial. */
	if (ranks > CPL_SIGNATURE_MAX_RANKS)
		return cpl_fail_null(
		        err,
		        "%s cannot be rescaled to %d ranks: at most %d "
		        "are allowed",
		        sig->name, ranks, CPL_SIGNATURE_MAX_RANKS);
	total = cpl_signature_total(sig, err);
	if (total && !grid_search_init(&x.g, sig->ranks, err))
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
	grid_search_free(&x.g);
	cpl_comm_free(total);
	return out;
}
