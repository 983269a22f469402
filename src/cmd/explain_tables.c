/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What text and page of `commplace explain` have in common. */
#include "explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "routing/routing.h"
#include "site/counters.h"
#include "traffic/objective.h"

const char *explain_clean(const char *text, char buffer[CPL_ERROR_MAX])
{
	cmd_printable(text, buffer, CPL_ERROR_MAX);
	return *buffer ? buffer : "-";
}

/* A cell of a number, "-" below 0. */
#define EXPLAIN_NUMBER(value) number_cell(value, (char[32]){""})
static const char *number_cell(double value, char buffer[32])
{
	if (value < 0)
		return "-";
	snprintf(buffer, 32, "%.6g", value);
	return buffer;
}

const char *explain_change(double from, double to, char buffer[32])
{
	if (from <= 0 || to < 0)
		return "-";
	snprintf(buffer, 32, "%+.1f %%", 100 * (to - from) / from);
	return buffer;
}

static bool is_taken(const struct cpl_record *r,
                     const struct cpl_record_candidate *c)
{
	return r->policy && !strcmp(c->policy, r->policy) && c->seed == r->seed;
}

const struct cpl_record_candidate *explain_taken(const struct cpl_record *r)
{
	for (int i = 0; i < r->n_candidates; i++)
		if (is_taken(r, &r->candidate[i]))
			return &r->candidate[i];
	return NULL;
}

double explain_slowdown(const struct cpl_record *r)
{
	return r->seconds > 0 && r->alone_seconds > 0
	               ? r->seconds / r->alone_seconds
	               : 0;
}

static bool has_congestion(const struct cpl_record *r)
{
	const struct cpl_record_candidate *best = explain_taken(r);

	return best && best->evaluated && r->stock_max_congestion >= 0;
}

/* The congestion as the ranks run: mapped for the nodes that the job got, or as
 * the decision has it. < 0: in blocks. */
static double mapped_max(const struct cpl_record *r)
{
	const struct cpl_record_candidate *taken = explain_taken(r);

	if (r->outcome == CPL_OUTCOME_PLACED && r->map_max_after > 0)
		return r->map_max_after;
	return taken && taken->mapped && !r->own_order ? taken->mapped_max : -1;
}

/* Were both judged with the rank order? */
static bool has_mapped(const struct cpl_record *r)
{
	/* Records of earlier releases have no such number: it is 0. */
	return has_congestion(r) && r->stock_mapped_max > 0 &&
	       mapped_max(r) >= 0;
}

/* The congestion in blocks; for a job whose ranks were mapped, the one before
 * that. */
static double blocks_max(const struct cpl_record *r)
{
	return r->outcome == CPL_OUTCOME_PLACED && r->map_max_before > 0
	               ? r->map_max_before
	               : explain_taken(r)->max_congestion;
}

static bool has_seconds(const struct cpl_record *r)
{
	return r->outcome != CPL_OUTCOME_STOCK && r->seconds > 0 &&
	       r->stock_seconds > 0;
}

bool explain_has_compare(const struct cpl_record *r)
{
	return has_congestion(r) || has_seconds(r);
}

static void compare_row(struct cmd_table *table, const char *what, double stock,
                        double chosen)
{
	cmd_table_row(table, "%s|%s|%s|%s", what, EXPLAIN_NUMBER(stock),
	              EXPLAIN_NUMBER(chosen), EXPLAIN_CHANGE(stock, chosen));
}

/* The stock nodes as a candidate, or NULL. */
static const struct cpl_record_candidate *
judged_stock(const struct cpl_record *r)
{
	for (int i = 0; i < r->n_candidates; i++)
		if (!strcmp(r->candidate[i].policy, cpl_placement_stock.name))
			return &r->candidate[i];
	return NULL;
}

/* Both by the routing that the network states, where candidates were judged by
 * another. */
static void stated_row(const struct cpl_record *r, struct cmd_table *table)
{
	const struct cpl_record_candidate *best = explain_taken(r);
	const struct cpl_record_candidate *stock = judged_stock(r);
	char what[64];

	if (!r->stated_routing || !best || !stock ||
	    !(best->stated_max > 0 && stock->stated_max > 0))
		return;
	snprintf(what, sizeof(what), "busiest link, %.40s",
	         EXPLAIN_CLEAN(r->stated_routing));
	compare_row(table, what, stock->stated_max, best->stated_max);
}

bool explain_is_minimal(const struct cpl_record *r)
{
	const struct cpl_routing *routing;

	for (int i = 0; r->routing && (routing = cpl_routing_at(i)); i++)
		if (!strcmp(routing->name, r->routing))
			return !routing->add;
	return false;
}

struct cmd_table *explain_compare(const struct cpl_record *r)
{
	const struct cpl_record_candidate *best = explain_taken(r);
	const struct cpl_record_candidate *stock = judged_stock(r);
	struct cmd_table *table = cmd_table_new("lrrr");
	bool mapped = has_mapped(r);

	cmd_table_row(table, "congestion (s)|stock|chosen|change");
	stated_row(r, table);
	if (mapped)
		compare_row(table, "busiest link, ranks mapped",
		            r->stock_mapped_max, mapped_max(r));
	if (mapped && stock && stock->mapped && best->mapped)
		compare_row(table, "mean of all links, ranks mapped",
		            stock->mapped_mean, best->mapped_mean);
	if (has_congestion(r)) {
		compare_row(table,
		            mapped ? "busiest link, in blocks" : "busiest link",
		            r->stock_max_congestion, blocks_max(r));
		compare_row(table,
		            mapped ? "mean of all links, in blocks"
		                   : "mean of all links",
		            r->stock_mean_congestion, best->mean_congestion);
	}
	if (has_seconds(r))
		compare_row(table,
		            explain_is_minimal(r)
		                    ? "communication, minimal routing"
		                    : "communication",
		            r->stock_seconds, r->seconds);
	return table;
}

static bool any_mapped(const struct cpl_record *r)
{
	for (int i = 0; i < r->n_candidates; i++)
		if (r->candidate[i].mapped)
			return true;
	return false;
}

static bool any_seconds(const struct cpl_record *r)
{
	for (int i = 0; i < r->n_candidates; i++)
		if (r->candidate[i].seconds > 0)
			return true;
	return false;
}

struct cmd_table *explain_candidates(const struct cpl_record *r)
{
	bool timed = any_seconds(r), mapped = any_mapped(r);
	enum cpl_objective objective;
	bool others = r->objective &&
	              !cpl_objective_parse(r->objective, &objective, NULL) &&
	              cpl_objective_of_others(objective);
	bool keeps = r->keep_whole != NULL, learned = r->time_model != NULL;
	const char *first = learned ? "learned (s)" : "shared links";
	/* The column of what is broken stands before those of the harm to
	 * running jobs and of the model. */
	struct cmd_table *table =
	        cmd_table_new(others && keeps    ? "llrrrrrrrrrr"
	                      : others           ? "llrrrrrrrrr"
	                      : learned && keeps ? "llrrrrrrrrr"
	                      : keeps || learned ? "llrrrrrrrr"
	                      : timed         ? "llrrrrrrr"
	                      : mapped        ? "llrrrrr"
	                                      : "llrrrr");

	cmd_table_row(table,
	              "|policy|seed|busiest link (s)|mean (s)|hop-bytes|"
	              "mapped (s)|time (s)%s|slowdown|%s|%s|slows others",
	              explain_is_minimal(r) ? ", minimal routing" : "",
	              keeps ? "broken" : first, keeps ? first : "slows others");
	for (int i = 0; i < r->n_candidates; i++) {
		const struct cpl_record_candidate *k = &r->candidate[i];
		bool has = k->evaluated, times = k->seconds > 0;
		double shared = !times    ? -1
		                : learned ? k->learned
		                          : (double)k->shared_links;
		double slows = times ? k->slows_others : -1;

		cmd_table_row(
		        table, "%s|%s|%" PRIu64 "|%s|%s|%s|%s|%s|%s|%s|%s|%s",
		        is_taken(r, k) ? "*" : "", k->policy, k->seed,
		        EXPLAIN_NUMBER(has ? k->max_congestion : -1),
		        EXPLAIN_NUMBER(has ? k->mean_congestion : -1),
		        EXPLAIN_NUMBER(has ? k->hop_bytes : -1),
		        EXPLAIN_NUMBER(k->mapped ? k->mapped_max : -1),
		        EXPLAIN_NUMBER(times ? k->seconds : -1),
		        EXPLAIN_NUMBER(times && k->alone_seconds > 0
		                               ? k->seconds / k->alone_seconds
		                               : -1),
		        EXPLAIN_NUMBER(keeps ? (double)k->broken : shared),
		        EXPLAIN_NUMBER(keeps ? shared : slows),
		        EXPLAIN_NUMBER(slows));
	}
	return table;
}

bool explain_former(const struct cpl_record *r, char *text, size_t size)
{
	bool kept = r->policy && !strcmp(r->policy, cpl_placement_repair.name);
	double percent = 100 * r->former_worse;

	if (!r->former_hosts)
		return false;
	if (!kept)
		snprintf(text, size,
		         "was on %.300s; to keep its ranks there would be %.3g %% "
		         "worse",
		         EXPLAIN_CLEAN(r->former_hosts), percent);
	else if (percent > 0)
		snprintf(text, size,
		         "was on %.300s, where its ranks stay; a fresh plan would "
		         "be %.3g %% better",
		         EXPLAIN_CLEAN(r->former_hosts), percent);
	else
		snprintf(text, size,
		         "was on %.300s, where its ranks stay; no fresh plan is "
		         "better",
		         EXPLAIN_CLEAN(r->former_hosts));
	return true;
}

const char *explain_segment(const struct cpl_record *r)
{
	return strcmp(r->segment_from, CPL_SEGMENT_BY_SIGNATURE)
	               ? "asked for by the user (--segment)"
	               : "implied by the signature (SegmentFromSignature), a "
	                 "wish";
}

const char *explain_kept(const struct cpl_record *r, char *buffer, size_t size)
{
	int n;

	if (!r->keep_whole || !r->n_candidates)
		return NULL;
	n = snprintf(buffer, size, "%d of the wholly free units (%s) broken",
	             r->broken, EXPLAIN_CLEAN(r->keep_whole));
	if (r->price > 0 || r->broken != r->best_broken)
		snprintf(buffer + n, size - (size_t)n,
		         ", %d by %s, the best by %s alone; %.3g %% worse than "
		         "that, %d %% at most",
		         r->best_broken, EXPLAIN_CLEAN(r->best_policy),
		         EXPLAIN_CLEAN(r->objective), 100 * r->price,
		         r->keep_price);
	return buffer;
}

/* How it is known whether the order of ranks arrives. */
static const char *known_by(const struct cpl_record *r)
{
	static const char *const steps[] = {
	        [CPL_ORDER_REACHES] = "steps of such jobs of the user took it",
	        [CPL_ORDER_MAY] = "such jobs of the user have a launcher of "
	                          "their own",
	        [CPL_ORDER_NOT] = "steps of such jobs of the user did not take "
	                          "it"};
	const char *const why[][2] = {
	        {CPL_REACH_BY_USER, "the job's user states another one"},
	        {CPL_REACH_BY_SITE, "OrderReaches in commplace.conf"},
	        {CPL_REACH_BY_SRUN, "srun starts the job"},
	        {CPL_REACH_BY_STEP, steps[cpl_record_order(r)]},
	        {CPL_REACH_BY_NONE, "no step of such a job of the user has "
	                            "shown it yet"},
	};

	for (size_t i = 0; r->order_known_by && i < sizeof(why) / sizeof(*why);
	     i++)
		if (!strcmp(r->order_known_by, why[i][0]))
			return why[i][1];
	return "not said why";
}

const char *explain_reach(const struct cpl_record *r, char *buffer, size_t size)
{
	static const char *const what[] = {
	        [CPL_ORDER_REACHES] = "counted on",
	        [CPL_ORDER_MAY] = "not known to arrive",
	        [CPL_ORDER_NOT] = "not counted on"};
	static const char *const so[] = {
	        [CPL_ORDER_REACHES] = "",
	        [CPL_ORDER_MAY] = "; the nodes are good with and without "
	                          "it, and without it no worse than Slurm's",
	        [CPL_ORDER_NOT] = "; judged in blocks in Slurm's order"};
	static const char *const showed[] = {
	        [CPL_ORDER_REACHES] = "; a step of the job took it",
	        [CPL_ORDER_MAY] = "; the job has a launcher of its own",
	        [CPL_ORDER_NOT] = "; the job's steps did not take it"};
	const char *then = r->order_arrived;
	enum cpl_order order = cpl_record_order(r);

	if (!r->order_reaches)
		return NULL;
	snprintf(buffer, size, "%s (%s)%s%s", what[order], known_by(r),
	         so[order],
	         then ? showed[cpl_order_named(then)] : "");
	return buffer;
}

const char *explain_profile(const struct cpl_record *r, char *buffer,
                            size_t size)
{
	size_t n = (size_t)snprintf(buffer, size, "%s%s",
	                            EXPLAIN_CLEAN(r->profile),
	                            r->own_profile ? ", the user's own" : "");

	if (n < size && r->recorded_ranks)
		n += (size_t)snprintf(buffer + n, size - n,
		                      ", rescaled from %d ranks, fit error "
		                      "%.1f %%",
		                      r->recorded_ranks,
		                      100 * r->rescale_error);
	if (n < size && r->drift > 0)
		snprintf(buffer + n, size - n,
		         ", drifts: %.1f %% from the one before it",
		         100 * r->drift);
	return buffer;
}

struct cmd_table *explain_ranks(const struct cpl_record *r)
{
	struct cmd_table *table = cmd_table_new("ll");

	cmd_table_row(table, "ranks|host");
	for (int i = 0, j; i < r->ranks; i = j) {
		const char *host = r->host[r->rank_host[i]];

		for (j = i + 1; j < r->ranks; j++)
			if (r->rank_host[j] != r->rank_host[i])
				break;
		if (j == i + 1)
			cmd_table_row(table, "%d|%s", i, host);
		else
			cmd_table_row(table, "%d-%d|%s", i, j - 1, host);
	}
	return table;
}

/* Without a profile ranks fill the nodes as the policy lists them, unless they are
 * the user's or the scheduler has an order of its own. */
static bool as_listed(const struct cpl_record *r)
{
	bool listed = r->outcome == CPL_OUTCOME_PLACED && r->ranks > 0 &&
	              !r->own_order;

	for (int k = 1; k < r->ranks && listed; k++)
		listed = r->rank_host[k - 1] <= r->rank_host[k];
	return listed;
}

/* Where there are no numbers, nothing was compared: there is no mapper, or the
 * user has an order of their own. */
const char *explain_order(const struct cpl_record *r, char *buffer, size_t size)
{
	const char *mapper = EXPLAIN_CLEAN(r->mapping);

	if (r->mapping_kept_default && r->map_max_before <= 0)
		snprintf(buffer, size, "none: %s",
		         as_listed(r) ? "ranks in blocks on the nodes as they are above"
		                      : "the ranks are in Slurm's order");
	else if (!strcmp(mapper, cpl_mapper_linear.name))
		snprintf(buffer, size,
		         "%s: ranks in blocks on the nodes as they are above",
		         mapper);
	else if (r->mapping_kept_default)
		snprintf(buffer, size,
		         "%s: not better than the default order, which is kept",
		         mapper);
	else if (r->map_max_before >= 0 && r->map_max_after >= 0)
		snprintf(buffer, size,
		         "%s: busiest link %s s in default order, %s s mapped",
		         mapper, EXPLAIN_NUMBER(r->map_max_before),
		         EXPLAIN_NUMBER(r->map_max_after));
	else
		snprintf(buffer, size, "%s", mapper);
	return buffer;
}

/* After a stock answer, by the reason's code. */
static const struct {
	enum cpl_reason reason;
	const char *next;
} advice[] = {
        {CPL_REASON_OBSERVE,
         "Mode=observe only tells: with Mode=on in commplace.conf such jobs "
         "are placed"},
        {CPL_REASON_MIN_NODES,
         "jobs of fewer nodes than MinNodes are Slurm's; commplace.conf may "
         "set it per partition"},
        {CPL_REASON_OPTION,
         "without that option commplace chooses the nodes"},
        {CPL_REASON_NODES,
         "nodes that the network file lacks are not ours to choose: "
         "slurmctld's log lists them"},
        {CPL_REASON_REQUIRED,
         "-w asked for a node that is not free, or that the network file "
         "lacks"},
        {CPL_REASON_NO_PROFILE,
         "give the job a profile, --comm-profile=NAME: `commplace signature "
         "list`"},
        {CPL_REASON_MISSING,
         "`commplace signature list` shows the profiles that there are; "
         "`commplace record` makes one"},
        {CPL_REASON_RANKS,
         "the profile is for another number of ranks: `commplace signature "
         "show` tells, `commplace record` makes one for this number"},
        {CPL_REASON_BROKEN,
         "`commplace signature check` says what is wrong with the profile"},
        {CPL_REASON_LATE,
         "the profile was still being read; the next job with it finds it in "
         "memory"},
        {CPL_REASON_REFUSED,
         "Slurm did not take the nodes chosen: what the job asks for (CPUs, "
         "memory, GRES) is not on enough of them"},
        {CPL_REASON_BUSY,
         "slurmctld had no time left for placements then: MaxPassTime, and "
         "`commplace status --counters`"},
        {CPL_REASON_SILENT,
         "by its profile only ranks of the same node talk: all nodes are as "
         "good"},
        {CPL_REASON_FAILED,
         "slurmctld's log says more; `commplace status --counters` how often "
         "this happens"},
};

int explain_next(const struct cpl_record *r,
                 char line[EXPLAIN_NEXT][CPL_ERROR_MAX])
{
	double slowdown = explain_slowdown(r);
	int n = 0;

	for (size_t i = 0; i < sizeof(advice) / sizeof(advice[0]); i++)
		if (r->outcome != CPL_OUTCOME_PLACED && r->reason_code &&
		    !strcmp(r->reason_code, cpl_reason_name(advice[i].reason)))
			snprintf(line[n++], CPL_ERROR_MAX, "%s",
			         advice[i].next);
	if (r->cut_short)
		snprintf(line[n++], CPL_ERROR_MAX,
		         "the search was cut short: a larger MaxDecisionTime "
		         "may find a better answer");
	if (slowdown >= 1.05)
		snprintf(line[n++], CPL_ERROR_MAX,
		         "others make it communicate %.2f times as long: "
		         "`commplace status --links` shows who loads what",
		         slowdown);
	return n;
}

const char *explain_state(const struct explained *e, char line[128])
{
	if (!e->replay || e->state || !e->record->n_background)
		return NULL;
	snprintf(line, 128,
	         "`commplace explain %" PRId64 " --state " EXPLAIN_STATE
	         "` writes the jobs that ran then.",
	         e->record->job);
	return line;
}

struct cmd_table *explain_facts(const struct cpl_record *r)
{
	struct cmd_table *table = cmd_table_new("ll");
	char kept[3 * CPL_ERROR_MAX];
	char *hosts = cpl_hostlist_format(r->host, r->n_hosts);

	cmd_table_row(table, "what|");
	if (r->reason && *r->reason)
		cmd_table_row(table, "reason|%s", r->reason);
	cmd_table_row(table, "asked for|%s",
	              r->policy_asked ? r->policy_asked : "-");
	cmd_table_row(table, "objective|%s", r->objective ? r->objective : "-");
	if (explain_kept(r, kept, sizeof(kept)))
		cmd_table_row(table, "kept whole|%s", kept);
	if (r->kept)
		cmd_table_row(table, "constraints|%s", r->kept);
	if (r->segment_from)
		cmd_table_row(table, "segments|%s", explain_segment(r));
	if (explain_former(r, kept, sizeof(kept)))
		cmd_table_row(table, "its run before|%s", kept);
	if (explain_reach(r, kept, sizeof(kept)))
		cmd_table_row(table, "rank order|%s", kept);
	cmd_table_row(table, "routing|%s", r->routing ? r->routing : "-");
	cmd_table_row(table, "network|%s",
	              r->network_file ? r->network_file : "-");
	cmd_table_row(table, "running jobs that counted|%" PRId64,
	              r->n_background);
	cmd_table_row(table, "%s|%s",
	              r->outcome == CPL_OUTCOME_OBSERVED ? "would take" : "nodes",
	              hosts ? hosts : "?");
	if (r->stock_hosts && *r->stock_hosts)
		cmd_table_row(table, "stock Slurm|%s", r->stock_hosts);
	free(hosts);
	return table;
}
