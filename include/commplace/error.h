/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors are values: a function that can fail returns -1 or NULL and leaves one
 * line of text in *err: what, where (file, field, line) and why. err may be
 * NULL: the text is then dropped. A call that fails changes nothing.
 */
#ifndef COMMPLACE_ERROR_H
#define COMMPLACE_ERROR_H

#define COMMPLACE_ERROR_MAX 512

/* Only in the library's own declarations: what is exported. */
#if defined(__GNUC__)
#define COMMPLACE_API __attribute__((visibility("default")))
#else
#define COMMPLACE_API
#endif

/* C's linkage for the declarations between them. */
#ifdef __cplusplus
#define COMMPLACE_BEGIN extern "C" {
#define COMMPLACE_END }
#else
#define COMMPLACE_BEGIN
#define COMMPLACE_END
#endif

/* The text ends with a NUL and has no control characters. It is not touched
 * where nothing failed. */
struct commplace_error {
	char text[COMMPLACE_ERROR_MAX];
};

#endif
