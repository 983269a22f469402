/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "campaign/asked.h"

#include <stdlib.h>
#include <string.h>

#define BLANKS " \t"

/* These are the largest numbers that are read. */
#define MOST 1000000000L

/* This is an option that has been found: with a number, or set. */
struct asked_option {
	const char *name;
	int *number;
	bool *set;
};

/* This reads the number of an option, behind which a time may stand for how long
 * sbatch waits for it. It returns 0, or -1. */
static int take_number(const char *text, size_t length, bool timed, int *out)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || !strchr("0123456789", *text) || n < 1 || n > MOST ||
	    (end < text + length && !(timed && *end == '@')))
		return -1;
	if (!*out)
		*out = (int)n;
	return 0;
}

/* This reads the option at *at and moves past it. It returns 1 for one that is
 * known, 0 for another, or -1 if its number is none. */
static int take_option(const char **at, struct cpl_asked *out)
{
	const struct asked_option option[] = {
	        {"--segment", &out->segment, NULL},
	        {"--switches", &out->switches, NULL},
	        {"--spread-segments", NULL, &out->spread},
	        {"--consolidate-segments", NULL, &out->consolidate},
	        {"--contiguous", NULL, &out->contiguous},
	        {"--exclusive=topo", NULL, &out->whole}};
	const char *word = *at;
	size_t length = strcspn(word, BLANKS);

	*at += length;
	for (size_t i = 0; i < sizeof(option) / sizeof(*option); i++) {
		size_t n = strlen(option[i].name);

		if (length < n || memcmp(word, option[i].name, n))
			continue;
		if (option[i].set && length == n) {
			*option[i].set = true;
			return 1;
		}
		if (!option[i].number || (length > n && word[n] != '='))
			continue;
		word += n + 1;
		if (length == n) {
			*at += strspn(*at, BLANKS);
			word = *at;
			*at += strcspn(*at, BLANKS);
		}
		return take_number(word, (size_t)(*at - word),
		                   option[i].number == &out->switches,
		                   option[i].number)
		               ? -1
		               : 1;
	}
	return 0;
}

int cpl_asked_read(const char *text, struct cpl_asked *out,
                   struct cpl_error *err)
{
	*out = (struct cpl_asked){0};
	for (text += strspn(text, BLANKS); *text;
	     text += strspn(text, BLANKS)) {
		const char *word = text;
		int rc = take_option(&text, out);

		if (rc < 1)
			return cpl_fail(
			        err,
			        rc ? "'%.*s' needs a number from 1"
			           : "'%.*s' is none of --segment=, "
			             "--switches=, --spread-segments, "
			             "--consolidate-segments, --contiguous and "
			             "--exclusive=topo",
			        (int)(text - word), word);
	}
	return 0;
}

void cpl_asked_find(const char *line, struct cpl_asked *out)
{
	*out = (struct cpl_asked){0};
	for (line += strspn(line, BLANKS); *line; line += strspn(line, BLANKS))
		take_option(&line, out);
}

bool cpl_asked_any(const struct cpl_asked *asked)
{
	return asked->segment || asked->switches || asked->contiguous ||
	       asked->whole;
}
