/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/binding_internal.h"

#include <stdlib.h>

int cpl_by_int(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) -
	       (*(const int *)a < *(const int *)b);
}

static int grow(struct cpl_comm *comm, int64_t *room, int64_t need)
{
	int64_t more = need > 2 * *room ? need : 2 * *room;
	int *to;
	double *bytes;

	if (need <= *room)
		return 0;
	to = realloc(comm->to, (size_t)more * sizeof(*to));
	if (to)
		comm->to = to;
	bytes = realloc(comm->bytes, (size_t)more * sizeof(*bytes));
	if (bytes)
		comm->bytes = bytes;
	if (!to || !bytes)
		return -1;
	*room = more;
	return 0;
}

struct cpl_comm *cpl_bind_aggregate(const struct cpl_comm *graph,
                                    const int *group, int n_groups,
                                    struct cpl_error *err)
{
	struct cpl_comm *out = calloc(1, sizeof(*out));
	size_t n = (size_t)graph->ranks, m = (size_t)n_groups;
	double *sum = calloc(m + 1, sizeof(*sum));
	unsigned char *seen = calloc(m + 1, 1);
	int *touched = malloc((m + 1) * sizeof(*touched));
	int *start = calloc(m + 2, sizeof(*start));
	int *member = malloc((n + 1) * sizeof(*member));
	int64_t room = 0;

	if (!out || !sum || !seen || !touched || !start || !member)
		goto memory;
	out->ranks = n_groups;
	out->row = calloc(m + 1, sizeof(*out->row));
	if (!out->row || grow(out, &room, n_groups + 1))
		goto memory;
	for (size_t i = 0; i < n; i++)
		start[group[i] + 2]++;
	for (int g = 0; g < n_groups; g++)
		start[g + 2] += start[g + 1];
	for (size_t i = 0; i < n; i++)
		member[start[group[i] + 1]++] = (int)i;
	for (int g = 0; g < n_groups; g++) {
		int k = 0;

		for (int j = start[g]; j < start[g + 1]; j++) {
			int i = member[j];

			for (int64_t e = graph->row[i]; e < graph->row[i + 1];
			     e++) {
				int to = group[graph->to[e]];

				sum[to] += graph->bytes[e];
				if (!seen[to]) {
					seen[to] = 1;
					touched[k++] = to;
				}
			}
		}
		if (k > n_groups / 16) {
			k = 0;
			for (int to = 0; to < n_groups; to++)
				if (seen[to])
					touched[k++] = to;
		} else {
			qsort(touched, (size_t)k, sizeof(*touched), cpl_by_int);
		}
		if (grow(out, &room, out->n_entries + k))
			goto memory;
		for (int t = 0; t < k; t++) {
			int to = touched[t];

			if (to != g) {
				out->to[out->n_entries] = to;
				out->bytes[out->n_entries++] = sum[to];
			}
			sum[to] = 0;
			seen[to] = 0;
		}
		out->row[g + 1] = out->n_entries;
	}
	goto done;

memory:
	cpl_fail_memory(err);
	cpl_comm_free(out);
	out = NULL;
done:
	free(member);
	free(start);
	free(touched);
	free(seen);
	free(sum);
	return out;
}
