#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A test file that does not end is ended, by its name and with all it began
# (tests/tools/limit, by which run-tests runs every file). Each has a limit of
# length, too.
here=$(cd "${0%/*}" && pwd)
. "$here/../tools/tap.bash"
limit=$here/../tools/limit
work=$(mktemp -d)
on_exit 'rm -rf "$work"'
cd "$work" || bail "no $work"
gone() { # FILE with a process id
	local state
	state=$(sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$(cat "$1")/status" 2>/dev/null)
	[ -z "$state" ] || [ "$state" = Z ]
}
# limited FILE [PATIENCE]: status, out and err; 3 s where nothing is said
limited() {
	COMMPLACE_TEST_PATIENCE=${2:-0.01} timeout -s KILL 60 "$limit" "$1" \
		>out 2>err
	status=$?
}

mkdir -p tests/unit
echo 'echo "ok 1 - one"; echo "1..1"; cat; exit ${1:-3}' >tests/unit/quick.t
limited tests/unit/quick.t 1
is "$status: $(paste -sd, out) $(cat err)" "3: ok 1 - one,1..1 " \
	"output and status of a file that ends, which reads no terminal"
# A file that has said something on stderr, or half a line, has prove wait for it, and
# nobody for the others.
cat >tests/unit/says.t <<'END'
echo first >&2
printf 'ok 1'
sleep 1
[ -s err ] || [ -s out ] || echo ' - quiet'
echo second >&2
echo 'ok 2 - and here'
sleep 1
echo last >&2
END
limited tests/unit/says.t 1
is "$(paste -sd, out) $(paste -sd, err)" \
	"ok 1 - quiet,ok 2 - and here first,second,last" \
	"what it says on stderr goes on with its next line, or at the end"
printf '#!/bin/sh\nkill -SEGV $$\n' >tests/unit/test_crash
chmod 755 tests/unit/test_crash
limited tests/unit/test_crash 1
is "$status" 139 "one that crashes has failed"

# Its trap ends a daemon; one that heeds no TERM, and one that left the group and
# holds the output, are left to it.
cat >tests/unit/hangs.t <<'END'
trap 'kill "$(cat daemon)"; echo trapped >trap; exit 143' TERM
echo "ok 1 - before"
setsid sleep 1000 >/dev/null 2>&1 & echo $! >daemon
(trap '' TERM; echo $BASHPID >deaf; while :; do sleep 1; done) &
setsid sleep 1000 & echo $! >away
sleep 1000
END
on_exit 'kill "$(cat away)"'
limited tests/unit/hangs.t
is "$status" 124 "a file that hangs: has failed"
is "$(paste -sd, out)" \
	"ok 1 - before,,not ok - tests/unit/hangs.t: not ended within its limit of 3 s" \
	"a result says so, by its name"
is "$(grep limit err)" "# tests/unit/hangs.t: not ended within its limit of 3 s" \
	"what prove passes on does, too"
is "$(cat trap)" trapped "its trap is run"
runs "and the daemon that this ends is gone" gone daemon
runs "what heeds no TERM is killed" gone deaf
gone away
is $? 1 "what holds its output is not waited for"

# One that goes on, on a slow machine, and one that goes on for ever.
echo 'for ((i = 1; i <= 12; i++)); do sleep 0.4; echo "ok $i"; done' >tests/unit/slow.t
limited tests/unit/slow.t
is "$status $(tail -n 1 out)" "0 ok 12" "a file that is slow, and says so, may take longer"
echo 'while :; do sleep 0.4; echo "ok"; done' >tests/unit/ever.t
begun=$SECONDS
limited tests/unit/ever.t
is "$status $(((SECONDS - begun) / 3))" "124 3" "three times as long at most"

# What has no time left is not begun, and says so; the layers that are quick are.
mkdir -p tests/fuzz
cp tests/unit/quick.t tests/fuzz/
for row in "unit $((EPOCHSECONDS - 9)) 3" "fuzz $((EPOCHSECONDS - 9)) 0" \
    "unit $((EPOCHSECONDS - 9)):all 0" "fuzz $((EPOCHSECONDS + 99)) 3"; do
	read -r layer until want <<<"$row"
	COMMPLACE_TEST_UNTIL=$until limited "tests/$layer/quick.t" 1
	is "$status:$(grep -c 'SKIP no time is left' out)" "$want:$((want == 0))" \
		"$layer with COMMPLACE_TEST_UNTIL: $([ "$want" = 0 ] && echo skipped || echo run)"
done
COMMPLACE_TEST_UNTIL=$((EPOCHSECONDS - 1199)) limited tests/unit/ever.t 1
is "$status" 124 "what still runs long after it is ended"

# Cut off from outside.
cat >tests/unit/cut.t <<'END'
trap 'sleep 1; touch trapped; exit 1' TERM
touch begun; sleep 1000
END
for signal in TERM HUP; do
	rm -f trapped begun
	"$limit" tests/unit/cut.t >/dev/null 2>&1 &
	until [ -e begun ]; do sleep 0.1; done
	kill -$signal $!
	sleep 0.2
	kill -$signal $!
	wait $!
	is "$? $(ls trapped)" "$((128 + $(kill -l $signal))) trapped" \
		"$signal, twice: the file's own traps run to their end"
done

# make check, as packages run it.
: "${COMMPLACE_BUILD:?}"
unset MAKEFLAGS
check() { make -C "$COMMPLACE_BUILD" -s check TESTS=tests/unit/test_store VERBOSE=1; }
runs "make check" check
output=$(COMMPLACE_TEST_PATIENCE=0.001 check 2>&1)
isnt $? 0 "make check heeds limits, too"
like "$output" "test_store: not ended within its limit of 0.3 s" "and says whose"
# Fault 61: JSON was read by Python, which scripts/install-packages does not bring.
# The root of packages installs its own; bench-applications goes without, and the
# test of schemas has it with python3-jsonschema; exporters of contrib are written in it,
# and their tests skipped without.
is "$(cd "$here/.." && grep -rlE '(^|[^-_./a-z])python3?( |$)' . --exclude='*.[ch]' \
	--exclude-dir={packages,bench} --exclude={schema,python,exporters,ibsim}.t)" "" "no layer but packages calls Python"
long() { # LINES: files of tests that have more
	find "$here/.." -name '*.[cht]' -exec wc -l {} + |
		awk -v most="$1" '$2 != "total" && $1 > most'
}
is "$(long 1000)" "" "no file of tests has more than 1000 lines"
isnt "$(long 500)" "" "longer ones are found"
done_testing
