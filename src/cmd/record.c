/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "cmd.h"
#include "options.h"
#include "signature/phases/phases.h"
#include "signature/signature.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIBRARY "libcommplace-record.so"

struct options {
	const char *output, *name, *application, *library, *events;
	bool phases, json;
	char **command; /* NULL-terminated */
};

/* Files of one run. */
struct paths {
	char target[PATH_MAX];  /* the signature, absolute */
	char fresh[PATH_MAX];   /* beside it: what this run writes */
	char events[PATH_MAX];  /* --events, absolute; else the target */
	char fresh_events[PATH_MAX + 32]; /* beside it */
	char partial[PATH_MAX + 16]; /* for what a run that broke off counted */
	char library[PATH_MAX]; /* absolute */
	char name[CPL_PROFILE_NAME_MAX + 1];
};

/* Handed to the processes; mpirun passes on only what it is told to. */
static const char *const passed[] = {"LD_PRELOAD", "COMMPLACE_RECORD_OUT",
                                     "COMMPLACE_RECORD_EVENTS",
                                     "COMMPLACE_RECORD_PARTS",
                                     "COMMPLACE_RECORD_NAME",
                                     "COMMPLACE_RECORD_APPLICATION"};
enum { N_PASSED = sizeof(passed) / sizeof(*passed) };

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

static int make_target(const struct options *o, struct paths *p,
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

static int make_name(const struct options *o, struct paths *p,
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

/* In the build tree, also below libtool's wrapper, else as installed. */
static int find_library(const struct options *o, struct paths *p,
                        struct cpl_error *err)
{
	static const char *const beside[] = {"/.libs/" LIBRARY, "/" LIBRARY};
	char self[PATH_MAX], candidate[PATH_MAX];
	void *handle;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *found = o->library ? o->library : CPL_PKGLIBDIR "/" LIBRARY;

	self[n > 0 ? n : 0] = '\0';
	if (strrchr(self, '/'))
		*strrchr(self, '/') = '\0';
	for (int i = 0; i < 2 && n > 0 && !o->library; i++) {
		if (snprintf(candidate, sizeof(candidate), "%s%s", self,
		             beside[i]) < (int)sizeof(candidate) &&
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

/* Whether a program of that name is Open MPI's: MPICH's mpirun has no -x. */
static bool is_open_mpi(const char *program)
{
	static const char *const names[] = {"mpirun", "mpiexec", "orterun",
	                                    "prterun"};
	const char *base = cpl_path_base(program);
	char *const argv[] = {(char *)program, (char *)"--version", NULL};
	posix_spawn_file_actions_t actions;
	char text[4096];
	size_t n = 0;
	ssize_t got;
	int fd[2];
	pid_t pid;
	bool known = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		known |= !strcmp(base, names[i]);
	if (!known || pipe2(fd, O_CLOEXEC))
		return false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, fd[1], 1);
	posix_spawn_file_actions_adddup2(&actions, fd[1], 2);
	known = !posix_spawnp(&pid, program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fd[1]);
	while (known && n < sizeof(text) - 1 &&
	       (got = read(fd[0], text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	close(fd[0]);
	if (!known)
		return false;
	waitpid(pid, NULL, 0);
	text[n] = '\0';
	return strstr(text, "Open MPI") || strstr(text, "OpenRTE") ||
	       strstr(text, "Open-MPI") || strstr(text, "PRRTE");
}

/*
 * The command with "-x NAME" of what must be passed on, at the beginning of
 * each part of an MPMD command. The caller frees the array only.
 */
static char **make_command(const struct options *o, struct cpl_error *err)
{
	bool insert = is_open_mpi(o->command[0]), at_start = false;
	size_t n = 0, parts = 1, to = 0;
	char **out;

	for (; o->command[n]; n++)
		parts += !strcmp(o->command[n], ":");
	out = malloc(sizeof(*out) * (n + 1 + parts * 2 * N_PASSED));
	if (!out) {
		cpl_fail_memory(err);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		out[to++] = o->command[i];
		at_start = !i || !strcmp(o->command[i], ":");
		for (int v = 0; v < N_PASSED && insert && at_start; v++) {
			if (!getenv(passed[v]))
				continue;
			out[to++] = (char *)"-x";
			out[to++] = (char *)passed[v];
		}
	}
	out[to] = NULL;
	return out;
}

static int set_environment(const struct options *o, const struct paths *p,
                           struct cpl_error *err)
{
	const char *before = getenv("LD_PRELOAD");
	char *preload = NULL;
	int rc;

	if (asprintf(&preload, "%s%s%s", p->library,
	             before && *before ? ":" : "", before ? before : "") < 0)
		return cpl_fail_memory(err);
	rc = setenv("LD_PRELOAD", preload, 1) ||
	     setenv("COMMPLACE_RECORD_OUT", p->fresh, 1) ||
	     setenv("COMMPLACE_RECORD_PARTS", "1", 1) ||
	     setenv("COMMPLACE_RECORD_NAME", p->name, 1) ||
	     (o->events || o->phases
	              ? setenv("COMMPLACE_RECORD_EVENTS", p->fresh_events, 1)
	              : unsetenv("COMMPLACE_RECORD_EVENTS")) ||
	     (o->application ? setenv("COMMPLACE_RECORD_APPLICATION",
	                              o->application, 1)
	                     : unsetenv("COMMPLACE_RECORD_APPLICATION"));
	free(preload);
	return rc ? cpl_fail_memory(err) : 0;
}

/*
 * Run to the end. The keyboard's signals are the command's to handle. Returns
 * its exit code, 128 + N for signal N, or -1 with err.
 */
static int run_command(const struct options *o, char **command,
                       struct cpl_error *err)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, old_int, old_quit;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t restored;
	int status, rc;
	pid_t pid;

	sigaction(SIGINT, &ignore, &old_int);
	sigaction(SIGQUIT, &ignore, &old_quit);
	sigemptyset(&restored);
	if (old_int.sa_handler != SIG_IGN)
		sigaddset(&restored, SIGINT);
	if (old_quit.sa_handler != SIG_IGN)
		sigaddset(&restored, SIGQUIT);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &restored);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&actions);
	if (o->json) /* stdout is for the one object */
		posix_spawn_file_actions_adddup2(&actions, 2, 1);
	fflush(stdout);
	rc = posix_spawnp(&pid, command[0], &actions, &attributes, command,
	                  environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	if (rc)
		rc = cpl_fail(err, "cannot run %s: %s", command[0],
		              strerror(rc));
	else if (waitpid(pid, &status, 0) < 0)
		rc = cpl_fail(err, "lost %s: %s", command[0], strerror(errno));
	else if (WIFSIGNALED(status))
		rc = 128 + WTERMSIG(status);
	else
		rc = WEXITSTATUS(status);
	sigaction(SIGINT, &old_int, NULL);
	sigaction(SIGQUIT, &old_quit, NULL);
	return rc;
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
static void remove_fresh(const struct paths *p)
{
	const char *const left[][2] = {{p->fresh, ".*.tmp"},
	                               {p->fresh, ".rank*"},
	                               {p->fresh_events, ".*.tmp"}};
	glob_t found;

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
static bool keep_partials(const struct cmd *self, const struct options *o,
                       const struct paths *p, const char *how)
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

/* --phases and --events, of a run that ended well: the phases take the place of
 * FRESH. 0, or -1 with err. */
static int take_events(const struct options *o, const struct paths *p,
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

static int print_summary(const struct cmd *self, const struct options *o,
                         const struct paths *p, const struct cpl_signature *sig)
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
		return cmd_print_json(
		        self, json_pack("{s:s, s:s, s:i, s:I, s:f, s:f, s:f}",
		                        "signature", p->target, "name",
		                        sig->name, "ranks", sig->ranks, "pairs",
		                        (json_int_t)pairs, "bytes", bytes,
		                        "messages", messages, "time", time));
	printf("%s: %s, %d ranks, %lld pairs, %s in %.0f messages, %.3f s\n",
	       o->output, sig->name, sig->ranks, (long long)pairs,
	       CMD_BYTES(bytes), messages, time);
	return CMD_OK;
}

/* After the command: a valid fresh file takes the target's place. */
static int take_result(const struct cmd *self, const struct options *o,
                       const struct paths *p)
{
	struct cpl_error err = {""};
	struct cpl_signature *sig;
	int rc;

	if (access(p->fresh, F_OK) &&
	    keep_partials(self, o, p,
	               "wrote no signature: the program ended without "
	               "MPI_Finalize"))
		return CMD_FAILED;
	if (access(p->fresh, F_OK))
		return cmd_failf(self,
		                 "%s wrote no signature: was it an MPI program "
		                 "that called MPI_Finalize, of the MPI library "
		                 "that the recorder was built for?",
		                 o->command[0]);
	if ((o->events || o->phases) && take_events(o, p, &err))
		return cmd_fail(self, &err);
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
                 struct options *o)
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

static int run_record(const struct cmd *self, int argc, char **argv)
{
	struct cpl_error err = {""};
	struct options o = {NULL};
	struct paths paths;
	char **command, how[64];
	int rc = parse(self, argc, argv, &o);

	if (rc)
		return rc;
	if (make_target(&o, &paths, &err) || make_name(&o, &paths, &err) ||
	    find_library(&o, &paths, &err) || set_environment(&o, &paths, &err))
		return cmd_fail(self, &err);
	command = make_command(&o, &err);
	if (!command)
		return cmd_fail(self, &err);
	rc = run_command(&o, command, &err);
	if (rc < 0)
		rc = cmd_fail(self, &err);
	else if (rc == 0)
		rc = take_result(self, &o, &paths);
	else {
		snprintf(how, sizeof(how),
		         "ended with exit code %d; no signature is kept", rc);
		if (!keep_partials(self, &o, &paths, how))
			cmd_failf(self, "%s %s", o.command[0], how);
	}
	remove_fresh(&paths);
	free(command);
	return rc;
}

const struct cmd cmd_record = {"record", run_record};
