/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/rank_order.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "graph/members.h"

void cpl_rank_order_name(char name[CPL_RANK_ORDER_NAME], const char *variable,
                         int part, int component)
{
	char number[16] = "", group[32] = "";

	if (part > 0)
		snprintf(number, sizeof(number), "_%d", part + 1);
	if (component >= 0)
		snprintf(group, sizeof(group), "_HET_GROUP_%d", component);
	snprintf(name, CPL_RANK_ORDER_NAME, "%s%s%s", variable, number,
	         group);
}

const char *cpl_rank_order_piece(const char *text, int part, size_t *length)
{
	size_t all = strlen(text), most = CPL_RANK_ORDER_PART - 1;
	size_t first = (size_t)part * most;

	if (first > all)
		first = all;
	*length = all - first < most ? all - first : most;
	return text + first;
}

/* Counts the ranks from `r` on that share a host. */
static int run_of(const int *rank_host, int ranks, int r)
{
	int n = 1;

	while (r + n < ranks && rank_host[r + n] == rank_host[r])
		n++;
	return n;
}

char *cpl_rank_order_text(char *const *host, int n_hosts, const int *rank_host,
                          int ranks, size_t limit)
{
	char *hosts = cpl_hostlist_format(host, n_hosts), *text = NULL;
	size_t size = 0;
	FILE *to = hosts ? open_memstream(&text, &size) : NULL;
	bool failed;

	if (!to) {
		free(hosts);
		return NULL;
	}
	fprintf(to, "%s ", hosts);
	for (int r = 0, n; r < ranks; r += n) {
		n = run_of(rank_host, ranks, r);
		fprintf(to, r ? ",%d" : "%d", rank_host[r]);
		if (n > 1)
			fprintf(to, "x%d", n);
	}
	failed = ferror(to);
	failed |= fclose(to) != 0;
	free(hosts);
	if (failed || size >= limit) {
		free(text);
		return NULL;
	}
	return text;
}

/* Sets at[h] to the index in `to` of host h of `from`. */
static int find_hosts(const struct cpl_hostlist *from,
                      const struct cpl_hostlist *to, int *at,
                      struct cpl_error *err)
{
	if (cpl_hostlist_find(to, from, at, err))
		return -1;
	for (int h = 0; h < from->count; h++)
		if (at[h] < 0)
			return cpl_fail(err, "%s is not in the allocation",
			                from->name[h]);
	return 0;
}

/* Reads a number of digits only, 0 .. max; -1 where there is none. */
static int number(const char **p, int max)
{
	long value = 0;
	const char *start = *p;

	for (; **p >= '0' && **p <= '9'; ++*p) {
		value = 10 * value + (**p - '0');
		if (value > max)
			return -1;
	}
	return *p > start ? (int)value : -1;
}

/* Slurm counts a node's tasks in 16 bits. */
#define HOST_RANKS_MAX UINT16_MAX

static int ranks_of(int hosts)
{
	return hosts <= INT_MAX / HOST_RANKS_MAX ? hosts * HOST_RANKS_MAX
	                                         : INT_MAX;
}

/* Reads one run: returns its number of ranks, 0 where it is none. */
static int read_run(const char **p, int n_hosts, int most, int *host)
{
	int n = 1;

	*host = number(p, n_hosts - 1);
	if (*host >= 0 && **p == 'x') {
		++*p;
		n = number(p, most);
	}
	return *host < 0 || n < 1 || n > most || (**p && **p != ',') ? 0 : n;
}

/* Checks runs of hosts 0 .. n_hosts - 1. Returns the number of ranks, or -1. */
static int count_ranks(const char *p, int n_hosts, int most,
                       struct cpl_error *err)
{
	int ranks = 0;

	for (;; p++) {
		int host, n = read_run(&p, n_hosts, most - ranks, &host);

		if (!n)
			return cpl_fail(err,
			                "rank order: no host of rank %d at "
			                "'%.20s'; its hosts have at most %d ranks",
			                ranks, p, most);
		ranks += n;
		if (!*p)
			return ranks;
	}
}

static int check_hosts(const struct cpl_rank_order *order,
                       struct cpl_error *err)
{
	int *ranks = calloc((size_t)order->hosts.count + 1, sizeof(*ranks));
	int rc = 0;

	if (!ranks)
		return cpl_fail_memory(err);
	for (int r = 0; r < order->ranks && !rc; r++)
		if (++ranks[order->rank_host[r]] > HOST_RANKS_MAX)
			rc = cpl_fail(err,
			              "rank order: more than %d ranks for %s",
			              HOST_RANKS_MAX,
			              order->hosts.name[order->rank_host[r]]);
	free(ranks);
	return rc;
}

static int parse_runs(const char *p, const int *at, int n_hosts,
                      struct cpl_rank_order *out, struct cpl_error *err)
{
	int most = ranks_of(out->hosts.count);
	int ranks = count_ranks(p, n_hosts, most, err);

	if (ranks < 0)
		return -1;
	out->rank_host = malloc(((size_t)ranks + 1) * sizeof(*out->rank_host));
	if (!out->rank_host)
		return cpl_fail_memory(err);
	for (; out->ranks < ranks; p++) {
		int host, n = read_run(&p, n_hosts, most, &host);

		while (n--)
			out->rank_host[out->ranks++] = at[host];
	}
	return check_hosts(out, err);
}

/* So many hosts more than allocated are read, to name the first stranger. */
#define STRANGERS 16

int cpl_rank_order_parse(const char *text, const char *allocation,
                         struct cpl_rank_order *out, struct cpl_error *err)
{
	size_t n = strcspn(text, " ");
	char *names = strndup(text, n);
	struct cpl_hostlist hosts = {0};
	int *at = NULL, rc = -1;

	*out = (struct cpl_rank_order){0};
	if (cpl_out_of_memory(!names, err))
		goto out;
	if (!text[n]) {
		cpl_fail(err, "rank order: no ranks behind the hosts");
		goto out;
	}
	if (cpl_hostlist_parse(&out->hosts, allocation, err) ||
	    cpl_hostlist_parse_most(&hosts, names, out->hosts.count + STRANGERS,
	                            err))
		goto out;
	at = malloc(((size_t)hosts.count + 1) * sizeof(*at));
	if (!at)
		cpl_fail_memory(err);
	else if (!find_hosts(&hosts, &out->hosts, at, err))
		rc = parse_runs(text + n + 1, at, hosts.count, out, err);
out:
	cpl_free_all(names, at);
	cpl_hostlist_free(&hosts);
	if (rc)
		cpl_rank_order_free(out);
	return rc;
}

void cpl_rank_order_free(struct cpl_rank_order *order)
{
	cpl_hostlist_free(&order->hosts);
	free(order->rank_host);
	*order = (struct cpl_rank_order){0};
}

int cpl_rank_order_nodes(const struct cpl_rank_order *order, int *first,
                         bool *blocks)
{
	bool *seen = calloc((size_t)order->hosts.count + 1, sizeof(*seen));
	int n = 0;

	if (!seen)
		return -1;
	*blocks = true;
	for (int r = 0; r < order->ranks; r++) {
		int h = order->rank_host[r];

		if (r && h == order->rank_host[r - 1])
			continue;
		if (seen[h]) {
			*blocks = false;
			continue;
		}
		seen[h] = true;
		first[n++] = h;
	}
	free(seen);
	return n;
}

static int write_by_host(FILE *to, int n_hosts, const int *rank_host, int ranks)
{
	int *first = calloc((size_t)n_hosts + 2, sizeof(*first));
	int *on = malloc(((size_t)ranks + 1) * sizeof(*on));
	int rc = first && on ? 0 : -1;

	if (!rc)
		cpl_members_list(rank_host, ranks, n_hosts, first, on);
	for (int h = 0; !rc && h < n_hosts; h++)
		for (int i = first[h]; i < first[h + 1]; i++)
			fprintf(to, "%d%s", on[i],
			        i + 1 < first[h + 1] ? "," : "\n");
	cpl_free_all(first, on);
	return rc;
}

/* Writes as many logical cores as the rank weighs. */
static int write_slots(FILE *to, char *const *host, int n_hosts,
                       const int *rank_host, int ranks, const int *weight)
{
	int *slot = calloc((size_t)n_hosts + 1, sizeof(*slot));

	if (!slot)
		return -1;
	for (int r = 0; r < ranks; r++) {
		int h = rank_host[r], w = weight ? weight[r] : 1;

		fprintf(to, "rank %d=%s slot=%d", r, host[h], slot[h]);
		if (w > 1)
			fprintf(to, "-%d", slot[h] + w - 1);
		fprintf(to, "\n");
		slot[h] += w;
	}
	free(slot);
	return 0;
}

int cpl_rank_file_write(FILE *to, enum cpl_rank_file file, char *const *host,
                        int n_hosts, const int *rank_host, int ranks,
                        const int *weight)
{
	if (file == CPL_RANK_MPICH)
		return write_by_host(to, n_hosts, rank_host, ranks);
	if (file == CPL_RANK_RANKFILE)
		return write_slots(to, host, n_hosts, rank_host, ranks, weight);
	for (int r = 0, n; r < ranks; r += n) {
		n = run_of(rank_host, ranks, r);
		if (file == CPL_RANK_MACHINEFILE)
			fprintf(to, "%s:%d\n", host[rank_host[r]], n);
		else
			for (int i = 0; i < n; i++)
				fprintf(to, "%s\n", host[rank_host[r]]);
	}
	return 0;
}
