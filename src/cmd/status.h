/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `commplace status` shows: the running jobs that have a record, what
 * their signatures put on the links, and the scheduler's counters. Read at
 * once by status_open, then written in one of its forms.
 */
#pragma once

#include "cmd.h"
#include "cabling.h"
#include "routing/routing.h"
#include "site/config.h"
#include "site/counters.h"
#include "site/state.h"
#include "traffic/times.h"
#include "traffic/traffic.h"

/* Links shown, and jobs named at each. */
#define STATUS_LINKS 20
#define STATUS_SHARES 5

struct status_job {
	char *left_out; /* why it is not in the load, or NULL */
	struct cpl_times *times;        /* NULL: left out, or sends nothing */
	struct cpl_times_result result; /* under the others, where it is */
	double slowdown;                /* result's seconds / alone; 1 without
	                                 * traffic, 0 where left out */
};

struct status_share {
	int job;      /* index into state.job */
	double share; /* of what the link carries, 0 .. 1 */
};

/* A loaded link. */
struct status_link {
	int64_t link;
	double rate, utilisation; /* bytes/s; over the bandwidth */
	double measured;          /* bytes/s; < 0: it is not */
	int n_jobs;               /* that load it */
	int n_shares;             /* the largest of them */
	struct status_share share[STATUS_SHARES];
};

/* Quantiles that are shown of a distribution. */
#define STATUS_QUANTILES 7
extern const double status_quantile[STATUS_QUANTILES];

struct status_class {
	struct cpl_class_stats bytes;
	double utilisation[STATUS_QUANTILES];
};

struct status {
	const struct cpl_config *config; /* may be NULL */
	const char *state_dir;
	int64_t now; /* seconds since 1970 */
	int every;   /* seconds after which the page is written anew, 0: never */
	struct cpl_state state;
	int skipped;             /* records that cannot be read */
	struct cpl_network *net; /* NULL: nothing of what follows */
	const struct cpl_routing *routing;
	struct status_job *job;  /* [n_jobs] */
	struct cpl_load load;    /* bytes */
	struct cpl_load rate;    /* bytes/s */
	bool timed;              /* all signatures state times */
	struct cpl_metrics metrics; /* of the bytes */
	struct status_class class[CPL_NETWORK_MAX_CLASSES];
	double slowdown[STATUS_QUANTILES]; /* of the jobs with traffic */
	int n_slowed;                      /* those jobs */
	int n_links;
	struct status_link link[STATUS_LINKS]; /* by utilisation, where it is
	                                        * measured by the larger one */
	const char *measured_file; /* NULL: that of the state directory, if it
	                            * is there */
	struct cpl_measured measured; /* no links: there is none */
	double others; /* bytes/s on all measured links, without our jobs */
	struct cpl_cabling cabling; /* as these tell */
	struct cpl_counters counters;
	bool has_counters;
	struct cpl_error counters_error; /* why they cannot be read, or "" */
};

/* Read all. network: its file, NULL: without. s->config, state_dir and now are
 * set before. 0, or -1 with err; status_close it in either case. */
int status_open(struct status *s, const char *network, struct cpl_error *err);
void status_close(struct status *s);
/* What measurements say of cables. */
struct cabling_view status_cabling(const struct status *s);

/* status_report.c; exit codes. n_links: of the list of links. */
/* What was measured, and of cabling, in lines. Errors show at the stream. */
void status_print_measured(const struct status *s, FILE *out);
int status_print_text(const struct status *s, int n_links);
int status_print_json(const struct cmd *self, const struct status *s);
int status_print_counters(const struct status *s);
/* What an admin may want to do next: how many lines. */
#define STATUS_NEXT 4
int status_next(const struct status *s, char line[STATUS_NEXT][CPL_ERROR_MAX]);
/* Answers that were stock's because something is amiss, and why most of them. */
uint64_t status_fallbacks(const struct cpl_counters *c, enum cpl_reason *most);
/* "global 3-17" of a link as struct cpl_times numbers them, or "-". */
const char *status_link_name(const struct cpl_network *net, int64_t link,
                             char *buffer, size_t size);
/* A rate as a percentage of a bandwidth; "-" where the network states none. */
const char *status_percent(const struct status *s, double ratio,
                           char buffer[32]);
/* Is any link loaded? */
bool status_has_load(const struct status *s);

/* Tables of text and page alike, see cmd_table_new. */
struct cmd_table *status_jobs(const struct status *s);
struct cmd_table *status_classes(const struct status *s);
struct cmd_table *status_use(const struct status *s);
struct cmd_table *status_links(const struct status *s, int n);
struct cmd_table *status_counts(const struct cpl_counters *c);
struct cmd_table *status_times(const struct cpl_counters *c);

/* status_metrics.c: OpenMetrics text. Errors show at the stream. */
void status_write_metrics(const struct status *s, FILE *out);

/* status_tree.c: what a running commplaced holds at that path; an exit code. */
int status_print_tree(const struct cmd *self, const char *state_dir,
                      const char *path, bool json);

/* status_unrecorded.c: jobs without a signature, by what a recording of theirs is
 * worth; an exit code. s: state_dir and now. */
int status_print_unrecorded(const struct cmd *self, const struct status *s,
                            bool json);

/* What a running commplaced says of that path; NULL with err. */
json_t *status_ask(const char *state_dir, const char *path,
                   struct cpl_error *err);

/* status_html.c: a page. 0, or -1 with err. */
int status_write_html(const struct status *s, FILE *out, struct cpl_error *err);
