/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/dragonfly/group.h"

#include "network/type.h"

/* Set the links that leave the router of that row and column. */
static void link_router(struct cpl_network *net,
                        const struct cpl_local_group *g, int first, int row,
                        int column)
{
	int router = first + row * g->columns + column;

	for (int c = 0; c < g->columns; c++)
		if (c != column)
			cpl_network_set_link(net,
			                     cpl_local_row(g, row, column, c),
			                     router, router - column + c);
	for (int r = 0; r < g->rows; r++)
		if (r != row)
			cpl_network_set_link(
			        net, cpl_local_column(g, row, column, r),
			        router, router + (r - row) * g->columns);
}

void cpl_local_link(struct cpl_network *net, const struct cpl_local_group *g,
                    int first)
{
	for (int r = 0; r < g->rows; r++)
		for (int c = 0; c < g->columns; c++)
			link_router(net, g, first, r, c);
}
