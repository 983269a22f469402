/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>

#include "learn/model.h"
#include "learn/samples.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const double x[CPL_SAMPLES_MAX_COLUMNS] = {1, -2, 3e9};
	struct cpl_error err = {""};
	struct cpl_model *m =
	        cpl_model_parse((const char *)data, size, "f", &err);

	if (!m && !err.text[0])
		abort();
	if (m) {
		double value = cpl_model_value(m, x);

		if (!(value >= m->least && value <= m->most))
			abort();
	}
	cpl_model_free(m);
	return 0;
}
