/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"

#define DECADES_MAX 6

void plot_begin(FILE *out, double width, double height)
{
	fprintf(out,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
	        "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
	        "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" "
	        "fill=\"#222\">\n",
	        width, height, width, height);
	plot_rect(out, 0, 0, width, height, "#fff", NULL);
}

void plot_end(FILE *out)
{
	fputs("</svg>\n", out);
}

/* Names of files come in here: nothing of them is markup or moves letters. */
static void escape(FILE *out, const char *text)
{
	char *copy = strdup(text);

	for (const char *c = copy ? cpl_printable(copy) : ""; *c; c++) {
		if (*c == '<')
			fputs("&lt;", out);
		else if (*c == '>')
			fputs("&gt;", out);
		else if (*c == '&')
			fputs("&amp;", out);
		else
			fputc(*c, out);
	}
	free(copy);
}

void plot_text(FILE *out, double x, double y, double size, const char *anchor,
               const char *attributes, const char *text)
{
	fprintf(out,
	        "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.0f\" "
	        "text-anchor=\"%s\"%s%s>",
	        x, y, size, anchor, attributes ? " " : "",
	        attributes ? attributes : "");
	escape(out, text);
	fputs("</text>\n", out);
}

void plot_text_up(FILE *out, double x, double y, double size,
                  const char *anchor, const char *text)
{
	char rotate[64];

	snprintf(rotate, sizeof(rotate), "transform=\"rotate(-90 %.1f %.1f)\"",
	         x, y);
	plot_text(out, x, y, size, anchor, rotate, text);
}

double plot_text_width(const char *text, double size)
{
	return 0.6 * size * (double)strlen(text);
}

double plot_step(double full, int parts)
{
	double step = pow(10, floor(log10(full / parts)));

	return full / step >= 5 * parts   ? 5 * step
	       : full / step >= 2 * parts ? 2 * step
	                                  : step;
}

void plot_rect(FILE *out, double x, double y, double width, double height,
               const char *fill, const char *attributes)
{
	fprintf(out,
	        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
	        "fill=\"%s\"%s%s/>\n",
	        x, y, width, height, fill, attributes ? " " : "",
	        attributes ? attributes : "");
}

void plot_line(FILE *out, double x1, double y1, double x2, double y2,
               const char *stroke, double width, const char *attributes)
{
	fprintf(out,
	        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
	        "stroke=\"%s\" stroke-width=\"%.1f\"%s%s/>\n",
	        x1, y1, x2, y2, stroke, width, attributes ? " " : "",
	        attributes ? attributes : "");
}

struct plot_scale plot_scale_make(double smallest_positive, double largest,
                                  bool has_zero)
{
	static const double step[] = {1, 2, 5, 10};
	struct plot_scale scale = {.low = 0, .top = 1, .has_zero = has_zero};
	double high;
	int i = 0;

	if (!(largest > 0))
		return scale;
	/* Some room above; rounding must not turn 1000 into the decade
	 * beside it. */
	high = log10(largest) + 0.02;
	scale.low = (int)floor(log10(smallest_positive) + 1e-9);
	while (floor(high) + log10(step[i]) < high)
		i++;
	scale.top = floor(high) + log10(step[i]);
	/* The largest stays near the top. */
	if (scale.top < scale.low + 1)
		scale.low--;
	if (scale.top - scale.low > DECADES_MAX) {
		scale.low = (int)ceil(scale.top) - DECADES_MAX;
		scale.has_zero = scale.cut = true;
	}
	return scale;
}

double plot_scale_at(const struct plot_scale *scale, double value)
{
	double at;

	if (!(value > 0))
		return -1;
	at = (log10(value) - scale->low) / (scale->top - scale->low);
	if (at < -1e-9)
		return -1;
	return fmin(fmax(at, 0), 1);
}
