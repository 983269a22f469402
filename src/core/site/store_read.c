/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the store makes of files. */
#include "site/store_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "signature/install.h"
#include "signature/rescale.h"
#include "signature/tasks.h"
#include "site/user_dir.h"

/* Where "ranks" stands, unless it comes after the traffic. */
#define HEAD_BYTES 65536

/* With the rights that files of it are opened with. errno. */
static bool may_enter(const char *dir)
{
	char *inside = cpl_path_join(dir, ".", NULL);
	bool may = inside && cpl_file_exists(inside);
	int failed = inside ? errno : ENOMEM;

	free(inside);
	errno = failed;
	return may;
}

/* Why a file of the directory did not open; errno is the directory's then. */
static enum cpl_found why_closed(int error, const char *dir,
                                 struct cpl_error *err)
{
	switch (error) {
	case ELOOP:
	case EINVAL:
	case EFBIG:
		return CPL_FOUND_DAMAGED;
	case ENOENT:
		/* Is it the file that is missing, or the directory? */
		if (may_enter(dir))
			return CPL_FOUND_MISSING;
		cpl_fail(err, "%s: %s", dir, strerror(errno));
		return CPL_FOUND_UNREADABLE;
	default:
		return CPL_FOUND_UNREADABLE;
	}
}

/* Of a user it has to be the user's own file, whoever we are. */
static bool is_allowed(const struct store_entry *e, const char *path,
                       const struct cpl_file_stamp *stamp,
                       struct store_state *state)
{
	if (!e->own || stamp->uid == e->uid)
		return true;
	state->found = CPL_FOUND_UNREADABLE;
	cpl_fail(&state->err, "%s: belongs to another user", path);
	return false;
}

static void other_ranks(const struct store_entry *e, int recorded,
                        const char *sizes, struct store_state *state)
{
	char one[16];

	snprintf(one, sizeof(one), "%d", recorded);
	state->found = CPL_FOUND_OTHER_RANKS;
	state->ranks = recorded;
	cpl_fail(&state->err,
	         "profile '%s' was recorded at %s ranks, the job has %d",
	         e->name, *sizes ? sizes : one, e->ranks);
}

/* Look at the beginning of the chosen file: for how many ranks is it? */
static void look_into(struct cpl_store *store, const struct store_entry *e,
                      const char *dir, struct store_look *out,
                      struct store_state *state)
{
	struct cpl_file_stamp stamp;
	size_t length;
	char *head;
	int fd = cpl_file_open(out->path, CPL_LINKS_REFUSE, store->max_bytes,
	                       &stamp, &state->err);

	if (fd < 0) {
		state->found = why_closed(errno, dir, &state->err);
		/* Most users have none. */
		if (e->own && errno == ENOENT)
			state->found = CPL_FOUND_MISSING;
		return;
	}
	out->mark = (struct cpl_file_mark){.stamp = stamp};
	head = NULL;
	if (is_allowed(e, out->path, &stamp, state)) {
		cpl_file_mark(fd, &stamp, HEAD_BYTES, &out->mark);
		head = cpl_file_read_open(fd, out->path, HEAD_BYTES, &length,
		                          &state->err);
	}
	state->found = head ? CPL_FOUND_LOADING : CPL_FOUND_UNREADABLE;
	if (head)
		state->ranks = cpl_signature_peek(head, length);
	out->groups = head && cpl_signature_peek_groups(head, length);
	free(head);
	close(fd);
}

/* Choose the nearest size instead of the file that is of other ranks. */
static void look_further(struct cpl_store *store, const struct store_entry *e,
                         const char *dir, struct store_look *out,
                         struct store_state *state)
{
	char *path = cpl_profile_nearest(dir, e->name, e->ranks, out->sizes,
	                                 sizeof(out->sizes), &state->err);

	if (!path) {
		state->found = CPL_FOUND_UNREADABLE;
		return;
	}
	if (strcmp(path, out->path)) {
		free(out->path);
		out->path = path;
		look_into(store, e, dir, out, state);
	} else {
		free(path);
	}
	if (state->found != CPL_FOUND_LOADING || !state->ranks)
		return;
	/* Tasks may be launchers of so many ranks each. */
	if (store->rescale ||
	    (out->groups && state->ranks % e->ranks == 0))
		state->ranks = 0;
	else
		other_ranks(e, state->ranks, out->sizes, state);
}

void store_look(struct cpl_store *store, const struct store_entry *e,
                struct store_look *out, struct store_state *state)
{
	char *dir = e->own ? cpl_user_dir(e->dir, e->uid, &state->err)
	                   : strdup(e->dir);
	struct cpl_user_rights rights = {false};

	*out = (struct store_look){0};
	state->found = CPL_FOUND_UNREADABLE;
	if (!dir && !*state->err.text)
		cpl_fail_memory(&state->err);
	if (!dir || (e->own && cpl_user_begin(&rights, e->uid, &state->err)))
		goto out;
	cpl_file_stamp(dir, &out->folder);
	out->folder_fresh = cpl_file_stamp_fresh(&out->folder);
	out->path = cpl_profile_file(dir, e->name, e->ranks, &state->err);
	if (out->path)
		look_into(store, e, dir, out, state);
	if (e->ranks && state->ranks && state->ranks != e->ranks)
		look_further(store, e, dir, out, state);
	cpl_user_end(&rights);
out:
	free(dir);
}

/* For the entry's ranks, if it is of others; takes it. NULL: see state. */
static struct cpl_profile *fit(struct cpl_store *store,
                               const struct store_entry *e,
                               struct cpl_signature *sig,
                               struct store_state *state)
{
	struct cpl_rescaled how = {.error = 0};
	struct cpl_signature *other;
	struct cpl_profile *profile;
	struct cpl_error why = {""};
	int recorded = sig->ranks;
	double change = cpl_profile_change(sig);

	if (e->ranks && sig->ranks != e->ranks) {
		other = cpl_signature_tasks(sig, e->ranks, &why);
		if (other)
			recorded = e->ranks;
		else if (!cpl_error_is_memory(&why))
			why.text[0] = '\0';
		if (!other && !*why.text && store->rescale)
			other = cpl_signature_rescale(sig, e->ranks,
			                              store->max_bytes, &how,
			                              &why);
		cpl_signature_free(sig);
		if (!other && cpl_error_is_memory(&why))
			state->err = why;
		else if (!other)
			other_ranks(e, recorded, e->sizes, state);
		state->why = why;
		if (!other)
			return NULL;
		sig = other;
	}
	profile = store_profile_make(sig, &state->err);
	if (profile) {
		profile->recorded_ranks = recorded;
		profile->rescale_error = how.error;
		profile->change = change;
	}
	return profile;
}

/*
 * Where memory is out, jansson leaves characters out of what it reads and finds
 * fault with the rest: what is said of a file is believed when it is said twice.
 * errno as cpl_signature_load_within leaves it.
 */
static struct cpl_signature *load(const char *path,
                                  struct cpl_signature_limits *limits,
                                  struct cpl_error *err)
{
	struct cpl_signature *sig =
	        cpl_signature_load_within(path, limits, err);

	if (sig || errno || cpl_error_is_memory(err))
		return sig;
	err->text[0] = '\0';
	return cpl_signature_load_within(path, limits, err);
}

struct cpl_profile *store_load(struct cpl_store *store,
                               const struct store_entry *e,
                               struct cpl_signature_limits *limits,
                               struct cpl_signature_file **file, int *n_files,
                               struct store_state *state)
{
	struct cpl_user_rights rights = {false};
	struct cpl_signature *sig = NULL;
	struct cpl_profile *profile = NULL;
	int failed;

	state->found = CPL_FOUND_DAMAGED;
	if (e->own && cpl_user_begin(&rights, e->uid, &state->err)) {
		state->found = CPL_FOUND_UNREADABLE;
		return NULL;
	}
	limits->owner = e->own ? &e->uid : NULL;
	sig = load(e->path, limits, &state->err);
	failed = errno;
	cpl_user_end(&rights);
	if (sig) {
		*file = sig->file;
		*n_files = sig->n_files;
		sig->file = NULL;
		sig->n_files = 0;
		profile = fit(store, e, sig, state);
	} else if (failed && failed != ENOMEM) {
		state->found =
		        e->own && failed == ENOENT
		                ? CPL_FOUND_MISSING
		                : why_closed(failed, e->dir, &state->err);
	}
	if (profile) {
		state->found = CPL_FOUND_LOADING;
		state->ranks = profile->ranks;
	}
	return profile;
}

static bool unchanged(const struct cpl_signature_file *file, int n,
                      uint64_t max, bool *settled)
{
	*settled = true;
	for (int i = 0; i < n; i++) {
		struct cpl_file_mark mark = file[i].mark;
		struct cpl_file_stamp stamp;
		bool same;
		int fd = cpl_file_open(file[i].path, CPL_LINKS_REFUSE, max,
		                       &stamp, NULL);

		if (fd < 0)
			return false;
		same = cpl_file_marked(fd, &stamp, &mark);
		close(fd);
		if (!same)
			return false;
		*settled = *settled && !mark.fresh;
	}
	return n > 0;
}

bool store_same_choice(const struct store_entry *e)
{
	struct cpl_user_rights rights = {false};
	struct cpl_file_stamp folder;
	const char *slash = strrchr(e->path, '/');
	char *dir;

	if (!e->ranks)
		return true;
	/* A file may have come since, and left the folder's time as it was. */
	if (e->folder_fresh)
		return false;
	dir = strndup(e->path, (size_t)(slash - e->path));
	if (!dir || (e->own && cpl_user_begin(&rights, e->uid, NULL))) {
		free(dir);
		return false;
	}
	cpl_file_stamp(*dir ? dir : "/", &folder);
	cpl_user_end(&rights);
	free(dir);
	return cpl_file_stamp_equal(&folder, &e->folder);
}

bool store_files_same(const struct cpl_store *store,
                      const struct store_entry *e, bool *settled)
{
	struct cpl_user_rights rights = {false};
	bool same;

	*settled = false;
	if (!e->path || (e->own && cpl_user_begin(&rights, e->uid, NULL)))
		return false;
	same = unchanged(e->file, e->n_files, store->max_bytes, settled);
	cpl_user_end(&rights);
	return same;
}
