/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spank_commplace.so as built, in a program that stands in for Slurm's and
 * defines what the plugin calls. Its state is process-wide: open, close. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>

#include <slurm/spank.h>

static inline void *spank_open(void)
{
	void *handle = dlopen(CPL_TEST_BUILDDIR "/.libs/spank_commplace.so",
	                      RTLD_LAZY | RTLD_LOCAL);

	if (!handle)
		fail_msg("%s", dlerror());
	return handle;
}

/* "init_post_opt" of what slurm_spank_ begins. */
static inline spank_f *spank_entry(void *handle, const char *name)
{
	char symbol[64];
	spank_f *entry;

	snprintf(symbol, sizeof(symbol), "slurm_spank_%s", name);
	*(void **)&entry = dlsym(handle, symbol);
	if (!entry)
		fail_msg("%s is missing", symbol);
	return entry;
}
