/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * commplaced: decides where jobs go, for one slurmctld, whose plugins ask it
 * over a socket (src/door). It has the engine with all its threads and files;
 * it ends when slurmctld does, after what is queued has been written.
 */
#include "commplace-config.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/socket.h"
#include "door/forms.h"
#include "door/link.h"
#include "site/engine.h"
#include "site/submit.h"
#include "tree.h"

/* How long the other end, where it does not read, is given to take a
 * message. */
#define SEND_NS (30000 * CPL_DOOR_MS)

static struct cpl_link link_up = {.fd = CPL_LINK_CHILD_FD};
/* Lines of the log come from any thread. */
static pthread_mutex_t sending = PTHREAD_MUTEX_INITIALIZER;
static struct cpl_engine *engine;
static uint32_t current; /* the call under way */
/* What came in place of a reply: the call under way was given up. */
static bool given_up, pending;
static pthread_t serving; /* the thread of calls */
static int n_hosts;
/* What the call under way was told ahead of a question: of a decision its scheduler's
 * hosts, of a start where its ranks run. */
static struct {
	bool measured;
	struct cpl_unpacker hosts;
	int *rank_host, ranks;
} ahead;
/* The call under way has no answer: its last question said it. */
static bool is_over;
/* How long slurmctld is to wait, as of the call under way. */
static uint16_t patience_ms;
/* Of a service: where it listens, and the signal that ended it. */
static int listening = -1;
static volatile sig_atomic_t stopped;

/* A fifth more than a decision may take, since one that ends in time has still to
 * travel. */
static void find_patience(void)
{
	int ms = cpl_engine_patience(engine);

	ms += ms / 5;
	patience_ms = ms < UINT16_MAX ? (uint16_t)ms : UINT16_MAX;
}

static int send_message(enum cpl_door_kind kind, uint32_t number,
                        struct cpl_packer *o)
{
	struct cpl_link_head head = {.kind = (uint8_t)kind,
	                             .number = number,
	                             .patience_ms = patience_ms};
	int rc;

	pthread_mutex_lock(&sending);
	rc = cpl_link_send(&link_up, &head, o, cpl_now() + SEND_NS);
	pthread_mutex_unlock(&sending);
	free(o->data);
	o->data = NULL;
	return rc;
}

static void say(enum cpl_engine_log level, const char *text)
{
	struct cpl_packer o = cpl_link_packer();

	/* Whatever a call that was given up complains of would be wrong. */
	if (pthread_equal(pthread_self(), serving) && given_up)
		return;
	cpl_put_number(&o, level);
	cpl_form_put_text(&o, text);
	send_message(CPL_DOOR_LOG, 0, &o);
}

/* Ask slurmctld within a call. False: it has given the call up, or is gone. */
static bool ask(enum cpl_door_kind kind, struct cpl_packer *o,
                struct cpl_unpacker *in)
{
	if (given_up || send_message(kind, current, o)) {
		free(o->data);
		return false;
	}
	while (cpl_link_receive(&link_up, CPL_LINK_FOREVER) > 0) {
		const struct cpl_link_head *head = &link_up.head;

		if (head->kind == CPL_DOOR_REPLY && head->number == current) {
			*in = cpl_link_body(&link_up);
			return true;
		}
		if (head->kind == CPL_DOOR_REPLY)
			continue;
		pending = true;
		break;
	}
	given_up = true;
	return false;
}

static int measure(void *arg, uint32_t *cpus, uint64_t *rank,
                   struct cpl_engine_span *span)
{
	struct cpl_packer o = cpl_link_packer();
	struct cpl_unpacker in = ahead.hosts;

	if (!ahead.measured && !ask(CPL_DOOR_MEASURE, &o, &in))
		return -1;
	return cpl_form_get_measured(&in, *(const int *)arg, cpus, rank, span);
}

static bool ask_for_nodes(void *arg, const int *host, int n, const char *last)
{
	struct cpl_packer o = cpl_link_packer();
	struct cpl_unpacker in;
	bool taken;

	cpl_form_put_ints(&o, host, n);
	cpl_form_put_text(&o, last);
	taken = ask(CPL_DOOR_PLACE, &o, &in) && cpl_get_int(&in, 1) == 1;
	is_over = taken && last;
	return taken;
}

static void narrow(void *arg, uint32_t *cpus)
{
	struct cpl_packer o = cpl_link_packer();
	struct cpl_unpacker in;
	int n = 0, *host;

	if (!ask(CPL_DOOR_NARROW, &o, &in))
		return;
	host = cpl_form_get_ints(&in, &n);
	for (int i = 0; i < n; i++)
		if (host[i] >= 0 && host[i] < *(const int *)arg)
			cpus[host[i]] = 0;
	free(host);
}

static int stock_by(enum cpl_door_kind kind, int most, int *host)
{
	struct cpl_packer o = cpl_link_packer();
	struct cpl_unpacker in;
	int n, many, *got;

	cpl_put_number(&o, host != NULL);
	if (!ask(kind, &o, &in))
		return 0;
	n = cpl_get_int(&in, INT32_MAX);
	got = cpl_form_get_ints(&in, &many);
	if (!got || many > most || (host && many != n))
		n = many = 0;
	for (int i = 0; host && i < many; i++)
		host[i] = got[i];
	free(got);
	return n;
}

static int stock(void *arg, int *host)
{
	return stock_by(CPL_DOOR_STOCK, *(const int *)arg, host);
}

static int compare(void *arg, int *host)
{
	return stock_by(CPL_DOOR_COMPARE, *(const int *)arg, host);
}

static int layout(void *arg, int ranks, int *rank_host)
{
	struct cpl_packer o = cpl_link_packer();
	struct cpl_unpacker in;
	int n, *got;

	if (ranks == ahead.ranks) {
		memcpy(rank_host, ahead.rank_host,
		       (size_t)ranks * sizeof(*rank_host));
		return 0;
	}
	cpl_put_number(&o, (uint64_t)ranks);
	if (!ask(CPL_DOOR_LAYOUT, &o, &in))
		return -1;
	got = cpl_form_get_ints(&in, &n);
	if (got && n == ranks)
		memcpy(rank_host, got, (size_t)n * sizeof(*got));
	else
		n = -1;
	free(got);
	return n == ranks ? 0 : -1;
}

static void put_error(struct cpl_packer *o, const struct cpl_error *err)
{
	cpl_form_put_text(o, err->text[0] ? err->text : NULL);
}

static void put_result(struct cpl_packer *o, int rc,
                       const struct cpl_error *err)
{
	cpl_put_number(o, rc != 0);
	put_error(o, err);
}

static void cluster(struct cpl_unpacker *in, struct cpl_packer *o)
{
	const char *name = cpl_form_get_text(in);
	bool private_jobs = cpl_get_int(in, 1) == 1;
	struct cpl_error err = {""};

	if (!in->bad &&
	    cpl_engine_set_cluster(engine, name, private_jobs, &err))
		say(CPL_ENGINE_ERROR, err.text);
}

/* Put DeciderMemory into force where it has changed: an allocation beyond it
 * fails. */
static void limit_memory(void)
{
	static int set;
	struct rlimit limit;
	int mib = cpl_engine_memory(engine);

	if (mib == set || getrlimit(RLIMIT_DATA, &limit))
		return;
	limit.rlim_cur = mib ? (rlim_t)mib << 20 : limit.rlim_max;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_DATA, &limit))
		say(CPL_ENGINE_ERROR, "DeciderMemory cannot be set");
	set = mib;
}

static void load(struct cpl_unpacker *in, struct cpl_packer *o)
{
	int wait_ms = cpl_get_int(in, INT32_MAX);
	struct cpl_error err = {""};

	put_result(o, cpl_engine_load(engine, wait_ms, &err), &err);
}

static void hosts(struct cpl_unpacker *in, struct cpl_packer *o)
{
	int n = cpl_get_int(in, INT32_MAX);
	const char **name = NULL;
	struct cpl_error err = {""};
	int rc = -1;

	/* Each name takes a byte at least. */
	if (!in->bad && n <= in->end - in->at)
		name = malloc(((size_t)n + 1) * sizeof(*name));
	for (int i = 0; name && i < n; i++)
		name[i] = cpl_form_get_text(in);
	if (name && !in->bad)
		rc = cpl_engine_set_hosts(engine, name, n, &err);
	n_hosts = rc ? 0 : n;
	free(name);
	put_result(o, rc, &err);
}

static void restore(struct cpl_unpacker *in, struct cpl_packer *o)
{
	int wait_ms = cpl_get_int(in, INT32_MAX);
	int n = cpl_get_int(in, INT32_MAX);
	struct cpl_engine_live *job = NULL;
	struct cpl_error err = {""};

	if (!in->bad && n <= in->end - in->at)
		job = calloc((size_t)n + 1, sizeof(*job));
	for (int i = 0; job && i < n; i++) {
		job[i].id = cpl_form_get_signed(in);
		job[i].suspended = cpl_get_int(in, 1) == 1;
	}
	if (job && !in->bad)
		cpl_engine_restore(engine, job, n, wait_ms);
	free(job);
	put_result(o, 0, &err);
}

static void submit(struct cpl_unpacker *in, struct cpl_packer *o)
{
	struct cpl_submission submission = {0};
	struct cpl_verdict verdict = {0};

	cpl_form_get_submission(in, &submission);
	if (!in->bad)
		cpl_engine_submit(engine, &submission, &verdict);
	cpl_form_put_verdict(o, &verdict);
	cpl_verdict_free(&verdict);
}

/* Keep a copy of the message's body, since the questions that a decision asks
 * overwrite it. */
static void *keep(struct cpl_unpacker *in)
{
	size_t n = (size_t)(in->end - in->at);
	unsigned char *kept = malloc(n + 1);

	if (kept) {
		memcpy(kept, in->at, n);
		*in = (struct cpl_unpacker){.at = kept, .end = kept + n};
	}
	return kept;
}

static void decide(struct cpl_unpacker *in, struct cpl_packer *o)
{
	enum cpl_engine_answer answer = CPL_ENGINE_NONE;
	struct cpl_engine_request req;
	int n = 0, *required = NULL;
	const struct cpl_engine_scheduler scheduler = {.arg = &n,
	                                               .measure = measure,
	                                               .place = ask_for_nodes,
	                                               .narrow = narrow,
	                                               .stock = stock,
	                                               .compare = compare};
	char text[512] = "";
	void *kept = keep(in);

	if (kept)
		cpl_form_get_request(in, &req, &required);
	ahead.measured = cpl_get_int(in, 1) == 1;
	ahead.hosts = *in;
	/* Another table of nodes than this one was told of. */
	if (kept && !in->bad && req.n_hosts == n_hosts) {
		n = req.n_hosts;
		answer = cpl_engine_decide(engine, &req, &scheduler, text,
		                           sizeof(text));
	}
	ahead.measured = false;
	cpl_put_number(o, answer);
	cpl_form_put_text(o, text);
	cpl_free_all(required, kept);
}

static void start(struct cpl_unpacker *in, struct cpl_packer *o)
{
	struct cpl_engine_notice notice = {0};
	struct cpl_engine_allocation job;
	void *kept = keep(in);
	int *host = NULL;

	if (kept)
		cpl_form_get_allocation(in, &job, &host);
	ahead.rank_host = cpl_form_get_ints(in, &ahead.ranks);
	job.layout = layout;
	if (kept && !in->bad)
		cpl_engine_start(engine, &job, &notice);
	cpl_form_put_text(o, notice.text);
	cpl_put_number(o, notice.comment);
	cpl_form_put_text(o, notice.order);
	cpl_free_all(host, kept, ahead.rank_host, notice.order);
	ahead.ranks = 0;
}

static void step(struct cpl_unpacker *in, struct cpl_packer *o)
{
	struct cpl_engine_layout out = {0};
	struct cpl_engine_step one;
	void *memory;

	cpl_form_get_step(in, &one, &memory);
	if (!in->bad)
		cpl_engine_step(engine, &one, &out);
	cpl_form_put_layout(o, &one, &out);
	cpl_free_all(out.data, memory);
}

static void hand_over(struct cpl_unpacker *in, struct cpl_packer *o)
{
	struct cpl_error err = {""};
	struct cpl_job_facts job = {0};
	unsigned char *data = NULL;
	size_t limit, size = 0;

	cpl_form_get_facts(in, &job);
	limit = cpl_get_number(in);
	if (!in->bad)
		data = cpl_engine_handover(engine, &job, limit, &size, &err);
	cpl_form_put_bytes(o, data, data ? size : 0);
	put_error(o, &err);
	free(data);
}

static void end(struct cpl_unpacker *in, struct cpl_packer *o)
{
	int64_t id = cpl_form_get_signed(in);

	if (!in->bad)
		cpl_engine_end(engine, id);
}

static void resized(struct cpl_unpacker *in, struct cpl_packer *o)
{
	int64_t id = cpl_form_get_signed(in);
	int n, *host = cpl_form_get_ints(in, &n);

	if (host)
		cpl_engine_resized(engine, id, host, n);
	free(host);
}

static void suspended(struct cpl_unpacker *in, struct cpl_packer *o)
{
	int64_t id = cpl_form_get_signed(in);
	bool stands = cpl_get_int(in, 1) == 1;

	if (!in->bad)
		cpl_engine_suspended(engine, id, stands);
}

static void forget(struct cpl_unpacker *in, struct cpl_packer *o)
{
	cpl_engine_forget(engine);
}

static void idle(struct cpl_unpacker *in, struct cpl_packer *o)
{
	int wait_ms = cpl_get_int(in, INT32_MAX);

	put_result(o, !cpl_engine_idle(engine, wait_ms),
	           &(struct cpl_error){""});
}

static void drain(struct cpl_unpacker *in, struct cpl_packer *o)
{
	int wait_ms = cpl_get_int(in, INT32_MAX);

	put_result(o, !cpl_engine_drain(engine, wait_ms),
	           &(struct cpl_error){""});
}

static const struct {
	void (*serve)(struct cpl_unpacker *in, struct cpl_packer *o);
	bool answered;
} call[CPL_DOOR_REQUESTS] = {
        [CPL_DOOR_CLUSTER] = {cluster, false},
        [CPL_DOOR_END] = {end, false},
        [CPL_DOOR_RESIZED] = {resized, false},
        [CPL_DOOR_SUSPENDED] = {suspended, false},
        [CPL_DOOR_FORGET] = {forget, false},
        [CPL_DOOR_LOAD] = {load, true},
        [CPL_DOOR_HOSTS] = {hosts, true},
        [CPL_DOOR_RESTORE] = {restore, true},
        [CPL_DOOR_SUBMIT] = {submit, true},
        [CPL_DOOR_DECIDE] = {decide, true},
        [CPL_DOOR_START] = {start, true},
        [CPL_DOOR_STEP] = {step, true},
        [CPL_DOOR_HANDOVER] = {hand_over, true},
        [CPL_DOOR_IDLE] = {idle, true},
        [CPL_DOOR_DRAIN] = {drain, true},
};

/* The first message: -1: of another version, or memory. */
static int hello(struct cpl_unpacker *in)
{
	uint64_t version = cpl_get_number(in);
	const char *program = cpl_form_get_text(in);
	const char *path = cpl_form_get_text(in);
	struct cpl_error err = {""};

	if (in->bad || version != CPL_DOOR_VERSION || !program || !path ||
	    strcmp(program, PACKAGE_VERSION)) {
		say(CPL_ENGINE_ERROR,
		    "commplaced is of another version than the plugins: "
		    "restart slurmctld after an update");
		return -1;
	}
	engine = cpl_engine_new(path, say, &err);
	if (!engine)
		say(CPL_ENGINE_ERROR, err.text);
	tree_serve(engine, say);
	return engine ? 0 : -1;
}

/* Serve the message that was received. -1: the other end is gone, or its
 * message is of no known kind. */
static int serve(void)
{
	const struct cpl_link_head head = link_up.head;
	struct cpl_unpacker in = cpl_link_body(&link_up);
	struct cpl_packer o = cpl_link_packer();

	if (head.kind == CPL_DOOR_REPLY)
		return 0;
	if (head.kind >= CPL_DOOR_REQUESTS || !call[head.kind].serve)
		return -1;
	if (head.held_kind)
		cpl_engine_held(engine, head.held_kind - 1,
		                head.held_us * INT64_C(1000));
	/* A call whose answer is waited for ends a tenth of its time before
	 * that. */
	find_patience();
	if (head.deadline && call[head.kind].answered)
		cpl_engine_hurry(engine,
		                 head.deadline - patience_ms * CPL_DOOR_MS / 10);
	current = head.number;
	given_up = pending = is_over = false;
	call[head.kind].serve(&in, &o);
	limit_memory();
	if (!call[head.kind].answered || is_over) {
		free(o.data);
		return 0;
	}
	/* A configuration may have come into force by it. */
	find_patience();
	return send_message(CPL_DOOR_ANSWER, head.number, &o);
}

/* One slurmctld, from its first message to its end. */
static void serve_one(void)
{
	struct cpl_unpacker first;

	given_up = pending = false;
	if (cpl_link_receive(&link_up, CPL_LINK_FOREVER) <= 0 ||
	    link_up.head.kind != CPL_DOOR_HELLO)
		return;
	first = cpl_link_body(&link_up);
	if (hello(&first))
		return;
	while (pending || cpl_link_receive(&link_up, CPL_LINK_FOREVER) > 0) {
		pending = false;
		if (serve())
			break;
	}
	tree_serve(NULL, NULL);
	cpl_engine_free(engine);
	engine = NULL;
	n_hosts = 0;
}

/* May the other end ask? Only root and the user that this process runs as
 * may. */
static bool is_ours(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
	       (!peer.uid || peer.uid == geteuid());
}

/* The service ends, as where slurmctld does: nobody is heard any more. */
static void stop_service(int number)
{
	int was = errno;

	stopped = number;
	shutdown(listening, SHUT_RDWR);
	shutdown(link_up.fd, SHUT_RDWR);
	errno = was;
}

/* One slurmctld after the other: a backup takes the place of one that is gone.
 */
static int serve_all(const char *path)
{
	listening = cpl_socket_listen(path, 0, 0600, 4);
	signal(SIGTERM, stop_service);
	signal(SIGINT, stop_service);
	while (listening >= 0 && !stopped) {
		int fd = accept4(listening, NULL, NULL,
		                 SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0 && errno != EINTR && errno != ECONNABORTED)
			break;
		link_up.fd = fd;
		if (fd >= 0 && !stopped && is_ours(fd))
			serve_one();
		cpl_link_close(&link_up);
	}
	if (!stopped) {
		fprintf(stderr, "commplaced: %s: %s\n", path, strerror(errno));
		return 1;
	}
	unlink(path);
	return 0;
}

static int usage(void)
{
	fprintf(stderr, "commplaced: started by slurmctld's plugins of "
	                "commplace, or as a service: commplaced --socket PATH; "
	                "see commplaced(8)\n");
	return 2;
}

int main(int argc, char **argv)
{
	static const int ignored[] = {SIGTERM, SIGINT, SIGHUP, SIGPIPE};
	bool child = argc == 2 && !strcmp(argv[1], "--child");

	serving = pthread_self();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (argc == 3 && !strcmp(argv[1], "--socket")) {
		signal(SIGPIPE, SIG_IGN);
		return serve_all(argv[2]);
	}
	if (!child || fcntl(CPL_LINK_CHILD_FD, F_GETFD) < 0)
		return usage();
	fcntl(CPL_LINK_CHILD_FD, F_SETFD, FD_CLOEXEC);
	/* A signal that ends slurmctld may go to all processes of its service;
	 * but what is queued has still to be written. */
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	close_range(CPL_LINK_CHILD_FD + 1, ~0U, 0);
	serve_one();
	return 0;
}
