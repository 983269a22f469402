/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/wish.h"

#include "base/none.h"

int cpl_wish_policy(struct cpl_wish *wish, const struct cpl_network *net,
                    const char *name, struct cpl_error *err)
{
	const struct cpl_placement_policy *policy =
	        cpl_placement_find(net ? net->type : NULL, name, err);
	const char *option = cpl_placement_option(name);

	if (!policy || (net && cpl_placement_check(net, policy, option, err)))
		return -1;
	wish->policy = policy;
	wish->option = option;
	return 0;
}

int cpl_wish_mapper(struct cpl_wish *wish, const char *name,
                    struct cpl_error *err)
{
	const struct cpl_mapper *mapper = cpl_mapper_find(name, err);

	if (!mapper)
		return -1;
	wish->mapper = mapper;
	wish->map_option = cpl_mapper_option(name);
	return 0;
}

int cpl_wish_units(struct cpl_wish *wish, const struct cpl_network *net,
                   const char *name, struct cpl_error *err)
{
	struct cpl_cut cut = {0};

	if (!cpl_is_none(name) && cpl_cut_find(net, name, &cut, err))
		return -1;
	wish->keep = cut;
	return 0;
}
