/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A launch's data without its sum, which is made right, as the request of an
 * ill-willed client would have it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/packed.h"
#include "binding/launch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TASKS 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t ids[TASKS] = {0, 1, 2, 3};
	struct cpl_error err = {""};
	struct cpl_launch head;
	uint32_t sum = cpl_fnv(CPL_FNV, data, size);
	unsigned char *copy = malloc(size + 4);

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	for (int i = 0; i < 4; i++)
		copy[size + (size_t)i] = (unsigned char)(sum >> 8 * i);
	if (!cpl_launch_read(copy, size + 4, &head, &err) && head.ranks < 0)
		abort();
	err.text[0] = '\0';
	for (int node = 0; node < 3; node++) {
		struct cpl_comm *comm = cpl_launch_rows(copy, size + 4, TASKS,
		                                        node, ids, TASKS, &err);

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
