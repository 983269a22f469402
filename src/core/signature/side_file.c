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
#define MAX_BYTES (16ULL << 30)

/* These are the fields in the file, little endian; doubles are stored by their
 * bits. */
struct side_header {
	char magic[sizeof(MAGIC)];
	uint32_t version, ranks;
	uint64_t count;
};

struct record {
	uint32_t from, to;
	uint64_t bytes, messages;
};

static double from_bits(uint64_t bits)
{
	double v;

	bits = le64toh(bits);
	memcpy(&v, &bits, sizeof(v));
	return v;
}

static uint64_t to_bits(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return htole64(bits);
}

/* data is the file's beginning, and length is that of the whole file. */
static int check_header(const char *data, size_t length, int ranks,
                        uint64_t *count, struct cpl_error *err)
{
	struct side_header header;

	if (length < sizeof(header) || memcmp(data, MAGIC, sizeof(MAGIC)))
		return cpl_fail(err, "is not a side file (it does not start "
		                     "with " MAGIC ")");
	memcpy(&header, data, sizeof(header));
	if (le32toh(header.version) != 1)
		return cpl_fail(err, "is version %u; this release reads 1",
		                le32toh(header.version));
	if (le32toh(header.ranks) != (uint32_t)ranks)
		return cpl_fail(err, "has %u ranks, the signature %d",
		                le32toh(header.ranks), ranks);
	*count = le64toh(header.count);
	if (*count > MAX_BYTES / sizeof(struct record) ||
	    length != sizeof(header) + *count * sizeof(struct record))
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
		struct record r;
		uint32_t from, to;
		double bytes, messages;

		memcpy(&r, data + i * sizeof(r), sizeof(r));
		from = le32toh(r.from);
		to = le32toh(r.to);
		bytes = from_bits(r.bytes);
		messages = from_bits(r.messages);
		if (from >= (uint32_t)ranks || to >= (uint32_t)ranks)
			return cpl_fail(err,
			                "record %llu: rank %u is beyond the %d "
			                "ranks (0 to %d)",
			                (unsigned long long)i + 1,
			                from < (uint32_t)ranks ? to : from,
			                ranks, ranks - 1);
		/* The condition is written so that NaN fails, too. */
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

/* This returns the records of an open side file, to free(), or NULL with err. */
static struct cpl_comm_entry *read_records(struct source *src, int fd,
                                           const char *path, size_t length,
                                           int ranks, uint64_t *count,
                                           struct cpl_error *err)
{
	struct cpl_comm_entry *entry = NULL;
	char *data = NULL, *header;
	size_t n;

	header = cpl_file_read_open(fd, path, sizeof(struct side_header), &n,
	                            err);
	if (!header)
		return NULL;
	if (check_header(header, n < sizeof(struct side_header) ? n : length,
	                 ranks, count, err) ||
	    budget_store(&src->budget, (int64_t)*count, err))
		goto fail;
	data = cpl_file_read_open(fd, path, *count * sizeof(struct record), &n,
	                          err);
	if (!data)
		goto out;
	source_reads(src, false);
	if (n < *count * sizeof(struct record)) {
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
	cpl_free_all(header, data);
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
	    !strcmp(file, ".."))
		return cpl_fail_null(
		        err,
		        "\"file\" is \"%.60s\"; the name of a file next to the "
		        "signature is needed, without a folder",
		        file);
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
	cpl_free_all(entry, path);
	return comm;
}

int side_file_write(const struct cpl_comm *comm, const char *path,
                    struct cpl_error *err)
{
	struct side_header header = {
	        .magic = MAGIC,
	        .version = htole32(1),
	        .ranks = htole32((uint32_t)comm->ranks),
	        .count = htole64((uint64_t)comm->n_entries)};
	struct cpl_file_writer *w = cpl_file_open_atomic(path, err);

	if (!w)
		return -1;
	fwrite(&header, sizeof(header), 1, cpl_file_stream(w));
	for (int r = 0; r < comm->ranks; r++) {
		for (int64_t i = comm->row[r]; i < comm->row[r + 1]; i++) {
			struct record record = {htole32((uint32_t)r),
			                        htole32((uint32_t)comm->to[i]),
			                        to_bits(comm->bytes[i]),
			                        to_bits(comm->messages[i])};

			fwrite(&record, sizeof(record), 1, cpl_file_stream(w));
		}
	}
	return cpl_file_commit(w, 0644, err);
}
