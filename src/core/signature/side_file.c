/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "signature/signature_internal.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

#define MAGIC "CPLCOMM"
#define HEADER_BYTES 24
#define RECORD_BYTES 24
#define MAX_BYTES (16ULL << 30)

static uint32_t get_u32(const char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static uint64_t get_u64(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static double get_f64(const char *p)
{
	uint64_t bits = get_u64(p);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* data is the file's beginning, length that of the whole file. */
static int check_header(const char *data, size_t length, int ranks,
                        uint64_t *count, struct cpl_error *err)
{
	if (length < HEADER_BYTES || memcmp(data, MAGIC, sizeof(MAGIC)))
		return cpl_fail(err, "is not a side file (it does not start "
		                     "with " MAGIC ")");
	if (get_u32(data + 8) != 1)
		return cpl_fail(err, "is version %u; this release reads 1",
		                get_u32(data + 8));
	if (get_u32(data + 12) != (uint32_t)ranks)
		return cpl_fail(err, "has %u ranks, the signature %d",
		                get_u32(data + 12), ranks);
	*count = get_u64(data + 16);
	if (*count > MAX_BYTES / RECORD_BYTES ||
	    length != HEADER_BYTES + *count * RECORD_BYTES)
		return cpl_fail(err,
		                "has %zu bytes; its header promises %llu "
		                "records of 24 after 24",
		                length, (unsigned long long)*count);
	return 0;
}

static int take_records(const char *data, uint64_t count, int ranks,
                        struct cpl_comm_entry *entry, struct cpl_error *err)
{
	for (uint64_t i = 0; i < count; i++) {
		const char *p = data + i * RECORD_BYTES;
		uint32_t from = get_u32(p), to = get_u32(p + 4);
		double bytes = get_f64(p + 8), messages = get_f64(p + 16);

		if (from >= (uint32_t)ranks || to >= (uint32_t)ranks)
			return cpl_fail(err,
			                "record %llu: rank %u is beyond the %d "
			                "ranks (0 to %d)",
			                (unsigned long long)i + 1,
			                from < (uint32_t)ranks ? to : from,
			                ranks, ranks - 1);
		/* Written so that NaN fails too. */
		if (!(bytes >= 0.0 && bytes <= SIGNATURE_MAX_AMOUNT &&
		      messages >= 0.0 && messages <= SIGNATURE_MAX_AMOUNT))
			return cpl_fail(err,
			                "record %llu: bytes and messages must "
			                "lie in 0 to 1e18",
			                (unsigned long long)i + 1);
		entry[i] = (struct cpl_comm_entry){(int)from, (int)to, bytes,
		                                   messages};
	}
	return 0;
}

/* The records of an open side file; free() them. NULL with err. */
static struct cpl_comm_entry *read_records(struct source *src, int fd,
                                           const char *path, size_t length,
                                           int ranks, uint64_t *count,
                                           struct cpl_error *err)
{
	struct cpl_comm_entry *entry = NULL;
	char *data = NULL, *header;
	size_t n;

	header = cpl_file_read_open(fd, path, HEADER_BYTES, &n, err);
	if (!header)
		return NULL;
	if (check_header(header, n < HEADER_BYTES ? n : length, ranks, count,
	                 err) ||
	    budget_store(&src->budget, (int64_t)*count, err))
		goto fail;
	data = cpl_file_read_open(fd, path, *count * RECORD_BYTES, &n, err);
	if (!data)
		goto out;
	source_reads(src, false);
	if (n < *count * RECORD_BYTES) {
		cpl_fail(err, "ends early");
		goto fail;
	}
	entry = malloc((*count + 1) * sizeof(*entry));
	if (!entry) {
		cpl_fail_memory(err);
	} else if (take_records(data, *count, ranks, entry, err)) {
		free(entry);
		entry = NULL;
		goto fail;
	}
	goto out;
fail:
	cpl_fail_prefix(err, "%s: ", path);
out:
	free(header);
	free(data);
	return entry;
}

struct cpl_comm *side_file_load(struct source *src, const char *file, int ranks,
                                struct cpl_error *err)
{
	struct cpl_comm_entry *entry = NULL;
	struct cpl_comm *comm = NULL;
	struct cpl_file_stamp stamp;
	char *path;
	uint64_t count = 0;
	int fd;

	if (!*file || strchr(file, '/') || !strcmp(file, ".") ||
	    !strcmp(file, "..")) {
		cpl_fail(err,
		         "\"file\" is \"%.60s\"; the name of a file beside the "
		         "signature is needed, without a folder",
		         file);
		return NULL;
	}
	path = cpl_path_beside(src->path, file, err);
	if (!path)
		return NULL;
	source_reads(src, true);
	fd = source_open(src, path, MAX_BYTES, &stamp, err);
	if (fd >= 0) {
		entry = read_records(src, fd, path, (size_t)stamp.size, ranks,
		                     &count, err);
		close(fd);
	}
	source_reads(src, false);
	if (entry)
		comm = cpl_comm_build(ranks, entry, (int64_t)count, err);
	free(entry);
	free(path);
	return comm;
}

static void put_u32(FILE *f, uint32_t v)
{
	v = htole32(v);
	fwrite(&v, sizeof(v), 1, f);
}

static void put_u64(FILE *f, uint64_t v)
{
	v = htole64(v);
	fwrite(&v, sizeof(v), 1, f);
}

static void put_f64(FILE *f, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	put_u64(f, bits);
}

int side_file_write(const struct cpl_comm *comm, const char *path,
                    struct cpl_error *err)
{
	struct cpl_file_writer *w = cpl_file_open_atomic(path, err);
	FILE *f;

	if (!w)
		return -1;
	f = cpl_file_stream(w);
	fwrite(MAGIC, sizeof(MAGIC), 1, f);
	put_u32(f, 1);
	put_u32(f, (uint32_t)comm->ranks);
	put_u64(f, (uint64_t)comm->n_entries);
	for (int r = 0; r < comm->ranks; r++) {
		for (int64_t i = comm->row[r]; i < comm->row[r + 1]; i++) {
			put_u32(f, (uint32_t)r);
			put_u32(f, (uint32_t)comm->to[i]);
			put_f64(f, comm->bytes[i]);
			put_f64(f, comm->messages[i]);
		}
	}
	return cpl_file_commit(w, 0644, err);
}
