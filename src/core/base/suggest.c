/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/suggest.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#define MAX_WORD 48

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

static int distance(const char *a, const char *b)
{
	int row[MAX_WORD + 1];
	int n = (int)strlen(b);

	for (int j = 0; j <= n; j++)
		row[j] = j;
	for (int i = 1; a[i - 1]; i++) {
		int diagonal = row[0];

		row[0] = i;
		for (int j = 1; j <= n; j++) {
			int same = tolower((unsigned char)a[i - 1]) ==
			           tolower((unsigned char)b[j - 1]);
			int change = diagonal + !same;

			diagonal = row[j];
			row[j] = smaller(change,
			                 smaller(row[j], row[j - 1]) + 1);
		}
	}
	return row[n];
}

const char *cpl_suggest(const char *text, const char *const *words)
{
	const char *best = NULL;
	int least = MAX_WORD;

	if (strlen(text) > MAX_WORD)
		return NULL;
	for (int i = 0; words[i]; i++) {
		int longer, d;

		if (strlen(words[i]) > MAX_WORD)
			continue;
		longer = (int)strlen(words[i]);
		if (longer < (int)strlen(text))
			longer = (int)strlen(text);
		d = distance(text, words[i]);
		if (d < least && 2 * d <= longer) {
			least = d;
			best = words[i];
		}
	}
	return best;
}
