#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The recorder in running MPI programs: what it wrote against tables made by
# hand (expected/CASE: the number of ranks, then source ranks, destination
# ranks, bytes, messages).

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tools/tap.bash"

. "$here/env.bash"

# run CASE-FOR-RANKS COMMAND...: got.json and $output; ends on failure
run() {
	local ranks=$(ranks_of "$1")
	shift
	rm -f got.json
	output=$("$COMMPLACE" record -o got.json -- \
		mpirun -n "$ranks" "$@" 2>&1 </dev/null)
}

# check NAME CASE COMMAND...: record the program and compare.
check() {
	local name=$1 case=$2
	shift 2
	if ! run "$case" "$@"; then
		fail "$name"
		diag "$output"
		return
	fi
	like "$output" "^got.json: got, $(ranks_of "$case") ranks" \
		"$name: summary"
	is "$(matrix got.json)" "$(expected "$case")" "$name"
}

# check_all NAME "PROGRAM..." CASE...: the cases of each number of ranks in one
# run against the sum of their tables; one by one when that is not equal.
check_all() {
	local name=$1 program=$2 ranks case cases
	shift 2
	for ranks in 2 3 4 5 6; do
		cases=()
		for case in "$@"; do
			[ "$(ranks_of "$case")" -ne $ranks ] || cases+=("$case")
		done
		[ ${#cases[@]} -gt 0 ] || continue
		# shellcheck disable=SC2086
		if run "${cases[0]}" $program "${cases[@]}" &&
			[ "$(matrix got.json)" = "$(expected "${cases[@]}")" ]
		then
			for case in "${cases[@]}"; do
				pass "$name: $case"
			done
			continue
		fi
		for case in "${cases[@]}"; do
			check "$name: $case" "$case" $program "$case"
		done
		fail "$name: on $ranks ranks in one run"
		diag "$output"
	done
}

# crashes RANKS COMMAND...: whether it ends by SIGSEGV when nobody records it,
# as an MPI_Ialltoall in place of mpi_f08 does in Open MPI 6.0.0rc2
crashes() {
	mpirun -n "$@" >/dev/null 2>&1 </dev/null
	[ $? -eq 139 ]
}

collectives="barrier bcast reduce allreduce gather gatherv scatter scatterv \
	allgather allgatherv alltoall alltoall-in-place alltoallv alltoallw \
	alltoallw-in-place reduce-scatter reduce-scatter-block scan cart"
simple="send-kinds persistent sendrecv communicators one-sided control"

# shellcheck disable=SC2086
{
	check_all "C" "$PROGRAMS/calls" $simple nothing inter-sends \
		$collectives graph dist-graph sub-collectives inter-rooted \
		inter-all inter-each inter-reduce-scatter
	check_all "C, non-blocking" "$PROGRAMS/calls -n" $collectives graph \
		dist-graph sub-collectives inter-rooted inter-all inter-each \
		inter-reduce-scatter
	for interface in mpif mpi f08; do
		program=$PROGRAMS/calls_$interface
		[ -x "$program" ] || continue
		name="Fortran $interface"
		check_all "$name" "$program" $simple $collectives
		name+=", non-blocking"
		started=$collectives
		if crashes 4 "$program" -n alltoall-in-place; then
			started=${started/ alltoall-in-place / }
			skip "$name: alltoall-in-place" \
				"it crashes without the recorder, too"
		fi
		check_all "$name" "$program -n" $started
	done
}

check "errors that the program handles" errors "$PROGRAMS/calls" errors
check "threads" threads "$PROGRAMS/calls" threads
check "spawned processes" spawn "$PROGRAMS/calls" spawn
is "$(recorded got.json outside_messages) $(recorded got.json outside_bytes)" \
	"1 5" "messages to another world are told apart"

# A library out of the global scope, as Python's mpi4py loads it
check "MPI loaded by dlopen" bcast "$PROGRAMS/loader" "$PROGRAMS/calls.so" bcast

# More than one program. Debian's mpirun of Open MPI 5 crashes at a colon, even
# with "true" (open-mpi/ompi issue 13303); there the ranks choose their program.
printf 'x' >got.json
parts=(-n 2 "$PROGRAMS/calls" bcast : -n 3 "$PROGRAMS/calls" bcast)
# shellcheck disable=SC2016
mpirun -n 1 true : -n 1 true >/dev/null 2>&1 || parts=(-n 5 sh -c '
	[ "$OMPI_COMM_WORLD_RANK" -ge 2 ] || exec "$0" bcast
	exec env PART=2 "$0" bcast' "$PROGRAMS/calls")
output=$("$COMMPLACE" record -o got.json --name two --application pair -- \
	mpirun "${parts[@]}" 2>&1)
is "$(matrix got.json)" "$(expected bcast)" "MPMD: every part is recorded"
is "$(sed -n 's/^"name": "\(.*\)",$/\1/p' got.json) $(sed -n \
	's/^"application": "\(.*\)",$/\1/p' got.json)" "two pair" \
	"--name and --application"

# Open MPI's own count of another run, where it has the component (that of
# 6.0.0rc2 crashes in MPI_Init)
"$COMMPLACE" record -o got.json -- mpirun -n 4 "$PROGRAMS/calls" sendrecv \
	>/dev/null 2>&1
OMPI_MCA_pml=ob1,monitoring mpirun -n 4 --mca pml_monitoring_enable 2 \
	--mca pml_monitoring_enable_output 3 --mca pml_monitoring_filename \
	"$work/own" "$PROGRAMS/calls" sendrecv >/dev/null 2>&1
name="the files of Open MPI's monitoring hold what was recorded"
if [ -e own.3.prof ]; then
	"$COMMPLACE" signature import own.*.prof --format openmpi-monitoring \
		-o own.json >/dev/null
	for one in own got; do
		"$COMMPLACE" signature export "$work/$one.json" --format coo \
			-o "own.$one" >/dev/null
	done
	is "$(grep -v '^#' own.own)" "$(grep -v '^#' own.got)" "$name"
else
	skip "$name" "pml monitoring writes none"
fi
rm -f own.*

# Facts
"$COMMPLACE" record -o got.json -- mpirun -n 2 "$PROGRAMS/calls" nothing \
	>/dev/null
is "$(recorded got.json tool)" '"commplace-record"' "recorded: tool"
like "$(recorded got.json mpi)" '^"[A-Z].*[0-9]' "recorded: MPI library"
like "$(recorded got.json command)" 'calls nothing"$' "recorded: command"
is "$(recorded got.json hosts)" 1 "recorded: hosts"
like "$(recorded got.json date)" '^"20..-..-..T..:..:..Z"$' "recorded: date"
is "$(recorded got.json lost_messages)" 0 "recorded: nothing lost"
like "$(cat got.json)" '"time": [0-9]+\.[0-9]{6}, "compute_time": [0-9]' \
	"times are stated"

# --json: the object alone on stdout
output=$("$COMMPLACE" record -o got.json --json -- sh -c \
	"echo noise; mpirun -n 5 $PROGRAMS/calls bcast" 2>noise)
like "$output" '^\{.*"pairs": 4,.*\}$' "--json"
like "$(cat noise)" 'noise' "--json: the command's output goes to stderr"

# Without the command: default name of the file
mkdir default && cd default || exit 1
LD_PRELOAD=$LIBRARY mpirun -n 3 -x LD_PRELOAD "$PROGRAMS/calls" scan 2>&1
is "$(ls | sed 's/[0-9][0-9]*/N/')" "commplace-N.json" \
	"default file name, one file"
cd ..

# Processes that are no MPI programs are left alone
is "$(LD_BIND_NOW=1 LD_PRELOAD=$LIBRARY sh -c 'echo fine' 2>&1)" fine \
	"a shell with the library loaded"

is "$(LD_PRELOAD=$LIBRARY "$PROGRAMS/stubs" 2>&1)" "commplace-record: the \
program uses another MPI library than the recorder was built for; nothing is \
recorded
1 2 3 4 5" "another MPI library is called as if nothing were there"

# A program of an MPI library in a prefix of its own, which only its RPATH names, as
# conda has it; the recorder calls that one, not the host's.
mkdir -p prefix/lib
soname=$(ldd "$PROGRAMS/calls" | sed -n 's/^\t\(libmpi\.so[^ ]*\) => \([^ ]*\).*/\1 \2/p')
cp -L "${soname#* }" "prefix/lib/${soname%% *}"
ln -s "${soname%% *}" prefix/lib/libmpi.so
mpicc -w -O1 -pthread -I"$here" -o prefix/calls "$here/calls.c" "$here/calls_coll.c" \
	-Lprefix/lib -Wl,--disable-new-dtags,-rpath,"$work/prefix/lib" ||
	bail "cannot build a program of a prefix"
like "$(ldd prefix/calls)" "$work/prefix/lib/${soname%% *}" "an MPI library in a prefix"
check "MPI in a prefix" bcast "$work/prefix/calls" bcast
is "$(ldd prefix/calls | grep -c "libmpi\.")" 1 "is the only one"
rm -rf prefix

# A program with all linked in; a library of that name is none.
echo 'int MPI_Init(int *n, char ***v) { return !n || !v; }
int main(int n, char **v) { return MPI_Init(&n, &v); }' >inside.c
gcc -static -o inside inside.c && gcc -shared -fPIC -o inside.so inside.c ||
	bail "cannot build a static program"

# Where the command's own words do not name it, the launcher's recorder does, once; so
# does rank 0 of a program that loads a C library, but no MPI.
gcc -O1 -o inside-dynamic inside.c && gcc -static-pie -o inside-pie inside.c &&
	printf '#!/bin/sh\n"$@"\n' >wrapper && chmod +x wrapper || bail "no programs"
for row in "sh -c 'mpirun -n 3 ./inside'|./inside" "sh -c 'mpirun -n 3 ./inside-pie'|./inside-pie" \
	"sh -c 'PATH=.:\$PATH mpirun -n 3 inside'|inside" \
	"mpirun -n 3 ./wrapper ./inside-dynamic|./inside-dynamic"; do
	output=$(eval "$COMMPLACE record -o none.json -- ${row%|*}" 2>&1)
	is "$(grep -c "^commplace-record: ${row#*|} has its MPI library linked in statically" \
		<<<"$output")" 1 "${row%|*}: is named, once" || diag "$output"
done
unlike "$("$COMMPLACE" record -o none.json -- sh -c 'echo MPI_Init; mpirun -n 2 grep -c x inside.c inside.so' 2>&1)" \
	"linked in" "nothing else is"

# What goes wrong keeps the old file, and leaves no other
cp got.json old.json
for row in "mpirun -n 2 ./inside|1|^commplace record: ./inside has its MPI library linked in statically" \
	"true ./inside.so|1|wrote no signature: was it an MPI program" \
	"env chroot / true|1|chroot wrote no signature: inside there must be /.*/libcommplace-record.so, a C library no older than this host's $(ldd --version | sed -n '1s/.* //p')" \
	"true --container-image=x|1|--container-image=x wrote no signature: inside" \ "echo hi|1|wrote no signature" \
	"$PROGRAMS/calls no-finalize|1|wrote no signature" \
	"mpirun -n 2 $PROGRAMS/calls no-finalize|[^0]*|no signature is kept" \
	"sh -c 'mpirun -n 2 $PROGRAMS/calls bcast; exit 7'|7|exit code 7" \
	"sh -c 'kill -9 \$\$'|137|exit code 137" \
	"no-such-program|1|cannot run no-such-program"; do
	IFS='|' read -r command want text <<<"$row"
	output=$(eval "$COMMPLACE record -o old.json -- $command" 2>&1)
	status=$?
	like "$status" "^$want\$" "$command: exit code"
	like "$output" "$text" "$command: says why"
	cmp -s got.json old.json
	ok $? "$command: the old signature stays"
done
rm -f old.partial.json inside* wrapper # see phases.t
is "$(ls | tr '\n' ' ')" "default got.json noise old.json " "nothing else is left"

output=$("$PROGRAMS/calls" no-finalize 2>&1)
is "$output" "" "without the recorder nothing is said"
output=$(LD_PRELOAD=$LIBRARY "$PROGRAMS/calls" no-finalize 2>&1)
like "$output" "^commplace-record: .* without MPI_Finalize" \
	"a program that does not finalize is told of"

# A recorder that cannot write does not fail the program
output=$(COMMPLACE_RECORD_OUT=/no/such/folder/x.json LD_PRELOAD=$LIBRARY \
	mpirun -n 2 -x LD_PRELOAD -x COMMPLACE_RECORD_OUT \
	"$PROGRAMS/calls" scan 2>&1)
is "$? $output" "0 commplace-record: cannot write /no/such/folder/x.json: \
No such file or directory" "a folder that is not there: one line, exit 0"

# A folder for whatever a job runs: a file for each program. The job's variables are
# the program's alone, since mpirun takes them for an allocation.
mkdir programs
for step in "" 3; do
	env COMMPLACE_RECORD_DIR="$work/programs/new" LD_PRELOAD="$LIBRARY" \
		mpirun -n 2 -x LD_PRELOAD -x COMMPLACE_RECORD_DIR \
		env SLURM_JOB_ID=17 ${step:+SLURM_STEP_ID=$step} \
		"$PROGRAMS/calls" scan >/dev/null 2>programs/err
done
is "$(ls programs/new | sed "s/\.$(hostname)\.[0-9]*\./.HOST.PID./" | paste -sd' ')" \
	"17.3.HOST.PID.json 17.batch.HOST.PID.json" \
	"COMMPLACE_RECORD_DIR: JOB.STEP.HOST.PID.json in a folder that is made" ||
	diag "$(cat programs/err)"
runs "these are signatures" "$COMMPLACE" signature check programs/new/*.json

done_testing
