#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# MPI topologies with reorder=1 under libcommplace-reorder.so: results are those
# without it, neighbours share hosts, and what is wrong is found.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/env.bash"
LIBRARY=$COMMPLACE_BUILD/.libs/libcommplace-reorder.so
[ -e "$LIBRARY" ] || skip_all "the library is not built"
export OMPI_MCA_mpi_yield_when_idle=1
unset COMMPLACE_REORDER COMMPLACE_REORDER_MAPPING COMMPLACE_REORDER_NETWORK

# run MODE PRELOAD KIND...: 16 processes of $program, dealt out to four hosts one by
# one
program=$PROGRAMS/topologies
run() {
	local mode=$1 preload=$2
	shift 2
	COMMPLACE_REORDER=$mode PRELOAD=$preload timeout 200 mpirun -n 16 \
		-x COMMPLACE_REORDER -x PRELOAD sh -c '
		export SLURMD_NODENAME=h$((OMPI_COMM_WORLD_RANK % 4))
		export LD_PRELOAD=$PRELOAD
		exec "$@"' sh "$program" "$@"
}
# How many neighbours are on different hosts?
apart() {
	awk '$1 == "at" { host[$2] = $3 } $1 == "edge" { a[++n] = $2; b[n] = $3 }
		END { for (i = 1; i <= n; i++) apart += host[a[i]] != host[b[i]]
			print apart + 0 }' "$1"
}
values() {
	grep -E '^(value|wrong)' "$1"
}

# A network that has the hosts.
cat >network.json <<'END'
{ "format": "commplace-network", "version": 1, "name": "four", "type": "torus",
  "dims": [4], "nodes_per_router": 1, "nodes": "h[0-3]" }
END

for kind in "stencil 3 5" graph irregular spread; do
	call=MPI_Dist_graph_create
	case $kind in
	stencil*) call=MPI_Cart_create ;;
	graph) call=MPI_Graph_create ;;
	irregular) call=MPI_Dist_graph_create_adjacent ;;
	esac
	# shellcheck disable=SC2086
	run yes "" $kind >plain.out 2>plain.err
	# shellcheck disable=SC2086
	run check "$LIBRARY" $kind >reordered.out 2>reordered.err
	ok $? "$call: ended well" || diag "$(cat reordered.err)"
	ok $(($(values plain.out | wc -l) < 15)) "$call: there are results"
	is "$(values reordered.out)" "$(values plain.out)" "$call: and they are the same"
	is "$(grep commplace reordered.err)" \
		"commplace-reorder: $call of 16 ranks: neighbours and data are as stated" \
		"$call: the checker has proved it"
	ok $(($(apart reordered.out) * 4 > $(apart plain.out) * 3)) \
		"$call: $(apart reordered.out) neighbours of $(apart plain.out) are apart"
done

# The interfaces of Fortran, which call the library below C's.
for interface in mpif mpi f08; do
	program=$PROGRAMS/topologies_$interface
	[ -x "$program" ] || continue
	for kind in cart graph; do
		call=MPI_Cart_create
		[ $kind = cart ] || call=MPI_Graph_create
		run yes "" $kind >plain.out 2>plain.err
		run check "$LIBRARY" $kind >reordered.out 2>reordered.err
		ok $? "$interface, $kind: ended well" || diag "$(cat reordered.err)"
		is "$(values reordered.out | wc -l) $(values reordered.out)" \
			"16 $(values plain.out)" "$interface, $kind: the same results"
		is "$(grep commplace reordered.err)" \
			"commplace-reorder: $call of 16 ranks: neighbours and data are as stated" \
			"$interface, $kind: proved"
		ok $(($(apart reordered.out) * 4 > $(apart plain.out) * 3)) \
			"$interface, $kind: $(apart reordered.out) neighbours of $(apart plain.out) are apart"
	done
	run check "$LIBRARY" plain >off.out 2>off.err
	is "$(grep ^at off.out)$(cat off.err)" "$(run "" "" plain | grep ^at)" \
		"$interface: not where .FALSE. is asked for"
done
program=$PROGRAMS/topologies

run yes "$LIBRARY" irregular >quiet.out 2>quiet.err
is "$(values quiet.out)" "$(run "" "" irregular | values -)" "yes: likewise"
is "$(grep commplace quiet.err)" "" "without a word"
COMMPLACE_REORDER_NETWORK=$PWD/network.json COMMPLACE_REORDER_MAPPING=greedyallc \
	run check "$LIBRARY" irregular >torus.out 2>torus.err
is "$(values torus.out)" "$(values quiet.out)" "a network and a mapper of one's own"
like "$(cat torus.err)" "neighbours and data are as stated" "are proved, too"

# Where nothing is asked for, nothing is done.
run "" "$LIBRARY" irregular >off.out
is "$(grep ^at off.out)" "$(run "" "" irregular | grep ^at)" \
	"without COMMPLACE_REORDER ranks are where they were"
run yes "$LIBRARY" plain >off.out
is "$(grep ^at off.out)" "$(run "" "" plain | grep ^at)" \
	"nor with reorder=0 do they change"

# What cannot be done.
COMMPLACE_REORDER_MAPPING=florp run check "$LIBRARY" "stencil" >bad.out 2>bad.err
ok $? "no such mapper: the program runs"
like "$(cat bad.err)" "ranks stay as they are: unknown rank mapping 'florp'" \
	"and is told why"
sed 's/h\[0-3\]/h[0-2],g3/' network.json >other.json
COMMPLACE_REORDER_NETWORK=$PWD/other.json run check "$LIBRARY" stencil >bad.out 2>bad.err
like "$(cat bad.err)" "ranks stay as they are: .*other.json: no node h3" \
	"a network without a host"

# The checker's own test: an MPI library that mixes neighbours up.
run check "$LIBRARY:$PROGRAMS/mixed.so" stencil 3 5 >mixed.out 2>mixed.err
ok $(($? == 0)) "wrong neighbours end the program"
like "$(cat mixed.err)" "MPI_Cart_create of 16 ranks: neighbours or data are wrong" \
	"with a line that says so"

# Programs that have nothing to do with MPI.
is "$(COMMPLACE_REORDER=yes LD_PRELOAD=$LIBRARY sh -c 'echo well' 2>&1)" well \
	"a shell runs as ever"
is "$(nm -D --defined-only "$LIBRARY" | awk '{print $3}' | sort | paste -sd' ')" \
	"MPI_Cart_create MPI_Dist_graph_create MPI_Dist_graph_create_adjacent MPI_Graph_create mpi_cart_create_ mpi_cart_create__ mpi_cart_create_f08_ mpi_graph_create_ mpi_graph_create__ mpi_graph_create_f08_" \
	"it defines nothing else"
done_testing
