/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/rounds.h"

#include "signature/pattern/pattern.h"
#include "signature/signature.h"

int64_t cpl_phase_rounds(const struct cpl_phase *phase)
{
	const struct cpl_pattern *pattern = phase->pattern;

	return pattern && pattern->type->rounds
	               ? pattern->type->rounds(&pattern->params)
	               : 0;
}

struct cpl_exchange cpl_phase_round(const struct cpl_phase *phase,
                                    int64_t round, int rank)
{
	return phase->pattern->type->round(&phase->pattern->params, round,
	                                   rank);
}
