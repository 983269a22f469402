/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The form of every wrapper of the C interface: call the library, then count.
 */
#ifndef CPL_RECORD_WRAP_H
#define CPL_RECORD_WRAP_H

#include "pmpi.h"
#include "recorder.h"

/* The function below the wrapper of a symbol, looked up once. */
#define REC_REAL(type, symbol)                                                 \
	({                                                                     \
		static __typeof__(type) *found_;                               \
		__typeof__(type) *real_ =                                      \
		        __atomic_load_n(&found_, __ATOMIC_RELAXED);            \
		if (!real_) {                                                  \
			real_ = (__typeof__(type) *)rec_real(symbol);          \
			__atomic_store_n(&found_, real_, __ATOMIC_RELAXED);    \
		}                                                              \
		real_;                                                         \
	})

/* The rest of the arguments are what to do after a successful call. */
#define REC_WRAP(name, params, args, ...)                                      \
	REC_EXPORT int MPI_##name params                                       \
	{                                                                      \
		__typeof__(PMPI_##name) *real =                                \
		        REC_REAL(__typeof__(PMPI_##name), "MPI_" #name);       \
		int64_t start;                                                 \
		int rc;                                                        \
		if (!real)                                                     \
			return MPI_ERR_OTHER;                                  \
		start = rec_enter();                                           \
		rc = real args;                                                \
		if (rec_leave(start) && rc == MPI_SUCCESS) {                   \
			__VA_ARGS__;                                           \
		}                                                              \
		return rc;                                                     \
	}

#endif
