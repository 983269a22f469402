/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/members.h"

#include <stdlib.h>

void cpl_members_list(const int *set, int n, int n_sets, int *first,
                      int *member)
{
	for (int i = 0; i < n; i++)
		first[set[i] + 2]++;
	for (int s = 0; s < n_sets; s++)
		first[s + 2] += first[s + 1];
	/* first[s + 1] runs from the start of set s to its end, which is the
	 * start of the next. */
	for (int i = 0; i < n; i++)
		member[first[set[i] + 1]++] = i;
}

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
	cpl_members_list(set, n, n_sets, m->first, m->member);
	for (int i = 0; i < n; i++)
		m->position[m->member[i]] = i;
	return 0;
}

void cpl_members_free(struct cpl_members *m)
{
	cpl_free_all(m->first, m->member, m->position);
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
