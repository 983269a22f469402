/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers and texts in few bytes, for data that travels: LEB128 varints, fixed
 * numbers little-endian, texts as a length and bytes. Readers trust nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Grows up to limit. What does not fit sets full, want of memory failed; after
 * that nothing is added. data is free()d by its user. All O(bytes). */
struct cpl_packer {
	unsigned char *data;
	size_t used, capacity, limit;
	bool full, failed;
};

/* n bytes; a varint; the low `bytes` of a value; a length and a text. */
void cpl_put(struct cpl_packer *o, const void *data, size_t n);
void cpl_put_number(struct cpl_packer *o, uint64_t value);
void cpl_put_fixed(struct cpl_packer *o, uint64_t value, int bytes);
void cpl_put_text(struct cpl_packer *o, const char *text);

/* A value that is missing or too large, or text that is none, sets bad and
 * reads as 0 or "". */
struct cpl_unpacker {
	const unsigned char *at, *end;
	bool bad;
};

uint64_t cpl_get_number(struct cpl_unpacker *in);
/* A number up to max, as an int. */
int cpl_get_int(struct cpl_unpacker *in, int max);
uint64_t cpl_get_fixed(struct cpl_unpacker *in, int bytes);
/* A text of less than `capacity` bytes without zeros. */
void cpl_get_text(struct cpl_unpacker *in, char *text, size_t capacity);

/* The sum that such data ends with, FNV-1a (Fowler, Noll, Vo): of `sum`, that
 * of the bytes before (CPL_FNV: there are none), and these bytes. */
#define CPL_FNV 2166136261u
uint32_t cpl_fnv(uint32_t sum, const void *data, size_t size);
