/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What calls send and get, as an OTF2 archive tells it, and the rank that makes
 * them. */
#pragma once

#include "otf2_rank.h"

/* Set the callbacks of the first reading, which gathers what became of
 * requests, and of the second, that tells all in order. */
void cpl_otf2_messages_ask(OTF2_EvtReaderCallbacks *on);
void cpl_otf2_messages_tell(OTF2_EvtReaderCallbacks *on);
