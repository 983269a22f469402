/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "nccl_files.h"
#include "writer.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool nccl_is_piece(const char *name)
{
	size_t n = strlen(name), end = sizeof(NCCL_PIECE) - 1;

	return n > end && !strcmp(name + n - end, NCCL_PIECE);
}

int nccl_files_read(struct nccl_join *j, const char *folder, char *why)
{
	DIR *d = opendir(folder);
	struct dirent *entry;
	int n = 0;

	if (!d) {
		snprintf(why, NCCL_WHY, "%.400s: %s", folder, strerror(errno));
		return -1;
	}
	while (n >= 0 && (entry = readdir(d))) {
		char path[PATH_MAX];

		if (!nccl_is_piece(entry->d_name) ||
		    snprintf(path, sizeof(path), "%s/%s", folder,
		             entry->d_name) >= (int)sizeof(path))
			continue;
		if (!nccl_join_read(j, path, why))
			n++;
		else if (!access(path, F_OK))
			n = -1;
	}
	closedir(d);
	return n;
}

void nccl_files_remove(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (nccl_is_piece(entry->d_name) ||
		    !strcmp(entry->d_name, NCCL_LOCK))
			unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
	rmdir(folder);
}

/* A phase has no rows of which nothing is in it. */
static void put_row(struct rec_writer *w, const struct nccl_row *row,
                    uint64_t bytes, uint64_t messages)
{
	if (bytes || messages)
		rec_writer_row(w, row->from, row->to, bytes, messages);
}

int nccl_signature_write(const char *path, const char *name,
                         const struct nccl_row *row, int64_t n,
                         const struct nccl_facts *facts, char *why)
{
	uint64_t steps = facts->steps, in_steps = steps * facts->step_time;
	char about[512], date[REC_DATE];
	struct rec_facts f = {.name = name,
	                      .application = facts->application,
	                      .ranks = facts->ranks,
	                      .phase = steps ? "rest" : NULL,
	                      .time = (double)(facts->time > in_steps
	                                               ? facts->time - in_steps
	                                               : 0) *
	                              1e-9,
	                      .compute_time = -1,
	                      .nccl = about,
	                      .command = facts->command,
	                      .date = date,
	                      .hosts = facts->hosts,
	                      .lost_messages = facts->full};
	struct rec_writer w;

	rec_date_now(date);
	snprintf(about, sizeof(about),
	         "\"interface\": %d, \"processes\": %d, \"incomplete\": %d, "
	         "\"network_bytes\": %" PRIu64 ", \"derived_bytes\": %" PRIu64
	         ", \"unplaced_bytes\": %" PRIu64
	         ", \"dropped_bytes\": %" PRIu64 ", \"refused\": %" PRIu64
	         ", \"unknown\": %" PRIu64 ", \"foreign\": %" PRIu64
	         ", \"ambiguous\": %d",
	         facts->version, facts->processes, facts->incomplete,
	         facts->network_bytes, facts->derived_bytes, facts->unplaced,
	         facts->full_bytes, facts->refused, facts->unknown,
	         facts->foreign, facts->ambiguous);
	if (!rec_writer_open(&w, path)) {
		rec_writer_head(&w, &f);
		for (int64_t i = 0; i < n; i++)
			put_row(&w, &row[i],
			        row[i].bytes - steps * row[i].step_bytes,
			        row[i].messages - steps * row[i].step_messages);
		if (steps)
			rec_writer_phase(&w, "step", steps,
			                 (double)facts->step_time * 1e-9);
		for (int64_t i = 0; i < n && steps; i++)
			put_row(&w, &row[i], row[i].step_bytes,
			        row[i].step_messages);
		rec_writer_tail(&w, &f);
		if (!rec_writer_close(&w, 1))
			return 0;
	}
	snprintf(why, NCCL_WHY, "cannot write %.400s: %s", path,
	         strerror(w.error));
	return -1;
}
