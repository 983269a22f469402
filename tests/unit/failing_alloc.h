/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * No memory: allocations that fail when told to. The linker puts these in front
 * of those of all that is linked in (unit.mk: failing_alloc).
 */
#pragma once

#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t n);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t n);

/* A test of several threads defines OWN_FAILS and its own fails(). */
#ifdef OWN_FAILS
static int fails(void);
#else
/* Allocations until one fails; below 0 none does. */
static int left = -1;

static int fails(void)
{
	return left >= 0 && left-- == 0;
}
#endif

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t n)
{
	return fails() ? NULL : __real_strndup(text, n);
}
