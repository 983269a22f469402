/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a signature's first phase sends, entry by entry. */
#pragma once

#include "number.h"
#include "signature/signature.h"

/* The entries are want[n], by sender and receiver; bytes to 1e-9. Frees sig;
 * NULL fails with err. */
static void check_entries(struct cpl_signature *sig, int ranks,
                          const struct cpl_comm_entry *want, int n,
                          const struct cpl_error *err)
{
	const struct cpl_comm *comm;
	int64_t i = 0;

	if (!sig)
		fail_msg("%s", err->text);
	comm = sig->phase[0].comm;
	assert_int_equal(sig->ranks, ranks);
	assert_int_equal(comm->n_entries, n);
	for (int r = 0; r < ranks; r++)
		for (; i < comm->row[r + 1]; i++) {
			assert_true(i < n);
			assert_int_equal(want[i].from, r);
			assert_int_equal(want[i].to, comm->to[i]);
			assert_number(comm->bytes[i], want[i].bytes,
			              1e-9 * want[i].bytes);
			assert_number(comm->messages[i], want[i].messages, 0);
		}
	cpl_signature_free(sig);
}
