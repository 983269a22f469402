/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is told of records, and requests of them. */
#include "site/record_dir_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define COMPLAIN_NS (60 * INT64_C(1000000000))

void record_dir_say(struct cpl_record_dir *dir, bool failure, const char *fmt,
                    ...)
{
	struct cpl_error line;
	va_list ap;

	if (!dir->log)
		return;
	va_start(ap, fmt);
	vsnprintf(line.text, sizeof(line.text), fmt, ap);
	va_end(ap);
	dir->log(dir->log_arg, failure, line.text);
}

void record_dir_complain(struct cpl_record_dir *dir, const char *why)
{
	int64_t now = cpl_now();
	int lost = 0;

	pthread_mutex_lock(&dir->lock);
	dir->lost++;
	if (!dir->complained || now - dir->complained > COMPLAIN_NS) {
		lost = dir->lost;
		dir->lost = 0;
		dir->complained = now;
	}
	pthread_mutex_unlock(&dir->lock);
	if (lost > 1)
		record_dir_say(dir, true,
		               "%s (%d records since the last such line)", why,
		               lost);
	else if (lost)
		record_dir_say(dir, true, "%s", why);
}

bool record_dir_relieve(struct cpl_record_dir *dir)
{
	int lost = -1;

	pthread_mutex_lock(&dir->lock);
	if (dir->complained) {
		lost = dir->lost;
		dir->lost = 0;
		dir->complained = 0;
	}
	pthread_mutex_unlock(&dir->lock);
	if (lost >= 0)
		record_dir_say(dir, false,
		               "records are written again; %d more were lost "
		               "meanwhile",
		               lost);
	return lost >= 0;
}

static void request_free(struct cpl_request *head)
{
	struct request *r = (struct request *)head;

	pthread_mutex_lock(&r->dir->lock);
	r->dir->queued -= r->length;
	pthread_mutex_unlock(&r->dir->lock);
	cpl_free_all(r->text, r->ids, r);
}

struct request *record_dir_request(struct cpl_record_dir *dir,
                                   struct state_dir *state, int64_t id,
                                   void (*run)(struct cpl_request *head))
{
	struct request *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->head.run = run;
	r->head.free = request_free;
	r->dir = dir;
	r->state = state;
	r->id = id;
	return r;
}
