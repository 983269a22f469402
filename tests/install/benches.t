#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The programs of tests/bench, which no other target builds, still compile.
. "${0%/*}/../tools/tap.bash"
: "${COMMPLACE_BUILD:?}"
needs_turn 2 0

cd "$COMMPLACE_BUILD" || bail "no directory"
runs "make benches" make -s -j2 benches
is "$(find tests/bench -maxdepth 1 -type f -perm -u+x |
	grep -c -e bench_decide -e time_order -e latency_load)" 3 \
	"programs are there"
done_testing
