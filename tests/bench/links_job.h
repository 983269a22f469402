/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the jobs of bench-links send, by MPI and by sockets: a heavy exchange with the
 * rank half of all away, a light one with neighbours. Bytes of a message, and steps
 * that are not measured. */
#pragma once

#define LINKS_HEAVY 262144
#define LINKS_LIGHT 16384
#define LINKS_BEFORE 2
