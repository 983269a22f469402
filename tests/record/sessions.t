#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs of MPI 4's sessions under the recorder: that of the MPI which commplace was
# built with (Open MPI 5 and MPICH 4 have sessions), and one built for MPICH.

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tools/tap.bash"
. "$here/env.bash"
. "$here/mpich.bash"

# has_sessions MPICC: whether its mpi.h has them
has_sessions() {
	command -v "$1" >/dev/null &&
		printf '#include <mpi.h>\nMPI_Session s;\n' | "$1" -xc -c -o probe.o - 2>/dev/null
}
pairs_of() { # FILE
	"$COMMPLACE" signature export "./$1" --format coo -o pairs.coo >/dev/null &&
		sed '/^#/d' pairs.coo | LC_ALL=C sort
}
# 10 bytes around the ring of all, backwards in mpi://WORLD, 7 in each half; so often, and
# bytes from 0 to 3.
ring() {
	printf '%s\n' "0 1 $((7 * $1)) $1" "0 3 $((10 * $1 + $2)) $(($1 + ($2 > 0)))" \
		"1 0 $((10 * $1)) $1" "2 1 $((10 * $1)) $1" "2 3 $((7 * $1)) $1" \
		"3 2 $((10 * $1)) $1"
}
self=$(printf '%s\n' "0 0 3 1" "1 1 3 1" "2 2 3 1" "3 3 3 1")

# try NAME LIBRARY MPIEXEC MPICC MPIFORT
try() {
	local name=$1 library=$2 mpiexec=$3 mpicc=$4 fort=$5 row kind want output interface
	runs "$name: the program" "$mpicc" -std=gnu11 -O1 -o sessions "$here/sessions.c"
	[ -x sessions ] || bail "no program"
	for row in "world|$(ring 1 0)" "twice|$(ring 2 0)" "both|$(ring 1 5)" \
		"unequal|$(ring 1 0)" "self|$self" "again|$(ring 2 0)"; do
		kind=${row%%|*} want=${row#*|}
		rm -f got.json got.events closed
		# MPICH 4.0 waits for all at the last close, and cannot begin again.
		if [[ $kind == [au]* ]] &&
			! timeout 20 "$mpiexec" -n 4 ./sessions $kind >/dev/null 2>&1 </dev/null; then
			skip "$name: $kind" "without the recorder it does not end"
			continue
		fi
		rm -f closed
		output=$(timeout 60 "$COMMPLACE" record -o got.json --events got.events \
			--library "$library" -- \
			"$mpiexec" -n 4 ./sessions $kind 2>&1 </dev/null)
		is "$? $(pairs_of got.json)" "0 $want" "$name: $kind" || diag "$output"
		is "$("$COMMPLACE" signature show --json ./got.json |
			jq '.recorded.incomplete_ranks')" null "$name: $kind: all ranks"
		"$COMMPLACE" signature phases got.events -o phases.json >/dev/null
		is "$(pairs_of phases.json)" "$want" "$name: $kind: events, too"
	done
	# Ranks that the launcher killed as another one left its session open are missing.
	output=$("$COMMPLACE" record -o none.json --library "$library" -- \
		"$mpiexec" -n 4 ./sessions exit 2>&1 </dev/null)
	like "$output" "ended (without MPI_Session_finalize|with exit code)" \
		"$name: exit: is told of"
	is "$(comm -23 <(pairs_of none.partial.json) <(ring 1 0))" "" "$name: exit: a part"
	is "$(ls | grep '^none')" none.partial.json "and no other file"
	# As in a job that records: a part of each rank, which install joins.
	rm -rf folder store
	mkdir store
	env COMMPLACE_RECORD_DIR="$work/folder" LD_PRELOAD="$library" "$mpiexec" -n 4 \
		$([ "$name" = MPICH ] || echo -x LD_PRELOAD -x COMMPLACE_RECORD_DIR) \
		env SLURM_JOB_ID=17 ./sessions world >/dev/null 2>err </dev/null
	is "$(ls folder | sed 's/17\.batch\..*\.4\.json/17.batch.RUN.4.json/' | paste -sd' ')" \
		"$(printf "17.batch.RUN.4.json.rank%d\n" 0 1 2 3 | paste -sd' ')" \
		"$name: a job's folder has the parts" || diag "$(cat err)"
	cp -r folder three
	rm -f three/*.rank2
	COMMPLACE_RECORD_DIR=$work/folder "$COMMPLACE" signature install \
		--profile-dir store --recorded 17 sess >err 2>&1
	is "$? $(pairs_of store/sess.json)" "0 $(ring 1 0)" "$name: install joins them" ||
		diag "$(cat err)"
	is "$(ls folder)" "" "and takes them away"
	COMMPLACE_RECORD_DIR=$work/three "$COMMPLACE" signature install \
		--profile-dir store --recorded 17 three >err 2>&1
	like "$(cat err)" "1 of 4 ranks did not end well or wrote nothing" \
		"$name: a missing part is told of"
	rm -rf three
	for interface in MPIF MPI F08; do
		# The wrapper is there without a compiler, too.
		"$fort" --version >/dev/null 2>&1 || continue
		runs "$name: Fortran's program, $interface" "$fort" -w \
			-fallow-argument-mismatch -DUSE_$interface -o fsessions \
			"$here/sessions.F90"
		rm -f got.json
		output=$(timeout 60 "$COMMPLACE" record -o got.json --library "$library" -- \
			"$mpiexec" -n 4 ./fsessions 2>&1 </dev/null)
		is "$(pairs_of got.json)" "$(ring 1 0)" "$name: Fortran, $interface" ||
			diag "$output"
	done
	rm -f sessions fsessions
}
tried=0
if has_sessions mpicc; then
	try "$(mpirun --version | sed -n '1s/^[^A-Z]*(\(.*\)) */\1 /p')" "$LIBRARY" \
		mpirun mpicc mpifort
	tried=1
fi
if has_sessions "${MPICH_CC:-mpicc.mpich}"; then
	build_mpich_recorder "$here/../.." "${MPICH_CC:-mpicc.mpich}" "$work" ||
		bail "no recorder for MPICH"
	try MPICH "$work/libcommplace-record.so" "${MPICH_EXEC:-mpiexec.mpich}" \
		"${MPICH_CC:-mpicc.mpich}" "${MPICH_FORT:-mpifort.mpich}"
	tried=1
fi
[ $tried = 1 ] || skip_all "no MPI with sessions"
done_testing
