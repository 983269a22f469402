/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "events_file.h"
#include "functions.h"
#include "peers.h"
#include "pmpi.h"
#include "recorder.h"
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAG 2

bool rec_has_events;
static struct rec_events events;
/* This is set while events are changed, so that a signal's handler leaves them
 * alone. */
static volatile sig_atomic_t changing;

static const char *const name_of[REC_FUNCTIONS] = {
#define CALL(name, ...) [REC_##name] = #name,
#include "src/record/calls.inc"
#undef CALL
};

/* How often these are called is chance. */
static const bool polls[REC_FUNCTIONS] = {
        [REC_Test] = true,     [REC_Testall] = true, [REC_Testany] = true,
        [REC_Testsome] = true, [REC_Iprobe] = true,  [REC_Improbe] = true,
        [REC_Win_test] = true,
};

int rec_event_file_begin(void)
{
	const char *path = getenv("COMMPLACE_RECORD_EVENTS");

	if (!path || !*path)
		return 0;
	if (rec_events_init(&events, REC_FUNCTIONS, REC_FOLD_NODES)) {
		rec_events_free(&events);
		return -1;
	}
	rec_has_events = true;
	return 0;
}

void rec_event_file_go_on(int64_t now)
{
	rec_events_begin(&events, now);
}

void rec_event_among(struct rec_peers *p)
{
	if (!rec_in_events())
		return;
	if (p->number < 0)
		p->number = rec_events_communicator(
		        &events, rec_peers_hash(p),
		        (uint32_t)(p->size + p->remote_size));
	rec_events_on(&events, (uint16_t)p->number);
}

void rec_event_from(int world, uint64_t bytes)
{
	rec_events_from(&events, world < 0 ? REC_NO_RANK : world, bytes);
}

void rec_event_message(int world, bool inward, uint64_t bytes,
                       uint64_t messages)
{
	rec_events_message(&events, world, inward, bytes, messages);
}

void rec_event_end(int function, int64_t start)
{
	changing = 1;
	rec_events_end(&events, (uint16_t)function, polls[function], start,
	               rec_left);
	changing = 0;
}

/* A rank's section goes to rank 0 in pieces of this size. */
#define PIECE 262144
struct piece {
	uint32_t used, last;
	unsigned char data[PIECE];
};

struct piece_sender {
	MPI_Comm comm;
	struct rec_writer *writer; /* of rank 0; the others have NULL and send */
	struct piece *piece;
};

static int take_bytes(struct rec_sink *s)
{
	struct piece_sender *way = s->arg;

	if (way->writer)
		return fwrite(s->buffer, 1, s->used, way->writer->file) ==
		                       s->used
		               ? 0
		               : -1;
	way->piece->used = (uint32_t)s->used;
	return pmpi.Send(way->piece, sizeof(*way->piece), pmpi.byte, 0, TAG,
	                 way->comm) == MPI_SUCCESS
	               ? 0
	               : -1;
}

static int receive(struct piece_sender *way, int from)
{
	struct piece *piece = way->piece;
	int failed = 0;

	do {
		if (pmpi.Recv(piece, sizeof(*piece), pmpi.byte, from, TAG,
		              way->comm, MPI_STATUS_IGNORE) != MPI_SUCCESS)
			return -1;
		failed |= fwrite(piece->data, 1, piece->used,
		                 way->writer->file) != piece->used;
	} while (!piece->last);
	return failed;
}

static void gather(struct rec_section *mine, const struct rec_head *head,
                   struct piece_sender *way)
{
	struct rec_sink sink = {.buffer = way->piece->data,
	                        .size = PIECE,
	                        .flush = take_bytes,
	                        .arg = way};
	int failed;

	way->piece->last = 0;
	if (!way->writer) {
		rec_section_write(&sink, mine);
		way->piece->used = 0;
		way->piece->last = 1;
		pmpi.Send(way->piece, sizeof(*way->piece), pmpi.byte, 0, TAG,
		          way->comm);
		return;
	}
	rec_head_write(&sink, head);
	rec_section_write(&sink, mine);
	failed = sink.failed;
	for (int r = 1; r < head->ranks; r++)
		failed |= receive(way, r);
	if (failed && !way->writer->error)
		way->writer->error = errno ? errno : EIO;
}

void rec_event_file_gather(struct rec_section *mine, const struct rec_head *head,
                           MPI_Comm comm)
{
	const char *path = getenv("COMMPLACE_RECORD_EVENTS");
	struct rec_head named = *head;
	struct rec_writer writer;
	struct piece_sender way = {.comm = comm,
	                           .piece = malloc(sizeof(*way.piece))};
	bool ok = way.piece != NULL;

	named.functions = REC_FUNCTIONS;
	named.function = name_of;
	rec_events_finish(&events);
	mine->events = &events;
	if (ok && !mine->rank) {
		ok = path && !rec_writer_open(&writer, path);
		if (ok)
			way.writer = &writer;
		else
			fprintf(stderr,
			        "commplace-record: cannot write %s: %s\n",
			        path ? path : "the events",
			        path ? strerror(writer.error) : "no path");
	}
	if (rec_agree(ok))
		gather(mine, &named, &way);
	else
		ok = false;
	if (way.writer && rec_writer_close(&writer, ok))
		fprintf(stderr, "commplace-record: cannot write %s: %s\n", path,
		        strerror(writer.error));
	free(way.piece);
	rec_has_events = false;
	rec_events_free(&events);
}

/* What a handler needs is made beforehand. */
static struct {
	char *path; /* NULL: nothing is to be written */
	pid_t pid;
	struct rec_head head;
	void (*fill)(struct rec_section *);
	atomic_flag written;
} part = {.written = ATOMIC_FLAG_INIT};

static const int endings[] = {SIGHUP, SIGINT,  SIGQUIT, SIGILL,  SIGABRT,
                              SIGBUS, SIGFPE,  SIGSEGV, SIGTERM, SIGXCPU,
                              SIGXFSZ};
enum { N_ENDINGS = sizeof(endings) / sizeof(*endings) };
static struct sigaction before[N_ENDINGS];

/* The handler passes the signal to whatever was set before. */
static void on_ending(int number)
{
	int saved = errno;

	rec_rank_file_write(number);
	for (int i = 0; i < N_ENDINGS; i++)
		if (endings[i] == number)
			sigaction(number, &before[i], NULL);
	errno = saved;
	raise(number);
}

void rec_rank_file_prepare(const char *path, int rank, bool sessions,
                           const struct rec_head *head,
                           void (*fill)(struct rec_section *))
{
	const char *wanted = getenv("COMMPLACE_RECORD_PARTS");
	struct sigaction ours = {.sa_handler = on_ending}, old;
	bool on_signals = wanted && !strcmp(wanted, "1");

	if ((!on_signals && !sessions) ||
	    asprintf(&part.path, "%s.rank%d", path, rank) < 0) {
		part.path = NULL;
		return;
	}
	part.pid = getpid();
	part.fill = fill;
	part.head = *head;
	part.head.functions = REC_FUNCTIONS;
	part.head.function = name_of;
	sigemptyset(&ours.sa_mask);
	for (int i = 0; i < N_ENDINGS && on_signals; i++) {
		if (sigaction(endings[i], NULL, &old))
			continue;
		before[i] = old;
		if ((old.sa_flags & SA_SIGINFO) || old.sa_handler != SIG_IGN)
			sigaction(endings[i], &ours, NULL);
	}
}

static int write_out(struct rec_sink *s)
{
	const int *fd = s->arg;

	for (size_t done = 0; done < s->used;) {
		ssize_t n = write(*fd, s->buffer + done, s->used - done);

		if (n < 0 && errno != EINTR)
			return -1;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int rec_rank_file_write(int ended)
{
	static unsigned char buffer[65536];
	struct rec_section section = {.ended = ended};
	struct rec_sink sink = {
	        .buffer = buffer, .size = sizeof(buffer), .flush = write_out};
	int fd;

	if (!part.path || part.pid != getpid() ||
	    atomic_flag_test_and_set(&part.written))
		return -1;
	fd = open(part.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	sink.arg = &fd;
	if (rec_has_events && !ended)
		rec_events_finish(&events);
	part.fill(&section);
	section.ended = ended;
	if (rec_has_events && !changing)
		section.events = &events;
	rec_head_write(&sink, &part.head);
	rec_section_write(&sink, &section);
	close(fd);
	return sink.failed ? -1 : 0;
}

void rec_rank_file_go_on(void)
{
	atomic_flag_clear(&part.written);
}

void rec_rank_file_cancel(void)
{
	atomic_flag_test_and_set(&part.written);
}
