/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurmctld's end of the way to commplaced: what is told and asked, and one
 * that is gone, hangs or says what it should not
 * (tests/tools/odd_commplaced.c). */
#include "commplace-config.h"
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#include "base/socket.h"
#include "door/client.h"

#define HOSTS 64

static char logged[4096];
static pthread_mutex_t logging = PTHREAD_MUTEX_INITIALIZER;

static void say(enum cpl_engine_log level, const char *text)
{
	pthread_mutex_lock(&logging);
	strncat(logged, text, sizeof(logged) - strlen(logged) - 1);
	pthread_mutex_unlock(&logging);
}

static bool has_logged(const char *text)
{
	bool has;

	pthread_mutex_lock(&logging);
	has = strstr(logged, text);
	pthread_mutex_unlock(&logging);
	return has;
}

/* What slurmctld was asked. */
static struct asked {
	int stock, place, n, host[HOSTS];
} asked;

static int measure(void *arg, uint32_t *cpus, uint64_t *rank,
		   struct cpl_engine_span *span)
{
	for (int i = 0; i < HOSTS; i++)
		cpus[i] = 4;
	return 0;
}

static bool place(void *arg, const int *host, int n, const char *last)
{
	asked.place++;
	asked.n = n;
	memcpy(asked.host, host, (size_t)n * sizeof(int));
	return true;
}

static void narrow(void *arg, uint32_t *cpus)
{
}

static int stock(void *arg, int *host)
{
	asked.stock++;
	return 0;
}

static const struct cpl_engine_scheduler scheduler = {.measure = measure,
                                                      .place = place,
                                                      .narrow = narrow,
                                                      .stock = stock,
                                                      .compare = stock};

static struct cpl_engine *begin_with(const char *odd, const char *config)
{
	struct cpl_engine *engine;

	setenv("COMMPLACED", CPL_TEST_ODD, 1);
	setenv("ODD", odd, 1);
	logged[0] = '\0';
	memset(&asked, 0, sizeof(asked));
	engine = cpl_engine_new(config, say, NULL);
	assert_non_null(engine);
	return engine;
}

static struct cpl_engine *begin(const char *odd)
{
	return begin_with(odd, "/no/such/file");
}

static enum cpl_engine_answer decide_for(struct cpl_engine *engine,
                                         const char *profile, char *text)
{
	const struct cpl_engine_request req = {
	        .job = {.id = 7, .profile = profile},
	        .need = {.min_nodes = 2},
	        .n_hosts = HOSTS,
	        .start = true};

	return cpl_engine_decide(engine, &req, &scheduler, text, 100);
}

static enum cpl_engine_answer decide(struct cpl_engine *engine, char *text)
{
	return decide_for(engine, "p", text);
}

struct odd_row {
	const char *odd;
	enum cpl_engine_answer answer;
	int stock;
	const char *log;
};

/* Of a row what is not as it should be, with a patience of slow times what
 * slurmctld has, and an odd one that is as much slower; NULL: nothing. */
static const char *odd_answer(const struct odd_row *row, int slow)
{
	const int64_t patience = slow * CPL_DOOR_PATIENCE;
	struct cpl_engine *engine;
	const char *wrong = NULL;
	char text[100], n[20];
	int64_t began;

	snprintf(n, sizeof(n), "%d", slow);
	setenv("ODD_SLOW", n, 1);
	engine = begin(row->odd);
	engine->patience = patience;
	began = cpl_now();
	if (decide(engine, text) != row->answer || asked.stock != row->stock)
		wrong = "another answer";
	else if (!strstr(logged, row->log))
		wrong = "the log has it not";
	else if (cpl_now() - began >= 4 * patience)
		wrong = "too late";
	/* One more waits for the late answer, a little. */
	if (row->answer == CPL_ENGINE_STOCK)
		decide(engine, text);
	if (cpl_now() - began >= 6 * patience)
		wrong = "the next is too late";
	/* Nobody waits again meanwhile. */
	began = cpl_now();
	if (row->answer == CPL_ENGINE_STOCK &&
	    decide(engine, text) == CPL_ENGINE_PLACED)
		wrong = "the third is placed";
	if (cpl_now() - began >= patience / 2)
		wrong = "the third waits";
	cpl_door_end_child(engine, 0);
	cpl_engine_free(engine);
	unsetenv("ODD_SLOW");
	return wrong;
}

/* Each is over in time, nothing is changed by it, and the log has it. A machine
 * that other programs keep busy may need longer for all of it. */
static void test_odd_answers(void **state)
{
	static const struct odd_row row[] = {
	        {"gone", CPL_ENGINE_STOCK, 1, "is gone"},
	        {"noise", CPL_ENGINE_STOCK, 1, "is gone"},
	        {"long", CPL_ENGINE_STOCK, 1, "is gone"},
	        {"short", CPL_ENGINE_STOCK, 1, ""},
	        {"nothing", CPL_ENGINE_STOCK, 1, ""},
	        {"deaf", CPL_ENGINE_STOCK, 1, ""},
	        {"late", CPL_ENGINE_STOCK, 1, ""},
	        /* It is at work, if not in time. */
	        {"busy", CPL_ENGINE_NONE, 0, ""},
	        {"question", CPL_ENGINE_STOCK, 1, "asks what it may not"},
	        {"again", CPL_ENGINE_STOCK, 1, "asks what it may not"},
	        {"empty", CPL_ENGINE_STOCK, 1, "says what is no answer"},
	        {"full", CPL_ENGINE_STOCK, 1, "says what is no answer"},
	        {"other", CPL_ENGINE_PLACED, 0, ""},
	        /* Nodes that were taken stay so. */
	        {"leave", CPL_ENGINE_PLACED, 0, "is gone"},
	        {"liar", CPL_ENGINE_STOCK, 1, ""},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		const char *wrong = "";

		for (int slow = 1; wrong && slow <= 16; slow *= 4)
			wrong = odd_answer(&row[i], slow);
		if (wrong)
			fail_msg("%s: %s; stock %d, '%s'", row[i].odd, wrong,
			         asked.stock, logged);
	}
}

static void test_hosts_are_checked(void **state)
{
	struct cpl_engine *engine = begin("hosts");
	char text[100];

	/* Those that were good stay. */
	assert_int_equal(decide(engine, text), CPL_ENGINE_PLACED);
	assert_non_null(strstr(logged, "asks what it may not"));
	assert_int_equal(asked.place, 1);
	assert_int_equal(asked.n, 2);
	assert_int_equal(asked.host[1], 5);
	cpl_engine_free(engine);
}

static int layout(void *arg, int ranks, int *rank_host)
{
	memset(rank_host, 0, (size_t)ranks * sizeof(*rank_host));
	return 0;
}

/* A job of eight ranks begins. */
static void begins(struct cpl_engine *engine, int64_t id, int64_t array,
                   size_t order_max, struct cpl_engine_notice *notice)
{
	cpl_engine_start(engine,
	                 &(struct cpl_engine_allocation){.id = id,
	                                                 .array_id = array,
	                                                 .ranks = 8,
	                                                 .host = (int[]){3},
	                                                 .n_hosts = 1,
	                                                 .layout = layout,
	                                                 .order_max = order_max},
	                 notice);
}

/* What will be asked goes with the call, and nobody waits for an answer that the last
 * question was. */
static void test_told_ahead(void **state)
{
	static const struct {
		int64_t id, array;
		size_t order_max;
		const char *text, *order;
	} row[] = {
	        {7, 0, 6, "8 ranks, 6 bytes", "order"},
	        {9, 7, 5, "8 ranks, 5 bytes", NULL},
	        {9, 0, 0, "0 ranks, 0 bytes", NULL},
	};
	struct cpl_engine *engine = begin("ahead");
	struct cpl_engine_notice notice;
	char text[100];

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		assert_int_equal(decide(engine, text), CPL_ENGINE_PLACED);
		assert_string_equal(text, "0 to 64 of 4");
		begins(engine, row[i].id, row[i].array, row[i].order_max,
		       &notice);
		assert_string_equal(notice.text, row[i].text);
		assert_true(notice.comment);
		if (row[i].order)
			assert_string_equal(notice.order, row[i].order);
		else
			assert_null(notice.order);
		free(notice.order);
	}
	assert_int_equal(asked.stock, 0);
	/* Of others only what they ask. */
	assert_int_equal(decide_for(engine, NULL, text), CPL_ENGINE_STOCK);
	assert_non_null(strstr(logged, "asks what it may not"));
	cpl_engine_free(engine);
}

/* No look at the machine for a job that nothing comes of. */
static void test_measured_once_for_none(void **state)
{
	struct cpl_engine *engine = begin("none");
	char text[100];

	assert_int_equal(decide(engine, text), CPL_ENGINE_NONE);
	assert_string_equal(text, "0 to 64 of 4");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(decide(engine, text), CPL_ENGINE_NONE);
		assert_string_equal(text, "-1 to -1 of 0");
	}
	cpl_engine_free(engine);
}

static void test_ranks_are_checked(void **state)
{
	static const struct {
		const char *odd;
		bool changed;
	} row[] = {{"ids", false}, {"twice", false}, {"ranks", true}};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_engine *engine = begin(row[i].odd);
		uint32_t id[2][2] = {{0, 1}, {2, 3}}, *ids[] = {id[0], id[1]};
		const uint16_t tasks[] = {2, 2};
		const struct cpl_engine_step step = {.hosts = "n[0-1]",
		                                     .n_hosts = 2,
		                                     .ranks = 4,
		                                     .tasks = tasks,
		                                     .ids = ids};
		struct cpl_engine_layout out;

		cpl_engine_step(engine, &step, &out);
		assert_int_equal(out.changed, row[i].changed);
		assert_int_equal(id[0][0], row[i].changed ? 2 : 0);
		assert_int_equal(id[1][1], row[i].changed ? 1 : 3);
		free(out.data);
		cpl_engine_free(engine);
	}
}

/* What comes late is thrown away, and the next call is answered. */
static void test_after_a_late_answer(void **state)
{
	struct cpl_engine *engine = begin("late");
	char text[100];

	engine->patience = 50 * CPL_DOOR_MS;
	assert_int_equal(decide(engine, text), CPL_ENGINE_STOCK);
	usleep(400000);
	engine->patience = 2000 * CPL_DOOR_MS;
	assert_int_equal(decide(engine, text), CPL_ENGINE_NONE);
	assert_string_equal(text, "late");
	assert_int_equal(engine->late, 0);
	cpl_engine_free(engine);
}

/* What is said between calls is heard without one, and so is an end. */
static void test_says_without_a_call(void **state)
{
	struct cpl_engine *engine = begin("speaks");
	char text[100];

	engine->patience = 2000 * CPL_DOOR_MS;
	assert_int_equal(decide(engine, text), CPL_ENGINE_NONE);
	assert_false(has_logged("between calls"));
	for (int i = 0; i < 1000 && !has_logged("between calls"); i++)
		usleep(10000);
	assert_true(has_logged("between calls"));
	assert_true(engine->child > 0);
	kill(engine->child, SIGKILL);
	for (int i = 0; i < 1000 && !has_logged("is gone"); i++)
		usleep(10000);
	assert_true(has_logged("is gone"));
	cpl_engine_free(engine);
}

static void test_program_that_is_not_there(void **state)
{
	struct cpl_engine *engine = begin("");
	struct cpl_verdict verdict;
	char text[100];

	setenv("COMMPLACED", "/no/such/program", 1);
	assert_int_equal(decide(engine, text), CPL_ENGINE_NONE);
	assert_non_null(strstr(logged, "/no/such/program cannot be started"));
	cpl_engine_submit(engine, &(struct cpl_submission){0}, &verdict);
	assert_false(verdict.refused);
	cpl_engine_free(engine);
}

/* One that is gone is begun again, later each time, and is told anew. */
static void test_begun_again(void **state)
{
	static const char *const name[] = {"a", NULL, "c"};
	struct cpl_engine_live job[] = {{9, false}, {3, true}, {5, false}};
	struct cpl_engine *engine = begin("told");
	struct cpl_engine_notice notice;
	struct cpl_error err = {""};
	char text[100];
	pid_t first;

	assert_int_equal(cpl_engine_set_cluster(engine, "x", true, &err), 0);
	assert_int_equal(cpl_engine_load(engine, 0, &err), 0);
	assert_int_equal(cpl_engine_set_hosts(engine, name, 3, &err), 0);
	cpl_engine_restore(engine, job, 3, 0);
	decide(engine, text);
	assert_string_equal(text, "1 cluster, 1 hosts, 1 load, 1 of 3");
	cpl_engine_start(engine,
	                 &(struct cpl_engine_allocation){
	                         .id = 4, .host = (int[]){1}, .n_hosts = 1},
	                 &notice);
	cpl_engine_end(engine, 5);
	cpl_engine_end(engine, 6);
	cpl_engine_suspended(engine, 9, true);
	first = engine->child;
	assert_true(first > 0);
	kill(first, SIGKILL);
	usleep(20000);
	decide(engine, text);
	assert_string_equal(text, "");
	assert_int_equal(engine->back_off, CPL_DOOR_BACK_OFF);
	assert_int_equal(engine->child, 0);
	/* An end meanwhile. */
	cpl_engine_end(engine, 3);
	engine->retry = 0;
	decide(engine, text);
	assert_string_equal(text, "1 cluster, 1 hosts, 1 load, 1 of 2");
	assert_int_not_equal(engine->child, first);
	assert_int_equal(engine->live[0].id, 4);
	assert_int_equal(engine->live[1].id, 9);
	assert_true(engine->live[1].suspended);
	assert_int_equal(engine->back_off, 0);
	cpl_engine_free(engine);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* The program itself, begun as slurmctld begins it. */
static pid_t begin_commplaced(struct cpl_link *link)
{
	int fd[2];
	pid_t pid;

	assert_int_equal(
	        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	*link = (struct cpl_link){.fd = fd[0]};
	pid = fork();
	if (!pid) {
		close(fd[0]);
		if (dup2(fd[1], 3) == 3)
			execl(CPL_TEST_COMMPLACED, "commplaced", "--child",
			      NULL);
		_exit(127);
	}
	close(fd[1]);
	return pid;
}

/* It says what is wrong and ends, whatever the first message is. */
static void test_commplaced_of_another_version(void **state)
{
	static const struct {
		uint64_t version;
		const char *program;
	} row[] = {{CPL_DOOR_VERSION + 1, PACKAGE_VERSION},
	           {CPL_DOOR_VERSION, "0.0.0"},
	           {CPL_DOOR_VERSION, NULL}};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_link_head head = {.kind = CPL_DOOR_HELLO};
		struct cpl_packer o = cpl_link_packer();
		int64_t end = cpl_now() + 20000 * CPL_DOOR_MS;
		struct cpl_unpacker in;
		struct cpl_link link;
		pid_t pid = begin_commplaced(&link);

		cpl_put_number(&o, row[i].version);
		cpl_form_put_text(&o, row[i].program);
		cpl_form_put_text(&o, "/no/such/file");
		assert_int_equal(cpl_link_send(&link, &head, &o, end), 0);
		assert_int_equal(cpl_link_receive(&link, end), 1);
		assert_int_equal(link.head.kind, CPL_DOOR_LOG);
		in = cpl_link_body(&link);
		cpl_get_number(&in);
		assert_non_null(
		        strstr(cpl_form_get_text(&in), "of another version"));
		assert_int_equal(cpl_link_receive(&link, end), -1);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		cpl_link_close(&link);
		free(o.data);
	}
}

/* Bytes of every kind behind a good beginning: it ends, or goes on, and does
 * not crash. */
static void test_commplaced_reads_anything(void **state)
{
	uint64_t random = 1;

	for (int kind = 0; kind < 48; kind++) {
		struct cpl_link_head head = {.kind = CPL_DOOR_HELLO};
		struct cpl_packer o = cpl_link_packer(), bad = o;
		int64_t end = cpl_now() + 20000 * CPL_DOOR_MS;
		struct cpl_link link;
		pid_t pid = begin_commplaced(&link);
		int status, rc;

		cpl_put_number(&o, CPL_DOOR_VERSION);
		cpl_form_put_text(&o, PACKAGE_VERSION);
		cpl_form_put_text(&o, "/no/such/file");
		assert_int_equal(cpl_link_send(&link, &head, &o, end), 0);
		head.kind = (uint8_t)kind;
		for (int i = 0; i < 20; i++) {
			bad.used = 0;
			for (int k = 0; k < 7 * i; k++) {
				random = random * 6364136223846793005u + 1;
				cpl_put_fixed(&bad, random >> 33 & 0xf7, 1);
			}
			if (cpl_link_send(&link, &head, &bad, end))
				break;
			/* Nobody replies. */
			while ((rc = cpl_link_receive(
			                &link, cpl_now() + CPL_DOOR_MS / 2)) >
			       0)
				;
			if (rc < 0)
				break;
		}
		cpl_link_close(&link);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (!WIFEXITED(status))
			fail_msg("kind %d: status %#x", kind, (unsigned)status);
		free(o.data);
		free(bad.data);
	}
}

static void write_config(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void test_words_of_the_file(void **state)
{
	static const struct {
		const char *text, *socket;
		int ms;
	} row[] = {
	        {"", NULL, 0},
	        {"Decider=/run/a", "/run/a", 0},
	        {"Mode=on\n \tdecider=/run/a # why\nSeed=1\n", "/run/a", 0},
	        {"Decider=/a\nDecider=/b\r\n", "/b", 0},
	        {"#Decider=/a\nDeciderMemory=7\nXDecider=/b\n", NULL, 0},
	        {"Decider=a", NULL, 0},
	        {"Decider=", NULL, 0},
	        /* how long a call waits for a commplaced that begins */
	        {"MaxDecisionTime=2s", NULL, 2000},
	        {" maxdecisiontime=200ms # why\nDecider=/a\n", "/a", 200},
	        {"MaxDecisionTime=300\r\n", NULL, 300},
	        {"MaxDecisionTime=60s", NULL, 60000},
	        {"MaxDecisionTime=20ms", NULL, 0},
	        {"MaxDecisionTime=-300", NULL, 0},
	        {"MaxDecisionTime=2m", NULL, 0},
	        {"MaxDecisionTime=9223372036854775807s", NULL, 0},
	        {"MaxDecisionTime=99999999999999999999", NULL, 0},
	        {"MaxDecisionTime=61s\nPartition=a MaxDecisionTime=9s", NULL, 0},
	};
	char path[] = "/tmp/cpl-door.XXXXXX", *got;
	int fd = mkstemp(path);
	int64_t patience;

	assert_int_not_equal(fd, -1);
	close(fd);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		write_config(path, row[i].text);
		cpl_door_configure(path, &got, &patience);
		assert_int_equal(patience / CPL_DOOR_MS,
		                 row[i].ms ? row[i].ms : 100);
		if (row[i].socket ? !got || strcmp(got, row[i].socket)
		                  : got != NULL)
			fail_msg("row %zu: %s", i, got ? got : "none");
		free(got);
	}
	unlink(path);
	cpl_door_configure(path, &got, &patience);
	assert_null(got);
	assert_int_equal(patience, CPL_DOOR_PATIENCE);
}

/* The first job finds a commplaced that begins, and is told of MaxDecisionTime by
 * the answer only. */
static void test_first_call_waits_as_the_file_says(void **state)
{
	char path[] = "/tmp/cpl-door.XXXXXX", text[100];
	int fd = mkstemp(path);
	struct cpl_engine *engine;

	assert_int_not_equal(fd, -1);
	close(fd);
	write_config(path, "MaxDecisionTime=5s\n");
	engine = begin_with("late", path);
	assert_int_equal(decide(engine, text), CPL_ENGINE_NONE);
	assert_string_equal(text, "late");
	assert_int_equal(engine->late, 0);
	cpl_engine_free(engine);
	unlink(path);
}

static bool listens(const char *path)
{
	int fd = cpl_socket_connect(path, 0, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* A service: one slurmctld after the other, and back when it is. */
static void test_service(void **state)
{
	char dir[] = "/tmp/cpl-door.XXXXXX", config[64], line[80], at[64];
	struct cpl_error err = {""};
	struct cpl_engine *engine;
	int status;
	pid_t pid = 0;

	assert_non_null(mkdtemp(dir));
	snprintf(config, sizeof(config), "%s/commplace.conf", dir);
	snprintf(at, sizeof(at), "%s/socket", dir);
	snprintf(line, sizeof(line), "Decider=%s\n", at);
	write_config(config, line);
	for (int i = 0; i < 3; i++) {
		logged[0] = '\0';
		engine = cpl_engine_new(config, say, NULL);
		assert_string_equal(engine->socket, at);
		if (i == 0) {
			assert_int_equal(cpl_engine_load(engine, 0, &err), -1);
			assert_non_null(strstr(logged, "no commplaced at /"));
			pid = fork();
			if (!pid) {
				/* Also where this test fails. */
				prctl(PR_SET_PDEATHSIG, SIGKILL);
				execl(CPL_TEST_COMMPLACED, "commplaced",
				      "--socket", at, NULL);
				_exit(127);
			}
			/* It is there before it listens. */
			for (int k = 0; k < 500 && !listens(at); k++)
				usleep(10000);
			engine->retry = 0;
		}
		/* It reads the file; the network is not there. */
		assert_int_equal(cpl_engine_load(engine, 5000, &err), -1);
		if (!strstr(err.text, "network.json"))
			fail_msg("%s", err.text);
		assert_int_equal(engine->child, 0);
		cpl_engine_free(engine);
	}
	/* It ends in order, whoever is connected. */
	engine = cpl_engine_new(config, say, NULL);
	assert_int_equal(cpl_engine_load(engine, 5000, &err), -1);
	kill(pid, SIGTERM);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	assert_int_equal(access(at, F_OK), -1);
	cpl_engine_free(engine);
	unlink(config);
	rmdir(dir);
}

/* All that a step has, there and back; and nothing of a part of it, or where a
 * byte is another, is taken for more than it is. */
static void test_step_travels(void **state)
{
	uint32_t a[] = {0, 1, 5}, b[] = {2, 3, 4}, *ids[] = {a, b};
	const uint16_t tasks[] = {3, 3};
	const struct cpl_engine_step step = {
	        .job = {.id = -3, .uid = UINT32_MAX, .name = "x", .nodes = 2},
	        .hosts = "n[1-2]",
	        .n_hosts = 2,
	        .ranks = 6,
	        .tasks = tasks,
	        .ids = ids,
	        .part = true,
	        .limit = SIZE_MAX};
	struct cpl_packer o = cpl_link_packer();
	struct cpl_engine_step got;
	void *memory;

	cpl_form_put_step(&o, &step);
	for (size_t n = 0; n <= o.used; n++) {
		struct cpl_unpacker in = {.at = o.data, .end = o.data + n};

		cpl_form_get_step(&in, &got, &memory);
		assert_int_equal(in.bad, n < o.used);
		if (n == o.used) {
			assert_int_equal(got.job.id, -3);
			assert_int_equal(got.job.uid, UINT32_MAX);
			assert_null(got.job.profile);
			assert_string_equal(got.job.name, "x");
			assert_string_equal(got.hosts, "n[1-2]");
			assert_int_equal(got.ids[0][2], 5);
			assert_int_equal(got.ids[1][0], 2);
			assert_true(got.part && got.limit == SIZE_MAX);
		}
		free(memory);
	}
	for (size_t n = 0; n < 255 * o.used; n++) {
		struct cpl_unpacker in = {.at = o.data, .end = o.data + o.used};
		unsigned char was = o.data[n / 255];

		o.data[n / 255] ^= (unsigned char)(n % 255 + 1);
		cpl_form_get_step(&in, &got, &memory);
		free(memory);
		o.data[n / 255] = was;
	}
	free(o.data);
}

/* And nothing beyond the hosts that there are. */
static void test_measured_travels(void **state)
{
	const uint32_t cpus[] = {0, 0, 4, 4, 0, 7, 0};
	const uint64_t rank[] = {0, 0, 1, 1, 0, UINT64_MAX, 0};
	struct cpl_packer o = cpl_link_packer(), none = o;
	struct cpl_engine_span span = {2, 6};
	struct cpl_unpacker in;

	cpl_form_put_measured(&o, cpus, rank, span);
	for (size_t n = 0; n <= o.used; n++)
		for (int hosts = 0; hosts < 9; hosts++) {
			uint32_t c[8] = {0};
			uint64_t r[8] = {0};
			bool good = n == o.used && hosts >= 6;

			span = (struct cpl_engine_span){0, hosts};
			in = (struct cpl_unpacker){o.data, o.data + n, false};
			assert_int_equal(
			        cpl_form_get_measured(&in, hosts, c, r, &span),
			        good ? 0 : -1);
			if (good) {
				assert_memory_equal(c, cpus, sizeof(cpus));
				assert_memory_equal(r, rank, sizeof(rank));
				assert_int_equal(span.first, 2);
				assert_int_equal(span.end, 6);
			}
		}
	cpl_form_put_measured(&none, NULL, rank, span);
	in = (struct cpl_unpacker){none.data, none.data + none.used, false};
	assert_int_equal(cpl_form_get_measured(&in, 7, NULL, NULL, &span), -1);
	assert_false(in.bad);
	free(none.data);
	free(o.data);
}

static void test_numbers_travel(void **state)
{
	const int value[] = {5, 6, 7, -1, INT32_MAX, INT32_MIN, 0};
	const uint64_t many[] = {4, 4, 4, UINT64_MAX, 0, 0};
	struct cpl_packer o = cpl_link_packer();
	struct cpl_unpacker in;
	uint64_t got[6];
	int n, *list;

	cpl_form_put_ints(&o, value, 7);
	cpl_form_put_runs(&o, many, 6);
	in = (struct cpl_unpacker){.at = o.data, .end = o.data + o.used};
	list = cpl_form_get_ints(&in, &n);
	assert_int_equal(n, 7);
	assert_memory_equal(list, value, sizeof(value));
	free(list);
	cpl_form_get_runs(&in, got, 6);
	assert_false(in.bad);
	assert_memory_equal(got, many, sizeof(many));
	/* Fewer are asked for than there are. */
	in = (struct cpl_unpacker){.at = o.data, .end = o.data + o.used};
	free(cpl_form_get_ints(&in, &n));
	cpl_form_get_runs(&in, got, 2);
	assert_true(in.bad);
	free(o.data);
	/* More numbers than bytes. */
	in = (struct cpl_unpacker){(const unsigned char *)"\xff\xff\x03\x00",
	                           (const unsigned char *)"" + 1, false};
	in.end = in.at + 4;
	assert_null(cpl_form_get_ints(&in, &n));
	assert_true(in.bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_odd_answers),
	        cmocka_unit_test(test_hosts_are_checked),
	        cmocka_unit_test(test_told_ahead),
	        cmocka_unit_test(test_measured_once_for_none),
	        cmocka_unit_test(test_ranks_are_checked),
	        cmocka_unit_test(test_after_a_late_answer),
	        cmocka_unit_test(test_says_without_a_call),
	        cmocka_unit_test(test_program_that_is_not_there),
	        cmocka_unit_test(test_begun_again),
	        cmocka_unit_test(test_commplaced_of_another_version),
	        cmocka_unit_test(test_commplaced_reads_anything),
	        cmocka_unit_test(test_words_of_the_file),
	        cmocka_unit_test(test_first_call_waits_as_the_file_says),
	        cmocka_unit_test(test_service),
	        cmocka_unit_test(test_step_travels),
	        cmocka_unit_test(test_measured_travels),
	        cmocka_unit_test(test_numbers_travel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
