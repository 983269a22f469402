/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>

#include "signature/phases/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpl_error err = {""};
	struct cpl_machine *m =
	        cpl_machine_parse((const char *)data, size, "f", &err);

	if (!m) {
		if (!err.text[0])
			abort();
		return 0;
	}
	for (int l = 0; l < CPL_MACHINE_LEVELS; l++)
		for (double bytes = 0; bytes < 1e12; bytes = bytes * 7 + 1)
			if (!(cpl_machine_seconds(m, l, bytes) >= 0) ||
			    !(cpl_machine_occupancy(m, l, bytes) >= 0))
				abort();
	cpl_machine_free(m);
	return 0;
}
