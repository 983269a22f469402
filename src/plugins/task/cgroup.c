/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"

#include "task_internal.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cgroup_names.h"

#define ANY CPLSLURM_CGROUP_NUMBER
/* Each pass moves what the last one missed, since processes may fork meanwhile. */
#define EMPTY_PASSES 5
#define SMALL_FILE 65536
/* This marks a step's directory in v2, where from 26.05 on the path has no job id.
 * Only root can set it. */
#define MARK "trusted.commplace.job"

/* This tells whether one of the comma-separated controllers before a colon is
 * cpuset. */
static bool names_cpuset(const char *list)
{
	static const char name[] = "cpuset";

	for (;; list++) {
		size_t n = strcspn(list, ",:");

		if (n == sizeof(name) - 1 && !memcmp(list, name, n))
			return true;
		list += n;
		if (*list != ',')
			return false;
	}
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_task(const char *path)
{
	const char *last = strrchr(path, '/');

	return last && begins(last, CPLSLURM_CGROUP_V1_TASK);
}

static bool in_step(enum cpltask_cgroup version, const char *path)
{
	const char *last = strrchr(path, '/');

	if (version == CPLTASK_V1 && last && is_task(path))
		last = memrchr(path, '/', (size_t)(last - path));
	if (version == CPLTASK_V1)
		return last && begins(last, CPLSLURM_CGROUP_STEP);
	return strstr(path, CPLSLURM_CGROUP_STEP) &&
	       strstr(path, CPLSLURM_CGROUP_V2_TASK);
}

enum cpltask_cgroup cpltask_cgroup_find(const char *text, char *path,
                                        size_t size)
{
	enum cpltask_cgroup found = CPLTASK_NO_CGROUP;

	for (const char *line = text; *line; line += strspn(line, "\n")) {
		size_t length = strcspn(line, "\n");
		const char *list = memchr(line, ':', length);
		const char *dir, *end = line + length;
		enum cpltask_cgroup version = CPLTASK_NO_CGROUP;

		list = list ? list + 1 : end;
		dir = memchr(list, ':', (size_t)(end - list));
		if (dir && names_cpuset(list))
			version = CPLTASK_V1;
		else if (dir == list && line[0] == '0')
			version = CPLTASK_V2;
		line = end;
		/* On a hybrid host cpuset is in v1. */
		if (version == CPLTASK_NO_CGROUP || found == CPLTASK_V1)
			continue;
		dir++;
		if ((size_t)(end - dir) >= size)
			continue;
		memcpy(path, dir, (size_t)(end - dir));
		path[end - dir] = '\0';
		found = version;
	}
	return found != CPLTASK_NO_CGROUP && in_step(found, path)
	               ? found
	               : CPLTASK_NO_CGROUP;
}

static int find_mount(enum cpltask_cgroup version, char *path, size_t size,
                      struct cpl_error *err)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent entry;
	char buffer[4 * PATH_MAX];
	int rc = -1;

	if (!mounts)
		return cpl_fail(err, "/proc/self/mounts: %s", strerror(errno));
	while (rc && getmntent_r(mounts, &entry, buffer, sizeof(buffer))) {
		bool right = version == CPLTASK_V2
		                     ? !strcmp(entry.mnt_type, "cgroup2")
		                     : !strcmp(entry.mnt_type, "cgroup") &&
		                               hasmntopt(&entry, "cpuset");

		if (right && strlen(entry.mnt_dir) < size) {
			strcpy(path, entry.mnt_dir);
			rc = 0;
		}
	}
	endmntent(mounts);
	return rc ? cpl_fail(err, "no cpuset hierarchy is mounted") : 0;
}

/* This finds the first path that a pattern of a node fits below a mount, or "" if
 * there is none. */
static void find_first(const char *mount, const char *pattern,
                       const char *node, char top[PATH_MAX])
{
	char below[NAME_MAX], whole[PATH_MAX];
	glob_t paths = {0};

	*top = '\0';
	snprintf(below, sizeof(below), pattern, node);
	if (snprintf(whole, sizeof(whole), "%s/%s", mount, below) <
	            (int)sizeof(whole) &&
	    !glob(whole, 0, NULL, &paths) &&
	    strlen(paths.gl_pathv[0]) < PATH_MAX)
		strcpy(top, paths.gl_pathv[0]);
	globfree(&paths);
}

/* This is Slurm's directory of a node's jobs below a mount, either with several
 * slurmds on a host or with one, or "" if there is none. In v1 it is by user. */
static void find_top(enum cpltask_cgroup version, const char *mount,
                     const char *node, char top[PATH_MAX])
{
	bool v1 = version == CPLTASK_V1;

	find_first(mount, v1 ? CPLSLURM_CGROUP_V1_NODE : CPLSLURM_CGROUP_V2_NODE,
	           node, top);
	if (!*top)
		find_first(mount, v1 ? CPLSLURM_CGROUP_V1 : CPLSLURM_CGROUP_V2,
		           node, top);
}

static void mark_step(const char *task_dir, uint32_t job)
{
	char *step = strdup(task_dir);
	char *tail = step ? strstr(step, CPLSLURM_CGROUP_V2_TASK) : NULL;
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", job);

	if (tail) {
		*tail = '\0';
		/* If this fails, only the care for the step after a crash is lost. */
		(void)setxattr(step, MARK, text, (size_t)n, 0);
	}
	free(step);
}

static bool is_marked(const char *step_dir, uint32_t *job)
{
	char text[16];
	ssize_t n = getxattr(step_dir, MARK, text, sizeof(text) - 1);

	if (n <= 0)
		return false;
	text[n] = '\0';
	return sscanf(text, "%u", job) == 1;
}

/* This visits the marked directories of steps of that name ("[0-9]*": all) below
 * top. */
static void each_marked(const char *top, const char *name,
                        void (*call)(const char *dir, uint32_t job, void *arg),
                        void *arg)
{
	char pattern[PATH_MAX + 64];
	glob_t paths;
	uint32_t job;

	if (snprintf(pattern, sizeof(pattern),
	             "%s" CPLSLURM_CGROUP_SLUID CPLSLURM_CGROUP_STEP "%s", top,
	             name) >= (int)sizeof(pattern) ||
	    glob(pattern, GLOB_NOSORT, NULL, &paths))
		return;
	for (size_t i = 0; i < paths.gl_pathc; i++)
		if (is_marked(paths.gl_pathv[i], &job))
			call(paths.gl_pathv[i], job, arg);
	globfree(&paths);
}

struct wanted {
	uint32_t job;
	void (*found)(char *dir, int above, void *arg);
	void *arg;
};

static void marked_is(const char *dir, uint32_t job, void *arg)
{
	const struct wanted *wanted = arg;
	char *copy = job == wanted->job ? strdup(dir) : NULL;

	if (copy)
		wanted->found(copy, 1, wanted->arg);
	free(copy);
}

void cpltask_cgroup_of_step(const char *node, uint32_t uid, uint32_t job,
                            const char *step,
                            void (*found)(char *dir, int above, void *arg),
                            void *arg)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent entry;
	char buffer[4 * PATH_MAX], dir[PATH_MAX + 128];
	struct wanted wanted = {job, found, arg};

	while (mounts && getmntent_r(mounts, &entry, buffer, sizeof(buffer))) {
		bool v1 = !strcmp(entry.mnt_type, "cgroup");
		size_t n;

		if (!v1 && strcmp(entry.mnt_type, "cgroup2"))
			continue;
		find_top(v1 ? CPLTASK_V1 : CPLTASK_V2, entry.mnt_dir, node,
		         dir);
		n = strlen(dir);
		if (!n)
			continue;
		if (v1)
			n += (size_t)sprintf(dir + n, CPLSLURM_CGROUP_UID "%u",
			                     uid);
		snprintf(dir + n, sizeof(dir) - n,
		         CPLSLURM_CGROUP_JOB "%u" CPLSLURM_CGROUP_STEP "%s",
		         job, step);
		if (!access(dir, F_OK))
			found(dir, v1 ? 2 : 1, arg);
		dir[n] = '\0';
		if (!v1)
			each_marked(dir, step, marked_is, &wanted);
	}
	if (mounts)
		endmntent(mounts);
}

static int read_file(const char *dir, const char *name, char *text, size_t size,
                     struct cpl_error *err)
{
	char path[PATH_MAX + 64];
	ssize_t n = -1;
	size_t used = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return cpl_fail(err, "%s: %s", path, strerror(errno));
	while (used < size - 1 &&
	       (n = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)n;
	if (n < 0)
		cpl_fail(err, "%s: %s", path, strerror(errno));
	close(fd);
	text[used] = '\0';
	return n < 0 ? -1 : 0;
}

static int write_file(const char *dir, const char *name, const char *text,
                      struct cpl_error *err)
{
	char path[PATH_MAX + 64];
	size_t length = strlen(text);
	int fd, rc = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return cpl_fail(err, "%s: %s", path, strerror(errno));
	if (write(fd, text, length) != (ssize_t)length)
		rc = cpl_fail(err, "%s: cannot write \"%.60s\": %s", path, text,
		              strerror(errno));
	close(fd);
	return rc;
}

/* This is the process's directory of the cpuset hierarchy, or "" if it is in no
 * step's. */
static int locate(pid_t pid, enum cpltask_cgroup *version,
                  char dir[2 * PATH_MAX], struct cpl_error *err)
{
	char proc[64], path[PATH_MAX], text[4 * PATH_MAX];

	*dir = '\0';
	snprintf(proc, sizeof(proc), "/proc/%d", (int)pid);
	if (read_file(proc, "cgroup", text, sizeof(text), err))
		return -1;
	*version = cpltask_cgroup_find(text, path, sizeof(path));
	if (*version == CPLTASK_NO_CGROUP)
		return 0;
	if (find_mount(*version, dir, PATH_MAX, err))
		return -1;
	strcat(dir, path);
	return 0;
}

/* This lists the wanted nodes among those of a cpuset file of dir, to be free()d.
 * It returns NULL if there are none, since a node may have no memory at all. */
static char *common_mems(const char *dir, const char *file,
                         hwloc_const_bitmap_t wanted)
{
	char text[4096], *list = NULL;
	hwloc_bitmap_t set = hwloc_bitmap_alloc();

	if (set && !read_file(dir, file, text, sizeof(text), NULL)) {
		text[strcspn(text, "\n")] = '\0';
		if (!hwloc_bitmap_list_sscanf(set, text) &&
		    !hwloc_bitmap_and(set, set, wanted) &&
		    !hwloc_bitmap_iszero(set))
			hwloc_bitmap_list_asprintf(&list, set);
	}
	hwloc_bitmap_free(set);
	return list;
}

/* This sets cpuset.mems of a task's directory, which in v1 comes before
 * cpuset.cpus. */
static int limit_mems(const char *dir, const char *step, const char *file,
                      hwloc_const_bitmap_t wanted, struct cpl_error *err)
{
	char *list = common_mems(step, file, wanted);
	int rc;

	if (!list)
		return cpl_fail(err, "%s/%s has none of the task's NUMA nodes",
		                step, file);
	rc = write_file(dir, "cpuset.mems", list, err);
	free(list);
	return rc;
}

/* This confines the task in the directory that Slurm made for it. */
static int confine_made(const struct cpltask_confine *want, const char *dir,
                        const char *step, const char *mems,
                        struct cpl_error *err)
{
	/* Slurm gives it to the user, whose sub-directories it could then not
	 * remove. */
	if (chown(dir, 0, 0))
		return cpl_fail(err, "%s: %s", dir, strerror(errno));
	if (write_file(dir, "cpuset.cpus", want->cpus, err))
		return -1;
	if (want->mems)
		limit_mems(dir, step, mems, want->mems, err);
	return 0;
}

static int confine_v1(const struct cpltask_confine *want, const char *step,
                      char **made, struct cpl_error *err)
{
	char dir[PATH_MAX], mems[4096], number[32];

	if (snprintf(dir, sizeof(dir), "%s" CPLSLURM_CGROUP_V1_TASK "%d", step,
	             want->task) >= (int)sizeof(dir))
		return cpl_fail(err, "the path %.60s... is too long", step);
	snprintf(number, sizeof(number), "%d", (int)want->pid);
	if (read_file(step, "cpuset.mems", mems, sizeof(mems), err))
		return -1;
	mems[strcspn(mems, "\n")] = '\0';
	*made = strdup(dir);
	if (!*made)
		return cpl_fail_memory(err);
	if (mkdir(dir, 0755) && errno != EEXIST) {
		cpl_fail(err, "%s: %s", dir, strerror(errno));
		goto failed;
	}
	/* cpuset.cpus is refused while there are no mems. */
	if (!write_file(dir, "cpuset.mems", mems, err) &&
	    !write_file(dir, "cpuset.cpus", want->cpus, err)) {
		if (want->mems)
			limit_mems(dir, step, "cpuset.mems", want->mems, err);
		if (!write_file(dir, "cgroup.procs", number, err))
			return 0;
	}
	rmdir(dir);
failed:
	free(*made);
	*made = NULL;
	return -1;
}

int cpltask_cgroup_confine(const struct cpltask_confine *want, char **made,
                           struct cpl_error *err)
{
	enum cpltask_cgroup version;
	char dir[2 * PATH_MAX], tail[32];
	size_t n, m;

	*made = NULL;
	if (locate(want->pid, &version, dir, err))
		return -1;
	if (!*dir)
		return 0;
	if (version == CPLTASK_V1)
		return confine_v1(want, dir, made, err);

	/* A directory of our own would be unknown to proctrack/cgroup. */
	if (access(dir, F_OK) || want->move(want->arg))
		return cpl_fail(err, "%s: Slurm cannot move the task", dir);
	if (locate(want->pid, &version, dir, err))
		return -1;
	n = strlen(dir);
	m = (size_t)snprintf(tail, sizeof(tail), CPLSLURM_CGROUP_V2_TASK "%d",
	                     want->task);
	if (n < m || strcmp(dir + n - m, tail))
		return cpl_fail(err, "%s is not the task's own", dir);
	mark_step(dir, want->job);
	return confine_made(want, dir, dir, "cpuset.mems.effective", err);
}

bool cpltask_cgroup_left(const struct cpltask_confine *want)
{
	enum cpltask_cgroup version;
	char dir[2 * PATH_MAX];
	const char *own;

	if (locate(want->pid, &version, dir, NULL) || !*dir)
		return false;
	/* Its number there may be that in the step; what serves the step is in
	 * task_special. */
	own = strrchr(dir, '/');
	return !begins(own, CPLSLURM_CGROUP_V1_TASK) ||
	       !isdigit((unsigned char)own[strlen(CPLSLURM_CGROUP_V1_TASK)]);
}

int cpltask_cgroup_again(const struct cpltask_confine *want,
                         struct cpl_error *err)
{
	enum cpltask_cgroup version;
	char dir[2 * PATH_MAX], step[2 * PATH_MAX];

	if (locate(want->pid, &version, dir, err))
		return -1;
	if (!*dir || version != CPLTASK_V1 || !is_task(dir))
		return 0;
	strcpy(step, dir);
	*strrchr(step, '/') = '\0';
	return confine_made(want, dir, step, "cpuset.mems", err) ? -1 : 1;
}

void cpltask_cgroup_release(const char *made)
{
	char *parent = strdup(made), *text = malloc(SMALL_FILE);

	if (!parent || !text)
		goto done;
	*strrchr(parent, '/') = '\0';
	for (int pass = 0; pass < EMPTY_PASSES; pass++) {
		char *save = NULL;

		if (!rmdir(made) || errno != EBUSY ||
		    read_file(made, "cgroup.procs", text, SMALL_FILE, NULL))
			break;
		for (char *pid = strtok_r(text, "\n", &save); pid;
		     pid = strtok_r(NULL, "\n", &save))
			write_file(parent, "cgroup.procs", pid, NULL);
	}
done:
	cpl_free_all(text, parent);
}

struct all {
	void (*found)(uint32_t job, const char *step, uint32_t uid);
};

static void marked_any(const char *dir, uint32_t job, void *arg)
{
	const struct all *all = arg;

	all->found(job, strrchr(dir, '/') + strlen(CPLSLURM_CGROUP_STEP), 0);
}

void cpltask_cgroup_steps(const char *node,
                          void (*found)(uint32_t job, const char *step,
                                        uint32_t uid))
{
	static const char *const below[2] = {
	        CPLSLURM_CGROUP_UID ANY CPLSLURM_CGROUP_JOB ANY
	                CPLSLURM_CGROUP_STEP ANY CPLSLURM_CGROUP_V1_TASK ANY,
	        CPLSLURM_CGROUP_JOB ANY CPLSLURM_CGROUP_STEP ANY
	                CPLSLURM_CGROUP_V2_TASK ANY,
	};
	static const enum cpltask_cgroup version[2] = {CPLTASK_V1, CPLTASK_V2};
	char mount[PATH_MAX], top[PATH_MAX], pattern[PATH_MAX + 64];
	char cpus[4096], step[32];

	for (int i = 0; i < 2; i++) {
		glob_t paths;
		uint32_t job, uid = 0;

		if (find_mount(version[i], mount, sizeof(mount), NULL))
			continue;
		find_top(version[i], mount, node, top);
		if (*top && version[i] == CPLTASK_V2)
			each_marked(top, ANY, marked_any,
			            &(struct all){found});
		if (!*top ||
		    snprintf(pattern, sizeof(pattern), "%s%s", top, below[i]) >=
		            (int)sizeof(pattern) ||
		    glob(pattern, GLOB_NOSORT, NULL, &paths))
			continue;
		for (size_t k = 0; k < paths.gl_pathc; k++) {
			const char *path = paths.gl_pathv[k];
			const char *tail = path + strlen(top);

			/* Slurm's own directories have the CPUs of their step. */
			if (read_file(path, "cpuset.cpus", cpus, sizeof(cpus),
			              NULL) ||
			    !strcspn(cpus, "\n"))
				continue;
			if (i == 0)
				sscanf(tail, CPLSLURM_CGROUP_UID "%u", &uid);
			tail = strstr(tail, CPLSLURM_CGROUP_JOB);
			if (sscanf(tail,
			           CPLSLURM_CGROUP_JOB
			           "%u" CPLSLURM_CGROUP_STEP "%31[^/]",
			           &job, step) == 2)
				found(job, step, uid);
		}
		globfree(&paths);
	}
}
