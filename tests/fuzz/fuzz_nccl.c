/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pieces of what NCCL sent, each up to a line "end": whoever may write into a folder
 * of them. */
/* fuzz-sources: src/record/nccl_reader.c src/record/nccl_join.c src/record/nccl_who.c */
#include <stdlib.h>
#include <string.h>

#include "record/nccl_join.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nccl_join *j = nccl_join_new();
	const struct nccl_row *row;
	char why[NCCL_WHY] = "";
	struct nccl_facts facts;
	int64_t n;

	while (j && size) {
		const uint8_t *end = memmem(data, size, "\nend\n", 5);
		size_t length = end ? (size_t)(end - data) + 5 : size;

		if (nccl_join_parse(j, data, length, "f", why) && !*why)
			abort();
		data += length;
		size -= length;
	}
	if (j && size % 2)
		nccl_join_keep(j, "a", 1);
	if (j && nccl_join_solve(j, &row, &n, &facts, why)) {
		if (!*why)
			abort();
	} else if (j) {
		for (int64_t i = 0; i < n; i++)
			if (row[i].from < 0 || row[i].from >= facts.ranks ||
			    row[i].to < 0 || row[i].to >= facts.ranks ||
			    !row[i].messages ||
			    row[i].bytes > UINT64_C(1000000000000000000) ||
			    (i && row[i - 1].from == row[i].from &&
			     row[i - 1].to >= row[i].to))
				abort();
	}
	nccl_join_free(j);
	return 0;
}
