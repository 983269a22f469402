/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib_internal.h"

struct commplace_signature *
commplace_signature_load(const char *path, struct commplace_error *err)
{
	struct cpl_error why = {""};

	return cpl_lib_made(cpl_signature_load(path, &why), &why, err);
}

struct commplace_signature *
commplace_signature_parse(const char *text, size_t length, const char *name,
                          struct commplace_error *err)
{
	struct cpl_error why = {""};

	return cpl_lib_made(cpl_signature_parse(text, length, name, &why), &why,
	                    err);
}

void commplace_signature_free(struct commplace_signature *signature)
{
	cpl_signature_free((struct cpl_signature *)signature);
}

READ(const char *, signature_name, signature,
     cpl_lib_signature(signature)->name)
READ(const char *, signature_application, signature,
     cpl_lib_signature(signature)->application)
READ(int, signature_ranks, signature, cpl_lib_signature(signature)->ranks)
READ(int, signature_phases, signature, cpl_lib_signature(signature)->n_phases)

static const struct cpl_phase *
phase_of(const struct commplace_signature *signature, int phase)
{
	const struct cpl_signature *sig = cpl_lib_signature(signature);

	return phase < 0 || phase >= sig->n_phases ? NULL : &sig->phase[phase];
}

const char *
commplace_signature_phase_name(const struct commplace_signature *signature,
                               int phase)
{
	const struct cpl_phase *p = phase_of(signature, phase);

	return p ? p->name : NULL;
}

double
commplace_signature_phase_weight(const struct commplace_signature *signature,
                                 int phase)
{
	const struct cpl_phase *p = phase_of(signature, phase);

	return p ? p->weight : 0;
}
