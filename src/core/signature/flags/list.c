/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "signature/flags/flags_internal.h"

void flags_free(struct flag_list *list)
{
	for (int64_t i = 0; i < list->n; i++) {
		cpl_free_all(list->flag[i].key, list->flag[i].value);
	}
	free(list->flag);
}

int flags_push(struct flag_list *list, const char *key, size_t key_length,
               const char *value, size_t value_length, struct cpl_error *err)
{
	struct flag f;

	if (cpl_array_grow(&list->flag, list->n, sizeof(f), err))
		return -1;
	f.key = strndup(key, key_length);
	f.value = strndup(value, value_length);
	if (!f.key || !f.value) {
		cpl_free_all(f.key, f.value);
		return cpl_fail_memory(err);
	}
	for (char *p = f.key; *p; p++)
		*p = *p == '-' ? '_' : (char)tolower((unsigned char)*p);
	list->flag[list->n++] = f;
	return 0;
}
