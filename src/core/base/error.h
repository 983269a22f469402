/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors are values: a function that can fail returns -1 (or NULL) and leaves
 * one line of text that names the file, line or field and the reason. */
/* Tests: array in test_store; clock in test_worker; error printable registry
 * in test_base; spawn in test_debuginfo test_door; file suggest in test_json; gunzip
 * in golden/networks.t; lines in test_import_network; linking in record/run.t; packed
 * in test_door test_launch; random in test_partition test_traffic; socket in test_door
 * test_tree; team in test_parallel. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define CPL_ERROR_MAX 512

/* What went wrong. Zero-initialise it; text is "" as long as nothing failed. */
struct cpl_error {
	char text[CPL_ERROR_MAX];
};

/* Store a message in err (may be NULL), cut where it is too long. Always -1, so
 * that callers can "return cpl_fail(err, ...)". */
int cpl_fail(struct cpl_error *err, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
int cpl_vfail(struct cpl_error *err, const char *fmt, va_list ap)
        __attribute__((format(printf, 2, 0)));

/* Put a prefix (such as "network.json: ") in front of it. Always -1. */
int cpl_fail_prefix(struct cpl_error *err, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));

/* cpl_fail(err, "out of memory"). */
int cpl_fail_memory(struct cpl_error *err);

/* The same two for those that return a pointer. Always NULL, as the compiler sees. */
#define cpl_fail_null(...) (cpl_fail(__VA_ARGS__), (void *)NULL)
#define cpl_fail_null_memory(err) (cpl_fail_memory(err), (void *)NULL)

/* Is something missing for want of memory? That is then the error. */
static inline bool cpl_out_of_memory(bool missing, struct cpl_error *err)
{
	return missing && cpl_fail_memory(err);
}

/* Free all of these in turn, as at the one label where a function that can fail
 * ends: "cpl_free_all(w.rate, w.in, w.out)". */
#define cpl_free_all(...)                                         \
	cpl_free_list((void *[]){__VA_ARGS__},                    \
	              sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
static inline void cpl_free_list(void *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i]);
}

/* Was memory out, whatever prefix was put in front? Quoted text cannot feign
 * it: no message ends in a quotation. */
bool cpl_error_is_memory(const struct cpl_error *err);
