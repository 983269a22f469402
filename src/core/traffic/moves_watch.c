/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Congestion summed up while links change. */
#include "traffic/moves_internal.h"

/* Links that change from which on all are summed up anew: one in so many. */
#define MANY 8

/* The tree's value of a link. */
static double value_of(const struct cpl_moves *m, int64_t link)
{
	double bandwidth = cpl_network_link_bandwidth(m->net, link);
	double bytes = m->load[link] + m->change[link];

	if (m->watched)
		bytes += m->watched->link[link];
	if (m->slow)
		bytes *= m->slow[link];
	return bytes / bandwidth;
}

static void show(struct cpl_moves *m, int64_t link)
{
	cpl_load_tree_set(m->tree, link, value_of(m, link));
}

void moves_show_kept(struct cpl_moves *m, const int *link, int n)
{
	bool many = n > m->net->n_links / MANY;

	for (int i = 0; i < n; i++)
		if (many)
			cpl_load_tree_put(m->tree, link[i],
			                  value_of(m, link[i]));
		else
			show(m, link[i]);
	if (many)
		cpl_load_tree_sum(m->tree);
	else
		cpl_load_tree_keep(m->tree);
}

static void refresh(struct cpl_moves *m)
{
	for (int i = 0; i < m->n_touched; i++)
		show(m, m->touched[i]);
}

/* How many times its own time each link takes when others send as well. */
static int slow_links(struct cpl_moves *m, const struct cpl_load *rates)
{
	m->slow = cpl_arena_take_raw(&m->arena, m->net->n_links,
	                             sizeof(*m->slow));
	for (int64_t l = 0; m->slow && l < m->net->n_links; l++)
		m->slow[l] = cpl_slowed_by(
		        rates, l,
		        cpl_network_link_bandwidth(m->net, l));
	return m->slow ? 0 : -1;
}

int cpl_moves_watch(struct cpl_moves *m, const struct cpl_load *background,
                    const struct cpl_load *rates, struct cpl_error *err)
{
	m->watched = background;
	if (rates && slow_links(m, rates))
		return cpl_fail_memory(err);
	m->tree = cpl_load_tree_new(m->net->n_links, err);
	if (!m->tree)
		return -1;
	for (int64_t l = 0; l < m->net->n_links; l++)
		cpl_load_tree_put(m->tree, l, value_of(m, l));
	cpl_load_tree_sum(m->tree);
	return 0;
}

const struct cpl_load_summary *cpl_moves_links(struct cpl_moves *m)
{
	refresh(m);
	return cpl_load_tree_all(m->tree);
}

static double fourth(double x)
{
	double square = x * x;

	return square * square;
}

struct cpl_load_summary cpl_moves_change(const struct cpl_moves *m,
                                         int64_t link, double limit)
{
	struct cpl_load_summary all = {0};

	if (link >= 0 && !m->mark[link])
		all.max = cpl_load_tree_get(m->tree, link);
	for (int i = 0; i < m->n_touched && !(all.max > limit); i++) {
		double before = cpl_load_tree_get(m->tree, m->touched[i]);
		double now = value_of(m, m->touched[i]);

		all.max = now > all.max ? now : all.max;
		all.sum += now - before;
		all.powers += fourth(now) - fourth(before);
	}
	return all;
}

int64_t cpl_moves_busiest(struct cpl_moves *m)
{
	refresh(m);
	return cpl_load_tree_largest(m->tree);
}
