/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/hostlist.h"
#include "base/printable.h"

static void print_kept(const struct cpl_record *r)
{
	char line[3 * CPL_ERROR_MAX];

	if (explain_kept(r, line, sizeof(line)))
		printf("kept whole   %s\n", line);
	if (r->kept)
		printf("constraints  %s\n", EXPLAIN_CLEAN(r->kept));
	if (r->segment_from)
		printf("segments     %s\n", explain_segment(r));
	if (explain_former(r, line, sizeof(line)))
		printf("run before   %s\n", line);
}

static void print_reach(const struct cpl_record *r)
{
	char line[CPL_ERROR_MAX];

	if (explain_reach(r, line, sizeof(line)))
		printf("rank order   %s\n", line);
}

static void print_head(const struct cpl_record *r, bool ended)
{
	bool reason = r->reason && *r->reason;
	char when[64] = "-", profile[2 * CPL_ERROR_MAX];
	time_t t = (time_t)r->time;
	struct tm tm;

	if (gmtime_r(&t, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	printf("Job %" PRId64, r->job);
	if (r->shown_as)
		printf(" = %s", EXPLAIN_CLEAN(r->shown_as));
	printf(" (%s), user id %" PRIu32 ", partition %s, %s\n",
	       EXPLAIN_CLEAN(r->job_name), r->uid, EXPLAIN_CLEAN(r->partition),
	       ended ? "ended" : "running");
	printf("decided      %s in %.3g ms%s\n", when, r->decision_ms,
	       r->cut_short ? ", cut short by MaxDecisionTime" : "");
	printf("outcome      %s%s%s\n", cpl_outcome_name(r->outcome),
	       reason ? ": " : "", reason ? EXPLAIN_CLEAN(r->reason) : "");
	if (r->arm)
		printf("trial        arm %s\n", EXPLAIN_CLEAN(r->arm));
	printf("profile      %s\n",
	       explain_profile(r, profile, sizeof(profile)));
	printf("policy       %s", EXPLAIN_CLEAN(r->policy));
	if (explain_taken(r))
		printf(", seed %" PRIu64, r->seed);
	printf(" (asked: %s)\n", EXPLAIN_CLEAN(r->policy_asked));
	printf("objective    %s, routing %s\n", EXPLAIN_CLEAN(r->objective),
	       EXPLAIN_CLEAN(r->routing));
	if (r->time_model)
		printf("model        %s\n", EXPLAIN_CLEAN(r->time_model));
	printf("network      %s\n", EXPLAIN_CLEAN(r->network_file));
	printf("background   ");
	for (int64_t i = 0; i < r->n_background; i++)
		printf("%s%" PRId64,
		       i                     ? ", "
		       : r->n_background > 1 ? "jobs "
		                             : "job ",
		       r->background[i]);
	printf("%s\n", r->n_background ? "" : "no running job with a profile");
	if (r->measured)
		printf("measured     %s\n", EXPLAIN_CLEAN(r->measured));
	if (r->volume_profile > 0)
		printf("placed by    its volume: %s/s of each node in the newest "
		       "run of its name (PlaceByVolume)\n",
		       CMD_BYTES(r->volume_profile));
	if (r->volume > 0)
		printf("taken for    a job whose nodes send %s/s each to the "
		       "others (Unknown)\n",
		       CMD_BYTES(r->volume));
	if (r->measured_volume > 0)
		printf("sent         %s/s by each node, as measured\n",
		       CMD_BYTES(r->measured_volume));
}

static void print_time(const struct cpl_record *r)
{
	if (!(r->seconds > 0))
		return;
	printf("predicted    %.4g s of communication%s", r->seconds,
	       explain_is_minimal(r) ? " under minimal routing" : "");
	if (r->run_seconds > 0)
		printf(" in a run of %.4g s", r->run_seconds);
	if (explain_slowdown(r) > 0)
		printf(", %.2f times what it takes without the others",
		       explain_slowdown(r));
	putchar('\n');
}

static int print_hosts(const struct cmd *self, const struct cpl_record *r)
{
	char *hosts = cpl_hostlist_format(r->host, r->n_hosts);
	char *stock = strdup(r->stock_hosts ? r->stock_hosts : "");
	int rc = CMD_OK;

	if (!hosts || !stock) {
		rc = cmd_fail_memory(self);
		goto out;
	}
	printf("%-12s %s (%d)\n",
	       r->outcome == CPL_OUTCOME_OBSERVED ? "would take" : "nodes",
	       cpl_printable(hosts), r->n_hosts);
	if (*stock)
		printf("stock Slurm  %s\n", cpl_printable(stock));
out:
	cpl_free_all(hosts, stock);
	return rc;
}

/* Print our placement against stock, then all candidates. */
static int print_numbers(const struct cpl_record *r)
{
	if (explain_has_compare(r)) {
		putchar('\n');
		if (cmd_table_print(explain_compare(r)))
			return CMD_FAILED;
	}
	if (!r->n_candidates)
		return CMD_OK;
	printf("\nCandidates\n");
	return cmd_table_print(explain_candidates(r));
}

static int print_mapping(const struct cpl_record *r)
{
	char order[CPL_ERROR_MAX];

	if (!r->ranks)
		return CMD_OK;
	printf("\nmapping      %s\n", explain_order(r, order, sizeof(order)));
	return cmd_table_print(explain_ranks(r));
}

static void print_next(const struct cpl_record *r)
{
	char line[EXPLAIN_NEXT][CPL_ERROR_MAX];
	int n = explain_next(r, line);

	for (int i = 0; i < n; i++)
		printf("%-12s %s\n", i ? "" : "\nnext", line[i]);
}

int explain_text(const struct cmd *self, const struct explained *e)
{
	const struct cpl_record *r = e->record;
	char state[128];

	print_head(r, e->ended);
	print_time(r);
	print_kept(r);
	print_reach(r);
	if ((r->n_hosts && print_hosts(self, r)) || print_numbers(r) ||
	    print_mapping(r))
		return CMD_FAILED;
	print_next(r);
	/* If it were made printable, it would be another command. */
	if (e->replay && cpl_is_printable(e->replay)) {
		printf("\nTo repeat the decision:\n  %s\n", e->replay);
		if (explain_state(e, state))
			printf("%s\n", state);
	}
	return CMD_OK;
}
