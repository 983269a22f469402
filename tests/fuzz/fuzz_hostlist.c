/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "ranges.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpl_hostlist list = {0}, again = {0};
	struct cpl_error err = {""};
	char *text, *folded = NULL;

	if (is_long(data, size, 4))
		return 0;
	text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (cpl_hostlist_parse(&list, text, &err)) {
		if (!err.text[0] || list.name)
			abort();
		goto out;
	}
	folded = cpl_hostlist_format(list.name, list.count);
	if (!folded)
		goto out;
	if (cpl_hostlist_parse(&again, folded, &err) ||
	    again.count != list.count)
		abort();
	for (int i = 0; i < list.count; i++)
		if (strcmp(list.name[i], again.name[i]))
			abort();
out:
	cpl_hostlist_free(&list);
	cpl_hostlist_free(&again);
	free(folded);
	free(text);
	return 0;
}
