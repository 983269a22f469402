/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/parallel.h"
#include "mapping/mapping.h"

/* More cores than a node has. */
#define MAX_PER_RANK 65536

const struct commplace_options cpl_lib_defaults = {
        .seed = 1,
        .threads = 1,
        .seconds = -1,
        .per_rank = 1,
};

struct commplace_options *commplace_options_new(struct commplace_error *err)
{
	struct commplace_options *options = malloc(sizeof(*options));

	if (options)
		*options = cpl_lib_defaults;
	else
		cpl_fail_memory(cpl_lib_error(err));
	return options;
}

void commplace_options_free(struct commplace_options *options)
{
	if (!options)
		return;
	cpl_free_all(options->routing, options->mapping, options->free_node,
	             options);
}

static int keep_name(char **into, const char *name, struct commplace_error *err)
{
	char *copy = strdup(name);

	if (!copy)
		return cpl_fail_memory(cpl_lib_error(err));
	free(*into);
	*into = copy;
	return 0;
}

int commplace_options_routing(struct commplace_options *options,
                              const char *name, struct commplace_error *err)
{
	return keep_name(&options->routing, name, err);
}

int commplace_options_rank_mapping(struct commplace_options *options,
                                   const char *algorithm,
                                   struct commplace_error *err)
{
	if (!cpl_mapper_find(algorithm, cpl_lib_error(err)))
		return -1;
	return keep_name(&options->mapping, algorithm, err);
}

int commplace_options_raw(struct commplace_options *options, bool raw,
                          struct commplace_error *err)
{
	options->raw = raw;
	return 0;
}

int commplace_options_objective(struct commplace_options *options,
                                const char *name, struct commplace_error *err)
{
	enum cpl_objective objective;

	if (cpl_objective_parse(name, &objective, cpl_lib_error(err)))
		return -1;
	if (objective == CPL_OBJECTIVE_LEARNED)
		return cpl_fail(cpl_lib_error(err),
		                "objective learned goes by a model, which the "
		                "library does not read");
	options->objective = objective;
	return 0;
}

int commplace_options_seed(struct commplace_options *options, uint64_t seed,
                           struct commplace_error *err)
{
	options->seed = seed;
	return 0;
}

static int take_number(const char *what, int value, int most, int *into,
                       struct commplace_error *err)
{
	if (value < 1 || value > most)
		return cpl_fail(cpl_lib_error(err), "%s: %d is outside 1 .. %d",
		                what, value, most);
	*into = value;
	return 0;
}

int commplace_options_threads(struct commplace_options *options, int threads,
                              struct commplace_error *err)
{
	return take_number("threads", threads, CPL_PARALLEL_MAX,
	                   &options->threads, err);
}

int commplace_options_seconds(struct commplace_options *options, double seconds,
                              struct commplace_error *err)
{
	if (!(seconds >= 0) || isinf(seconds))
		return cpl_fail(cpl_lib_error(err), "seconds: %g is not a time",
		                seconds);
	options->seconds = seconds;
	return 0;
}

int commplace_options_background(struct commplace_options *options,
                                 const struct commplace_traffic *background,
                                 struct commplace_error *err)
{
	options->background = background;
	return 0;
}

int commplace_options_free_nodes(struct commplace_options *options,
                                 const int *node, int n,
                                 struct commplace_error *err)
{
	int *copy;

	if (n < 1)
		return cpl_fail(cpl_lib_error(err),
		                "free nodes: none are given");
	copy = malloc((size_t)n * sizeof(*copy));
	if (!copy)
		return cpl_fail_memory(cpl_lib_error(err));
	memcpy(copy, node, (size_t)n * sizeof(*copy));
	free(options->free_node);
	options->free_node = copy;
	options->n_free = n;
	return 0;
}

int commplace_options_cores_per_rank(struct commplace_options *options,
                                     int cores, struct commplace_error *err)
{
	if (take_number("cores per rank", cores, MAX_PER_RANK,
	                &options->per_rank, err))
		return -1;
	options->by_cpu = false;
	return 0;
}

int commplace_options_cpus_per_rank(struct commplace_options *options, int cpus,
                                    struct commplace_error *err)
{
	if (take_number("CPUs per rank", cpus, MAX_PER_RANK, &options->per_rank,
	                err))
		return -1;
	options->by_cpu = true;
	return 0;
}

static bool expired(void *arg)
{
	return cpl_clock() > ((struct cpl_lib_deadline *)arg)->end;
}

cpl_lib_expired *cpl_lib_start(const struct commplace_options *options,
                               struct cpl_lib_deadline *deadline)
{
	if (options->seconds < 0)
		return NULL;
	deadline->end = cpl_clock() + options->seconds;
	return expired;
}
