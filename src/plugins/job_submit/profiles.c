/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "job_submit_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "signature/signature.h"

struct known {
	char *path; /* NULL: free slot */
	struct cplsubmit_stamp stamp;
	int ranks; /* 0: damaged */
	char *reason;
};

static struct known known[CPLSUBMIT_PROFILES];
static int next;

static void forget(struct known *k)
{
	free(k->path);
	free(k->reason);
	memset(k, 0, sizeof(*k));
}

/* Ranks of the signature in a file, or 0 with err. */
static int validate(const char *path, struct cpl_error *err)
{
	struct cpl_signature *sig;
	struct stat st;
	size_t length;
	char *text;
	int ranks;

	/* A link could lead the scheduler anywhere. */
	if (!lstat(path, &st) && S_ISLNK(st.st_mode)) {
		cpl_fail(err,
		         "%s: is a symbolic link; profiles are regular "
		         "files",
		         path);
		return 0;
	}
	text = cpl_file_read(path, CPLSUBMIT_PROFILE_MAX, &length, err);
	if (!text)
		return 0;
	sig = cpl_signature_parse(text, length, path, err);
	free(text);
	if (!sig)
		return 0;
	ranks = sig->ranks;
	cpl_signature_free(sig);
	return ranks;
}

static void remember(const char *path, const struct cplsubmit_stamp *stamp,
                     int ranks, const char *reason)
{
	struct known *k = NULL;

	for (int i = 0; i < CPLSUBMIT_PROFILES && !k; i++)
		if (known[i].path && !strcmp(known[i].path, path))
			k = &known[i];
	if (!k) {
		k = &known[next];
		next = (next + 1) % CPLSUBMIT_PROFILES;
	}
	forget(k);
	k->path = strdup(path);
	k->reason = ranks ? NULL : strdup(reason);
	if (!k->path || (!ranks && !k->reason)) {
		forget(k);
		return;
	}
	k->stamp = *stamp;
	k->ranks = ranks;
}

enum cplsubmit_found cplsubmit_profile(const struct cpl_config *config,
                                       const char *name, int *ranks,
                                       struct cpl_error *err)
{
	char *path = cpl_profile_path(config->profile_dir, name, err);
	struct cplsubmit_stamp stamp;
	struct cpl_error reason = {{0}};
	enum cplsubmit_found found;
	int valid = -1;

	if (!path)
		return CPLSUBMIT_BAD_NAME;
	stamp = cplsubmit_stamp(path);
	if (!stamp.exists) {
		cpl_fail(err, "no profile '%s' in %s", name,
		         config->profile_dir);
		free(path);
		return CPLSUBMIT_MISSING;
	}
	for (int i = 0; i < CPLSUBMIT_PROFILES && valid < 0; i++) {
		const struct known *k = &known[i];

		if (!k->path || strcmp(k->path, path) ||
		    !cplsubmit_same(&k->stamp, &stamp))
			continue;
		valid = k->ranks;
		if (!valid)
			cpl_fail(&reason, "%s", k->reason);
	}
	if (valid < 0) {
		valid = validate(path, &reason);
		remember(path, &stamp, valid, reason.text);
	}
	found = valid ? CPLSUBMIT_OK : CPLSUBMIT_DAMAGED;
	if (valid)
		*ranks = valid;
	else
		*err = reason;
	free(path);
	return found;
}

void cplsubmit_profiles_fini(void)
{
	for (int i = 0; i < CPLSUBMIT_PROFILES; i++)
		forget(&known[i]);
	next = 0;
}
