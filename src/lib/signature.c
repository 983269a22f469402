/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib_internal.h"

#include <stdlib.h>

static struct commplace_signature *wrap(struct cpl_signature *inside,
                                        const struct cpl_error *why,
                                        struct commplace_error *err)
{
	struct commplace_signature *signature = NULL;
	struct cpl_error memory = {""};

	if (inside) {
		signature = malloc(sizeof(*signature));
		cpl_fail_memory(&memory);
		why = &memory;
	}
	if (signature)
		signature->sig = inside;
	else {
		cpl_signature_free(inside);
		cpl_lib_fail(err, why);
	}
	return signature;
}

struct commplace_signature *
commplace_signature_load(const char *path, struct commplace_error *err)
{
	struct cpl_error why = {""};

	return wrap(cpl_signature_load(path, &why), &why, err);
}

struct commplace_signature *
commplace_signature_parse(const char *text, size_t length, const char *name,
                          struct commplace_error *err)
{
	struct cpl_error why = {""};

	return wrap(cpl_signature_parse(text, length, name, &why), &why, err);
}

void commplace_signature_free(struct commplace_signature *signature)
{
	if (signature)
		cpl_signature_free(signature->sig);
	free(signature);
}

const char *
commplace_signature_name(const struct commplace_signature *signature)
{
	return signature->sig->name;
}

const char *
commplace_signature_application(const struct commplace_signature *signature)
{
	return signature->sig->application;
}

int commplace_signature_ranks(const struct commplace_signature *signature)
{
	return signature->sig->ranks;
}

int commplace_signature_phases(const struct commplace_signature *signature)
{
	return signature->sig->n_phases;
}

static const struct cpl_phase *
phase_of(const struct commplace_signature *signature, int phase)
{
	return phase < 0 || phase >= signature->sig->n_phases
	               ? NULL
	               : &signature->sig->phase[phase];
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
