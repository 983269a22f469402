/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "routing/adaptive_internal.h"

/* The links of a pair's paths; returns the number of direct ones, which are a
 * leg each; the others are two. */
static inline int draw(const struct cpl_ways *w, const struct cpl_part *part,
                       int from, int to, int iteration, int *link)
{
	struct cpl_spot a = cpl_ways_spot(w, from), b = cpl_ways_spot(w, to);
	struct cpl_drawn path[CPL_DRAWN];
	int n_direct = cpl_draw(w, part, from, to, iteration, path);

	for (int n = 0; n < n_direct; n++, link += CPL_LEG)
		cpl_leg_cells(w, a, b, path[n].first, link);
	for (int n = n_direct; n < CPL_DRAWN; n++, link += 2 * CPL_LEG) {
		struct cpl_spot over = cpl_ways_spot(w, path[n].over);

		cpl_leg_cells(w, a, over, path[n].first, link);
		cpl_leg_cells(w, over, b, path[n].second, link + CPL_LEG);
	}
	return n_direct;
}

/* The least that a leg's links show. */
static inline double least(const struct cpl_cell *cell, const int *link)
{
	double a = cpl_lesser(cell[link[0]].view, cell[link[1]].view);
	double b = cpl_lesser(cell[link[3]].view, cell[link[4]].view);

	return cpl_lesser(cpl_lesser(a, b), cell[link[2]].view);
}

static inline void add(struct cpl_cell *cell, const int *link, double amount)
{
	for (int i = 0; i < CPL_LEG; i++)
		cell[link[i]].sum += amount;
}

static inline const int *path_least(const struct cpl_cell *cell,
                                    const int *link, int k, int n_direct,
                                    double *value)
{
	*value = least(cell, link);
	if (k < n_direct)
		return link + CPL_LEG;
	*value = cpl_lesser(*value, least(cell, link + CPL_LEG));
	return link + 2 * CPL_LEG;
}

static inline const int *path_add(struct cpl_cell *cell, const int *link, int k,
                                  int n_direct, double amount)
{
	add(cell, link, amount);
	if (k < n_direct)
		return link + CPL_LEG;
	add(cell, link + CPL_LEG, amount);
	return link + 2 * CPL_LEG;
}

void cpl_drawn_ask(const struct cpl_ways *ways, struct cpl_part *part,
                   struct cpl_lane *lane, double scale, int iteration)
{
	const struct cpl_pairs *pairs = part->pairs;
	const struct cpl_ways w = *ways;
	struct cpl_cell *cell = lane->cell;
	int *kept = part->kept;
	int own[CPL_DRAWN_LINKS];

	if (kept)
		kept += (int64_t)iteration * part->n * (CPL_DRAWN_LINKS + 1);
	for (int i = part->cut[lane->number]; i < part->cut[lane->number + 1];
	     i++)
		for (int64_t m = pairs->row[i]; m < pairs->row[i + 1]; m++) {
			int *link = own;
			const int *at;
			double value[CPL_DRAWN], sum = 0;
			int n_direct;

			if (kept)
				link = kept + m * (CPL_DRAWN_LINKS + 1);
			n_direct = draw(&w, part, pairs->from[i], pairs->to[m],
			                iteration, link);
			if (kept)
				link[CPL_DRAWN_LINKS] = n_direct;
			at = link;
			for (int k = 0; k < CPL_DRAWN; k++) {
				at = path_least(cell, at, k, n_direct,
				                &value[k]);
				sum += value[k];
			}
			sum = sum > CPL_NOTHING ? pairs->bytes[m] * scale / sum
			                        : 0;
			at = link;
			for (int k = 0; k < CPL_DRAWN; k++) {
				float weight = (float)(value[k] * sum);

				part->weight[m * CPL_DRAWN + k] = weight;
				at = path_add(cell, at, k, n_direct,
				              (double)weight);
			}
		}
}

static int real_links(const struct cpl_ways *w, const int *link)
{
	int n = 0;

	for (int i = 0; i < CPL_LEG; i++)
		n += w->is_link[link[i]];
	return n;
}

static inline void deliver_leg(const int *link, double bytes, double *load)
{
	for (int i = 0; i < CPL_LEG; i++)
		load[link[i]] += bytes;
}

/* Put the parts of a pair's bytes on its paths; share[] adds up to 1 over all
 * iterations. Returns bytes times links. */
static inline double deliver(const struct cpl_ways *w, struct cpl_part *part,
                             struct cpl_lane *lane, int64_t m, const int *link,
                             int n_direct, const double *share)
{
	double bytes = part->pairs->bytes[m], hop_bytes = 0;

	for (int k = 0; k < CPL_DRAWN; k++) {
		int legs = k < n_direct ? 1 : 2;

		for (int leg = 0; leg < legs; leg++, link += CPL_LEG) {
			double hops = share[k] * real_links(w, link);

			part->hops[m] += hops;
			hop_bytes += hops * bytes;
			deliver_leg(link, share[k] * bytes, lane->bytes);
		}
	}
	return hop_bytes;
}

void cpl_drawn_grant(const struct cpl_ways *ways, struct cpl_part *part,
                     struct cpl_lane *lane, int iteration, bool delivers)
{
	const struct cpl_pairs *pairs = part->pairs;
	const struct cpl_ways w = *ways;
	struct cpl_cell *cell = lane->cell;
	float *grants = part->grants;
	double granted = 0, hop_bytes = 0;
	int *kept = part->kept;
	int own[CPL_DRAWN_LINKS];

	if (kept)
		kept += (int64_t)iteration * part->n * (CPL_DRAWN_LINKS + 1);
	if (grants)
		grants += (int64_t)iteration * part->n * CPL_DRAWN;
	for (int i = part->cut[lane->number]; i < part->cut[lane->number + 1];
	     i++)
		for (int64_t m = pairs->row[i]; m < pairs->row[i + 1]; m++) {
			const float *weight = part->weight + m * CPL_DRAWN;
			const int *link = own, *at;
			float got[CPL_DRAWN];
			double value[CPL_DRAWN], share[CPL_DRAWN], sum = 0;
			int n_direct;

			if (kept) {
				link = kept + m * (CPL_DRAWN_LINKS + 1);
				n_direct = link[CPL_DRAWN_LINKS];
			} else {
				n_direct = draw(&w, part, pairs->from[i],
				                pairs->to[m], iteration, own);
			}
			at = link;
			for (int k = 0; k < CPL_DRAWN; k++) {
				at = path_least(cell, at, k, n_direct,
				                &value[k]);
				value[k] *= (double)weight[k];
				got[k] = (float)value[k];
				sum += (double)got[k];
			}
			at = link;
			for (int k = 0; k < CPL_DRAWN; k++)
				at = path_add(cell, at, k, n_direct, value[k]);
			granted += sum;
			if (grants)
				memcpy(grants + m * CPL_DRAWN, got,
				       sizeof(got));
			if (!delivers)
				part->total[m] += sum;
			else if (cpl_shares(part, m, iteration, got, share))
				hop_bytes += deliver(&w, part, lane, m, link,
				                     n_direct, share);
		}
	lane->granted += granted;
	part->routed[lane->number].hop_bytes += hop_bytes;
}

void cpl_drawn_replay(const struct cpl_ways *ways, struct cpl_part *part,
                      struct cpl_lane *lane, int iteration)
{
	const struct cpl_pairs *pairs = part->pairs;
	const struct cpl_ways w = *ways;
	const float *grants =
	        part->grants + (int64_t)iteration * part->n * CPL_DRAWN;
	const int *kept = part->kept;
	double hop_bytes = 0;
	int own[CPL_DRAWN_LINKS];

	if (kept)
		kept += (int64_t)iteration * part->n * (CPL_DRAWN_LINKS + 1);
	for (int i = part->cut[lane->number]; i < part->cut[lane->number + 1];
	     i++)
		for (int64_t m = pairs->row[i]; m < pairs->row[i + 1]; m++) {
			const int *link = own;
			double share[CPL_DRAWN];
			int n_direct;

			if (!cpl_shares(part, m, iteration,
			                grants + m * CPL_DRAWN, share))
				continue;
			if (kept) {
				link = kept + m * (CPL_DRAWN_LINKS + 1);
				n_direct = link[CPL_DRAWN_LINKS];
			} else {
				n_direct = draw(&w, part, pairs->from[i],
				                pairs->to[m], iteration, own);
			}
			hop_bytes += deliver(&w, part, lane, m, link, n_direct,
			                     share);
		}
	part->routed[lane->number].hop_bytes += hop_bytes;
}
