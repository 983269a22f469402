/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A slurmstepd that is killed leaves its step's cgroups behind. A thread of slurmd
 * looks after the steps that were bound until they are over. */
#include "commplace-config.h"

#include "task_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/socket.h"

#define PERIOD 5
/* So many checks in a row must find no slurmstepd, since one may be starting or
 * ending. */
#define MISSES 2
/* A prolog may take so long before there is a slurmstepd. */
#define START_SECONDS 600

/* Killed processes take a moment to die. What takes longer is left to the next
 * period. */
#define TRIES 10
#define DYING_MS 20

struct step {
	struct cplslurm_step_id id;
	uint32_t uid;
	time_t since;
	bool seen, told, left;
	int missed;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static pthread_t thread;
static bool running, quit;
static struct step *step;
static int n_steps;

/* This returns -1 if there never was a socket or it was removed, and 0 if nobody
 * answers. */
static int slurmstepd_answers(const struct cplslurm_step_id *id)
{
	char path[PATH_MAX];
	int fd;

	if (cplslurm_step_socket(id, path, sizeof(path)))
		return 1;
	fd = cpl_socket_connect(path, SOCK_NONBLOCK, 0);
	if (fd < 0)
		return errno == ENOENT ? -1 : errno != ECONNREFUSED;
	close(fd);
	return 1;
}

/* The socket may have been removed while its slurmstepd lives. This also returns
 * true if that cannot be found out. */
static bool slurmstepd_runs(const struct cplslurm_step_id *id)
{
	char wanted[CPLSLURM_STEP_TEXT], path[PATH_MAX], text[64];
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool found = !proc;

	cplslurm_step_title(id, wanted);
	while (!found && (entry = readdir(proc))) {
		FILE *in;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/cmdline", entry->d_name);
		in = fopen(path, "re");
		if (!in)
			continue;
		found = fgets(text, sizeof(text), in) &&
		        !strncmp(text, wanted, strlen(wanted));
		fclose(in);
	}
	if (proc)
		closedir(proc);
	return found;
}

/* Processes that v1's freezer has stopped do not die. */
static void thaw(const char *dir)
{
	static const char thawed[] = "THAWED";
	char path[PATH_MAX + 32];
	int fd;

	snprintf(path, sizeof(path), "%s/freezer.state", dir);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, thawed, sizeof(thawed) - 1) < 0)
		cplslurm_log_debug("commplace: %s: %s", path, strerror(errno));
	close(fd);
}

static void kill_all(const char *dir)
{
	char path[PATH_MAX + 32];
	FILE *in;
	int pid;

	thaw(dir);
	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	in = fopen(path, "re");
	if (!in)
		return;
	while (fscanf(in, "%d", &pid) == 1)
		if (pid > 1)
			kill(pid, SIGKILL);
	fclose(in);
}

/* This kills what is in the tree and removes it, deepest first. */
static void remove_tree(const char *dir, int depth)
{
	char path[PATH_MAX];
	DIR *in = depth > 8 ? NULL : opendir(dir);
	struct dirent *entry;

	while (in && (entry = readdir(in)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
		    snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name) <
		            (int)sizeof(path))
			remove_tree(path, depth + 1);
	if (in)
		closedir(in);
	kill_all(dir);
	rmdir(dir);
}

static void sweep_dir(char *dir, int above, void *arg)
{
	struct step *s = arg;
	char text[CPLSLURM_STEP_TEXT];

	if (!s->told)
		cplslurm_log_info(
		        "commplace: %s: slurmstepd is gone; removing %s",
		        cplslurm_step_text(&s->id, text), dir);
	s->told = true;
	remove_tree(dir, 0);
	if (!access(dir, F_OK)) {
		s->left = true;
		return;
	}
	/* Directories above stay if others use them. */
	for (; above; above--) {
		*strrchr(dir, '/') = '\0';
		rmdir(dir);
	}
}

/* This returns true when the step has no directory any more. */
static bool sweep(struct step *s)
{
	static const struct timespec pause = {.tv_nsec = DYING_MS * 1000000};
	char name[CPLSLURM_STEP_TEXT];

	cplslurm_step_dir(&s->id, name);
	for (int i = 0; i < TRIES; i++) {
		if (i)
			nanosleep(&pause, NULL);
		s->left = false;
		cpltask_cgroup_of_step(cplslurm_node().name, s->uid, s->id.job,
		                       name, sweep_dir, s);
		if (!s->left)
			break;
	}
	/* Others may have removed the directories. */
	cplslurm_step_remove(&s->id);
	return !s->left;
}

/* This returns true when there is nothing more to do for it. */
static bool look_after(struct step *s)
{
	int answers = slurmstepd_answers(&s->id);

	if (answers > 0) {
		s->seen = true;
		s->missed = 0;
		return false;
	}
	/* If nobody answers at a socket, there was a slurmstepd. */
	s->seen = s->seen || !answers;
	if (++s->missed < MISSES)
		return false;
	/* If there was none and there is no socket, it may be yet to come. */
	if (answers < 0 && !s->seen)
		return time(NULL) - s->since > START_SECONDS;
	return slurmstepd_runs(&s->id) ? false : sweep(s);
}

static void add_step(struct step s)
{
	if (cpl_array_grow(&step, n_steps, sizeof(*step), NULL))
		return;
	step[n_steps++] = s;
}

static void add_found(uint32_t job, const char *name, uint32_t uid)
{
	struct step s = {.id = {.job = job}, .uid = uid, .seen = true};
	char text[CPLSLURM_STEP_TEXT];

	if (!cplslurm_step_of_dir(name, &s.id))
		return;
	for (int i = 0; i < n_steps; i++)
		if (!memcmp(&step[i].id, &s.id, sizeof(s.id)))
			return;
	cplslurm_log_debug("commplace: %s: left by an earlier slurmd",
	                   cplslurm_step_text(&s.id, text));
	add_step(s);
}

static void *watch(void *arg)
{
	pthread_mutex_lock(&lock);
	cpltask_cgroup_steps(cplslurm_node().name, add_found);
	while (!quit) {
		struct timespec until;
		int kept = 0;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += PERIOD;
		while (!quit && (!n_steps ? !pthread_cond_wait(&change, &lock)
		                          : !pthread_cond_timedwait(
		                                    &change, &lock, &until)))
			;
		if (quit)
			break;
		for (int i = 0; i < n_steps; i++)
			if (!look_after(&step[i]))
				step[kept++] = step[i];
		n_steps = kept;
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* Signals are for slurmd's own threads. */
static void start(void)
{
	sigset_t all, old;

	pthread_mutex_lock(&lock);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!running)
		running = !pthread_create(&thread, NULL, watch, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_mutex_unlock(&lock);
}

void cpltask_sweep_later(const struct cplslurm_step_id *id, uint32_t uid)
{
	pthread_mutex_lock(&lock);
	add_step((struct step){.id = *id, .uid = uid, .since = time(NULL)});
	if (n_steps == 1)
		pthread_cond_signal(&change);
	pthread_mutex_unlock(&lock);
	start();
}

void cpltask_sweep_init(void)
{
	cplslurm_when_daemon(start);
}

void cpltask_sweep_fini(void)
{
	bool join;

	pthread_mutex_lock(&lock);
	join = running;
	running = false;
	quit = true;
	pthread_cond_signal(&change);
	pthread_mutex_unlock(&lock);
	if (join)
		pthread_join(thread, NULL);
	quit = false;
	free(step);
	step = NULL;
	n_steps = 0;
}
