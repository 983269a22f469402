/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "simulate/maxmin.h"

#include <math.h>
#include <stdlib.h>

int cpl_maxmin_init(struct cpl_maxmin *m, int64_t n_links,
                    const double *bandwidth, struct cpl_error *err)
{
	size_t n = (size_t)n_links + 1;

	*m = (struct cpl_maxmin){.n_links = n_links, .bandwidth = bandwidth};
	if (n_links >= INT32_MAX)
		return cpl_fail(err, "more than %d links", INT32_MAX - 1);
	m->used = malloc(n * sizeof(*m->used));
	m->left = malloc(n * sizeof(*m->left));
	m->weight = malloc(n * sizeof(*m->weight));
	m->open = calloc(n, sizeof(*m->open));
	m->routes = malloc(n * sizeof(*m->routes));
	m->key = calloc(n, sizeof(*m->key));
	m->first = malloc(n * sizeof(*m->first));
	if (!m->used || !m->left || !m->weight || !m->open || !m->routes ||
	    !m->key || !m->first)
		return cpl_fail_memory(err);
	return cpl_heap_init(&m->heap, (int)n_links, m->key, err);
}

void cpl_maxmin_free(struct cpl_maxmin *m)
{
	cpl_free_all(m->used, m->left, m->weight, m->open, m->routes, m->key,
	             m->first, m->member);
	cpl_heap_free(&m->heap);
	*m = (struct cpl_maxmin){0};
}

/* Rates equal a bound up to this share, since its sums have lost digits. */
#define ROUNDING 1e-9

/* Adds up the weight of all flows on each link. */
static void weigh(struct cpl_maxmin *m, struct cpl_maxmin_route *const *route,
                  int n)
{
	m->n_used = 0;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < route[i]->n; k++) {
			struct cpl_share share = route[i]->share[k];
			int link = share.link;

			if (!m->open[link]) {
				m->open[link] = 1;
				m->used[m->n_used++] = link;
				m->left[link] = m->bandwidth[link];
				m->weight[link] = 0;
			}
			m->weight[link] += share.part * route[i]->flows;
		}
}

/* Flows of at least this rate are shared out anew: a fresh one gets no less
 * than if all flows of a link were alike. */
static double bound_of(const struct cpl_maxmin *m,
                       struct cpl_maxmin_route *const *route, int n,
                       double least)
{
	for (int i = 0; i < n; i++)
		for (int k = 0; route[i]->fresh && k < route[i]->n; k++) {
			int link = route[i]->share[k].link;

			least = fmin(least,
			             m->bandwidth[link] / m->weight[link]);
		}
	return least * (1 - ROUNDING);
}

/* Flows below the bound stay as they are. For the others, counts each link's
 * weight and routes. *kept is the highest rate of those that stay. */
static int64_t count(struct cpl_maxmin *m,
                     struct cpl_maxmin_route *const *route, int n,
                     double least, double *kept)
{
	int64_t members = 0;

	weigh(m, route, n);
	least = bound_of(m, route, n, least);
	for (int i = 0; i < m->n_used; i++) {
		m->open[m->used[i]] = 0;
		m->weight[m->used[i]] = 0;
	}
	*kept = 0;
	for (int i = 0; i < n; i++) {
		struct cpl_maxmin_route *r = route[i];
		bool stays = !r->fresh && r->rate < least;

		r->fresh = false;
		r->stays = stays;
		if (stays)
			*kept = fmax(*kept, r->rate);
		else
			members += r->n;
		for (int k = 0; k < r->n; k++) {
			double weight = r->share[k].part * r->flows;
			int link = r->share[k].link;

			if (stays) {
				m->left[link] -= weight * r->rate;
				continue;
			}
			m->weight[link] += weight;
			m->open[link]++;
		}
	}
	return members;
}

static int list_members(struct cpl_maxmin *m,
                        struct cpl_maxmin_route *const *route, int n,
                        int64_t members, struct cpl_error *err)
{
	int64_t at = 0;

	if (members > m->n_members) {
		int64_t room = members + members / 2;
		int *grown = realloc(m->member, (size_t)room * sizeof(*grown));

		if (!grown)
			return cpl_fail_memory(err);
		m->member = grown;
		m->n_members = room;
	}
	for (int i = 0; i < m->n_used; i++) {
		int link = m->used[i];

		m->first[link] = at;
		m->routes[link] = m->open[link];
		at += m->open[link];
	}
	for (int i = 0; i < n; i++)
		for (int k = 0; !route[i]->stays && k < route[i]->n; k++)
			m->member[m->first[route[i]->share[k].link]++] = i;
	for (int i = 0; i < m->n_used; i++)
		m->first[m->used[i]] -= m->routes[m->used[i]];
	return 0;
}

/* What each flow would get if only this link counted; negative, since the heap
 * has the largest on top. It only grows while other links are saturated. */
static double key_of(const struct cpl_maxmin *m, int link)
{
	return m->left[link] > 0 && m->weight[link] > 0
	               ? -m->left[link] / m->weight[link]
	               : 0;
}

/* Gives all routes of the link without a rate this one. */
static void saturate(struct cpl_maxmin *m,
                     struct cpl_maxmin_route *const *route, int link,
                     double rate)
{
	int64_t end = m->first[link] + m->routes[link];

	for (int64_t i = m->first[link]; i < end; i++) {
		struct cpl_maxmin_route *r = route[m->member[i]];

		if (r->rate > 0)
			continue;
		r->rate = rate;
		for (int k = 0; k < r->n; k++) {
			int other = r->share[k].link;
			double weight = r->share[k].part * r->flows;

			m->left[other] -= rate * weight;
			m->weight[other] -= weight;
			m->open[other]--;
		}
	}
}

int cpl_maxmin_solve(struct cpl_maxmin *m,
                     struct cpl_maxmin_route *const *route, int n,
                     double least, struct cpl_error *err)
{
	double rate;
	int64_t members = count(m, route, n, least, &rate);

	if (list_members(m, route, n, members, err))
		return -1;
	for (int i = 0; i < n; i++)
		if (!route[i]->stays)
			route[i]->rate = 0;
	for (int i = 0; i < m->n_used; i++) {
		if (!m->open[m->used[i]])
			continue;
		m->key[m->used[i]] = key_of(m, m->used[i]);
		cpl_heap_push(&m->heap, m->used[i]);
	}
	while (m->heap.n) {
		int link = m->heap.item[0];
		double key;

		if (!m->open[link]) {
			cpl_heap_remove(&m->heap, link);
			continue;
		}
		key = key_of(m, link);
		if (key < m->key[link]) {
			m->key[link] = key;
			cpl_heap_update(&m->heap, link);
			continue;
		}
		cpl_heap_remove(&m->heap, link);
		/* Rates must not fall where sums have lost digits. */
		rate = -key > rate ? -key : rate;
		saturate(m, route, link, rate);
	}
	return 0;
}
