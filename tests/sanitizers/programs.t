#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every cmocka program, built with ASan and UBSan, passes without a report.
. "${0%/*}/../tools/tap.bash"
: "${COMMPLACE_SANITIZED:?directory of a build with --enable-sanitizers}"
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0
export LSAN_OPTIONS=suppressions=$(cd "${0%/*}" && pwd)/leaks.supp:print_suppressions=0
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1

found=0
for program in "$COMMPLACE_SANITIZED"/tests/{unit,plugin}/test_*; do
	[ -f "$program" ] && [ -x "$program" ] || continue
	found=$((found + 1))
	output=$("$program" 2>&1)
	status=$?
	name=${program#"$COMMPLACE_SANITIZED"/tests/}
	if [ "$status" -eq 0 ] &&
	    ! grep -qE 'ERROR: (Address|Leak)Sanitizer|runtime error:' <<<"$output"
	then
		pass "$name"
	else
		fail "$name"
		diag "exit code $status"
		diag "$(grep -v '^ok' <<<"$output" | tail -40)" >&2
	fi
done
[ "$found" -gt 0 ]
ok $? "there are programs to run: $found"
# A build without the sanitizers would pass everything above.
like "$(nm -D "$COMMPLACE_SANITIZED/commplace" 2>/dev/null)" "__asan_init" \
	"the build has the sanitizers"
done_testing
