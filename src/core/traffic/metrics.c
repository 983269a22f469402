/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "traffic/traffic.h"

/* Relative spread of loads that counts as none. */
#define SAME 1e-12

static double congestion(const struct cpl_load *load,
                         const struct cpl_load *background, int64_t link,
                         double bandwidth)
{
	double bytes = load->link[link];

	if (background)
		bytes += background->link[link];
	return bytes / bandwidth;
}

static double node_links(const struct cpl_network *net, const double *own,
                         const double *background, double max)
{
	for (int node = 0; node < net->n_nodes; node++) {
		double bytes = own[node];

		if (background)
			bytes += background[node];
		if (bytes / net->injection_bandwidth > max)
			max = bytes / net->injection_bandwidth;
	}
	return max;
}

double cpl_metrics_variance(double squares, int64_t used, double average)
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
	double sum = 0, squares = 0, max = 0;
	int64_t used = 0;

	memset(out, 0, sizeof(*out));
	for (int c = 0; c < net->n_classes; c++) {
		const struct cpl_link_class *class = &net->link_class[c];

		for (int64_t i = 0; i < class->count; i++) {
			double x =
			        congestion(load, background, class->first + i,
			                   class->bandwidth);

			if (!(x > 0))
				continue;
			used++;
			sum += x;
			if (x > max)
				max = x;
		}
	}
	out->max_congestion = max;
	if (net->n_links)
		out->mean_congestion = sum / (double)net->n_links;
	out->max_injection =
	        node_links(net, load->injection,
	                   background ? background->injection : NULL, 0);
	out->max_injection = node_links(
	        net, load->ejection, background ? background->ejection : NULL,
	        out->max_injection);
	if (!used)
		return;
	out->nonzero_average = sum / (double)used;
	/* A second pass: the sum of squares would cancel. */
	for (int c = 0; c < net->n_classes; c++) {
		const struct cpl_link_class *class = &net->link_class[c];

		for (int64_t i = 0; i < class->count; i++) {
			double x =
			        congestion(load, background, class->first + i,
			                   class->bandwidth);

			if (x > 0)
				squares += (x - out->nonzero_average) *
				           (x - out->nonzero_average);
		}
	}
	out->nonzero_variance =
	        cpl_metrics_variance(squares, used, out->nonzero_average);
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

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile(const double *sorted, int64_t n, double q)
{
	double at = q * (double)(n - 1);
	int64_t low = (int64_t)floor(at);

	if (low + 1 >= n)
		return sorted[n - 1];
	return sorted[low] +
	       (at - (double)low) * (sorted[low + 1] - sorted[low]);
}

int cpl_class_stats(const double *value, int64_t n, struct cpl_class_stats *out,
                    struct cpl_error *err)
{
	double *sorted;

	memset(out, 0, sizeof(*out));
	out->count = n;
	if (n == 0)
		return 0;
	sorted = malloc((size_t)n * sizeof(*sorted));
	if (!sorted)
		return cpl_fail_memory(err);
	memcpy(sorted, value, (size_t)n * sizeof(*sorted));
	qsort(sorted, (size_t)n, sizeof(*sorted), compare);
	for (int64_t i = 0; i < n; i++) {
		out->total += value[i];
		out->used += value[i] > 0;
	}
	out->min = sorted[0];
	out->q1 = quantile(sorted, n, 0.25);
	out->median = quantile(sorted, n, 0.5);
	out->mean = out->total / (double)n;
	out->q3 = quantile(sorted, n, 0.75);
	out->max = sorted[n - 1];
	free(sorted);
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
