#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# NCCL's profiler plugin under a stand-in for NCCL (nccl_job.c), which counts by
# itself: the signature has the same bytes and messages for each pair of ranks.

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tools/tap.bash"
: "${COMMPLACE_BUILD:?the build directory}"
COMMPLACE=${COMMPLACE:-$COMMPLACE_BUILD/commplace}
. "$here/matrix.bash"
PLUGIN=$COMMPLACE_BUILD/.libs/libnccl-profiler-commplace.so
JOB=$COMMPLACE_BUILD/tests/record/nccl_job
work=$(mktemp -d)
on_exit 'rm -rf "$work"'
cd "$work" || exit 1
unset "${!COMMPLACE_RECORD_@}" "${!SLURM_@}" "${!OMPI_COMM@}" "${!PMI@}" RANK \
	WORLD_SIZE NCCL_PROFILER_PLUGIN
export COMMPLACE_RECORD_FILE=$work/got.json

job() { timeout -s KILL 300 "$JOB" "$PLUGIN" "$@"; }
# about KEY: a number of "nccl" in got.json
about() { sed -n 's/^"nccl": .*"'"$1"'": \([0-9]*\).*/\1/p' got.json; }
own() { cat own own.* 2>/dev/null | LC_ALL=C sort; }
clean() { rm -rf got.json* own own.*; }

is "$(nm -D --defined-only "$PLUGIN" | awk '{ print $3 }' | sort | paste -sd' ')" \
	"ncclProfiler_v4 ncclProfiler_v5 ncclProfiler_v6" "symbols"
is "$(objdump -p "$PLUGIN" | awk '/NEEDED/ { print $2 }' | grep -v '^libc.so')" "" \
	"nothing but libc is needed"

# 8 ranks in threads, and a proxy of each
for version in 4 5 6; do
	for shape in "8 2" "8 1" "8 8" "6 3" "2 1"; do
		clean
		# shellcheck disable=SC2086
		job $version $shape 0 "${shape% *}" 3000 >own 2>err
		is "$(LC_ALL=C sort own | grep -c .):$(matrix got.json)" \
			"$(matrix got.json | grep -c .):$(own)" \
			"version $version, ranks and nodes $shape"
		is "$(cat err; ls -d got.json*)" got.json "and nothing else"
	done
done
is "$(recorded got.json tool) $(about interface) $(about incomplete)" \
	'"commplace-record" 6 0' "where it comes from"
"$COMMPLACE" signature check got.json >/dev/null
ok $? "it is a signature"

clean
job 5 4 2 0 4 400000 >own
is "$(matrix got.json)" "$(own)" "8 threads, millions of events each: to the byte"
is "$(awk '{ n += $3 } END { printf "%.0f", n }' own)" \
	"$(($(about network_bytes) + $(about derived_bytes)))" "sums"

clean
job 6 8 2 0 8 3000 hostile >own 2>err
is "$(matrix got.json)" "$(own)" "nonsense counts nothing, and harms nothing"
is "$(about refused) $(about unknown) $(about foreign)" "1921 240 240" "but is counted"
is "$(cat err)" "commplace-record: 1920 events of NCCL make no sense and 240 are of a \
type that version 6 of its interface does not have; they are not counted" \
	"and said in one line"

clean
job 5 8 2 0 8 3000 fork >own
is "$(matrix got.json)" "$(own)" "what a child of fork does is not its parent's"

clean
job 5 8 2 0 8 3000 again >own
is "$(matrix got.json | cut -d' ' -f1-3)" "$(own | cut -d' ' -f1-3)" \
	"communicators of a process that come again add up"

clean
env -u COMMPLACE_RECORD_FILE "$JOB" "$PLUGIN" 7 8 2 0 8 10 >own 2>err
is "$(cat own err; ls got.json* 2>&-)" "External profiler plugin is unsupported" \
	"another version: nothing is loaded"
clean
job 7 8 2 0 8 10 >own 2>err
is "$(cat err; ls got.json* 2>&-)" "commplace-record: NCCL took none of the versions \
4, 5 and 6 of its profiler interface; nothing of it is recorded" "and one line says so"

# A training: what is before its steps, these, and what is behind them.
phases() { jq -r '[.phases[] | "\(.name) \(.weight)"] | join(" ")' got.json; }
# weighed [PHASE]: rows of the run, or once of a phase
weighed() {
	jq -r --arg only "${1:-}" '.phases[] | select($only == "" or .name == $only) |
		(if $only == "" then .weight else 1 end) as $w | .traffic[] |
		[.[0], .[1], .[2] * $w, .[3] * $w] | join(" ")' got.json |
		awk '{ b[$1 " " $2] += $3; m[$1 " " $2] += $4 }
			END { for (p in b) printf "%s %.0f %.0f\n", p, b[p], m[p] }' |
		LC_ALL=C sort
}
for shape in "8 2" "4 1"; do
	clean
	# shellcheck disable=SC2086
	job 5 $shape 0 "${shape% *}" 40 steps=21 >own
	own >more
	clean
	# shellcheck disable=SC2086
	job 5 $shape 0 "${shape% *}" 40 steps=20 >own
	is "$(phases)" "rest 1 step 20" "$shape: the steps of a training are a phase"
	is "$(weighed)" "$(own)" "$shape: with the rest it is all, to the byte"
	own | awk 'FILENAME == "-" { b[$1 " " $2] = $3; next }
		{ print $1, $2, $3 - b[$1 " " $2] }' - more >one
	is "$(weighed step | awk 'FILENAME == "-" { b[$1 " " $2] = $3; next }
		{ d = b[$1 " " $2] - $3; if (d * d > ($3 * 0.06) ^ 2) print $0, d }' - one)" \
		"" "$shape: one is what one step more sends, within 6 %"
	ok "$(jq '.phases[1].time > 0 | not | if . then 1 else 0 end' got.json)" "it takes time"
done
is "$("$COMMPLACE" signature check got.json 2>&1 >/dev/null)" "" "it is a signature"
clean
for first in 0 1 2 3; do
	RANK=$first WORLD_SIZE=4 job 5 4 2 $first 1 40 steps=$((first ? 20 : 12)) >own.$first &
done
wait
is "$(phases) $(weighed)" "rest 1 step 20 $(own)" "a process with other steps is the rest"
clean
job 5 4 2 0 4 1000 >own
is "$(phases)" "run 1" "without steps there is the run alone"
# 16,384 calls have room in the log of 1 MiB, of 4 x 100 x 121.
clean
COMMPLACE_RECORD_MEMORY=1 job 5 4 1 0 4 100 steps=120 >own
is "$(weighed)" "$(own)" "a full log: still all, to the byte"
like "$(phases)" 'rest 1 step 1(19|2[01])' "and what is not in it is more steps"

# A table of 1 MiB has 16384 cells, and one is the communicator's.
clean
COMMPLACE_RECORD_MEMORY=1 job 5 100000 1 5 1 0 peers=20000 2>err
is "$(matrix got.json | wc -l) $(about dropped_bytes) $(recorded got.json lost_messages)" \
	"16383 3617 3617" "full memory: what came first is kept, the rest is counted"
is "$(cat err)" "commplace-record: memory is full: 3617 events of NCCL with 3617 \
bytes were dropped; COMMPLACE_RECORD_MEMORY=MIB gives more" "and said in one line"
COMMPLACE_RECORD_MEMORY=much job 5 8 1 0 8 10 >own 2>err
is "$(cat err)" "commplace-record: COMMPLACE_RECORD_MEMORY=much: MiB from 1 to 4096 \
are needed; 64 is taken" "no number of MiB"

# several RANKS-EACH [VARIABLE...]: processes of 8 ranks
several() {
	local first each=$1 order
	clean
	mapfile -t order < <(seq 0 "$each" 7 | shuf)
	for first in "${order[@]}"; do
		RANK=$((first / each)) WORLD_SIZE=$((8 / each)) \
			job 5 8 2 "$first" "$each" 2000 >"own.$first" &
	done
	wait
}
for each in 1 2 4; do
	several $each
	is "$(matrix got.json)" "$(own)" "processes of $each ranks are joined"
	is "$(ls -d got.json*) $(about processes)" "got.json $((8 / each))" \
		"by the last, and pieces are gone"
done
clean
for first in 5 0 7 1 2 3 6 4; do
	job 4 8 2 $first 1 1000 >own.$first
	about incomplete
done >missing
is "$(paste -sd' ' missing) $(matrix got.json)" "7 6 5 4 3 2 1 0 $(own)" \
	"one after the other, without a launcher's numbers"
# The launcher numbers backwards.
clean
for first in 0 1 2 3; do
	RANK=$((3 - first)) WORLD_SIZE=4 job 5 4 1 $first 1 1000 >own.$first &
done
wait
is "$(matrix got.json)" \
	"$(awk '{ print 3 - $1, 3 - $2, $3, $4 }' own.* | LC_ALL=C sort)" \
	"ranks are the launcher's"
# Of another run, with the same ranks and communicators of other processes.
clean
job 5 2 1 0 1 100 crash >/dev/null
mkdir got.json.pieces
sed 's/^process [^ ]* [0-9]*/process other 1/; s/1234567890abcdef/5/; s/ 1000 / 6 /' \
	>got.json.pieces/other.1.piece <<-END
	commplace-nccl 1
	process x 9 0 2 0 1 5
	losses 0 0 0 0 0
	communicator 0 1234567890abcdef 2 0 1 1
	pair 0 1 1 1000000000000 0 0 0 0
	end
END
for first in 0 1; do
	RANK=$first WORLD_SIZE=2 job 5 2 1 $first 1 1000 >own.$first &
done
wait
is "$(matrix got.json)" "$(own)" "pieces of another run are left alone"

# A job of Slurm's
clean
mkdir home
for first in 0 1 2 3; do
	SLURM_PROCID=$first SLURM_STEP_NUM_TASKS=4 SLURM_JOB_ID=7 SLURM_STEP_ID=3 \
		COMMPLACE_RECORD_FILE='' COMMPLACE_RECORD_DIR=$work/home/rec \
		COMMPLACE_RECORD_NAME=app job 5 4 2 $first 1 1000 >own.$first &
done
wait
is "$(ls home/rec)" "7.3.nccl-1234567890abcdef.json" "in a folder, by job and step"
is "$(matrix home/rec/*.json)" "$(own)" "and is whole"
sed 's/"nccl": .*/"mpi": "an MPI",/; s/^"traffic.*/"traffic": [[0, 1, 7, 1]/
	/^\[/d' home/rec/*.json >home/rec/7.3.host.1.json
COMMPLACE_RECORD_DIR=$work/home/rec HOME=$work/home COMMPLACE_USER_PROFILES=$work/home/store/%u \
	"$COMMPLACE" signature install --user --recorded 7.3 app >out 2>&1
is "$?:$(ls home/rec)" 0: "it is installed"
is "$("$COMMPLACE" signature show "$(find home/store -name app.json)" |
	awk '/^(run|nccl) / { print $1, $2 }' | LC_ALL=C sort -u | head -2 |
	paste -sd, )" "nccl 1,run 1" "with what MPI's recorder has of the same ranks"

# By the command
script() {
	printf '%s\n' 'for r in 0 1 2 3; do' \
		"RANK=\$r WORLD_SIZE=4 '$JOB' \"\$NCCL_PROFILER_PLUGIN\" 6 4 2 \$r 1 1000 ${1-} >own.\$r &" \
		'done; wait' "${2-}"
}
clean
unset COMMPLACE_RECORD_FILE
"$COMMPLACE" record -o got.json -- bash -c "$(script)" >out 2>&1
is "$?:$(matrix got.json)" "0:$(own)" "commplace record"
like "$(cat out)" "^got.json: got, 4 ranks, 16 pairs" "its line"
is "$(ls -d got*)" got.json "and files"
clean
"$COMMPLACE" record -o got.json -- bash -c "$(script "" "exit 3")" >out 2>&1
is "$?:$(ls -d got*)" 3:got.partial.json "a command that fails"
rm -f got.*
"$COMMPLACE" record -o got.json -- bash -c "$(script crash)" >out 2>&1
is "$?:$(ls -d got* 2>&-)" 1: "processes that are killed leave nothing"
NCCL_PROFILER_PLUGIN=inspector "$COMMPLACE" record -o got.json -- true >out 2>&1
like "$(cat out)" "NCCL_PROFILER_PLUGIN=inspector is yours; what NCCL sends is not" \
	"the user's own plugin stays"

# A program that uses both
clean
if [ -x "$COMMPLACE_BUILD/tests/record/calls" ] && command -v mpirun >/dev/null; then
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
	export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo
	both="'$JOB' \"\$NCCL_PROFILER_PLUGIN\" 6 RANKS 2 \$OMPI_COMM_WORLD_RANK 1 500 \
		>own.\$OMPI_COMM_WORLD_RANK; '$COMMPLACE_BUILD/tests/record/calls' bcast"
	ranks=$(awk '{ print $2; exit }' "$here/expected/bcast")
	ranks=$((ranks - ranks % 2))
	"$COMMPLACE" record -o got.json -- mpirun -n "$ranks" \
		bash -c "${both/RANKS/$ranks}" >out 2>&1
	is "$?:$("$COMMPLACE" signature show got.json |
		awk '/^(run|nccl) +1 / { print $1 }' | head -2 | paste -sd' ')" \
		"0:run nccl" "of MPI and NCCL: a phase of each" || diag "$(cat out)"
	"$COMMPLACE" signature export got.json --phase nccl --format coo -o got.coo >out
	is "$(grep -v '^#' got.coo | LC_ALL=C sort)" "$(own)" "and that of NCCL is its"
	clean
else
	skip "a program of MPI and NCCL" "no MPI"
fi

# Pieces by hand, of which some are missing
clean
for first in 0 1 3; do
	COMMPLACE_RECORD_FILE=$work/got.json RANK=$first WORLD_SIZE=4 \
		job 5 4 1 $first 1 1000 >own.$first
done
"$COMMPLACE" signature import --format nccl got.json.pieces -o all.json >out
is "$?:$(cut -d, -f1 out)" \
	"0:left out: 1 ranks of the largest communicator that have no piece" "a folder"
"$COMMPLACE" signature import --format nccl got.json.pieces/*.piece -o each.json >out
is "$(cmp all.json each.json 2>&1 | grep -c .)" 1 "or its files, by another name"
"$COMMPLACE" signature export all.json --format coo -o all.coo >out
is "$(awk '!/^#/ { n += $3 } END { printf "%.0f\n", n }' all.coo)" \
	"$(awk '{ n += $3 } END { printf "%.0f\n", n }' own.*)" "has all bytes"
# Those of a training have the phases of the plugin's own file.
clean
for first in 0 1 3; do
	COMMPLACE_RECORD_FILE=$work/got.json RANK=$first WORLD_SIZE=4 \
		job 5 4 2 $first 1 40 steps=20 >own.$first
done
all() { jq -c '[.phases[] | [.name, .weight, .time, (.traffic | sort)]]' "$1"; }
mv got.json plugin.json
"$COMMPLACE" signature import --format nccl got.json.pieces -o got.json >out
like "$(phases)" "^rest 1 step (19|20)$" "its steps are a phase"
is "$(all got.json)" "$(all plugin.json)" "as in the file that the plugin itself wrote"
done_testing
