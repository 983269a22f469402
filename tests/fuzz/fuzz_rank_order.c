/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mapping/rank_order.h"
#include "ranges.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpl_rank_order order, again;
	struct cpl_error err = {""};
	char *text, *folded;

	if (is_long(data, size, 2))
		return 0;
	text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (cpl_rank_order_parse(text, "n[0-99]", &order, &err)) {
		if (!err.text[0] || order.rank_host)
			abort();
		free(text);
		return 0;
	}
	free(text);
	folded = cpl_rank_order_text(order.hosts.name, order.hosts.count,
	                             order.rank_host, order.ranks, SIZE_MAX);
	if (folded) {
		if (cpl_rank_order_parse(folded, "n[0-99]", &again, &err) ||
		    again.ranks != order.ranks ||
		    memcmp(again.rank_host, order.rank_host,
		           (size_t)order.ranks * sizeof(int)))
			abort();
		cpl_rank_order_free(&again);
	}
	free(folded);
	cpl_rank_order_free(&order);
	return 0;
}
