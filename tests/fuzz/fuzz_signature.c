/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "signature/signature.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Many ranks are right, but take seconds and gigabytes. */
static int many_ranks(const uint8_t *data, size_t size)
{
	static const char key[] = "\"ranks\"";
	const uint8_t *end = data + size;
	int digits = 0;

	for (const uint8_t *p = data;
	     (p = memmem(p, (size_t)(end - p), key, strlen(key)));) {
		p += strlen(key);
		while (p < end && strchr(" \t\r\n:", *p))
			p++;
		for (digits = 0; p < end && *p >= '0' && *p <= '9'; p++)
			digits++;
		if (digits > 3)
			return 1;
	}
	return 0;
}

static void check(const struct cpl_comm *comm, int ranks)
{
	if (!comm || comm->ranks != ranks || comm->row[0] != 0 ||
	    comm->row[ranks] != comm->n_entries)
		abort();
	for (int r = 0; r < ranks; r++)
		for (int64_t i = comm->row[r]; i < comm->row[r + 1]; i++)
			if (comm->to[i] < 0 || comm->to[i] >= ranks ||
			    (i > comm->row[r] &&
			     comm->to[i] <= comm->to[i - 1]) ||
			    !(comm->bytes[i] >= 0.0) ||
			    !(comm->messages[i] >= 0.0))
				abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpl_error err = {""};
	struct cpl_signature *sig;
	struct cpl_comm *total, *graph;

	if (many_ranks(data, size))
		return 0;
	sig = cpl_signature_parse((const char *)data, size, "s.json", &err);
	if (!sig) {
		if (!err.text[0] || strchr(err.text, '\n'))
			abort();
		return 0;
	}
	for (int i = 0; i < sig->n_phases; i++)
		check(sig->phase[i].comm, sig->ranks);
	total = cpl_signature_total(sig, &err);
	check(total, sig->ranks);
	graph = cpl_comm_symmetric(total, &err);
	check(graph, sig->ranks);
	cpl_comm_free(graph);
	cpl_comm_free(total);
	cpl_signature_free(sig);
	return 0;
}
