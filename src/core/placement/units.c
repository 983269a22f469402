/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/random.h"
#include "placement/placement_internal.h"

int cpl_placement_unit_free(const struct cpl_placement_request *req, int first,
                            int size, bool *whole)
{
	int n = 0, ports = 0;

	for (int i = first; i < first + size; i++) {
		n += req->free[i] != 0;
		ports += req->net->node_name[i] != NULL;
	}
	*whole = n > 0 && n == ports;
	return n;
}

/* Append the free nodes of a unit; returns the new count. */
static int take(const struct cpl_placement_request *req, int first, int size,
                int *out, int n)
{
	for (int i = first; i < first + size && n < req->n_nodes_wanted; i++)
		if (req->free[i])
			out[n++] = i;
	return n;
}

int cpl_placement_random_units(const struct cpl_placement_request *req,
                               int size, uint64_t stream, int *out,
                               struct cpl_error *err)
{
	int n_units = req->net->n_nodes / size;
	int *unit = malloc((size_t)n_units * sizeof(*unit));
	int n = 0;

	if (!unit)
		return cpl_fail_memory(err);
	for (int i = 0; i < n_units; i++)
		unit[i] = i;
	/* All units are shuffled, so a unit's place in the order depends on
	 * the seed only and not on what else is taken. */
	cpl_random_shuffle(unit, n_units, req->seed, stream);
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < n_units && n < req->n_nodes_wanted; i++) {
			int first = unit[i] * size;
			bool whole;

			if (cpl_placement_unit_free(req, first, size, &whole) &&
			    whole == (pass == 0))
				n = take(req, first, size, out, n);
		}
	}
	free(unit);
	return cpl_placement_require(req, out, err);
}

int cpl_placement_round_robin(const struct cpl_placement_request *req, int room,
                              int size, int *out, struct cpl_error *err)
{
	int n_rooms = req->net->n_nodes / room;
	int *next = malloc((size_t)n_rooms * sizeof(*next));
	int n = 0;

	if (!next)
		return cpl_fail_memory(err);
	for (int pass = 0; pass < 2; pass++) {
		bool any = true;

		for (int r = 0; r < n_rooms; r++)
			next[r] = r * room;
		while (any && n < req->n_nodes_wanted) {
			any = false;
			for (int r = 0; r < n_rooms; r++) {
				bool found = false;

				while (!found && next[r] < (r + 1) * room) {
					bool whole;
					int c = cpl_placement_unit_free(
					        req, next[r], size, &whole);

					found = c && whole == (pass == 0);
					next[r] += size;
				}
				if (found)
					n = take(req, next[r] - size, size, out,
					         n);
				any |= found;
			}
		}
	}
	free(next);
	return cpl_placement_require(req, out, err);
}
