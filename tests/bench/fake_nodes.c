/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes that are not there: registers nodes PREFIX0 .. PREFIX(N-1) with
 * slurmctld and answers what it sends to all of them on one port, so that
 * thousands cost one process. Jobs launched on them "run" until they are
 * cancelled or reach their limit.
 *
 *   SLURM_CONF=... fake_nodes PORT PREFIX N CPUS MEMORY
 *
 * In slurm.conf: NodeName=PREFIX[0-...] NodeHostname=localhost
 * NodeAddr=127.0.0.1 Port=PORT, SlurmdTimeout=0.
 */
#include "slurm_compat.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/common/forward.h"
#include "src/common/read_config.h"
#include "src/common/slurm_acct_gather_energy.h"
#include "src/common/slurm_protocol_api.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

static const char *prefix;
static uint16_t cpus;
static uint64_t memory;

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
	int fd;
	slurm_addr_t from;
};

static void *serve(void *arg)
{
	struct connection *c = arg;
	slurm_msg_t *msg = xmalloc(sizeof(*msg));

	slurm_msg_t_init(msg);
	/* Forwards what is meant for others too, as slurmd does. */
	if (slurm_receive_msg_and_forward(c->fd, &c->from, msg) ==
	    SLURM_SUCCESS)
		slurm_send_rc_msg(msg, answer_of(msg->msg_type));
	else
		forward_wait(msg);
	close(c->fd);
	slurm_free_msg(msg);
	free(c);
	return NULL;
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
		if (c->fd < 0 || pthread_create(&thread, &detached, serve, c))
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
	node->slurmd_start_time = node->timestamp = time(NULL);
	node->up_time = 1000;
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

int main(int argc, char **argv)
{
	pthread_t thread;
	int fd, n;

	if (argc != 6) {
		fprintf(stderr, "usage: fake_nodes PORT PREFIX N CPUS MEMORY\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	prefix = argv[2];
	n = atoi(argv[3]);
	cpus = (uint16_t)atoi(argv[4]);
	memory = (uint64_t)atoll(argv[5]);
	slurm_conf_init(NULL);
	fd = slurm_init_msg_engine_port((uint16_t)atoi(argv[1]));
	if (fd < 0) {
		fprintf(stderr, "fake_nodes: cannot listen on port %s\n",
		        argv[1]);
		return 1;
	}
	if (pthread_create(&thread, NULL, listener, &fd))
		return 1;
	for (int i = 0; i < n; i++)
		for (int tries = 0; enlist(i); tries++) {
			if (tries == 20) {
				fprintf(stderr, "fake_nodes: %s%d is refused\n",
				        prefix, i);
				return 1;
			}
			usleep(100000);
		}
	printf("registered\n");
	fflush(stdout);
	pthread_join(thread, NULL);
	return 0;
}
