/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of `commplace map`. */
#pragma once

#include "cmd.h"
#include "job_inputs.h"
#include "mapping/mapping.h"

enum map_format {
	MAP_TABLE,
	MAP_JSON,
	MAP_HOSTFILE,
	MAP_RANKFILE,
	MAP_MACHINEFILE,
	MAP_MPICH,
	MAP_SLURM,
	MAP_TORCHRUN,
	MAP_RAY,
};

/* A layout, with all that its output says. */
struct mapped {
	const char *algorithm; /* as asked for */
	int n_hosts;
	int *host;   /* [n_hosts] node ids */
	int *slots;  /* [n_hosts] */
	int *weight; /* [ranks] or NULL */
	struct cpl_rank_grid groups;
	const struct cpl_rank_grid *grid; /* of groups, or NULL: not known */
	struct cpl_map_request request;
	struct cpl_map_result result;
	int processes; /* of each rank, a task where it is more than 1 */
	double seconds;
};

/*
 * Print the layout, or write it to the file `output` (NULL: standard output)
 * whole or not at all. Returns an exit code.
 */
int map_write(const struct cmd *self, enum map_format format,
              const char *output, const struct job_inputs *in,
              const struct mapped *m);

/* Write an object to that file, or print it (NULL). Takes the reference. Returns an
 * exit code. */
int map_write_json(const struct cmd *self, json_t *root, const char *output);

/* What launchers of frameworks read, format MAP_TORCHRUN or MAP_RAY. 0, or -1 with
 * err (memory; a layout that torchrun cannot have). */
int map_write_framework(FILE *to, enum map_format format,
                        const struct job_inputs *in, const struct mapped *m,
                        struct cpl_error *err);

/* --repair: texts of options. */
struct map_repair {
	const char *old, *failed, *free; /* free NULL: all others */
	enum map_format format;
	const char *output;
};

/* Reads the layout `old` into m, whose request has the seed, gives the ranks of
 * failed hosts other ones, and prints it with what that costs beside a fresh plan.
 * Returns an exit code. */
int map_repair(const struct cmd *self, const struct map_repair *how,
               const struct job_inputs *in, struct mapped *m);

/* --rank-weights: one whole number a line, # comments, as many as ranks. NULL
 * with err naming file and line. Free it. */
int *map_read_weights(const char *path, int ranks, struct cpl_error *err);

/*
 * SVG of the communication matrix in rank order and with ranks ordered by the
 * hosts they are on, before and after: what lies near the diagonal stays on a
 * host or near it. Log scale; large matrices in blocks, each with its bytes.
 * 0, or -1 with err. O(entries + MAP_PLOT_CELLS^2).
 */
#define MAP_PLOT_CELLS 128
int map_plot(const char *path, const char *title, const struct job_inputs *in,
             const struct mapped *m, struct cpl_error *err);

/*
 * Run the mappers of `names` ("all", or names with commas between) on one
 * request, each as it is: without the refinement and the comparison with the
 * default order that cpl_map adds. Prints a table, or one JSON object. `start`
 * is called before each mapper with the request's expired_arg, to set its
 * budget; NULL: none. Returns an exit code.
 */
int map_compare(const struct cmd *self, const struct cpl_map_request *req,
                const char *names, bool json, void (*start)(void *arg));
