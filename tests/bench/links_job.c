/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The job of bench-links without MPI: the same messages over sockets, whose ends sleep
 * in poll() while they wait. So a machine of two processors can run many such jobs, and
 * what they take is what the links take.
 *
 *	links_job STEPS FOLDER		a task of srun's; the folder is the job's own
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "links_job.h"

#define PATIENCE_S 60

static int rank, ranks;
static char out[LINKS_HEAVY], in[LINKS_HEAVY];

static void fail(const char *what)
{
	fprintf(stderr, "rank %d: %s: %s\n", rank, what, strerror(errno));
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A socket that listens where the links are, told to the others by a file. */
static int listen_there(const char *folder)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct ifaddrs *list = NULL;
	struct sockaddr_in own = {0};
	socklen_t size = sizeof(own);
	char path[512], moved[512];
	FILE *f;

	if (fd < 0 || getifaddrs(&list))
		fail("socket");
	for (struct ifaddrs *i = list; i; i = i->ifa_next)
		if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET &&
		    !strcmp(i->ifa_name, "net"))
			memcpy(&own, i->ifa_addr, sizeof(own));
	freeifaddrs(list);
	own.sin_port = 0;
	if (!own.sin_addr.s_addr || bind(fd, (void *)&own, size) ||
	    listen(fd, 8) || getsockname(fd, (void *)&own, &size))
		fail("listen");
	snprintf(path, sizeof(path), "%s/new.%d", folder, rank);
	snprintf(moved, sizeof(moved), "%s/%d", folder, rank);
	f = fopen(path, "w");
	if (!f || fwrite(&own, sizeof(own), 1, f) != 1 || fclose(f) ||
	    rename(path, moved))
		fail(path);
	return fd;
}

static int connect_to(const char *folder, int peer)
{
	struct sockaddr_in there;
	double end = now() + PATIENCE_S;
	char path[512];
	FILE *f;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	snprintf(path, sizeof(path), "%s/%d", folder, peer);
	while (!(f = fopen(path, "r")) && now() < end)
		usleep(20000);
	if (fd < 0 || !f || fread(&there, sizeof(there), 1, f) != 1 ||
	    connect(fd, (void *)&there, sizeof(there)) ||
	    write(fd, &rank, sizeof(rank)) != sizeof(rank))
		fail(path);
	fclose(f);
	return fd;
}

/* The peer's connection: the lower rank makes it. */
static int meet(int listening, const char *folder, int peer, int *fd)
{
	while (fd[peer] < 0) {
		int other, got;

		if (rank < peer) {
			fd[peer] = connect_to(folder, peer);
			break;
		}
		got = accept(listening, NULL, NULL);
		if (got < 0 || read(got, &other, sizeof(other)) != sizeof(other) ||
		    other < 0 || other >= ranks)
			fail("accept");
		fd[other] = got;
	}
	fcntl(fd[peer], F_SETFL, O_NONBLOCK);
	return fd[peer];
}

/* So many bytes to one and from another one. */
static void swap(int bytes, int to, int from)
{
	int sent = 0, got = 0;

	while (sent < bytes || got < bytes) {
		struct pollfd wait[] = {
		        {.fd = sent < bytes ? to : -1, .events = POLLOUT},
		        {.fd = got < bytes ? from : -1, .events = POLLIN}};
		ssize_t n;

		if (poll(wait, 2, 1000 * PATIENCE_S) <= 0)
			fail("poll");
		n = wait[0].revents ? write(to, out + sent, (size_t)(bytes - sent))
		                    : 0;
		if (n < 0 && errno != EAGAIN)
			fail("write");
		sent += n > 0 ? (int)n : 0;
		n = wait[1].revents ? read(from, in + got, (size_t)(bytes - got))
		                    : 0;
		if ((n < 0 && errno != EAGAIN) || (!n && wait[1].revents))
			fail("read");
		got += n > 0 ? (int)n : 0;
	}
}

static void one_way(int fd, short events)
{
	struct pollfd wait = {.fd = fd, .events = events};
	char byte = 0;

	if (poll(&wait, 1, 1000 * PATIENCE_S) <= 0 ||
	    (events == POLLIN ? read(fd, &byte, 1) : write(fd, &byte, 1)) != 1)
		fail("barrier");
}

/* A byte goes round twice: the first time all are there, the second all know. */
static void barrier(int right, int left)
{
	for (int turn = 0; turn < 2; turn++) {
		if (rank)
			one_way(left, POLLIN);
		one_way(right, POLLOUT);
		if (!rank)
			one_way(left, POLLIN);
	}
}

static int number(const char *name)
{
	const char *text = getenv(name);

	return text ? atoi(text) : -1;
}

int main(int argc, char **argv)
{
	int steps = argc == 3 ? atoi(argv[1]) : 0, listening, *fd;
	int half, right, left;
	double begun = 0;

	rank = number("SLURM_PROCID");
	ranks = number("SLURM_NTASKS");
	fd = malloc((size_t)(ranks > 0 ? ranks : 1) * sizeof(*fd));
	if (steps < 1 || rank < 0 || ranks < 4 || ranks % 2 || !fd) {
		fprintf(stderr, "links_job STEPS FOLDER, by srun\n");
		return 2;
	}
	for (int i = 0; i < ranks; i++)
		fd[i] = -1;
	listening = listen_there(argv[2]);
	half = meet(listening, argv[2], (rank + ranks / 2) % ranks, fd);
	right = meet(listening, argv[2], (rank + 1) % ranks, fd);
	left = meet(listening, argv[2], (rank + ranks - 1) % ranks, fd);
	for (int i = -LINKS_BEFORE; i < steps; i++) {
		if (!i) {
			barrier(right, left);
			begun = now();
		}
		swap(LINKS_HEAVY, half, half);
		swap(LINKS_LIGHT, right, left);
		swap(LINKS_LIGHT, left, right);
	}
	barrier(right, left);
	if (!rank)
		printf("seconds %.3f\n", now() - begun);
	printf("rank %d %s\n", rank, getenv("SLURMD_NODENAME"));
	free(fd);
	return 0;
}
