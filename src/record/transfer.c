/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long messages take between rank 0 and others on an idle machine: the
 * program that `commplace characterize` compiles and runs. Any MPI of version 2
 * or newer; nothing of commplace.
 *
 *   transfer [MOST-BYTES [SECONDS [HOSTS]]]
 *
 * A ping-pong with one partner at a time: two of each socket of rank 0's host,
 * one of each of up to HOSTS (64) other hosts, evenly among them. Of each size, 8
 * bytes and then twice the last one up to MOST-BYTES (4 MiB), rounds for SECONDS
 * (0.02), at least 20; half the shortest round is the transfer time. Then, for 8
 * bytes, what LogGP calls o and g: the shortest MPI_Send, the shortest MPI_Recv of
 * a message that came before, and what a message more in a row costs: a 64th of
 * the difference between the shortest times of 128 and of 64 messages that are
 * answered by one. (Kielmann, Bal, Verstoep, "Fast Measurement of LogP
 * Parameters for Message Passing Platforms".) The others sleep. Output of rank 0,
 * seconds:
 *
 *   commplace-transfer rank RANK HOST SOCKET      -1: not bound to one
 *   commplace-transfer pair 0 RANK BYTES SECONDS
 *   commplace-transfer costs 0 RANK SEND RECEIVE GAP
 *   commplace-transfer end RANKS
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST_BYTES 8
#define LEAST_ROUNDS 20
#define MOST_ROUNDS 100000
#define BURST 64
#define BURST_ROUNDS 50
#define OWN_SOCKET 2 /* partners in each socket of rank 0's host */

enum tag { BEGIN, GO_ON, LAST };

/* A rank runs here. */
struct location {
	char host[64];
	int socket;
};

struct options {
	long most;
	double seconds;
	int hosts;
};

static int socket_of_cpu(int cpu)
{
	char path[96];
	int socket = -1;
	FILE *f;

	snprintf(path, sizeof(path),
	         "/sys/devices/system/cpu/cpu%d/topology/physical_package_id",
	         cpu);
	f = fopen(path, "r");
	if (f && fscanf(f, "%d", &socket) != 1)
		socket = -1;
	if (f)
		fclose(f);
	return socket;
}

/* This is the socket of all CPUs that this process may run on, or -1. */
static int own_socket(void)
{
	cpu_set_t cpus;
	int socket = -1, found = 0;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return -1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		int s;

		if (!CPU_ISSET(cpu, &cpus))
			continue;
		s = socket_of_cpu(cpu);
		if (s < 0 || (found++ && s != socket))
			return -1;
		socket = s;
	}
	return socket;
}

static void find_location(struct location *p)
{
	const char *slurm = getenv("SLURMD_NODENAME");

	memset(p, 0, sizeof(*p));
	if (slurm)
		snprintf(p->host, sizeof(p->host), "%s", slurm);
	else
		gethostname(p->host, sizeof(p->host) - 1);
	p->host[strcspn(p->host, ".")] = '\0';
	p->socket = own_socket();
}

/* This numbers the hosts of places in the order in which they come, as host[rank].
 * It returns how many there are. */
static int number_hosts(const struct location *place, int ranks, int *host)
{
	int n = 0;

	for (int r = 0; r < ranks; r++) {
		int s = r - 1;

		/* Most often it is the host of the rank before. */
		while (s >= 0 && strcmp(place[s].host, place[r].host))
			s--;
		host[r] = s >= 0 ? host[s] : n++;
	}
	return n;
}

/* This tells whether i is one of `most` that are evenly among n, from 1 on. */
static int is_chosen(int i, int n, int most)
{
	return n <= most || (long)i * most / n != ((long)i - 1) * most / n;
}

/* These ranks are measured with rank 0: chosen[ranks]. */
static void choose(const struct location *place, int ranks, int most_hosts,
                   char *chosen)
{
	int *host = malloc((size_t)ranks * sizeof(*host));
	char *taken = calloc((size_t)ranks, 1);
	int hosts;

	if (!host || !taken)
		MPI_Abort(MPI_COMM_WORLD, 1);
	hosts = number_hosts(place, ranks, host);
	for (int r = 1; r < ranks; r++) {
		int in_socket = 0;

		if (host[r]) {
			chosen[r] = !taken[host[r]] &&
			            is_chosen(host[r], hosts - 1, most_hosts);
			taken[host[r]] |= chosen[r];
			continue;
		}
		for (int s = 1; s < r; s++)
			in_socket += chosen[s] && !host[s] &&
			             place[s].socket == place[r].socket;
		chosen[r] = in_socket < OWN_SOCKET;
	}
	free(host);
	free(taken);
}

/* This runs rounds of one size, and returns the shortest time. */
static double measure(int partner, char *buffer, int bytes, double seconds)
{
	double begin = MPI_Wtime(), least = 1e9;
	int last = 0;

	for (int round = 0; !last; round++) {
		double at = MPI_Wtime(), took;

		last = round + 1 >= MOST_ROUNDS ||
		       (round + 1 >= LEAST_ROUNDS && at - begin > seconds);
		MPI_Send(buffer, bytes, MPI_CHAR, partner,
		         last ? LAST : GO_ON, MPI_COMM_WORLD);
		MPI_Recv(buffer, bytes, MPI_CHAR, partner, GO_ON,
		         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		took = MPI_Wtime() - at;
		least = took < least ? took : least;
	}
	return least / 2;
}

/* This times MPI_Send, and MPI_Recv when its message is sure to be there, which is
 * after ten times its transfer time. */
static void measure_overheads(int partner, char *buffer, double way,
                              double seconds, double *send, double *receive)
{
	double begin = MPI_Wtime();
	int last = 0;

	*send = *receive = 1e9;
	for (int round = 0; !last; round++) {
		double at = MPI_Wtime(), sent, there, got;

		last = round + 1 >= MOST_ROUNDS ||
		       (round + 1 >= LEAST_ROUNDS && at - begin > seconds);
		MPI_Send(buffer, FIRST_BYTES, MPI_CHAR, partner,
		         last ? LAST : GO_ON, MPI_COMM_WORLD);
		sent = MPI_Wtime();
		do
			there = MPI_Wtime();
		while (there < sent + 10 * way);
		MPI_Recv(buffer, FIRST_BYTES, MPI_CHAR, partner, GO_ON,
		         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		got = MPI_Wtime();
		*send = sent - at < *send ? sent - at : *send;
		*receive = got - there < *receive ? got - there : *receive;
	}
}

/* This is the shortest time of n messages in a row and their answer. */
static double measure_burst(int partner, char *buffer, int n)
{
	double least = 1e9;

	for (int round = 0; round < BURST_ROUNDS; round++) {
		double at = MPI_Wtime(), took;

		for (int i = 0; i < n; i++)
			MPI_Send(buffer, FIRST_BYTES, MPI_CHAR, partner, GO_ON,
			         MPI_COMM_WORLD);
		MPI_Recv(buffer, FIRST_BYTES, MPI_CHAR, partner, GO_ON,
		         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		took = MPI_Wtime() - at;
		least = took < least ? took : least;
	}
	return least;
}

static void measure_costs(int partner, char *buffer, double way, double seconds)
{
	double send, receive, few, many;

	measure_overheads(partner, buffer, way, seconds, &send, &receive);
	few = measure_burst(partner, buffer, BURST);
	many = measure_burst(partner, buffer, 2 * BURST);
	printf("commplace-transfer costs 0 %d %.9g %.9g %.9g\n", partner, send,
	       receive, many > few ? (many - few) / BURST : 0);
}

static void answer_size(char *buffer, int bytes)
{
	MPI_Status status = {.MPI_TAG = GO_ON};

	while (status.MPI_TAG == GO_ON) {
		MPI_Recv(buffer, bytes, MPI_CHAR, 0, MPI_ANY_TAG,
		         MPI_COMM_WORLD, &status);
		MPI_Send(buffer, bytes, MPI_CHAR, 0, GO_ON, MPI_COMM_WORLD);
	}
}

static void answer_bursts(char *buffer, int n)
{
	for (int round = 0; round < BURST_ROUNDS; round++) {
		for (int i = 0; i < n; i++)
			MPI_Recv(buffer, FIRST_BYTES, MPI_CHAR, 0, GO_ON,
			         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(buffer, FIRST_BYTES, MPI_CHAR, 0, GO_ON,
		         MPI_COMM_WORLD);
	}
}

static void answer(char *buffer, long most)
{
	for (long bytes = FIRST_BYTES; bytes <= most; bytes *= 2)
		answer_size(buffer, (int)bytes);
	answer_size(buffer, FIRST_BYTES);
	answer_bursts(buffer, BURST);
	answer_bursts(buffer, 2 * BURST);
}

/* A rank sleeps until rank 0 needs it, so that no others compute or send
 * meanwhile. */
static int is_wanted(void)
{
	struct timespec nap = {0, 1000000};
	int there = 0, wanted = 0;

	while (!there) {
		MPI_Iprobe(0, BEGIN, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
		if (!there)
			nanosleep(&nap, NULL);
	}
	MPI_Recv(&wanted, 1, MPI_INT, 0, BEGIN, MPI_COMM_WORLD,
	         MPI_STATUS_IGNORE);
	return wanted;
}

static void lead(const struct location *place, int ranks, char *buffer,
                 const struct options *o)
{
	char *chosen = calloc((size_t)ranks, 1);
	int begin = 1, end = 0;
	double way = 0;

	if (!chosen)
		MPI_Abort(MPI_COMM_WORLD, 1);
	choose(place, ranks, o->hosts, chosen);
	for (int r = 0; r < ranks; r++)
		if (!r || chosen[r])
			printf("commplace-transfer rank %d %s %d\n", r,
			       place[r].host, place[r].socket);
	for (int r = 1; r < ranks; r++) {
		if (!chosen[r])
			continue;
		MPI_Send(&begin, 1, MPI_INT, r, BEGIN, MPI_COMM_WORLD);
		for (long bytes = FIRST_BYTES; bytes <= o->most; bytes *= 2) {
			double took = measure(r, buffer, (int)bytes,
			                      o->seconds);

			way = bytes == FIRST_BYTES ? took : way;
			printf("commplace-transfer pair 0 %d %ld %.9g\n", r,
			       bytes, took);
		}
		measure_costs(r, buffer, way, o->seconds);
		fflush(stdout);
	}
	for (int r = 1; r < ranks; r++)
		MPI_Send(&end, 1, MPI_INT, r, BEGIN, MPI_COMM_WORLD);
	printf("commplace-transfer end %d\n", ranks);
	free(chosen);
}

int main(int argc, char **argv)
{
	struct options o = {4194304, 0.02, 64};
	struct location mine, *all = NULL;
	int rank, ranks;
	char *buffer;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc > 1)
		o.most = atol(argv[1]);
	if (argc > 2)
		o.seconds = atof(argv[2]);
	if (argc > 3)
		o.hosts = atoi(argv[3]);
	buffer = calloc(1, (size_t)(o.most < FIRST_BYTES ? FIRST_BYTES
	                                                 : o.most));
	if (!rank)
		all = calloc((size_t)ranks, sizeof(*all));
	if (!buffer || (!rank && !all))
		MPI_Abort(MPI_COMM_WORLD, 1);
	find_location(&mine);
	MPI_Gather(&mine, sizeof(mine), MPI_CHAR, all, sizeof(mine), MPI_CHAR,
	           0, MPI_COMM_WORLD);
	if (!rank)
		lead(all, ranks, buffer, &o);
	else
		while (is_wanted())
			answer(buffer, o.most);
	MPI_Finalize();
	free(buffer);
	free(all);
	return 0;
}
