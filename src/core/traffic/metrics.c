/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "traffic/traffic.h"

/* Relative spread of loads that counts as none. */
#define SAME 1e-12

/* Totals of the links that carry traffic. */
struct totals {
	double sum, max, job;
	int64_t used;
};

/* Returns the sum of squared distances from the average, or with totals fills
 * these. */
static inline __attribute__((always_inline)) double
over_links(const struct cpl_network *net, const struct cpl_load *load,
           const struct cpl_load *background, double average,
           struct totals *totals)
{
	double sum = 0, max = 0, job = 0, squares = 0;
	int64_t used = 0;

	for (int c = 0; c < net->n_classes; c++) {
		const struct cpl_link_class *class = &net->link_class[c];

		for (int64_t i = 0; i < class->count; i++) {
			int64_t link = class->first + i;
			double own = load->link[link], x = own;

			if (background)
				x += background->link[link];
			x /= class->bandwidth;
			if (!(x > 0))
				continue;
			if (!totals) {
				squares += (x - average) * (x - average);
				continue;
			}
			used++;
			sum += x;
			if (x > max)
				max = x;
			if (own > 0 && x > job)
				job = x;
		}
	}
	if (totals)
		*totals = (struct totals){sum, max, job, used};
	return squares;
}

static double node_links(const struct cpl_network *net, const double *own,
                         const double *background, double max)
{
	for (int64_t i = 0; i < cpl_network_port_cables(net); i++) {
		double bytes = own[i];

		if (background)
			bytes += background[i];
		bytes /= cpl_network_port_bandwidth(net, i);
		if (bytes > max)
			max = bytes;
	}
	return max;
}

/* The variance of `used` links, from the sum of their squared distances from
 * the average. */
static double variance_of(double squares, int64_t used, double average)
{
	double variance = used ? squares / (double)used : 0;

	/* Equal loads that differ in the last bits of their sums do not vary;
	 * as a reference such a variance would make any other look huge. */
	return sqrt(variance) <= SAME * average ? 0 : variance;
}

void cpl_traffic_metrics(const struct cpl_network *net,
                         const struct cpl_load *load,
                         const struct cpl_load *background,
                         struct cpl_metrics *out)
{
	struct totals t;
	double squares;

	memset(out, 0, sizeof(*out));
	over_links(net, load, background, 0, &t);
	out->max_congestion = t.max;
	out->job_congestion = t.job;
	if (net->n_links)
		out->mean_congestion = t.sum / (double)net->n_links;
	out->max_injection =
	        node_links(net, load->injection,
	                   background ? background->injection : NULL, 0);
	out->max_injection = node_links(
	        net, load->ejection, background ? background->ejection : NULL,
	        out->max_injection);
	if (!t.used)
		return;
	out->nonzero_average = t.sum / (double)t.used;
	/* A second pass: the sum of squares would cancel. */
	squares = over_links(net, load, background, out->nonzero_average, NULL);
	out->nonzero_variance =
	        variance_of(squares, t.used, out->nonzero_average);
}

int cpl_traffic_finite(const struct cpl_metrics *metrics,
                       const struct cpl_job_sums *sums, struct cpl_error *err)
{
	const double number[] = {sums->bytes,
	                         sums->hop_bytes,
	                         metrics->max_congestion,
	                         metrics->mean_congestion,
	                         metrics->nonzero_variance,
	                         metrics->max_injection,
	                         metrics->seconds};

	for (size_t i = 0; i < sizeof(number) / sizeof(*number); i++)
		if (!isfinite(number[i]))
			return cpl_fail(err, "the traffic adds up to more than "
			                     "a number can hold");
	return 0;
}

/* The largest of `most` and of the slowed seconds of count links, the first of which
 * has own[0]. */
static double slowed(const struct cpl_load *all, const double *own,
                     const struct cpl_load *rates, int64_t count,
                     double bandwidth, double most)
{
	for (int64_t i = 0; i < count; i++) {
		double seconds = own[i] / bandwidth *
		                 cpl_slowed_by(rates, own + i - all->link,
		                               bandwidth);

		if (seconds > most)
			most = seconds;
	}
	return most;
}

double cpl_traffic_seconds(const struct cpl_network *net,
                           const struct cpl_load *own,
                           const struct cpl_load *rates)
{
	double most = 0;

	for (int c = 0; c < net->n_classes; c++) {
		const struct cpl_link_class *class = &net->link_class[c];

		most = slowed(own, own->link + class->first, rates,
		              class->count, class->bandwidth, most);
	}
	for (int64_t i = 0; i < cpl_network_port_cables(net); i++) {
		double bandwidth = cpl_network_port_bandwidth(net, i);

		most = slowed(own, own->injection + i, rates, 1, bandwidth,
		              most);
		most = slowed(own, own->ejection + i, rates, 1, bandwidth, most);
	}
	for (int k = 0; k < CPL_INSIDES; k++) {
		const struct cpl_accelerators *a = &net->accelerators;

		most = slowed(own, own->out[k], rates, a->n, a->bandwidth[k],
		              most);
		most = slowed(own, own->in[k], rates, a->n, a->bandwidth[k],
		              most);
	}
	return most;
}

static double ratio(double value, double reference)
{
	return reference > 0 ? value / reference : 0;
}

double cpl_metrics_hybrid(const struct cpl_metrics *metrics, double hop_bytes,
                          const struct cpl_metrics *reference,
                          double reference_hop_bytes)
{
	return ratio(hop_bytes, reference_hop_bytes) +
	       ratio(metrics->max_congestion, reference->max_congestion) +
	       ratio(metrics->nonzero_average, reference->nonzero_average) +
	       ratio(metrics->nonzero_variance, reference->nonzero_variance);
}

/* The middle one of three values. */
static double middle(double a, double b, double c)
{
	double low = a < b ? a : b, high = a < b ? b : a;

	return c < low ? low : c > high ? high : c;
}

/* Sort value[] as far as is needed. */
static void sort_few(double *value, int64_t n)
{
	for (int64_t i = 1; i < n; i++) {
		double x = value[i];
		int64_t j = i;

		for (; j > 0 && value[j - 1] > x; j--)
			value[j] = value[j - 1];
		value[j] = x;
	}
}

static double pick(const double *v, uint64_t size, uint64_t draws, int which)
{
	return v[cpl_random_below(size, CPL_STREAM_PIVOTS + (uint64_t)which,
	                          draws, size)];
}

/*
 * Reorder value[low .. high) so that what sorting would put at the increasing
 * positions at[n] stands there (Hoare's selection, for several at once). The
 * pivots are drawn: no input is slow but for those made against the draws.
 */
static void select_at(double *value, int64_t low, int64_t high,
                      const int64_t *at, int n)
{
	uint64_t draws = 0;

	while (n > 0 && high - low > 24) {
		uint64_t size = (uint64_t)(high - low);
		double *v = value + low;
		double pivot =
		        middle(pick(v, size, draws, 0), pick(v, size, draws, 1),
		               pick(v, size, draws, 2));
		int64_t less = low, more = high;
		int left = 0, right;

		draws++;
		/* Below the pivot, equal to it, above. */
		for (int64_t i = low; i < more;) {
			double x = value[i];

			if (x < pivot) {
				value[i++] = value[less];
				value[less++] = x;
			} else if (x > pivot) {
				value[i] = value[--more];
				value[more] = x;
			} else {
				i++;
			}
		}
		while (left < n && at[left] < less)
			left++;
		right = left;
		while (right < n && at[right] < more)
			right++;
		if (left)
			select_at(value, low, less, at, left);
		at += right;
		n -= right;
		low = more;
	}
	if (n > 0)
		sort_few(value + low, high - low);
}

static const double quartile[3] = {0.25, 0.5, 0.75};

static int64_t below(int64_t n, double q)
{
	return (int64_t)floor(q * (double)(n - 1));
}

/* Interpolate between the order statistics around the position. */
static double quantile(const double *value, int64_t n, double q)
{
	int64_t low = below(n, q);
	double part = q * (double)(n - 1) - (double)low;

	if (low + 1 >= n)
		return value[n - 1];
	return value[low] + part * (value[low + 1] - value[low]);
}

int cpl_class_stats(const double *value, int64_t n, struct cpl_class_stats *out,
                    struct cpl_error *err)
{
	int64_t at[6];
	double *copy;
	int n_at = 0;

	memset(out, 0, sizeof(*out));
	out->count = n;
	if (n == 0)
		return 0;
	copy = malloc((size_t)n * sizeof(*copy));
	if (!copy)
		return cpl_fail_memory(err);
	out->min = out->max = value[0];
	for (int64_t i = 0; i < n; i++) {
		double x = value[i];

		copy[i] = x;
		out->total += x;
		out->used += x > 0;
		out->min = x < out->min ? x : out->min;
		out->max = x > out->max ? x : out->max;
	}
	for (int k = 0; k < 6; k++) {
		int64_t i = below(n, quartile[k / 2]) + k % 2;

		if (i < n && (!n_at || i > at[n_at - 1]))
			at[n_at++] = i;
	}
	select_at(copy, 0, n, at, n_at);
	out->q1 = quantile(copy, n, quartile[0]);
	out->median = quantile(copy, n, quartile[1]);
	out->mean = out->total / (double)n;
	out->q3 = quantile(copy, n, quartile[2]);
	free(copy);
	return 0;
}

int cpl_load_stats(const struct cpl_network *net, const struct cpl_load *load,
                   int class, struct cpl_class_stats *out,
                   struct cpl_error *err)
{
	int low = class < 0 ? 0 : class;
	int high = class < 0 ? net->n_classes : class + 1;
	int64_t links = 0, n = 0;
	double *value;
	int rc;

	for (int c = low; c < high; c++) {
		links += net->link_class[c].count;
		n += net->link_class[c].count * net->link_class[c].cables;
	}
	if (n == links)
		return cpl_class_stats(
		        load->link + (n ? net->link_class[low].first : 0), n,
		        out, err);
	value = malloc((size_t)n * sizeof(*value));
	if (!value)
		return cpl_fail_memory(err);
	n = 0;
	for (int c = low; c < high; c++) {
		const struct cpl_link_class *k = &net->link_class[c];

		for (int64_t i = 0; i < k->count; i++)
			for (int cable = 0; cable < k->cables; cable++)
				value[n++] =
				        load->link[k->first + i] / k->cables;
	}
	rc = cpl_class_stats(value, n, out, err);
	free(value);
	return rc;
}

/* Of `each` values of every node, those of nodes that there are. */
static int node_stats(const struct cpl_network *net, const double *value,
                      int each, struct cpl_class_stats *out,
                      struct cpl_error *err)
{
	int64_t all = (int64_t)net->n_nodes * each, n = 0;
	double *used = malloc((size_t)all * sizeof(*used));
	int rc;

	if (!used)
		return cpl_fail_memory(err);
	for (int64_t i = 0; i < all; i++)
		if (net->node_name[i / each])
			used[n++] = value[i];
	rc = cpl_class_stats(used, n, out, err);
	free(used);
	return rc;
}

int cpl_load_inside_stats(const struct cpl_network *net, const double *value,
                          struct cpl_class_stats *out, struct cpl_error *err)
{
	return node_stats(net, value, net->accelerators.per_node, out, err);
}

int cpl_load_node_stats(const struct cpl_network *net, const double *value,
                        struct cpl_class_stats *out, struct cpl_error *err)
{
	return node_stats(net, value, net->n_ports, out, err);
}
