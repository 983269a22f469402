/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/submit.h"

#include <stdlib.h>
#include <string.h>

void cpl_verdict_free(struct cpl_verdict *verdict)
{
	free(verdict->message);
	free(verdict->attach);
	free(verdict->comment);
	free(verdict->record);
	free(verdict->store);
	memset(verdict, 0, sizeof(*verdict));
}
