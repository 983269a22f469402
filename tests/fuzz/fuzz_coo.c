/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All importers: the first byte takes one. */
#include <stdlib.h>
#include <string.h>

#include "signature/import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ranks of six digits are right, but take seconds. */
static int has_long_number(const uint8_t *data, size_t size)
{
	size_t digits = 0;

	for (size_t i = 0; i < size; i++) {
		digits = data[i] >= '0' && data[i] <= '9' ? digits + 1 : 0;
		if (digits > 5)
			return 1;
	}
	return 0;
}

static const char *format_of(char first)
{
	switch (first) {
	case '%':
		return "mtx";
	case ' ':
		return "treematch";
	case '\x93':
		return "npy";
	case 'n':
		return "goal";
	case '<':
		return "ipm";
	case '@':
		return "mpip";
	case '\1': /* the length of a first message */
	case '\2':
	case '\7':
		return "chakra";
	case '{':
		return "nccl-inspector";
	case 'I':
	case 'E':
	case 'R':
		return "openmpi-monitoring";
	default:
		return "coo";
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *format = "coo";
	struct cpl_error err = {""};
	struct cpl_signature *sig;
	const struct cpl_comm *comm;

	if (size > 0)
		format = format_of((char)data[0]);
	if (has_long_number(data, size))
		return 0;
	/* a name of which one of them takes the rank */
	sig = cpl_signature_import_text((const char *)data, size, "m.0.et",
	                                format, "n", NULL, &err);
	if (!sig) {
		if (strncmp(err.text, "m.0.et:", 7) || strchr(err.text, '\n'))
			abort();
		return 0;
	}
	comm = sig->phase[0].comm;
	for (int64_t i = 0; i < comm->n_entries; i++)
		if (comm->to[i] < 0 || comm->to[i] >= sig->ranks)
			abort();
	cpl_signature_free(sig);
	return 0;
}
