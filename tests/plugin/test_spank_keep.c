/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command that keeps a recording, in a program that stands in for
 * slurmstepd: what it is, and that it is waited for by a clock. That clock is
 * the test's own, as are the command and what the kernel says of it.
 */
#include "commplace-config.h"
#include "spank.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <slurm/slurm.h>

enum how {
	SAYS,   /* what it was called with */
	SPARED, /* by the kernel? */
	FAILS,  /* without a word */
	LOSES,  /* a part, and keeps the rest */
	HANGS,  /* and may be ended */
	CLOSES, /* its output, and goes on */
	STUCK,  /* in a file system: nothing ends it */
};

static enum how how;
static int task_status;
static int64_t clock_ms;
static pid_t command, killed[4];
static int n_killed;
static bool unbounded;
static char info[4096], error[4096];

/* The system's side. */
int execve(const char *path, char *const *argv, char *const *env)
{
	char text[64] = "";
	int fd;

	switch (how) {
	case SAYS:
		for (int i = 1; argv[i]; i++)
			dprintf(1, "%s ", argv[i]);
		dprintf(1, "as %d with ", (int)getuid());
		for (int i = 0; env[i]; i++)
			dprintf(1, "%s ", env[i]);
		_exit(0);
	case SPARED:
		fd = open("/proc/self/oom_score_adj", O_RDONLY);
		if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
			_exit(1);
		dprintf(1, "%s", text);
		_exit(0);
	case FAILS:
		_exit(3);
	case LOSES:
		dprintf(1, "app: version 1\n");
		dprintf(2, "commplace signature: app: 12 messages\033[1m\n");
		_exit(0);
	case CLOSES:
		close(1);
		close(2);
		break;
	default:
		break;
	}
	for (;;)
		pause();
}

static int no_pipe, no_fork; /* errno, 0: there are */

int pipe2(int fd[2], int flags)
{
	errno = no_pipe;
	return no_pipe ? -1 : (int)syscall(SYS_pipe2, fd, flags);
}

pid_t fork(void)
{
	pid_t (*real)(void);

	*(void **)&real = dlsym(RTLD_NEXT, "fork");
	errno = no_fork;
	return no_fork ? -1 : real();
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	if (clock != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, clock, now);
	now->tv_sec = clock_ms / 1000;
	now->tv_nsec = clock_ms % 1000 * 1000000;
	return 0;
}

/* Time passes where something is waited for in vain. */
int poll(struct pollfd *fd, nfds_t n, int timeout)
{
	struct timespec brief = {0, 1000000};
	bool in_vain = n ? how == HANGS || how == STUCK
	                 : (how == CLOSES && !n_killed) || how == STUCK;
	int ready;

	if (in_vain) {
		clock_ms += timeout;
		return 0;
	}
	do
		ready = (int)syscall(SYS_ppoll, fd, n, n ? NULL : &brief, NULL,
		                     0);
	while (ready < 0 && errno == EINTR);
	return ready;
}

/* A signal comes before the next bytes do. */
static bool interrupted;

ssize_t read(int fd, void *bytes, size_t size)
{
	if (interrupted) {
		interrupted = false;
		errno = EINTR;
		return -1;
	}
	return syscall(SYS_read, fd, bytes, size);
}

static pid_t reap(pid_t pid, int *status, int options)
{
	return (pid_t)syscall(SYS_wait4, pid, status, options, NULL);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	command = pid;
	if (!(options & WNOHANG) && how >= HANGS) {
		unbounded = true;
		syscall(SYS_kill, pid, SIGKILL);
	} else if (how == STUCK) {
		return 0;
	}
	return reap(pid, status, options);
}

int kill(pid_t pid, int sig)
{
	assert_int_equal(sig, SIGKILL);
	if (n_killed < 4)
		killed[n_killed++] = pid;
	return how == STUCK ? 0 : (int)syscall(SYS_kill, pid, sig);
}

/* Slurm's side. */
static spank_context_t context = S_CTX_REMOTE;

spank_context_t spank_context(void)
{
	return context;
}

spank_err_t spank_getenv(spank_t sp, const char *name, char *value, int size)
{
	static const char *const env[][2] = {
	        {"SLURM_SPANK_COMM_RECORD", "app"},
	        {"HOME", "/home/u"},
	        {"COMM_RECORD_STORE", "/store/%u"},
	        {"SLURM_CONF", "/etc/s.conf"},
	};

	for (size_t i = 0; i < sizeof(env) / sizeof(*env); i++) {
		if (strcmp(env[i][0], name))
			continue;
		snprintf(value, (size_t)size, "%s", env[i][1]);
		return ESPANK_SUCCESS;
	}
	return ESPANK_ENV_NOEXIST;
}

static int unknown = -1; /* an item that Slurm does not tell */

spank_err_t spank_get_item(spank_t sp, spank_item_t item, ...)
{
	va_list ap;

	if ((int)item == unknown)
		return ESPANK_ERROR;
	va_start(ap, item);
	if (item == S_JOB_SUPPLEMENTARY_GIDS) {
		*va_arg(ap, gid_t **) = NULL;
		*va_arg(ap, int *) = 0;
	} else {
		*va_arg(ap, uint32_t *) =
		        item == S_JOB_ID             ? 17
		        : item == S_JOB_STEPID       ? SLURM_BATCH_SCRIPT
		        : item == S_TASK_EXIT_STATUS ? (uint32_t)task_status
		                                     : 65534;
	}
	va_end(ap);
	return ESPANK_SUCCESS;
}

static void __attribute__((format(printf, 3, 0)))
add(char *log, size_t size, const char *format, va_list ap)
{
	size_t n = strlen(log);

	vsnprintf(log + n, size - n, format, ap);
}

/* srun talks to the test through it. */
static int heard = -1;

static void take(char *log, size_t size, const char *format, va_list ap)
{
	if (heard >= 0)
		dprintf(heard, "to the user: ");
	add(log, size, format, ap);
}

void slurm_info(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	take(info, sizeof(info), format, ap);
	va_end(ap);
}

void slurm_error(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	take(error, sizeof(error), format, ap);
	va_end(ap);
}

void slurm_debug(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	if (heard >= 0)
		vdprintf(heard, format, ap);
	va_end(ap);
}

/* Slurm hands slurmstepd what the user typed, of the site's word a copy only.
 */
static bool asked = true;

spank_err_t spank_option_register(spank_t sp, struct spank_option *option)
{
	if (asked && !strcmp(option->name, "comm-record"))
		assert_int_equal(option->cb(option->val, "app", 1), 0);
	return ESPANK_SUCCESS;
}

static void end_of_job(enum how as)
{
	void *handle = spank_open();

	how = as;
	clock_ms = 0;
	n_killed = 0;
	unbounded = false;
	info[0] = error[0] = '\0';
	assert_int_equal(spank_entry(handle, "init")(NULL, 0, NULL), 0);
	assert_int_equal(spank_entry(handle, "task_exit")(NULL, 0, NULL), 0);
	dlclose(handle);
	if (as != STUCK)
		return;
	syscall(SYS_kill, command, SIGKILL);
	reap(command, NULL, 0);
}

static void test_what_it_is(void **state)
{
	char want[256];

	interrupted = true;
	end_of_job(SAYS);
	snprintf(want, sizeof(want),
	         "commplace: --comm-record: signature install --user "
	         "--recorded 17 -- app as %d with LANG=C PATH=/usr/bin:/bin "
	         "HOME=/home/u COMMPLACE_USER_PROFILES=/store/%%u "
	         "SLURM_CONF=/etc/s.conf ",
	         geteuid() ? (int)getuid() : 65534);
	assert_string_equal(info, want);
	assert_string_equal(error, "");
}

/* A large recording has not the kernel end others. */
static void test_the_kernel_may_end_it(void **state)
{
	static const char file[] = "/proc/self/oom_score_adj";
	char before[16] = "";
	int fd = open(file, O_RDWR);

	if (geteuid() || fd < 0 || read(fd, before, sizeof(before) - 1) < 0 ||
	    pwrite(fd, "500", 3, 0) < 0)
		skip();
	end_of_job(SPARED);
	assert_true(pwrite(fd, before, strlen(before), 0) >= 0);
	close(fd);
	assert_string_equal(info, "commplace: --comm-record: 0");
}

static void test_without_a_word(void **state)
{
	end_of_job(FAILS);
	assert_non_null(strstr(error, "what job 17 recorded is lost"));
}

/* An error of slurmstepd's is in the job's output, too: there, what is lost is
 * said to who has asked for it, and else in the log. */
static void test_who_hears_what_is_lost(void **state)
{
	static const char not_well[] =
	        "commplace: --comm-record: job 17 did not end well: nothing is "
	        "kept; what it recorded stays 30 days for commplace signature "
	        "install --user --recorded 17 app";
	static const char part[] = "commplace: --comm-record: commplace "
	                           "signature: app: 12 messages";
	static const char kept[] = "commplace: --comm-record: app: version 1";

	for (int i = 0; i < 2; i++) {
		asked = !i;
		end_of_job(LOSES);
		assert_non_null(strstr(info, kept));
		assert_non_null(strstr(asked ? error : info, part));
		assert_null(strstr(asked ? info : error, part));
		assert_null(strchr(asked ? error : info, '\033'));
		task_status = 256;
		end_of_job(SAYS);
		task_status = 0;
		assert_string_equal(asked ? error : info, not_well);
		assert_string_equal(asked ? info : error, "");
		end_of_job(FAILS);
		assert_non_null(strstr(asked ? error : info, "is lost"));
		assert_string_equal(asked ? info : error, "");
	}
	asked = true;
}

/* A system without another pipe, or process: it says so. */
static void test_a_system_that_is_full(void **state)
{
	static const struct {
		int pipe, fork;
		const char *says;
	} row[] = {
	        {EMFILE, 0, "Too many open files"},
	        {0, EAGAIN, "Resource temporarily unavailable"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		char want[128];

		no_pipe = row[i].pipe;
		no_fork = row[i].fork;
		end_of_job(SAYS);
		no_pipe = no_fork = 0;
		snprintf(want, sizeof(want),
		         "commplace: --comm-record: what job 17 recorded is "
		         "lost: %s",
		         row[i].says);
		assert_string_equal(error, want);
		assert_string_equal(info, "");
	}
}

/* Fault: what Slurm did not tell whose it was was lost without a word. */
static void test_nobody_knows_whose_it_is(void **state)
{
	static const int item[] = {S_JOB_UID, S_JOB_GID,
	                           S_JOB_SUPPLEMENTARY_GIDS};

	for (size_t i = 0; i < 2 * sizeof(item) / sizeof(*item); i++) {
		asked = i % 2;
		unknown = item[i / 2];
		end_of_job(SAYS);
		assert_string_equal(asked ? error : info,
		                    "commplace: --comm-record: what job 17 "
		                    "recorded is lost: Slurm does not say "
		                    "whose it is");
		assert_string_equal(asked ? info : error, "");
	}
	unknown = -1;
	asked = true;
}

static void test_a_home_that_hangs(void **state)
{
	static const struct {
		enum how how;
		int64_t least, most; /* ms */
		bool left;
	} row[] = {
	        {HANGS, 120000, 120000, false},
	        {CLOSES, 120000, 120000, false},
	        {STUCK, 120000, 125000, true},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		end_of_job(row[i].how);
		assert_false(unbounded);
		assert_in_range(clock_ms, row[i].least, row[i].most);
		/* With all that it may have started. */
		assert_true(n_killed > 0);
		assert_int_equal(killed[0], -command);
		assert_non_null(strstr(error, "job 17 recorded is given up "
		                              "after 120 s"));
		assert_true(!strstr(error, "left behind") == !row[i].left);
		assert_string_equal(info, "");
	}
}

spank_err_t spank_job_control_setenv(spank_t sp, const char *name,
                                     const char *value, int overwrite)
{
	return ESPANK_SUCCESS;
}

/* An srun that ends well, in this environment from its beginning and as its
 * allocation came: "COMM_RECORD=app" without the names' beginning. */
struct srun {
	const char *job, *before;           /* of a job around it */
	const char *record, *store, *words; /* words: "": none */
	const char *allocator;              /* salloc or sbatch in its place */
};

static void run_srun(const struct srun *s)
{
	void *handle = spank_open();

	context = s->allocator ? S_CTX_ALLOCATOR : S_CTX_LOCAL;
	if (s->allocator)
		program_invocation_short_name = (char *)s->allocator;
	how = SAYS;
	asked = false;
	unsetenv("COMMPLACE_USER_PROFILES");
	unsetenv("SLURM_CONF");
	setenv("HOME", "/home/u", 1);
	if (s->job)
		setenv("SLURM_JOB_ID", s->job, 1);
	if (s->before)
		setenv("SLURM_SPANK_COMM_RECORD", s->before, 1);
	spank_entry(handle, "init_post_opt")(NULL, 0, NULL);
	dlclose(handle);
	setenv("SLURM_JOB_ID", "9", 0);
	if (s->record)
		setenv("SLURM_SPANK_COMM_RECORD", s->record, 0);
	if (s->store)
		setenv("COMM_RECORD_STORE", s->store, 0);
}

/* What the site has a job recorded as, srun keeps without a word to its user. */
static void test_by_the_sites_word(void **state)
{
	static const struct srun row[] = {
	        {NULL, NULL, "app", "/s/%u",
	         "--recorded 9 -- app as %d with LANG=C PATH=/usr/bin:/bin "
	         "HOME=/home/u COMMPLACE_USER_PROFILES=/s/%%u ",
	         NULL},
	        {NULL, NULL, NULL, "/s/%u", "", NULL},
	        {NULL, NULL, "none", "/s/%u", "", NULL},
	        {NULL, NULL, "--json", "/s/%u", "", NULL},
	        {NULL, NULL, "../app", "/s/%u", "", NULL},
	        /* what a job around it left, or keeps itself */
	        {NULL, "old", NULL, NULL, "", NULL},
	        {"7", "app", NULL, NULL, "", NULL},
	        /* salloc sees to its own job, inside of another, too */
	        {"7", NULL, "app", NULL,
	         "--recorded 7 -- app as %d with LANG=C PATH=/usr/bin:/bin "
	         "HOME=/home/u ",
	         "salloc"},
	        {NULL, NULL, "app", NULL, "", "sbatch"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		char got[1024] = "", want[512];
		size_t n = 0;
		ssize_t more;
		int fd[2], status;
		pid_t pid;

		assert_int_equal(pipe(fd), 0);
		fflush(NULL);
		pid = fork();
		if (!pid) {
			heard = fd[1];
			run_srun(&row[i]);
			exit(0);
		}
		close(fd[1]);
		while ((more = read(fd[0], got + n, sizeof(got) - 1 - n)) > 0)
			n += (size_t)more;
		close(fd[0]);
		assert_int_equal(reap(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		snprintf(want, sizeof(want), row[i].words, (int)getuid());
		if (*want ? !strstr(got, want) : *got)
			fail_msg("row %zu: '%s'", i, got);
		assert_null(strstr(got, "to the user"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_what_it_is),
	        cmocka_unit_test(test_the_kernel_may_end_it),
	        cmocka_unit_test(test_without_a_word),
	        cmocka_unit_test(test_who_hears_what_is_lost),
	        cmocka_unit_test(test_a_system_that_is_full),
	        cmocka_unit_test(test_nobody_knows_whose_it_is),
	        cmocka_unit_test(test_by_the_sites_word),
	        cmocka_unit_test(test_a_home_that_hangs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
