/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `commplace signature install`: a file, with --recorded what a job recorded, and
 * with --from a user's profile, become a profile of the user or the site.
 */
#include "commplace-config.h"
#include "record/nccl_files.h"
#include "record_nccl.h"
#include "signature.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/sort.h"
#include "signature/install.h"
#include "signature/phases/events.h"
#include "signature/phases/phases.h"
#include "site/user_dir.h"
#include "site_files.h"
#include "slurm_reader.h"

#define KEPT_S (30 * 86400) /* recordings that nobody took */

/* The recordings that a job wrote, one for each program. */
struct recording {
	char *path;
	struct cpl_signature *sig;
	double seconds;
};

struct recordings {
	struct recording *one;
	int n;
};

static void free_recordings(struct recordings *r)
{
	for (int i = 0; i < r->n; i++) {
		free(r->one[i].path);
		cpl_signature_free(r->one[i].sig);
	}
	free(r->one);
}

/* Takes the path. */
static int add_recording(struct recordings *r, char *path,
                         struct cpl_error *err)
{
	if (cpl_array_grow(&r->one, r->n, sizeof(*r->one), err)) {
		free(path);
		return -1;
	}
	r->one[r->n++] = (struct recording){.path = path};
	return 0;
}

/* How long the name is that the parts of a run have in common: a program of sessions
 * leaves NAME.rankN of each rank. 0: no part. */
static size_t rank_file_stem(const char *path)
{
	const char *dot = strrchr(path, '.');
	size_t n = dot ? (size_t)(dot - path) : 0;

	return n > 5 && !strncmp(dot, ".rank", 5) && dot[5] &&
	                       !dot[5 + strspn(dot + 5, "0123456789")] &&
	                       !strncmp(dot - 5, ".json", 5)
	               ? n
	               : 0;
}

/* "JOB.STEP.HOST.PID.json", as the recorder names them, or a part? */
static bool is_recording(const char *file)
{
	static const char digits[] = "0123456789";
	size_t part = rank_file_stem(file);
	const char *end = file + (part ? part : strlen(file));
	size_t job = strspn(file, digits), step;

	if (!job || file[job] != '.')
		return false;
	file += job + 1;
	step = strncmp(file, "batch.", 6) ? strspn(file, digits) : 5;
	return step && file[step] == '.' && end - file > 5 &&
	       !strncmp(end - 5, ".json", 5);
}

/* Is it a file of this job, or step? Old recordings of other jobs are removed
 * as well, but no other files: $COMMPLACE_RECORD_DIR may hold anything. */
static bool is_of(const char *file, const char *job, const char *path)
{
	size_t n = strlen(job);
	struct cpl_file_stamp stamp;

	if (!is_recording(file))
		return false;
	if (!strncmp(file, job, n) && file[n] == '.')
		return true;
	if (!cpl_file_stamp(path, &stamp) &&
	    stamp.mtime.tv_sec < time(NULL) - KEPT_S)
		unlink(path);
	return false;
}

static int find_recordings(const char *dir, const char *job,
                           struct recordings *out, struct cpl_error *err)
{
	struct dirent *entry;
	DIR *d = opendir(dir);
	int rc = 0;

	if (!d && errno != ENOENT)
		return cpl_fail(err, "%s: %s", dir, strerror(errno));
	while (d && !rc && (entry = readdir(d))) {
		char *path = cpl_path_join(dir, entry->d_name, err);

		if (!path)
			rc = -1;
		else if (is_of(entry->d_name, job, path))
			rc = add_recording(out, path, err);
		else
			free(path);
	}
	if (d)
		closedir(d);
	if (!rc && !out->n)
		rc = cpl_fail(err,
		              "job %s recorded nothing: %s has no file of it; "
		              "was there no MPI or NCCL program, or one with its "
		              "MPI library linked in?",
		              job, dir);
	return rc;
}

/* Of each number of ranks the longest run comes first. */
static int by_size_and_time(const void *a, const void *b)
{
	const struct recording *x = a, *y = b;

	if (!x->sig || !y->sig)
		return !x->sig - !y->sig;
	if (x->sig->ranks != y->sig->ranks)
		return x->sig->ranks > y->sig->ranks ? 1 : -1;
	if (x->seconds > y->seconds || x->seconds < y->seconds)
		return x->seconds < y->seconds ? 1 : -1;
	return strcmp(x->path, y->path);
}

static CPL_SORT_BY(by_path, struct recording, CPL_TEXT(path))

/* The i-th is a part: this makes the signature of all that are its run's, which stand
 * behind it, and sets how many they are. NULL with err. */
static struct cpl_signature *load_rank_files(const struct recordings *r, int i, int *n,
                                        struct cpl_error *err)
{
	size_t common = rank_file_stem(r->one[i].path);
	const char **path = calloc((size_t)(r->n - i), sizeof(*path));
	struct cpl_run_events *events = NULL;
	struct cpl_signature *sig = NULL;

	for (*n = 0; path && i + *n < r->n; ++*n) {
		path[*n] = r->one[i + *n].path;
		if (rank_file_stem(path[*n]) != common ||
		    strncmp(path[*n], path[0], common) != 0)
			break;
	}
	if (!path)
		cpl_fail_memory(err);
	else
		events = cpl_run_events_read(path, *n, err);
	if (events)
		sig = cpl_phases_signature(events, NULL, "recorded", NULL, err);
	if (sig && cpl_run_events_incomplete(events))
		fprintf(stderr,
		        "commplace signature: %s: %d of %d ranks did not end "
		        "well or wrote nothing\n",
		        cpl_path_base(path[0]),
		        cpl_run_events_incomplete(events), events->ranks);
	cpl_run_events_free(events);
	free(path);
	return sig;
}

/* 0, or -1 with err: none of them is a signature. */
static int load_recordings(struct recordings *r, struct cpl_error *err)
{
	int good = 0;

	qsort(r->one, (size_t)r->n, sizeof(*r->one), by_path);
	for (int i = 0, n = 1; i < r->n; i += n) {
		struct recording *one = &r->one[i];

		n = 1;
		one->sig = rank_file_stem(one->path)
		                   ? load_rank_files(r, i, &n, err)
		                   : cpl_signature_load(one->path, err);
		if (!one->sig)
			continue;
		good++;
		one->seconds =
		        cpl_run_times(one->sig->phase, one->sig->n_phases)
		                .seconds;
	}
	qsort(r->one, (size_t)r->n, sizeof(*r->one), by_size_and_time);
	return good ? 0 : -1;
}

/* "DIR" of recordings, to free(). */
static char *recording_dir(struct cpl_error *err)
{
	const char *dir = getenv("COMMPLACE_RECORD_DIR");
	const char *home = getenv("HOME");

	if (dir && *dir == '/')
		return strdup(dir);
	if (home && *home == '/')
		return cpl_path_join(home, CPL_RECORDING_DIR, err);
	cpl_fail(err, "--recorded: neither $COMMPLACE_RECORD_DIR nor $HOME "
	              "says where");
	return NULL;
}

/* Report on what was installed so far; takes the list. */
static int print_list(const struct cmd *self, const struct signature_options *o,
                      const char *dir, json_t *list)
{
	json_t *item;
	size_t i;

	if (o->json)
		return cmd_print_pack(self, "{s:s, s:o}", "profile_dir", dir,
		                      "installed", list);
	json_array_foreach(list, i, item)
	        signature_print_installed(self, item, dir);
	json_decref(list);
	return CMD_OK;
}

/* JOB.STEP.nccl-ID.json, of NCCL's plugin? *step is the length of JOB.STEP. */
static bool is_of_nccl(const struct recording *one, size_t *step)
{
	const char *base = cpl_path_base(one->path);
	size_t job = strcspn(base, ".") + 1;

	*step = job + strcspn(base + job, ".");
	return !strncmp(base + *step, ".nccl-", 6);
}

/* A program that uses MPI and NCCL has a recording of each. This returns the one of
 * its MPI calls, with what NCCL sent as another phase, or the i-th as it is. NULL
 * with err. */
static struct cpl_signature *join_recordings(const struct recordings *r, int i,
                                             struct cpl_error *err)
{
	struct recording *one = &r->one[i];
	size_t step, other_step;
	bool nccl = is_of_nccl(one, &step);

	for (int k = i + 1; k < r->n && r->one[k].sig &&
	                    r->one[k].sig->ranks == one->sig->ranks;
	     k++) {
		struct recording *other = &r->one[k];

		if (is_of_nccl(other, &other_step) == nccl ||
		    step != other_step ||
		    strncmp(cpl_path_base(one->path),
		            cpl_path_base(other->path), step) != 0)
			continue;
		if (cmd_nccl_append(nccl ? other->sig : one->sig,
		                    nccl ? one->sig : other->sig, err))
			return NULL;
		return nccl ? other->sig : one->sig;
	}
	return one->sig;
}

/* Pieces are left where a process was killed. Those of other jobs go when they are
 * old. */
static void remove_pieces(const char *dir, const char *job)
{
	static const char end[] = ".nccl" NCCL_PIECES;
	DIR *d = opendir(dir);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		size_t n = strlen(entry->d_name), of = strlen(job);
		struct cpl_file_stamp stamp;
		char *path;

		if (n < sizeof(end) ||
		    strcmp(entry->d_name + n - sizeof(end) + 1, end) != 0)
			continue;
		path = cpl_path_join(dir, entry->d_name, NULL);
		if (path && ((!strncmp(entry->d_name, job, of) &&
		              entry->d_name[of] == '.') ||
		             (!cpl_file_stamp(path, &stamp) &&
		              stamp.mtime.tv_sec < time(NULL) - KEPT_S)))
			nccl_files_remove(path);
		free(path);
	}
	if (d)
		closedir(d);
}

/* The recordings of a job, or step, for the user; an exit code. */
static int install_recorded(const struct cmd *self,
                            const struct signature_options *o, const char *dir,
                            const char *name)
{
	struct cpl_error err = {""};
	struct recordings r = {NULL, 0};
	char *folder = recording_dir(&err), from[64];
	json_t *list = json_array();
	bool failed = true;
	int before = 0;

	snprintf(from, sizeof(from), "job %.40s", o->recorded);
	if (!folder || find_recordings(folder, o->recorded, &r, &err) ||
	    load_recordings(&r, &err))
		goto out;
	for (int i = 0; i < r.n && r.one[i].sig; i++) {
		struct cpl_signature *sig = r.one[i].sig;
		json_t *item;

		if (sig->ranks == before)
			continue;
		before = sig->ranks;
		if (cmd_nccl_missing(sig))
			fprintf(stderr,
			        "commplace %s: job %s: %d of %d ranks wrote "
			        "nothing of what NCCL sent\n",
			        self->name, o->recorded, cmd_nccl_missing(sig),
			        sig->ranks);
		sig = join_recordings(&r, i, &err);
		if (!sig)
			goto out;
		item = signature_put(o, dir, name, sig, from, &err);
		if (!item)
			goto out;
		json_array_append_new(list, item);
	}
	failed = false;
	for (int i = 0; i < r.n; i++)
		unlink(r.one[i].path);
	remove_pieces(folder, o->recorded);
out:
	free(folder);
	free_recordings(&r);
	if (!failed)
		return print_list(self, o, dir, list);
	json_decref(list);
	return cmd_fail(self, &err);
}

/* A user's signature of so many ranks, read with the user's rights. */
static struct cpl_signature *load_of_user(const char *dir, const char *name,
                                          int ranks, uid_t uid,
                                          struct cpl_error *err)
{
	const struct cpl_signature_limits limits = {.max_bytes = UINT64_MAX,
	                                            .owner = &uid};
	char *path = cpl_profile_file(dir, name, ranks, err);
	struct cpl_signature *sig =
	        path ? cpl_signature_load_within(path, &limits, err) : NULL;

	free(path);
	return sig;
}

/* Where that user's profiles are, to free(). NULL with err. */
static char *dir_of_user(const struct passwd *who, struct cpl_error *err)
{
	char *pattern = cmd_user_dir_pattern(), *dir;

	dir = pattern ? cpl_user_dir(pattern, who->pw_uid, err)
	              : cpl_path_join(who->pw_dir, CPL_USER_DIR_HOME, err);
	free(pattern);
	return dir;
}

/* All sizes, or one, of a user's profile; how many, or -1 with err. */
static int load_sizes(const char *dir, const char *name, int ranks, uid_t uid,
                      struct cpl_signature ***out, struct cpl_error *err)
{
	int *size = NULL, n = cpl_profile_sizes(dir, name, &size, err), got = 0;

	*out = NULL;
	if (n > 0) /* a NULL is behind the last */
		*out = calloc((size_t)n + 1, sizeof(**out));
	for (int i = 0; i < n && *out; i++) {
		if (ranks && size[i] != ranks)
			continue;
		(*out)[got] = load_of_user(dir, name, size[i], uid, err);
		if (!(*out)[got])
			break;
		got++;
	}
	free(size);
	if (n > 0 && !*out)
		cpl_fail_memory(err);
	else if (n >= 0 && !got && !*err->text)
		cpl_fail(err, "%s: no profile %s%s", dir, name,
		         ranks ? " of so many ranks" : "");
	return *err->text ? -1 : got;
}

/* The sizes of a user's profile; an exit code. */
static int install_from(const struct cmd *self,
                        const struct signature_options *o, const char *dir,
                        const char *name)
{
	struct cpl_error err = {""};
	struct cpl_user_rights rights = {false};
	const struct passwd *found = getpwnam(o->from);
	struct cpl_signature **sig = NULL;
	struct passwd who;
	char *folder = NULL;
	json_t *list = json_array();
	const char *as = o->name ? o->name : name;
	int n = -1;

	if (!found) {
		cpl_fail(&err, "--from: there is no user %.60s", o->from);
		goto out;
	}
	who = *found;
	if (cpl_profile_name_check(name, &err) ||
	    cpl_profile_name_check(as, &err) ||
	    !(folder = dir_of_user(&who, &err)) ||
	    cpl_user_begin(&rights, who.pw_uid, &err))
		goto out;
	n = load_sizes(folder, name, (int)o->ranks, who.pw_uid, &sig, &err);
	cpl_user_end(&rights);
	for (int i = 0; i < n; i++) {
		json_t *item = signature_put(o, dir, as, sig[i], folder, &err);

		if (!item) {
			n = -1;
			break;
		}
		json_array_append_new(list, item);
	}
out:
	for (int i = 0; sig && sig[i]; i++)
		cpl_signature_free(sig[i]);
	cpl_free_all(sig, folder);
	if (n >= 0)
		return print_list(self, o, dir, list);
	json_decref(list);
	return cmd_fail(self, &err);
}

static int install_file(const struct cmd *self,
                        const struct signature_options *o, const char *dir,
                        const char *file)
{
	struct cpl_error err = {""};
	char *name =
	        o->name ? strdup(o->name) : cpl_signature_base_name(file, NULL);
	char *from = realpath(file, NULL);
	struct cpl_signature *sig = NULL;
	json_t *item = NULL;
	int rc = CMD_OK;

	if (!name)
		cpl_fail_memory(&err);
	else if (!cpl_profile_name_check(name, &err))
		sig = cpl_signature_load(file, &err);
	if (sig)
		item = signature_put(o, dir, name, sig, from, &err);
	if (!item) {
		rc = cmd_fail(self, &err);
	} else if (o->json) {
		json_object_set_new(item, "profile_dir", json_string(dir));
		rc = cmd_print_json(self, item);
	} else {
		signature_print_installed(self, item, dir);
		json_decref(item);
	}
	cpl_signature_free(sig);
	cpl_free_all(name, from);
	return rc;
}

/* The profile is installed all the same, since the commands can use it. */
static void warn_unread(const struct cmd *self, const char *dir)
{
	struct slurm_reader *reader = slurm_reader_of_site();
	struct cpl_error why;

	if (reader && slurm_reader_misses_store(reader, dir, &why))
		cmd_failf(self, "jobs are not placed by it yet: %s", why.text);
	slurm_reader_free(reader);
}

int signature_install(const struct cmd *self,
                      const struct signature_options *o, const char *file)
{
	struct cpl_error err = {""};
	const char *dir = signature_store_dir(o, &err);
	int rc;

	if (!dir || (o->user && signature_store_make(dir, &err)))
		return cmd_fail(self, &err);
	if (o->version)
		rc = signature_store_roll_back(self, o->json, dir, file,
		                               o->version,
		                               cpl_profile_roll_back);
	else if (o->recorded)
		rc = install_recorded(self, o, dir, file);
	else if (o->from)
		rc = install_from(self, o, dir, file);
	else
		rc = install_file(self, o, dir, file);
	if (rc == CMD_OK && o->user)
		warn_unread(self, dir);
	return rc;
}
