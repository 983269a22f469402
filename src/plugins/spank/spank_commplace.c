/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dispatch by SPANK context, see spank_internal.h. */
#include "spank_internal.h"

SPANK_PLUGIN(commplace, 1)

static const struct {
	int (*init)(spank_t sp);
	int (*post_opt)(spank_t sp);
} context[] = {
        [S_CTX_LOCAL] = {cplspank_local_init, cplspank_local_post_opt},
        [S_CTX_REMOTE] = {cplspank_remote_init, cplspank_remote_post_opt},
        [S_CTX_ALLOCATOR] = {cplspank_allocator_init,
                             cplspank_allocator_post_opt},
        [S_CTX_JOB_SCRIPT] = {0},
};

static int known(spank_context_t c)
{
	return c >= 0 && c < sizeof(context) / sizeof(*context) &&
	       context[c].init;
}

int slurm_spank_init(spank_t sp, int ac, char **av)
{
	spank_context_t c = spank_context();

	if (!known(c))
		return 0;
	/* Never a reason to refuse jobs: a required plugin would. */
	for (int i = 0; i < ac; i++)
		slurm_error("commplace: plugstack.conf: unknown argument '%s'; "
		            "spank_commplace.so takes none",
		            av[i]);
	return context[c].init(sp);
}

int slurm_spank_init_post_opt(spank_t sp, int ac, char **av)
{
	spank_context_t c = spank_context();

	return known(c) ? context[c].post_opt(sp) : 0;
}
