/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ibnetdiscover(8): blocks "Switch PORTS "S-GUID" # "NAME" ..." with lines
 * "[PORT](GUID) "PEER"[PORT](GUID) # "NAME" lid N 4xQDR"; channel adapters
 * have blocks "Ca" of their own, which say nothing more.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/sort.h"
#include "network/reader/reader_internal.h"

/* Data rate of a lane in bytes/s (InfiniBand Architecture 1.2.1 to 1.7: signal
 * rate times 8/10 up to QDR, 64/66 from FDR10 on). */
static const struct {
	const char *name;
	double lane;
} speeds[] = {
        {"sdr", 0.25e9},   {"ddr", 0.5e9},    {"qdr", 1e9},
        {"fdr10", 1.25e9}, {"fdr", 1.7045e9}, {"edr", 3.125e9},
        {"hdr", 6.25e9},   {"ndr", 12.5e9},   {"xdr", 25e9},
};

/* What stands between the next two quotes, cut to size; false: there are none
 * in this line. */
static bool quoted(struct cpl_lines *in, char *out, size_t size)
{
	const char *open = memchr(in->p, '"', (size_t)(in->line_end - in->p));
	const char *close;
	size_t n;

	if (!open)
		return false;
	open++;
	close = memchr(open, '"', (size_t)(in->line_end - open));
	if (!close || memchr(open, '\0', (size_t)(close - open)))
		return false;
	n = (size_t)(close - open);
	if (n >= size)
		n = size - 1;
	memcpy(out, open, n);
	out[n] = '\0';
	in->p = close + 1;
	return true;
}

/* "[PORT]", and a "(GUID)" behind it. */
static bool read_port(struct cpl_lines *in, int *port)
{
	if (!cpl_lines_take(in, "[") || !cpl_lines_number(in, port) ||
	    !cpl_lines_take(in, "]"))
		return false;
	if (cpl_lines_take(in, "(")) {
		while (in->p < in->line_end && *in->p != ')')
			in->p++;
		return cpl_lines_take(in, ")");
	}
	return true;
}

/* "4xQDR" at the line's end as the name of a class and bytes/s; without one
 * false. */
static bool find_speed(struct cpl_lines *in, char class[16], double *rate)
{
	const char *last = in->line_end;
	int width;

	while (last > in->p && isspace((unsigned char)last[-1]))
		last--;
	in->line_end = last;
	while (last > in->p && !isspace((unsigned char)last[-1]))
		last--;
	in->p = last;
	if (!cpl_lines_number(in, &width) || width < 1 || width > 16 ||
	    !cpl_lines_take(in, "x"))
		return false;
	for (size_t i = 0; i < sizeof(speeds) / sizeof(*speeds); i++) {
		if (!cpl_lines_take(in, speeds[i].name) ||
		    in->p < in->line_end)
			continue;
		/* The loader's names of classes begin with a letter. */
		snprintf(class, 16, "%s-%dx", speeds[i].name, width);
		*rate = width * speeds[i].lane;
		return true;
	}
	return false;
}

/* The line's class of links; "link" where it tells no speed. */
static int read_speed(struct cpl_lines *in, struct cpl_draft *draft)
{
	char class[16] = "link";
	double rate = 1.0;

	find_speed(in, class, &rate);
	return cpl_draft_class(draft, in, class, rate);
}

static void note_host_speed(struct cpl_lines *in, struct cpl_draft *draft)
{
	char class[16];
	double rate;

	if (!find_speed(in, class, &rate))
		return;
	draft->host_rates_differ = draft->host_rates_differ ||
	                           (draft->host_rate > 0 &&
	                            rate != draft->host_rate);
	if (rate > draft->host_rate)
		draft->host_rate = rate;
}

/* The first word of a channel adapter's description names the host; that of
 * a switch's own adapter ("Mellanox Technologies Aggregation Node") none. */
static int add_host(struct cpl_lines *in, struct cpl_draft *draft, int router)
{
	char text[256];
	struct cpl_hostlist list = {0};
	int rc = 0;

	if (!quoted(in, text, sizeof(text)))
		return cpl_lines_fail(in, "the channel adapter has no name");
	text[strcspn(text, " \t")] = '\0';
	if (!strcasecmp(text, "Mellanox"))
		return 0;
	if (strpbrk(text, "[],") || cpl_hostlist_parse(&list, text, NULL) ||
	    list.count != 1)
		rc = cpl_lines_fail(in, "'%.60s' is not a host name", text);
	else if (cpl_draft_host(draft, router, text) < 0)
		rc = cpl_lines_prefix(in);
	else
		note_host_speed(in, draft);
	cpl_hostlist_free(&list);
	return rc;
}

static int read_link(struct cpl_lines *in, struct cpl_draft *draft, int from)
{
	struct cpl_draft_link link = {.from = from, .line = in->line};
	char peer[64];

	if (!read_port(in, &link.from_port) ||
	    !quoted(in, peer, sizeof(peer)) || !read_port(in, &link.to_port))
		return cpl_lines_fail(in, "[port] \"peer\"[port] is needed");
	if (!strncmp(peer, "H-", 2))
		return add_host(in, draft, from);
	/* Pass over routers to other subnets, and what else there may be. */
	if (strncmp(peer, "S-", 2))
		return 0;
	link.to = cpl_draft_router(draft, peer, strlen(peer));
	if (link.to < 0)
		return cpl_lines_prefix(in);
	/* A cable from a switch to itself is for tests. */
	if (link.to == from)
		return 0;
	link.class = read_speed(in, draft);
	if (link.class < 0)
		return -1;
	return cpl_draft_add_link(draft, &link) ? cpl_lines_prefix(in) : 0;
}

/* The name of a switch, as it stands behind its block's first line. */
static int take_name(struct cpl_lines *in, struct cpl_draft_router *router)
{
	char name[128];

	if (!quoted(in, name, sizeof(name)) || !*name)
		return 0;
	router->shown = strdup(name);
	return router->shown ? 0 : cpl_fail_memory(in->err);
}

static CPL_SORT_BY(by_shown, struct cpl_draft_router *,
                   CPL_ORDER(strcmp((*x)->shown, (*y)->shown)))

/* Drop names that several switches have, such as those that no admin gave: they
 * tell nothing. */
static int drop_common_names(struct cpl_draft *draft)
{
	struct cpl_draft_router **list =
	        malloc(((size_t)draft->n_routers + 1) * sizeof(*list));
	int n = 0;

	if (!list)
		return cpl_fail_memory(draft->err);
	for (int i = 0; i < draft->n_routers; i++)
		if (draft->router[i].shown)
			list[n++] = &draft->router[i];
	qsort(list, (size_t)n, sizeof(*list), by_shown);
	for (int i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && !by_shown(&list[i], &list[end]);)
			end++;
		for (int k = i; end > i + 1 && k < end; k++) {
			free(list[k]->shown);
			list[k]->shown = NULL;
		}
	}
	free(list);
	return 0;
}

static int read_switch(struct cpl_lines *in, struct cpl_draft *draft)
{
	char id[64];
	int at;

	if (!quoted(in, id, sizeof(id)) || strncmp(id, "S-", 2))
		return cpl_lines_fail(in, "Switch PORTS \"S-...\" is needed");
	at = cpl_draft_router(draft, id, strlen(id));
	if (at < 0)
		return cpl_lines_prefix(in);
	if (draft->router[at].line)
		return cpl_lines_fail(in, "switch %s is already in line %d", id,
		                      draft->router[at].line);
	draft->router[at].line = in->line;
	return take_name(in, &draft->router[at]) ? -1 : at;
}

static CPL_SORT_BY(by_port, struct cpl_draft_link, CPL_UP(from),
                   CPL_UP(from_port))

static const struct cpl_draft_link *find_port(const struct cpl_draft *draft,
                                              int router, int port)
{
	struct cpl_draft_link key = {.from = router, .from_port = port};

	if (!draft->n_links)
		return NULL;
	return bsearch(&key, draft->link, (size_t)draft->n_links, sizeof(key),
	               by_port);
}

/* Each cable is seen from both ends. */
static int check_ends(const struct cpl_lines *in, struct cpl_draft *draft)
{
	if (!draft->n_links)
		return 0;
	qsort(draft->link, (size_t)draft->n_links, sizeof(*draft->link),
	      by_port);
	for (int i = 0; i < draft->n_links; i++) {
		const struct cpl_draft_link *l = &draft->link[i];
		const struct cpl_draft_link *back =
		        find_port(draft, l->to, l->to_port);

		if (i && !by_port(l, l - 1))
			return cpl_fail(
			        draft->err,
			        "%s:%d: port %d of %s is also in line %d",
			        in->source, l->line, l->from_port,
			        draft->router[l->from].name, l[-1].line);
		if (!back || back->to != l->from ||
		    back->to_port != l->from_port)
			return cpl_fail(draft->err,
			                "%s:%d: port %d of %s does not lead "
			                "back",
			                in->source, l->line, l->to_port,
			                draft->router[l->to].name);
	}
	return 0;
}

static int read_all(struct cpl_lines *in, const struct cpl_network_import *how,
                    struct cpl_draft *draft)
{
	int at = -1;

	draft->directed = true;
	draft->routing = "ecmp";
	while (cpl_lines_next(in)) {
		if (cpl_lines_done(in))
			continue;
		if (cpl_lines_take_word(in, "Switch")) {
			at = read_switch(in, draft);
			if (at < 0)
				return -1;
		} else if (cpl_lines_take_word(in, "Ca") ||
		           cpl_lines_take_word(in, "Rt")) {
			at = -1;
		} else if (*in->p == '[' && at >= 0 &&
		           read_link(in, draft, at)) {
			return -1;
		}
	}
	if (check_ends(in, draft) || drop_common_names(draft))
		return -1;
	if (draft->more_ports)
		cpl_draft_doubt(draft,
		                "%d ports of hosts are on other switches than "
		                "the hosts' first and are left out",
		                draft->more_ports);
	/* Routes are between the graph's routers. */
	if (how->routes)
		return 0;
	if (cpl_ib_fattree(how, draft))
		return -1;
	return draft->description ? 0 : cpl_ib_dragonfly_plus(how, draft);
}

/* What ibtracert prints for one pair of hosts. */
struct trace {
	int leaf; /* first switch, -1: none yet */
	int at;   /* last switch */
	bool open;
	const struct cpl_draft_link **hop; /* [n_hops] */
	int n_hops;
};

/* "{0x0002c902004a2d30}" as the router of that switch. */
static int read_guid(struct cpl_lines *in, const struct cpl_draft *draft)
{
	char name[40] = "S-";
	size_t n = 2;
	int at;

	if (!cpl_lines_take(in, "{0x"))
		return cpl_lines_fail(in, "{0xGUID} is needed");
	while (in->p < in->line_end && isxdigit((unsigned char)*in->p) &&
	       n + 1 < sizeof(name))
		name[n++] = (char)tolower((unsigned char)*in->p++);
	name[n] = '\0';
	at = cpl_draft_find(draft, name);
	if (at < 0 || !cpl_lines_take(in, "}"))
		return cpl_lines_fail(in, "switch %s is not in the dump", name);
	return at;
}

/* "[OUT] -> switch port {GUID}[IN] ...". */
static int read_hop(struct cpl_lines *in, const struct cpl_draft *draft,
                    struct trace *t)
{
	const struct cpl_draft_link *link;
	int port, at;

	if (!read_port(in, &port) || cpl_lines_end(in) ||
	    !cpl_lines_take(in, "->") || cpl_lines_end(in))
		return cpl_lines_fail(in, "[port] -> switch port ... is "
		                          "needed");
	if (!t->open)
		return cpl_lines_fail(in,
		                      "there is no \"From\" before the hop");
	if (cpl_lines_take(in, "ca "))
		return 0;
	if (!cpl_lines_take(in, "switch port "))
		return cpl_lines_fail(in, "\"switch port\" or \"ca port\" is "
		                          "needed");
	at = read_guid(in, draft);
	if (at < 0)
		return -1;
	if (t->leaf < 0) {
		t->leaf = t->at = at;
		return 0;
	}
	link = find_port(draft, t->at, port);
	if (!link || link->to != at)
		return cpl_lines_fail(in, "port %d of %s does not lead there",
		                      port, draft->router[t->at].name);
	t->at = at;
	if (cpl_array_grow(&t->hop, t->n_hops, sizeof(link), in->err))
		return -1;
	t->hop[t->n_hops++] = link;
	return 0;
}

/* Between hosts of one switch no link is taken, so there is no line. */
static int end_trace(struct cpl_lines *in, const struct cpl_draft *draft,
                     struct trace *t, FILE *out)
{
	if (!t->open)
		return cpl_lines_fail(in, "there is no \"From\" before \"To\"");
	t->open = false;
	if (t->leaf < 0 || t->leaf == t->at)
		return 0;
	fprintf(out, "%d %d", draft->router[t->leaf].id,
	        draft->router[t->at].id);
	for (int i = 0; i < t->n_hops; i++)
		fprintf(out, " %d:%d", draft->router[t->hop[i]->to].id,
		        t->hop[i]->parallel);
	putc('\n', out);
	return 0;
}

static int read_trace_line(struct cpl_lines *in, const struct cpl_draft *draft,
                           struct trace *t, FILE *out)
{
	if (cpl_lines_done(in))
		return 0;
	if (cpl_lines_take(in, "From ca ")) {
		if (t->open)
			return cpl_lines_fail(in,
			                      "the route before has no \"To\"");
		t->open = true;
		t->leaf = -1;
		t->n_hops = 0;
		return 0;
	}
	if (cpl_lines_take(in, "To ca "))
		return end_trace(in, draft, t, out);
	return read_hop(in, draft, t);
}

static char *read_routes(struct cpl_lines *in, struct cpl_draft *draft)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct trace t = {0};
	int rc = 0;

	if (!out)
		return cpl_fail_null_memory(in->err);
	fputs("# source destination hop:link ...\n", out);
	while (!rc && cpl_lines_next(in))
		rc = read_trace_line(in, draft, &t, out);
	if (!rc && t.open)
		rc = cpl_lines_fail(in, "ends in the middle of a route");
	free(t.hop);
	if (ferror(out) | fclose(out))
		rc = cpl_fail_memory(in->err);
	if (!rc)
		return text;
	free(text);
	return NULL;
}

const struct cpl_network_reader cpl_reader_ibnetdiscover = {
        .name = "ibnetdiscover",
        .summary = "the dump of ibnetdiscover (InfiniBand)",
        .read = read_all,
        .routes = read_routes,
};
