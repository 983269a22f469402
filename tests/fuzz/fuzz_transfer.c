/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the program of `commplace characterize` prints: a machine that can be
 * read, or a message. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "signature/phases/measure.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Hosts whose names end alike are near. */
static int between(void *arg, const char *a, const char *b,
                   struct cpl_error *err)
{
	if (*a == '!' || *b == '!')
		return cpl_fail(err, "unknown host");
	return a[strlen(a) - 1] == b[strlen(b) - 1] ? CPL_BY_ROUTER
	                                            : CPL_BY_GROUP;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpl_measured_level level[CPL_MACHINE_LEVELS];
	struct cpl_error err = {""};
	json_t *root = cpl_machine_measure((const char *)data, size, "m", NULL,
	                                   between, NULL, level, &err);
	struct cpl_machine *machine;
	char *text;

	if (!root) {
		if (strncmp(err.text, "m:", 2) || strchr(err.text, '\n'))
			abort();
		return 0;
	}
	text = json_dumps(root, 0);
	machine = cpl_machine_parse(text, strlen(text), "m", &err);
	if (!machine)
		abort();
	cpl_machine_free(machine);
	free(text);
	json_decref(root);
	return 0;
}
