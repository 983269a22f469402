/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "placement/bounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/lines.h"
#include "mapping/segments.h"

/* Hosts of other machines that one list may have besides the network's. */
#define OTHER_HOSTS 65536

/* A word with "=N" behind it, N from 1. 1: it was there; 0: another word. */
static int take_count(struct cpl_lines *in, const char *word, int *out)
{
	if (!cpl_lines_take(in, word))
		return 0;
	if (!cpl_lines_take(in, "=") || !cpl_lines_number(in, out) || *out < 1)
		return cpl_lines_fail(in, "%s is a number from 1", word);
	return 1;
}

static int take_rule(struct cpl_bounds *b, struct cpl_lines *in)
{
	int rc;

	if ((rc = take_count(in, "segment", &b->segment)) ||
	    (rc = take_count(in, "switches", &b->most)) ||
	    (rc = take_count(in, "wish", &b->wish)))
		return rc < 0 ? -1 : 0;
	rc = take_count(in, "blocks", &b->most);
	if (rc) {
		b->blocks = true;
		return rc < 0 ? -1 : 0;
	}
	if (cpl_lines_take(in, "spread"))
		b->apart = true;
	else if (cpl_lines_take(in, "consolidate"))
		b->together = true;
	else if (cpl_lines_take(in, "contiguous"))
		b->in_a_row = true;
	else
		return cpl_lines_fail(in, "rules are segment=S, switches=N, "
		                          "blocks=N, spread, consolidate, "
		                          "contiguous and wish=S");
	return 0;
}

static int read_rules(struct cpl_bounds *b, const char *text,
                      struct cpl_error *err)
{
	struct cpl_lines in = cpl_lines_of("rules", text, strlen(text), err);

	if (!cpl_lines_next(&in) || cpl_lines_end(&in))
		return cpl_fail(err, "there are no rules");
	do {
		if (take_rule(b, &in))
			return -1;
	} while (cpl_lines_take(&in, ","));
	if (!cpl_lines_end(&in))
		return cpl_lines_fail(&in, "behind a rule comes a comma");
	if ((b->apart || b->together) && !b->segment)
		return cpl_fail(err, "spread and consolidate need segment=S");
	if (b->in_a_row && (b->segment || b->most || b->wish))
		return cpl_fail(err, "contiguous is a rule by itself");
	if (b->segment && b->wish)
		return cpl_fail(err, "a job with segment=S has no wish=S");
	return 0;
}

/* Where segments that are wished for may lie. */
static int find_homes(struct cpl_bounds *b, const struct cpl_network *net,
                      struct cpl_error *err)
{
	struct cpl_segment_domains domains;

	if (!b->wish)
		return 0;
	if (cpl_segment_domains(net, NULL, &domains, err))
		return -1;
	if (b->wish > domains.nodes)
		return cpl_fail(err, "wish=%d: a %s of network '%s' has %d nodes",
		                b->wish, domains.level, net->name,
		                domains.nodes);
	b->home = malloc((size_t)net->n_nodes * sizeof(*b->home));
	if (!b->home)
		return cpl_fail_memory(err);
	b->n_homes = domains.n;
	cpl_segment_domain_of(net, &domains, b->home);
	return 0;
}

/* Add a name. -1: memory. */
static int add_name(char ***names, int n, const char *name, size_t length)
{
	char **more = realloc(*names, ((size_t)n + 1) * sizeof(*more));

	if (!more)
		return -1;
	*names = more;
	more[n] = strndup(name, length);
	return more[n] ? 0 : -1;
}

/* The hosts of the last unit, in which `place` goes on. */
static int add_hosts(struct cpl_bounds *b, const struct cpl_network *net,
                     const char *text, int *place, struct cpl_error *err)
{
	struct cpl_hostlist hosts;
	int rc = 0;

	if (cpl_hostlist_parse_most(&hosts, text, net->n_nodes + OTHER_HOSTS,
	                            err))
		return -1;
	for (int i = 0; i < hosts.count && !rc; i++) {
		int node = cpl_network_node(net, hosts.name[i]);

		(*place)++;
		if (node < 0)
			continue;
		if (b->unit[node] >= 0)
			rc = cpl_fail(err, "host %s is in two units",
			              net->node_name[node]);
		b->unit[node] = b->n_units - 1;
		b->place[node] = *place;
	}
	cpl_hostlist_free(&hosts);
	/* Units are not next to each other. */
	if (*place > INT32_MAX / 2)
		return cpl_fail(err, "too many hosts");
	(*place)++;
	return rc;
}

/* One unit, "DOMAIN/NAME:HOSTS" or "NAME:HOSTS"; those of a domain stand in a
 * row. */
struct read_domain {
	const char *name;
	size_t length;
};

static int add_unit(struct cpl_bounds *b, const struct cpl_network *net,
                    const char *text, struct read_domain *last, int *place,
                    struct cpl_error *err)
{
	const char *colon = strchr(text, ':'), *slash, *name = text;
	size_t length = 0;
	int *more;

	if (!colon || colon == text)
		return cpl_fail(err, "a unit is NAME:HOSTS, not '%s'", text);
	slash = memchr(text, '/', (size_t)(colon - text));
	if (slash) {
		name = slash + 1;
		length = (size_t)(slash - text);
	}
	if (!b->n_domains || length != last->length ||
	    memcmp(last->name, text, length))
		b->n_domains++;
	*last = (struct read_domain){text, length};
	more = realloc(b->domain, ((size_t)b->n_units + 1) * sizeof(*more));
	if (more)
		b->domain = more;
	if (!more ||
	    add_name(&b->name, b->n_units, name, (size_t)(colon - name)))
		return cpl_fail_memory(err);
	more[b->n_units++] = b->n_domains - 1;
	return add_hosts(b, net, colon + 1, place, err);
}

static int read_units(struct cpl_bounds *b, const struct cpl_network *net,
                      const char *text, struct cpl_error *err)
{
	struct read_domain last = {NULL, 0};
	char *copy = strdup(text), *save, *word;
	int place = -1, rc = copy ? 0 : cpl_fail_memory(err);

	for (word = copy ? strtok_r(copy, " ", &save) : NULL; word && !rc;
	     word = strtok_r(NULL, " ", &save))
		rc = add_unit(b, net, word, &last, &place, err);
	if (!rc && !b->n_units)
		rc = cpl_fail(err, "there are no units");
	free(copy);
	return rc;
}

int cpl_bounds_read(struct cpl_bounds *out, const struct cpl_network *net,
                    const char *rules, const char *units, struct cpl_error *err)
{
	size_t n = (size_t)net->n_nodes + 1;

	*out = (struct cpl_bounds){.unit = malloc(n * sizeof(int)),
	                           .place = calloc(n, sizeof(int))};
	if (cpl_out_of_memory(!out->unit || !out->place, err))
		goto fail;
	for (int i = 0; i < net->n_nodes; i++)
		out->unit[i] = -1;
	if (!read_rules(out, rules, err) && !find_homes(out, net, err) &&
	    !read_units(out, net, units, err))
		return 0;
fail:
	cpl_bounds_free(out);
	return -1;
}

void cpl_bounds_free(struct cpl_bounds *bounds)
{
	for (int i = 0; i < bounds->n_units; i++)
		free(bounds->name[i]);
	cpl_free_all(bounds->name, bounds->domain, bounds->unit, bounds->place,
	             bounds->home);
	*bounds = (struct cpl_bounds){0};
}

int cpl_bounds_keep(const struct cpl_placement_request *req, const int *stock,
                    int *out, struct cpl_error *err)
{
	int rc = req->bounds ? cpl_bounds_fit(req, out, err) : 0;

	if (rc < 0 || !req->bounds)
		return rc;
	if (rc && !stock)
		return cpl_fail(err, "no %d free nodes within the bounds of "
		                     "the job were found",
		                req->n_nodes_wanted);
	if (rc)
		memcpy(out, stock, (size_t)req->n_nodes_wanted * sizeof(*out));
	return cpl_bounds_grant(req, out, err) < 0 ? -1 : 0;
}

/* Units named in words; there may be hundreds. */
#define NAMED 12

static void put_units(const struct cpl_bounds *b, const int *count, FILE *to)
{
	int n = 0, total = 0;

	for (int u = 0; u < b->n_units; u++)
		total += count[u] > 0;
	fprintf(to, " on %s%s ", b->blocks ? "block" : "switch",
	        total == 1   ? ""
	        : b->blocks ? "s"
	                    : "es");
	for (int u = 0; u < b->n_units && n < NAMED; u++)
		if (count[u])
			fprintf(to, "%s%s", n++ ? ", " : "", b->name[u]);
	if (total > n)
		fprintf(to, " and %d more", total - n);
}

static void put_words(const struct cpl_bounds *b, const int *count, FILE *to)
{
	if (b->in_a_row) {
		fputs("nodes kept in a row", to);
		return;
	}
	if (b->segment)
		fprintf(to, "segments of %d kept", b->segment);
	else
		fputs("kept", to);
	if (b->together)
		fputs(" together", to);
	if (b->apart)
		fputs(" apart", to);
	put_units(b, count, to);
	if (b->most > 1)
		fprintf(to, ", %d at most%s", b->most,
		        b->segment ? " of each" : "");
}

char *cpl_bounds_words(const struct cpl_bounds *bounds, const int *node, int n)
{
	int *count = calloc((size_t)bounds->n_units + 1, sizeof(*count));
	char *text = NULL;
	size_t size;
	FILE *to = count ? open_memstream(&text, &size) : NULL;

	for (int i = 0; i < n && to; i++)
		if (node[i] >= 0 && bounds->unit[node[i]] >= 0)
			count[bounds->unit[node[i]]]++;
	if (to)
		put_words(bounds, count, to);
	if (to && bounds->wish)
		fprintf(to,
		        cpl_bounds_granted(bounds, node, n)
		                ? ", in the segments of %d that its signature "
		                  "implies"
		                : "; the segments of %d that its signature implies "
		                  "were not to be had",
		        bounds->wish);
	if (to && fclose(to)) {
		free(text);
		text = NULL;
	}
	free(count);
	return text;
}
