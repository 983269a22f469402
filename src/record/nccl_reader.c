/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "nccl_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bisect.h"

struct nccl_lines {
	FILE *file;
	const char *path;
	char *line, *at;
	size_t size;
	int number;
	char *why;
};

static int complain(struct nccl_lines *in, const char *reason)
{
	if (in->number)
		snprintf(in->why, NCCL_WHY, "%.300s:%d: %.180s", in->path,
		         in->number, reason);
	else
		snprintf(in->why, NCCL_WHY, "%.300s: %.180s", in->path, reason);
	return -1;
}

/* This returns 1, 0 at the end of the file, or -1 with why. */
static int next_line(struct nccl_lines *in)
{
	ssize_t n = getline(&in->line, &in->size, in->file);

	in->number++;
	if (n < 0)
		return ferror(in->file) ? complain(in, strerror(errno)) : 0;
	if (strlen(in->line) != (size_t)n)
		return complain(in, "a byte 0");
	in->line[strcspn(in->line, "\n")] = '\0';
	in->at = in->line;
	return 1;
}

/* Is the line's first word this one? What follows is at in->at. */
static bool begins(struct nccl_lines *in, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(in->line, word, n) || in->line[n] != ' ')
		return false;
	in->at = in->line + n + 1;
	return true;
}

/* The next number is in low to high. */
static int take_number(struct nccl_lines *in, int64_t low, uint64_t high,
                       int base, uint64_t *out)
{
	bool negative = *in->at == '-';
	char *end;

	errno = 0;
	*out = strtoull(in->at, &end, base);
	if (end == in->at || *in->at == ' ' || *in->at == '+' || errno ||
	    (*end && *end != ' '))
		return complain(in, "a number is needed");
	if (negative ? low >= 0 || *out != (uint64_t)-1
	             : *out > high || (low > 0 && *out < (uint64_t)low))
		return complain(in, "a number is out of its range");
	in->at = *end ? end + 1 : end;
	return 0;
}

static int take_int(struct nccl_lines *in, int low, int high, int *out)
{
	uint64_t value;

	if (take_number(in, low, (uint64_t)high, 10, &value))
		return -1;
	*out = (int)value;
	return 0;
}

static int take_sums(struct nccl_lines *in, uint64_t *sum, int n)
{
	for (int i = 0; i < n; i++)
		if (take_number(in, 0, UINT64_MAX / 2 + 1, 10, &sum[i]))
			return -1;
	return 0;
}

void *nccl_grow(void *array, int64_t n, size_t size)
{
	return n & (n - 1) ? array
	                   : realloc(array, (size_t)(n ? 2 * n : 1) * size);
}

static int take_process(struct nccl_lines *in, struct nccl_process *p)
{
	size_t n = strcspn(in->at, " ");
	int ended;

	if (!n || n >= sizeof(p->host) || !in->at[n])
		return complain(in, "the name of a host is needed");
	memcpy(p->host, in->at, n);
	in->at += n + 1;
	if (take_int(in, 0, INT32_MAX, &p->pid) ||
	    take_int(in, -1, NCCL_MAX_RANKS - 1, &p->rank) ||
	    take_int(in, -1, NCCL_MAX_RANKS, &p->size) ||
	    take_int(in, 0, 1, &ended) || take_sums(in, &p->time, 1) ||
	    take_int(in, 0, 1000, &p->version))
		return -1;
	p->ended = ended;
	return 0;
}

static int take_communicator(struct nccl_lines *in, struct nccl_join *j,
                             uint32_t first)
{
	struct nccl_member *more = nccl_grow(j->member, j->n_members,
	                                     sizeof(*more)),
	                   *m;
	struct nccl_communicator *a;
	uint64_t number;

	if (!more)
		return complain(in, "out of memory");
	j->member = more;
	m = &more[j->n_members];
	memset(m, 0, sizeof(*m));
	a = &m->about;
	m->piece = (int)j->n_pieces - 1;
	m->global = -1;
	if (take_number(in, 0, UINT32_MAX, 10, &number) ||
	    take_number(in, 0, UINT64_MAX, 16, &a->id) ||
	    take_int(in, 1, NCCL_MAX_RANKS, &a->ranks) ||
	    take_int(in, 0, a->ranks - 1, &a->rank) ||
	    take_int(in, 0, NCCL_MAX_RANKS, &a->nodes) ||
	    take_int(in, 0, INT32_MAX, &a->thread))
		return -1;
	m->number = (uint32_t)number;
	if (j->n_members > first && more[j->n_members - 1].number >= number)
		return complain(in, "communicators are not in order");
	j->n_members++;
	return 0;
}

/* The member that has this number in the piece; -1 with why. */
static int take_member(struct nccl_lines *in, const struct nccl_join *j,
                       uint32_t first, uint32_t *out)
{
	uint32_t low = first, high = j->n_members;
	uint64_t number;

	if (take_number(in, 0, UINT32_MAX, 10, &number))
		return -1;
	CPL_BISECT(low, high, middle, j->member[middle].number < number);
	if (low == j->n_members || j->member[low].number != number)
		return complain(in, "no communicator has that number");
	*out = low;
	return 0;
}

static int take_call(struct nccl_lines *in, int ranks, struct nccl_call *call)
{
	int function, shape, channels, root;

	if (take_int(in, 1, NCCL_FUNCTIONS - 1, &function) ||
	    take_int(in, 0, NCCL_SHAPES - 1, &shape) ||
	    take_int(in, 0, 255, &channels) ||
	    take_int(in, 0, ranks - 1, &root))
		return -1;
	*call = (struct nccl_call){(uint8_t)function, (uint8_t)shape,
	                           (uint8_t)channels, root};
	return 0;
}

static int take_tally(struct nccl_lines *in, struct nccl_join *j,
                      uint32_t first, bool of_calls)
{
	struct nccl_tally *more = nccl_grow(j->tally, j->n_tallies,
	                                    sizeof(*more)),
	                  *t;
	int ranks;

	if (!more)
		return complain(in, "out of memory");
	j->tally = more;
	t = &more[j->n_tallies];
	memset(t, 0, sizeof(*t));
	t->of_calls = of_calls;
	if (take_member(in, j, first, &t->member))
		return -1;
	ranks = j->member[t->member].about.ranks;
	if (of_calls ? take_call(in, ranks, &t->call)
	             : take_int(in, 0, ranks - 1, &t->peer))
		return -1;
	if (take_sums(in, t->sum, of_calls ? NCCL_OPERATIONS + 1 : NCCL_SUMS))
		return -1;
	if (!of_calls && t->sum[NCCL_OTHER_STEPS])
		j->member[t->member].on_network = true;
	j->n_tallies++;
	return 0;
}

static int take_line(struct nccl_lines *in, struct nccl_join *j, uint32_t first)
{
	struct nccl_piece *p = &j->piece[j->n_pieces - 1];
	struct rec_program *of = &p->about.program;

	if (begins(in, "process"))
		return take_process(in, &p->about);
	if (begins(in, "losses"))
		return take_sums(in, p->loss, 5);
	if (begins(in, "communicator"))
		return take_communicator(in, j, first);
	if (begins(in, "pair"))
		return take_tally(in, j, first, false);
	if (begins(in, "calls"))
		return take_tally(in, j, first, true);
	if (begins(in, "command"))
		snprintf(of->command, sizeof(of->command), "%s", in->at);
	else if (begins(in, "application"))
		snprintf(of->application, sizeof(of->application), "%s",
		         in->at);
	else if (begins(in, "name"))
		snprintf(of->name, sizeof(of->name), "%s", in->at);
	else
		return complain(in, "no such line is known");
	return 0;
}

static int take_lines(struct nccl_lines *in, struct nccl_join *j)
{
	uint32_t first = j->n_members;
	int rc = next_line(in);

	if (rc < 0)
		return -1;
	if (!rc || strcmp(in->line, NCCL_PIECE_FIRST))
		return complain(in, "the first line is not \"" NCCL_PIECE_FIRST
		                    "\"");
	while ((rc = next_line(in)) > 0 && strcmp(in->line, "end"))
		if (take_line(in, j, first))
			return -1;
	if (rc < 0)
		return -1;
	if (!rc)
		return complain(in, "the file ends early");
	if (!*j->piece[j->n_pieces - 1].about.host)
		return complain(in, "no process is named");
	return 0;
}

/* This takes the file, which may be NULL with errno. */
static int take_file(struct nccl_join *j, FILE *file, const char *name,
                     char *why)
{
	struct nccl_lines in = {.file = file, .path = name, .why = why};
	struct nccl_piece *more;
	uint32_t members = j->n_members, tallies = j->n_tallies;
	int rc;

	if (!file)
		return complain(&in, strerror(errno));
	more = nccl_grow(j->piece, j->n_pieces, sizeof(*more));
	if (!more) {
		fclose(file);
		return complain(&in, "out of memory");
	}
	j->piece = more;
	memset(&more[j->n_pieces], 0, sizeof(*more));
	more[j->n_pieces].is_kept = true;
	j->n_pieces++;
	rc = take_lines(&in, j);
	if (rc) {
		j->n_pieces--;
		j->n_members = members;
		j->n_tallies = tallies;
	}
	fclose(file);
	free(in.line);
	return rc;
}

int nccl_join_read(struct nccl_join *j, const char *path, char *why)
{
	struct stat st;

	/* One that is no file might never end, or begin. */
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		snprintf(why, NCCL_WHY, "%.400s: is not a regular file", path);
		return -1;
	}
	return take_file(j, fopen(path, "re"), path, why);
}

int nccl_join_parse(struct nccl_join *j, const void *data, size_t size,
                    const char *name, char *why)
{
	return take_file(j, fmemopen((void *)(uintptr_t)data, size, "r"), name,
	                 why);
}

struct nccl_join *nccl_join_new(void)
{
	return calloc(1, sizeof(struct nccl_join));
}

void nccl_join_free(struct nccl_join *j)
{
	if (!j)
		return;
	free(j->piece);
	free(j->member);
	free(j->tally);
	free(j->order);
	free(j->row);
	free(j);
}
