/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mapping/tile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpl_error err = {""};
	struct cpl_tile_option o;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (cpl_tile_option_parse(text, &o, &err)) {
		if (!err.text[0])
			abort();
	} else if (!o.n_order) {
		int64_t tile = 1, on = 1;

		for (int d = 0; d < o.n_box; d++) {
			if (o.tile[d] < 1 || o.box[d] % o.tile[d])
				abort();
			tile *= o.tile[d];
		}
		for (int d = 0; d < o.n_on; d++)
			on *= o.on[d];
		if (tile != on || o.n_tilts > CPL_TILE_MAX_TILTS)
			abort();
	}
	free(text);
	return 0;
}
