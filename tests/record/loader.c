/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads a program's main out of the global scope, as Python loads mpi4py. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *library =
	        argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*loaded)(int, char **);

	if (!library) {
		fprintf(stderr, "loader: %s\n", dlerror());
		return 2;
	}
	loaded = (int (*)(int, char **))dlsym(library, "calls_main");
	return loaded ? loaded(argc - 1, argv + 1) : 2;
}
