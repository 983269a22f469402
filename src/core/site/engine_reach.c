/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does the order of ranks reach the tasks of a job? srun has it by the layout
 * of its steps; what else a batch script starts may take it or not (mpirun
 * without the host file does not). Steps of jobs alike have shown it, or
 * nothing is known.
 */
#include <string.h>

#include "site/engine_deciding.h"

/* As records have it. */
static const char *const word[] = {
        [CPL_ORDER_REACHES] = CPL_REACH_YES,
        [CPL_ORDER_MAY] = CPL_REACH_UNKNOWN,
        [CPL_ORDER_NOT] = CPL_REACH_NO,
};

/* What is known of jobs of that user and profile, or NULL. */
static struct shown *find(struct desk *desk, uint32_t uid, const char *profile)
{
	for (int i = 0; i < desk->n_shown; i++) {
		struct shown *shown = &desk->shown[i];

		if (shown->uid == uid && !strcmp(shown->profile, profile))
			return shown;
	}
	return NULL;
}

static void remember(struct desk *desk, const struct cpl_record *record,
                     enum cpl_order order)
{
	struct shown *shown = find(desk, record->uid, record->profile);

	if (!shown && strlen(record->profile) < sizeof(shown->profile)) {
		shown = &desk->shown[desk->next_shown];
		desk->next_shown = (desk->next_shown + 1) % ENGINE_SHOWN;
		if (desk->n_shown < ENGINE_SHOWN)
			desk->n_shown++;
		shown->uid = record->uid;
		strcpy(shown->profile, record->profile);
	}
	if (shown)
		shown->order = order;
}

/* Is it a job whose steps tell of others? What srun starts by itself, or the
 * site or the user has said, tells nothing. */
static bool tells(const struct cpl_record *record)
{
	const char *by = record->order_known_by;

	return record->profile && by &&
	       (!strcmp(by, CPL_REACH_BY_STEP) ||
	        !strcmp(by, CPL_REACH_BY_NONE));
}

void engine_reach_shown(struct desk *desk, struct running *job,
                        enum cpl_order order)
{
	struct cpl_record *record = job->record;
	const char *then = record->order_arrived;

	/* A job with one step that took it may have others besides. */
	if (!tells(record) ||
	    (then &&
	     (order != CPL_ORDER_REACHES || !strcmp(then, CPL_REACH_YES))) ||
	    engine_set(&record->order_arrived, word[order]))
		return;
	remember(desk, record, order);
	cpl_record_dir_write(desk->clerk->records, record);
}

void engine_reach_restore(struct desk *desk, const struct cpl_record *record)
{
	if (record->order_arrived && tells(record))
		remember(desk, record, cpl_order_named(record->order_arrived));
}

/* What can be said, and by what. */
static enum cpl_order by_what(const struct deciding *d, const char **by)
{
	const struct cpl_engine_request *req = d->req;
	enum cpl_order_reaches site = d->want.order_reaches;
	const struct shown *shown;

	*by = CPL_REACH_BY_USER;
	if (req->own_order)
		return CPL_ORDER_NOT;
	*by = CPL_REACH_BY_SITE;
	if (site != CPL_REACHES_AUTO)
		return site == CPL_REACHES_YES ? CPL_ORDER_REACHES
		                               : CPL_ORDER_NOT;
	*by = CPL_REACH_BY_SRUN;
	if (!req->batch)
		return CPL_ORDER_REACHES;
	shown = find(d->desk, req->job.uid, d->want.profile.value);
	*by = shown ? CPL_REACH_BY_STEP : CPL_REACH_BY_NONE;
	return shown ? shown->order : CPL_ORDER_MAY;
}

int engine_reach(struct deciding *d, enum cpl_order *out)
{
	struct cpl_record *record = d->out->record;
	const char *by;

	*out = CPL_ORDER_REACHES;
	if (!d->out->profile)
		return 0;
	*out = by_what(d, &by);
	return engine_set(&record->order_reaches, word[*out]) |
	       engine_set(&record->order_known_by, by);
}
