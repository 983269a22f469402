/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What starts a training, and workloads of AICB: the first byte says which. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "signature/flags/flags.h"
#include "signature/import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ranks of six digits are right, but take seconds. */
static int has_long_number(const uint8_t *data, size_t size)
{
	size_t digits = 0;

	for (size_t i = 0; i < size; i++) {
		digits = data[i] >= '0' && data[i] <= '9' ? digits + 1 : 0;
		if (digits > 4)
			return 1;
	}
	return 0;
}

static struct cpl_signature *of_words(const char *text, size_t size,
                                      struct cpl_error *err)
{
	char *line = strndup(text, size);
	const char *word = line;
	const struct cpl_flags_request request = {
	        .word = &word, .n_words = 1, .ranks = 8, .name = "f"};
	struct cpl_signature *sig = NULL;

	if (line)
		sig = cpl_signature_from_flags(&request, err);
	free(line);
	return sig;
}

static void check(const struct cpl_signature *sig)
{
	for (int p = 0; p < sig->n_phases; p++) {
		const struct cpl_comm *comm = sig->phase[p].comm;

		if (!(sig->phase[p].weight > 0))
			abort();
		for (int64_t i = 0; comm && i < comm->n_entries; i++)
			if (comm->to[i] < 0 || comm->to[i] >= sig->ranks ||
			    !(comm->bytes[i] >= 0))
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const name[] = {"f.json", "f.toml", "f.yaml"};
	const char *text = (const char *)data + 1;
	struct cpl_error err = {""};
	struct cpl_signature *sig;

	if (!size || ((data[0] == '[' || data[0] == 'c') &&
	              has_long_number(data, size)))
		return 0;
	if (data[0] == '[' || data[0] == 'c')
		sig = cpl_signature_import_text((const char *)data, size, "f",
		                                "aicb", "n", NULL, &err);
	else if (data[0] == '-')
		sig = of_words((const char *)data, size, &err);
	else
		sig = cpl_signature_from_config(text, size - 1,
		                                name[data[0] % 3], 8, &err);
	if (!sig && (!err.text[0] || strchr(err.text, '\n')))
		abort();
	if (sig)
		check(sig);
	cpl_signature_free(sig);
	return 0;
}
