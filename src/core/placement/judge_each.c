/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Candidates one by one, or side by side. */
#include "placement/judge_internal.h"

struct each {
	struct judge *j;
	const int *list;
	cpl_judge_fn *fn;
};

/* The first thread's is the decision's own, which searches go on with. */
static int open_view(struct judge *j, struct judge_view *view, int thread)
{
	view->quick = thread ? &view->own : &j->quick;
	return thread ? cpl_quick_view(&view->own, &j->quick, &view->err) : 0;
}

static void do_one(void *arg, int64_t chunk, int thread)
{
	const struct each *each = arg;
	struct judge_view *view = &each->j->view[thread];
	int i = each->list ? each->list[chunk] : (int)chunk;

	if (view->failed)
		return;
	view->failed = (!view->quick && open_view(each->j, view, thread)) ||
	               each->fn(each->j, view->quick, i, &view->cut_short,
	                        &view->err);
}

static int side_by_side(struct judge *j, const int *list, int m,
                        cpl_judge_fn *fn, struct cpl_error *err)
{
	struct each each = {j, list, fn};
	int threads = cpl_team_threads(j->team);

	if (!j->view)
		j->view = cpl_arena_take(&j->arena, threads, sizeof(*j->view));
	if (!j->view)
		return cpl_fail_memory(err);
	cpl_team_run(j->team, m, do_one, &each);
	for (int t = 0; t < threads; t++) {
		j->out->cut_short |= j->view[t].cut_short;
		if (j->view[t].failed)
			return cpl_fail(err, "%s", j->view[t].err.text);
	}
	return 0;
}

int cpl_judge_each(struct judge *j, const int *list, int m, cpl_judge_fn *fn,
                   struct cpl_error *err)
{
	if (j->team)
		return side_by_side(j, list, m, fn, err);
	for (int k = 0; k < m && !j->out->cut_short; k++)
		if (fn(j, &j->quick, list ? list[k] : k, &j->out->cut_short,
		       err))
			return -1;
	return 0;
}

void cpl_judge_close_views(struct judge *j)
{
	for (int t = 1; j->view && t < cpl_team_threads(j->team); t++)
		if (j->view[t].quick)
			cpl_quick_close(&j->view[t].own);
}
