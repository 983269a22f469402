/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/packed.h"

#include <stdlib.h>
#include <string.h>

/* A varint of 64 bits. */
#define MAX_VARINT 10

uint32_t cpl_fnv(uint32_t sum, const void *data, size_t size)
{
	const unsigned char *at = data;

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ at[i]) * 16777619u;
	return sum;
}

void cpl_put(struct cpl_packer *o, const void *data, size_t n)
{
	if (o->full || o->failed)
		return;
	if (n > o->limit - o->used) {
		o->full = true;
		return;
	}
	if (n > o->capacity - o->used) {
		size_t capacity = o->capacity * 2 > o->used + n
		                          ? o->capacity * 2
		                          : o->used + n + 256;
		unsigned char *more = realloc(o->data, capacity);

		if (!more) {
			o->failed = true;
			return;
		}
		o->data = more;
		o->capacity = capacity;
	}
	if (n)
		memcpy(o->data + o->used, data, n);
	o->used += n;
}

void cpl_put_number(struct cpl_packer *o, uint64_t value)
{
	unsigned char text[MAX_VARINT];
	size_t n = 0;

	for (; value > 0x7f; value >>= 7)
		text[n++] = (unsigned char)(value | 0x80);
	text[n++] = (unsigned char)value;
	cpl_put(o, text, n);
}

void cpl_put_fixed(struct cpl_packer *o, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++) {
		unsigned char c = (unsigned char)(value >> 8 * i);

		cpl_put(o, &c, 1);
	}
}

void cpl_put_text(struct cpl_packer *o, const char *text)
{
	cpl_put_number(o, strlen(text));
	cpl_put(o, text, strlen(text));
}

uint64_t cpl_get_number(struct cpl_unpacker *in)
{
	uint64_t value = 0;

	for (int shift = 0; shift < 64 && in->at < in->end; shift += 7) {
		unsigned char c = *in->at++;

		if (shift == 63 && c > 1)
			break;
		value |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return value;
	}
	in->bad = true;
	in->at = in->end;
	return 0;
}

int cpl_get_int(struct cpl_unpacker *in, int max)
{
	uint64_t value = cpl_get_number(in);

	if (value > (uint64_t)max) {
		in->bad = true;
		return 0;
	}
	return (int)value;
}

uint64_t cpl_get_fixed(struct cpl_unpacker *in, int bytes)
{
	uint64_t value = 0;

	if (in->end - in->at < bytes) {
		in->bad = true;
		return 0;
	}
	for (int i = 0; i < bytes; i++)
		value |= (uint64_t)*in->at++ << 8 * i;
	return value;
}

void cpl_get_text(struct cpl_unpacker *in, char *text, size_t capacity)
{
	size_t length = (size_t)cpl_get_int(in, (int)capacity - 1);

	if (in->bad || (size_t)(in->end - in->at) < length ||
	    memchr(in->at, '\0', length)) {
		in->bad = true;
		length = 0;
	} else {
		memcpy(text, in->at, length);
		in->at += length;
	}
	text[length] = '\0';
}
