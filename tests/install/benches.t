#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The programs of tests/bench, which no other target builds, still compile.
. "${0%/*}/../tools/tap.bash"
: "${COMMPLACE_SOURCE:?}" "${COMMPLACE_SLURM_SOURCE:?}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/commplace-benches.XXXXXX")
on_exit 'rm -rf "$tmp"'

cd "$tmp" || bail "no directory"
runs "configure" "$COMMPLACE_SOURCE/configure" --enable-werror --without-mpi \
	--with-slurm-source="$COMMPLACE_SLURM_SOURCE" --prefix="$tmp/inst" CFLAGS=-O0
runs "make benches" make -s -j2 benches
is "$(find tests/bench -maxdepth 1 -type f -perm -u+x -newer config.status |
	grep -c -e bench_decide -e time_order -e latency_load)" 3 \
	"programs are there"
done_testing
