/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "nccl_keep.h"
#include "nccl_files.h"
#include "program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int nccl_paths_find(struct nccl_paths *p)
{
	const char *file = getenv("COMMPLACE_RECORD_FILE");
	const char *folder = getenv("COMMPLACE_RECORD_DIR");
	const char *job = getenv("SLURM_JOB_ID"),
	           *step = getenv("SLURM_STEP_ID");
	int rc;

	free(p->file);
	free(p->pieces);
	free(p->stem);
	memset(p, 0, sizeof(*p));
	if (!(file && *file) && folder && *folder == '/') {
		if (asprintf(&p->stem, "%s/%s.%s", folder, job ? job : "0",
		             step ? step : "batch") < 0)
			p->stem = NULL;
	} else {
		p->file = rec_path_absolute(
		        file && *file ? file : "commplace-nccl.json");
	}
	if (!p->file && !p->stem)
		return -1;
	rc = p->file ? asprintf(&p->pieces, "%s" NCCL_PIECES, p->file)
	             : asprintf(&p->pieces, "%s.nccl" NCCL_PIECES, p->stem);
	if (rc >= 0)
		return 0;
	p->pieces = NULL;
	return -1;
}

/* A number of the launcher's, or -1. */
static int number_in(const char *variable)
{
	const char *text = getenv(variable);
	char *end;
	long value;

	if (!text || !*text)
		return -1;
	errno = 0;
	value = strtol(text, &end, 10);
	return *end || errno || value < 0 || value >= 1048576 ? -1 : (int)value;
}

/* What started the process last knows best: torchrun in a step of srun has several
 * processes for each of Slurm's tasks. */
static void find_rank(struct nccl_process *p)
{
	static const char *const pair[][2] = {
	        {"RANK", "WORLD_SIZE"},
	        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
	        {"PMIX_RANK", "PMIX_SIZE"},
	        {"PMI_RANK", "PMI_SIZE"},
	        {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};

	p->rank = p->size = -1;
	for (size_t i = 0; i < sizeof(pair) / sizeof(*pair); i++) {
		int rank = number_in(pair[i][0]), size = number_in(pair[i][1]);

		if (rank < 0 || size <= rank)
			continue;
		p->rank = rank;
		p->size = size;
		return;
	}
}

void nccl_process_describe(struct nccl_process *p,
                           const struct nccl_paths *paths)
{
	memset(p, 0, sizeof(*p));
	if (gethostname(p->host, sizeof(p->host) - 1) || !*p->host)
		snprintf(p->host, sizeof(p->host), "unknown");
	for (char *c = p->host; *c; c++)
		if (*c <= ' ' || *c == '/')
			*c = '_';
	p->pid = getpid();
	find_rank(p);
	rec_program_describe(&p->program,
	                     paths->file ? paths->file : paths->stem);
}

/* This joins what there is once. It returns whether pieces are done with. */
static bool join_pieces(const struct nccl_paths *paths,
                        const struct nccl_process *own)
{
	struct nccl_join *j = nccl_join_new();
	const struct nccl_row *row;
	struct nccl_facts facts;
	char why[NCCL_WHY] = "out of memory", *file = NULL;
	bool done = false;
	int64_t n;
	int rc = -1;

	if (!j || nccl_files_read(j, paths->pieces, why) < 0)
		goto out;
	nccl_join_keep(j, own->host, own->pid);
	if (nccl_join_solve(j, &row, &n, &facts, why))
		goto out;
	if (paths->file)
		file = strdup(paths->file);
	else if (asprintf(&file, "%s.nccl-%016" PRIx64 ".json", paths->stem,
	                  facts.largest) < 0)
		file = NULL;
	if (file)
		rc = nccl_signature_write(file, facts.name, row, n, &facts,
		                          why);
	done = !rc && facts.is_whole;
out:
	/* Pieces that another has joined and removed are no loss. */
	if (rc && !access(paths->pieces, F_OK))
		fprintf(stderr,
		        "commplace-record: what NCCL sent is not joined: %s; "
		        "commplace signature import --format nccl makes a "
		        "signature of the pieces in %s\n",
		        why, paths->pieces);
	free(file);
	nccl_join_free(j);
	return done;
}

/* Something that differs when a piece came, or came anew, in between; 0: no folder. */
static uint64_t state_of(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *entry;
	uint64_t state = d != NULL;

	while (d && (entry = readdir(d))) {
		uint64_t hash = entry->d_ino;

		if (!nccl_is_piece(entry->d_name))
			continue;
		for (const char *c = entry->d_name; *c; c++)
			hash = (hash ^ (unsigned char)*c) *
			       UINT64_C(0x100000001b3);
		state += hash;
	}
	if (d)
		closedir(d);
	return state;
}

/* One process joins at a time. Whoever comes meanwhile has written its piece before,
 * and the one that joins looks again after it let go. */
static void join_in_turn(const struct nccl_paths *paths,
                         const struct nccl_process *own)
{
	struct flock whole = {.l_type = F_WRLCK};
	uint64_t seen = 0, before;
	char *path = NULL;
	int fd;

	if (asprintf(&path, "%s/" NCCL_LOCK, paths->pieces) < 0)
		return;
	for (before = state_of(paths->pieces); before && before != seen;
	     before = state_of(paths->pieces)) {
		bool done = false, mine;

		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0)
			break;
		/* Where there are no locks, the same file is written twice. */
		mine = !fcntl(fd, F_OFD_SETLK, &whole) ||
		       (errno != EAGAIN && errno != EACCES);
		if (mine) {
			seen = state_of(paths->pieces);
			done = join_pieces(paths, own);
		}
		if (done)
			nccl_files_remove(paths->pieces);
		close(fd);
		if (done || !mine)
			break;
	}
	free(path);
}

void nccl_files_keep(const struct nccl_paths *paths,
                     const struct nccl_process *process)
{
	char *path = NULL;

	if (asprintf(&path, "%s/%s.%d" NCCL_PIECE, paths->pieces, process->host,
	             process->pid) < 0) {
		fprintf(stderr, "commplace-record: out of memory; what NCCL "
		                "sent is lost\n");
		return;
	}
	rec_folders_make(path);
	if (nccl_piece_write(path, process))
		fprintf(stderr,
		        "commplace-record: cannot write %s: %s; what NCCL sent "
		        "is lost\n",
		        path, strerror(errno));
	else
		join_in_turn(paths, process);
	free(path);
}
