/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology.yaml(5) of Slurm 25.05 and later, in the form that its manual has, and
 * what `scontrol show topoconf` prints: a key and its value on each line. Of YAML's
 * other forms, flow style ("{...}", "[...]" over several keys) and anchors are
 * refused, but for a torus' dims. One topology of the file is read.
 */
#include <stdlib.h>
#include <string.h>

#include "network/reader/reader_internal.h"

enum {
	SWITCH,
	BLOCK,
	RING,
	TORUS,
	NODES,
	CHILDREN,
	DIMS,
	X,
	Y,
	Z,
	ASIDE,
	PASSED
};

/* Keys without a value open what follows. Those behind ASIDE tell nothing; that one
 * opens what a torus allows jobs, whose sizes are not its own. */
static const struct {
	const char *name;
	int key;
} keys[] = {
        {"switch", SWITCH},
        {"block", BLOCK},
        {"ring", RING},
        {"name", TORUS},
        {"nodes", NODES},
        {"children", CHILDREN},
        {"dims", DIMS},
        {"x", X},
        {"y", Y},
        {"z", Z},
        {"cluster_default", PASSED},
        {"placements", ASIDE},
        {"anchor_seed", PASSED},
        {"anchor_spacing", PASSED},
        {"regions", ASIDE},
        {"anchor", PASSED},
        {"tree", PASSED},
        {"switches", PASSED},
        {"blocks", PASSED},
        {"block_sizes", PASSED},
        {"rings", PASSED},
        {"toruses", PASSED},
        {"torus3d", PASSED},
        {"flat", PASSED},
        {"alpha_step_rank", PASSED},
};
#define N_KEYS ((int)(sizeof(keys) / sizeof(*keys)))

/* The switch, block, ring or torus that the lines are about. */
struct yaml_reading {
	struct cpl_lines *in;
	const struct cpl_topology_taker *to;
	char *name, *nodes, *children;
	enum cpl_topology_kind kind;
	int dims[3];
	bool aside;
	int entries, topologies;
	int wanted; /* which of the topologies is read, from 1 */
};

/* Where a description grows of what is read. */
struct torus_reading {
	const struct cpl_network_import *how;
	struct cpl_draft *draft;
};

static void clear(struct yaml_reading *r)
{
	cpl_free_all(r->name, r->nodes, r->children);
	r->name = r->nodes = r->children = NULL;
	r->aside = false;
	memset(r->dims, 0, sizeof(r->dims));
}

static int finish_entry(struct yaml_reading *r)
{
	struct cpl_topology_entry entry = {.name = r->name,
	                                   .nodes = r->nodes,
	                                   .switches = r->children,
	                                   .kind = r->kind};
	int rc = 0;

	memcpy(entry.dims, r->dims, sizeof(entry.dims));
	if (r->name && !r->nodes && !r->children)
		rc = cpl_lines_fail(r->in, "before this line %.40s has neither "
		                           "nodes nor children",
		                    r->name);
	else if (r->name)
		rc = r->to->take(r->to->into, r->in, &entry);
	r->entries += r->name != NULL;
	clear(r);
	return rc;
}

/* "{}", "[]", and what stands for nothing. */
static bool is_empty(const char *text, size_t n)
{
	return (n == 2 && (!strncmp(text, "{}", 2) || !strncmp(text, "[]", 2))) ||
	       (n == 1 && *text == '~') || (n == 4 && !strncmp(text, "null", 4));
}

/* To the line's end or a comment, without quotes; NULL with err. "" is no value.
 */
static char *value(struct cpl_lines *in)
{
	const char *first, *last;
	char quote = '\0', *text;

	cpl_lines_end(in);
	if (in->p < in->line_end && (*in->p == '"' || *in->p == '\''))
		quote = *in->p++;
	first = last = in->p;
	while (in->p < in->line_end &&
	       (quote ? *in->p != quote
	              : *in->p != '#' || (in->p > first && in->p[-1] != ' ' &&
	                                  in->p[-1] != '\t')))
		if (!strchr(" \t\r", *in->p++) || quote)
			last = in->p;
	if (quote && in->p == in->line_end) {
		cpl_lines_fail(in, "a closing quote is missing");
		return NULL;
	}
	in->p += quote != '\0';
	if (!cpl_lines_done(in)) {
		cpl_lines_fail(in, "there is more behind the value");
		return NULL;
	}
	if (!quote && is_empty(first, (size_t)(last - first)))
		last = first;
	if (!quote && first < last && strchr("{[&*|>!", *first)) {
		cpl_lines_fail(in, "'%c' begins a form of YAML that is not "
		                   "read; a plain value is needed",
		               *first);
		return NULL;
	}
	text = strndup(first, (size_t)(last - first));
	if (!text)
		cpl_fail_memory(in->err);
	return text;
}

/* Past "KEY:". */
static int take_key(struct cpl_lines *in)
{
	int n = (int)(in->line_end - in->p);

	for (int k = 0; k < N_KEYS; k++) {
		size_t length = strlen(keys[k].name);

		if ((size_t)n > length &&
		    !strncmp(in->p, keys[k].name, length) &&
		    in->p[length] == ':' &&
		    ((size_t)n == length + 1 ||
		     strchr(" \t\r", in->p[length + 1]))) {
			in->p += length + 1;
			return keys[k].key;
		}
	}
	return cpl_lines_fail(in, "'%.*s' is not a key of a topology",
	                      n > 30 ? 30 : n, in->p);
}

/* The name of a switch, block, ring or torus. */
static int begin_entry(struct yaml_reading *r, int key, char *text)
{
	static const enum cpl_topology_kind kinds[] = {
	        [SWITCH] = CPL_TOPOLOGY_SWITCH,
	        [BLOCK] = CPL_TOPOLOGY_BLOCK,
	        [RING] = CPL_TOPOLOGY_RING,
	        [TORUS] = CPL_TOPOLOGY_TORUS};

	if (finish_entry(r)) {
		free(text);
		return -1;
	}
	r->kind = kinds[key];
	r->name = text;
	return 0;
}

static int set(struct yaml_reading *r, int key, char *text)
{
	char **to = key == NODES ? &r->nodes : &r->children;

	if (r->name && !*text) {
		free(text);
		return 0;
	}
	if (!r->name || *to) {
		free(text);
		return cpl_lines_fail(r->in, "this is %s",
		                      r->name ? "given twice"
		                              : "of no switch or block");
	}
	*to = text;
	return 0;
}

/* "X", or of "dims: { x: X, y: Y, z: Z }" all three. */
static int set_dims(struct yaml_reading *r, int key)
{
	struct cpl_lines *in = r->in;
	bool flow = key == DIMS;

	cpl_lines_end(in);
	if (r->aside || (flow && !cpl_lines_take(in, "{")))
		return 0;
	do {
		cpl_lines_end(in);
		if (flow)
			key = cpl_lines_take(in, "x:")   ? X
			      : cpl_lines_take(in, "y:") ? Y
			      : cpl_lines_take(in, "z:") ? Z
			                                 : DIMS;
		cpl_lines_end(in);
		if (key == DIMS || !cpl_lines_number(in, &r->dims[key - X]))
			return cpl_lines_fail(in, "dims are x, y and z with a "
			                          "number each");
		cpl_lines_end(in);
	} while (flow && cpl_lines_take(in, ","));
	if ((flow && !cpl_lines_take(in, "}")) || !cpl_lines_done(in))
		return cpl_lines_fail(in, "there is more behind the value");
	return 0;
}

static int read_key(struct yaml_reading *r, int key)
{
	char *text = value(r->in);

	if (!text)
		return -1;
	/* "block:" opens the blocks. */
	if (*text && key <= TORUS)
		return begin_entry(r, key, text);
	if (key == NODES || key == CHILDREN)
		return set(r, key, text);
	r->aside = r->aside || key == ASIDE;
	free(text);
	return 0;
}

/* Lines that say nothing: a document's begin and end, and block_sizes. */
static bool passed(struct cpl_lines *in)
{
	int number;

	return cpl_lines_take(in, "---") || cpl_lines_take(in, "...") ||
	       cpl_lines_take(in, "%YAML") ||
	       (cpl_lines_take(in, "-") && !cpl_lines_end(in) &&
	        cpl_lines_number(in, &number) && cpl_lines_done(in));
}

static int read_line(struct yaml_reading *r)
{
	const char *first;
	int key;

	if (passed(r->in))
		return 0;
	first = r->in->p;
	if (cpl_lines_take(r->in, "topology:")) {
		r->topologies++;
		return finish_entry(r);
	}
	/* What the others have is nothing to us, new keys of Slurm included. */
	if (r->topologies && r->topologies != r->wanted)
		return 0;
	r->in->p = first;
	key = take_key(r->in);
	if (key < 0)
		return -1;
	/* A region's nodes are a torus' once more. */
	if (key == NODES && r->aside && r->nodes)
		return 0;
	return key >= DIMS && key <= Z ? set_dims(r, key) : read_key(r, key);
}

/* Which topology of all: that of the name, else the cluster's default, else the
 * only one. Numbers from 1, 0: the file has none; -1 with err. */
static int choose(struct cpl_lines in, const char *name)
{
	int n = 0, wanted = 0;

	while (cpl_lines_next(&in)) {
		bool begins, found;
		char *text;

		if (cpl_lines_done(&in) || passed(&in))
			continue;
		begins = cpl_lines_take(&in, "topology:");
		if (!begins && !cpl_lines_take(&in, "cluster_default:"))
			continue;
		text = value(&in);
		if (!text)
			return -1;
		n += begins;
		found = !strcmp(text, begins && name ? name : "true") &&
		        begins == (name != NULL);
		if (found && !wanted)
			wanted = n;
		free(text);
	}
	if (!wanted && name)
		return cpl_fail(in.err, "%s: has no topology '%.60s'",
		                in.source, name);
	if (!wanted && n > 1)
		return cpl_fail(in.err,
		                "%s: has %d topologies, none of which is the "
		                "cluster's default; --topology names one",
		                in.source, n);
	return wanted ? wanted : n;
}

bool cpl_topology_is_yaml(const char *text, const char *end)
{
	static const char *const begins[] = {"%YAML", "---", "- topology:"};

	for (int i = 0; i < 3; i++)
		if ((size_t)(end - text) >= strlen(begins[i]) &&
		    !strncmp(text, begins[i], strlen(begins[i])))
			return true;
	return false;
}

int cpl_topology_yaml(struct cpl_lines *in, const char *topology,
                      const struct cpl_topology_taker *to)
{
	struct yaml_reading r = {.in = in, .to = to};
	int rc;

	r.wanted = choose(*in, topology);
	rc = r.wanted < 0 ? -1 : 0;
	while (!rc && cpl_lines_next(in))
		if (!cpl_lines_done(in))
			rc = read_line(&r);
	if (!rc)
		rc = finish_entry(&r);
	clear(&r);
	return rc ? -1 : r.entries;
}

/* Slurm's toruses have their first dimension fastest, too. */
static int take_torus(struct torus_reading *t, struct cpl_lines *in,
                      const struct cpl_topology_entry *e)
{
	bool ring = e->kind == CPL_TOPOLOGY_RING;
	struct cpl_hostlist list = {0};
	json_t *dims, *wrap;

	if (t->draft->description)
		return cpl_lines_fail(in, "how %.40s is joined with others is "
		                          "not told; leave one of them in the "
		                          "file",
		                      e->name);
	if (!ring && (!e->dims[0] || !e->dims[1] || !e->dims[2]))
		return cpl_lines_fail(in, "torus %.40s has no dims", e->name);
	if (cpl_hostlist_parse(&list, e->nodes, in->err))
		return cpl_lines_prefix(in);
	dims = ring ? json_pack("[i]", list.count)
	            : json_pack("[i, i, i]", e->dims[0], e->dims[1],
	                        e->dims[2]);
	wrap = ring ? json_pack("[b]", 1) : json_pack("[b, b, b]", 1, 1, 1);
	cpl_hostlist_free(&list);
	t->draft->description = json_pack(
	        "{s:s, s:i, s:s, s:s, s:o, s:o, s:i, s:s}", "format",
	        "commplace-network", "version", 1, "name", t->how->name, "type",
	        "torus", "dims", dims, "wrap", wrap, "nodes_per_router", 1,
	        "nodes", e->nodes);
	return t->draft->description ? 0 : cpl_fail_memory(in->err);
}

static int take_entry(void *into, struct cpl_lines *in,
                const struct cpl_topology_entry *e)
{
	struct torus_reading *t = into;

	return e->kind == CPL_TOPOLOGY_RING || e->kind == CPL_TOPOLOGY_TORUS
	               ? take_torus(t, in, e)
	               : cpl_topology_add(in, t->draft, e);
}

static int read_all(struct cpl_lines *in, const struct cpl_network_import *how,
                    struct cpl_draft *draft)
{
	struct torus_reading t = {.how = how, .draft = draft};
	const struct cpl_topology_taker to = {.take = take_entry, .into = &t};
	bool yaml = cpl_topology_is_yaml(in->next, in->end);
	int n;

	if (cpl_draft_class(draft, in, "link", 1.0) < 0)
		return -1;
	n = cpl_topology_yaml(in, how->topology, &to);
	if (n == 0 && yaml)
		return cpl_fail(in->err,
		                "%s: the topology has no switch, block, ring "
		                "or torus; where Slurm has it from "
		                "topology.conf, scontrol show topology prints "
		                "it, for --format topology-conf",
		                in->source);
	return n < 0 ? -1 : cpl_topology_check(in, draft);
}

const struct cpl_network_reader cpl_reader_topology_yaml = {
        .name = "topology-yaml",
        .summary = "Slurm's topology.yaml, or scontrol show topoconf",
        .read = read_all,
};
