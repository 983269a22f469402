/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This reads workloads of AICB (github.com/aliyun/aicb, its logs as well), CSV:
 *
 *	[rank0 ~ rank127]
 *	comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,...,count
 *	CommType.all_reduce,CommGroup.tp_group,8,20971520,forward.MegatronEmbedding,...
 *
 * The first line, which may be missing, says which ranks do what follows; without it
 * there are as many as the groups make, or as the caller says. Files of a pipeline may
 * have one for each stage, "[ pp_stage0: [rank0, rank1, ...] ]". Columns are found by
 * their names; comm_type, comm_group and msg_size are needed (log_analyzer/log.py,
 * LogItem; utils/utils.py, CommType and CommGroup).
 *
 * A row is an operation of every group of its kind, each rank in its own: what
 * workload_applyer.py does. msg_size is in bytes:
 *   all_reduce, broadcast, reduce  the vector
 *   all_gather      what comes out in each rank (_apply_all_gather)
 *   reduce_scatter  what goes in in each rank (_apply_reduce_scatter)
 *   all_to_all      what goes in in each rank, an n-th of it to each
 *   isend, irecv    the message
 * and `count` (1) the operations. A barrier's size means nothing, and computation
 * sends nothing. Groups are those of pattern/grid.h, whose order AICB shares; their
 * sizes are in the rows, but in those of isend and irecv, which say 1, and of
 * experts, for which the caller may say it. A broadcast's
 * and reduction's root is a place in its group, or its first rank.
 *
 * `additional` tells whether an isend or irecv has to do with the next or the
 * previous stage, else the stage's name does (backward: previous for a send). A file
 * is what the first stage does; each stage but the last sends to the next one what
 * it sends, and each but the first to the previous one what it receives. Where both
 * ends of a message are told, it counts once.
 *
 * A row is of the start where its stage begins with "init" or "warmup", else of a
 * step; epoch_end ends one. Phases are named "step.tp_group.all_reduce"; those of
 * steps are the mean of all steps, and run as often as there are any.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "signature/import/aicb_groups.h"

#define MAX_COLUMNS 64

enum aicb_column {
	COMM_TYPE,
	COMM_GROUP,
	SIZE,
	BYTES,
	STAGE,
	DESTINATION,
	SOURCE,
	ADDITIONAL,
	COUNT,
	COLUMNS,
};

static const char *const column_name[COLUMNS] = {
        "comm_type", "comm_group", "comm_group_size", "msg_size", "stage",
        "dst",       "src",        "additional",      "count"};

struct aicb_field {
	const char *p;
	size_t n;
};

struct reading {
	struct cpl_lines *in;
	struct aicb *a;
	int column[COLUMNS]; /* -1: the file has none */
	int n_columns;       /* 0: before the header */
	int low, high;       /* ranks of the rows */
	struct aicb_field field[MAX_COLUMNS];
	bool open;     /* a step has begun */
	int64_t steps; /* of these ranks; all do as many */
};

static struct aicb_field trim(struct aicb_field f)
{
	while (f.n && isspace((unsigned char)f.p[0]))
		f.p++, f.n--;
	while (f.n && isspace((unsigned char)f.p[f.n - 1]))
		f.n--;
	return f;
}

static bool is_text(struct aicb_field f, const char *text)
{
	return f.n == strlen(text) && !memcmp(f.p, text, f.n);
}

static bool begins(struct aicb_field f, const char *text)
{
	return f.n >= strlen(text) && !memcmp(f.p, text, strlen(text));
}

static bool is_none(struct aicb_field f)
{
	return !f.n || is_text(f, "None") || is_text(f, "nan") ||
	       is_text(f, "NaN");
}

/* This splits the line at commas outside of quotes; -1: there are too many. */
static int split(struct reading *r)
{
	const char *p = r->in->p, *end = r->in->line_end;
	int n = 0;

	do {
		struct aicb_field *f = &r->field[n];
		const char *first = p;
		bool quoted = false;

		if (n++ == MAX_COLUMNS)
			return -1;
		for (; p < end && (quoted || *p != ','); p++)
			quoted ^= *p == '"';
		*f = trim((struct aicb_field){first, (size_t)(p - first)});
	} while (p++ < end);
	return n;
}

/* "CommType.all_reduce" -> "all_reduce" */
static struct aicb_field without(struct aicb_field f, const char *prefix)
{
	size_t n = begins(f, prefix) ? strlen(prefix) : 0;

	return (struct aicb_field){f.p + n, f.n - n};
}

static struct aicb_field field_of(const struct reading *r, enum aicb_column c)
{
	return r->column[c] < 0 ? (struct aicb_field){"", 0}
	                        : r->field[r->column[c]];
}

/* This reads an integer, which may end in ".0". `none` is what it is where the file
 * says None. */
static int take_integer(struct reading *r, enum aicb_column c, int64_t low,
                        int64_t high, int64_t none, int64_t *out)
{
	struct aicb_field f = field_of(r, c);
	int64_t v = 0;
	size_t i = 0;

	*out = none;
	if (is_none(f))
		return 0;
	for (; i < f.n && isdigit((unsigned char)f.p[i]); i++) {
		if (v > (INT64_MAX - 9) / 10)
			break;
		v = 10 * v + (f.p[i] - '0');
	}
	for (size_t dot = i; i < f.n && (i == dot ? f.p[i] == '.' && i
	                                          : f.p[i] == '0');)
		i++;
	if (i < f.n || v < low || v > high)
		return cpl_lines_fail(r->in,
		                      "%s: '%.*s' is no integer in %lld to "
		                      "%lld",
		                      column_name[c], (int)(f.n < 40 ? f.n : 40),
		                      f.p, (long long)low, (long long)high);
	*out = v;
	return 0;
}

static int take_header(struct reading *r)
{
	int n = split(r);

	if (n < 0)
		return cpl_lines_fail(r->in, "has more than %d columns",
		                      MAX_COLUMNS);
	r->n_columns = n;
	for (int c = 0; c < COLUMNS; c++) {
		r->column[c] = -1;
		for (int i = 0; i < n; i++)
			if (is_text(r->field[i], column_name[c]))
				r->column[c] = i;
	}
	if (r->column[COMM_TYPE] < 0 || r->column[COMM_GROUP] < 0 ||
	    r->column[BYTES] < 0)
		return cpl_lines_fail(r->in,
		                      "is no header of AICB: comm_type, "
		                      "comm_group and msg_size are needed");
	return 0;
}

/* This takes one word of the line. */
static bool take_word(struct cpl_lines *in, const char *word)
{
	return !cpl_lines_end(in) && cpl_lines_take(in, word);
}

static bool take_rank(struct cpl_lines *in, int *out)
{
	return take_word(in, "rank") && !cpl_lines_end(in) &&
	       cpl_lines_number(in, out);
}

/* "rank0 ~ rank127", or "rank0, rank1, rank2" in a row */
static bool take_range(struct cpl_lines *in, int *low, int *high)
{
	bool right = take_rank(in, low);
	int next;

	*high = *low;
	if (right && take_word(in, "~"))
		return take_rank(in, high) && *high >= *low;
	for (; right && take_word(in, ","); *high = next)
		right = take_rank(in, &next) && next - 1 == *high;
	return right;
}

static void end_step(struct reading *r)
{
	r->steps += r->open;
	r->open = false;
	if (r->a->steps < r->steps)
		r->a->steps = r->steps;
}

/* "[rank0 ~ rank127]", or of a pipeline's stages each "[ pp_stage0: [rank0, rank1] ]",
 * behind which that stage's steps begin anew. */
static int take_ranks(struct reading *r)
{
	const int most = CPL_SIGNATURE_MAX_RANKS;
	struct cpl_lines *in = r->in;
	const char *colon = memchr(in->p, ':', (size_t)(in->line_end - in->p));
	int low = -1, high = -1;
	bool right = take_word(in, "[");

	if (colon) {
		in->p = colon + 1;
		right = right && take_word(in, "[");
	}
	right = right && take_range(in, &low, &high) && take_word(in, "]") &&
	        (!colon || take_word(in, "]")) && cpl_lines_end(in);
	if (!right)
		return cpl_lines_fail(in, "is no line such as "
		                          "[rank0 ~ rank127]");
	if (high >= most)
		return cpl_lines_fail(in, "rank %d: at most %d ranks", high,
		                      most);
	end_step(r);
	r->steps = 0;
	r->low = low;
	r->high = high;
	r->a->ranks = high >= r->a->ranks ? high + 1 : r->a->ranks;
	return 0;
}

static int take_kind(struct reading *r, struct aicb_row *row)
{
	struct aicb_field f = without(field_of(r, COMM_GROUP), "CommGroup.");

	for (int k = 0; k <= GRID_ALL; k++)
		if (is_text(f, grid_name((enum grid_kind)k))) {
			row->kind = (enum grid_kind)k;
			return 0;
		}
	row->kind = GRID_ALL;
	if (is_text(f, "all_nodes"))
		return 0;
	return cpl_lines_fail(r->in, "comm_group '%.*s' is unknown",
	                      (int)(f.n < 40 ? f.n : 40), f.p);
}

/* isend and irecv: to or from whom? */
static void take_direction(const struct reading *r, bool receives,
                           struct aicb_row *row)
{
	struct aicb_field f = field_of(r, ADDITIONAL);
	bool back = begins(field_of(r, STAGE), "backward");

	if (begins(f, "send_") || begins(f, "recv_"))
		back = is_text(f, "send_prev") || is_text(f, "recv_next");
	row->operation = back ? GRID_SEND_PREVIOUS : GRID_SEND_NEXT;
	row->received = receives;
	r->a->sends = true;
}

enum { ROW_SKIP, ROW_END, ROW_BARRIER, ROW_SEND, ROW_RECEIVE, ROW_GROUP };

/* This finds the operation's kind, or returns -1. */
static int take_operation(struct reading *r, struct aicb_row *row)
{
	static const struct {
		const char *name;
		int what;
		enum grid_operation operation;
	} table[] = {
	        {"all_reduce", ROW_GROUP, GRID_ALL_REDUCE},
	        {"all_gather", ROW_GROUP, GRID_ALL_GATHER},
	        {"all_gather_into_tensor", ROW_GROUP, GRID_ALL_GATHER},
	        {"reduce_scatter", ROW_GROUP, GRID_REDUCE_SCATTER},
	        {"reduce_scatter_tensor", ROW_GROUP, GRID_REDUCE_SCATTER},
	        {"all_to_all", ROW_GROUP, GRID_ALL_TO_ALL},
	        {"broadcast", ROW_GROUP, GRID_BROADCAST},
	        {"reduce", ROW_GROUP, GRID_REDUCE},
	        {"isend", ROW_SEND, 0},
	        {"irecv", ROW_RECEIVE, 0},
	        {"barrier", ROW_BARRIER, 0},
	        {"computation", ROW_SKIP, 0},
	        {"epoch_end", ROW_END, 0},
	};
	struct aicb_field f = without(r->field[r->column[COMM_TYPE]], "CommType.");

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (is_text(f, table[i].name)) {
			row->operation = table[i].operation;
			return table[i].what;
		}
	return cpl_lines_fail(r->in, "comm_type '%.*s' is unknown",
	                      (int)(f.n < 40 ? f.n : 40), f.p);
}

/* The group's size has to be that of the rows before; some rows do not tell. */
static int take_size(struct reading *r, const struct aicb_row *row)
{
	int *size = &r->a->size[row->kind];
	int64_t v;

	if (take_integer(r, SIZE, 1, CPL_SIGNATURE_MAX_RANKS, 0, &v))
		return -1;
	if (v && *size && *size != v)
		return cpl_lines_fail(r->in,
		                      "%s has %lld ranks, and %d in a row "
		                      "before",
		                      grid_name(row->kind), (long long)v, *size);
	if (v)
		*size = (int)v;
	return 0;
}

static int take_amounts(struct reading *r, struct aicb_row *row)
{
	const int64_t most = CPL_SIGNATURE_MAX_RANKS - 1;
	const int64_t most_bytes = (int64_t)SIGNATURE_MAX_AMOUNT;
	int64_t root;

	if (take_integer(r, BYTES, 0, most_bytes, -1, &row->bytes) ||
	    take_integer(r, COUNT, 0, most_bytes, 1, &row->calls) ||
	    take_integer(r, row->operation == GRID_REDUCE ? DESTINATION : SOURCE,
	                 0, most, 0, &root))
		return -1;
	if (row->bytes < 0)
		return cpl_lines_fail(r->in, "msg_size is missing");
	if ((double)row->bytes * (double)row->calls > SIGNATURE_MAX_AMOUNT)
		return cpl_lines_fail(r->in, "msg_size times count is more "
		                             "than 1e18");
	row->bytes *= row->calls;
	if (row->operation == GRID_BROADCAST || row->operation == GRID_REDUCE)
		row->root = (int)root;
	return 0;
}

static int take_row(struct reading *r)
{
	struct aicb_row row = {.low = r->low, .high = r->high};
	struct aicb_field stage;
	int n = split(r), what;

	if (n <= r->column[COMM_TYPE])
		return cpl_lines_fail(r->in, "has too few fields");
	what = take_operation(r, &row);
	if (what < 0)
		return -1;
	if (what == ROW_END)
		end_step(r);
	if (what == ROW_SKIP || what == ROW_END)
		return 0;
	if (n != r->n_columns)
		return cpl_lines_fail(r->in, "has %d fields; the header has %d",
		                      n, r->n_columns);
	stage = field_of(r, STAGE);
	row.step = !begins(stage, "init") && !begins(stage, "warmup");
	r->open = r->open || row.step;
	if (what == ROW_BARRIER)
		return 0;
	if (take_kind(r, &row) || take_amounts(r, &row))
		return -1;
	r->a->used[row.kind] = true;
	if (what == ROW_GROUP && take_size(r, &row))
		return -1;
	if (what != ROW_GROUP)
		take_direction(r, what == ROW_RECEIVE, &row);
	if (cpl_array_grow(&r->a->row, r->a->n_rows, sizeof(row), r->in->err))
		return -1;
	r->a->row[r->a->n_rows++] = row;
	return 0;
}

/* Logs that were put together have the header again. */
static bool is_header(const struct cpl_lines *in)
{
	struct cpl_lines ahead = *in;

	return cpl_lines_take(&ahead, "comm_type,");
}

static void release(void *state)
{
	struct aicb *a = state;

	if (!a)
		return;
	cpl_free_all(a->row, a);
}

static int read_aicb(struct cpl_lines *in, struct matrix *out)
{
	struct aicb *a = calloc(1, sizeof(*a));
	struct reading r = {.in = in, .a = a, .high = -1};

	if (!a)
		return cpl_fail_memory(in->err);
	out->state = a;
	while (cpl_lines_next(in)) {
		int rc;

		if (cpl_lines_end(in))
			continue;
		if (*in->p == '[')
			rc = take_ranks(&r);
		else if (!r.n_columns || is_header(in))
			rc = take_header(&r);
		else
			rc = take_row(&r);
		if (rc)
			return -1;
	}
	end_step(&r);
	if (!r.n_columns)
		return cpl_lines_fail(in, "the header is missing");
	return 0;
}

static int finish(struct matrix *out, struct cpl_error *err)
{
	struct aicb *a = out->state;
	int rc;

	if (out->ranks && a->ranks && out->ranks != a->ranks) {
		rc = cpl_fail(err, "says that there are %d ranks, not %d",
		              a->ranks, out->ranks);
	} else {
		a->ranks = out->ranks ? out->ranks : a->ranks;
		if (!a->size[GRID_EP])
			a->size[GRID_EP] = out->ep;
		rc = aicb_find_grid(a, err) || aicb_make_phases(a, out, err);
	}
	out->ranks = a->ranks;
	out->lost = "times and the order of operations; collectives are taken as "
	            "rings";
	release(a);
	return rc ? -1 : 0;
}

const struct import_format import_aicb = {
        .name = "aicb",
        .summary = "training steps of AICB",
        .flags = IMPORT_STEPS,
        .read = read_aicb,
        .finish = finish,
        .release = release,
};
