#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The bad-input rows once more, with the command built with ASan and UBSan:
# refusals free what they hold. CI has a third of the tables each day.
. "${0%/*}/../tools/tap.bash"
trap - EXIT
export ASAN_OPTIONS=detect_leaks=1:exitcode=99
export LSAN_OPTIONS=suppressions=$(cd "${0%/*}" && pwd)/leaks.supp:print_suppressions=0
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
# A bomb of 1 GiB is slower so, on a machine that does other work.
export COMMPLACE_ROW_SECONDS=300
export COMMPLACE=${COMMPLACE_SANITIZED:?directory of a build with --enable-sanitizers}/commplace
# big.tsv limits the address space, in which ASan's shadow has no room.
tables=() n=0
for table in "${0%/*}"/../bad-input/*.tsv; do
	[ "${table##*/}" != big.tsv ] || continue
	turn 3 $((n++ % 3)) && tables+=("$table")
done
exec "${0%/*}/../bad-input/run" "${tables[@]}"
