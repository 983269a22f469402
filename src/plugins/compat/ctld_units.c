/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This tells what the stock plugin, or the topology plugin behind it, keeps a job's
 * nodes to beside that they are free, in the words of placement/bounds.h: nodes in
 * a row, leaf switches of topology/tree, blocks and segments of topology/block. It
 * only has to come near: each set is asked of the stock plugin before it is taken. */
#include "ctld_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#if CPLSLURM_SERIES >= 2405
#include "src/interfaces/topology.h"
#endif

/* Levels of blocks that there may be: their sizes are powers of two times that of
 * a block. */
#define LEVELS 31

/* These are a topology's leaf switches or blocks, in its order. */
struct topology {
	struct topology *next;
	char *name; /* "" is the cluster's own */
	bool blocks;
	int n;
	char **unit, **hosts; /* [n] */
	uint32_t block_size;
	uint32_t levels; /* bits: blocks of 2^k blocks are a unit, too */
	struct text {
		struct text *next;
		int unit_level, domain_level;
		char *units;
	} *text;
};

static struct topology *topologies;
static char *row; /* all nodes in order */

static void topology_free(struct topology *t)
{
	while (t->text) {
		struct text *next = t->text->next;

		cpl_free_all(t->text->units, t->text);
		t->text = next;
	}
	for (int i = 0; i < t->n; i++) {
		cpl_free_all(t->unit[i], t->hosts[i]);
	}
	cpl_free_all(t->unit, t->hosts, t->name, t);
}

void cplslurm_units_forget(void)
{
	while (topologies) {
		struct topology *next = topologies->next;

		topology_free(topologies);
		topologies = next;
	}
	free(row);
	row = NULL;
}

#if CPLSLURM_SERIES < 2302 || CPLSLURM_SERIES >= 2405
/* Add a unit; what would end a name in the text of units becomes "_". Return 0, or
 * -1 where memory is out. */
static int add_unit(struct topology *t, const char *name, size_t name_length,
                    const char *hosts, size_t hosts_length)
{
	size_t n = (size_t)t->n + 1;
	char **unit = realloc(t->unit, n * sizeof(*unit));
	char **list;

	if (unit)
		t->unit = unit;
	list = realloc(t->hosts, n * sizeof(*list));
	if (list)
		t->hosts = list;
	if (!unit || !list)
		return -1;
	unit[t->n] = strndup(name, name_length);
	list[t->n] = strndup(hosts, hosts_length);
	t->n++;
	if (!unit[t->n - 1] || !list[t->n - 1])
		return -1;
	for (char *at = unit[t->n - 1]; *at; at++)
		if (*at == ' ' || *at == ':' || *at == '/')
			*at = '_';
	return 0;
}
#endif

#if CPLSLURM_SERIES < 2302
static int read_topology(struct topology *t)
{
	if (!&switch_record_table || !switch_record_table)
		return 0;
	for (int i = 0; i < switch_record_cnt; i++) {
		const switch_record_t *s = &switch_record_table[i];

		if (!s->level && s->name && s->nodes &&
		    add_unit(t, s->name, strlen(s->name), s->nodes,
		             strlen(s->nodes)))
			return -1;
	}
	return 0;
}
#elif CPLSLURM_SERIES >= 2405
/* Find the value of KEY=VALUE in a line, up to the next blank. NULL: it has none. */
static const char *value_of(const char *line, const char *end, const char *key,
                            size_t *length)
{
	size_t n = strlen(key);

	for (const char *at = line; at + n < end; at++) {
		if (memcmp(at, key, n) ||
		    (at > line && !isspace((unsigned char)at[-1])))
			continue;
		at += n;
		*length = 0;
		while (at + *length < end &&
		       !isspace((unsigned char)at[*length]))
			++*length;
		return at;
	}
	return NULL;
}

/* Take a line of what `scontrol show topology` prints. */
static int read_line(struct topology *t, const char *line, const char *end)
{
	size_t n_name, n_hosts, n;
	const char *name = value_of(line, end, "BlockName=", &n_name);
	const char *hosts = value_of(line, end, "Nodes=", &n_hosts);
	const char *size = value_of(line, end, "BlockSize=", &n);
	const char *level = value_of(line, end, "Level=", &n);
	uint32_t nodes = size ? (uint32_t)strtoul(size, NULL, 10) : 0;

	if (name && hosts && nodes) {
		t->blocks = true;
		t->block_size = nodes;
		return add_unit(t, name, n_name, hosts, n_hosts);
	}
	/* Blocks of blocks come behind them. */
	if (value_of(line, end, "AggregatedBlock=", &n) && t->block_size)
		for (int k = 1; k < LEVELS; k++)
			if ((uint64_t)t->block_size << k == nodes)
				t->levels |= UINT32_C(1) << k;
	name = value_of(line, end, "SwitchName=", &n_name);
	if (!name || !hosts || !level || *level != '0')
		return 0;
	return add_unit(t, name, n_name, hosts, n_hosts);
}

static int print_topology(const char *name, char **out)
{
	dynamic_plugin_data_t *info = NULL;
	int rc;

#if CPLSLURM_SERIES < 2505
	(void)name;
	rc = topology_g_get(TOPO_DATA_TOPOLOGY_PTR, &info);
#else
	rc = topology_g_get(TOPO_DATA_TOPOLOGY_PTR,
	                    *name ? (char *)name : NULL, &info);
#endif
	if (rc || !info)
		return 0;
#if CPLSLURM_SERIES < 2505
	topology_g_topology_print(info, NULL, out);
	topology_g_topology_free(info);
#elif CPLSLURM_SERIES < 2511
	topology_g_topology_print(info, NULL, NULL, out);
	topology_g_topology_free(info);
#else
	topology_g_topoinfo_print(info, NULL, NULL, out);
	topology_g_topoinfo_free(info);
#endif
	return 0;
}

static int read_topology(struct topology *t)
{
	char *text = NULL;
	int rc = print_topology(t->name, &text);

	for (const char *line = text; line && *line && !rc;) {
		const char *end = strchr(line, '\n');

		if (!end)
			end = line + strlen(line);
		rc = read_line(t, line, end);
		line = *end ? end + 1 : end;
	}
	xfree(text);
	return rc;
}
#else
static int read_topology(struct topology *t)
{
	(void)t;
	return 0;
}
#endif

/* Return the topology of the job's partition, NULL where memory is out. */
static struct topology *topology_of(const job_record_t *job_ptr)
{
	const char *name = "";
	struct topology *t;

#if CPLSLURM_SERIES >= 2505
	if (job_ptr->part_ptr && job_ptr->part_ptr->topology_name)
		name = job_ptr->part_ptr->topology_name;
#else
	(void)job_ptr;
#endif
	for (t = topologies; t; t = t->next)
		if (!strcmp(t->name, name))
			return t;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->name = strdup(name);
	if (!t->name || read_topology(t)) {
		topology_free(t);
		return NULL;
	}
	t->next = topologies;
	topologies = t;
	return t;
}

/* Write units of 2^unit_level blocks (or switches) in domains of
 * 2^domain_level; with a level below 0 there are no domains. */
static void put_units(const struct topology *t, const struct text *text,
                      FILE *to)
{
	int step = 1 << text->unit_level;

	for (int i = 0; i < t->n; i += step) {
		int last = i + step < t->n ? i + step - 1 : t->n - 1;

		if (i)
			fputc(' ', to);
		if (text->domain_level >= 0)
			fprintf(to, "%d/", i >> text->domain_level);
		fputs(t->unit[i], to);
		if (last > i)
			fprintf(to, "-%s", t->unit[last]);
		for (int k = i; k <= last; k++)
			fprintf(to, "%c%s", k == i ? ':' : ',', t->hosts[k]);
	}
}

/* Return that text, which is kept; NULL where memory is out. */
static const char *units_of(struct topology *t, int unit_level,
                            int domain_level)
{
	struct text *text;
	size_t size;
	FILE *to;

	for (text = t->text; text; text = text->next)
		if (text->unit_level == unit_level &&
		    text->domain_level == domain_level)
			return text->units;
	text = calloc(1, sizeof(*text));
	to = text ? open_memstream(&text->units, &size) : NULL;
	if (!to) {
		free(text);
		return NULL;
	}
	text->unit_level = unit_level;
	text->domain_level = domain_level;
	put_units(t, text, to);
	if (fclose(to)) {
		cpl_free_all(text->units, text);
		return NULL;
	}
	text->next = t->text;
	t->text = text;
	return text->units;
}

/* Return all nodes in the order of Slurm's table; NULL where memory is out. */
static const char *all_in_a_row(void)
{
	const char **name;
	char *hosts;
	int n, used = 0;

	if (row)
		return row;
	name = cplslurm_hosts(&n);
	if (!name)
		return NULL;
	for (int i = 0; i < n; i++)
		if (name[i])
			name[used++] = name[i];
	hosts = cpl_hostlist_format((char *const *)name, used);
	free(name);
	if (!hosts)
		return NULL;
	row = malloc(strlen(hosts) + sizeof("nodes:"));
	if (row)
		sprintf(row, "nodes:%s", hosts);
	free(hosts);
	return row;
}

#if CPLSLURM_SERIES >= 2405
/* Return k where 2^k blocks hold n nodes. */
static int level_for(const struct topology *t, uint64_t n)
{
	int k = 0;

	while (k < LEVELS && (uint64_t)t->block_size << k < n)
		k++;
	return k;
}

/* Return the lowest level from k on of which there are blocks, -1 for none: the
 * whole topology. */
static int level_from(const struct topology *t, int k)
{
	for (; k < LEVELS; k++)
		if (!k || t->levels & UINT32_C(1) << k)
			return k;
	return -1;
}

static int level_below(const struct topology *t, int k)
{
	while (--k > 0)
		if (t->levels & UINT32_C(1) << k)
			return k;
	return 0;
}

/* In topology/block a segment, or a job without, lies in a block of the lowest
 * level that holds it, on as few blocks of the level below as hold it. */
static const char *block_rules(const struct cplslurm_test *test,
                               struct topology *t, char *rules, size_t size)
{
	const job_details_t *details = test->job->details;
	uint64_t n = test->min_nodes < test->req_nodes ? test->min_nodes
	                                               : test->req_nodes;
	uint64_t segment = details->segment_size ? details->segment_size : n;
	int level = level_for(t, segment), unit = level_below(t, level);
	int domain = level_from(t, level), used;
	uint64_t unit_nodes = (uint64_t)t->block_size << unit;
	uint64_t most = (segment + unit_nodes - 1) / unit_nodes;
	bool apart = false, together = false;

	if (n > INT32_MAX || most > INT32_MAX)
		return NULL;
#if CPLSLURM_SERIES >= 2511
	apart = details->segment_size &&
	        test->job->bit_flags & SPREAD_SEGMENTS;
	together = details->segment_size &&
	           test->job->bit_flags & CONSOLIDATE_SEGMENTS;
#endif
	/* A block is a domain by itself, where it is a unit. */
	if (!level)
		domain = -1;
	if (together && !level) {
		/* Slurm counts the blocks that hold it, times their nodes. */
		if (apart)
			n = n / segment * t->block_size;
		domain = level_from(t, level_for(t, n));
		together = domain >= 0;
	}
	used = snprintf(rules, size, "blocks=%d", (int)most);
	if (details->segment_size)
		used += snprintf(rules + used, size - (size_t)used,
		                 ",segment=%d", (int)segment);
	if (apart)
		used += snprintf(rules + used, size - (size_t)used, ",spread");
	if (together)
		snprintf(rules + used, size - (size_t)used, ",consolidate");
	return units_of(t, unit, domain);
}
#endif

/* Fill in the words and return the units, NULL for none. */
static const char *rules_of(const struct cplslurm_test *test,
                            struct topology *t, char *rules, size_t size)
{
	const job_record_t *job_ptr = test->job;

#if CPLSLURM_SERIES >= 2405
	if (t->blocks)
		return block_rules(test, t, rules, size);
#endif
	if (job_ptr->bit_flags & SPREAD_JOB)
		return NULL;
	if (job_ptr->details->contiguous) {
		snprintf(rules, size, "contiguous");
		return all_in_a_row();
	}
	if (!job_ptr->req_switch || !t->n || job_ptr->req_switch > INT32_MAX)
		return NULL;
	snprintf(rules, size, "switches=%d", (int)job_ptr->req_switch);
	return units_of(t, 0, -1);
}

bool cplslurm_in_blocks(const struct cplslurm_test *test)
{
	const struct topology *t = topology_of(test->job);

	return t && t->blocks;
}

void cplslurm_bound(struct cplslurm_test *test, struct cpl_engine_request *req)
{
	const job_record_t *job_ptr = test->job;
	struct topology *t = topology_of(job_ptr);
	bool asks = job_ptr->details->contiguous || job_ptr->req_switch ||
	            job_ptr->bit_flags & SPREAD_JOB;

#if CPLSLURM_SERIES >= 2405
	asks |= job_ptr->details->segment_size || IS_JOB_WHOLE_TOPO(job_ptr);
#endif
	test->rules[0] = '\0';
	if (t)
		req->units = rules_of(test, t, test->rules,
		                      sizeof(test->rules));
	if (req->units)
		req->rules = test->rules;
#if CPLSLURM_SERIES >= 2405
	req->segments = req->rules && t->blocks && !asks;
#endif
	/* GRES would be chosen anew, so jobs that have some are not compared. */
	req->by_stock = (asks || req->rules) && !job_ptr->gres_list_req;
}
