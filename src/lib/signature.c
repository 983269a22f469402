/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* As readers limit bytes and messages of a row, so that sums stay finite. */
#define MAX_AMOUNT 1e18

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

static bool is_amount(double value)
{
	return value >= 0 && value <= MAX_AMOUNT;
}

static struct cpl_comm *build(int ranks, int64_t n, const int *from,
                              const int *to, const double *bytes,
                              const double *messages, struct cpl_error *err)
{
	struct cpl_comm_entry *entry = NULL;
	struct cpl_comm *comm = NULL;

	if (n >= 0 && (uint64_t)n < SIZE_MAX / sizeof(*entry))
		entry = malloc(((size_t)n + 1) * sizeof(*entry));
	if (!entry)
		cpl_fail_memory(err);
	for (int64_t i = 0; entry && i < n; i++) {
		entry[i] = (struct cpl_comm_entry){from[i], to[i], bytes[i],
		                                   messages ? messages[i] : 1};
		if (from[i] >= 0 && from[i] < ranks && to[i] >= 0 &&
		    to[i] < ranks && is_amount(entry[i].bytes) &&
		    is_amount(entry[i].messages))
			continue;
		cpl_fail(err,
		         "entry %" PRId64 ": %d sends %g bytes in %g messages "
		         "to %d; ranks are 0 .. %d, amounts 0 .. %g",
		         i, from[i], entry[i].bytes, entry[i].messages, to[i],
		         ranks - 1, MAX_AMOUNT);
		goto out;
	}
	if (entry)
		comm = cpl_comm_build(ranks, entry, n, err);
out:
	free(entry);
	return comm;
}

struct commplace_signature *
commplace_signature_make(const char *name, int ranks, int64_t n,
                         const int *from, const int *to, const double *bytes,
                         const double *messages, struct commplace_error *err)
{
	struct cpl_error why = {""};
	struct cpl_signature *sig = NULL;
	struct cpl_phase *phase = NULL;

	if (ranks < 1 || ranks > CPL_SIGNATURE_MAX_RANKS) {
		cpl_fail(&why, "ranks: %d is outside 1 .. %d", ranks,
		         CPL_SIGNATURE_MAX_RANKS);
		goto fail;
	}
	if (cpl_signature_text_check("name", name, &why))
		goto fail;
	sig = calloc(1, sizeof(*sig));
	phase = calloc(1, sizeof(*phase));
	if (!sig || !phase) {
		cpl_fail_memory(&why);
		free(phase);
		goto fail;
	}
	*sig = (struct cpl_signature){.name = strdup(name),
	                              .ranks = ranks,
	                              .n_phases = 1,
	                              .phase = phase};
	*phase = (struct cpl_phase){.name = strdup("all"), .weight = 1};
	if (!sig->name || !phase->name)
		cpl_fail_memory(&why);
	else
		phase->comm = build(ranks, n, from, to, bytes, messages, &why);
	if (phase->comm)
		return (struct commplace_signature *)sig;
fail:
	cpl_signature_free(sig);
	return cpl_lib_made(NULL, &why, err);
}

int commplace_signature_write(const struct commplace_signature *signature,
                              const char *path, struct commplace_error *err)
{
	struct cpl_error why = {""};

	return cpl_signature_write(cpl_lib_signature(signature), path, &why)
	               ? cpl_lib_fail(err, &why)
	               : 0;
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

/* commplace_signature_phase_FUNCTION, which reads an array of a matrix. */
#define READ_MATRIX(type, function, member)                                    \
	const type *commplace_signature_phase_##function(                      \
	        const struct commplace_signature *signature, int phase)        \
	{                                                                      \
		const struct cpl_phase *p = phase_of(signature, phase);        \
		return p && p->comm ? p->comm->member : NULL;                  \
	}
READ_MATRIX(int64_t, rows, row)
READ_MATRIX(int, to, to)
READ_MATRIX(double, bytes, bytes)
READ_MATRIX(double, messages, messages)
