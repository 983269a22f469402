/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "base/gunzip.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#ifdef HAVE_ZLIB
#include <zlib.h>

/* inflate until `capacity` bytes are there, or its result is not Z_OK. Member
 * after member: gzread would pass over a tail that is none. */
static int fill(z_stream *z, char *text, size_t *length, uint64_t capacity)
{
	int rc;

	z->next_out = (Bytef *)(text + *length);
	z->avail_out = (uInt)(capacity - *length);
	do {
		rc = inflate(z, Z_NO_FLUSH);
		if (rc == Z_STREAM_END && z->avail_in)
			rc = inflateReset(z);
	} while (rc == Z_OK && z->avail_out);
	*length = (size_t)capacity - z->avail_out;
	return rc;
}

/* The text of `in`, of *length bytes, which becomes the text's; the caller
 * frees *text, also of what failed. */
static int gunzip(const char *in, uint64_t max, char **text, size_t *length,
                  struct cpl_error *err)
{
	z_stream z = {.next_in = (Bytef *)in, .avail_in = (uInt)*length};
	int rc = inflateInit2(&z, 15 + 16);

	*length = 0;
	for (uint64_t capacity = 65536; rc == Z_OK && *length <= max;
	     capacity *= 2) {
		char *larger;

		capacity = capacity <= max ? capacity : max + 1;
		larger = realloc(*text, (size_t)capacity + 1);
		if (larger) {
			*text = larger;
			rc = fill(&z, larger, length, capacity);
			larger[*length] = '\0';
		} else {
			rc = Z_MEM_ERROR;
		}
	}
	if (rc == Z_MEM_ERROR)
		cpl_fail_memory(err);
	else if (*length > max)
		cpl_fail(err, "has more than %llu bytes uncompressed",
		         (unsigned long long)max);
	/* No progress: all is read, and the end did not come. */
	else if (rc == Z_BUF_ERROR)
		cpl_fail(err, "is truncated: the gzip data has no end");
	else if (rc != Z_STREAM_END)
		cpl_fail(err, "is not a sound gzip file: %s",
		         z.msg ? z.msg : "damaged");
	inflateEnd(&z);
	return rc == Z_STREAM_END && *length <= max ? 0 : -1;
}
#else
static int gunzip(const char *in, uint64_t max, char **text, size_t *length,
                  struct cpl_error *err)
{
	(void)in;
	(void)max;
	(void)text;
	(void)length;
	return cpl_fail(err, "is compressed, and this commplace is built "
	                     "without zlib; gunzip it first");
}
#endif

char *cpl_file_read_gunzip(const char *path, uint64_t max, size_t *length,
                           struct cpl_error *err)
{
	char *in = cpl_file_read(path, max, length, err), *text = NULL;

	if (!in || *length < 2 || memcmp(in, "\x1f\x8b", 2))
		return in;
	if (gunzip(in, max, &text, length, err)) {
		cpl_fail_prefix(err, "%s: ", path);
		free(text);
		text = NULL;
	}
	free(in);
	return text;
}
