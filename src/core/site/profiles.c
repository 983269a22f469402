/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/profiles.h"

#include <stdlib.h>
#include <string.h>

#include "signature/install.h"
#include "signature/rescale.h"
#include "signature/tasks.h"
#include "site/store_internal.h"
#include "site/user_dir.h"

struct cpl_profiles {
	struct cpl_profile_dirs dirs;
	struct cpl_worker *worker;
	struct cpl_store *store;
};

struct cpl_profiles *cpl_profiles_open(const struct cpl_profile_dirs *dirs,
                                       struct cpl_error *err)
{
	struct cpl_profiles *profiles = calloc(1, sizeof(*profiles));

	if (!profiles)
		return cpl_fail_null_memory(err);
	profiles->dirs = *dirs;
	profiles->worker = cpl_worker_new(err);
	if (profiles->worker)
		profiles->store =
		        cpl_store_new(profiles->worker, NULL, NULL, err);
	if (!profiles->store) {
		cpl_profiles_close(profiles);
		return NULL;
	}
	cpl_store_limit(profiles->store, dirs->max_bytes);
	cpl_store_rescale(profiles->store, dirs->rescale);
	return profiles;
}

void cpl_profiles_close(struct cpl_profiles *profiles)
{
	if (!profiles)
		return;
	if (profiles->worker)
		cpl_worker_stop(profiles->worker, INT64_MAX, NULL, NULL);
	cpl_store_free(profiles->store);
	cpl_worker_free(profiles->worker);
	free(profiles);
}

/* Is it known where such a profile is? -1 with err: no. */
static int check_known(const struct cpl_profile_dirs *dirs,
                       const struct cpl_profile_wanted *wanted,
                       struct cpl_error *err)
{
	if (wanted->own ? dirs->user_dir : dirs->dir)
		return 0;
	if (wanted->own)
		return cpl_fail(err,
		                "profile '%.60s' is the user's own, and no "
		                "UserProfileDir is known",
		                wanted->name);
	return cpl_fail(err,
	                "signature \"%s\" is a profile's name, and no profile "
	                "directory is known; give a path with a \"/\"",
	                wanted->name);
}

static struct cpl_profile *by_name(struct cpl_profiles *profiles,
                                   const struct cpl_profile_wanted *wanted,
                                   struct cpl_error *err)
{
	const struct cpl_profile_dirs *dirs = &profiles->dirs;
	struct cpl_store_query query = {
	        .dir = wanted->own ? NULL : dirs->dir,
	        .user_dir = wanted->own ? dirs->user_dir : NULL,
	        .whom = CPL_FOR_US,
	        .uid = wanted->uid,
	        .name = wanted->name,
	        .ranks = wanted->ranks,
	        .deadline = INT64_MAX,
	};
	struct cpl_store_answer answer;

	if (check_known(dirs, wanted, err))
		return NULL;
	cpl_store_find(profiles->store, &query, &answer);
	if (!answer.profile)
		cpl_fail(err, "%s%s%s%s", answer.err.text,
		         *answer.why.text ? ", and cannot be rescaled: " : "",
		         answer.why.text,
		         wanted->own ? " (a profile of the job's user)" : "");
	return answer.profile;
}

/* A file may have another number of ranks than the job: the job's profile may
 * have been made from it. */
static struct cpl_profile *by_path(const struct cpl_profiles *profiles,
                                   const struct cpl_profile_wanted *wanted,
                                   struct cpl_error *err)
{
	struct cpl_signature *sig = cpl_signature_load(wanted->name, err);
	struct cpl_signature *other;
	struct cpl_rescaled how;
	struct cpl_error why = {""};

	if (sig && wanted->ranks && sig->ranks != wanted->ranks) {
		other = cpl_signature_tasks(sig, wanted->ranks, NULL);
		if (!other)
			other = cpl_signature_rescale(sig, wanted->ranks,
			                              profiles->dirs.max_bytes,
			                              &how, &why);
		if (!other)
			cpl_fail(err,
			         "%s is of %d ranks, the job has %d, and "
			         "cannot be rescaled: %s",
			         wanted->name, sig->ranks, wanted->ranks,
			         why.text);
		cpl_signature_free(sig);
		sig = other;
	}
	return sig ? store_profile_make(sig, err) : NULL;
}

struct cpl_profile *cpl_profiles_find(struct cpl_profiles *profiles,
                                      const struct cpl_profile_wanted *wanted,
                                      struct cpl_error *err)
{
	return strchr(wanted->name, '/') ? by_path(profiles, wanted, err)
	                                 : by_name(profiles, wanted, err);
}

char *cpl_profiles_file(const struct cpl_profile_dirs *dirs,
                        const struct cpl_profile_wanted *wanted,
                        struct cpl_error *err)
{
	struct cpl_user_rights rights = {false};
	char *dir, *path = NULL;

	if (check_known(dirs, wanted, err))
		return NULL;
	if (!wanted->own)
		return cpl_profile_nearest(dirs->dir, wanted->name,
		                           wanted->ranks, NULL, 0, err);
	dir = cpl_user_dir(dirs->user_dir, wanted->uid, err);
	if (dir && !cpl_user_begin(&rights, wanted->uid, err)) {
		path = cpl_profile_nearest(dir, wanted->name, wanted->ranks,
		                           NULL, 0, err);
		cpl_user_end(&rights);
	}
	free(dir);
	return path;
}
