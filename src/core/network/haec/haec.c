/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network/haec/haec.h"

#include "network/type.h"

static const char *const keys[] = {"dims", NULL};
static const char *const levels[] = {"board", NULL};
static const char *const classes[] = {"optical", "wireless", NULL};

static int read_dims(struct cpl_network *net, const json_t *root,
                     struct cpl_error *err)
{
	const json_t *dims = json_object_get(root, "dims");
	struct cpl_haec *haec = (void *)net->own;
	int dim[CPL_NETWORK_MAX_DIMS];

	if (json_array_size(dims) != 3)
		return cpl_fail(err,
		                "\"dims\" %s; an array of 3 lengths is "
		                "needed: x and y of a board, and the boards",
		                dims ? "is not valid" : "is missing");
	if (cpl_network_dims(net, root, dim, err) < 0)
		return -1;
	*haec = (struct cpl_haec){dim[0], dim[1], dim[2]};
	return 0;
}

static int shape(struct cpl_network *net, const json_t *root,
                 struct cpl_error *err)
{
	const struct cpl_haec *haec = cpl_haec_of(net);
	int64_t places, count[2];

	if (read_dims(net, root, err))
		return -1;
	places = (int64_t)haec->x * haec->y;
	cpl_network_add_level(net, "board", (int)places);
	cpl_network_add_level(net, NULL, 1);
	count[CPL_HAEC_OPTICAL] =
	        (int64_t)net->n_routers * 2 * ((haec->x > 1) + (haec->y > 1));
	count[CPL_HAEC_WIRELESS] = 2 * (haec->boards - 1) * places * places;
	return cpl_network_add_classes(net, root, classes, count, err);
}

static int links(struct cpl_network *net, struct cpl_error *err)
{
	const struct cpl_haec *haec = cpl_haec_of(net);
	int places = haec->x * haec->y;

	(void)err;
	for (int r = 0; r < net->n_routers; r++) {
		int at[] = {r % haec->x, r / haec->x % haec->y};
		int length[] = {haec->x, haec->y}, stride[] = {1, haec->x};
		int board = r / places;

		for (int i = 0; i < 4; i++) {
			int d = i / 2, minus = i % 2, n = length[d];
			int next = (at[d] + (minus ? n - 1 : 1)) % n;

			if (n > 1)
				cpl_network_set_link(
				        net, cpl_haec_optical(net, r, d, minus),
				        r, r + (next - at[d]) * stride[d]);
		}
		for (int down = 0; down < 2; down++) {
			int there = board + (down ? -1 : 1);

			if (there < 0 || there == haec->boards)
				continue;
			for (int to = 0; to < places; to++)
				cpl_network_set_link(
				        net,
				        cpl_haec_wireless(net, r, to, down), r,
				        there * places + to);
		}
	}
	return 0;
}

static int coordinates(const struct cpl_network *net, int router, int *at)
{
	const struct cpl_haec *haec = cpl_haec_of(net);

	at[0] = router % haec->x;
	at[1] = router / haec->x % haec->y;
	at[2] = router / haec->x / haec->y;
	return 3;
}

static void describe(const struct cpl_network *net, FILE *out)
{
	const struct cpl_haec *haec = cpl_haec_of(net);

	fprintf(out, "HAEC Box of %d boards of %d x %d routers x %d nodes",
	        haec->boards, haec->x, haec->y, net->nodes_per_router);
}

static json_t *sizes(const struct cpl_network *net)
{
	const struct cpl_haec *haec = cpl_haec_of(net);

	return json_pack("{s:[i, i, i]}", "dims", haec->x, haec->y,
	                 haec->boards);
}

const struct cpl_network_type cpl_network_haec = {
        .name = "haec",
        .summary = "a line of boards, each a 2-D torus, with wireless links "
                   "between neighbours",
        .levels = levels,
        .keys = keys,
        .size = sizeof(struct cpl_haec),
        .shape = shape,
        .links = links,
        .coordinates = coordinates,
        .describe = describe,
        .sizes = sizes,
};
