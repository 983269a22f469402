/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/hostlist.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"

#define NAME_LENGTH_MAX 255
#define MAX_BRACKETS 16
#define MAX_DIGITS 18

struct number_range {
	uint64_t low, high;
	int width;
};

/* One bracket and the literal text in front of it. */
struct bracket {
	const char *text;
	int text_length;
	int first, last; /* its ranges, last excluded */
};

struct hostlist_item {
	struct bracket bracket[MAX_BRACKETS];
	int n_brackets;
	const char *tail;
	int tail_length;
	struct number_range *range;
	int n_ranges;
	int most; /* hosts */
};

static bool host_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

int cpl_hostlist_push(struct cpl_hostlist *list, const char *name,
                      struct cpl_error *err)
{
	char *copy;

	if (cpl_array_grow(&list->name, list->count, sizeof(copy), err))
		return -1;
	copy = strdup(name);
	if (!copy)
		return cpl_fail_memory(err);
	list->name[list->count++] = copy;
	return 0;
}

void cpl_hostlist_free(struct cpl_hostlist *list)
{
	for (int i = 0; i < list->count; i++)
		free(list->name[i]);
	free(list->name);
	memset(list, 0, sizeof(*list));
}

/* Read digits at *p; -1 when there are none or too many. */
static int read_number(const char **p, uint64_t *value, int *width)
{
	const char *start = *p;

	*value = 0;
	while (digit(**p) && *p - start <= MAX_DIGITS)
		*value = *value * 10 + (uint64_t)(*(*p)++ - '0');
	*width = (int)(*p - start);
	return *width >= 1 && *width <= MAX_DIGITS ? 0 : -1;
}

/* *p is at the "["; leaves it behind the "]". *hosts: names so far. */
static int parse_bracket(struct hostlist_item *item, const char **p,
                         uint64_t *hosts, struct cpl_error *err)
{
	uint64_t total = 0;

	do {
		struct number_range range;
		int width;

		(*p)++;
		if (read_number(p, &range.low, &range.width))
			return cpl_fail(err, "a bracket holds numbers and "
			                     "ranges such as [0-3,7]");
		range.high = range.low;
		if (**p == '-') {
			(*p)++;
			if (read_number(p, &range.high, &width))
				return cpl_fail(err, "a range needs a number "
				                     "on both sides of '-'");
		}
		if (range.high < range.low)
			return cpl_fail(err,
			                "the range %" PRIu64 "-%" PRIu64
			                " is reversed",
			                range.low, range.high);
		total += range.high - range.low + 1;
		if (total > (uint64_t)item->most / *hosts)
			return cpl_fail(err, "%smore than %d hosts",
			                range.high - range.low >=
			                                (uint64_t)item->most
			                        ? "a range of "
			                        : "",
			                item->most);
		if (cpl_array_grow(&item->range, item->n_ranges, sizeof(range),
		                   err))
			return -1;
		item->range[item->n_ranges++] = range;
	} while (**p == ',');
	if (**p != ']')
		return cpl_fail(err, "the bracket is not closed by ']'");
	(*p)++;
	*hosts *= total;
	return 0;
}

/* Parse up to the comma or the end; *hosts: the names that it makes. */
static int parse_item(struct hostlist_item *item, const char **p,
                      uint64_t *hosts, struct cpl_error *err)
{
	const char *text = *p;

	item->n_brackets = item->n_ranges = 0;
	*hosts = 1;
	while (**p && **p != ',') {
		struct bracket *bracket = &item->bracket[item->n_brackets];

		if (host_char(**p)) {
			(*p)++;
			continue;
		}
		if (**p == ']')
			return cpl_fail(err, "']' without '['");
		if (**p != '[')
			return cpl_fail(err,
			                "character '%c' is not allowed in a "
			                "host name; use letters, digits, '-', "
			                "'_' and '.'",
			                **p >= ' ' ? **p : '?');
		if (item->n_brackets++ == MAX_BRACKETS)
			return cpl_fail(err,
			                "more than %d brackets in one name",
			                MAX_BRACKETS);
		bracket->text = text;
		bracket->text_length = (int)(*p - text);
		bracket->first = item->n_ranges;
		if (parse_bracket(item, p, hosts, err))
			return -1;
		bracket->last = item->n_ranges;
		text = *p;
	}
	item->tail = text;
	item->tail_length = (int)(*p - text);
	return 0;
}

/* Put text behind n characters of name, and the value of a range: how many
 * there are then, or -1. */
static int append(char *name, int n, const char *text, int length,
                  const struct number_range *range, uint64_t value,
                  struct cpl_error *err)
{
	const size_t size = NAME_LENGTH_MAX + 1;

	n += snprintf(name + n, size - (size_t)n, "%.*s", length, text);
	if (range && n <= NAME_LENGTH_MAX)
		n += snprintf(name + n, size - (size_t)n, "%0*" PRIu64,
		              range->width, value);
	return n <= NAME_LENGTH_MAX
	               ? n
	               : cpl_fail(err,
	                          "host list: '%.40s...': a name longer than "
	                          "%d characters",
	                          name, NAME_LENGTH_MAX);
}

/* All names that begin with n characters of name and go on as brackets b ..
 * do. */
static int expand(const struct hostlist_item *item, int b, char *name, int n,
                  struct cpl_hostlist *list, struct cpl_error *err)
{
	const struct bracket *bracket = &item->bracket[b];

	if (b == item->n_brackets) {
		n = append(name, n, item->tail, item->tail_length, NULL, 0,
		           err);
		return n < 0 ? -1 : cpl_hostlist_push(list, name, err);
	}
	for (int i = bracket->first; i < bracket->last; i++) {
		const struct number_range *range = &item->range[i];

		for (uint64_t v = range->low; v <= range->high; v++) {
			int longer =
			        append(name, n, bracket->text,
			               bracket->text_length, range, v, err);

			if (longer < 0 ||
			    expand(item, b + 1, name, longer, list, err))
				return -1;
		}
	}
	return 0;
}

static int parse_items(struct cpl_hostlist *list, struct hostlist_item *item,
                       const char *p, struct cpl_error *err)
{
	for (;; p++) {
		char name[NAME_LENGTH_MAX + 1];
		const char *start = p;
		uint64_t hosts;

		if (!*p || *p == ',')
			return cpl_fail(err, "host list: an empty name (a "
			                     "comma too many)");
		if (parse_item(item, &p, &hosts, err))
			return cpl_fail_prefix(err,
			                       "host list: '%.40s': ", start);
		if (hosts + (uint64_t)list->count > (uint64_t)item->most)
			return cpl_fail(err, "host list: more than %d hosts",
			                item->most);
		if (expand(item, 0, name, 0, list, err))
			return -1;
		if (!*p)
			return 0;
	}
}

int cpl_hostlist_parse(struct cpl_hostlist *list, const char *text,
                       struct cpl_error *err)
{
	return cpl_hostlist_parse_most(list, text, CPL_HOSTLIST_MAX, err);
}

int cpl_hostlist_parse_most(struct cpl_hostlist *list, const char *text,
                            int most, struct cpl_error *err)
{
	struct hostlist_item item = {.most = most};
	int rc;

	memset(list, 0, sizeof(*list));
	rc = *text ? parse_items(list, &item, text, err) : 0;
	free(item.range);
	if (rc)
		cpl_hostlist_free(list);
	return rc;
}

/* Length of the part before the trailing number, or -1: nothing to fold. */
static int split_name(const char *name)
{
	size_t length = strlen(name), n = length;

	while (n > 0 && digit(name[n - 1]))
		n--;
	return length - n >= 1 && length - n <= MAX_DIGITS ? (int)n : -1;
}

/* The next number, in as many digits where they are enough, as a range would
 * write it; there is room for one more. */
static void increment(char *digits)
{
	size_t n = strlen(digits), i = n;

	while (i > 0 && digits[i - 1] == '9')
		digits[--i] = '0';
	if (i) {
		digits[i - 1]++;
	} else {
		memmove(digits + 1, digits, n + 1);
		digits[0] = '1';
	}
}

bool cpl_hostlist_follows(const char *before, const char *name)
{
	int prefix = split_name(before);
	char next[MAX_DIGITS + 2];

	if (prefix < 0 || strncmp(before, name, (size_t)prefix))
		return false;
	strcpy(next, before + prefix);
	increment(next);
	return !strcmp(name + prefix, next) && split_name(name) == prefix;
}

/* The text so far, and the bracket that is open: of names that begin like `like`. */
struct writer {
	char *end, *bracket;
	const char *like;
	int prefix, members; /* of a range: 2 */
};

static void close_bracket(struct writer *w)
{
	if (!w->bracket)
		return;
	if (w->members == 1) {
		memmove(w->bracket, w->bracket + 1,
		        (size_t)(w->end - w->bracket - 1));
		w->end--;
	} else {
		*w->end++ = ']';
	}
	w->bracket = NULL;
}

static void add_run(struct writer *w, const char *first, const char *last)
{
	int prefix = split_name(first), members = 1 + (first != last);

	if (w->bracket && prefix == w->prefix &&
	    !strncmp(w->like, first, (size_t)prefix)) {
		*w->end++ = ',';
		w->members += members;
	} else {
		close_bracket(w);
		if (w->like)
			*w->end++ = ',';
		w->like = first;
		w->prefix = prefix;
		w->members = members;
		if (prefix < 0) {
			w->end = stpcpy(w->end, first);
			return;
		}
		memcpy(w->end, first, (size_t)prefix);
		w->bracket = w->end + prefix;
		w->end = w->bracket;
		*w->end++ = '[';
	}
	w->end = stpcpy(w->end, first + prefix);
	if (members > 1) {
		*w->end++ = '-';
		w->end = stpcpy(w->end, last + prefix);
	}
}

/* Of names, each but the first follows the one before. */
struct host_run {
	int first, last;
};

/* O(n). */
static char *format_runs(char *const *name, const struct host_run *run, int n)
{
	size_t capacity = 1;
	struct writer w = {0};
	char *text, *cut;

	/* A run costs at most its names, a dash, a comma and brackets. */
	for (int i = 0; i < n; i++)
		capacity += strlen(name[run[i].first]) +
		            strlen(name[run[i].last]) + 4;
	text = malloc(capacity);
	if (!text)
		return NULL;
	w.end = text;
	for (int i = 0; i < n;) {
		const char *first = name[run[i].first], *last;

		do
			last = name[run[i++].last];
		while (i < n && cpl_hostlist_follows(last, name[run[i].first]));
		add_run(&w, first, last);
	}
	close_bracket(&w);
	*w.end = '\0';
	/* Callers that keep the text keep much less than the room that was
	 * made. */
	cut = realloc(text, (size_t)(w.end - text) + 1);
	return cut ? cut : text;
}

struct listed_name {
	const char *name;
	int at;
};

static CPL_SORT_BY(by_name, struct listed_name, CPL_TEXT(name))

int cpl_hostlist_find(const struct cpl_hostlist *list,
                      const struct cpl_hostlist *of, int *at,
                      struct cpl_error *err)
{
	size_t n = (size_t)list->count;
	struct listed_name *sorted = malloc((n + 1) * sizeof(*sorted));

	if (!sorted)
		return cpl_fail_memory(err);
	for (int i = 0; i < list->count; i++)
		sorted[i] = (struct listed_name){list->name[i], i};
	qsort(sorted, n, sizeof(*sorted), by_name);
	for (int i = 0; i < of->count; i++) {
		struct listed_name key = {.name = of->name[i]};
		const struct listed_name *found =
		        bsearch(&key, sorted, n, sizeof(*sorted), by_name);

		at[i] = found ? found->at : -1;
	}
	free(sorted);
	return 0;
}

char *cpl_hostlist_format(char *const *name, int n)
{
	struct host_run *run = malloc(((size_t)n + 1) * sizeof(*run));
	char *text;

	if (!run)
		return NULL;
	for (int i = 0; i < n; i++)
		run[i] = (struct host_run){i, i};
	text = format_runs(name, run, n);
	free(run);
	return text;
}

/* What of this word goes on from the host before, by the last bit of the word before. */
static uint64_t going_on(uint64_t word, uint64_t follows, uint64_t before)
{
	return (word << 1 | before) & word & follows;
}

static int list_runs(const uint64_t *word, const uint64_t *follows, int words,
                     struct host_run *run)
{
	uint64_t before = 0;
	int n = 0;

	for (int w = 0; w < words; before = word[w++] >> 63) {
		uint64_t goes_on = going_on(word[w], follows[w], before);
		uint64_t starts = word[w] & ~goes_on;
		uint64_t ends = word[w] & ~(goes_on >> 1);

		/* The run of the word before ends here, too. */
		if (goes_on & 1) {
			run[n - 1].last = 64 * w + __builtin_ctzll(ends);
			ends &= ends - 1;
		}
		for (; starts; starts &= starts - 1, ends &= ends - 1)
			run[n++] = (struct host_run){
			        64 * w + __builtin_ctzll(starts),
			        64 * w + __builtin_ctzll(ends)};
	}
	return n;
}

char *cpl_hostlist_format_bits(char *const *name, int n, const uint64_t *word,
                               const uint64_t *follows)
{
	int words = (n + 63) / 64;
	size_t most = 1;
	struct host_run *run;
	char *text = NULL;

	for (int w = 0; w < words; w++)
		most += (size_t)__builtin_popcountll(
		        word[w] & ~going_on(word[w], follows[w], 0));
	run = malloc(most * sizeof(*run));
	if (run)
		text = format_runs(name, run,
		                   list_runs(word, follows, words, run));
	free(run);
	return text;
}
