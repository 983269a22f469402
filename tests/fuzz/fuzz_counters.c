/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "site/counters.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpl_error err = {""};
	struct cpl_counters read, again;
	size_t length;
	json_t *root;
	char *text;

	if (cpl_counters_parse((const char *)data, size, "c", &read, &err))
		return err.text[0] ? 0 : (abort(), 0);
	/* What was read can be written and read again. */
	root = cpl_counters_json(&read);
	text = root ? cpl_json_text(root, &length, &err) : NULL;
	if (!text || cpl_counters_parse(text, length, "c", &again, &err))
		abort();
	again.count[CPL_COUNT_REASON] = read.count[CPL_COUNT_REASON];
	if (memcmp(&read, &again, sizeof(read)))
		abort();
	json_decref(root);
	free(text);
	return 0;
}
