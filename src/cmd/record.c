/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "cmd.h"
#include "options.h"
#include "record.h"
#include "record_command.h"
#include "record_nccl.h"
#include "signature/phases/phases.h"
#include "signature/signature.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY "libcommplace-record.so"

/* Make the path of a file to write, which this option names, absolute. */
static int make_absolute(const char *option, const char *what,
                         const char *file, char out[PATH_MAX],
                         struct cpl_error *err)
{
	const char *slash = strrchr(file, '/');
	const char *base = slash ? slash + 1 : file;
	char folder[PATH_MAX] = ".", absolute[PATH_MAX];
	struct stat st;

	if (strlen(file) >= sizeof(folder))
		return cpl_fail(err, "%s: the path is too long", option);
	if (slash)
		snprintf(folder, sizeof(folder), "%.*s",
		         (int)(slash - file + 1), file);
	if (!realpath(folder, absolute))
		return cpl_fail(err, "%s %s: folder %s: %s", option, file,
		                folder, strerror(errno));
	if (cpl_file_descriptor(file) >= 0 ||
	    (!stat(file, &st) && !S_ISREG(st.st_mode)))
		return cpl_fail(err,
		                "%s %s is not a regular file; name the %s file "
		                "to write",
		                option, file, what);
	if (!*base)
		return cpl_fail(err, "%s %s names no file", option, file);
	if (!strcmp(absolute, "/"))
		absolute[0] = '\0';
	/* 32: for what this run writes beside it */
	if (snprintf(out, PATH_MAX, "%s/%s", absolute, base) >= PATH_MAX - 32)
		return cpl_fail(err, "%s: the path is too long", option);
	return 0;
}

/* It is better to fail now than after hours of computing. */
static int try_to_write(const char *option, const char *file,
                        const char *fresh, struct cpl_error *err)
{
	int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return cpl_fail(err, "%s %s: cannot write there: %s", option,
		                file, strerror(errno));
	close(fd);
	unlink(fresh);
	return 0;
}

static int make_target(const struct record_options *o, struct record_paths *p,
                       struct cpl_error *err)
{
	size_t n;

	if (make_absolute("-o", "signature", o->output, p->target, err))
		return -1;
	strcpy(p->events, p->target);
	if (o->events && make_absolute("--events", "events", o->events,
	                               p->events, err))
		return -1;
	if (o->events && !strcmp(p->target, p->events))
		return cpl_fail(err, "-o and --events are the same file");
	snprintf(p->fresh, sizeof(p->fresh), "%.*s.record-%ld", PATH_MAX - 32,
	         p->target, (long)getpid());
	/* The file is next to the one that it becomes, since no file can be
	 * renamed to another file system. */
	snprintf(p->fresh_events, sizeof(p->fresh_events),
	         "%.*s.record-%ld.events", PATH_MAX - 32, p->events,
	         (long)getpid());
	snprintf(p->nccl, sizeof(p->nccl), "%s.nccl", p->fresh);
	n = strlen(p->target);
	if (n > 5 && !strcmp(p->target + n - 5, ".json"))
		n -= 5;
	snprintf(p->partial, sizeof(p->partial), "%.*s.partial.json", (int)n,
	         p->target);
	if (try_to_write("-o", o->output, p->fresh, err) ||
	    (o->events &&
	     try_to_write("--events", o->events, p->fresh_events, err)))
		return -1;
	return 0;
}

static int make_name(const struct record_options *o, struct record_paths *p,
                     struct cpl_error *err)
{
	const char *base = strrchr(p->target, '/') + 1;
	size_t n = strlen(base);
	int rc;

	if (o->name) {
		if (cpl_profile_name_check(o->name, err))
			return cpl_fail_prefix(err, "--name: ");
		snprintf(p->name, sizeof(p->name), "%s", o->name);
		return 0;
	}
	if (n > 5 && !strcmp(base + n - 5, ".json"))
		n -= 5;
	rc = snprintf(p->name, sizeof(p->name), "%.*s", (int)n, base);
	if (rc >= (int)sizeof(p->name))
		return cpl_fail(err,
		                "-o %s: the file's name is too long for "
		                "the profile's; give one with --name",
		                o->output);
	if (cpl_profile_name_check(p->name, err))
		return cpl_fail_prefix(
		        err, "-o %s: give a name with --name: ", o->output);
	return 0;
}

/* The folders of this program in which libraries may be: in a build tree libtool
 * has them below it, or it below a wrapper. */
static void find_own(struct record_paths *p)
{
	char self[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	/* Without /proc those of installed files are looked at again. */
	if (n <= 0)
		n = snprintf(self, sizeof(self), CPL_PKGLIBDIR "/");
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	snprintf(p->own[0], sizeof(p->own[0]), "%s/.libs", self);
	snprintf(p->own[1], sizeof(p->own[1]), "%s", self);
}

/* In the build tree, also below libtool's wrapper, else as installed. */
static int find_library(const struct record_options *o, struct record_paths *p,
                        struct cpl_error *err)
{
	char candidate[PATH_MAX];
	void *handle;
	const char *found = o->library ? o->library : CPL_PKGLIBDIR "/" LIBRARY;

	for (int i = 0; i < RECORD_OWN_FOLDERS && !o->library; i++) {
		if (snprintf(candidate, sizeof(candidate), "%s/" LIBRARY,
		             p->own[i]) < (int)sizeof(candidate) &&
		    !access(candidate, R_OK)) {
			found = candidate;
			break;
		}
	}
	if (!realpath(found, p->library) || access(p->library, R_OK))
		return cpl_fail(err,
		                "%s%s: %s; the recorder library is built when "
		                "configure finds mpicc, and --library names "
		                "another place",
		                o->library ? "--library " : "", found,
		                strerror(errno));
	/* ld.so would only warn about a file that it cannot load */
	handle = dlopen(p->library, RTLD_LAZY | RTLD_LOCAL);
	if (!handle || !dlsym(handle, "MPI_Pcontrol")) {
		if (handle)
			dlclose(handle);
		return cpl_fail(err, "%s%s is not " LIBRARY,
		                o->library ? "--library " : "", p->library);
	}
	dlclose(handle);
	if (strpbrk(p->library, " :"))
		return cpl_fail(err,
		                "%s: LD_PRELOAD cannot hold a path with a "
		                "space or a colon; name a copy with --library",
		                p->library);
	return 0;
}

/* Files FRESH and a suffix, in no order, for globfree. 0, or -1: none. */
static int find_fresh(const char *fresh, const char *suffix, glob_t *found)
{
	char pattern[2 * PATH_MAX + 128];
	size_t n = 0;

	for (const char *c = fresh; *c; c++) {
		if (strchr("*?[]\\", *c))
			pattern[n++] = '\\';
		pattern[n++] = *c;
	}
	snprintf(pattern + n, sizeof(pattern) - n, "%s", suffix);
	return glob(pattern, GLOB_NOSORT, NULL, found) ? -1 : 0;
}

/* Remove what an interrupted run left, too: the recorder writes FRESH.PID.tmp,
 * the same for the events, and FRESH.rankN. */
static void remove_fresh(const struct record_paths *p)
{
	const char *const left[][2] = {{p->fresh, ".*.tmp"},
	                               {p->fresh, ".rank*"},
	                               {p->fresh_events, ".*.tmp"}};
	glob_t found;

	cmd_nccl_remove(p->nccl);
	unlink(p->fresh);
	unlink(p->fresh_events);
	for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++) {
		if (find_fresh(left[i][0], left[i][1], &found))
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++)
			unlink(found.gl_pathv[k]);
		globfree(&found);
	}
}

/* The phases of a run's events instead of the whole run. NULL with err. */
static struct cpl_signature *phases_of(const struct cpl_run_events *events,
                                       const char *name,
                                       struct cpl_error *err)
{
	struct cpl_phase_options options = CPL_PHASE_OPTIONS;
	struct cpl_phases *phases = cpl_phases_find(events, &options, err);
	struct cpl_signature *sig = NULL;

	if (phases)
		sig = cpl_phases_signature(events, phases, name, NULL, err);
	cpl_phases_free(phases);
	return sig;
}

/*
 * Keep what the ranks of a run without MPI_Finalize left, as PARTIAL; the
 * target stays as it is. True: there was something, and a message says so after
 * `how` the command ended.
 */
static bool keep_partials(const struct cmd *self, const struct record_options *o,
                       const struct record_paths *p, const char *how)
{
	struct cpl_error err = {""};
	struct cpl_signature *sig = NULL;
	struct cpl_run_events *events;
	glob_t found;

	if (find_fresh(p->fresh, ".rank*", &found))
		return false;
	events = cpl_run_events_read((const char *const *)found.gl_pathv,
	                         (int)found.gl_pathc, &err);
	if (events)
		sig = o->phases ? phases_of(events, p->name, &err)
		                : cpl_phases_signature(events, NULL, p->name,
		                                       NULL, &err);
	if (!sig || cpl_signature_write(sig, p->partial, &err))
		cmd_failf(self, "%s %s; what was counted is lost: %s",
		          o->command[0], how, err.text);
	else
		cmd_failf(self,
		          "%s %s; what %d of %d ranks counted until then is "
		          "in %s",
		          o->command[0], how, events->n, events->ranks,
		          p->partial);
	cpl_signature_free(sig);
	cpl_run_events_free(events);
	globfree(&found);
	return true;
}

/* A program of sessions leaves a part of each rank: all of them, ended well, are FRESH
 * and its events. 0, or -1 with err. */
static int join_rank_files(const struct record_options *o, const struct record_paths *p,
                      struct cpl_error *err)
{
	struct cpl_run_events *events = NULL;
	struct cpl_signature *sig = NULL;
	const char *const *path;
	glob_t found;
	int rc = -1;

	if (!access(p->fresh, F_OK) || find_fresh(p->fresh, ".rank*", &found))
		return 0;
	path = (const char *const *)found.gl_pathv;
	events = cpl_run_events_read(path, (int)found.gl_pathc, err);
	if (events && cpl_run_events_incomplete(events)) {
		rc = 0; /* keep_partials tells of it */
	} else if (events) {
		sig = cpl_phases_signature(events, NULL, p->name, NULL, err);
		if (sig && !cpl_signature_write(sig, p->fresh, err))
			rc = o->events || o->phases
			             ? cpl_run_events_join(path,
			                                   (int)found.gl_pathc,
			                                   p->fresh_events, err)
			             : 0;
	}
	cpl_signature_free(sig);
	cpl_run_events_free(events);
	globfree(&found);
	return rc;
}

/* --phases and --events, of a run that ended well: the phases take the place of
 * FRESH. 0, or -1 with err. */
static int take_events(const struct record_options *o, const struct record_paths *p,
                       struct cpl_error *err)
{
	const char *const path[] = {p->fresh_events};
	struct cpl_run_events *events = cpl_run_events_read(path, 1, err);
	struct cpl_signature *sig = NULL;
	int rc = events ? 0 : -1;

	if (events && o->phases) {
		sig = phases_of(events, p->name, err);
		rc = sig ? cpl_signature_write(sig, p->fresh, err) : -1;
	}
	if (!rc && o->events && rename(p->fresh_events, p->events))
		rc = cpl_fail(err, "--events %s: %s", o->events,
		              strerror(errno));
	cpl_signature_free(sig);
	cpl_run_events_free(events);
	return rc;
}

static int print_summary(const struct cmd *self, const struct record_options *o,
                         const struct record_paths *p, const struct cpl_signature *sig)
{
	double bytes = 0, messages = 0, time = 0;
	struct cpl_error err = {""};
	struct cpl_comm *comm = cpl_signature_total(sig, &err);
	int64_t pairs = comm ? comm->n_entries : 0;

	if (!comm)
		return cmd_fail(self, &err);
	for (int i = 0; i < sig->n_phases; i++)
		time += sig->phase[i].time * sig->phase[i].weight;
	for (int64_t e = 0; e < pairs; e++) {
		bytes += comm->bytes[e];
		messages += comm->messages[e];
	}
	cpl_comm_free(comm);
	if (o->json)
		return cmd_print_pack(
		        self, "{s:s, s:s, s:i, s:I, s:f, s:f, s:f}",
		        "signature", p->target, "name", sig->name, "ranks",
		        sig->ranks, "pairs", (json_int_t)pairs, "bytes", bytes,
		        "messages", messages, "time", time);
	printf("%s: %s, %d ranks, %lld pairs, %s in %.0f messages, %.3f s\n",
	       o->output, sig->name, sig->ranks, (long long)pairs,
	       CMD_BYTES(bytes), messages, time);
	return CMD_OK;
}

/* What NCCL's plugin wrote of a run in which ranks are missing, or that did not end
 * well, is kept as PARTIAL, too. True: there was something. */
static bool keep_nccl_partial(const struct cmd *self, const struct record_options *o,
                              const struct record_paths *p,
                              const struct cpl_signature *nccl, int missing,
                              const char *how)
{
	struct cpl_error err = {""};

	if (!nccl)
		return false;
	if (cpl_signature_write(nccl, p->partial, &err))
		cmd_failf(self, "%s %s; what NCCL sent is lost: %s",
		          o->command[0], how, err.text);
	else
		cmd_failf(self,
		          "%s %s; what NCCL sent until then, but for %d ranks, is "
		          "in %s",
		          o->command[0], how, missing, p->partial);
	return true;
}

/* NCCL's traffic is another phase of a program that has called MPI, too. */
static int add_nccl(const struct cmd *self, const struct record_paths *p,
                    struct cpl_signature *nccl, struct cpl_error *err)
{
	struct cpl_signature *sig = cpl_signature_load(p->fresh, err);
	char beside[PATH_MAX + 16];
	int rc = -1;

	snprintf(beside, sizeof(beside), "%.*s.nccl.json", PATH_MAX, p->target);
	if (sig && sig->ranks != nccl->ranks) {
		rc = cpl_signature_write(nccl, beside, err);
		if (!rc)
			fprintf(stderr,
			        "commplace %s: MPI has %d ranks and NCCL %d: "
			        "what NCCL sent is in %s\n",
			        self->name, sig->ranks, nccl->ranks, beside);
	} else if (sig && !cmd_nccl_append(sig, nccl, err)) {
		rc = cpl_signature_write(sig, p->fresh, err);
	}
	cpl_signature_free(sig);
	return rc;
}

/* Makes FRESH of what there is of MPI and of NCCL. Returns an exit code. */
static int take_nccl(const struct cmd *self, const struct record_options *o,
                     const struct record_paths *p)
{
	struct cpl_error err = {""};
	int missing = 0, rc = CMD_OK;
	struct cpl_signature *nccl = cmd_nccl_take(p->nccl, &missing, &err);

	if (!nccl && *err.text)
		rc = cmd_fail(self, &err);
	else if (nccl && missing) {
		keep_nccl_partial(self, o, p, nccl, missing,
		                  "has ranks that wrote nothing of NCCL");
		/* What MPI sent is whole, if there is any. */
		rc = access(p->fresh, F_OK) ? CMD_FAILED : CMD_OK;
	} else if (nccl && !access(p->fresh, F_OK)) {
		if (add_nccl(self, p, nccl, &err))
			rc = cmd_fail(self, &err);
	} else if (nccl && rename(p->nccl, p->fresh)) {
		rc = cmd_failf(self, "%s: %s", p->fresh, strerror(errno));
	}
	cpl_signature_free(nccl);
	return rc;
}

/* After a command that failed. */
static void keep_what_there_is(const struct cmd *self, const struct record_options *o,
                               const struct record_paths *p, int code)
{
	struct cpl_error err = {""};
	struct cpl_signature *nccl;
	int missing = 0;
	char how[64];

	snprintf(how, sizeof(how),
	         "ended with exit code %d; no signature is kept", code);
	if (keep_partials(self, o, p, how))
		return;
	nccl = cmd_nccl_take(p->nccl, &missing, &err);
	if (!keep_nccl_partial(self, o, p, nccl, missing, how))
		cmd_failf(self, "%s %s", o->command[0], how);
	cpl_signature_free(nccl);
}

/* After the command: a valid fresh file takes the target's place. */
static int take_result(const struct cmd *self, const struct record_options *o,
                       const struct record_paths *p)
{
	struct cpl_error err = {""};
	struct cpl_signature *sig;
	int rc;

	if (join_rank_files(o, p, &err) ||
	    (!access(p->fresh, F_OK) && (o->events || o->phases) &&
	     take_events(o, p, &err)))
		return cmd_fail(self, &err);
	rc = take_nccl(self, o, p);
	if (rc)
		return rc;
	if (access(p->fresh, F_OK) &&
	    keep_partials(self, o, p,
	               "wrote no signature: the program ended without "
	               "MPI_Finalize or MPI_Session_finalize"))
		return CMD_FAILED;
	if (access(p->fresh, F_OK) && record_container(o->command))
		return cmd_failf(self,
		                 "%s wrote no signature: inside there must be "
		                 "%s, a C library no older than this host's "
		                 "%s, and %s, all by these names (bind them "
		                 "in), or a commplace of its own that records",
		                 record_container(o->command), p->library,
		                 gnu_get_libc_version(), p->target);
	if (access(p->fresh, F_OK))
		return cmd_failf(self,
		                 "%s wrote no signature: was it an MPI program "
		                 "that called MPI_Finalize, of the MPI library "
		                 "that the recorder was built for, or "
		                 "one of NCCL that was not killed?",
		                 o->command[0]);
	sig = cpl_signature_load(p->fresh, &err);
	if (!sig)
		return cmd_failf(self, "the recorded signature is broken: %s",
		                 err.text);
	if (rename(p->fresh, p->target))
		rc = cmd_failf(self, "-o %s: %s", o->output, strerror(errno));
	else
		rc = print_summary(self, o, p, sig);
	cpl_signature_free(sig);
	return rc;
}

static int parse(const struct cmd *self, int argc, char **argv,
                 struct record_options *o)
{
	const struct cmd_option table[] = {
	        {"output", .text = &o->output},
	        {"name", .text = &o->name},
	        {"application", .text = &o->application},
	        {"library", .text = &o->library},
	        {"events", .text = &o->events},
	        {"phases", .flag = &o->phases},
	        {"json", .flag = &o->json},
	        {0},
	};
	int rc = cmd_options(self, argc, argv, table, CMD_WORDS_LAST);

	if (rc)
		return rc;
	o->command = argv + optind;
	if (!o->output || !*o->output)
		return cmd_usage(self, "-o SIGNATURE is missing");
	if (!o->command[0])
		return cmd_usage(self, "the command to record is missing");
	if (o->application && !*o->application)
		return cmd_usage(self, "--application is empty");
	if (o->events && !*o->events)
		return cmd_usage(self, "--events is empty");
	return CMD_OK;
}

/* Either of both recorders will do, unless one was asked for. */
static int prepare(const struct cmd *self, const struct record_options *o,
                   struct record_paths *p, struct cpl_error *err)
{
	const char *const folder[] = {p->own[0], p->own[1], CPL_PKGLIBDIR};
	bool of_mpi;

	find_own(p);
	of_mpi = !find_library(o, p, err);
	if (!of_mpi)
		p->library[0] = '\0';
	if (!cmd_nccl_prepare(self, folder, 3, p->nccl) && !of_mpi)
		return -1;
	return of_mpi || !o->library ? 0 : -1;
}

static int run_record(const struct cmd *self, int argc, char **argv)
{
	struct cpl_error err = {""};
	struct record_options o = {NULL};
	struct record_paths paths;
	int rc = parse(self, argc, argv, &o);

	if (rc)
		return rc;
	if (make_target(&o, &paths, &err) || make_name(&o, &paths, &err) ||
	    record_check_linking(o.command, &err) ||
	    prepare(self, &o, &paths, &err) ||
	    record_set_environment(&o, &paths, &err))
		return cmd_fail(self, &err);
	rc = record_run(&o, &err);
	if (rc < 0)
		rc = cmd_fail(self, &err);
	else if (rc == 0)
		rc = take_result(self, &o, &paths);
	else
		keep_what_there_is(self, &o, &paths, rc);
	remove_fresh(&paths);
	return rc;
}

const struct cmd cmd_record = {"record", run_record};
