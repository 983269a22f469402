#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The recorder built for MPICH, which Debian has beside Open MPI: what it writes
# against the same tables as in run.t.

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tools/tap.bash"
. "$here/env.bash"
mpicc=${MPICH_CC:-mpicc.mpich} mpiexec=${MPICH_EXEC:-mpiexec.mpich}
for tool in "$mpicc" "$mpiexec"; do
	command -v "$tool" >/dev/null || skip_all "no MPICH: $tool"
done
top=$here/../..

. "$here/mpich.bash"
runs "the recorder compiles with MPICH's headers" build_mpich_recorder "$top" \
	"$mpicc" "$work" -Wall -Wextra -Wno-unused-parameter -Werror
is "$(readelf -d libcommplace-record.so | grep -c 'NEEDED.*mpi')" 0 \
	"and needs no MPI library"
runs "and its programs" "$mpicc" -std=gnu11 -O1 -pthread -I"$here" -o calls \
	"$here/calls.c" "$here/calls_coll.c"
[ -x calls ] || bail "no program"

# check NAME CASE...: the cases of each number of ranks in one run.
check() {
	local name=$1 ranks case cases program
	read -ra program <<<"$2"
	shift 2
	for ranks in 2 3 4 5 6; do
		cases=()
		for case in "$@"; do
			[ "$(ranks_of "$case")" = "$ranks" ] && cases+=("$case")
		done
		[ ${#cases[@]} -gt 0 ] || continue
		rm -f got.json
		output=$("$COMMPLACE" record -o got.json \
			--library "$work/libcommplace-record.so" -- \
			"$mpiexec" -n "$ranks" "${program[@]}" "${cases[@]}" \
			2>&1 </dev/null) || diag "$output"
		is "$(matrix got.json)" "$(expected "${cases[@]}")" \
			"$name, $ranks ranks: ${cases[*]}"
	done
}

collectives="barrier bcast reduce allreduce gather gatherv scatter scatterv \
	allgather allgatherv alltoall alltoall-in-place alltoallv alltoallw \
	alltoallw-in-place reduce-scatter reduce-scatter-block scan cart graph \
	dist-graph sub-collectives"
# shellcheck disable=SC2086
{
	check "C" ./calls send-kinds persistent sendrecv communicators \
		one-sided control $collectives
	check "C, non-blocking" "./calls -n" $collectives
}
mpifort=${MPICH_FORT:-mpifort.mpich}
for interface in MPIF MPI F08; do
	command -v "$mpifort" >/dev/null || continue
	runs "Fortran's programs, $interface" "$mpifort" -w \
		-fallow-argument-mismatch -DUSE_$interface -o calls_$interface \
		"$here/calls.F90"
	check "Fortran $interface" ./calls_$interface persistent sendrecv bcast \
		allreduce gatherv alltoall-in-place alltoallw reduce-scatter
done
check "threads (MPI_THREAD_MULTIPLE)" ./calls threads

# An all-reduce of 16 bytes 3 times, a broadcast of 10 from rank 1 twice, 4 parts of
# 25 bytes from 0 to 1 twice.
runs "MPI 4" "$mpicc" -std=gnu11 -O1 -o calls4 "$here/calls4.c"
"$COMMPLACE" record -o got.json --library "$work/libcommplace-record.so" -- \
	"$mpiexec" -n 4 ./calls4 >/dev/null 2>&1
is "$(matrix got.json)" "0 1 248 5
0 2 48 3
1 0 48 3
1 2 20 2
1 3 68 5
2 0 48 3
2 3 48 3
3 0 20 2
3 1 48 3
3 2 48 3" "persistent collectives and partitioned sends"
runs "large counts" "$mpicc" -std=gnu11 -O1 -o calls_large "$here/calls_large.c"
"$COMMPLACE" record -o got.json --library "$work/libcommplace-record.so" \
	--events got.events -- "$mpiexec" -n 4 ./calls_large >/dev/null 2>&1
is "$(matrix got.json)" "0 1 132 11
0 2 36 4
0 3 15 3
1 0 28 3
1 2 19 6
1 3 31 5
2 0 28 3
2 1 15 2
2 3 48 9
3 0 19 5
3 1 28 3
3 2 29 3" "calls with large counts"
"$COMMPLACE" signature phases got.events -o phases.json >/dev/null
"$COMMPLACE" signature export ./phases.json --format coo -o phases.coo >/dev/null
is "$(sed '/^#/d' phases.coo | sort)" "$(matrix got.json)" \
	"their events are those of the calls without"

"$COMMPLACE" record -o got.json --library "$work/libcommplace-record.so" -- \
	"$mpiexec" -n 4 ./calls4 >/dev/null 2>&1
like "$(recorded got.json mpi)" MPICH "the library is told"
done_testing
