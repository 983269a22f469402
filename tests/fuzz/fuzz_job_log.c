/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "campaign/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpl_error err = {""};
	char *text = malloc(size + 1);
	struct cpl_log log;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (cpl_log_parse(text, size, "log", 3, &log, &err)) {
		if (!err.text[0] || log.job)
			abort();
		return 0;
	}
	for (int i = 0; i < log.n_jobs; i++) {
		const struct cpl_log_job *job = &log.job[i];

		if (job->id != i + 1 || !(job->run > 0) || job->nodes < 1 ||
		    job->nodes > CPL_LOG_MAX_NODES || job->limit < job->run ||
		    job->share > 1 || job->submit < (i ? job[-1].submit : 0) ||
		    !job->name || !job->label || !job->qos)
			abort();
	}
	cpl_log_free(&log);
	return 0;
}
