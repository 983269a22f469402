/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/export/export.h"

#include <locale.h>
#include <math.h>

#include "base/file.h"
#include "signature/export/export_internal.h"

/* This many ranks give 2 GiB of numbers. */
#define MAX_DENSE_RANKS 16384

void export_number(FILE *out, double value)
{
	if (value < 1e15 && value == floor(value))
		fprintf(out, "%.0f", value);
	else
		fprintf(out, "%.17g", value);
}

int cpl_comm_export(const struct cpl_comm *comm, const char *name,
                    const char *format, const char *path, const char **lost,
                    struct cpl_error *err)
{
	const struct export_format *f =
	        (const struct export_format *)cpl_registry_format(
	                &cpl_exporters, format, err);
	struct cpl_file_writer *w;
	locale_t c_locale, before;

	if (!f)
		return -1;
	if (f->flags & EXPORT_DENSE && comm->ranks > MAX_DENSE_RANKS)
		return cpl_fail(err,
		                "%d ranks; format %s is dense, and for at most "
		                "%d: use coo or mtx",
		                comm->ranks, f->name, MAX_DENSE_RANKS);
	if (lost)
		*lost = f->lost;
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!c_locale)
		return cpl_fail_memory(err);
	w = cpl_file_open_atomic(path, err);
	if (w) {
		before = uselocale(c_locale);
		f->write(cpl_file_stream(w), comm, name);
		uselocale(before);
	}
	freelocale(c_locale);
	return w ? cpl_file_commit(w, 0644, err) : -1;
}
