/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This reads GOAL schedules in the text form of LogGOPSim:
 *
 *	num_ranks 2
 *	rank 0 {
 *	l1: calc 100
 *	l2: send 10b to 1 tag 3
 *	l2 requires l1
 *	}
 */
#include <stdlib.h>
#include <string.h>

#include "signature/import/import_internal.h"

struct goal {
	int rank; /* whose block this is, or -1 */
	bool comment;
};

/* This blanks the comments in the line. */
static void strip(struct goal *g, char *line)
{
	for (char *p = line; *p; p++) {
		if (g->comment && p[0] == '*' && p[1] == '/') {
			g->comment = false;
			p[0] = p[1] = ' ';
		} else if (g->comment) {
			*p = ' ';
		} else if (p[0] == '/' && p[1] == '/') {
			*p = '\0';
			return;
		} else if (p[0] == '/' && p[1] == '*') {
			g->comment = true;
			*p = ' ';
		}
	}
}

static int number(struct cpl_lines *in, const char *what, const char *text,
                  long long most, const char *unit, long long *out)
{
	char *end;

	*out = strtoll(text ? text : "", &end, 10);
	if (!text || end == text || strcmp(end, unit))
		return cpl_lines_fail(in, "%s: '%.40s' is not a number%s%s",
		                      what, text ? text : "",
		                      *unit ? " followed by " : "", unit);
	if (*out < 0 || *out > most)
		return cpl_lines_fail(in, "%s: %.40s must lie in 0 to %lld",
		                      what, text, most);
	return 0;
}

/* This reads the rest of a send: "10b to 1 tag 3". */
static int read_send(struct cpl_lines *in, const struct goal *g, char **rest,
                     struct matrix *out)
{
	const char *size = strtok_r(NULL, " \t", rest);
	const char *to = strtok_r(NULL, " \t", rest);
	const char *rank = strtok_r(NULL, " \t", rest);
	struct cpl_comm_entry e = {g->rank, 0, 0.0, 1.0};
	long long bytes = 0, peer = 0;

	if (g->rank < 0)
		return cpl_lines_fail(in, "send outside of \"rank N {\"");
	if (number(in, "send", size, 1000000000000000000LL, "b", &bytes))
		return -1;
	if (!to || strcmp(to, "to"))
		return cpl_lines_fail(in,
		                      "send: \"to\" and a rank are missing");
	if (number(in, "send to", rank, out->ranks - 1, "", &peer))
		return -1;
	e.to = (int)peer;
	e.bytes = (double)bytes;
	return entry_push(&out->list, &e, in->err);
}

static int begin_rank(struct cpl_lines *in, struct goal *g, char **rest,
                      const struct matrix *out)
{
	const char *text = strtok_r(NULL, " \t{", rest);
	long long rank = 0;

	if (!out->ranks)
		return cpl_lines_fail(in, "\"num_ranks N\" has to come first");
	if (number(in, "rank", text, out->ranks - 1, "", &rank))
		return -1;
	g->rank = (int)rank;
	return 0;
}

/* This reads one statement, and cuts the line into words. */
static int read_line(struct cpl_lines *in, struct goal *g, char *line,
                     struct matrix *out)
{
	char *rest = NULL, *word = strtok_r(line, " \t\r", &rest);
	long long ranks = 0;

	if (word && word[strlen(word) - 1] == ':')
		word = strtok_r(NULL, " \t\r", &rest);
	if (!word)
		return 0;
	if (!strcmp(word, "num_ranks")) {
		if (number(in, word, strtok_r(NULL, " \t\r", &rest),
		           CPL_SIGNATURE_MAX_RANKS, "", &ranks))
			return -1;
		if (!ranks || out->ranks)
			return cpl_lines_fail(in, "num_ranks: 0, or again");
		out->ranks = (int)ranks;
		return 0;
	}
	if (!strcmp(word, "rank"))
		return begin_rank(in, g, &rest, out);
	if (!strcmp(word, "}"))
		g->rank = -1;
	else if (!strcmp(word, "send"))
		return read_send(in, g, &rest, out);
	/* These make no traffic: recv, calc, "a requires b", "a irequires b". */
	return 0;
}

static int read_goal(struct cpl_lines *in, struct matrix *out)
{
	struct goal g = {.rank = -1};

	out->lost = "computation, order and tags";
	while (cpl_lines_next(in)) {
		char *line = strndup(in->p, (size_t)(in->line_end - in->p));
		int rc;

		if (!line)
			return cpl_fail_memory(in->err);
		strip(&g, line);
		rc = read_line(in, &g, line, out);
		free(line);
		if (rc)
			return -1;
	}
	if (!out->ranks)
		return cpl_lines_fail(in, "\"num_ranks N\" is missing");
	if (g.rank >= 0)
		return cpl_lines_fail(in, "is truncated: rank %d has no \"}\"",
		                      g.rank);
	return 0;
}

const struct import_format import_goal = {
        .name = "goal",
        .summary = "a GOAL schedule",
        .read = read_goal,
};
