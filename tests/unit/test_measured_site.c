/* SPDX-License-Identifier: GPL-2.0-or-later */
/* MeasuredLinks: what a running engine makes of them, and of sources that do not
 * answer. */
#include "engine_fixture.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "measured/source.h"
#include "measured/source_internal.h"

#define HEAD "time,from,to,bytes_per_second\n"

static void load(const char *lines)
{
	config(lines);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
}

/* The source's file, with the time of `age` seconds ago. */
static void measure(const char *rows, int age)
{
	char text[512], row[256];
	int n = snprintf(text, sizeof(text), HEAD);

	snprintf(row, sizeof(row), rows, (double)time(NULL) - age);
	snprintf(text + n, sizeof(text) - (size_t)n, "%s", row);
	put("links.csv", text);
}

static const char *source(const char *name, const char *more)
{
	static char line[512];

	snprintf(line, sizeof(line), "MeasuredLinks=%s/%s %s", dir, name, more);
	return line;
}

/* Read it now, and decide. */
static const struct cpl_record *decide(int64_t id)
{
	struct cpl_engine_request req = request(id, "t8", NULL, 4);

	pthread_mutex_lock(&engine->clerk.lock);
	engine->clerk.measure_next = 0;
	pthread_mutex_unlock(&engine->clerk.lock);
	engine_links_tick(&engine->clerk);
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	fake.wanted = 4;
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	return record();
}

static double rest_on(int link)
{
	const struct cpl_job_load *load = engine->ledger.rest.load;

	for (int i = 0; load && i < load->n_links; i++)
		if (load->on[i].link == link)
			return load->on[i].bytes / load->period;
	return 0;
}

/* Without the key nothing is read or noted. */
static void test_without(void **state)
{
	(void)state;
	all_free();
	measure("%.0f,0,1,2\n", 0);
	load("");
	assert_null(decide(1)->measured);
	assert_null(engine->ledger.rest.sample);
}

static void test_background(void **state)
{
	const struct cpl_network *net;
	int link = -1;

	(void)state;
	all_free();
	measure("%.0f,0,1,2\n", 1);
	load(source("links.csv", ""));
	assert_non_null(strstr(decide(1)->measured, "1 links at "));
	net = engine->desk.snapshot->net;
	for (int i = 0; i < net->n_links && link < 0; i++)
		if (net->link_from[i] == 0 && net->link_to[i] == 1)
			link = i;
	assert_true(rest_on(link) == 2);
	/* Jobs that begin and end between samples do not change it. */
	start(2, "t8", NULL, 4, 8);
	/* Its record is written by now, and StateDir is there. */
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	decide(3);
	assert_true(cpl_file_exists(in_dir("state/" CPL_MEASURED_FILE)));
	assert_true(rest_on(link) == 2);
	cpl_engine_end(engine, 2);
	decide(3);
	assert_true(rest_on(link) == 2);
	/* Less than what is nothing. */
	measure("%.0f,0,1,0.002\n", 0);
	decide(4);
	assert_true(rest_on(link) == 0);
	assert_string_equal(strstr(logged, "MeasuredLinks") ? logged : "", "");
}

/* What our own job sends while it is measured is not there twice. */
static void test_own(void **state)
{
	const struct cpl_load *rates, *background;
	struct cpl_load sent;
	char text[8192] = HEAD;
	const struct cpl_network *net;
	int links = 0;

	(void)state;
	all_free();
	put("network.json",
	    "{\"format\": \"commplace-network\", \"version\": 1, \"name\": "
	    "\"t\", \"type\": \"dragonfly\", \"groups\": 4, \"rows\": 2, "
	    "\"columns\": 2, \"nodes_per_router\": 2, "
	    "\"global_links_per_group_pair\": 1, \"bandwidth\": {\"row\": 3e3, "
	    "\"column\": 7e3, \"global\": 2e3, \"injection\": 9e3}, "
	    "\"nodes\": \"n[0-31]\"}");
	load(source("links.csv", ""));
	net = engine->desk.snapshot->net;
	start(5, "t16", NULL, 8, 16);
	engine->ledger.running[0].record->time -= 100;
	decide(6);
	assert_int_equal(cpl_scene_loads(&engine->ledger.scene, 1, &background,
	                                 &rates, NULL),
	                 0);
	assert_non_null(rates);
	assert_int_equal(cpl_load_init(&sent, net, NULL), 0);
	cpl_load_add(&sent, rates, net);
	for (int i = 0; i < net->n_links; i++) {
		size_t n = strlen(text);
		double rate = rates->link[i] * 0.5;

		/* Others on every second link. */
		if (rates->link[i] > 0 && links++ % 2)
			rate = rates->link[i] + 25;
		if (rate < 10 || rate > 2000 || n + 100 > sizeof(text))
			continue;
		snprintf(text + n, sizeof(text) - n, "%.0f,%d,%d,%.17g\n",
		         (double)time(NULL), net->link_from[i], net->link_to[i],
		         rate);
	}
	put("links.csv", text);
	decide(7);
	assert_non_null(engine->ledger.rest.load);
	for (int i = 0; i < net->n_links; i++) {
		double rest = rest_on(i);

		assert_true(rest == 0 || (rest > 24.9 && rest < 25.1));
		assert_true(rates->link[i] >= sent.link[i]);
	}
	cpl_load_free(&sent);
}

/* What cannot be used is said in one line, and decisions are as without. */
static const struct {
	const char *rows, *more, *line;
	int age;
} refused[] = {
        {"%.0f,0,1,2\n", "", "the sample is too old", 400},
        {"%.0f,0,1,2\n", "MeasuredMaxAge=10", "the sample is too old", 20},
        {"%.0f,0,1,2\n", "", "the time is still to come", -1000},
        {"%.0f,0,1,nan\n", "", "'nan' is not a number of bytes", 0},
        {"%.0f,0,77,2\n", "", "the network has no link from '0' to '77'", 0},
        {"%.0f,0,1,1e9\n", "", "it is more than the link carries", 0},
        {"", "", "there is no row", 0},
};

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		const char *line;

		all_free();
		load("");
		logged[0] = '\0';
		free(engine->clerk.measure_failed);
		engine->clerk.measure_failed = NULL;
		engine->clerk.last_logged.text[0] = '\0';
		measure(refused[i].rows, refused[i].age);
		load(source("links.csv", refused[i].more));
		assert_null(decide(10)->measured);
		assert_null(decide(11)->measured);
		line = strstr(logged, "error: MeasuredLinks: ");
		if (!line || !strstr(line, refused[i].line))
			fail_msg("%s: %s", refused[i].line, logged);
		assert_null(strstr(line + 1, "error: "));
	}
}

static int count(const char *text)
{
	int n = 0;

	for (const char *p = logged; (p = strstr(p, text)) != NULL; p++)
		n++;
	return n;
}

/* Each source that fails is told of, once: also one that is named where another one
 * has failed, and that one again. */
static void test_each_source(void **state)
{
	(void)state;
	all_free();
	load(source("one.csv", ""));
	decide(1);
	decide(2);
	assert_int_equal(count("one.csv"), 1);
	load(source("two.csv", ""));
	decide(3);
	decide(4);
	assert_int_equal(count("two.csv"), 1);
	load(source("one.csv", ""));
	decide(5);
	assert_int_equal(count("one.csv"), 2);
	assert_int_equal(count("; nothing of it counts"), 3);
	measure("%.0f,0,1,2\n", 1);
	load(source("links.csv", ""));
	decide(6);
	decide(7);
	assert_int_equal(count("1 links are read again"), 1);
}

/* One that was fresh grows old: of a source that fails that is said already. */
static void test_grows_old(void **state)
{
	(void)state;
	all_free();
	measure("%.0f,0,1,2\n", 1);
	load(source("links.csv", ""));
	assert_non_null(decide(1)->measured);
	engine->ledger.rest.sample->links.time -= 1000;
	engine->clerk.measure_newest -= 1000;
	unlink(in_dir("links.csv"));
	assert_null(decide(2)->measured);
	assert_null(engine->ledger.rest.load);
	assert_int_equal(count("MeasuredLinks: "), 1);
}

static void tick(void)
{
	engine_links_tick(&engine->clerk);
	assert_true(cpl_engine_idle(engine, WAIT_MS));
}

/* A reader hangs: that is said once, and once that it reads again, without any job. */
static void test_hangs(void **state)
{
	(void)state;
	all_free();
	measure("%.0f,0,1,2\n", 1);
	load(source("links.csv", ""));
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	pthread_mutex_lock(&engine->clerk.lock);
	assert_false(engine->clerk.measure_busy);
	engine->clerk.measure_busy = true;
	engine->clerk.measure_newest -= 1000;
	pthread_mutex_unlock(&engine->clerk.lock);
	tick();
	tick();
	assert_int_equal(count("links.csv: the newest sample is older than "
	                       "MeasuredMaxAge=300 s; nothing of it counts"),
	                 1);
	pthread_mutex_lock(&engine->clerk.lock);
	engine->clerk.measure_busy = false;
	engine->clerk.measure_next = 0;
	pthread_mutex_unlock(&engine->clerk.lock);
	tick();
	tick();
	assert_int_equal(count("1 links are read again"), 1);
	assert_int_equal(count("MeasuredLinks: "), 2);
}

/* One that is left in part, and then as a whole: both are said. */
static void test_from_part_to_whole(void **state)
{
	(void)state;
	all_free();
	measure("%1$.0f,0,1,2\n%1$.0f,1,0,2\n%1$.0f,0,77,2\n", 1);
	load(source("links.csv", ""));
	decide(1);
	decide(2);
	assert_int_equal(count("1 of 3 rows are left out"), 1);
	unlink(in_dir("links.csv"));
	decide(3);
	decide(4);
	assert_int_equal(count("; nothing of it counts"), 1);
}

static void program(const char *body)
{
	char text[512];

	snprintf(text, sizeof(text), "#!/bin/sh\ncd %s\n%s\n", dir, body);
	put("program", text);
	assert_int_equal(chmod(in_dir("program"), 0755), 0);
}

/* The process whose number such a program wrote ends; whoever inherits it may let it
 * stand as a zombie, without a command line. */
static bool child_ends(void)
{
	FILE *in = fopen(in_dir("child"), "r");
	char path[64];
	int pid = 0, c = 0;

	assert_non_null(in);
	assert_int_equal(fscanf(in, "%d", &pid), 1);
	fclose(in);
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	for (int i = 0; i < 500 && c != EOF; i++) {
		in = fopen(path, "r");
		c = in ? fgetc(in) : EOF;
		if (in)
			fclose(in);
		if (c != EOF)
			usleep(10000);
	}
	return c == EOF;
}

/* Programs: what they print, how they fail, and that they are ended. */
static void test_programs(void **state)
{
	static const struct {
		const char *body, *text, *why;
		int mode;
	} row[] = {
	        {"echo hello", "hello\n", NULL, 0755},
	        {"echo hello; exit 3", NULL, "exit status 3", 0755},
	        {"kill -9 $$", NULL, "signal 9", 0755},
	        {"sleep 60", NULL, "has not ended in time", 0755},
	        {"exec >&-; sleep 60", NULL, "signal 9", 0755},
	        {"echo hello", NULL, "others than root", 0775},
	        /* Too much, or too long: by what comes first. */
	        {"yes", NULL, "program", 0755},
	        {"echo hello; sleep 60 & echo $! >child", NULL,
	         "what it began and prints, has not ended in time", 0755},
	        {"trap '' TERM; sleep 60", NULL, "has not ended in time", 0755},
	        {"sleep 60 >/dev/null & echo $! >child; echo hello", "hello\n",
	         NULL, 0755},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_error err = {""};
		int64_t begun = cpl_now();
		size_t length;
		char *text;

		program(row[i].body);
		chmod(in_dir("program"), (mode_t)row[i].mode);
		text = cpl_measured_fetch(in_dir("program"),
		                          begun + INT64_C(500000000), &length,
		                          &err);
		assert_true(cpl_now() - begun < INT64_C(20000000000));
		if (row[i].text ? !text || strcmp(text, row[i].text)
		                : text || !strstr(err.text, row[i].why))
			fail_msg("%s: '%s' '%s'", row[i].body,
			         text ? text : "", err.text);
		free(text);
		/* It began another program: that has ended, too. */
		if (strstr(row[i].body, "child"))
			assert_true(child_ends());
	}
}

#define OK "HTTP/1.1 200 OK\r\n"

/* What a server's answer is made of. */
static void test_answers(void **state)
{
	static const struct {
		const char *answer, *body, *why;
	} row[] = {
	        {OK "\r\nbody", "body", NULL},
	        {OK "content-length:4\r\n\r\nbody", "body", NULL},
	        {OK "Content-Length: x\r\n\r\nbody", "body", NULL},
	        {OK "Content-Encoding: identity\r\n\r\nbody", "body", NULL},
	        {OK "X: Content-Length: 9\r\n\r\nbody", "body", NULL},
	        {OK "Content-Length: 5\r\n\r\nbody", NULL, "after 4 of 5 bytes"},
	        {OK "transfer-encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
	         NULL, "Transfer-Encoding: chunked, which"},
	        {OK "X: y\r\nContent-Encoding: gzip\r\n\r\n\037\213", NULL,
	         "Content-Encoding: gzip, which"},
	        {"HTTP/1.1 503 Busy\r\n\r\nbody", NULL, "says:  503 Busy"},
	        {OK, NULL, "no answer of HTTP/1.0"},
	        {"", NULL, "no answer of HTTP/1.0"},
	        {"SSH-2.0\r\n\r\n", NULL, "no answer of HTTP/1.0"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		size_t length = strlen(row[i].answer);
		struct cpl_error err = {""};
		char *text = strdup(row[i].answer);
		char *body = measured_body(text, &length, &err);

		if (row[i].body ? !body || strcmp(body, row[i].body)
		                : body || !strstr(err.text, row[i].why))
			fail_msg("%s: '%s' '%s'", row[i].answer,
			         body ? body : "", err.text);
		free(text);
	}
}

/* A server that keeps the connection when it has answered. */
static void test_kept_connection(void **state)
{
	static const char answer[] =
	        OK "Content-Length: 5\r\n\r\nhello";
	struct sockaddr_in at = {.sin_family = AF_INET,
	                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0), kept;
	socklen_t size = sizeof(at);
	struct cpl_error err = {""};
	char source[64], *text;
	size_t length;
	pid_t pid;

	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	pid = fork();
	if (!pid) {
		kept = accept(fd, NULL, NULL);
		if (write(kept, answer, strlen(answer)) > 0)
			pause();
		_exit(1);
	}
	snprintf(source, sizeof(source), "http://127.0.0.1:%d/",
	         ntohs(at.sin_port));
	text = cpl_measured_fetch(source, cpl_now() + INT64_C(20000000000),
	                          &length, &err);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
	assert_string_equal(text ? text : err.text, "hello");
	free(text);
}

/* Answers of Prometheus. */
static void test_prometheus(void **state)
{
	static const char good[] =
	        "{\"status\": \"success\", \"data\": {\"resultType\": "
	        "\"vector\", \"result\": [{\"metric\": {\"from\": \"0\", "
	        "\"to\": \"1\"}, \"value\": [1795783200.5, \"2.25\"]}, "
	        "{\"metric\": {\"from\": \"a\\\"\"}, \"value\": [7, "
	        "\"1,2\"]}]}}";
	static const char *const bad[] = {
	        "{", "{}", "{\"data\": {\"result\": 3}}",
	        "{\"data\": {\"resultType\": \"matrix\", \"result\": []}}"};
	struct cpl_error err = {""};
	size_t length;
	char *text = cpl_measured_from_prometheus(good, strlen(good), &length,
	                                          &err);

	(void)state;
	assert_non_null(text);
	assert_string_equal(text, HEAD "1795783200.5,\"0\",\"1\",2.25\n"
	                               "7,\"\",\"\",\n");
	assert_int_equal(length, strlen(text));
	free(text);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		err.text[0] = '\0';
		assert_null(cpl_measured_from_prometheus(
		        bad[i], strlen(bad[i]), &length, &err));
		assert_true(err.text[0]);
	}
}

/* Nobody listens, or what listens says nothing. */
static void test_servers(void **state)
{
	static const char *const source[] = {
	        "http://127.0.0.1:1/x", "http://:9/", "http://a b/",
	        "http://127.0.0.1:123456789/"};
	struct cpl_error err;
	size_t length;

	(void)state;
	for (size_t i = 0; i < sizeof(source) / sizeof(*source); i++) {
		err.text[0] = '\0';
		assert_null(cpl_measured_fetch(source[i],
		                               cpl_now() +
		                                       INT64_C(500000000),
		                               &length, &err));
		assert_int_equal(strncmp(err.text, "http://", 7), 0);
	}
	assert_int_equal(cpl_measured_source_check("/a", &err), 0);
	assert_int_equal(cpl_measured_source_check("a", &err), -1);
	assert_int_equal(cpl_measured_source_check("http://", &err), -1);
}

#define IN_ENGINE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        IN_ENGINE(test_without),   IN_ENGINE(test_background),
	        IN_ENGINE(test_own),       IN_ENGINE(test_refused),
	        IN_ENGINE(test_grows_old), IN_ENGINE(test_programs),
	        IN_ENGINE(test_prometheus), IN_ENGINE(test_servers),
	        IN_ENGINE(test_each_source), IN_ENGINE(test_hangs),
	        cmocka_unit_test(test_answers),
	        cmocka_unit_test(test_kept_connection),
	        IN_ENGINE(test_from_part_to_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
