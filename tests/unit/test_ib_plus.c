/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dumps of random dragonfly+ fabrics, their switches in any order and with names
 * that tell nothing: recognised, with the same loads as the graph of the same
 * cables. And what is a doubt, what is none.
 */
#include "unit.h"

#include "network/reader/reader.h"
#include "network/type.h"
#include "number.h"
#include "routing_cases.h"

#define MACHINES 40
#define MAX_SWITCHES 64
#define MAX_CABLES 2048

struct cable {
	int a, b, a_port, b_port;
	double rate;
};

/* Leaves first, then spines; cell by cell. */
struct fabric {
	int cells, k, p, n_leaves, n, n_hosts;
	int cell[MAX_SWITCHES], hosts[MAX_SWITCHES], ports[MAX_SWITCHES];
	struct cable cable[MAX_CABLES];
	int n_cables;
};

static void add_cable(struct fabric *f, int a, int b, double rate)
{
	struct cable *c = &f->cable[f->n_cables++];

	assert_true(f->n_cables <= MAX_CABLES);
	*c = (struct cable){a, b, 0, 0, rate};
	c->a_port = ++f->ports[a];
	c->b_port = ++f->ports[b];
}

static int pick_spine(const struct fabric *f, uint64_t seed, uint64_t at,
                      int cell)
{
	int n = 0, which;

	for (int s = f->n_leaves; s < f->n; s++)
		n += f->cell[s] == cell;
	which = draw(seed, at, 0, n - 1);
	for (int s = f->n_leaves;; s++)
		if (f->cell[s] == cell && which-- == 0)
			return s;
}

static void draw_fabric(struct fabric *f, uint64_t seed)
{
	uint64_t at = 1000;

	memset(f, 0, sizeof(*f));
	f->cells = draw(seed, 0, 2, 5);
	f->k = draw(seed, 1, 1, 3);
	f->p = draw(seed, 2, 1, 2);
	for (int c = 0; c < f->cells; c++)
		for (int n = draw(seed, 10 + (uint64_t)c, 1, 4); n > 0; n--) {
			f->hosts[f->n] = draw(seed, at++, 1, 3);
			f->n_hosts += f->hosts[f->n];
			f->ports[f->n] = f->hosts[f->n];
			f->cell[f->n++] = c;
		}
	f->n_leaves = f->n;
	for (int c = 0; c < f->cells; c++)
		for (int n = draw(seed, 20 + (uint64_t)c, 1, 4); n > 0; n--)
			f->cell[f->n++] = c;
	for (int l = 0; l < f->n_leaves; l++)
		for (int s = f->n_leaves; s < f->n; s++)
			for (int i = 0; i < f->p && f->cell[l] == f->cell[s];
			     i++)
				add_cable(f, l, s, 25e9);
	for (int a = 0; a < f->cells; a++)
		for (int b = a + 1; b < f->cells; b++)
			for (int i = 0; i < f->k; i++, at += 2)
				add_cable(f, pick_spine(f, seed, at, a),
				          pick_spine(f, seed, at + 1, b),
				          50e9);
}

/* Its switches in a drawn order. */
static char *dump(const struct fabric *f, uint64_t seed)
{
	int order[MAX_SWITCHES];
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	for (int i = 0; i < f->n; i++) {
		int j = draw(seed, 500 + (uint64_t)i, 0, i);

		order[i] = order[j];
		order[j] = i;
	}
	for (int i = 0; i < f->n; i++) {
		int s = order[i], first = 0;

		for (int l = 0; l < s && l < f->n_leaves; l++)
			first += f->hosts[l];
		fprintf(out, "Switch\t64 \"S-%04x\"\t# \"x\" lid %d\n", s, s);
		for (int h = 0; h < f->hosts[s]; h++)
			fprintf(out,
			        "[%d]\t\"H-%d\"[1](%d) # \"n%d mlx5_0\" lid 1 "
			        "4xHDR\n",
			        h + 1, first + h, first + h, first + h);
		for (int c = 0; c < f->n_cables; c++) {
			const struct cable *l = &f->cable[c];
			const char *speed = l->rate > 30e9 ? "NDR" : "HDR";

			if (l->a == s)
				fprintf(out,
				        "[%d]\t\"S-%04x\"[%d] # \"x\" 4x%s\n",
				        l->a_port, l->b, l->b_port, speed);
			if (l->b == s)
				fprintf(out,
				        "[%d]\t\"S-%04x\"[%d] # \"x\" 4x%s\n",
				        l->b_port, l->a, l->a_port, speed);
		}
	}
	fclose(out);
	return text;
}

static struct cpl_network *graph_of(const struct fabric *f)
{
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);
	struct cpl_network *net;

	assert_non_null(out);
	fprintf(out,
	        "{\"format\": \"commplace-network\", \"version\": 1, "
	        "\"type\": \"graph\", \"routers\": %d, \"node_routers\": %d, "
	        "\"nodes_per_router\": 3, \"links\": [",
	        f->n, f->n_leaves);
	for (int c = 0; c < f->n_cables; c++)
		fprintf(out, "%s[%d, %d, %g]", c ? ", " : "", f->cable[c].a,
		        f->cable[c].b, f->cable[c].rate);
	fprintf(out, "], \"bandwidth\": {\"injection\": 25e9}, \"nodes\": {");
	for (int l = 0, first = 0; l < f->n_leaves; first += f->hosts[l++])
		fprintf(out, "%s\"%d\": \"n[%d-%d]\"", l ? ", " : "", l, first,
		        first + f->hosts[l] - 1);
	fprintf(out, "}}");
	fclose(out);
	net = parse_network(text);
	free(text);
	return net;
}

static json_t *import_dump(const char *text, struct cpl_error *why,
                           struct cpl_error *doubt, struct cpl_error *found)
{
	struct cpl_network_import in = {.format = "ibnetdiscover",
	                                .name = "net",
	                                .source = "in",
	                                .text = text,
	                                .length = strlen(text),
	                                .why = why,
	                                .doubt = doubt,
	                                .found = found};
	struct cpl_error err = {""};
	char *table;
	json_t *root = cpl_network_import(&in, &table, &err);

	if (!root)
		fail_msg("%s", err.text);
	return root;
}

static const char *type_of(const json_t *root)
{
	return json_string_value(json_object_get(root, "type"));
}

struct sum {
	double rate, bytes;
};

static int compare(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (x->rate != y->rate)
		return x->rate < y->rate ? -1 : 1;
	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Bytes of each cable each way, in increasing order, of flows between hosts. */
static int loads(const struct cpl_network *net, int hosts, uint64_t seed,
                 struct sum *out)
{
	struct cpl_error err = {""};
	const struct cpl_routing *ecmp = cpl_routing_find(net, "ecmp", &err);
	struct cpl_comm_entry entry[30];
	struct cpl_comm *comm;
	struct cpl_load sums;
	int *node = malloc((size_t)hosts * sizeof(*node)), n = 0;

	assert_non_null(ecmp);
	for (int h = 0; h < hosts; h++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", h);
		node[h] = cpl_network_node(net, name);
		assert_true(node[h] >= 0);
	}
	for (uint64_t i = 0; i < 30; i++)
		entry[i] = (struct cpl_comm_entry){
		        draw(seed, 7000 + 3 * i, 0, hosts - 1),
		        draw(seed, 7001 + 3 * i, 0, hosts - 1),
		        draw(seed, 7002 + 3 * i, 1, 1000), 1};
	comm = cpl_comm_build(hosts, entry, 30, &err);
	assert_int_equal(cpl_load_init(&sums, net, &err), 0);
	add_traffic(net, ecmp, comm, node, &sums, NULL);
	for (int64_t l = 0; l < net->n_links; l++) {
		int cables = cpl_network_link_cables(net, l);

		for (int i = 0; i < cables; i++)
			out[n++] = (struct sum){
			        cpl_network_link_bandwidth(net, l) / cables,
			        sums.link[l] / cables};
	}
	qsort(out, (size_t)n, sizeof(*out), compare);
	cpl_load_free(&sums);
	cpl_comm_free(comm);
	free(node);
	return n;
}

static void test_recognised(void **state)
{
	for (uint64_t seed = 0; seed < MACHINES; seed++) {
		struct cpl_error why = {""}, doubt = {""}, found = {""};
		static struct sum want[2 * MAX_CABLES], got[2 * MAX_CABLES];
		static struct fabric f;
		struct cpl_network *net, *graph;
		char *text, *description;
		json_t *root;
		int n;

		draw_fabric(&f, seed);
		text = dump(&f, seed);
		root = import_dump(text, &why, &doubt, &found);
		if (strcmp(type_of(root), "dragonfly+"))
			fail_msg("seed %d: %s", (int)seed, why.text);
		assert_string_equal(why.text, "");
		assert_string_equal(doubt.text, "");
		assert_non_null(strstr(found.text, "dragonfly+ of"));
		description = json_dumps(root, 0);
		net = parse_network(description);
		graph = graph_of(&f);
		assert_int_equal(cpl_network_level(net, "group")->n_units,
		                 f.cells);
		assert_number(net->port_bandwidth[0], 25e9, 0);
		n = loads(graph, f.n_hosts, seed, want);
		assert_int_equal(loads(net, f.n_hosts, seed, got), n);
		for (int i = 0; i < n; i++) {
			assert_number(got[i].rate, want[i].rate, 0);
			assert_number(got[i].bytes, want[i].bytes,
			              1e-9 * (want[i].bytes + 1));
		}
		cpl_network_free(graph);
		cpl_network_free(net);
		free(description);
		json_decref(root);
		free(text);
	}
}

/* A fabric of 4 cells of 3 leaves and 3 spines, K 3, changed a little. */
static void test_doubts(void **state)
{
	static const struct {
		int drop;     /* a cable, or -1 */
		int from, to; /* one more, or -1 */
		int empty;    /* a leaf that loses its hosts, or -1 */
		const char *type, *why, *doubt;
	} row[] = {
	        {-1, -1, -1, -1, "dragonfly+", "", ""},
	        {0, -1, -1, -1, "dragonfly+", "",
	         "1 of 36 pairs of leaf and spine do not have the 1 cables"},
	        {-1, 2, 12, -1, "dragonfly+", "",
	         "1 of 36 pairs of leaf and spine"},
	        {-1, -1, -1, 4, "dragonfly+", "",
	         "1 switches without hosts are taken for leaves; the first is "
	         "S-0004"},
	        {-1, 0, 1, -1, "graph",
	         "two switches with hosts, are joined", ""},
	        {-1, 12, 13, -1, "graph", "two spines of one group, are joined",
	         ""},
	        /* One of six pairs of cells is too many. */
	        {36, -1, -1, -1, "graph",
	         "of 6 pairs of groups 1 do not have 3 links", ""},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_error why = {""}, doubt = {""}, found = {""};
		static struct fabric f;
		json_t *root;
		char *text;

		memset(&f, 0, sizeof(f));
		f.n_leaves = 12;
		f.n = 24;
		for (int s = 0; s < 24; s++)
			f.cell[s] = s % 12 / 3;
		for (int l = 0; l < 12; l++)
			f.hosts[l] = f.ports[l] = l != row[i].empty;
		for (int l = 0; l < 12; l++)
			for (int s = 12; s < 24; s++)
				if (f.cell[l] == f.cell[s])
					add_cable(&f, l, s, 25e9);
		for (int a = 0; a < 4; a++)
			for (int b = a + 1; b < 4; b++)
				for (int k = 0; k < 3; k++)
					add_cable(&f, 12 + 3 * a + k,
					          12 + 3 * b + k, 25e9);
		if (row[i].from >= 0)
			add_cable(&f, row[i].from, row[i].to, 25e9);
		if (row[i].drop >= 0)
			f.cable[row[i].drop] = f.cable[--f.n_cables];
		text = dump(&f, i);
		root = import_dump(text, &why, &doubt, &found);
		if (strcmp(type_of(root), row[i].type) ||
		    !strstr(why.text, row[i].why) || !*row[i].why != !*why.text ||
		    !strstr(doubt.text, row[i].doubt) ||
		    !*row[i].doubt != !*doubt.text)
			fail_msg("%zu: %s, why '%s', doubt '%s'", i,
			         type_of(root), why.text, doubt.text);
		json_decref(root);
		free(text);
	}
}

/* Leaves, middle switches and tops: a tree, and nobody asks why. */
static void test_tree(void **state)
{
	struct cpl_error why = {""}, doubt = {""}, found = {""};
	static struct fabric f;
	json_t *root;
	char *text;

	memset(&f, 0, sizeof(f));
	f.n_leaves = 4;
	f.n = 10;
	for (int l = 0; l < 4; l++) {
		f.hosts[l] = f.ports[l] = 1;
		for (int s = 4 + l / 2 * 2; s < 6 + l / 2 * 2; s++)
			add_cable(&f, l, s, 25e9);
	}
	for (int s = 4; s < 8; s++)
		add_cable(&f, s, 8 + s % 2, 25e9);
	text = dump(&f, 1);
	root = import_dump(text, &why, &doubt, &found);
	assert_string_equal(type_of(root), "graph");
	assert_string_equal(why.text, "");
	assert_string_equal(doubt.text, "");
	json_decref(root);
	free(text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_recognised),
	        cmocka_unit_test(test_doubts),
	        cmocka_unit_test(test_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
