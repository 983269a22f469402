/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What calls send and get, as an OTF2 archive tells it, and the rank whose they
 * are. */
#ifndef CMD_OTF2_MESSAGES_H
#define CMD_OTF2_MESSAGES_H

#include "otf2_rank.h"

/* Set the callbacks of the first reading, which gathers what became of
 * requests, and of the second, that tells all in order. */
void cpl_otf2_messages_ask(OTF2_EvtReaderCallbacks *on);
void cpl_otf2_messages_tell(OTF2_EvtReaderCallbacks *on);

/* otf2_rank.c. Time goes on. 0, or -1 with err. */
int cpl_otf2_rank_tick(struct otf2_rank *r, OTF2_TimeStamp time);
/*
 * Something happens: in the call that is under way, or where there
 * is none that is recorded in one of `function`. 1; 0: the rank is at its end; -1
 * with err. Then cpl_otf2_rank_done.
 */
int cpl_otf2_rank_at(struct otf2_rank *r, OTF2_TimeStamp time, const char *function);
void cpl_otf2_rank_done(struct otf2_rank *r);
/* What comes next took from here on. 0, or -1 with err. */
int cpl_otf2_rank_begin(struct otf2_rank *r, OTF2_TimeStamp time);

#endif
