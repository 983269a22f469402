/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "otf2_match.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"

struct otf2_link {
	uint64_t id;
	int64_t order; /* among all */
	int64_t at;    /* among requests, or completions */
	bool asks;
};

static int add_end(struct otf2_match *m, uint64_t id, int64_t at, bool asks,
                   struct cpl_error *err)
{
	if (cpl_array_grow(&m->link, m->n, sizeof(*m->link), err))
		return -1;
	m->link[m->n] = (struct otf2_link){id, m->n, at, asks};
	m->n++;
	return 0;
}

int cpl_otf2_match_ask(struct otf2_match *m, uint64_t id, struct cpl_error *err)
{
	return add_end(m, id, m->n_asked++, true, err);
}

int cpl_otf2_match_answer(struct otf2_match *m, uint64_t id,
                      const struct otf2_done *done, struct cpl_error *err)
{
	if (cpl_array_grow(&m->done, m->n_done, sizeof(*m->done), err))
		return -1;
	m->done[m->n_done] = *done;
	return add_end(m, id, m->n_done++, false, err);
}

static CPL_SORT_BY(by_id, struct otf2_link, CPL_UP(id), CPL_UP(order))

int cpl_otf2_match_finish(struct otf2_match *m, struct cpl_error *err)
{
	m->answer = malloc(((size_t)m->n_asked + 1) * sizeof(*m->answer));
	m->answers = calloc((size_t)m->n_done + 1, sizeof(*m->answers));
	if (!m->answer || !m->answers)
		return cpl_fail_memory(err);
	for (int64_t i = 0; i < m->n_asked; i++)
		m->answer[i] = -1;
	if (m->n)
		qsort(m->link, (size_t)m->n, sizeof(*m->link), by_id);
	for (int64_t i = 0, oldest = 0; i < m->n; i++) {
		const struct otf2_link *l = m->link;

		if (l[oldest].id != l[i].id)
			oldest = i;
		if (l[i].asks)
			continue;
		while (!l[oldest].asks && oldest < i)
			oldest++;
		if (oldest == i)
			continue; /* nobody asked for it */
		m->answer[l[oldest].at] = l[i].at;
		m->answers[l[i].at] = true;
		oldest++;
	}
	free(m->link);
	m->link = NULL;
	m->n = 0;
	return 0;
}

void cpl_otf2_match_free(struct otf2_match *m)
{
	cpl_free_all(m->link, m->done, m->answer, m->answers);
	*m = (struct otf2_match){0};
}
