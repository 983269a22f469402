/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A socket in StateDir (CPL_ENGINE_SOCKET), where that is this cluster's, over
 * which anybody on the host may read what the engine holds; `commplace status
 * --tree` does. Nothing can be changed by it. A question is a path as of
 * cpl_engine_tree and a newline; the answer is JSON, {"value": ...} or {"error":
 * TEXT}, up to the end of the connection. root and the user of this process see
 * all jobs, others those that RecordAccess lets them see.
 *
 * A thread of its own serves one after the other, each for a short time, and
 * only so many a second: whoever asks, or connects and does not, leaves calls
 * alone.
 */
/* Tests: commplaced in test_select_door slurm/t46-backup.t. */
#pragma once

#include "site/engine.h"

/* How long a client that is connected has to ask, and to take the answer. */
#define TREE_ASK_NS (INT64_C(50) * 1000000)
#define TREE_TAKE_NS (INT64_C(1000) * 1000000)
/* Between two of them. */
#define TREE_GAP_NS (INT64_C(5) * 1000000)
/* Those that wait for their turn; others are not let in. */
#define TREE_WAITING 16

/* What the end waits for a socket to be removed, on a file system that may
 * hang. */
#define TREE_END_NS (INT64_C(500) * 1000000)

/*
 * Answer for this engine from now on; log says it where there can be no socket.
 * NULL: for none; the engine before it and its log are no longer used
 * afterwards, and the socket is gone. Where no thread can be started, nobody is
 * answered.
 */
void tree_serve(struct cpl_engine *engine,
                void (*log)(enum cpl_engine_log level, const char *text));
