/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slurm_compat_slurmd.h"

#include <pthread.h>

#include "src/common/run_in_daemon.h"

/* xdaemon() forks twice. */
#define DAEMON_FORKS 2

static void (*to_start)(void);
static int forks;

static void in_child(void)
{
	if (++forks == DAEMON_FORKS && to_start)
		to_start();
}

void cplslurm_when_daemon(void (*start)(void))
{
	/* A program that is no part of slurmd has no conf. */
	if (!&conf || !conf || !conf->spooldir || running_in_slurmstepd())
		return;
	if (!conf->daemonize) {
		start();
		return;
	}
	if (!to_start && pthread_atfork(NULL, NULL, in_child))
		return;
	to_start = start;
}
