/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libcommplace: where the ranks of an MPI job should run, and what its messages
 * put on the links of the network. All of the library's headers.
 *
 * Objects are opaque: a function makes one, accessors read it, `_free` releases
 * it (NULL is taken). What accessors return as a pointer belongs to the object
 * and lives as long, unless they say that it is to be freed. Objects do not
 * refer to each other but where it is said.
 *
 * Numbers: bytes are bytes, bandwidths bytes per second and direction,
 * congestion is bytes over bandwidth: seconds. Node ids are 0 .. nodes - 1 in
 * the order of the network file, ranks 0 .. ranks - 1, link ids 0 .. links - 1.
 * All results are functions of the arguments: equal on every machine and for
 * every number of threads, unless a limit in seconds is set.
 *
 * Nothing is printed, no signal touched, no thread left behind; there is no
 * global state. Different objects may be used in different threads, one object
 * by several as long as none changes it (those functions take it as const).
 */
#ifndef COMMPLACE_COMMPLACE_H
#define COMMPLACE_COMMPLACE_H

#include "binding.h"
#include "error.h"
#include "interleave.h"
#include "mapping.h"
#include "network.h"
#include "options.h"
#include "placement.h"
#include "signature.h"
#include "traffic.h"

COMMPLACE_BEGIN

/* Version of the library that runs, such as "0.2.0". */
COMMPLACE_API const char *commplace_version(void);

COMMPLACE_END

#endif
