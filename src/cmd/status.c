/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "status.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "options.h"
#include "site/record.h"
#include "site_files.h"

/* Busiest links in the text without --links. */
#define FEW_LINKS 5
#define WATCH_S 5
#define WATCH_MAX_S 86400

enum { FORMAT_TEXT, FORMAT_OPENMETRICS };

struct options {
	const char *state_dir, *config, *network, *measured;
	bool json, links, counters, reset, unrecorded;
	int format;
	const char *state_out, *out, *html;
	const char *tree;       /* NULL: not that */
	const char *watch;      /* NULL: once */
	int64_t every;          /* seconds, of watch: */
	bool terminal, again;   /* it has one; this is not the first block */
};

/* Check what is asked for other than text, and how often. */
static int check(const struct cmd *self, const struct options *o)
{
	bool metrics = o->format == FORMAT_OPENMETRICS;
	int forms = o->json + metrics + !!o->html + !!o->state_out + o->reset +
	            (o->counters && !o->json);

	if (forms > 1)
		return cmd_usage(self,
		                 "only one of --json, --format openmetrics, "
		                 "--html, --state, --counters and "
		                 "--reset-counters at a time");
	if (o->tree && (forms > o->json || o->links || o->watch || o->network))
		return cmd_usage(self, "--tree goes with --json alone");
	if (o->unrecorded &&
	    (forms > o->json || o->links || o->watch || o->network || o->tree ||
	     o->measured))
		return cmd_usage(self, "--unrecorded goes with --json alone");
	if (o->out && !metrics)
		return cmd_usage(self, "-o goes with --format openmetrics");
	if (o->watch && (o->json || o->state_out || o->reset ||
	                 (metrics && !o->out)))
		return cmd_usage(self, "--watch goes with text, and with "
		                       "files: --html and -o");
	return CMD_OK;
}

static int parse(const struct cmd *self, int argc, char **argv,
                 struct options *o)
{
	static const char *const formats[] = {"text", "openmetrics", NULL};
	const struct cmd_option table[] = {
	        {"json", .flag = &o->json},
	        {"links", .flag = &o->links},
	        {"counters", .flag = &o->counters},
	        {"reset-counters", .flag = &o->reset},
	        {"unrecorded", .flag = &o->unrecorded},
	        {"format", .choice = &o->format, .choices = formats},
	        {"output", .text = &o->out},
	        {"html", .text = &o->html},
	        {"watch", .maybe = &o->watch},
	        {"tree", .maybe = &o->tree},
	        {"network", .text = &o->network},
	        {"measured", .text = &o->measured},
	        {"state-dir", .text = &o->state_dir},
	        {"config", .text = &o->config},
	        {"state", .text = &o->state_out},
	        {0},
	};
	struct cpl_error err = {""};
	int rc = cmd_options(self, argc, argv, table, CMD_WORDS);

	if (rc)
		return rc;
	/* "--tree /jobs" and "--watch 2" as well as with "=". */
	if (o->tree && !*o->tree && optind < argc)
		o->tree = argv[optind++];
	if (o->watch && !*o->watch && optind < argc)
		o->watch = argv[optind++];
	if (optind < argc)
		return cmd_usage(self, "unexpected argument '%.60s'",
		                 argv[optind]);
	o->every = WATCH_S;
	if (o->watch && *o->watch &&
	    cmd_int("--watch", o->watch, 1, WATCH_MAX_S, &o->every, &err))
		return cmd_fail(self, &err);
	return check(self, o);
}

/* Write the page or the metrics to a file. 0, or -1 with err. */
static int write_file(const struct status *s, const char *path, bool html,
                      struct cpl_error *err)
{
	struct cpl_file_writer *w = cpl_file_open_atomic(path, err);

	if (!w)
		return -1;
	if (!html) {
		status_write_metrics(s, cpl_file_stream(w));
	} else if (status_write_html(s, cpl_file_stream(w), err)) {
		cpl_file_abandon(w);
		return -1;
	}
	/* Metrics name no job, and are collected by another user. */
	return cpl_file_commit(
	        w, html ? cpl_record_file_mode(s->state_dir) : 0644, err);
}

/* Above each block of a watch. */
static void print_time(const struct options *o)
{
	char when[64] = "-";
	time_t now = time(NULL);
	struct tm tm;

	if (gmtime_r(&now, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	if (o->terminal)
		printf("\033[H\033[2J%s, every %d s, ^C ends\n\n", when,
		       (int)o->every);
	else
		printf("%s%s\n", o->again ? "\n" : "", when);
}

static int show(const struct cmd *self, const struct options *o,
                const struct status *s)
{
	const char *file = o->html ? o->html : o->out;
	struct cpl_error err = {""};

	if (file)
		return write_file(s, file, o->html != NULL, &err)
		               ? cmd_fail(self, &err)
		               : CMD_OK;
	if (o->json)
		return status_print_json(self, s);
	if (o->watch)
		print_time(o);
	if (o->counters)
		return status_print_counters(s);
	if (o->format == FORMAT_TEXT)
		return status_print_text(s,
		                         o->links ? STATUS_LINKS : FEW_LINKS);
	status_write_metrics(s, stdout);
	return CMD_OK;
}

static int write_state(const struct cmd *self, const struct options *o,
                       struct status *s)
{
	struct cpl_error err = {""};

	return cpl_record_state(s->state_dir, &s->state, &s->skipped, &err) ||
	                       cmd_write_state(&s->state, s->config,
	                                       o->state_out,
	                                       cpl_record_file_mode(s->state_dir),
	                                       &err)
	               ? cmd_fail(self, &err)
	               : CMD_OK;
}

/* slurmctld finds the file gone, and counts on in a new one. */
static int reset(const struct cmd *self, const char *state_dir)
{
	struct cpl_error err = {""};
	char *path = cpl_counters_path(state_dir, &err);
	int rc = CMD_OK;

	if (!path)
		return cmd_fail(self, &err);
	if (unlink(path) && errno != ENOENT)
		rc = cmd_failf(self, "%s: %s", path, strerror(errno));
	free(path);
	return rc;
}

/* Read and show the state of now. */
static int once(const struct cmd *self, const struct options *o)
{
	struct cpl_error err = {""};
	struct cpl_config *config;
	struct status s = {.now = time(NULL),
	                   .every = o->watch ? (int)o->every : 0};
	const char *network;
	int rc;

	s.state_dir = cmd_state_dir(o->state_dir, o->config, &config, &err);
	if (!s.state_dir)
		return cmd_fail(self, &err);
	s.config = config;
	s.measured_file = o->measured;
	network = o->network ? o->network
	          : config   ? config->network_file
	                     : NULL;
	if (o->reset)
		rc = reset(self, s.state_dir);
	else if (o->tree)
		rc = status_print_tree(self, s.state_dir, o->tree, o->json);
	else if (o->unrecorded)
		rc = status_print_unrecorded(self, &s, o->json);
	else if (o->state_out)
		rc = write_state(self, o, &s);
	else if (status_open(&s, o->counters && !o->json ? NULL : network,
	                     &err))
		rc = cmd_fail(self, &err);
	else
		rc = show(self, o, &s);
	status_close(&s);
	cpl_config_free(config);
	return rc;
}

static volatile sig_atomic_t ended;

static void end(int signal)
{
	ended = signal;
}

/* Wait; signals that end the watch come in here alone. */
static void wait_for_next(const sigset_t *mask, int64_t seconds)
{
	struct timespec time = {.tv_sec = seconds};

	ppoll(NULL, 0, &time, mask);
}

/* Show a screen, or where standard output is none, block after block, until a
 * signal comes. */
static int watch(const struct cmd *self, struct options *o)
{
	const struct sigaction action = {.sa_handler = end};
	sigset_t block, mask;
	int rc = CMD_OK;

	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	sigprocmask(SIG_BLOCK, &block, &mask);
	sigdelset(&mask, SIGINT);
	sigdelset(&mask, SIGTERM);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	o->terminal = isatty(STDOUT_FILENO);
	for (; !ended; o->again = true) {
		rc = once(self, o);
		/* What is wrong at the first time stays wrong; a file that is
		 * being replaced comes back. */
		if (fflush(stdout) || (rc && !o->again))
			break;
		wait_for_next(&mask, o->every);
	}
	return ended ? CMD_OK : rc;
}

static int run_status(const struct cmd *self, int argc, char **argv)
{
	struct options o = {0};
	int rc = parse(self, argc, argv, &o);

	if (rc)
		return rc;
	return o.watch ? watch(self, &o) : once(self, &o);
}

const struct cmd cmd_status = {"status", run_status};
