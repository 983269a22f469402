/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "site/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpl_error err = {""};
	json_t *root = cpl_json_parse((const char *)data, size, "r", &err);
	struct cpl_running_job job;
	struct cpl_record *record, *again;

	if (!root)
		return 0;
	record = cpl_record_from_json(root, &err);
	json_decref(root);
	if (!record)
		return err.text[0] ? 0 : (abort(), 0);
	/* What was read can be written and read again. */
	root = cpl_record_to_json(record, &err);
	again = root ? cpl_record_from_json(root, &err) : NULL;
	if (!again || again->job != record->job ||
	    again->n_hosts != record->n_hosts || again->ranks != record->ranks)
		abort();
	/* Huge host lists are right, but take seconds. */
	if (strlen(record->stock_hosts) < 8 &&
	    !cpl_record_job(record, &job, &err))
		cpl_running_job_clear(&job);
	json_decref(root);
	cpl_record_free(again);
	cpl_record_free(record);
	return 0;
}
