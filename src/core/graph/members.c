/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/members.h"

#include <stdlib.h>

int cpl_members_init(struct cpl_members *m, int *set, int n, int n_sets,
                     struct cpl_error *err)
{
	*m = (struct cpl_members){
	        .set = set,
	        .first = calloc((size_t)n_sets + 2, sizeof(int)),
	        .member = malloc(((size_t)n + 1) * sizeof(int)),
	        .position = malloc(((size_t)n + 1) * sizeof(int)),
	};
	if (!m->first || !m->member || !m->position)
		return cpl_fail_memory(err);
	for (int i = 0; i < n; i++)
		m->first[set[i] + 2]++;
	for (int s = 0; s < n_sets; s++)
		m->first[s + 2] += m->first[s + 1];
	/* Counting sort: first[s + 1] runs from the start of set s to its end,
	 * which is the start of the next. */
	for (int i = 0; i < n; i++) {
		m->position[i] = m->first[set[i] + 1]++;
		m->member[m->position[i]] = i;
	}
	return 0;
}

void cpl_members_free(struct cpl_members *m)
{
	free(m->first);
	free(m->member);
	free(m->position);
}

void cpl_members_chain(const int *set, int n, int n_sets, int *first, int *next)
{
	for (int s = 0; s < n_sets; s++)
		first[s] = -1;
	for (int i = n - 1; i >= 0; i--) {
		next[i] = first[set[i]];
		first[set[i]] = i;
	}
}
