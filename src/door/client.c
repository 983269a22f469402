/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls of site/engine.h and site/submit.h, as slurmctld makes them: asked
 * of commplaced. Each call waits no longer than it may take. A late answer is
 * thrown away when it comes, and until then nothing else is asked. Without an
 * answer the scheduler's own choice holds.
 */
#include "door/client_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A commplaced that was not heard from for so long is asked nothing, and is
 * ended where it is a child. */
#define SILENT_NS (10000 * CPL_DOOR_MS)

static void forget_link(struct cpl_engine *engine)
{
	cpl_link_close(&engine->link);
	engine->late = 0;
}

/* This commplaced is gone, or of no use. The next one is tried after a delay,
 * which doubles each time. */
static void lose(struct cpl_engine *engine, const char *why)
{
	char text[160];

	if (engine->link.fd < 0)
		return;
	snprintf(text, sizeof(text),
	         "commplaced %s: jobs have the stock nodes and rank order "
	         "until it is there again",
	         why);
	engine->log(CPL_ENGINE_ERROR, text);
	forget_link(engine);
	cpl_door_end_child(engine, 0);
	engine->back_off =
	        engine->back_off ? 2 * engine->back_off : CPL_DOOR_BACK_OFF;
	if (engine->back_off > CPL_DOOR_BACK_OFF_MOST)
		engine->back_off = CPL_DOOR_BACK_OFF_MOST;
	engine->retry = cpl_now() + engine->back_off;
}

static void say(struct cpl_engine *engine)
{
	struct cpl_unpacker in = cpl_link_body(&engine->link);
	enum cpl_engine_log level = cpl_get_int(&in, CPL_ENGINE_INFO)
	                                    ? CPL_ENGINE_INFO
	                                    : CPL_ENGINE_ERROR;
	const char *text = cpl_form_get_text(&in);

	if (text)
		engine->log(level, text);
}

/* Take what has come that belongs to no call under way: lines of the log, late
 * answers, questions of a call that was given up. */
static void take_other(struct cpl_engine *engine)
{
	const struct cpl_link_head *head = &engine->link.head;

	if (head->kind == CPL_DOOR_LOG)
		say(engine);
	else if (head->kind == CPL_DOOR_ANSWER && head->number == engine->late)
		engine->late = 0;
}

void door_take_all(struct cpl_engine *engine)
{
	int rc;

	while ((rc = cpl_link_receive(&engine->link, 0)) > 0)
		take_other(engine);
	if (rc < 0)
		lose(engine, "is gone");
}

static int send(struct cpl_engine *engine, enum cpl_door_kind kind,
                struct cpl_packer *o, int64_t deadline)
{
	struct cpl_link_head head = {.number = engine->number,
	                             .kind = (uint8_t)kind,
	                             .held_kind = engine->held_kind,
	                             .held_us = engine->held_us,
	                             .deadline = deadline};
	int rc = cpl_link_send(&engine->link, &head, o, deadline);

	engine->held_kind = 0;
	free(o->data);
	o->data = NULL;
	if (rc)
		lose(engine, "takes no messages");
	return rc;
}

/* Tell a new commplaced of the cluster. Nobody waits for its answers: it reads
 * its files meanwhile. */
static void tell_all(struct cpl_engine *engine)
{
	int64_t deadline = cpl_now() + CPL_DOOR_LONG;
	uint32_t number = engine->number;
	struct cpl_packer o = cpl_link_packer();

	engine->number = 0;
	if (engine->cluster) {
		cpl_form_put_text(&o, engine->cluster);
		cpl_put_number(&o, engine->private_jobs);
		send(engine, CPL_DOOR_CLUSTER, &o, deadline);
	}
	if (engine->hosts.used) {
		o = cpl_link_packer();
		cpl_put_number(&o, 0);
		send(engine, CPL_DOOR_LOAD, &o, deadline);
		o = cpl_link_packer();
		cpl_put(&o, engine->hosts.data, engine->hosts.used);
		send(engine, CPL_DOOR_HOSTS, &o, deadline);
		o = cpl_link_packer();
		cpl_put_number(&o, 0);
		door_put_live(&o, engine->live, engine->n_live);
		send(engine, CPL_DOOR_RESTORE, &o, deadline);
	}
	engine->number = number;
}

/* For the late answer. */
static void wait_until(struct cpl_engine *engine, int64_t end)
{
	int rc = 1;

	while (engine->late && (rc = cpl_link_receive(&engine->link, end)) > 0)
		take_other(engine);
	if (rc < 0)
		lose(engine, "is gone");
}

/* The call after a late one spends up to half of its own time on waiting for
 * the late answer, so that an answer that is a little late costs the next jobs
 * nothing. The calls after that one do not wait. */
static void wait_for_late(struct cpl_engine *engine)
{
	if (!engine->late || engine->late_waited)
		return;
	engine->late_waited = true;
	wait_until(engine, engine->entered + engine->patience / 2);
}

/* Is there a commplaced that can be asked now? */
static bool is_there(struct cpl_engine *engine)
{
	int64_t now = cpl_now();

	if (engine->link.fd >= 0)
		door_take_all(engine);
	if (engine->link.fd < 0 && now >= engine->retry) {
		cpl_door_open(engine);
		if (engine->link.fd >= 0) {
			tell_all(engine);
			door_hear_begin(engine);
		}
	}
	wait_for_late(engine);
	if (engine->link.fd >= 0 && engine->late &&
	    now - engine->late_since > SILENT_NS)
		lose(engine, "does not answer");
	return engine->link.fd >= 0 && !engine->late;
}

/* A question within a call. -1: the link is lost. */
static int reply(struct cpl_engine *engine, struct asked *asked,
                 int64_t *deadline)
{
	struct cpl_unpacker in = cpl_link_body(&engine->link);
	enum cpl_door_kind kind = engine->link.head.kind;
	int64_t began = cpl_now();
	struct cpl_packer o = cpl_link_packer();

	if (!door_may_ask(asked, kind)) {
		lose(engine, "asks what it may not");
		return -1;
	}
	door_reply(asked, kind, &in, &o);
	engine->theirs += cpl_now() - began;
	*deadline += cpl_now() - began;
	return send(engine, CPL_DOOR_REPLY, &o, *deadline);
}

/* Receive an answer by the deadline, which is put off once where commplaced is
 * at work: if other processes have the processors, that is not its fault, and
 * will not be over soon. */
static int receive(struct cpl_engine *engine, int64_t *deadline, int64_t ns,
                   bool *longer)
{
	int rc = cpl_link_receive(&engine->link, *deadline);

	if (rc || *longer || !cpl_door_is_busy(engine))
		return rc;
	*longer = true;
	*deadline += 3 * ns < CPL_DOOR_LONG ? 3 * ns : CPL_DOOR_LONG;
	return cpl_link_receive(&engine->link, *deadline);
}

/* It works as it should, and says how long calls may take. */
static void is_heard(struct cpl_engine *engine)
{
	uint16_t ms = engine->link.head.patience_ms;

	engine->back_off = 0;
	if (ms)
		engine->patience = ms * CPL_DOOR_MS;
}

/*
 * Ask, and wait for at most ns, the scheduler's own time not counted. True: the
 * answer is in `in`, until the next call. False: there is none, or the last question
 * said it.
 */
static bool ask(struct cpl_engine *engine, enum cpl_door_kind kind,
                struct cpl_packer *o, int64_t ns, struct asked *asked,
                struct cpl_unpacker *in)
{
	struct asked nothing = {0};
	int64_t deadline = engine->entered + engine->theirs + ns;
	const struct cpl_link_head *head = &engine->link.head;
	bool longer = false;
	int rc;

	if (!asked)
		asked = &nothing;
	if (++engine->number == 0)
		engine->number = 1;
	if (send(engine, kind, o, deadline))
		return false;
	while ((rc = receive(engine, &deadline, ns, &longer)) > 0) {
		if (head->number != engine->number ||
		    head->kind == CPL_DOOR_LOG) {
			take_other(engine);
		} else if (head->kind == CPL_DOOR_ANSWER) {
			is_heard(engine);
			*in = cpl_link_body(&engine->link);
			return true;
		} else if (reply(engine, asked, &deadline)) {
			return false;
		} else if (asked->over) {
			is_heard(engine);
			return false;
		}
	}
	if (rc < 0) {
		lose(engine, "is gone");
		return false;
	}
	engine->late = engine->number;
	engine->late_waited = false;
	engine->late_since = cpl_now();
	return false;
}

/* Send a message that nobody answers, also while an answer is late; it is then
 * read after that call. A commplaced that has no room for it is of no use. */
static void tell(struct cpl_engine *engine, enum cpl_door_kind kind,
                 struct cpl_packer *o)
{
	send(engine, kind, o, cpl_now());
}

static bool hears(struct cpl_engine *engine)
{
	return is_there(engine) || engine->link.fd >= 0;
}

static void enter(struct cpl_engine *engine)
{
	pthread_mutex_lock(&engine->api);
	engine->entered = cpl_now();
	engine->theirs = 0;
}

static void leave(struct cpl_engine *engine, enum cpl_timer timer)
{
	int64_t us = (cpl_now() - engine->entered - engine->theirs) / 1000;

	engine->held_kind = (uint8_t)(timer + 1);
	engine->held_us = us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
	pthread_mutex_unlock(&engine->api);
}

struct cpl_engine *cpl_engine_new(const char *config_path,
                                  void (*log)(enum cpl_engine_log level,
                                              const char *text),
                                  struct cpl_error *err)
{
	struct cpl_engine *engine = calloc(1, sizeof(*engine));

	if (!engine || !(engine->config_path = strdup(config_path))) {
		free(engine);
		cpl_fail_memory(err);
		return NULL;
	}
	pthread_mutex_init(&engine->api, NULL);
	pthread_mutex_init(&engine->hearing.lock, NULL);
	cpl_cond_init(&engine->hearing.change);
	engine->log = log;
	engine->measures = true;
	cpl_door_configure(config_path, &engine->socket, &engine->patience);
	engine->link.fd = -1;
	return engine;
}

int cpl_engine_set_cluster(struct cpl_engine *engine, const char *name,
                           bool private_jobs, struct cpl_error *err)
{
	struct cpl_packer o = cpl_link_packer();
	char *copy = name ? strdup(name) : NULL;

	enter(engine);
	free(engine->cluster);
	engine->cluster = copy;
	engine->private_jobs = private_jobs;
	/* One that begins now has it. */
	if (engine->link.fd >= 0 && hears(engine)) {
		cpl_form_put_text(&o, name);
		cpl_put_number(&o, private_jobs);
		tell(engine, CPL_DOOR_CLUSTER, &o);
	}
	leave(engine, CPL_TIME_HELD_OTHER);
	return name && !copy ? cpl_fail_memory(err) : 0;
}

/* Was there all that an answer has? */
static bool is_answer(struct cpl_engine *engine, const struct cpl_unpacker *in)
{
	if (in->bad)
		lose(engine, "says what is no answer");
	return !in->bad;
}

static void get_text(struct cpl_unpacker *in, char *text, size_t size)
{
	const char *said = cpl_form_get_text(in);

	snprintf(text, size, "%s", said ? said : "");
}

/* The answer is 0, or -1 and an error. */
static int ask_result(struct cpl_engine *engine, enum cpl_door_kind kind,
                      struct cpl_packer *o, int64_t ns, struct cpl_error *err)
{
	struct cpl_unpacker in;
	int rc;

	if (!ask(engine, kind, o, ns, NULL, &in))
		return cpl_fail(err, "commplaced does not answer");
	rc = cpl_get_int(&in, 1) ? -1 : 0;
	cpl_form_get_error(&in, err);
	return is_answer(engine, &in) ? rc : -1;
}

int cpl_engine_load(struct cpl_engine *engine, int wait_ms,
                    struct cpl_error *err)
{
	struct cpl_packer o = cpl_link_packer();
	int rc;

	enter(engine);
	if (is_there(engine)) {
		cpl_put_number(&o, (uint64_t)wait_ms);
		rc = ask_result(engine, CPL_DOOR_LOAD, &o,
		                wait_ms * CPL_DOOR_MS + engine->patience, err);
	} else {
		rc = cpl_fail(err, "commplaced is not there");
	}
	leave(engine, CPL_TIME_HELD_OTHER);
	return rc;
}

int cpl_engine_set_hosts(struct cpl_engine *engine, const char *const *name,
                         int n, struct cpl_error *err)
{
	struct cpl_packer o = cpl_link_packer(), kept = cpl_link_packer();
	int rc;

	cpl_put_number(&kept, (uint64_t)n);
	for (int i = 0; i < n; i++)
		cpl_form_put_text(&kept, name[i]);
	enter(engine);
	free(engine->hosts.data);
	engine->hosts = kept;
	if (is_there(engine)) {
		cpl_put(&o, kept.data, kept.used);
		rc = ask_result(engine, CPL_DOOR_HOSTS, &o, CPL_DOOR_LONG, err);
	} else {
		/* A commplaced that begins later is told of them. */
		rc = kept.failed ? cpl_fail_memory(err) : 0;
	}
	leave(engine, CPL_TIME_HELD_OTHER);
	return rc;
}

/* Say where the job has its nodes from, whatever commplaced says: from the
 * scheduler, where commplaced claims to have placed the job and has not. */
static enum cpl_engine_answer settle(struct asked *asked, bool none, char *text,
                                     size_t size)
{
	const struct cpl_engine_scheduler *s = asked->scheduler;

	if (asked->got == CPL_ENGINE_NONE && !none) {
		snprintf(text, size, "stock: commplaced does not answer");
		s->stock(s->arg, NULL);
		asked->got = CPL_ENGINE_STOCK;
	}
	return asked->got;
}

enum cpl_engine_answer cpl_engine_decide(
        struct cpl_engine *engine, const struct cpl_engine_request *req,
        const struct cpl_engine_scheduler *scheduler, char *text, size_t size)
{
	struct asked asked = {.scheduler = scheduler,
	                      .n_hosts = req->n_hosts,
	                      .text = text,
	                      .size = size};
	struct cpl_packer o = cpl_link_packer();
	struct cpl_unpacker in;
	bool none;

	if (size)
		*text = '\0';
	enter(engine);
	none = !is_there(engine);
	if (!none) {
		cpl_form_put_request(&o, req);
		door_put_measured(engine, &asked, &req->job, &o);
		if (ask(engine, CPL_DOOR_DECIDE, &o, engine->patience, &asked,
		        &in)) {
			none = cpl_get_int(&in, CPL_ENGINE_PLACED) ==
			       CPL_ENGINE_NONE;
			get_text(&in, text, size);
			none &= is_answer(engine, &in);
		}
		if (door_is_stated(&req->job))
			engine->measures = !none;
	}
	settle(&asked, none, text, size);
	engine->placed = asked.got == CPL_ENGINE_PLACED && req->start
	                         ? req->job.id
	                         : 0;
	leave(engine, CPL_TIME_HELD_TEST);
	return asked.got;
}

void cpl_engine_start(struct cpl_engine *engine,
                      const struct cpl_engine_allocation *job,
                      struct cpl_engine_notice *notice)
{
	struct asked asked = {.allocation = job};
	struct cpl_packer o = cpl_link_packer();
	struct cpl_unpacker in;

	memset(notice, 0, sizeof(*notice));
	enter(engine);
	door_live_add(engine, job->id, false);
	if (is_there(engine)) {
		cpl_form_put_allocation(&o, job);
		door_put_ranks(engine, &asked, &o);
		if (ask(engine, CPL_DOOR_START, &o, engine->patience, &asked,
		        &in)) {
			const char *order;

			get_text(&in, notice->text, sizeof(notice->text));
			notice->comment = cpl_get_int(&in, 1) == 1;
			order = cpl_form_get_text(&in);
			if (is_answer(engine, &in) && order &&
			    strlen(order) < job->order_max)
				notice->order = strdup(order);
		}
	}
	leave(engine, CPL_TIME_HELD_START);
}

void cpl_engine_step(struct cpl_engine *engine,
                     const struct cpl_engine_step *step,
                     struct cpl_engine_layout *out)
{
	struct cpl_packer o = cpl_link_packer();
	struct cpl_unpacker in;

	memset(out, 0, sizeof(*out));
	enter(engine);
	if (is_there(engine)) {
		cpl_form_put_step(&o, step);
		if (ask(engine, CPL_DOOR_STEP, &o, engine->patience, NULL,
		        &in)) {
			cpl_form_get_layout(&in, step, out);
			is_answer(engine, &in);
		} else {
			cpl_fail(&out->unchanged, "commplaced does not answer");
		}
	}
	leave(engine, CPL_TIME_HELD_STEP);
}

unsigned char *cpl_engine_handover(struct cpl_engine *engine,
                                   const struct cpl_job_facts *job,
                                   size_t limit, size_t *size,
                                   struct cpl_error *err)
{
	struct cpl_packer o = cpl_link_packer();
	unsigned char *data = NULL;
	struct cpl_unpacker in;

	enter(engine);
	if (is_there(engine)) {
		cpl_form_put_facts(&o, job);
		cpl_put_number(&o, limit);
		if (ask(engine, CPL_DOOR_HANDOVER, &o, engine->patience, NULL,
		        &in)) {
			const void *bytes = cpl_form_get_bytes(&in, size);

			if (*size && *size <= limit)
				data = malloc(*size);
			if (data)
				memcpy(data, bytes, *size);
			cpl_form_get_error(&in, err);
			is_answer(engine, &in);
		}
	}
	leave(engine, CPL_TIME_HELD_START);
	return data;
}

void cpl_engine_end(struct cpl_engine *engine, int64_t id)
{
	struct cpl_packer o = cpl_link_packer();

	enter(engine);
	door_live_remove(engine, id);
	if (hears(engine)) {
		cpl_form_put_signed(&o, id);
		tell(engine, CPL_DOOR_END, &o);
	}
	leave(engine, CPL_TIME_HELD_END);
}

void cpl_engine_resized(struct cpl_engine *engine, int64_t id, const int *host,
                        int n_hosts)
{
	struct cpl_packer o = cpl_link_packer();

	enter(engine);
	if (hears(engine)) {
		cpl_form_put_signed(&o, id);
		cpl_form_put_ints(&o, host, n_hosts);
		tell(engine, CPL_DOOR_RESIZED, &o);
	}
	leave(engine, CPL_TIME_HELD_OTHER);
}

void cpl_engine_suspended(struct cpl_engine *engine, int64_t id, bool stands)
{
	struct cpl_packer o = cpl_link_packer();
	int at;

	enter(engine);
	if (door_live_find(engine, id, &at))
		engine->live[at].suspended = stands;
	if (hears(engine)) {
		cpl_form_put_signed(&o, id);
		cpl_put_number(&o, stands);
		tell(engine, CPL_DOOR_SUSPENDED, &o);
	}
	leave(engine, CPL_TIME_HELD_OTHER);
}

void cpl_engine_restore(struct cpl_engine *engine,
                        const struct cpl_engine_live *job, int n, int wait_ms)
{
	struct cpl_packer o = cpl_link_packer();
	struct cpl_error err = {""};

	enter(engine);
	engine->n_live = 0;
	for (int i = 0; i < n; i++)
		door_live_add(engine, job[i].id, job[i].suspended);
	if (is_there(engine)) {
		cpl_put_number(&o, (uint64_t)wait_ms);
		door_put_live(&o, job, n);
		ask_result(engine, CPL_DOOR_RESTORE, &o,
		           wait_ms * CPL_DOOR_MS + CPL_DOOR_LONG, &err);
	}
	leave(engine, CPL_TIME_HELD_OTHER);
}

static bool wait_for(struct cpl_engine *engine, enum cpl_door_kind kind,
                     int wait_ms)
{
	struct cpl_packer o = cpl_link_packer();
	struct cpl_error err = {""};
	bool done = false;

	enter(engine);
	if (engine->link.fd >= 0 && engine->late)
		wait_until(engine, engine->entered + wait_ms * CPL_DOOR_MS);
	if (is_there(engine)) {
		cpl_put_number(&o, (uint64_t)wait_ms);
		done = !ask_result(engine, kind, &o,
		                   wait_ms * CPL_DOOR_MS + engine->patience,
		                   &err);
	}
	leave(engine, CPL_TIME_HELD_OTHER);
	return done;
}

bool cpl_engine_idle(struct cpl_engine *engine, int wait_ms)
{
	return wait_for(engine, CPL_DOOR_IDLE, wait_ms);
}

bool cpl_engine_drain(struct cpl_engine *engine, int wait_ms)
{
	return wait_for(engine, CPL_DOOR_DRAIN, wait_ms);
}

void cpl_engine_forget(struct cpl_engine *engine)
{
	struct cpl_packer o = cpl_link_packer();

	enter(engine);
	engine->n_live = 0;
	if (hears(engine))
		tell(engine, CPL_DOOR_FORGET, &o);
	leave(engine, CPL_TIME_HELD_OTHER);
}

void cpl_engine_submit(struct cpl_engine *engine,
                       const struct cpl_submission *submission,
                       struct cpl_verdict *verdict)
{
	struct cpl_packer o = cpl_link_packer();
	struct cpl_unpacker in;

	memset(verdict, 0, sizeof(*verdict));
	enter(engine);
	if (is_there(engine)) {
		cpl_form_put_submission(&o, submission);
		if (ask(engine, CPL_DOOR_SUBMIT, &o, engine->patience, NULL,
		        &in)) {
			cpl_form_get_verdict(&in, verdict);
			if (!is_answer(engine, &in))
				cpl_verdict_free(verdict);
		}
	}
	leave(engine, CPL_TIME_HELD_SUBMIT);
}

void cpl_engine_free(struct cpl_engine *engine)
{
	if (!engine)
		return;
	door_hear_end(engine);
	/* It writes what is queued when it is left. */
	forget_link(engine);
	cpl_door_end_child(engine, CPL_DOOR_LAST_NS);
	pthread_mutex_destroy(&engine->api);
	cpl_free_all(engine->config_path, engine->socket, engine->cluster,
	             engine->hosts.data, engine->live, engine);
}
