/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commplace command: one file per subcommand, its text in help/, one line
 * in the table of main.c. Exit 0 success, 1 refused input or failed work (one
 * line on stderr), 2 wrong usage.
 */
#pragma once

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/hostlist.h"
#include "base/json.h"
#include "network/network.h"
#include "signature/signature.h"

/* --profile-dir without a configuration: the default of commplace.conf. */
#define CMD_PROFILE_DIR "/var/lib/commplace/profiles"

/* Exit codes; CMD_HELPED, for main alone, is success after --help. */
enum { CMD_HELPED = -1, CMD_OK = 0, CMD_FAILED = 1, CMD_USAGE = 2 };

struct cmd {
	const char *name; /* with a text of its own: src/cmd/help/NAME.txt */
	/* argv[0] is the subcommand's name. An exit code or CMD_HELPED. Whether
	 * standard output was written is looked at afterwards. */
	int (*run)(const struct cmd *self, int argc, char **argv);
};

extern const struct cmd cmd_bench, cmd_interleave, cmd_benefit, cmd_campaign, cmd_characterize, cmd_network, cmd_signature, cmd_traffic, cmd_compare,
	cmd_place, cmd_map, cmd_bind, cmd_config, cmd_doctor, cmd_record, cmd_explain,
	cmd_replay, cmd_segment, cmd_simulate, cmd_status, cmd_features, cmd_learn,
	cmd_predict_time, cmd_note;

/* "commplace NAME: text" on stderr; returns CMD_FAILED. */
int cmd_fail(const struct cmd *self, const struct cpl_error *err);
int cmd_failf(const struct cmd *self, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int cmd_fail_memory(const struct cmd *self); /* "out of memory" */
/* The same with a pointer to --help; returns CMD_USAGE. */
int cmd_usage(const struct cmd *self, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Whole-text numbers within [low, high]; -1 with err naming the option. */
int cmd_int(const char *option, const char *text, int64_t low, int64_t high,
	    int64_t *out, struct cpl_error *err);
int cmd_number(const char *option, const char *text, double low, double high,
	       double *out, struct cpl_error *err);

/* Such numbers with "," between them, the first `most` of them into out; how
 * many there are, or -1. */
int cmd_int_list(const char *option, const char *text, int low, int high,
		 int *out, int most, struct cpl_error *err);

/* Files that a command writes besides its answer, all of them or none; path
 * NULL: none. */
struct cmd_file {
	const char *path;
	struct cpl_file_writer *writer; /* of cmd_files_open; NULL: no path */
};

/* 0, or -1 with err, and none is open. */
int cmd_files_open(struct cmd_file *file, int n, struct cpl_error *err);
/* rc 0: put them in place; else drop them. rc, or -1 with err. */
int cmd_files_close(struct cmd_file *file, int n, int rc,
                    struct cpl_error *err);

/*
 * Print one JSON object and a newline on stdout, sorted as built, reals with
 * 17 significant digits, text by cpl_printable_json. Takes the reference. Returns an exit code.
 */
int cmd_print_json(const struct cmd *self, json_t *root);
/* The same of what json_pack makes of these. */
int cmd_print_pack(const struct cmd *self, const char *format, ...);

/*
 * Aligned tables on stdout: columns are as wide as their widest cell. align is
 * one of "l" and "r" per column and must outlive the table. A row is a format
 * of printf (%s %c %d %u %ld %lu %e %f %g) with "|" between its cells; cells
 * behind the last column are left out. Memory that is out shows at the end:
 * cmd_table_print says so on stderr and returns CMD_FAILED; a NULL table is
 * taken by all.
 */
struct cmd_table;
struct cmd_table *cmd_table_new(const char *align);
void cmd_table_row(struct cmd_table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int cmd_table_print(struct cmd_table *table); /* and free it */
void cmd_table_free(struct cmd_table *table);
/* Its cells, for who draws it otherwise. False: memory was out. */
struct cmd_cells {
	int rows, columns;
	char *const *cell; /* [rows * columns], printable; row 0 is the head */
	const char *align;
};
bool cmd_table_cells(const struct cmd_table *table, struct cmd_cells *out);

/*
 * --signature: a path when it holds a "/" or ends in ".json", else the name of
 * a profile in profile_dir (NULL: the user's own store, then the configured
 * one), NAME@RANKS one of several sizes. The caller frees it.
 */
struct cpl_signature *cmd_load_signature(const char *text,
					 const char *profile_dir,
					 struct cpl_error *err);

/*
 * The traffic that is evaluated: phase NULL is the whole run, else one
 * execution of the phase of that name (refused with the names there are). The
 * caller frees it with cpl_comm_free.
 */
struct cpl_comm *cmd_comm(const struct cpl_signature *sig, const char *phase,
			  struct cpl_error *err);

/*
 * Call take() with each line of a file and its number, but for blanks around
 * it, "#" comments and lines in which nothing else is; -1 from it ends that.
 * 0, or -1 with err.
 */
typedef int cmd_line(void *arg, const char *path, int number, const char *line,
		     struct cpl_error *err);
int cmd_each_line(const char *path, cmd_line *take, void *arg,
		  struct cpl_error *err);

/*
 * Node ids of the hosts of a Slurm hostlist, or where text is NULL of a node or
 * hosts file: one host name a line, in rank order; blank lines and "#" comments
 * are skipped; at least one host. The caller frees them, *n of them. NULL with
 * err naming the option, or FILE:LINE, and the host that the network does not
 * have.
 */
int *cmd_hosts(const struct cpl_network *net, const char *option,
               const char *text, const char *file, int *n,
               struct cpl_error *err);
/* The same, and each host only once. */
int *cmd_hosts_once(const struct cpl_network *net, const char *option,
                    const char *text, const char *file, int *n,
                    struct cpl_error *err);

/*
 * The different nodes of node[n], which ranks are on, in the order of their first
 * ranks, into host[n], and which of these each rank is on into rank_host[n]. How
 * many; -1 with err: memory. O(nodes of the network + n).
 */
int cmd_rank_hosts(const struct cpl_network *net, const int *node, int n,
                   int *host, int *rank_host, struct cpl_error *err);

/* The other way: host names of nodes as a JSON array, and as a hostlist for
 * the caller to free; NULL: memory. */
json_t *cmd_hosts_json(const struct cpl_network *net, const int *node, int n);
char *cmd_hosts_text(const struct cpl_network *net, const int *node, int n);

/* "1.25 GB"-like text (powers of 1000) into buf, which it returns, or in
 * memory of the block around it. */
#define CMD_BYTES_MAX 16
char *cmd_bytes(double bytes, char buf[CMD_BYTES_MAX]);
#define CMD_BYTES(bytes) cmd_bytes(bytes, (char[CMD_BYTES_MAX]){""})

/* Text of users and files (NULL: "") as it may be shown (cpl_printable), cut
 * where it is longer than buffer, which is returned. */
char *cmd_printable(const char *text, char *buffer, size_t size);

/* Such text, cut at CPL_ERROR_MAX, as a field of a table and the comma after it: its
 * own commas and ends of lines would be others' fields. */
void cmd_write_field(FILE *out, const char *text);
