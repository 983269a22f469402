/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An excerpt without its sum, which is made right, as a launch request of an
 * ill-willed client would have it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "signature/excerpt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TASKS 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t ids[TASKS] = {0, 1, 2, 3};
	struct cpl_error err = {""};
	uint32_t sum = 2166136261u;
	unsigned char *copy = malloc(size + 4);

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	for (size_t i = 0; i < size; i++)
		sum = (sum ^ data[i]) * 16777619u;
	for (int i = 0; i < 4; i++)
		copy[size + (size_t)i] = (unsigned char)(sum >> 8 * i);
	cpl_excerpt_is_of(copy, size + 4, "x");
	for (int node = 0; node < 3; node++) {
		struct cpl_comm *comm = cpl_excerpt_read(
		        copy, size + 4, TASKS, node, ids, TASKS, &err);

		if (!comm && !err.text[0])
			abort();
		if (comm && comm->ranks != TASKS)
			abort();
		for (int64_t e = 0; comm && e < comm->n_entries; e++)
			if (comm->to[e] < 0 || comm->to[e] >= TASKS ||
			    !(comm->bytes[e] >= 0))
				abort();
		cpl_comm_free(comm);
		err.text[0] = '\0';
	}
	free(copy);
	return 0;
}
