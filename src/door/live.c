/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The jobs that run, for a commplaced in the place of another. */
#include "door/client_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"

bool door_live_find(const struct cpl_engine *engine, int64_t id, int *at)
{
	int low = 0, high = engine->n_live;

	CPL_BISECT(low, high, middle, engine->live[middle].id < id);
	*at = low;
	return low < engine->n_live && engine->live[low].id == id;
}

void door_live_add(struct cpl_engine *engine, int64_t id, bool suspended)
{
	int at;

	if (!door_live_find(engine, id, &at)) {
		if (cpl_array_grow(&engine->live, engine->n_live,
		                   sizeof(*engine->live), NULL))
			return;
		memmove(engine->live + at + 1, engine->live + at,
		        (size_t)(engine->n_live++ - at) *
		                sizeof(*engine->live));
	}
	engine->live[at] = (struct cpl_engine_live){id, suspended};
}

void door_live_remove(struct cpl_engine *engine, int64_t id)
{
	int at;

	if (door_live_find(engine, id, &at))
		memmove(engine->live + at, engine->live + at + 1,
		        (size_t)(--engine->n_live - at) *
		                sizeof(*engine->live));
}

void door_put_live(struct cpl_packer *o, const struct cpl_engine_live *job,
                   int n)
{
	cpl_put_number(o, (uint64_t)n);
	for (int i = 0; i < n; i++) {
		cpl_form_put_signed(o, job[i].id);
		cpl_put_number(o, job[i].suspended);
	}
}
