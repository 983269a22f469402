/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the engine holds, as a tree (engine_tree.c), and the socket on which
 * commplaced answers for it (src/commplaced/tree.c). */
#include "engine_fixture.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "commplaced/tree.h"

#define NOBODY 65534

/* At that path, as text; "" where there is nothing. */
static const char *at(const char *path, uint32_t uid, bool all)
{
	static char text[4096];
	json_t *value = cpl_engine_tree(engine, path, uid, all);
	char *dump = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT)
	                   : NULL;

	snprintf(text, sizeof(text), "%s", dump ? dump : "");
	free(dump);
	json_decref(value);
	return text;
}

/* The hosts of the job, in the order of its ranks. */
static char *hosts_of(int64_t id)
{
	const struct cpl_record *record =
	        engine_running_find(&engine->ledger, id)->record;

	return cpl_hostlist_format(record->host, record->n_hosts);
}

static void test_what_it_holds(void **state)
{
	const char *const branch[] = {"snapshot", "jobs", "decided",
	                              "counters", "memo", "worker"};
	json_t *root = cpl_engine_tree(engine, "/", 0, true);
	struct cpl_engine_request req;
	char *hosts, quoted[80];

	assert_int_equal(json_object_size(root),
	                 sizeof(branch) / sizeof(*branch));
	for (size_t i = 0; i < sizeof(branch) / sizeof(*branch); i++)
		assert_true(json_is_object(json_object_get(root, branch[i])));
	json_decref(root);
	all_free();
	assert_string_equal(at("/jobs", 0, true), "{}");
	start(5, "a8", "linear", 4, 8);
	req = request(6, "a8", "linear", 4);
	ask(&req);
	assert_string_equal(at("/jobs", 0, true), "{\"5\":{}}");
	hosts = hosts_of(5);
	snprintf(quoted, sizeof(quoted), "\"%s\"", hosts);
	assert_string_equal(at("jobs/5/hosts", 0, true), quoted);
	free(hosts);
	assert_string_equal(at("//jobs//5/ranks/", 0, true), "8");
	assert_string_equal(at("/jobs/5/profile", 0, true), "\"a8\"");
	assert_string_equal(at("/decided", 0, true), "{\"6\":{}}");
	assert_string_equal(at("/memo/decisions", 0, true), "1");
	assert_string_equal(at("/snapshot/network", 0, true), "\"t\"");
	assert_string_equal(at("/snapshot/hosts", 0, true), "32");
	assert_string_equal(at("/counters/decisions/placed", 0, true), "2");
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	assert_string_equal(at("/worker/write", 0, true),
	                    "{\"waiting\":0,\"busy\":0}");
	cpl_engine_end(engine, 5);
	assert_string_equal(at("/jobs/5", 0, true), "");
}

/* What is not there is not made up, whatever the path. */
static void test_no_such_thing(void **state)
{
	static const char *const none[] = {
	        "/nothing",
	        "/jobs/7",
	        "/jobs/x",
	        "/jobs/5x",
	        "/..",
	        "/jobs/-1",
	        "/memo/no",
	        "/jobs/5/hosts/0",
	        "jobs5",
	        "/worker/write/busy/x",
	        "/jobs/99999999999999999999999999999999999999999999999999999999"
	        "9999999999999999999999999999999999999999999",
	};

	all_free();
	start(5, "a8", "linear", 4, 8);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_string_equal(at(none[i], 0, true), "");
}

/* With PrivateData=jobs a user sees no other's job, by whatever way, and cannot
 * tell it from none. */
static void test_private_jobs(void **state)
{
	struct cpl_engine_request req;

	all_free();
	start(5, "a8", "linear", 4, 8);
	req = request(6, "a8", "linear", 4);
	ask(&req);
	assert_string_equal(at("/jobs/5/ranks", NOBODY, false), "8");
	assert_int_equal(cpl_engine_set_cluster(engine, "c", true, NULL), 0);
	assert_string_equal(at("/jobs", NOBODY, false), "{}");
	assert_string_equal(at("/decided", NOBODY, false), "{}");
	assert_string_equal(at("/jobs/5", NOBODY, false), "");
	assert_null(strstr(at("/", NOBODY, false), "\"5\""));
	assert_null(strstr(at("/", NOBODY, false), "a8"));
	assert_string_equal(at("/jobs/5/ranks", getuid(), false), "8");
	assert_string_equal(at("/jobs/5/ranks", NOBODY, true), "8");
	/* The site's own word. */
	config("RecordAccess=all");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	assert_string_equal(at("/jobs/5/ranks", NOBODY, false), "8");
}

/* Two clusters with one StateDir by mistake: the socket there is the first's.
 */
static void test_state_dir_of_another_cluster(void **state)
{
	const struct cpl_engine_live five = {.id = 5};
	char path[200];

	all_free();
	assert_int_equal(cpl_engine_set_cluster(engine, "one", false, NULL), 0);
	assert_false(cpl_engine_state_dir(engine, path, sizeof(path)));
	start(5, "a8", "linear", 4, 8);
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	/* A backup in standby makes no socket in the StateDir of both. */
	assert_false(cpl_engine_state_dir(engine, path, sizeof(path)));
	cpl_engine_restore(engine, &five, 1, WAIT_MS);
	assert_true(cpl_engine_state_dir(engine, path, sizeof(path)));
	assert_true(cpl_engine_drain(engine, WAIT_MS));
	assert_false(cpl_engine_state_dir(engine, path, sizeof(path)));
	cpl_engine_restore(engine, &five, 1, WAIT_MS);
	assert_string_equal(path, in_dir("state"));
	assert_false(cpl_engine_state_dir(engine, path, 5));
	assert_int_equal(cpl_engine_set_cluster(engine, "two", false, NULL), 0);
	all_free();
	start(6, "a8", "linear", 4, 8);
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	assert_false(cpl_engine_state_dir(engine, path, sizeof(path)));
}

/* Nothing is answered after an engine is gone, and before there is one. */
static int set_up_socket(void **state)
{
	const struct cpl_engine_live none = {0};
	int rc = set_up(state);

	cpl_engine_restore(engine, &none, 0, WAIT_MS);
	chmod(dir, 0711);
	tree_serve(engine, take_log);
	return rc;
}

static int tear_down_socket(void **state)
{
	tree_serve(NULL, NULL);
	return tear_down(state);
}

static int open_once(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	snprintf(name.sun_path, sizeof(name.sun_path), "%s/state/%s", dir,
	         CPL_ENGINE_SOCKET);
	if (!connect(fd, (const struct sockaddr *)&name, sizeof(name)))
		return fd;
	close(fd);
	return -1;
}

/* What comes to a question up to the end; "": it was turned away. */
static void ask_at(int fd, const char *line, char *text, size_t size)
{
	size_t got = 0;
	ssize_t n = send(fd, line, strlen(line), MSG_NOSIGNAL);

	while (n > 0 && got + 1 < size) {
		struct pollfd p = {.fd = fd, .events = POLLIN};

		poll(&p, 1, 10000);
		n = recv(fd, text + got, size - 1 - got, 0);
		got += n > 0 ? (size_t)n : 0;
	}
	text[got] = '\0';
}

/* The answer to a question, asked until there is one. */
static const char *answer(const char *line)
{
	static char text[65536];
	int64_t end = cpl_now() + WAIT_MS * INT64_C(1000000);

	*text = '\0';
	while (!*text && cpl_now() < end) {
		int fd = open_once();

		if (fd >= 0) {
			ask_at(fd, line, text, sizeof(text));
			close(fd);
		}
		if (!*text)
			usleep(10000);
	}
	return text;
}

static void test_over_the_socket(void **state)
{
	all_free();
	start(5, "a8", "linear", 4, 8);
	assert_string_equal(answer("/jobs/5/ranks\n"), "{\"value\":8}");
	assert_string_equal(answer("/jobs/6\n"),
	                    "{\"error\":\"no such thing\"}");
	assert_non_null(strstr(answer("\n"), "\"counters\":"));
	/* It is made again where it was removed. */
	assert_int_equal(unlink(in_dir("state/" CPL_ENGINE_SOCKET)), 0);
	assert_string_equal(answer("/jobs/5/ranks\n"), "{\"value\":8}");
	/* No engine: nobody to ask, and nothing that looks like it. */
	tree_serve(NULL, NULL);
	assert_int_equal(open_once(), -1);
	assert_int_equal(access(in_dir("state/" CPL_ENGINE_SOCKET), F_OK), -1);
	tree_serve(engine, take_log);
	assert_string_equal(answer("/jobs/5/ranks\n"), "{\"value\":8}");
}

/* Another commplaced has begun to answer there: its socket stays. */
static void test_the_socket_of_another(void **state)
{
	assert_string_equal(answer("/jobs\n"), "{\"value\":{}}");
	put("other", "");
	assert_int_equal(
	        rename(in_dir("other"), in_dir("state/" CPL_ENGINE_SOCKET)), 0);
	tree_serve(NULL, NULL);
	assert_int_equal(access(in_dir("state/" CPL_ENGINE_SOCKET), F_OK), 0);
}

/* Where the path is longer than a socket's may be, that is said, once. */
static void test_too_long_a_path(void **state)
{
	int64_t end = cpl_now() + WAIT_MS * INT64_C(1000000);
	char text[512], *said;

	snprintf(text, sizeof(text),
	         "NetworkFile=%s/network.json\nStateDir=%s/%0150d\n", dir, dir,
	         0);
	put("commplace.conf", text);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	while (!strstr(logged, "/" CPL_ENGINE_SOCKET) && cpl_now() < end)
		usleep(10000);
	/* It looks again meanwhile. */
	usleep(1100000);
	said = strstr(logged, "/" CPL_ENGINE_SOCKET);
	assert_non_null(said);
	assert_non_null(strstr(said, "File name too long"));
	assert_null(strstr(said + 1, "/" CPL_ENGINE_SOCKET));
}

/* A user of no rights, by the kernel's word. */
static void test_another_user_over_the_socket(void **state)
{
	int status;
	pid_t pid;

	if (getuid()) {
		print_message("not root: nobody else to ask as\n");
		return;
	}
	all_free();
	start(5, "a8", "linear", 4, 8);
	assert_int_equal(cpl_engine_set_cluster(engine, "c", true, NULL), 0);
	assert_string_equal(answer("/jobs\n"), "{\"value\":{\"5\":{}}}");
	pid = fork();
	if (!pid) {
		const char *text = setuid(NOBODY) ? "" : answer("/jobs\n");

		_exit(strcmp(text, "{\"value\":{}}") ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Many that connect and say nothing, half of something, too much, or do not
 * read: jobs are decided as without them, and then others are answered again.
 */
static void test_hostile_askers(void **state)
{
	static const char *const say[] = {NULL, "/jobs", "\n",
	                                  "/jobs/5\n/jobs"};
	struct cpl_engine_request req = request(6, "a8", "random-groups", 4);
	char much[1000];
	int fd[200], host[4];

	all_free();
	start(5, "a8", "linear", 4, 8);
	all_free();
	fake.wanted = 4;
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	memcpy(host, fake.host, sizeof(host));
	assert_true(*answer("/memo\n") != '\0');
	memset(much, '/', sizeof(much));
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 200; i++) {
			const char *text = say[i % 4];

			fd[i] = open_once();
			if (fd[i] < 0)
				continue;
			if (text)
				send(fd[i], text, strlen(text), MSG_NOSIGNAL);
			else if (i % 8)
				send(fd[i], much, sizeof(much), MSG_NOSIGNAL);
		}
		all_free();
		fake.wanted = 4;
		req.job.id = 10 + round;
		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
		assert_memory_equal(host, fake.host, sizeof(host));
		for (int i = 0; i < 200; i++)
			if (fd[i] >= 0)
				close(fd[i]);
	}
	assert_non_null(strstr(answer("/decided\n"), "\"14\""));
	/* Those that stay are not waited for. */
	for (int i = 0; i < 4; i++) {
		fd[i] = open_once();
		assert_true(fd[i] >= 0);
		if (say[i])
			send(fd[i], say[i], strlen(say[i]), MSG_NOSIGNAL);
	}
	assert_non_null(strstr(answer("/decided\n"), "\"14\""));
	for (int i = 0; i < 4; i++)
		close(fd[i]);
}

/* The command, as a user has it. */
static void command(const char *rest, int status, const char *said)
{
	char line[512], text[4096];
	size_t n;
	FILE *f;

	snprintf(line, sizeof(line),
	         "%s status --tree %s --state-dir %s/state 2>&1",
	         CPL_TEST_COMMAND, rest, dir);
	f = popen(line, "r");
	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	assert_int_equal(WEXITSTATUS(pclose(f)), status);
	if (!strstr(text, said))
		fail_msg("%s: %s", line, text);
}

static void test_command(void **state)
{
	all_free();
	start(5, "a8", "linear", 4, 8);
	answer("/memo\n");
	command("/jobs/5", 0, "/jobs/5/hosts n[");
	command("", 0, "\n/jobs/5/\n");
	command("jobs", 0, "/jobs/5/\n");
	command("/jobs/5/ranks", 0, "/jobs/5/ranks 8\n");
	command("/jobs/5/ranks --json", 0, "\"value\": 8");
	command("/jobs/5 --json", 0, "\"hosts\": \"n[");
	command("/jobs/6", 1, "/jobs/6: no such thing\n");
	command("/ --counters", 2, "--tree goes with --json alone");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	        T(test_what_it_holds),   T(test_no_such_thing),
	        T(test_private_jobs),    T(test_state_dir_of_another_cluster),
#undef T
#define T(f) cmocka_unit_test_setup_teardown(f, set_up_socket, tear_down_socket)
	        T(test_over_the_socket), T(test_the_socket_of_another),
	        T(test_too_long_a_path), T(test_another_user_over_the_socket),
	        T(test_hostile_askers),  T(test_command),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
