/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LD_PRELOAD into srun: damage what its launch carries of a profile
 * (binding/launch.h). DAMAGE is "cut" (its first half), "flip" (a bit in
 * the middle), "stretch" (as long again, with nothing) or "swap" (zeros behind
 * the head).
 */
#include "commplace-config.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HEAD 16

void slurm_packmem(void *data, uint32_t size, void *buffer);

void slurm_packmem(void *data, uint32_t size, void *buffer)
{
	static const char magic[] = "CPX2";
	const char *how = getenv("DAMAGE");
	void (*real)(void *, uint32_t, void *);
	char *copy = NULL;

	*(void **)&real = dlsym(RTLD_NEXT, "slurm_packmem");
	if (how && data && size > HEAD && !memcmp(data, magic, 4))
		copy = calloc(2, size);
	if (copy) {
		memcpy(copy, data, size);
		if (!strcmp(how, "cut"))
			size /= 2;
		else if (!strcmp(how, "flip"))
			copy[size / 2] ^= 4;
		else if (!strcmp(how, "stretch"))
			size *= 2;
		else
			memset(copy + HEAD, 0, size - HEAD);
	}
	real(copy ? copy : data, size, buffer);
	free(copy);
}
