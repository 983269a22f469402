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
static const char *clean(const char *text, char *buffer, size_t size)
{
	snprintf(buffer, size, "%s", text ? text : "");
	return *buffer ? cpl_printable(buffer) : "-";
}

static char *number(double value, char *buffer, size_t size)
{
	if (value < 0)
		snprintf(buffer, size, "-");
	else
		snprintf(buffer, size, "%.6g", value);
	return buffer;
}

static void change(double from, double to, char *buffer, size_t size)
{
	if (from <= 0 || to < 0)
		snprintf(buffer, size, "-");
	else
		snprintf(buffer, size, "%+.1f %%", 100 * (to - from) / from);
}

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
	char when[64] = "-", a[256], b[256], reason[CPL_ERROR_MAX];
	time_t t = (time_t)r->time;
	struct tm tm;

	if (gmtime_r(&t, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	printf("Job %" PRId64, r->job);
	if (r->shown_as)
		printf(" = %s", clean(r->shown_as, a, sizeof(a)));
	printf(" (%s), user id %" PRIu32 ", partition %s, %s\n",
	       clean(r->job_name, a, sizeof(a)), r->uid,
	       clean(r->partition, b, sizeof(b)), ended ? "ended" : "running");
	printf("decided      %s in %.3g ms%s\n", when, r->decision_ms,
	       r->cut_short ? ", cut short by MaxDecisionTime" : "");
	printf("outcome      %s%s%s\n", cpl_outcome_name(r->outcome),
	       r->reason && *r->reason ? ": " : "",
	       r->reason && *r->reason
	               ? clean(r->reason, reason, sizeof(reason))
	               : "");
	printf("profile      %s\n", clean(r->profile, a, sizeof(a)));
	printf("policy       %s", clean(r->policy, a, sizeof(a)));
	if (taken(r))
		printf(", seed %" PRIu64, r->seed);
	printf(" (asked: %s)\n", clean(r->policy_asked, a, sizeof(a)));
	printf("objective    %s, routing %s\n",
	       clean(r->objective, a, sizeof(a)),
	       clean(r->routing, b, sizeof(b)));
	printf("network      %s\n", clean(r->network_file, a, sizeof(a)));
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
static int print_numbers(const struct cmd *self, const struct cpl_record *r)
{
	const struct cpl_record_candidate *best = taken(r);
	struct cmd_table *table;
	char a[32], b[32], c[32], seed[24];
	int rc;

	if (best && best->evaluated && r->stock_max_congestion >= 0) {
		printf("\n");
		table = cmd_table_new(4, "lrrr");
		cmd_table_row(table, "congestion (s)", "stock", "chosen",
		              "change");
		change(r->stock_max_congestion, best->max_congestion, c,
		       sizeof(c));
		cmd_table_row(table, "busiest link",
		              number(r->stock_max_congestion, a, sizeof(a)),
		              number(best->max_congestion, b, sizeof(b)), c);
		change(r->stock_mean_congestion, best->mean_congestion, c,
		       sizeof(c));
		cmd_table_row(table, "mean of all links",
		              number(r->stock_mean_congestion, a, sizeof(a)),
		              number(best->mean_congestion, b, sizeof(b)), c);
		rc = cmd_table_print(table);
		if (rc != CMD_OK)
			return rc;
	}
	if (!r->n_candidates)
		return CMD_OK;
	printf("\nCandidates\n");
	table = cmd_table_new(6, "llrrrr");
	cmd_table_row(table, "", "policy", "seed", "busiest link (s)",
	              "mean (s)", "hop-bytes");
	for (int i = 0; i < r->n_candidates; i++) {
		const struct cpl_record_candidate *k = &r->candidate[i];
		bool has = k->evaluated;

		snprintf(seed, sizeof(seed), "%" PRIu64, k->seed);
		cmd_table_row(
		        table, is_taken(r, k) ? "*" : "", k->policy, seed,
		        number(has ? k->max_congestion : -1, a, sizeof(a)),
		        number(has ? k->mean_congestion : -1, b, sizeof(b)),
		        number(has ? k->hop_bytes : -1, c, sizeof(c)));
	}
	return cmd_table_print(table);
}

/* Whose order the ranks are in. Without numbers nothing was compared: there is
 * no mapper, or the user has an order of their own. */
static void print_order(const struct cpl_record *r)
{
	char name[128], a[32], b[32];

	if (r->mapping_kept_default && r->map_max_before <= 0) {
		printf("\nmapping      none: the ranks are in Slurm's order\n");
		return;
	}
	printf("\nmapping      %s", clean(r->mapping, name, sizeof(name)));
	if (r->mapping_kept_default)
		printf(": not better than the default order, which is kept\n");
	else if (r->map_max_before >= 0 && r->map_max_after >= 0)
		printf(": busiest link %s s in default order, %s s mapped\n",
		       number(r->map_max_before, a, sizeof(a)),
		       number(r->map_max_after, b, sizeof(b)));
	else
		printf("\n");
}

static int print_mapping(const struct cmd *self, const struct cpl_record *r)
{
	struct cmd_table *table;
	char span[32];

	if (!r->ranks)
		return CMD_OK;
	print_order(r);
	table = cmd_table_new(2, "ll");
	cmd_table_row(table, "ranks", "host");
	for (int i = 0, j; i < r->ranks; i = j) {
		for (j = i + 1; j < r->ranks; j++)
			if (r->rank_host[j] != r->rank_host[i])
				break;
		if (j == i + 1)
			snprintf(span, sizeof(span), "%d", i);
		else
			snprintf(span, sizeof(span), "%d-%d", i, j - 1);
		cmd_table_row(table, span, r->host[r->rank_host[i]]);
	}
	return cmd_table_print(table);
}

int explain_text(const struct cmd *self, const struct cpl_record *r, bool ended,
                 const char *replay)
{
	int rc;

	print_head(r, ended);
	rc = r->n_hosts ? print_hosts(self, r) : CMD_OK;
	if (rc == CMD_OK)
		rc = print_numbers(self, r);
	if (rc == CMD_OK)
		rc = print_mapping(self, r);
	if (rc == CMD_OK && replay)
		printf("\nTo repeat the decision:\n  %s\n", replay);
	return rc;
}
