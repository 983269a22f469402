/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading JSON with messages that name file and field, and writing it. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Files larger than this are refused before they are read. */
#define CPL_JSON_MAX_BYTES (2ULL << 30)

/* Parse a file, or a text (name for messages), to json_decref. Duplicate keys
 * are refused, and "$schema" of the root is left out. NULL with err
 * "FILE:LINE:COLUMN: reason". */
json_t *cpl_json_load(const char *path, struct cpl_error *err);
json_t *cpl_json_parse(const char *text, size_t length, const char *name,
		       struct cpl_error *err);

/* "format" must be the given string and "version" 1, else -1 with err. */
int cpl_json_expect_format(const json_t *root, const char *format,
			   struct cpl_error *err);

/* Is every key of object (NULL: has none) in the NULL-terminated list? 0, or -1
 * with err, which begins with `where` if that is given. */
int cpl_json_known_keys(const json_t *object, const char *where,
			const char *const *keys, struct cpl_error *err);

/* object[key] into *out: 1, or 0 where it is absent, or -1 with err when it has
 * another type, is not finite or not in [low, high]. */
int cpl_json_int(const json_t *object, const char *key, int64_t low,
		 int64_t high, int64_t *out, struct cpl_error *err);
int cpl_json_number(const json_t *object, const char *key, double low,
		    double high, double *out, struct cpl_error *err);
int cpl_json_string(const json_t *object, const char *key, const char **out,
		    struct cpl_error *err);
int cpl_json_bool(const json_t *object, const char *key, bool *out,
		  struct cpl_error *err);

/* An integer in [low, high] into *value, which stays where it is absent, but
 * must not be below low then. 0, or -1 with err. */
int cpl_json_take_int(const json_t *object, const char *key, int low, int high,
		      int *value, struct cpl_error *err);

/* json_pack's value behind an array's others, or its object's pairs into an object.
 * 0, or -1 where memory is out, or either of them is NULL. */
int cpl_json_append(json_t *array, const char *format, ...);
int cpl_json_update(json_t *object, const char *format, ...);

/* Numbers as an array, NULL when memory is out. O(n). */
json_t *cpl_json_ints(const int *value, int n);

/* The text of a file: indented, numbers with 17 digits, a newline at the end.
 * free() it. NULL with err. */
char *cpl_json_text(const json_t *root, size_t *length, struct cpl_error *err);

/* Its text by cpl_file_write_atomic. 0, or -1 with err. */
int cpl_json_write_atomic(const json_t *root, const char *path, int mode,
			  struct cpl_error *err);
