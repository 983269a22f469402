#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Events and phases of running programs, and what is left of those that end
# without MPI_Finalize.

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tools/tap.bash"
. "$here/env.bash"
export OMPI_MCA_mpi_yield_when_idle=1
# Time to write for ranks that mpirun ends, on a loaded machine; it waits twice
# as long, before SIGTERM, too.
export OMPI_MCA_odls_base_sigkill_timeout=10 PRTE_MCA_odls_base_sigkill_timeout=10
loops=$PROGRAMS/loops

# field FILE PHASE KEY: a number of `signature phases --json`
field() {
	jq --arg name "$2" --arg key "$3" \
		'.phases[] | select(.name == $name)[$key] + 0' "$1"
}

# matrix_of SIGNATURE: of the whole run, rounded
matrix_of() {
	"$COMMPLACE" signature export "$1" --format coo -o out.coo >/dev/null &&
		awk '!/^#/ { printf "%d %d %.0f %.0f\n", $1, $2, $3, $4 }' out.coo | sort
}

runs "a run with events" "$COMMPLACE" record -o run.json --events run.events -- \
	mpirun -n 4 "$loops" 30 1000
output=$("$COMMPLACE" signature phases run.events -o phases.json --calls 1 2>&1)
is $? 0 "its phases are found"
like "$output" "MPI_Isend +2 +1 +65536 " "the calls of a rank: a send"
like "$output" "MPI_Irecv +0 +1 +65536 " "and a receive"
"$COMMPLACE" signature phases run.events --json --relevant 0 >phases
is "$(field phases phase1 weight)" 30 "the halo repeats 30 times"
weight=$(field phases phase2 weight)
ok "$(awk -v w="${weight%.*}" 'BEGIN { exit !(w >= 290 && w <= 300) }'; echo $?)" \
	"the solver 290 times, with the last step's 300 (here $weight)"
is "$(awk '/^In no phase/ { n++ } END { print n + 0 }' <<<"$output")" 1 \
	"what is in no phase is told"
matrix_of ./run.json >run.matrix
ok "$([ -s run.matrix ]; echo $?)" "the run has traffic"
is "$(matrix_of ./phases.json)" "$(cat run.matrix)" \
	"phases times weights are the run, in bytes and messages"
time=$(jq -s '([.[1].phases[] | .weight * .time] | add) / .[0].phases[0].time |
	. > 0.99 and . < 1.01' run.json phases.json)
is "$time" true "and in time"

# Events are as long as the program, not as its run.
size=$(stat -c %s run.events)
"$COMMPLACE" record -o long.json --events long.events --phases -- \
	mpirun -n 4 "$loops" 300 0 >/dev/null 2>&1
more=$(stat -c %s long.events)
ok "$([ "$more" -lt $((size * 5 / 4 + 100)) ]; echo $?)" \
	"10 times the steps take no more bytes: $size and $more"
output=$("$COMMPLACE" signature show ./long.json 2>&1)
cat >machine.json <<'END'
{"format": "commplace-machine", "version": 1, "levels": {"core":
	{"latency": 1e-6, "seconds_per_byte": 1e-10}}}
END
like "$output" "phase1 +300" "with their weights"
like "$output" "PET, the sum" "and the table"

# Idle time, where a rank is slow on purpose: the others wait for it. It is slow
# by far more than a busy machine lets a rank oversleep.
"$COMMPLACE" record -o slow.json --events slow.events -- \
	mpirun -n 4 "$loops" 3 5000 2 20 >/dev/null 2>&1
"$COMMPLACE" signature predict slow.events --machine machine.json --json >slow
waits=$(jq -c '.phases | max_by(.weight * .time) | [.waited_for,
	(.waiting | any(. == 2)), .idle_time > .time / 3]' slow)
is "$waits" "[2,false,true]" "idle time is found where rank 2 computes twenty times as long"
output=$("$COMMPLACE" signature predict slow.events --machine machine.json)
like "$output" "wait up to .*; rank 2 computes longest" \
	"and the rank that the others wait for is named"

# Events may go to another file system than the signature.
shm=$(mktemp -d /dev/shm/commplace.XXXXXX)
on_exit 'rm -rf "$shm"'
runs "events elsewhere" "$COMMPLACE" record -o else.json \
	--events "$shm/else.events" -- mpirun -n 4 "$loops" 3 0
is "$(ls "$shm")" else.events "the events are there, and nothing else"

# Ends without MPI_Finalize: all that was counted until then. mpirun sleeps most
# of that time: all of them at once.
# ends HOW: in a folder of that name
ends() {
	mkdir "$1" && cd "$1" || return
	echo good >end.json
	# Open MPIs that begin at once are in each other's way in one folder.
	TMPDIR=$PWD "$COMMPLACE" record -o end.json -- \
		mpirun -n 4 "$loops" 30 0 "$1" >out 2>&1
	echo $? >status
}
matrix_of ./run.json >before
endings=()
for how in 15 11 abort exit 9; do
	(ends $how) &
	endings+=($!)
done
wait "${endings[@]}"
for how in 15 11 abort exit; do
	isnt "$(cat $how/status)" 0 "$how: the command fails"
	like "$(cat $how/out)" "what 4 of 4 ranks counted until then is in" \
		"$how: what was counted is kept"
	is "$(matrix_of ./$how/end.partial.json)" "$(cat before)" "$how: all of it"
	is "$(cat $how/end.json)" good "$how: a former signature stays"
	like "$(cat $how/end.partial.json)" '"incomplete_ranks": 4' \
		"$how: and it says so"
done
like "$(cat 9/out)" "what 3 of 4 ranks counted" \
	"SIGKILL: what the others counted is kept"
is "$(find . -name '*.record-*' | wc -l)" 0 "no files are left"

done_testing
