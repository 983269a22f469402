/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "options.h"
#include "run_events.h"
#include "signature/phases/predict.h"

struct options {
	const char *output, *name, *application;
	double min_rounds, similarity, relevant; /* percent */
	double times;
	int64_t calls;                           /* rank; -1: none */
	bool json;
};

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	const struct cmd_option table[] = {
	        {"output", .text = &o->output},
	        {"name", .text = &o->name},
	        {"application", .text = &o->application},
	        {"min-rounds", .number = &o->min_rounds, .least = 2,
	         .most = 1e9},
	        {"similarity", .number = &o->similarity, .least = 1,
	         .most = 1e9},
	        {"relevant", .number = &o->relevant, .least = 0, .most = 100},
	        {"times", .number = &o->times, .least = 1e-6, .most = 1e9},
	        {"calls", .integer = &o->calls, .low = 0,
	         .high = CPL_SIGNATURE_MAX_RANKS - 1},
	        {"json", .flag = &o->json},
	        {0},
	};

	return cmd_options(self, argc, argv, table, CMD_WORDS);
}

/* Seconds of the phases of either kind. */
static double time_of(const struct cpl_signature *sig, enum cpl_phase_kind one,
                      enum cpl_phase_kind other)
{
	double time = 0;

	for (int i = 0; i < sig->n_phases; i++) {
		enum cpl_phase_kind kind = cpl_phase_kind_of(sig->phase[i].name);

		if (kind == one || kind == other)
			time += sig->phase[i].weight * sig->phase[i].time;
	}
	return time;
}

/* Seconds of what no phase explains. */
static double unexplained(const struct cpl_signature *sig)
{
	return time_of(sig, CPL_PHASE_REST, CPL_PHASE_REST);
}

/* Seconds before and after the steps. */
static double at_edges(const struct cpl_signature *sig)
{
	return time_of(sig, CPL_PHASE_START, CPL_PHASE_START_LOOP) +
	       time_of(sig, CPL_PHASE_END, CPL_PHASE_END_LOOP);
}

void signature_print_interval(const struct cpl_foreseen *run)
{
	if (run->high > run->low)
		printf("Between %.2f and %.2f s: a longer run may have as much "
		       "or more of what is in no phase,\nand of loops before "
		       "and after the steps\n",
		       run->low, run->high);
}

int signature_print_pet(const struct cpl_signature *sig)
{
	struct cmd_table *t = cmd_table_new("lrrrrrr");
	double pet = 0;

	cmd_table_row(t, "PHASE|W|COMM|COMP|PHASE_ET|W x PHASE_ET|SHARE");
	for (int i = 0; i < sig->n_phases; i++)
		pet += sig->phase[i].weight * sig->phase[i].time;
	for (int i = 0; i < sig->n_phases; i++) {
		const struct cpl_phase *p = &sig->phase[i];
		double all = p->weight * p->time;

		cmd_table_row(t, "%s|%g|%.2f|%.2f|%.4g|%.2f|%.1f %%", p->name,
		              p->weight, p->weight * cpl_phase_communication(p),
		              p->weight * p->compute_time, p->time, all,
		              100 * all / pet);
	}
	if (cmd_table_print(t))
		return CMD_FAILED;
	printf("COMM, COMP and W x PHASE_ET are seconds of the whole run: mean "
	       "of its ranks.\nPET, the sum of W x PHASE_ET: %.2f s\n",
	       pet);
	if (at_edges(sig) > 0)
		printf("Before and after the steps (start, end): %.2f s, "
		       "%.1f %% of it\n",
		       at_edges(sig), 100 * at_edges(sig) / pet);
	if (unexplained(sig) > 0)
		printf("In no phase, so not known to repeat (rest): %.2f s, "
		       "%.1f %% of it\n",
		       unexplained(sig), 100 * unexplained(sig) / pet);
	return CMD_OK;
}

/* Table II of the paper: the calls of each phase in one rank. */
static int print_calls(const struct cpl_phases *p, int i, struct cpl_error *err)
{
	const struct cpl_run_events *e = p->events;

	for (int k = 0; k < p->n - 1; k++) {
		struct cpl_phase_call *call;
		int n = cpl_phase_calls(p, k, i, &call, err);
		struct cmd_table *t;

		if (n < 0)
			return -1;
		if (!n)
			continue;
		printf("\n%s in rank %d, each of %g rounds:\n",
		       p->phase[k].name, e->rank[i].rank, p->phase[k].rank[i].rounds);
		t = cmd_table_new("llrrrr");
		cmd_table_row(t, "CALL|PARTNER|COUNT|BYTES|COMP ns|CALL ns");
		for (int c = 0; c < n; c++) {
			char partner[48] = "-";

			if (call[c].partners > 1)
				snprintf(partner, sizeof(partner), "%d and %d",
				         call[c].partner, call[c].partners - 1);
			else if (call[c].partner >= 0)
				snprintf(partner, sizeof(partner), "%d",
				         call[c].partner);
			cmd_table_row(t, "MPI_%s|%s|%.4g|%.0f|%.0f|%.0f",
			              e->function[call[c].function], partner,
			              call[c].count, call[c].bytes,
			              call[c].compute * 1e9,
			              call[c].duration * 1e9);
		}
		free(call);
		if (cmd_table_print(t))
			return cpl_fail_memory(err);
	}
	return 0;
}

static json_t *ranks_json(const struct cpl_phases *p, int k)
{
	json_t *list = json_array();

	for (int i = 0; i < p->events->n; i++) {
		const struct cpl_phase_rank *r = &p->phase[k].rank[i];

		cpl_json_append(list, "{s:i, s:f, s:f, s:f}", "rank",
		                p->events->rank[i].rank, "rounds", r->rounds,
		                "compute_time", r->compute,
		                "communication_time", r->communication);
	}
	return list;
}

static int print_json(const struct cmd *self, const struct options *o,
                      const struct cpl_phases *p,
                      const struct cpl_signature *sig)
{
	struct cpl_foreseen run = cpl_foresee(sig, o->times);
	json_t *list = json_array();
	double pet = 0;

	for (int k = 0; k < p->n; k++) {
		const struct cpl_phase *phase = &sig->phase[k];

		pet += phase->weight * phase->time;
		cpl_json_append(list, "{s:s, s:f, s:f, s:f, s:o}", "name",
		                phase->name, "weight", phase->weight, "time",
		                phase->time, "compute_time",
		                phase->compute_time, "ranks", ranks_json(p, k));
	}
	return cmd_print_pack(
	        self,
	        "{s:s, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, "
	        "s:o}",
	        "name", sig->name, "ranks", sig->ranks, "pet", pet,
	        "unexplained", pet > 0 ? unexplained(sig) / pet : 0, "edges",
	        pet > 0 ? at_edges(sig) / pet : 0, "times", o->times,
	        "foreseen", run.time, "foreseen_low", run.low, "foreseen_high",
	        run.high, "phases", list);
}

static int find_rank(const struct cpl_run_events *e, int rank,
                     struct cpl_error *err)
{
	for (int i = 0; i < e->n; i++)
		if (e->rank[i].rank == rank && e->rank[i].has_events)
			return i;
	return cpl_fail(err, "--calls %d: no events of that rank", rank);
}

static int report(const struct cmd *self, const struct options *o,
                  const struct cpl_phases *p, const struct cpl_signature *sig)
{
	struct cpl_error err = {""};
	int i = 0;

	if (o->calls >= 0) {
		i = find_rank(p->events, (int)o->calls, &err);
		if (i < 0)
			return cmd_fail(self, &err);
	}
	if (o->output && cpl_signature_write(sig, o->output, &err))
		return cmd_fail(self, &err);
	if (o->json)
		return print_json(self, o, p, sig);
	if (signature_print_pet(sig))
		return CMD_FAILED;
	if (o->times != 1) {
		struct cpl_foreseen run = cpl_foresee(sig, o->times);

		printf("PET of %g times the steps: %.2f s\n", o->times,
		       run.time);
		signature_print_interval(&run);
	}
	if (o->calls >= 0 && print_calls(p, i, &err))
		return cmd_fail(self, &err);
	return CMD_OK;
}

void signature_default_name(const char *path,
                            char name[CPL_PROFILE_NAME_MAX + 1])
{
	const char *base = cpl_path_base(path), *dot = strrchr(base, '.');

	snprintf(name, CPL_PROFILE_NAME_MAX + 1, "%.*s",
	         (int)(dot && dot > base ? (size_t)(dot - base) : strlen(base)),
	         base);
}

int signature_phases(const struct cmd *self, int argc, char **argv)
{
	struct cpl_phase_options found = CPL_PHASE_OPTIONS;
	struct options o = {.min_rounds = found.min_rounds,
	                    .similarity = found.similarity,
	                    .relevant = 100 * found.relevant,
	                    .times = 1,
	                    .calls = -1};
	struct cpl_error err = {""};
	struct cpl_run_events *events;
	struct cpl_phases *phases = NULL;
	struct cpl_signature *sig = NULL;
	char name[CPL_PROFILE_NAME_MAX + 1];
	int rc = parse(self, argc, argv, &o);

	if (rc)
		return rc;
	if (optind == argc)
		return cmd_usage(self, "phases: which file of events?");
	signature_default_name(o.output ? o.output : argv[optind], name);
	if (o.name && cpl_signature_text_check("--name", o.name, &err))
		return cmd_fail(self, &err);
	if (o.application && cpl_signature_text_check("--application",
	                                              o.application, &err))
		return cmd_fail(self, &err);
	found = (struct cpl_phase_options){o.min_rounds, o.similarity,
	                                   o.relevant / 100};
	events = cmd_run_events((const char *const *)argv + optind,
	                        argc - optind, &err);
	if (events)
		phases = cpl_phases_find(events, &found, &err);
	if (phases)
		sig = cpl_phases_signature(events, phases,
		                           o.name ? o.name : name,
		                           o.application, &err);
	rc = sig ? report(self, &o, phases, sig) : cmd_fail(self, &err);
	cpl_signature_free(sig);
	cpl_phases_free(phases);
	cpl_run_events_free(events);
	return rc;
}
