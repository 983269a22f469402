/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that have their MPI library linked in call MPI unseen. */
#pragma once

#include <stdbool.h>

/* Is this rank 0 by its launcher's word, before MPI can tell? */
bool rec_first_rank(bool unknown);

/* This is called at the end of a process that called no MPI. A launcher names the
 * programs of its command line into which no recorder can be loaded (srun's are looked
 * at by the SPANK plugin); rank 0 names itself if it was loaded in vain. */
void rec_unseen_look(void);
