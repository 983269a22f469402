/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What slurmd ends once a step's slurmstepd is gone: its thread takes a turn
 * when the test says so, by a clock of its own. */
#include "cgroups.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/common/log.h"

#define V1 "v1/slurm/uid_9/job_7"
#define V2 "v2/system.slice/slurmstepd.scope/job_7"

static sem_t idle, turn;
static bool waiting, nothing_left;
static time_t now = 1000000;
static int pauses, told;

/* In the place of the C library's. */

static int wait_for_turn(pthread_mutex_t *lock)
{
	waiting = true;
	pthread_mutex_unlock(lock);
	sem_post(&idle);
	sem_wait(&turn);
	pthread_mutex_lock(lock);
	waiting = false;
	return 0;
}

int pthread_cond_wait(pthread_cond_t *change, pthread_mutex_t *lock)
{
	nothing_left = true;
	return wait_for_turn(lock);
}

int pthread_cond_timedwait(pthread_cond_t *change, pthread_mutex_t *lock,
                           const struct timespec *until)
{
	nothing_left = false;
	wait_for_turn(lock);
	return ETIMEDOUT;
}

/* Who waits for steps looks how many there are now, and waits again. */
int pthread_cond_signal(pthread_cond_t *change)
{
	if (waiting)
		sem_post(&turn);
	return 0;
}

time_t time(time_t *t)
{
	return now;
}

int nanosleep(const struct timespec *pause, struct timespec *left)
{
	pauses++;
	return 0;
}

/* Slurm's log. */
void slurm_log_var(const log_level_t level, const char *format, ...)
{
	told += level == LOG_LEVEL_INFO;
}

/* So many turns of the thread. */
static void turns(int n)
{
	while (n--) {
		sem_post(&turn);
		sem_wait(&idle);
	}
}

static void remove_file(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", launch_dir, name);
	unlink(path);
}

/* A slurmstepd's socket, as a step's number and component name it. */
static int listen_as(const char *step)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char name[64];

	snprintf(name, sizeof(name), "n0_7.%s", step);
	remove_file(name);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/n0_7.%s",
	         launch_dir, step);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)),
	                 0);
	assert_int_equal(listen(fd, 5), 0);
	return fd;
}

static void mounted(void)
{
	char text[256];

	snprintf(text, sizeof(text),
	         "cgroup %s/v1 cgroup rw,cpuset 0 0\n"
	         "cgroup2 %s/v2 cgroup2 rw 0 0\n",
	         launch_dir, launch_dir);
	write_file("mounts", text);
}

static void make_folders(void)
{
	mounted();
	cgroups_put(V1 "/step_0/cgroup.procs", "11\n1\n0\n");
	cgroups_put(V1 "/step_0/freezer.state", "FROZEN");
	cgroups_put(V1 "/step_0/task_1/cgroup.procs", "12\n13\n");
	cgroups_put(V2 "/step_0/user/task_1/cgroup.procs", "14\n");
	cgroups_put("hwloc_topo_7.0.xml", "");
}

#define KILLED "kill 12 kill 13 step_0/freezer.state=THAWED kill 11 kill 14 "

static void assert_swept(void)
{
	assert_true(nothing_left);
	assert_string_equal(cgroups_log(), KILLED);
	assert_false(cgroups_has("v1/slurm/uid_9"));
	assert_true(cgroups_has("v1/slurm"));
	assert_false(cgroups_has(V2));
	assert_true(cgroups_has("v2/system.slice/slurmstepd.scope"));
	assert_false(cgroups_has("n0_7.0"));
	assert_false(cgroups_has("hwloc_topo_7.0.xml"));
	assert_int_equal(told, 1);
}

static void assert_kept(void)
{
	assert_false(nothing_left);
	assert_string_equal(cgroups_log(), "");
	assert_true(cgroups_has(V1 "/step_0"));
	assert_int_equal(told, 0);
}

static int begin(void **state)
{
	sem_init(&idle, 0, 0);
	sem_init(&turn, 0, 0);
	waiting = nothing_left = false;
	told = pauses = 0;
	now = 1000000;
	cgroups_busy = 0;
	slurmd.node_name = "n0";
	slurmd.spooldir = launch_dir;
	make_folders();
	return 0;
}

static int end(void **state)
{
	char command[128];

	cpltask_sweep_fini();
	cgroups_log();
	snprintf(command, sizeof(command), "cd %s && rm -rf v1 v2 n0_* hw*",
	         launch_dir);
	return system(command);
}

static void watch(uint32_t step, int64_t component)
{
	struct cplslurm_step_id id = {7, step, component};
	bool idles = waiting && !nothing_left;

	cpltask_sweep_later(&id, 9);
	/* The first starts the thread, or wakes it up. */
	if (!idles)
		sem_wait(&idle);
}

/* A socket that nobody answers is somebody's who is gone, at the second look.
 */
static void test_gone(void **state)
{
	int fd = listen_as("0");

	watch(0, -1);
	turns(5);
	assert_kept();
	close(fd);
	turns(1);
	assert_kept();
	turns(1);
	assert_swept();
	assert_int_equal(pauses, 0);
}

/* Looks count in a row only, and a slurmstepd may be there without a socket. */
static void test_misses(void **state)
{
	int fd = listen_as("0");

	watch(0, -1);
	turns(1);
	for (int i = 0; i < 3; i++) {
		remove_file("n0_7.0");
		turns(1);
		assert_kept();
		close(fd);
		fd = listen_as("0");
		turns(1);
		assert_kept();
	}
	remove_file("n0_7.0");
	turns(2);
	assert_swept();
	close(fd);
}

/* Never seen: its prolog may run for minutes. */
static void test_not_seen(void **state)
{
	watch(0, -1);
	turns(3);
	assert_kept();
	now += 600;
	turns(3);
	assert_kept();
	now++;
	turns(1);
	assert_true(nothing_left);
	assert_true(cgroups_has(V1 "/step_0"));
	assert_string_equal(cgroups_log(), "");
}

/* One that has only lost its socket. */
static void test_lives(void **state)
{
	static const char *const titles[] = {"slurmstepd: [7.0]",
	                                     "slurmstepd: [17.0]"};
	pid_t pid[2];

	for (int i = 0; i < 2; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			execl("/bin/sleep", titles[i], "60", (char *)NULL);
			_exit(1);
		}
	}
	close(listen_as("0"));
	/* Its title is there once it runs. */
	usleep(200000);
	watch(0, -1);
	turns(4);
	assert_kept();
	syscall(SYS_kill, pid[0], SIGKILL);
	waitpid(pid[0], NULL, 0);
	turns(1);
	assert_swept();
	syscall(SYS_kill, pid[1], SIGKILL);
	waitpid(pid[1], NULL, 0);
}

/* What does not die at once: ten times with a pause, then at the next look. */
static void test_dying(void **state)
{
	static const struct {
		int busy, pauses;
		bool left;
	} row[] = {{0, 0, false}, {3, 1, false}, {1000, 9, true}};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		begin(state);
		close(listen_as("0"));
		watch(0, -1);
		cgroups_busy = row[i].busy;
		turns(2);
		assert_int_equal(pauses, row[i].pauses);
		assert_int_equal(nothing_left, !row[i].left);
		assert_int_equal(cgroups_has(V1), row[i].left);
		assert_int_equal(told, 1);
		cgroups_busy = 0;
		turns(1);
		assert_true(nothing_left);
		assert_false(cgroups_has(V1));
		end(state);
	}
}

/* Folders that other steps are in stay, as do files of other steps. */
static void test_others(void **state)
{
	cgroups_put(V1 "/step_1/cgroup.procs", "21\n");
	cgroups_put(V2 "/step_1+2/cgroup.procs", "22\n");
	cgroups_put("hwloc_topo_7.1.2.xml", "");
	close(listen_as("0"));
	watch(0, -1);
	watch(1, 2);
	turns(2);
	assert_false(nothing_left);
	assert_string_equal(cgroups_log(), KILLED);
	assert_true(cgroups_has(V1 "/step_1"));
	assert_true(cgroups_has(V2 "/step_1+2"));
	assert_false(cgroups_has(V1 "/step_0"));
	close(listen_as("1.2"));
	turns(1);
	assert_true(nothing_left);
	assert_string_equal(cgroups_log(), "kill 22 ");
	assert_true(cgroups_has(V1 "/step_1"));
	assert_false(cgroups_has(V2));
	assert_false(cgroups_has("hwloc_topo_7.1.2.xml"));
	/* And it takes the next one after all are gone. */
	make_folders();
	close(listen_as("0"));
	watch(0, -1);
	turns(2);
	assert_true(nothing_left);
	assert_string_equal(cgroups_log(), KILLED);
}

/* Those that an earlier slurmd left, each once. */
static void test_earlier(void **state)
{
	cgroups_put(V1 "/step_0/task_1/cpuset.cpus", "0\n");
	cgroups_put(V1 "/step_0/task_2/cpuset.cpus", "1\n");
	cpltask_sweep_init();
	sem_wait(&idle);
	turns(1);
	assert_kept();
	turns(1);
	assert_swept();
	/* It is one thread. */
	cpltask_sweep_init();
	turns(1);
}

/* A socket's name that is too long for one: nothing is known. */
static void test_long_name(void **state)
{
	static char folder[200];

	memset(folder, 'x', sizeof(folder) - 1);
	slurmd.spooldir = folder;
	watch(0, -1);
	turns(4);
	assert_kept();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
	        TEST(test_gone),    TEST(test_misses),    TEST(test_not_seen),
	        TEST(test_lives),   TEST(test_dying),     TEST(test_others),
	        TEST(test_earlier), TEST(test_long_name),
	};

	return cmocka_run_group_tests(tests, launch_set_up, launch_tear_down);
}
