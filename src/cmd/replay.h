/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A decision made again from its record. */
#pragma once

#include "cmd.h"
#include "scene/scene.h"
#include "site/config.h"
#include "site/profiles.h"
#include "site/record.h"

enum replay_verdict {
	EQUAL,
	DIFFERENT,
	NOT_REPEATABLE,
	NOTHING_DECIDED,
	N_VERDICTS
};

struct replay_options {
	const char *profile_dir, *network, *state_dir, *config;
	bool json;
};

/* What several records share. */
struct replay_site {
	const struct replay_options *o;
	struct cpl_profile_dirs dirs;
	struct cpl_profiles *profiles; /* there */
	char *net_path; /* of net */
	struct cpl_network *net;
	struct cpl_profile *profile; /* of the record at hand, or NULL */
};

/* replay_decide.c: take the network and the profile of a record, from the files that
 * it names. -1 with err: the machine of then cannot be told again. */
int replay_open(struct replay_site *site, const struct cpl_record *r,
                struct cpl_error *err);
/* The machine with the jobs that ran then, into an empty scene; cpl_scene_close it in
 * either case. -1 with err. */
int replay_scene(const struct replay_site *site, const struct cpl_record *r,
                 const char *state_dir, struct cpl_scene *scene,
                 struct cpl_error *err);
/* replay_decide.c: decide the record's job again, from the files that the
 * record names. 0, and *out is to be freed; or -1 with err: it cannot be made
 * again. */
int replay_decide(struct replay_site *site, const struct cpl_record *r,
                  const char *state_dir, struct cpl_decision *out,
                  struct cpl_error *err);
void replay_site_free(struct replay_site *site);

/* replay_compare.c */

/* EQUAL, or DIFFERENT with what differs first in *why. */
enum replay_verdict replay_compare(const struct cpl_record *r,
                                   const struct cpl_network *net,
                                   const struct cpl_decision *d,
                                   struct cpl_error *why);
/* The verdict of a DIFFERENT one: NOT_REPEATABLE where the decision could not
 * be made as it was. What is to blame, files changed since too, is added to
 * *why. */
enum replay_verdict replay_blame(const struct replay_site *site,
                                 const struct cpl_record *r,
                                 const char *state_dir, struct cpl_error *why);
