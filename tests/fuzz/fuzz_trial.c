/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>

#include "site/trial.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpl_trial_state trial;
	struct cpl_error err = {""};

	if (cpl_trial_parse((const char *)data, size, "f", &trial, &err)) {
		if (!err.text[0] || trial.n)
			abort();
		return 0;
	}
	for (int i = 0; i < trial.n; i++)
		if (!cpl_trial_stopped(&trial, trial.stopped[i].profile))
			abort();
	cpl_trial_free(&trial);
	return 0;
}
