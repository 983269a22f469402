/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How values of commplace.conf are read: a function for each kind. It checks
 * the value and sets the field that the key of p->rule has. -1 with err, which
 * goes on behind "KEY=VALUE", or behind "KEY: " where it says it all.
 */
#pragma once

#include "site/config_internal.h"

typedef int config_set(struct config_parser *p, void *field, const char *value);

/* Where the value of a key goes. */
struct rule {
	config_set *set;
	bool says_all;
	struct place {
		size_t offset;
		bool text; /* a char * to be freed */
	} general,                /* in struct cpl_config */
		line;             /* in a line's settings; of keys that are for
	                           * Match alone, in the rule */
	const char *const *words; /* of a choice; the field gets the index */
	uint64_t low, high;       /* of a number */
};

/* char *, own copies. */
config_set config_set_text, config_set_path, config_set_user_dir,
        config_set_policy, config_set_mapping, config_set_binding,
        config_set_routing, config_set_order, config_set_units,
        config_set_record, config_set_list, config_set_profile, config_set_nic,
        config_set_source;
/* int: index of one of the rule's words, number, milliseconds, enum
 * cpl_objective, bits. */
config_set config_set_choice, config_set_int, config_set_time,
        config_set_objective, config_set_override;
/* bool, uint64_t, struct cpl_range, int64_t: seconds since 1970. */
config_set config_set_flag, config_set_uint64, config_set_range, config_set_date,
        config_set_volume;
