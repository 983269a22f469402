/* SPDX-License-Identifier: GPL-2.0-or-later */
/* These all-reduces use the double binary tree of NCCL (Sanders, Speck, Traeff
 * 2009; Jeaugey 2019), where each tree has half of the data, or Bine butterflies
 * (De Sensi et al. 2025, after Swing, 2024). */
#include "signature/pattern/pattern.h"

/* This is the parent in the tree of n whose odd numbers are leaves; -1 for 0. */
static int64_t parent(int64_t v, int64_t n)
{
	int64_t bit = v & -v, up = (v ^ bit) | bit << 1;

	if (v == 0)
		return -1;
	return up < n ? up : v ^ bit;
}

/* This is a rank's number in the other tree, where leaves of the first are inner
 * nodes. The other tree is the mirror image for an even number of ranks, else it is
 * shifted by one. */
static int64_t other(int64_t v, int64_t n, bool back)
{
	if (n % 2 == 0)
		return n - 1 - v;
	return back ? (v + 1) % n : (v + n - 1) % n;
}

static int64_t tree(int rank, int64_t v, int64_t n_ranks, bool second,
                    double bytes, struct cpl_comm_entry *out, int64_t n)
{
	int64_t up = parent(v, n_ranks), near[64];
	int count = 0;

	if (up >= 0)
		near[count++] = up;
	for (int64_t bit = 1; bit < n_ranks; bit *= 2)
		for (int side = -1; side <= 1; side += 2) {
			int64_t child = v + side * bit;

			if (child > 0 && child < n_ranks &&
			    parent(child, n_ranks) == v)
				near[count++] = child;
		}
	for (int i = 0; i < count; i++)
		out[n++] = (struct cpl_comm_entry){
		        rank,
		        (int)(second ? other(near[i], n_ranks, true) : near[i]),
		        bytes, 1};
	return n;
}

/* The data goes up to be reduced, and the sum comes down. */
int64_t pattern_double_tree(const struct pattern *p, int rank,
                            const struct pattern_step *step, double unit,
                            struct cpl_comm_entry *out, int64_t n)
{
	if (p->ranks == 1)
		return n;
	n = tree(rank, rank, p->ranks, false, unit / 2, out, n);
	return tree(rank, other(rank, p->ranks, false), p->ranks, true,
	            unit / 2, out, n);
}

/* In step i even ranks meet the rank (1 - (-2)^(i+1)) / 3 after them, and odd ones the
 * rank as far before them. */
static int bine_partner(const struct pattern *p, int rank, int64_t step)
{
	int64_t power = (int64_t)2 << step;
	int64_t distance = (1 + (step % 2 ? -power : power)) / 3;
	int64_t to = rank % 2 ? rank - distance : rank + distance;

	return (int)((to % p->ranks + p->ranks) % p->ranks);
}

/* A reduce-scatter, with most data for the nearest partners, comes before an
 * allgather back. */
int64_t pattern_bine(const struct pattern *p, int rank,
                     const struct pattern_step *step, double unit,
                     struct cpl_comm_entry *out, int64_t n)
{
	for (int64_t i = 0; (int64_t)2 << i <= p->ranks; i++)
		out[n++] = (struct cpl_comm_entry){
		        rank, bine_partner(p, rank, i),
		        2 * unit / (double)((int64_t)2 << i), 2};
	return n;
}

struct cpl_exchange pattern_bine_round(const struct pattern *p, int64_t round,
                                       int rank, double unit)
{
	int64_t steps = __builtin_ctz((unsigned)p->ranks);
	int64_t step = round < steps ? round : 2 * steps - 1 - round;
	int partner = bine_partner(p, rank, step);

	return (struct cpl_exchange){partner, partner,
	                             unit / (double)((int64_t)2 << step)};
}
