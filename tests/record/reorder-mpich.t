#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# libcommplace-reorder.so built for MPICH, in C and Fortran: as in reorder.t.

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tools/tap.bash"
. "$here/env.bash"
mpicc=${MPICH_CC:-mpicc.mpich} mpiexec=${MPICH_EXEC:-mpiexec.mpich}
mpifort=${MPICH_FORT:-mpifort.mpich}
for tool in "$mpicc" "$mpiexec"; do
	command -v "$tool" >/dev/null || skip_all "no MPICH: $tool"
done
core=$COMMPLACE_BUILD/.libs/libcore.a
[ -e "$core" ] || skip_all "the library is not built: $core"
top=$here/../..
unset COMMPLACE_REORDER COMMPLACE_REORDER_MAPPING COMMPLACE_REORDER_NETWORK

# As src/reorder/reorder.mk builds it, with MPICH's headers.
flags=(-std=gnu11 -O1 -g -ffp-contract=off -fPIC -fvisibility=hidden
	-I"$top/src/core" -I"$top/src" -I"$COMMPLACE_BUILD")
read -ra show < <("$mpicc" -show)
for word in "${show[@]}"; do
	case $word in
	-I* | -D*) flags+=("$word") ;;
	esac
done
library=$work/libcommplace-reorder.so
runs "the library compiles with MPICH's headers" "${CC:-gcc}" "${flags[@]}" \
	-Wall -Wextra -Wno-unused-parameter -Werror -shared -o "$library" \
	"$top"/src/reorder/*.c "$top/src/record/pmpi.c" "$core" -ljansson -lz -lm \
	-lpthread -Wl,--exclude-libs,ALL
is "$(readelf -d "$library" | grep -c 'NEEDED.*mpi')" 0 "and needs no MPI library"
runs "and the program" "$mpicc" -std=gnu11 -O1 -o topologies "$here/topologies.c"
[ -x topologies ] || bail "no program"
runs "and one of MPI 4's sessions" "$mpicc" -std=gnu11 -O1 -DSESSIONS \
	-o topologies_sessions "$here/topologies.c"
programs=(topologies topologies_sessions)
for interface in MPIF MPI F08; do
	command -v "$mpifort" >/dev/null || continue
	runs "Fortran's, $interface" "$mpifort" -w -fallow-argument-mismatch \
		-DUSE_$interface -o topologies_$interface "$here/topologies.F90"
	programs+=(topologies_$interface)
done

# Each process says which of four hosts it is on, dealt out one by one.
cat >one <<'END'
#!/bin/sh
export SLURMD_NODENAME=h$((PMI_RANK % 4)) LD_PRELOAD=$PRELOAD
exec "$@"
END
chmod +x one
# run MODE PRELOAD PROGRAM KIND...
run() {
	local mode=$1 preload=$2
	shift 2
	COMMPLACE_REORDER=$mode PRELOAD=$preload timeout 200 \
		"$mpiexec" -n 16 ./one "$@"
}
apart() {
	awk '$1 == "at" { host[$2] = $3 } $1 == "edge" { a[++n] = $2; b[n] = $3 }
		END { for (i = 1; i <= n; i++) apart += host[a[i]] != host[b[i]]
			print apart + 0 }' "$1"
}
for program in "${programs[@]}"; do
	kinds=("stencil 3 5" graph irregular spread)
	case $program in
	topologies) ;;
	topologies_sessions) kinds=("stencil 3 5" irregular) ;;
	*) kinds=(cart graph) ;;
	esac
	for kind in "${kinds[@]}"; do
		what="$program $kind"
		# shellcheck disable=SC2086
		run yes "" "./$program" $kind >plain.out 2>plain.err
		# shellcheck disable=SC2086
		run check "$library" "./$program" $kind >reordered.out 2>reordered.err
		ok $? "$what: ended well" || diag "$(cat reordered.err)"
		ok $(($(grep -c ^value plain.out) < 15)) "$what: there are results"
		is "$(grep -E '^(value|wrong)' reordered.out)" \
			"$(grep -E '^(value|wrong)' plain.out)" "$what: and they are the same"
		like "$(cat reordered.err)" \
			"of 16 ranks: neighbours and data are as stated" "$what: proved"
		ok $(($(apart reordered.out) * 4 > $(apart plain.out) * 3)) \
			"$what: $(apart reordered.out) neighbours of $(apart plain.out) are apart"
	done
done
done_testing
