#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# NCCL's profiler plugin and its stand-in for NCCL, with ASan and UBSan, and with TSan,
# since its callbacks come from many threads: no report, and the same counts.
here=$(cd "${0%/*}" && pwd)
. "$here/../tools/tap.bash"
. "$here/../record/matrix.bash"
: "${COMMPLACE_SANITIZED:?directory of a build with --enable-sanitizers}"
src=$here/../../src
work=$(mktemp -d)
on_exit 'rm -rf "$work"'
cd "$work" || exit 1
unset "${!COMMPLACE_RECORD_@}" RANK WORLD_SIZE
export COMMPLACE_RECORD_FILE=$work/got.json
for kind in address,undefined thread; do
	compile=(gcc -std=gnu11 -O1 -g -pthread "-fsanitize=$kind"
		-fno-sanitize-recover=undefined -I"$COMMPLACE_SANITIZED" -I"$src" \
		-I"$src/core")
	"${compile[@]}" -fPIC -shared -fvisibility=hidden -Wl,-z,nodelete -o plugin.so \
		"$src"/record/{nccl*,fold,program,writer}.c &&
		"${compile[@]}" -o job "$here/../record/nccl_job.c" -ldl
	ok $? "$kind: both are compiled"
	for run in "4 8 2 0 8 2000" "5 8 2 0 8 2000 hostile" "6 8 4 0 8 2000 fork"; do
		rm -rf got.json*
		# shellcheck disable=SC2086
		timeout 300 ./job ./plugin.so $run >own 2>err
		is "$?:$(grep -v '^commplace-record: ' err)" 0: "$kind: $run: no report"
		is "$(matrix got.json)" "$(LC_ALL=C sort own)" "$kind: $run: its counts"
	done
	COMMPLACE_RECORD_MEMORY=1 ./job ./plugin.so 5 100000 1 5 1 0 peers=20000 2>err
	is "$?:$(grep -cv '^commplace-record: ' err)" 0:0 "$kind: full memory"
done
done_testing
