/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hostlist.h"
#include "base/printable.h"

/* Text of users and files: no control characters on a terminal. */
static const char *clean(const char *text, char buffer[CPL_ERROR_MAX])
{
	snprintf(buffer, CPL_ERROR_MAX, "%s", text ? text : "");
	return *buffer ? cpl_printable(buffer) : "-";
}
#define CLEAN(text) clean(text, (char[CPL_ERROR_MAX]){""})

static const char *number(double value, char buffer[32])
{
	if (value < 0)
		return "-";
	snprintf(buffer, 32, "%.6g", value);
	return buffer;
}
#define NUMBER(value) number(value, (char[32]){""})

static const char *change(double from, double to, char buffer[32])
{
	if (from <= 0 || to < 0)
		return "-";
	snprintf(buffer, 32, "%+.1f %%", 100 * (to - from) / from);
	return buffer;
}
#define CHANGE(from, to) change(from, to, (char[32]){""})

static bool is_taken(const struct cpl_record *r,
                     const struct cpl_record_candidate *c)
{
	return r->policy && !strcmp(c->policy, r->policy) && c->seed == r->seed;
}

static const struct cpl_record_candidate *taken(const struct cpl_record *r)
{
	for (int i = 0; i < r->n_candidates; i++)
		if (is_taken(r, &r->candidate[i]))
			return &r->candidate[i];
	return NULL;
}

static void print_head(const struct cpl_record *r, bool ended)
{
	bool reason = r->reason && *r->reason;
	char when[64] = "-";
	time_t t = (time_t)r->time;
	struct tm tm;

	if (gmtime_r(&t, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	printf("Job %" PRId64, r->job);
	if (r->shown_as)
		printf(" = %s", CLEAN(r->shown_as));
	printf(" (%s), user id %" PRIu32 ", partition %s, %s\n",
	       CLEAN(r->job_name), r->uid, CLEAN(r->partition),
	       ended ? "ended" : "running");
	printf("decided      %s in %.3g ms%s\n", when, r->decision_ms,
	       r->cut_short ? ", cut short by MaxDecisionTime" : "");
	printf("outcome      %s%s%s\n", cpl_outcome_name(r->outcome),
	       reason ? ": " : "", reason ? CLEAN(r->reason) : "");
	printf("profile      %s\n", CLEAN(r->profile));
	printf("policy       %s", CLEAN(r->policy));
	if (taken(r))
		printf(", seed %" PRIu64, r->seed);
	printf(" (asked: %s)\n", CLEAN(r->policy_asked));
	printf("objective    %s, routing %s\n", CLEAN(r->objective),
	       CLEAN(r->routing));
	printf("network      %s\n", CLEAN(r->network_file));
	printf("background   ");
	for (int64_t i = 0; i < r->n_background; i++)
		printf("%s%" PRId64,
		       i                     ? ", "
		       : r->n_background > 1 ? "jobs "
		                             : "job ",
		       r->background[i]);
	printf("%s\n", r->n_background ? "" : "no running job with a profile");
}

static int print_hosts(const struct cmd *self, const struct cpl_record *r)
{
	char *hosts = cpl_hostlist_format(r->host, r->n_hosts);

	if (!hosts)
		return cmd_failf(self, "out of memory");
	printf("%-12s %s (%d)\n",
	       r->outcome == CPL_OUTCOME_PLACED ? "nodes" : "would take", hosts,
	       r->n_hosts);
	if (r->stock_hosts && *r->stock_hosts)
		printf("stock Slurm  %s\n", r->stock_hosts);
	free(hosts);
	return CMD_OK;
}

/* Ours against stock, then all candidates. */
static int print_numbers(const struct cpl_record *r)
{
	const struct cpl_record_candidate *best = taken(r);
	struct cmd_table *table;

	if (best && best->evaluated && r->stock_max_congestion >= 0) {
		double max = r->stock_max_congestion;
		double mean = r->stock_mean_congestion;

		table = cmd_table_new("lrrr");
		cmd_table_row(table, "congestion (s)|stock|chosen|change");
		cmd_table_row(table, "busiest link|%s|%s|%s", NUMBER(max),
		              NUMBER(best->max_congestion),
		              CHANGE(max, best->max_congestion));
		cmd_table_row(table, "mean of all links|%s|%s|%s", NUMBER(mean),
		              NUMBER(best->mean_congestion),
		              CHANGE(mean, best->mean_congestion));
		putchar('\n');
		if (cmd_table_print(table))
			return CMD_FAILED;
	}
	if (!r->n_candidates)
		return CMD_OK;
	printf("\nCandidates\n");
	table = cmd_table_new("llrrrr");
	cmd_table_row(table, "|policy|seed|busiest link (s)|mean (s)|"
	                     "hop-bytes");
	for (int i = 0; i < r->n_candidates; i++) {
		const struct cpl_record_candidate *k = &r->candidate[i];
		bool has = k->evaluated;

		cmd_table_row(table, "%s|%s|%" PRIu64 "|%s|%s|%s",
		              is_taken(r, k) ? "*" : "", k->policy, k->seed,
		              NUMBER(has ? k->max_congestion : -1),
		              NUMBER(has ? k->mean_congestion : -1),
		              NUMBER(has ? k->hop_bytes : -1));
	}
	return cmd_table_print(table);
}

/* Whose order the ranks are in. Without numbers nothing was compared: there is
 * no mapper, or the user has an order of their own. */
static void print_order(const struct cpl_record *r)
{
	if (r->mapping_kept_default && r->map_max_before <= 0) {
		printf("\nmapping      none: the ranks are in Slurm's order\n");
		return;
	}
	printf("\nmapping      %s", CLEAN(r->mapping));
	if (r->mapping_kept_default)
		printf(": not better than the default order, which is kept\n");
	else if (r->map_max_before >= 0 && r->map_max_after >= 0)
		printf(": busiest link %s s in default order, %s s mapped\n",
		       NUMBER(r->map_max_before), NUMBER(r->map_max_after));
	else
		printf("\n");
}

static int print_mapping(const struct cpl_record *r)
{
	struct cmd_table *table;

	if (!r->ranks)
		return CMD_OK;
	print_order(r);
	table = cmd_table_new("ll");
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
	return cmd_table_print(table);
}

int explain_text(const struct cmd *self, const struct cpl_record *r, bool ended,
                 const char *replay)
{
	print_head(r, ended);
	if ((r->n_hosts && print_hosts(self, r)) || print_numbers(r) ||
	    print_mapping(r))
		return CMD_FAILED;
	if (replay)
		printf("\nTo repeat the decision:\n  %s\n", replay);
	return CMD_OK;
}
