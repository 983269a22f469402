/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/hostlist.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LENGTH_MAX 255
#define MAX_BRACKETS 16
#define MAX_DIGITS 18

struct range {
	uint64_t low, high;
	int width;
};

/* One bracket and the literal text in front of it. */
struct bracket {
	const char *text;
	int text_length;
	int first, count; /* its ranges */
	int at;           /* odometer: range ... */
	uint64_t value;   /* ... and number in it */
};

struct item {
	struct bracket bracket[MAX_BRACKETS];
	int n_brackets;
	const char *tail;
	int tail_length;
	struct range *range;
	int n_ranges, max_ranges;
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

	/* The array is full exactly when count is 0 or a power of two. */
	if (!(list->count & (list->count - 1))) {
		size_t room = list->count ? 2 * (size_t)list->count : 1;
		char **grown = realloc(list->name, room * sizeof(*grown));

		if (!grown)
			return cpl_fail_memory(err);
		list->name = grown;
	}
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

static int push_range(struct item *item, struct range range,
                      struct cpl_error *err)
{
	if (item->n_ranges == item->max_ranges) {
		int room = item->max_ranges ? 2 * item->max_ranges : 16;
		struct range *grown =
		        realloc(item->range, (size_t)room * sizeof(*grown));

		if (!grown)
			return cpl_fail_memory(err);
		item->range = grown;
		item->max_ranges = room;
	}
	item->range[item->n_ranges++] = range;
	return 0;
}

/* *p is behind the "["; leaves it behind the "]". start is for messages. */
static int parse_bracket(struct item *item, const char *start, const char **p,
                         struct bracket *bracket, uint64_t *hosts,
                         struct cpl_error *err)
{
	uint64_t total = 0;

	bracket->first = item->n_ranges;
	for (;;) {
		struct range range;
		int width;

		if (read_number(p, &range.low, &range.width))
			return cpl_fail(err,
			                "host list: '%.40s': a bracket holds "
			                "numbers and ranges such as [0-3,7]",
			                start);
		range.high = range.low;
		if (**p == '-') {
			(*p)++;
			if (read_number(p, &range.high, &width))
				return cpl_fail(err,
				                "host list: '%.40s': a range "
				                "needs a number on both sides "
				                "of '-'",
				                start);
		}
		if (range.high < range.low)
			return cpl_fail(err,
			                "host list: '%.40s': the range "
			                "%" PRIu64 "-%" PRIu64 " is reversed",
			                start, range.low, range.high);
		if (range.high - range.low >= CPL_HOSTLIST_MAX)
			return cpl_fail(err,
			                "host list: '%.40s': a range of more "
			                "than %d hosts",
			                start, CPL_HOSTLIST_MAX);
		total += range.high - range.low + 1;
		if (total > CPL_HOSTLIST_MAX)
			return cpl_fail(err,
			                "host list: '%.40s': more than %d "
			                "hosts",
			                start, CPL_HOSTLIST_MAX);
		if (push_range(item, range, err))
			return -1;
		if (**p == ',') {
			(*p)++;
			continue;
		}
		if (**p == ']')
			break;
		return cpl_fail(err,
		                "host list: '%.40s': the bracket is not "
		                "closed by ']'",
		                start);
	}
	(*p)++;
	bracket->count = item->n_ranges - bracket->first;
	*hosts *= total;
	return 0;
}

/* Parse up to the comma or the end; *hosts = number of names it makes. */
static int parse_item(struct item *item, const char **p, uint64_t *hosts,
                      struct cpl_error *err)
{
	const char *start = *p, *text = *p;

	item->n_brackets = item->n_ranges = 0;
	*hosts = 1;
	while (**p && **p != ',') {
		struct bracket *bracket;

		if (host_char(**p)) {
			(*p)++;
			continue;
		}
		if (**p == ']')
			return cpl_fail(err,
			                "host list: '%.40s': ']' without '['",
			                start);
		if (**p != '[')
			return cpl_fail(
			        err,
			        "host list: '%.40s': character '%c' is not "
			        "allowed in a host name; use letters, "
			        "digits, '-', '_' and '.'",
			        start, **p > 32 ? **p : '?');
		if (item->n_brackets == MAX_BRACKETS)
			return cpl_fail(err,
			                "host list: '%.40s': more than %d "
			                "brackets in one name",
			                start, MAX_BRACKETS);
		bracket = &item->bracket[item->n_brackets++];
		bracket->text = text;
		bracket->text_length = (int)(*p - text);
		(*p)++;
		if (parse_bracket(item, start, p, bracket, hosts, err))
			return -1;
		if (*hosts > CPL_HOSTLIST_MAX)
			return cpl_fail(err,
			                "host list: '%.40s': more than %d "
			                "hosts",
			                start, CPL_HOSTLIST_MAX);
		text = *p;
	}
	if (*p == start)
		return cpl_fail(err,
		                "host list: an empty name (a comma too many)");
	if (*p - start > NAME_LENGTH_MAX && !item->n_brackets)
		return cpl_fail(err,
		                "host list: '%.40s...': a name longer than %d "
		                "characters",
		                start, NAME_LENGTH_MAX);
	item->tail = text;
	item->tail_length = (int)(*p - text);
	return 0;
}

static int expand_item(struct item *item, struct cpl_hostlist *list,
                       struct cpl_error *err)
{
	char name[NAME_LENGTH_MAX + 1];

	for (int i = 0; i < item->n_brackets; i++) {
		item->bracket[i].at = item->bracket[i].first;
		item->bracket[i].value = item->range[item->bracket[i].at].low;
	}
	for (;;) {
		size_t n = 0;
		int i;

		for (i = 0; i < item->n_brackets; i++) {
			struct bracket *b = &item->bracket[i];

			n += (size_t)snprintf(name + n, sizeof(name) - n,
			                      "%.*s%0*" PRIu64, b->text_length,
			                      b->text, item->range[b->at].width,
			                      b->value);
			if (n >= sizeof(name))
				goto too_long;
		}
		n += (size_t)snprintf(name + n, sizeof(name) - n, "%.*s",
		                      item->tail_length, item->tail);
		if (n >= sizeof(name))
			goto too_long;
		if (cpl_hostlist_push(list, name, err))
			return -1;
		for (i = item->n_brackets - 1; i >= 0; i--) {
			struct bracket *b = &item->bracket[i];

			if (b->value < item->range[b->at].high) {
				b->value++;
				break;
			}
			if (++b->at < b->first + b->count) {
				b->value = item->range[b->at].low;
				break;
			}
			b->at = b->first;
			b->value = item->range[b->at].low;
		}
		if (i < 0)
			return 0;
	}
too_long:
	return cpl_fail(err,
	                "host list: '%.40s...': a name longer than %d "
	                "characters",
	                name, NAME_LENGTH_MAX);
}

int cpl_hostlist_parse(struct cpl_hostlist *list, const char *text,
                       struct cpl_error *err)
{
	struct item item = {.range = NULL};
	const char *p = text;
	int rc = -1;

	memset(list, 0, sizeof(*list));
	if (!*p)
		return 0;
	for (;;) {
		uint64_t hosts;

		if (parse_item(&item, &p, &hosts, err))
			goto out;
		if (hosts + (uint64_t)list->count > CPL_HOSTLIST_MAX) {
			cpl_fail(err, "host list: more than %d hosts",
			         CPL_HOSTLIST_MAX);
			goto out;
		}
		if (expand_item(&item, list, err))
			goto out;
		if (!*p)
			break;
		p++;
	}
	rc = 0;
out:
	free(item.range);
	if (rc)
		cpl_hostlist_free(list);
	return rc;
}

/* Length of the part before the trailing number, or -1: nothing to fold. */
static int split_name(const char *name, uint64_t *value, int *width)
{
	size_t length = strlen(name), n = length;

	while (n > 0 && digit(name[n - 1]))
		n--;
	*width = (int)(length - n);
	if (*width < 1 || *width > MAX_DIGITS)
		return -1;
	*value = strtoull(name + n, NULL, 10);
	return (int)n;
}

/* Is name prefix + the number one above `value`, as a range would write it? */
static bool continues(const char *prefix, int length, uint64_t value, int width,
                      const char *name)
{
	char next[MAX_DIGITS + 3];

	snprintf(next, sizeof(next), "%0*" PRIu64, width, value + 1);
	return !strncmp(prefix, name, (size_t)length) &&
	       !strcmp(name + length, next);
}

char *cpl_hostlist_format(char *const *name, int n)
{
	size_t room = 1, length = 0;
	char *text;

	/* A number costs at most its name, a dash, a comma and brackets. */
	for (int i = 0; i < n; i++)
		room += strlen(name[i]) + 4;
	text = malloc(room);
	if (!text)
		return NULL;
	text[0] = '\0';
	for (int i = 0; i < n;) {
		uint64_t value;
		int width, prefix = split_name(name[i], &value, &width);
		const char *first = name[i];
		char *bracket;
		int members = 0;

		if (i)
			text[length++] = ',';
		if (prefix < 0) {
			length += (size_t)sprintf(text + length, "%s", first);
			i++;
			continue;
		}
		length += (size_t)sprintf(text + length, "%.*s", prefix, first);
		bracket = text + length;
		text[length++] = '[';
		for (;;) {
			uint64_t low = value;

			members++;
			length += (size_t)sprintf(text + length, "%s",
			                          name[i] + prefix);
			i++;
			while (i < n && continues(first, prefix, value, width,
			                          name[i])) {
				value++;
				i++;
				members++;
			}
			if (value > low)
				length += (size_t)sprintf(text + length, "-%s",
				                          name[i - 1] + prefix);
			if (i >= n ||
			    split_name(name[i], &value, &width) != prefix ||
			    strncmp(first, name[i], (size_t)prefix))
				break;
			text[length++] = ',';
		}
		if (members == 1) {
			memmove(bracket, bracket + 1,
			        (size_t)(text + length - bracket - 1));
			length--;
		} else {
			text[length++] = ']';
		}
		text[length] = '\0';
	}
	return text;
}
