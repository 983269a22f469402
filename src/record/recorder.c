/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "recorder.h"
#include "events_file.h"
#include "kinds.h"
#include "peers.h"
#include "pmpi.h"
#include "program.h"
#include "table.h"
#include "unseen.h"
#include "writer.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sort.h"

#define CHUNK 262144 /* rows in one message to rank 0 */
#define TAG 1

_Thread_local int rec_depth;
_Thread_local bool rec_keeps_time;
atomic_bool rec_on;
int64_t rec_mpi_time, rec_left;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Files tell of the run by these. */
struct texts {
	char version[MPI_MAX_LIBRARY_VERSION_STRING], date[REC_DATE];
	struct rec_program program;
};

static struct {
	bool active;
	int rank, size;
	pid_t pid;
	MPI_Comm comm; /* our own, so that no message is mistaken for ours */
	MPI_Group world;
	/* These are the program's sessions (MPI_Init counts as one), if it began
	 * with one; then there is no comm, and world is of a session of our own. */
	int sessions;
	bool has_sessions, session_open;
#if REC_SESSIONS
	MPI_Session session;
#endif
	struct rec_table out, in;
	int64_t since, time; /* ns: recording since, in windows before */
	uint64_t outside_messages, outside_bytes, lost;
	char *path;
	struct texts text;
} rec;

/* Each rank tells rank 0 this before its rows. */
struct summary {
	int64_t rows, time, mpi_time;
	uint64_t outside_messages, outside_bytes, lost, host;
};

void rec_lock(void)
{
	pthread_mutex_lock(&lock);
}

void rec_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void rec_add(int world, bool inward, uint64_t bytes, uint64_t messages)
{
	struct rec_table *t = inward ? &rec.in : &rec.out;

	if (!rec.active)
		return;
	if (world < 0) {
		rec.outside_messages += messages;
		rec.outside_bytes += bytes;
		return;
	}
	/* Few programs get from others, so only those have a table. */
	if ((!t->cell && rec_table_init(t, rec.size, REC_DENSE_LIMIT)) ||
	    rec_table_add(t, world, bytes, messages))
		rec.lost += messages;
	else if (rec_in_events())
		rec_event_message(world, inward, bytes, messages);
}

/* This tells the runs of a job apart, as "HOST.PID" of the process that writes its
 * file. The parts of ranks with sessions have to have one name without their asking
 * each other: it is the launcher's for the run, if it has one, and the size. */
static void name_run(char *out, size_t size)
{
	const char *run = getenv("PMIX_NAMESPACE");
	char host[HOST_NAME_MAX + 1] = "";

	gethostname(host, sizeof(host) - 1);
	if (rec.has_sessions)
		snprintf(out, size, "%.128s.%d", run ? run : "run", rec.size);
	else
		snprintf(out, size, "%s.%ld", host, (long)getpid());
	for (char *c = out; *c; c++)
		*c = *c == '/' ? '_' : *c;
}

/* Each program that a job runs has a file of its own, since several may run at
 * once, also on different hosts. Whoever keeps recordings finds it by the job and
 * the step that its name begins with. Whoever writes makes the folder. */
static char *path_in(const char *folder, const char *run)
{
	const char *job = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID");
	char *path;

	if (asprintf(&path, "%s/%s.%s.%s.json", folder, job ? job : "0",
	             step ? step : "batch", run) < 0)
		return NULL;
	if (!rec.rank || rec.has_sessions)
		rec_folders_make(path);
	return path;
}

static char *output_path(void)
{
	const char *path = getenv("COMMPLACE_RECORD_OUT");
	const char *folder = getenv("COMMPLACE_RECORD_DIR");
	char run[HOST_NAME_MAX + 160], name[sizeof(run) + 32];

	if (path && path[0])
		return rec_path_absolute(path);
	name_run(run, sizeof(run));
	if (folder && folder[0] == '/')
		return path_in(folder, run);
	if (rec.has_sessions)
		snprintf(name, sizeof(name), "commplace-%s.json", run);
	else
		snprintf(name, sizeof(name), "commplace-%ld.json", (long)getpid());
	return rec_path_absolute(name);
}

bool rec_agree(bool mine)
{
	char yes = mine, *all = NULL;

	if (!rec.rank) {
		all = malloc((size_t)rec.size);
		yes = mine && all;
	}
	if (pmpi.Bcast(&yes, 1, pmpi.byte, 0, rec.comm) != MPI_SUCCESS || !yes)
		goto no;
	yes = mine;
	if (pmpi.Gather(&yes, 1, pmpi.byte, all, 1, pmpi.byte, 0, rec.comm) !=
	    MPI_SUCCESS)
		goto no;
	for (int r = 0; all && r < rec.size; r++)
		yes = yes && all[r];
	if (pmpi.Bcast(&yes, 1, pmpi.byte, 0, rec.comm) != MPI_SUCCESS)
		goto no;
	free(all);
	return yes;
no:
	free(all);
	return false;
}

static void describe(struct texts *t)
{
	int n = 0;

	pmpi.Get_library_version(t->version, &n);
	t->version[strcspn(t->version, "\n")] = '\0';
	rec_date_now(t->date);
	rec_program_describe(&t->program, rec.path);
}

static struct rec_head head_of(const struct texts *t)
{
	return (struct rec_head){
	        .ranks = rec.size,
	        .application = t->program.application,
	        .mpi = t->version,
	        .command = t->program.command,
	        .date = t->date,
	};
}

/* This tells what this rank has so far, even in a signal's handler. */
static void fill_section(struct rec_section *s)
{
	int64_t time = rec.time;

	if (atomic_load_explicit(&rec_on, memory_order_relaxed))
		time += rec_now() - rec.since;
	*s = (struct rec_section){
	        .rank = rec.rank,
	        .time = (uint64_t)time,
	        .mpi_time = (uint64_t)rec_mpi_time,
	        .lost = rec.lost,
	        .out = &rec.out,
	        .in = &rec.in,
	};
}

static void go_on(void)
{
	rec.since = rec_now();
	rec_event_file_go_on(rec.since);
	atomic_store(&rec_on, true);
}

static void stop(void)
{
	if (atomic_exchange(&rec_on, false))
		rec.time += rec_now() - rec.since;
}

/* This looks for the library once, and tells whether this process may begin. */
static bool may_begin(void)
{
	if (rec.pid)
		return false;
	rec.pid = getpid();
	if (!rec_pmpi_load())
		return true;
	if (rec_first_rank(true))
		fprintf(stderr, "commplace-record: the program uses another "
		                "MPI library than the recorder was built "
		                "for; nothing is recorded\n");
	return false;
}

/* This makes what a process needs by itself. */
static bool make_tables(void)
{
	if (rec_table_init(&rec.out, rec.size, REC_DENSE_LIMIT) ||
	    rec_peers_begin(rec.world) || rec_event_file_begin())
		return false;
	rec.path = output_path();
	return rec.path != NULL;
}

static void say_no_memory(void)
{
	if (!rec.rank)
		fprintf(stderr, "commplace-record: out of memory; nothing is "
		                "recorded\n");
}

static void start(void)
{
	struct rec_head head;

	describe(&rec.text);
	head = head_of(&rec.text);
	rec_rank_file_prepare(rec.path, rec.rank, rec.has_sessions, &head,
	                      fill_section);
	rec.active = true;
	rec_keeps_time = true;
	go_on();
}

#if REC_SESSIONS
/* This adds MPI_Init to the sessions that are open, and tells whether any are. */
static bool opened_within(void)
{
	bool any;

	rec_lock();
	any = rec.sessions > 0;
	rec.sessions += any;
	rec_unlock();
	return any;
}

/* The session of our own, since the program's may end before what it has made. */
static bool open_own_session(void)
{
	static const char all[] = "mpi://WORLD";

	rec.session_open =
	        pmpi.Session_init(pmpi.no_info, pmpi.errors_return,
	                          &rec.session) == MPI_SUCCESS;
	return rec.session_open &&
	       pmpi.Group_from_session_pset(rec.session, all, &rec.world) ==
	               MPI_SUCCESS;
}

static void close_own_session(void)
{
	if (!rec.session_open)
		return;
	rec_peers_end();
	pmpi.Group_free(&rec.world);
	pmpi.Session_finalize(&rec.session);
	rec.session_open = false;
}

void rec_session_begin(void)
{
	bool first;

	rec_lock();
	first = !rec.sessions &&
	        (rec.has_sessions || (may_begin() && pmpi.has_sessions));
	rec.has_sessions |= first;
	rec.sessions += first || rec.sessions;
	rec_unlock();
	if (!first || !open_own_session())
		return;
	if (rec.path) { /* there were some before */
		if (rec_peers_begin(rec.world))
			return;
		rec_rank_file_go_on();
		rec.active = true;
		go_on();
		return;
	}
	pmpi.Group_rank(rec.world, &rec.rank);
	pmpi.Group_size(rec.world, &rec.size);
	if (make_tables())
		start();
}

/* This rank's part, without a word to the others. */
static void write_rank_file(void)
{
	bool was_active;

	rec_lock();
	was_active = rec.active;
	stop();
	rec.active = false;
	rec_unlock();
	if (was_active && rec_rank_file_write(0))
		fprintf(stderr, "commplace-record: cannot write %s.rank%d\n",
		        rec.path, rec.rank);
}

void rec_session_end(void)
{
	if (rec.sessions)
		rec_finish();
}
#endif

void rec_begin(void)
{
	MPI_Comm parent;
	bool ok;

#if REC_SESSIONS
	if (opened_within())
		return;
#endif
	if (!may_begin())
		return;
	/* Spawned processes are a world of their own, and not in this profile. */
	if (pmpi.Comm_get_parent(&parent) != MPI_SUCCESS ||
	    parent != pmpi.comm_null ||
	    pmpi.Comm_dup(pmpi.comm_world, &rec.comm) != MPI_SUCCESS)
		return;
	pmpi.Comm_set_errhandler(rec.comm, pmpi.errors_return);
	pmpi.Comm_rank(rec.comm, &rec.rank);
	pmpi.Comm_size(rec.comm, &rec.size);
	ok = pmpi.Comm_group(rec.comm, &rec.world) == MPI_SUCCESS &&
	     make_tables();
	if (rec_agree(ok))
		start();
	else
		say_no_memory();
}

void rec_control(int level)
{
	rec_lock();
	if (rec.active && level == 0) {
		stop();
	} else if (rec.active && level == 1 && !atomic_load(&rec_on)) {
		go_on();
	}
	rec_unlock();
}

static uint64_t host_hash(void)
{
	char name[HOST_NAME_MAX + 1] = "";
	uint64_t h = REC_HASH;

	gethostname(name, sizeof(name) - 1);
	for (const char *c = name; *c; c++)
		h = rec_hash(h, (unsigned char)*c);
	return h;
}

static int count_hosts(const struct summary *all)
{
	uint64_t *hash = malloc(sizeof(*hash) * (size_t)rec.size);
	int n = 0;

	if (!hash)
		return 0;
	for (int r = 0; r < rec.size; r++)
		hash[r] = all[r].host;
	qsort(hash, (size_t)rec.size, sizeof(*hash), cpl_by_uint64);
	for (int r = 0; r < rec.size; r++)
		n += !r || hash[r] != hash[r - 1];
	free(hash);
	return n;
}

static void write_rows(struct rec_writer *w, int rank,
                       const struct rec_row *row, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		rec_writer_row(w, row[i].inward ? row[i].peer : rank,
		               row[i].inward ? rank : row[i].peer, row[i].bytes,
		               row[i].messages);
}

/* Rank 0 writes its own rows, then everyone's in rank order. */
static int receive_rows(struct rec_writer *w, const struct summary *all,
                        const struct rec_row *own, struct rec_row *chunk)
{
	write_rows(w, 0, own, all[0].rows);
	for (int r = 1; r < rec.size; r++) {
		for (int64_t done = 0; done < all[r].rows;) {
			int64_t n = all[r].rows - done;

			n = n < CHUNK ? n : CHUNK;
			if (pmpi.Recv(chunk, (int)n * (int)sizeof(*chunk),
			              pmpi.byte, r, TAG, rec.comm,
			              MPI_STATUS_IGNORE) != MPI_SUCCESS)
				return -1;
			write_rows(w, r, chunk, n);
			done += n;
		}
	}
	return 0;
}

static void send_rows(const struct rec_row *row, int64_t n)
{
	for (int64_t done = 0; done < n; done += CHUNK) {
		int64_t part = n - done < CHUNK ? n - done : CHUNK;

		if (pmpi.Send(row + done, (int)part * (int)sizeof(*row),
		              pmpi.byte, 0, TAG, rec.comm) != MPI_SUCCESS)
			return;
	}
}

static void write_signature(struct rec_writer *w, const struct summary *all,
                            const struct rec_row *own, struct rec_row *chunk)
{
	struct texts *t = &rec.text;
	struct rec_facts facts = {.name = t->program.name, .ranks = rec.size};
	double mpi_time = 0;
	int failed;

	describe(t);
	for (int r = 0; r < rec.size; r++) {
		if (all[r].time * 1e-9 > facts.time)
			facts.time = all[r].time * 1e-9;
		mpi_time += all[r].mpi_time * 1e-9 / rec.size;
		facts.outside_messages += all[r].outside_messages;
		facts.outside_bytes += all[r].outside_bytes;
		facts.lost_messages += all[r].lost;
	}
	facts.compute_time = facts.time - mpi_time;
	facts.application = t->program.application;
	facts.mpi = t->version;
	facts.command = t->program.command;
	facts.date = t->date;
	facts.hosts = count_hosts(all);
	rec_writer_head(w, &facts);
	failed = receive_rows(w, all, own, chunk);
	rec_writer_tail(w, &facts);
	if (rec_writer_close(w, !failed))
		fprintf(stderr, "commplace-record: cannot write %s: %s\n",
		        rec.path, strerror(w->error));
}

static void write_all(void)
{
	struct summary mine = {0}, *all = NULL;
	struct rec_row *row = NULL, *chunk = NULL;
	struct rec_section section;
	struct rec_head head;
	struct rec_writer w;
	size_t n_out, n_in;
	bool ok, opened = false;

	rec_lock();
	if (!rec.active) {
		rec_unlock();
		return;
	}
	stop();
	rec.active = false;
	rec_unlock();

	n_out = rec_table_count(&rec.out);
	n_in = rec_table_count(&rec.in);
	row = malloc(sizeof(*row) * (n_out + n_in + 1));
	ok = row != NULL;
	if (ok) {
		rec_table_rows(&rec.out, 0, row);
		rec_table_rows(&rec.in, 1, row + n_out);
	}
	if (!rec.rank) {
		all = malloc(sizeof(*all) * (size_t)rec.size);
		chunk = malloc(sizeof(*chunk) * CHUNK);
		if (!row || !all || !chunk)
			fprintf(stderr, "commplace-record: out of memory; "
			                "no signature is written\n");
		else if (rec_writer_open(&w, rec.path))
			fprintf(stderr,
			        "commplace-record: cannot write %s: %s\n",
			        rec.path, strerror(w.error));
		else
			opened = true;
		ok = opened;
	}
	mine.rows = (int64_t)(n_out + n_in);
	mine.time = rec.time;
	mine.mpi_time = rec_mpi_time;
	mine.outside_messages = rec.outside_messages;
	mine.outside_bytes = rec.outside_bytes;
	mine.lost = rec.lost;
	mine.host = host_hash();
	ok = rec_agree(ok) &&
	     pmpi.Gather(&mine, sizeof(mine), pmpi.byte, all, sizeof(mine),
	                 pmpi.byte, 0, rec.comm) == MPI_SUCCESS;
	if (ok && !rec.rank)
		write_signature(&w, all, row, chunk);
	else if (ok)
		send_rows(row, mine.rows);
	else if (opened)
		rec_writer_close(&w, 0);
	rec_rank_file_cancel();
	if (rec_has_events) {
		fill_section(&section);
		head = head_of(&rec.text);
		rec_event_file_gather(&section, &head, rec.comm);
	}
	free(row);
	free(chunk);
	free(all);
	rec_table_free(&rec.out);
	rec_table_free(&rec.in);
	free(rec.path);
	pmpi.Group_free(&rec.world);
	pmpi.Comm_free(&rec.comm);
}

/* The other ranks are told by signals. */
void rec_abort(void)
{
	if (rec.active)
		rec_rank_file_write(SIGABRT);
}

__attribute__((destructor)) static void ended(void)
{
	bool kept;

	if (!rec.pid)
		rec_unseen_look();
	if (!rec.active || rec.pid != getpid())
		return;
	kept = !rec_rank_file_write(-1);
	if (!rec.rank)
		fprintf(stderr, "commplace-record: the program ended without "
		                "%s; %s\n",
		        rec.session_open ? "MPI_Session_finalize"
		                         : "MPI_Finalize",
		        kept ? "what was counted until then is kept"
		             : "no signature is written");
}

void rec_finish(void)
{
#if REC_SESSIONS
	bool goes_on;

	rec_lock();
	goes_on = rec.sessions && --rec.sessions;
	rec_unlock();
	if (goes_on)
		return;
	if (rec.has_sessions) {
		write_rank_file();
		close_own_session();
		return;
	}
#endif
	write_all();
}
