/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "nccl_piece.h"
#include "nccl_count.h"
#include "nccl_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A text ends with its line. */
static void put_text(FILE *f, const char *key, const char *text)
{
	fprintf(f, "%s ", key);
	for (; *text; text++)
		putc((unsigned char)*text < ' ' ? ' ' : *text, f);
	putc('\n', f);
}

static void put_communicator(FILE *f, const struct nccl_cell *c)
{
	const struct nccl_communicator *a = &c->about;

	fprintf(f, "communicator %" PRIu32 " %" PRIx64 " %d %d %d %d",
	        c->communicator, a->id, a->ranks, a->rank, a->nodes, a->thread);
	put_text(f, "", a->name);
}

/* The sums are the cell's, or `of` it. */
static void put_sums(FILE *f, const struct nccl_cell *c, const uint64_t *of,
                     int n)
{
	for (int i = 0; i < n; i++)
		fprintf(f, " %" PRIu64, of ? of[i] : nccl_sum(c, i));
	putc('\n', f);
}

static void put_pair(FILE *f, const struct nccl_cell *c, const uint64_t *of)
{
	fprintf(f, "%spair %" PRIu32 " %" PRIu64, of ? "step-" : "",
	        c->communicator, c->key);
	put_sums(f, c, of, NCCL_SUMS);
}

static void put_calls(FILE *f, const struct nccl_cell *c, const uint64_t *of)
{
	struct nccl_call call = nccl_call_unpack(c->key);

	fprintf(f, "%scalls %" PRIu32 " %u %u %u %d", of ? "step-" : "",
	        c->communicator, call.function, call.shape, call.channels,
	        call.root);
	put_sums(f, c, of, NCCL_OPERATIONS + 1);
}

static void put_steps(FILE *f)
{
	struct nccl_steps steps;

	nccl_steps_find(&steps);
	if (steps.rounds)
		fprintf(f, "steps %" PRIu64 " %" PRIu64 "\n", steps.rounds,
		        steps.time);
	for (uint32_t i = 0; i < steps.n_cells && steps.rounds; i++) {
		const struct nccl_cell *c = nccl_cell_at(i);
		const uint64_t *sum = steps.sum[i];
		uint32_t kind = atomic_load_explicit(&c->kind,
		                                     memory_order_acquire);

		if (kind == NCCL_CELL_CALLS && sum[NCCL_CALLS])
			put_calls(f, c, sum);
		else if (kind == NCCL_CELL_PAIR &&
		         (sum[NCCL_SENDS] || sum[NCCL_OTHER_STEPS]))
			put_pair(f, c, sum);
	}
	free(steps.sum);
}

/* A communicator's cell is made before those of its events. */
static void put_cells(FILE *f)
{
	for (uint32_t i = 0; i < nccl_cells(); i++) {
		const struct nccl_cell *c = nccl_cell_at(i);

		switch (atomic_load_explicit(&c->kind, memory_order_acquire)) {
		case NCCL_CELL_COMMUNICATOR:
			put_communicator(f, c);
			break;
		case NCCL_CELL_PAIR:
			put_pair(f, c, NULL);
			break;
		case NCCL_CELL_CALLS:
			put_calls(f, c, NULL);
			break;
		}
	}
}

static void put_all(FILE *f, const struct nccl_process *p)
{
	const struct nccl_losses *l = &nccl_losses;

	fprintf(f, NCCL_PIECE_FIRST "\nprocess %s %d %d %d %d %" PRIu64 " %d\n",
	        p->host, p->pid, p->rank, p->size, p->ended, p->time,
	        p->version);
	fprintf(f,
	        "losses %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
	        " %" PRIu64 "\n",
	        atomic_load(&l->full), atomic_load(&l->full_bytes),
	        atomic_load(&l->refused), atomic_load(&l->unknown),
	        atomic_load(&l->foreign));
	put_text(f, "command", p->program.command);
	put_text(f, "application", p->program.application);
	put_text(f, "name", p->program.name);
	put_cells(f);
	put_steps(f);
	fputs("end\n", f);
}

int nccl_piece_write(const char *path, const struct nccl_process *process)
{
	char *beside = NULL;
	FILE *f = NULL;
	int fd, rc = -1, failed;

	if (asprintf(&beside, "%s.tmp", path) < 0)
		return -1;
	unlink(beside);
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		f = fdopen(fd, "w");
	if (f) {
		put_all(f, process);
		failed = ferror(f);
		failed |= fclose(f);
		rc = failed ? -1 : rename(beside, path);
	} else if (fd >= 0) {
		close(fd);
	}
	if (rc && fd >= 0) {
		int saved = errno;

		unlink(beside);
		errno = saved;
	}
	free(beside);
	return rc;
}
