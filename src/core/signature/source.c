/* SPDX-License-Identifier: GPL-2.0-or-later */
/* These are the sources of signatures, and the memory that their matrices may
 * take. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "signature/signature_internal.h"

static int too_large(const struct matrix_budget *budget, uint64_t bytes,
                     struct cpl_error *err)
{
	return cpl_fail(err,
	                "up to %lld pairs of ranks may need %llu MiB of "
	                "memory; at most %llu are used (ProfileMemory in "
	                "commplace.conf)",
	                (long long)budget->pairs,
	                (unsigned long long)(bytes >> 20) + 1,
	                (unsigned long long)(budget->max >> 20));
}

int budget_take(struct matrix_budget *budget, int64_t n, int bytes,
                struct cpl_error *err)
{
	uint64_t need;

	budget->pairs += n;
	budget->entries += (uint64_t)n * (unsigned)bytes;
	need = budget->entries < budget->most ? budget->entries : budget->most;
	need += budget->rows;
	return budget->max && need > budget->max ? too_large(budget, need, err)
	                                         : 0;
}

int budget_store(struct matrix_budget *budget, int64_t n, struct cpl_error *err)
{
	if (budget_take(budget, n, BUDGET_ENTRY, err))
		return -1;
	budget->stored += (uint64_t)n * BUDGET_STORED;
	return budget->max && budget->stored > budget->max
	               ? too_large(budget, budget->stored, err)
	               : 0;
}

void source_reads(const struct source *src, bool reads)
{
	if (src->limits && src->limits->reads)
		src->limits->reads(src->limits->arg, reads);
}

int source_open(struct source *src, const char *path, uint64_t max,
                struct cpl_file_stamp *stamp, struct cpl_error *err)
{
	struct cpl_signature *sig = src->sig;
	enum cpl_file_links links = CPL_LINKS_FOLLOW;
	int fd;

	if (src->limits) {
		links = CPL_LINKS_REFUSE;
		if (src->limits->max_bytes)
			max = src->limits->max_bytes;
	}
	fd = cpl_file_open(path, links, max, stamp, err);
	if (fd < 0)
		return -1;
	if (src->limits && src->limits->owner &&
	    stamp->uid != *src->limits->owner) {
		close(fd);
		errno = EACCES;
		return cpl_fail(err, "%s: belongs to another user", path);
	}
	if (!cpl_array_grow(&sig->file, sig->n_files, sizeof(*sig->file),
	                    NULL)) {
		cpl_file_mark(fd, stamp, src->limits ? UINT64_MAX : 0,
		              &sig->file[sig->n_files].mark);
		sig->file[sig->n_files].path = strdup(path);
		if (sig->file[sig->n_files].path) {
			sig->n_files++;
			return fd;
		}
	}
	close(fd);
	errno = ENOMEM;
	return cpl_fail_memory(err);
}
