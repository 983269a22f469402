/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "pmpi.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef CPL_OLD_DL
__asm__(".symver dlopen, dlopen@" CPL_OLD_DL);
__asm__(".symver dlsym, dlsym@" CPL_OLD_DL);
__asm__(".symver dlclose, dlclose@" CPL_OLD_DL);
#endif

#define MAX_LIBRARIES 16

struct rec_pmpi pmpi;

struct libraries {
	int n;
	char *path[MAX_LIBRARIES];
};

/* This only collects, since dlopen must not be called from this callback. */
static int collect(struct dl_phdr_info *info, size_t size, void *context)
{
	struct libraries *found = context;
	const char *base = strrchr(info->dlpi_name, '/');

	base = base ? base + 1 : info->dlpi_name;
	if (strncmp(base, "libmpi", 6) || found->n == MAX_LIBRARIES)
		return 0;
	found->path[found->n] = strdup(info->dlpi_name);
	if (found->path[found->n])
		found->n++;
	return 0;
}

void *rec_symbol(const char *name)
{
	struct libraries found = {0};
	void *symbol = dlsym(RTLD_DEFAULT, name);

	if (symbol)
		return symbol;
	dl_iterate_phdr(collect, &found);
	for (int i = 0; i < found.n; i++) {
		void *library =
		        symbol ? NULL
		               : dlopen(found.path[i], RTLD_LAZY | RTLD_NOLOAD);

		if (library) {
			symbol = dlsym(library, name);
			dlclose(library); /* drops the reference only */
		}
		free(found.path[i]);
	}
	return symbol;
}

void *rec_real(const char *name)
{
	char profiling[64];
	void *symbol;

	snprintf(profiling, sizeof(profiling), "%c%s",
	         name[0] == 'M' ? 'P' : 'p', name);
	symbol = rec_symbol(profiling);
	if (!symbol)
		symbol = dlsym(RTLD_NEXT, name);
	if (!symbol)
		fprintf(stderr,
		        "commplace-record: %s is called, but no MPI library "
		        "is loaded that has it\n",
		        name);
	return symbol;
}

int rec_pmpi_load(void)
{
#define X(name)                                                                \
	pmpi.name = (__typeof__(pmpi.name))rec_symbol("PMPI_" #name);          \
	if (!pmpi.name)                                                        \
		return -1;
	REC_PMPI_FUNCTIONS(X)
	REC_PMPI_HANDLES(X)
#undef X
	pmpi.has_sessions = REC_SESSIONS;
#define X(name)                                                                \
	pmpi.name = (__typeof__(pmpi.name))rec_symbol("PMPI_" #name);          \
	pmpi.has_sessions = pmpi.has_sessions && pmpi.name;
	REC_PMPI_SESSIONS(X)
#undef X
#ifdef OPEN_MPI
	/* Open MPI's handles are addresses of the library's objects. */
	pmpi.comm_world = rec_symbol("ompi_mpi_comm_world");
	pmpi.comm_null = rec_symbol("ompi_mpi_comm_null");
	pmpi.byte = rec_symbol("ompi_mpi_byte");
	pmpi.errors_return = rec_symbol("ompi_mpi_errors_return");
	pmpi.no_info = rec_symbol("ompi_mpi_info_null");
	pmpi.no_op = rec_symbol("ompi_mpi_op_no_op");
	if (!pmpi.comm_world || !pmpi.comm_null || !pmpi.byte ||
	    !pmpi.errors_return || !pmpi.no_info || !pmpi.no_op)
		return -1;
#else
	if (rec_symbol("ompi_mpi_comm_world"))
		return -1;
	pmpi.comm_world = MPI_COMM_WORLD;
	pmpi.comm_null = MPI_COMM_NULL;
	pmpi.byte = MPI_BYTE;
	pmpi.errors_return = MPI_ERRORS_RETURN;
	pmpi.no_info = MPI_INFO_NULL;
	pmpi.no_op = MPI_NO_OP;
#endif
	return 0;
}
