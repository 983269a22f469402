/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the lines of commplace.conf (config.c) and its keys. */
#pragma once

#include "site/config.h"

struct config_parser;

/* Is there a thing of that name? -1 with err, as a config_set. NULL: the names
 * are checked by programs that have the things. */
struct config_names {
	int (*policy)(struct config_parser *p, const char *value);
	int (*mapping)(struct config_parser *p, const char *value);
	int (*order)(struct config_parser *p, const char *value);
	int (*routing)(struct config_parser *p, const char *value);
};
extern const struct config_names config_names;

struct config_parser {
	const struct config_names *names; /* or NULL */
	struct cpl_config *config;
	int line;
	enum cpl_config_scope scope; /* what the current line is about */
	struct cpl_partition_rule *partition;
	struct cpl_match_rule *match;
	uint64_t seen, seen_in_line; /* bits: index of the key */
	const struct rule *rule;     /* of the key at hand (config_keys.c) */
	struct cpl_error *err;
};

/* Index of the key that may stand there; -1 with err. */
int config_key_find(struct config_parser *p, const char *name);

/* Check a value and put it where it belongs. -1 with err. */
int config_key_set(struct config_parser *p, int key, const char *value);

/* Give all general keys their built-in values. -1 with err. */
int config_set_built_in(struct config_parser *p);

/* The settings of a line that has none yet. */
void config_unset(struct cpl_defaults *defaults);

/* The texts of all general keys; of a line's settings; of the keys that are for
 * Match alone. */
void config_free_general(struct cpl_config *config);
void config_free_settings(struct cpl_defaults *defaults);
void config_free_match(struct cpl_match_rule *rule);

/* The earlier rule that has this one's conditions and one of its settings, which
 * then always is the earlier's; NULL: there is none. */
const struct cpl_match_rule *
config_match_before(const struct cpl_config *config,
                    const struct cpl_match_rule *rule);
