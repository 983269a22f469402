/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long networks of some 100,000 nodes on 10,000 switches take to be read,
 * CPU seconds of one thread, and the memory of the process at its most; each in
 * a process of its own. `random` is a graph whose switches each have 12 cables to
 * drawn ones, `tree` a graph of leaves below spines below cores, `listed` a
 * dragonfly+ with a list of its links. Usage: bench_load
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "network/network.h"
#include "cpu_time.h"

#define HEAD "{\"format\": \"commplace-network\", \"version\": 1, "

static void write_dragonfly(FILE *out)
{
	fprintf(out, HEAD "\"type\": \"dragonfly\", \"groups\": 105, "
	                  "\"rows\": 6, \"columns\": 16, "
	                  "\"nodes_per_router\": 10, "
	                  "\"global_links_per_group_pair\": 8, "
	                  "\"nodes\": \"n[0-100799]\"}");
}

static void write_kinds(FILE *out)
{
	fprintf(out, HEAD "\"type\": \"dragonfly\", \"kinds\": [{\"groups\": 80, "
	                  "\"rows\": 6, \"columns\": 16, "
	                  "\"nodes_per_router\": 10}, {\"groups\": 75, "
	                  "\"rows\": 1, \"columns\": 32, "
	                  "\"nodes_per_router\": 10}], "
	                  "\"global_links_per_group_pair\": 4, "
	                  "\"nodes\": \"n[0-100799]\"}");
}

static void write_plus(FILE *out)
{
	fprintf(out, HEAD "\"type\": \"dragonfly+\", \"cells\": 105, "
	                  "\"leaves\": 48, \"spines\": 48, "
	                  "\"nodes_per_router\": 20, "
	                  "\"global_links_per_cell_pair\": 4, "
	                  "\"nodes\": \"n[0-100799]\"}");
}

static void write_listed(FILE *out)
{
	fprintf(out, HEAD "\"type\": \"dragonfly+\", \"cells\": 105, "
	                  "\"leaves\": 48, \"spines\": 48, "
	                  "\"nodes_per_router\": 20, "
	                  "\"global_links_per_cell_pair\": 4, "
	                  "\"global_wiring\": \"list\", \"global_links\": [");
	for (int a = 0; a < 105; a++)
		for (int b = a + 1; b < 105; b++)
			for (int k = 0; k < 4; k++)
				fprintf(out, "%s[%d, %d, %d, %d]",
				        a + b + k > 1 ? ", " : "", a,
				        (b * 4 + k) % 48, b, (a * 4 + k) % 48);
	fprintf(out, "], \"nodes\": \"n[0-100799]\"}");
}

static void write_fattree(FILE *out)
{
	fprintf(out, HEAD "\"type\": \"fattree\", \"levels\": ["
	                  "{\"down\": 24, \"up\": 24}, "
	                  "{\"down\": 170, \"up\": 8}], "
	                  "\"nodes_per_router\": 25, "
	                  "\"nodes\": \"n[0-101999]\"}");
}

static void write_tree(FILE *out)
{
	fprintf(out, HEAD "\"type\": \"graph\", \"routers\": 10000, "
	                  "\"node_routers\": 5000, \"nodes_per_router\": 20, "
	                  "\"links\": [");
	for (int leaf = 0; leaf < 5000; leaf++)
		for (int s = 0; s < 20; s++)
			fprintf(out, "%s[%d, %d]", leaf + s ? ", " : "", leaf,
			        5000 + leaf / 25 * 20 + s);
	for (int spine = 0; spine < 4000; spine++)
		for (int c = 0; c < 10; c++)
			fprintf(out, ", [%d, %d]", 5000 + spine,
			        9000 + (spine % 20) * 50 + (spine / 20 + c) % 50);
	fprintf(out, "], \"nodes\": {");
	for (int leaf = 0; leaf < 5000; leaf++)
		fprintf(out, "%s\"%d\": \"n[%d-%d]\"", leaf ? ", " : "", leaf,
		        leaf * 20, leaf * 20 + 19);
	fprintf(out, "}}");
}

static void write_random(FILE *out)
{
	fprintf(out, HEAD "\"type\": \"graph\", \"routers\": 10000, "
	                  "\"nodes_per_router\": 10, \"links\": [");
	for (int r = 0; r < 10000; r++)
		for (int k = 0; k < 6; k++) {
			int to = (int)cpl_random_below(1, (uint64_t)k,
			                               (uint64_t)r, 9999);

			fprintf(out, "%s[%d, %d]", r + k ? ", " : "", r,
			        to + (to >= r));
		}
	fprintf(out, "], \"nodes\": \"n[0-99999]\"}");
}

static int measure(const char *name, void (*write)(FILE *out))
{
	struct cpl_error err = {""};
	struct cpl_network *net;
	struct rusage use;
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);
	double start;

	if (!out)
		return 1;
	write(out);
	fclose(out);
	start = cpu_seconds();
	net = cpl_network_parse(text, length, name, &err);
	if (!net) {
		printf("%-12s %s\n", name, err.text);
		return 1;
	}
	start = cpu_seconds() - start;
	getrusage(RUSAGE_SELF, &use);
	printf("%-12s %6d routers %7d nodes %9lld links  %6.3f s  %5ld MB\n",
	       name, net->n_routers, net->n_nodes, (long long)net->n_links,
	       start, use.ru_maxrss / 1024);
	cpl_network_free(net);
	free(text);
	return 0;
}

int main(void)
{
	static const struct {
		const char *name;
		void (*write)(FILE *out);
	} table[] = {{"fattree", write_fattree}, {"dragonfly+", write_plus},
	             {"listed", write_listed},   {"dragonfly", write_dragonfly},
	             {"kinds", write_kinds},     {"tree", write_tree},
	             {"random", write_random}};
	int failed = 0, status;

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (!pid) {
			int rc = measure(table[i].name, table[i].write);

			fflush(stdout);
			_exit(rc);
		}
		failed |= pid < 0 || waitpid(pid, &status, 0) != pid || status;
	}
	return failed ? 1 : 0;
}
