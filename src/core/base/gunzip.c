/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "base/gunzip.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#ifdef HAVE_ZLIB
#include <zlib.h>

#define FIRST 65536
#define AT_ONCE (UINT64_C(1) << 30) /* zlib counts in unsigned int */

struct text {
	char *data;
	uint64_t length, capacity;
};

/* Capacity for more, and for the NUL behind it. */
static int grow(struct text *text, uint64_t max, const char *path,
                struct cpl_error *err)
{
	uint64_t capacity = text->capacity ? 2 * text->capacity : FIRST;
	char *larger;

	if (text->length < text->capacity)
		return 0;
	if (text->capacity > max)
		return cpl_fail(err,
		                "%s: has more than %llu bytes uncompressed",
		                path, (unsigned long long)max);
	if (capacity > max)
		capacity = max + 1;
	larger = realloc(text->data, (size_t)capacity + 1);
	if (!larger)
		return cpl_fail(err, "%s: out of memory", path);
	text->data = larger;
	text->capacity = capacity;
	return 0;
}

/* One call of inflate; its result, and in *done what was taken in. */
static int step(z_stream *z, const char *in, uint64_t length, uint64_t *done,
                struct text *text)
{
	uint64_t part = length - *done, left = text->capacity - text->length;
	int rc;

	part = part < AT_ONCE ? part : AT_ONCE;
	left = left < AT_ONCE ? left : AT_ONCE;
	z->next_in = (Bytef *)(in + *done);
	z->avail_in = (uInt)part;
	z->next_out = (Bytef *)(text->data + text->length);
	z->avail_out = (uInt)left;
	rc = inflate(z, Z_NO_FLUSH);
	*done += part - z->avail_in;
	text->length += left - z->avail_out;
	return rc;
}

static int inflate_all(const char *in, uint64_t length, uint64_t max,
                       const char *path, struct text *text,
                       struct cpl_error *err)
{
	z_stream z = {0};
	uint64_t done = 0;
	int rc = inflateInit2(&z, 15 + 16), failed = -1;

	if (rc != Z_OK)
		return cpl_fail(err, "%s: out of memory", path);
	do {
		if (grow(text, max, path, err))
			goto out;
		rc = step(&z, in, length, &done, text);
		if (rc == Z_STREAM_END && done < length)
			rc = inflateReset(&z);
	} while (rc == Z_OK);
	/* No progress: all is read, and the end did not come. */
	if (rc == Z_BUF_ERROR)
		cpl_fail(err, "%s: is truncated: the gzip data has no end",
		         path);
	else if (rc == Z_MEM_ERROR)
		cpl_fail(err, "%s: out of memory", path);
	else if (rc != Z_STREAM_END)
		cpl_fail(err, "%s: is not a sound gzip file: %s", path,
		         z.msg ? z.msg : "damaged");
	else if (text->length > max)
		cpl_fail(err, "%s: has more than %llu bytes uncompressed", path,
		         (unsigned long long)max);
	else
		failed = 0;
out:
	inflateEnd(&z);
	return failed;
}

static char *gunzip(char *in, uint64_t max, const char *path, size_t *length,
                    struct cpl_error *err)
{
	struct text text = {NULL, 0, 0};

	if (inflate_all(in, *length, max, path, &text, err)) {
		free(text.data);
		text.data = NULL;
	} else {
		text.data[text.length] = '\0';
		*length = (size_t)text.length;
	}
	free(in);
	return text.data;
}
#else
static char *gunzip(char *in, uint64_t max, const char *path, size_t *length,
                    struct cpl_error *err)
{
	cpl_fail(err,
	         "%s: is compressed, and this commplace is built without zlib; "
	         "gunzip it first",
	         path);
	free(in);
	return NULL;
}
#endif

char *cpl_file_read_gunzip(const char *path, uint64_t max, size_t *length,
                           struct cpl_error *err)
{
	char *text = cpl_file_read(path, max, length, err);

	if (!text || *length < 2 || memcmp(text, "\x1f\x8b", 2))
		return text;
	return gunzip(text, max, path, length, err);
}
