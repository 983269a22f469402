/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes that are not there: registers nodes PREFIX0 .. PREFIX(N-1), or
 * PREFIX(FIRST) .. PREFIX(LAST), with slurmctld and answers what it sends to all
 * of them on one port, so that thousands cost one process.
 *
 *   SLURM_CONF=... fake_nodes [-e] PORT PREFIX N|FIRST-LAST CPUS MEMORY
 *
 * Jobs launched on them "run" until they are cancelled or reach their limit;
 * with -e batch jobs end as their scripts say, the last "sleep SECONDS" and
 * "exit STATUS" in them, and nodes say again what runs on them when slurmctld
 * asks. To be killed with -9 is their power cut: what ran is gone.
 *
 * In slurm.conf: NodeName=PREFIX[0-...] NodeHostname=localhost
 * NodeAddr=127.0.0.1 Port=PORT, SlurmdTimeout=0.
 */
#include "slurm_compat.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/common/forward.h"
#include "src/common/hostlist.h"
#include "src/common/read_config.h"
#include "src/common/slurm_protocol_api.h"
#include "src/common/slurm_protocol_pack.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"
#if CPLSLURM_SERIES < 2302
#include "src/common/slurm_acct_gather_energy.h"
typedef hostlist_t host_names;
#else
#include "src/interfaces/acct_gather_energy.h"
typedef hostlist_t *host_names;
#endif
/* From 25.11 on a connection is an object of Slurm's, and what is meant for others,
 * too, is not forwarded: slurm.conf is to have TreeWidth=65533. */
#if CPLSLURM_SERIES < 2511
#define PEER_IS_OBJECT 0
typedef int peer;
#define JOB_ID_OF(launch) (launch)->job_id
#define END_JOB_ID .job_id
#else
#define PEER_IS_OBJECT 1
#include "src/common/slurm_protocol_socket.h"
#include "src/interfaces/conn.h"
typedef void *peer;
#define JOB_ID_OF(launch) (launch)->step_id.job_id
#define END_JOB_ID .step_id.job_id
#endif
/* From 24.11 on only the credential has whose job it is. */
#if CPLSLURM_SERIES < 2411
#define UID_OF(launch) (launch)->uid
#else
#define UID_OF(launch) 0
#endif

static const char *prefix;
static uint16_t cpus;
static uint64_t memory;
static time_t start;
static bool jobs_end;

/* A batch job that runs until `end`, in seconds of the monotonic clock. */
struct job {
	uint32_t id;
	uint32_t uid;
	uint32_t status; /* as of wait() */
	double end;
	char node[64]; /* where its script is */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* All under the lock. */
static struct job *jobs;
static size_t n_jobs, max_jobs;
static bool asked; /* to register again */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What follows the last `word` of a script as a number; 0: there is none. */
static double said(const char *script, const char *word)
{
	const char *last = NULL;

	while ((script = strstr(script, word)))
		last = script += strlen(word);
	return last ? strtod(last, NULL) : 0;
}

static void forget(uint32_t id)
{
	pthread_mutex_lock(&lock);
	for (size_t i = n_jobs; i-- > 0;)
		if (jobs[i].id == id)
			jobs[i] = jobs[--n_jobs];
	pthread_mutex_unlock(&lock);
}

static void begin(const batch_job_launch_msg_t *launch)
{
	host_names hosts = hostlist_create(launch->nodes);
	char *first = hosts ? hostlist_shift(hosts) : NULL;
	const char *script = launch->script ? launch->script : "";
	struct job job = {
		.id = JOB_ID_OF(launch),
		.uid = UID_OF(launch),
		.status = (uint32_t)said(script, "exit ") << 8,
		.end = now() + said(script, "sleep "),
	};

	snprintf(job.node, sizeof(job.node), "%s", first ? first : "");
	free(first);
	hostlist_destroy(hosts);
	/* Started again, it is another run. */
	forget(job.id);
	pthread_mutex_lock(&lock);
	if (n_jobs == max_jobs) {
		max_jobs = max_jobs ? max_jobs * 2 : 64;
		xrealloc(jobs, max_jobs * sizeof(*jobs));
	}
	jobs[n_jobs++] = job;
	pthread_mutex_unlock(&lock);
}

/* Tell slurmctld; true: it needs not be told again. */
static bool tell_end(struct job *job)
{
	complete_batch_script_msg_t end = {
		END_JOB_ID = job->id,
		.job_rc = job->status,
		.node_name = job->node,
		.user_id = job->uid,
	};
	slurm_msg_t msg;
	int rc = SLURM_SUCCESS;

	slurm_msg_t_init(&msg);
	msg.msg_type = REQUEST_COMPLETE_BATCH_SCRIPT;
	msg.data = &end;
	return !slurm_send_recv_controller_rc_msg(&msg, &rc, NULL);
}

/* Tells slurmctld of each job that is at its end, until it has heard it. */
static void *ender(void *unused)
{
	for (;;) {
		struct job job;
		bool found = false;

		pthread_mutex_lock(&lock);
		for (size_t i = 0; i < n_jobs && !found; i++)
			if (jobs[i].end <= now()) {
				job = jobs[i];
				found = true;
			}
		pthread_mutex_unlock(&lock);
		if (!found || !tell_end(&job)) {
			usleep(20000);
			continue;
		}
		/* Unless it was started again meanwhile. */
		pthread_mutex_lock(&lock);
		for (size_t i = n_jobs; i-- > 0;)
			if (jobs[i].id == job.id && jobs[i].end == job.end)
				jobs[i] = jobs[--n_jobs];
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

/* The jobs whose scripts are on a node, for its registration. */
static void list_jobs(slurm_node_registration_status_msg_t *node)
{
	pthread_mutex_lock(&lock);
	node->step_id = xcalloc(n_jobs + 1, sizeof(*node->step_id));
	for (size_t i = 0; i < n_jobs; i++)
		if (!strcmp(jobs[i].node, node->node_name))
			node->step_id[node->job_count++] = (slurm_step_id_t){
				.job_id = jobs[i].id,
				.step_id = SLURM_BATCH_SCRIPT,
				.step_het_comp = NO_VAL,
			};
	pthread_mutex_unlock(&lock);
}

static void note(const slurm_msg_t *msg)
{
	switch (msg->msg_type) {
	case REQUEST_BATCH_JOB_LAUNCH:
		begin(msg->data);
		break;
	/* Not REQUEST_ABORT_JOB: it may mean one of its nodes. */
	case REQUEST_TERMINATE_JOB:
	case REQUEST_KILL_TIMELIMIT:
	case REQUEST_KILL_PREEMPTED:
		forget(((const kill_job_msg_t *)msg->data)->step_id.job_id);
		break;
	case REQUEST_NODE_REGISTRATION_STATUS:
	case REQUEST_RECONFIGURE:
	case REQUEST_RECONFIGURE_WITH_CONFIG:
		pthread_mutex_lock(&lock);
		asked = true;
		pthread_mutex_unlock(&lock);
		break;
	default:
		break;
	}
}

static int answer_of(uint16_t type)
{
	switch (type) {
	case REQUEST_TERMINATE_JOB:
	case REQUEST_KILL_TIMELIMIT:
	case REQUEST_KILL_PREEMPTED:
		return ESLURMD_KILL_JOB_ALREADY_COMPLETE;
	default:
		return SLURM_SUCCESS;
	}
}

struct connection {
	peer fd;
	slurm_addr_t from;
};

#if PEER_IS_OBJECT
static bool receive(struct connection *c, slurm_msg_t *msg)
{
	msg->conn = c->fd;
	return slurm_receive_msg(c->fd, msg, 0) == SLURM_SUCCESS;
}

static void hang_up(struct connection *c)
{
	conn_g_destroy(c->fd, true);
}
#else
/* The answers of those that the message is to be forwarded to, which are all here:
 * a tree of 131,072 would be as many connections of this process with itself. */
static void answer_for(slurm_msg_t *msg, const header_t *header)
{
	host_names hosts = hostlist_create(header->forward.nodelist);
	char *name;

	msg->ret_list = list_create(destroy_data_info);
	while (hosts && (name = hostlist_shift(hosts))) {
		ret_data_info_t *answer = xmalloc(sizeof(*answer));
		return_code_msg_t *code = xmalloc(sizeof(*code));

		code->return_code = (uint32_t)answer_of(header->msg_type);
		answer->type = RESPONSE_SLURM_RC;
		answer->data = code;
		answer->node_name = xstrdup(name);
		list_append(msg->ret_list, answer);
		free(name);
	}
	hostlist_destroy(hosts);
}

/* The message as it would be for one node alone. */
static buf_t *without_forward(header_t *header, buf_t *from)
{
	uint32_t left = remaining_buf(from);
	buf_t *to = init_buf(BUF_SIZE + left);

	destroy_forward(&header->forward);
	forward_init(&header->forward);
	pack_header(header, to);
	packmem_array(get_buf_data(from) + get_buf_offset(from), left, to);
	to->size = get_buf_offset(to);
	set_buf_offset(to, 0);
	free_buf(from);
	return to;
}

static bool receive(struct connection *c, slurm_msg_t *msg)
{
	header_t header = {0};
	buf_t *buffer;
	char *bytes = NULL;
	size_t n = 0;
	bool got;

	if (slurm_msg_recvfrom_timeout(c->fd, &bytes, &n, 0,
	                               slurm_conf.msg_timeout * 1000) < 0)
		return false;
	buffer = create_buf(bytes, (uint32_t)n);
	msg->conn_fd = c->fd;
	got = unpack_header(&header, buffer) == SLURM_SUCCESS;
	if (got && header.forward.cnt) {
		answer_for(msg, &header);
		buffer = without_forward(&header, buffer);
	} else {
		set_buf_offset(buffer, 0);
	}
	got = got && !slurm_unpack_received_msg(msg, c->fd, buffer);
	destroy_forward(&header.forward);
	free_buf(buffer);
	return got;
}

static void hang_up(struct connection *c)
{
	close(c->fd);
}
#endif

static void *serve(void *arg)
{
	struct connection *c = arg;
	slurm_msg_t *msg = xmalloc(sizeof(*msg));

	slurm_msg_t_init(msg);
	if (receive(c, msg)) {
		if (jobs_end)
			note(msg);
		slurm_send_rc_msg(msg, answer_of(msg->msg_type));
	}
#if PEER_IS_OBJECT
	/* It is closed here. */
	msg->conn = NULL;
#endif
	hang_up(c);
	slurm_free_msg(msg);
	free(c);
	return NULL;
}

static bool is_there(peer fd)
{
#if PEER_IS_OBJECT
	return fd != NULL;
#else
	return fd >= 0;
#endif
}

static void *listener(void *arg)
{
	int fd = *(int *)arg;
	pthread_attr_t detached;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&detached, 1 << 20);
	for (;;) {
		struct connection *c = calloc(1, sizeof(*c));
		pthread_t thread;

		if (!c)
			abort();
		c->fd = slurm_accept_msg_conn(fd, &c->from);
		if (!is_there(c->fd) || pthread_create(&thread, &detached, serve, c))
			free(c);
	}
	return NULL;
}

static int enlist(int i)
{
	slurm_node_registration_status_msg_t *node = xmalloc(sizeof(*node));
	slurm_msg_t req, resp;
	int rc;

	node->node_name = xstrdup_printf("%s%d", prefix, i);
	node->hostname = xstrdup("localhost");
	node->arch = xstrdup("x86_64");
	node->os = xstrdup("Linux");
	node->version = xstrdup(SLURM_VERSION_STRING);
	node->cpus = node->cores = cpus;
	node->boards = node->sockets = node->threads = 1;
	node->real_memory = memory;
	node->hash_val = slurm_conf.hash_val;
	node->energy = acct_gather_energy_alloc(1);
	/* Without it slurmctld 22.05 crashes. */
	node->gres_info = init_buf(64);
	pack16(SLURM_PROTOCOL_VERSION, node->gres_info);
	pack16(0, node->gres_info);
	node->timestamp = time(NULL);
	node->slurmd_start_time = start;
	node->up_time = (uint32_t)(node->timestamp - start) + 1000;
	list_jobs(node);
	slurm_msg_t_init(&req);
	slurm_msg_t_init(&resp);
	req.msg_type = MESSAGE_NODE_REGISTRATION_STATUS;
	req.data = node;
	rc = slurm_send_recv_controller_msg(&req, &resp, NULL);
	slurm_free_node_registration_status_msg(node);
	if (!rc)
		slurm_free_msg_data(resp.msg_type, resp.data);
	return rc;
}

/* Which nodes are still to be enlisted; `failed` is the first of them refused, or -1. */
struct queue {
	int next, last, failed;
};

static void *enlist_some(void *arg)
{
	struct queue *queue = arg;

	for (;;) {
		int at, tries = 0;

		pthread_mutex_lock(&lock);
		at = queue->next++;
		pthread_mutex_unlock(&lock);
		if (at > queue->last)
			return NULL;
		while (enlist(at) && ++tries < 20)
			usleep(100000);
		if (tries == 20)
			queue->failed = at;
	}
}

/* So many at a time: slurmctld and munged are waited for most of it. */
#define THREADS 8

/* Returns a node that is refused, or -1. */
static int enlist_all(int first, int last)
{
	struct queue queue = {first, last, -1};
	pthread_t thread[THREADS];
	int n = 0;

	while (n < THREADS &&
	       !pthread_create(&thread[n], NULL, enlist_some, &queue))
		n++;
	enlist_some(&queue);
	while (n > 0)
		pthread_join(thread[--n], NULL);
	return queue.failed;
}

static void enlist_again(int first, int last)
{
	bool wanted;

	usleep(200000);
	pthread_mutex_lock(&lock);
	wanted = asked;
	asked = false;
	pthread_mutex_unlock(&lock);
	if (wanted)
		enlist_all(first, last);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int fd, first = 0, last, at;

	if (argc > 1 && !strcmp(argv[1], "-e")) {
		jobs_end = true;
		argc--;
		argv++;
	}
	if (argc != 6) {
		fprintf(stderr, "usage: fake_nodes [-e] PORT PREFIX "
		                "N|FIRST-LAST CPUS MEMORY\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	prefix = argv[2];
	if (sscanf(argv[3], "%d-%d", &first, &last) != 2) {
		first = 0;
		last = atoi(argv[3]) - 1;
	}
	cpus = (uint16_t)atoi(argv[4]);
	memory = (uint64_t)atoll(argv[5]);
	/* From 24.11 on what is signed needs a plugin, too. */
#if CPLSLURM_SERIES >= 2411
	slurm_init(NULL);
#else
	slurm_conf_init(NULL);
#endif
	fd = slurm_init_msg_engine_port((uint16_t)atoi(argv[1]));
	if (fd < 0) {
		fprintf(stderr, "fake_nodes: cannot listen on port %s\n",
		        argv[1]);
		return 1;
	}
	if (pthread_create(&thread, NULL, listener, &fd) ||
	    (jobs_end && pthread_create(&thread, NULL, ender, NULL)))
		return 1;
	start = time(NULL);
	at = enlist_all(first, last);
	if (at >= 0) {
		fprintf(stderr, "fake_nodes: %s%d is refused\n", prefix, at);
		return 1;
	}
	printf("registered\n");
	fflush(stdout);
	for (;;)
		enlist_again(first, last);
}
