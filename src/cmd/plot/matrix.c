/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../map.h"

#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "graph/members.h"
#include "link_map.h"

#define PANEL 480.0
#define GAP 110.0
/* More hosts than this get no lines between them. */
#define HOST_LINES 48

/* A matrix whose i-th row is that of the i-th rank in the order of hosts. */
struct panel {
	const char *title;
	int n, block;          /* cells, ranks in each */
	struct cpl_members on; /* hosts: position[] is the row of a rank */
	double *bytes;         /* [n * n] */
};

static int fill(struct panel *p, const char *title, const struct cpl_comm *comm,
                int *rank_host, int n_hosts, struct cpl_error *err)
{
	const int *row_of;

	p->title = title;
	p->block = (comm->ranks + MAP_PLOT_CELLS - 1) / MAP_PLOT_CELLS;
	p->n = (comm->ranks + p->block - 1) / p->block;
	if (cpl_members_init(&p->on, rank_host, comm->ranks, n_hosts, err))
		return -1;
	p->bytes = calloc((size_t)p->n * (size_t)p->n, sizeof(*p->bytes));
	if (!p->bytes)
		return cpl_fail_memory(err);
	row_of = p->on.position;
	for (int r = 0; r < comm->ranks; r++) {
		double *row = p->bytes +
		              (size_t)(row_of[r] / p->block) * (size_t)p->n;

		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++)
			row[row_of[comm->to[e]] / p->block] += comm->bytes[e];
	}
	return 0;
}

static void release(struct panel *p)
{
	cpl_members_free(&p->on);
	free(p->bytes);
}

/* Ranks beside the cells; blocks of them only where these are neighbours. */
static void draw_ranks(const struct plot_map *map, const struct panel *p,
                       int ranks, double x, double y, double step, bool down)
{
	int i = 0;

	while (i < ranks && p->on.member[i] == i)
		i++;
	if (p->block == 1)
		plot_map_labels(map, p->on.member, p->n, x, y, step, down);
	else if (i == ranks)
		plot_map_numbers(map, p->n, p->block, x, y, step, down);
}

static void draw(const struct plot_map *map, const struct panel *p, int n_hosts,
                 int ranks, double x, const struct cpl_metrics *metrics,
                 const struct cpl_job_sums *sums)
{
	double cell = PANEL / p->n, y = PLOT_MAP_TOP;
	char text[160];

	plot_text(map->out, x, y - 52, 16, "start", "font-weight=\"bold\"",
	          p->title);
	snprintf(text, sizeof(text),
	         "%s between hosts, hop-bytes %s, max congestion %.4g",
	         CMD_BYTES(sums->bytes_on_network), CMD_BYTES(sums->hop_bytes),
	         metrics->max_congestion);
	plot_text(map->out, x, y - 32, 13, "start", NULL, text);
	draw_ranks(map, p, ranks, x, y - 8, cell, false);
	draw_ranks(map, p, ranks, x - 8, y, cell, true);
	for (int i = 0; i < p->n; i++)
		plot_map_cells(map, p->bytes + (size_t)i * (size_t)p->n, p->n,
		               x, y + i * cell, cell, cell);
	for (int h = 1; n_hosts <= HOST_LINES && h < n_hosts; h++) {
		double at = (double)p->on.first[h] / p->block * cell;

		if (p->on.first[h] == 0 || p->on.first[h] == ranks)
			continue;
		plot_line(map->out, x + at, y, x + at, y + PANEL, "#b8b8b8", 1,
		          NULL);
		plot_line(map->out, x, y + at, x + PANEL, y + at, "#b8b8b8", 1,
		          NULL);
	}
	plot_rect(map->out, x, y, PANEL, PANEL, "none", "stroke=\"#555\"");
}

static void write(FILE *out, const char *title, const struct job_inputs *in,
                  const struct mapped *m, const struct panel *panel)
{
	struct plot_map map = {
	        .title = cpl_path_base(title), .hot = -1, .out = out};
	size_t cells = (size_t)panel->n * (size_t)panel->n;
	char subtitle[160], caption[160], what[80];
	double low = INFINITY, high = 0;
	bool zero = false;

	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < cells; i++) {
			double bytes = panel[k].bytes[i];

			zero |= !(bytes > 0);
			if (bytes > 0)
				low = fmin(low, bytes);
			high = fmax(high, bytes);
		}
	map.scale = plot_scale_make(fmin(low, high), high, zero);
	map.subtitle = subtitle;
	snprintf(subtitle, sizeof(subtitle), "%d ranks on %d hosts, %s",
	         in->comm->ranks, m->n_hosts, m->algorithm);
	snprintf(caption, sizeof(caption),
	         "row: sender, column: receiver; ranks in the order of the "
	         "hosts that they are on%s",
	         m->n_hosts <= HOST_LINES ? ", lines between hosts" : "");
	if (panel->block > 1)
		snprintf(what, sizeof(what),
		         "bytes between blocks of %d ranks (log scale)",
		         panel->block);
	else
		snprintf(what, sizeof(what), "bytes (log scale)");
	map.what = what;
	plot_map_begin(&map, 2 * PLOT_MAP_LEFT + 2 * PANEL + GAP - 40,
	               PLOT_MAP_TOP + PANEL + PLOT_MAP_FOOT, caption);
	draw(&map, &panel[0], m->n_hosts, in->comm->ranks, PLOT_MAP_LEFT,
	     &m->result.before, &m->result.sums_before);
	draw(&map, &panel[1], m->n_hosts, in->comm->ranks,
	     PLOT_MAP_LEFT + PANEL + GAP, &m->result.after,
	     &m->result.sums_after);
	plot_map_end(&map, PLOT_MAP_TOP + PANEL);
}

int map_plot(const char *path, const char *title, const struct job_inputs *in,
             const struct mapped *m, struct cpl_error *err)
{
	int *before = malloc((size_t)in->comm->ranks * sizeof(*before));
	struct panel panel[2] = {{0}, {0}};
	struct cpl_file_writer *writer;
	int rc = -1;

	if (cpl_out_of_memory(!before, err))
		goto out;
	if (cpl_map_run(&cpl_mapper_linear, &m->request, before, err) ||
	    fill(&panel[0], "default order", in->comm, before, m->n_hosts,
	         err) ||
	    fill(&panel[1],
	         m->result.kept_default ? "default order kept" : m->algorithm,
	         in->comm, m->result.rank_host, m->n_hosts, err))
		goto out;
	writer = cpl_file_open_atomic(path, err);
	if (!writer)
		goto out;
	write(cpl_file_stream(writer), title, in, m, panel);
	rc = cpl_file_commit(writer, 0644, err);
out:
	release(&panel[0]);
	release(&panel[1]);
	free(before);
	return rc;
}
