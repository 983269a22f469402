/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In sbatch and salloc. */
#include "spank_internal.h"

int cplspank_allocator_init(spank_t sp)
{
	return cplspank_register(sp);
}

int cplspank_allocator_post_opt(spank_t sp)
{
	return cplspank_export(sp);
}
