/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is handed over to the manager of a job's steps, without its sum, which
 * is made right. Whatever it says, the step has each of its ranks once.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/packed.h"
#include "site/engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RANKS 8
#define HOSTS 4

static void check(const struct cpl_engine_step *step)
{
	unsigned seen = 0;

	for (int i = 0; i < HOSTS; i++)
		for (int k = 0; k < step->tasks[i]; k++) {
			if (step->ids[i][k] >= RANKS)
				abort();
			seen |= 1u << step->ids[i][k];
		}
	if (seen != (1u << RANKS) - 1)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t tasks[HOSTS] = {2, 2, 2, 2};
	uint32_t id[HOSTS][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}};
	uint32_t *ids[HOSTS] = {id[0], id[1], id[2], id[3]};
	const struct cpl_engine_step step = {
	        .hosts = "n[0-3]",
	        .n_hosts = HOSTS,
	        .ranks = RANKS,
	        .tasks = tasks,
	        .ids = ids,
	};
	struct cpl_engine_layout out;
	struct cpl_error err = {""};
	unsigned char *copy = malloc(size + 4);
	uint32_t sum = cpl_fnv(CPL_FNV, data, size);

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	for (int i = 0; i < 4; i++)
		copy[size + (size_t)i] = (unsigned char)(sum >> 8 * i);
	if (cpl_engine_step_handed(copy, size + 4, &step, &out, &err)) {
		if (!err.text[0] || out.data || out.changed)
			abort();
	} else if (out.data && out.size < 8) {
		abort();
	}
	check(&step);
	free(out.data);
	free(copy);
	return 0;
}
