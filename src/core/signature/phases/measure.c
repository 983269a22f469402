/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "signature/phases/measure.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/json.h"
#include "base/lines.h"

#define MAX_HOST 63
#define MAX_RANK 16777215
#define MAX_SIZES 4096
#define MOST_SECONDS 1e9
#define LEAST_SECONDS 1e-12

struct measured_size {
	double bytes, seconds;
};

struct rank_location {
	int rank, socket;
	char host[MAX_HOST + 1];
};

struct measured_level {
	struct measured_size *size; /* [n], increasing bytes */
	int64_t n;
	int pairs, last_rank; /* last_rank: the lines that come now are its */
	bool has_costs;
	double send, receive, gap;
};

struct measuring {
	struct rank_location *place; /* [n], increasing ranks */
	int64_t n;
	struct measured_level level[CPL_MACHINE_LEVELS];
	bool ended;
	int ranks;
	cpl_between_hosts *between;
	void *arg;
};

/* This reads the next word, or returns false at the line's end or if it is too
 * long. */
static bool word(struct cpl_lines *in, char *out, size_t size)
{
	size_t n = 0;

	if (cpl_lines_end(in))
		return false;
	while (in->p < in->line_end && !strchr(" \t\r", *in->p) && n + 1 < size)
		out[n++] = *in->p++;
	out[n] = '\0';
	return n && strlen(out) == n &&
	       (in->p == in->line_end || strchr(" \t\r", *in->p));
}

static bool integer(struct cpl_lines *in, long low, long high, int *out)
{
	char text[32], *end;
	long value;

	if (!word(in, text, sizeof(text)))
		return false;
	value = strtol(text, &end, 10);
	*out = (int)value;
	return !*end && value >= low && value <= high;
}

static bool number(struct cpl_lines *in, double low, double high, double *out)
{
	char text[48], *end;

	if (!word(in, text, sizeof(text)))
		return false;
	*out = strtod(text, &end);
	return !*end && *out >= low && *out <= high;
}

static int take_rank(struct cpl_lines *in, struct measuring *m)
{
	struct rank_location p;

	if (!integer(in, 0, MAX_RANK, &p.rank) ||
	    !word(in, p.host, sizeof(p.host)) ||
	    !integer(in, -1, MAX_RANK, &p.socket))
		return cpl_lines_fail(in, "is not \"rank RANK HOST SOCKET\"");
	if (m->n && p.rank <= m->place[m->n - 1].rank)
		return cpl_lines_fail(in, "rank %d comes after rank %d", p.rank,
		                      m->place[m->n - 1].rank);
	if (cpl_array_grow(&m->place, m->n, sizeof(p), in->err))
		return -1;
	m->place[m->n++] = p;
	return 0;
}

static const struct rank_location *find(const struct measuring *m, int rank)
{
	int64_t low = 0, high = m->n;

	CPL_BISECT(low, high, middle, m->place[middle].rank < rank);
	return low < m->n && m->place[low].rank == rank ? &m->place[low]
	                                                : NULL;
}

static int level_of(struct cpl_lines *in, const struct measuring *m,
                    const struct rank_location *a,
                    const struct rank_location *b)
{
	int level;

	if (!strcmp(a->host, b->host))
		return a->socket == b->socket && a->socket >= 0 ? CPL_BY_CORE
		                                                : CPL_BY_SOCKET;
	if (!m->between)
		return CPL_BY_NODE;
	level = m->between(m->arg, a->host, b->host, in->err);
	return level < 0 ? cpl_lines_prefix(in) : level;
}

/* This keeps the shortest time of a size. */
static int put_size(struct measured_level *l, double bytes, double seconds,
                    struct cpl_error *err)
{
	int64_t at = l->n;

	while (at > 0 && l->size[at - 1].bytes >= bytes)
		at--;
	if (at < l->n && l->size[at].bytes == bytes) {
		l->size[at].seconds = fmin(l->size[at].seconds, seconds);
		return 0;
	}
	if (l->n == MAX_SIZES)
		return cpl_fail(err, "more than %d sizes", MAX_SIZES);
	if (cpl_array_grow(&l->size, l->n, sizeof(*l->size), err))
		return -1;
	memmove(&l->size[at + 1], &l->size[at],
	        (size_t)(l->n - at) * sizeof(*l->size));
	l->size[at] = (struct measured_size){bytes, seconds};
	l->n++;
	return 0;
}

/* This reads the two ranks of a line, of which the second is `rank`. It returns
 * their level, or -1 with err. */
static int take_ranks(struct cpl_lines *in, const struct measuring *m,
                      const char *form, int *rank)
{
	const struct rank_location *place[2];

	for (int i = 0; i < 2; i++) {
		if (!integer(in, 0, MAX_RANK, rank))
			return cpl_lines_fail(in, "is not \"%s\"", form);
		place[i] = find(m, *rank);
		if (!place[i])
			return cpl_lines_fail(in, "of rank %d no line tells "
			                          "the host",
			                      *rank);
	}
	return level_of(in, m, place[0], place[1]);
}

static int take_pair(struct cpl_lines *in, struct measuring *m)
{
	double bytes = 0, seconds = 0;
	int rank = 0,
	    level = take_ranks(in, m, "pair RANK RANK BYTES SECONDS", &rank);

	if (level < 0)
		return -1;
	if (!number(in, 1, 1e18, &bytes) || bytes != floor(bytes) ||
	    !number(in, LEAST_SECONDS, MOST_SECONDS, &seconds))
		return cpl_lines_fail(in, "bytes (1 to 1e18) and seconds (1e-12 "
		                          "to 1e9) are needed");
	if (!m->level[level].pairs || m->level[level].last_rank != rank)
		m->level[level].pairs++;
	m->level[level].last_rank = rank;
	return put_size(&m->level[level], bytes, seconds, in->err)
	               ? cpl_lines_prefix(in)
	               : 0;
}

static int take_costs(struct cpl_lines *in, struct measuring *m)
{
	const char *form = "costs RANK RANK SEND RECEIVE GAP";
	double send = 0, receive = 0, gap = 0;
	int rank = 0, level = take_ranks(in, m, form, &rank);
	struct measured_level *l;

	if (level < 0)
		return -1;
	if (!number(in, 0, MOST_SECONDS, &send) ||
	    !number(in, 0, MOST_SECONDS, &receive) ||
	    !number(in, 0, MOST_SECONDS, &gap))
		return cpl_lines_fail(in, "is not \"%s\", seconds of 0 to 1e9",
		                      form);
	l = &m->level[level];
	l->send = l->has_costs ? fmin(l->send, send) : send;
	l->receive = l->has_costs ? fmin(l->receive, receive) : receive;
	l->gap = l->has_costs ? fmin(l->gap, gap) : gap;
	l->has_costs = true;
	return 0;
}

static int take_line(struct cpl_lines *in, struct measuring *m)
{
	char what[16];

	if (!cpl_lines_take_word(in, "commplace-transfer"))
		return 0;
	if (!word(in, what, sizeof(what)))
		return cpl_lines_fail(in, "ends in the middle");
	if (!strcmp(what, "rank"))
		return take_rank(in, m);
	if (!strcmp(what, "pair"))
		return take_pair(in, m);
	if (!strcmp(what, "costs"))
		return take_costs(in, m);
	if (strcmp(what, "end"))
		return cpl_lines_fail(in,
		                      "'%s' is not rank, pair, costs or end",
		                      what);
	m->ended = integer(in, 1, MAX_RANK + 1, &m->ranks);
	return m->ended ? 0 : cpl_lines_fail(in, "is not \"end RANKS\"");
}

/* This minimises the squares of (latency + per_byte * bytes - seconds) / seconds. */
static void fit(const struct measured_level *l, struct cpl_measured_level *out)
{
	double one = 0, b = 0, t = 0, bb = 0, bt = 0, origin = 0, square = 0;

	for (int64_t i = 0; i < l->n; i++) {
		const struct measured_size *s = &l->size[i];
		double w = 1 / (s->seconds * s->seconds);

		one += w;
		b += w * s->bytes;
		t += w * s->seconds;
		origin += w * s->bytes * s->seconds;
		square += w * s->bytes * s->bytes;
	}
	b /= one;
	t /= one;
	for (int64_t i = 0; i < l->n; i++) {
		const struct measured_size *s = &l->size[i];
		double w = 1 / (s->seconds * s->seconds);

		bb += w * (s->bytes - b) * (s->bytes - b);
		bt += w * (s->bytes - b) * (s->seconds - t);
	}
	/* With one size, or with times that fall, the bytes do not count. */
	out->per_byte = l->n > 1 && bb > 0 && bt > 0 ? bt / bb : 0;
	out->latency = t - b * out->per_byte;
	if (!(out->latency > 0)) {
		out->latency = 0;
		out->per_byte = origin / square;
	}
	out->per_byte = fmin(out->per_byte, MOST_SECONDS);
	for (int64_t i = 0; i < l->n; i++) {
		const struct measured_size *s = &l->size[i];
		double at = out->latency + out->per_byte * s->bytes;

		out->error = fmax(out->error,
		                  fabs(at - s->seconds) / s->seconds);
	}
}

static json_t *level_json(const struct measured_level *l,
                          struct cpl_measured_level *out)
{
	json_t *sizes = json_array(), *root;

	*out = (struct cpl_measured_level){.pairs = l->pairs,
	                                   .sizes = (int)l->n};
	fit(l, out);
	for (int i = 0; i < 2; i++) {
		out->bytes[i] = l->size[i ? l->n - 1 : 0].bytes;
		out->seconds[i] = l->size[i ? l->n - 1 : 0].seconds;
	}
	for (int64_t i = 0; i < l->n; i++)
		cpl_json_append(sizes, "[f, f]", l->size[i].bytes,
		                l->size[i].seconds);
	root = json_pack("{s:f, s:f, s:o}", "latency", out->latency,
	                 "seconds_per_byte", out->per_byte, "sizes", sizes);
	if (!root || !l->has_costs)
		return root;
	out->has_costs = true;
	out->costs = (struct cpl_machine_costs){
	        fmax(out->latency - l->send - l->receive, 0), l->send,
	        l->receive, l->gap};
	cpl_json_update(root, "{s:f, s:f, s:f}", "send_overhead", l->send,
	                "receive_overhead", l->receive, "gap", l->gap);
	return root;
}

static json_t *machine_json(const struct measuring *m, const char *name,
                            struct cpl_measured_level *out)
{
	json_t *levels = json_object(), *error = json_object();
	json_t *root;

	for (int l = 0; l < CPL_MACHINE_LEVELS; l++) {
		const char *key = cpl_machine_level_name[l];

		out[l] = (struct cpl_measured_level){0};
		if (!m->level[l].pairs)
			continue;
		json_object_set_new(levels, key,
		                    level_json(&m->level[l], &out[l]));
		json_object_set_new(error, key, json_real(out[l].error));
	}
	root = json_pack("{s:s, s:i, s:o, s:{s:s, s:i, s:o}}", "format",
	                 "commplace-machine", "version", 1, "levels", levels,
	                 "measured", "tool", "commplace characterize", "ranks",
	                 m->ranks, "fit_error", error);
	if (root && name && json_object_set_new(root, "name", json_string(name))) {
		json_decref(root);
		return NULL;
	}
	return root;
}

json_t *cpl_machine_measure(const char *text, size_t length, const char *source,
                            const char *name, cpl_between_hosts *between,
                            void *arg,
                            struct cpl_measured_level out[CPL_MACHINE_LEVELS],
                            struct cpl_error *err)
{
	struct cpl_lines in = cpl_lines_of(source, text, length, err);
	struct measuring m = {.between = between, .arg = arg};
	json_t *root = NULL;
	int rc = 0, pairs = 0;

	while (!rc && !m.ended && cpl_lines_next(&in))
		rc = take_line(&in, &m);
	for (int l = 0; l < CPL_MACHINE_LEVELS; l++)
		pairs += m.level[l].pairs;
	if (!rc && !m.ended)
		rc = cpl_fail(err, "%s: the program did not come to its end",
		              source);
	else if (!rc && !pairs)
		rc = cpl_fail(err, "%s: no pair was measured; two ranks are "
		                   "needed",
		              source);
	if (!rc)
		root = machine_json(&m, name, out);
	if (!rc && !root)
		cpl_fail(err, "%s: the name is not UTF-8, or out of memory",
		         source);
	for (int l = 0; l < CPL_MACHINE_LEVELS; l++)
		free(m.level[l].size);
	free(m.place);
	return root;
}
