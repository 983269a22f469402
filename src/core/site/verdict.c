/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/submit.h"

#include <string.h>

void cpl_verdict_free(struct cpl_verdict *verdict)
{
	cpl_free_all(verdict->message, verdict->attach, verdict->comment,
	             verdict->record, verdict->store);
	memset(verdict, 0, sizeof(*verdict));
}
