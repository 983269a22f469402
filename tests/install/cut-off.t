#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A test file that is cut off ends what it began, however often and in whatever
# way it is told so.
here=$(cd "${0%/*}" && pwd)
. "$here/../tools/tap.bash"
work=$(mktemp -d)
on_exit 'rm -rf "$work"'
cd "$work" || bail "no $work"
cat >file <<-END
	. "$here/../tools/tap.bash"
	on_exit 'touch ended'
	on_exit 'touch ending; until [ -e go ]; do sleep 0.1; done; echo; echo'
	touch begun
	until [ -e on ]; do sleep 0.1; done
	while :; do echo "# still here" || :; done
END
there() {
	local end=$((SECONDS + 60))
	until [ -e "$1" ]; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}
# cut_off COMMAND...: of a file that has begun, in a pipe that nobody reads
cut_off() {
	rm -f begun on ending go ended
	bash file > >(:) 2>/dev/null &
	pid=$!
	if ! { there begun && "$@" && there ending && "$@"; }; then
		kill -9 "$pid"
	fi
	touch go
	wait "$pid"
	echo $?
}
# Not INT, which what runs in the background ignores; nor what was ignored when we
# began (nohup), which no shell can trap.
for signal in HUP TERM; do
	if [ "$(trap -p $signal)" = "trap -- '' SIG$signal" ]; then
		skip "$signal, twice: what it began ends" "it is ignored here"
		continue
	fi
	status=$(cut_off eval "kill -$signal \$pid")
	ok "$([ -e ended ] && echo 0 || echo 1)" "$signal, twice: what it began ends"
	isnt "$status" 0 "$signal: and it fails"
done
status=$(cut_off touch on)
ok "$([ -e ended ] && echo 0 || echo 1)" "nobody reads it: what it began ends"
isnt "$status" 0 "and it fails"
done_testing
