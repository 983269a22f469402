/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a server of measured links answers. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "measured/source.h"
#include "measured/source_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *body, *csv;
	struct cpl_error err = {""};
	size_t length = size;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	body = measured_body(text, &length, &err);
	if (body && (body < text || body + length != text + size))
		abort();
	if (body) {
		csv = cpl_measured_from_prometheus(body, length, &length, &err);
		if (csv && strlen(csv) != length)
			abort();
		free(csv);
		body = csv;
	}
	if (!body && !err.text[0])
		abort();
	free(text);
	return 0;
}
