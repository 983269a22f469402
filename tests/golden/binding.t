#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace bind` on nodes that are only planned: TreeMatch's worked example
# through the command, and an 8 x 16 mesh on the machines of etc/topologies.
. "${0%/*}/golden.bash"

# value FILE 'PERL EXPRESSION OF $r'
value() {
	perl -MJSON::PP -e 'my $code = eval "sub { my \$r = shift; $ARGV[0] }";
		local $/; print $code->(decode_json(<STDIN>))' "$2" <"$1"
}

cat >"$work/example.coo" <<'END'
# ranks 8
0 1 1000
0 2 10
0 3 1
0 4 100
0 5 1
0 6 1
0 7 1
1 2 1000
1 3 1
1 4 1
1 5 100
1 6 1
1 7 1
2 3 1000
2 4 1
2 5 1
2 6 100
2 7 1
3 4 1
3 5 1
3 6 1
3 7 100
4 5 1000
4 6 10
4 7 1
5 6 1000
5 7 1
6 7 1000
END
"$commplace" signature import "$work/example.coo" --format coo \
	-o "$work/example.json" >/dev/null
"$commplace" bind --signature "$work/example.json" --json --topology \
	"pack:2 l3:3 core:2 pu:1(indexes=0,2,4,6,8,10,1,3,5,7,9,11)" \
	>"$work/bound.json"
is "$(value "$work/bound.json" 'join ",", map { @$_ } @{$r->{rank_to_pus}}')" \
	"0,2,4,6,1,3,5,7" "the worked example of TreeMatch"
is "$(value "$work/bound.json" 'join " ", map { 0 + $_ } @$r{qw(cost cost_packed cost_round_robin)}')" \
	"18568 20180 37720" "its cost, packed and round robin"
is "$(value "$work/bound.json" 'join " ", map { 0 + $_->{bytes} } @{$r->{levels}}')" \
	"412 2024 4000" "its traffic by level"

mesh=$work/mesh.json
cat >"$mesh" <<'END'
{ "format": "commplace-signature", "version": 1, "name": "mesh", "ranks": 128,
  "phases": [ { "name": "halo", "weight": 1, "pattern": { "type": "stencil",
  "dims": [8, 16], "points": 5, "periodic": false, "bytes": 100 } } ] }
END
# bound NAME TOPOLOGY OPTION...: cost of ours, packed, round robin
bound() {
	local name=$1 topology=$2
	shift 2
	"$commplace" bind --signature "$mesh" --json \
		--topology "$etc/topologies/$topology" "$@" >"$work/$name.json"
	value "$work/$name.json" \
		'join " ", map { 0 + $_ } @$r{qw(cost cost_packed cost_round_robin)}'
}
distinct='my %seen; scalar(grep { $seen{$_}++ } map { @$_ } @{$r->{rank_to_pus}})'
nodes='my %n; $n{$_->[0]}++ for @{$r->{rank_to_numa_nodes}}; join " ", map { "$_:$n{$_}" } sort keys %n'

is "$(bound genoa genoa-2x96.txt --algorithm best)" \
	"124800 147200 233600" "Genoa, 128 ranks"
is "$(value "$work/genoa.json" "$distinct")" 0 "no CPU twice"
is "$(bound snc xeon-2x56-snc4.txt --ranks 0-55 --cores-per-rank 2 --algorithm best)" \
	"49600 62400 94400" "SNC4, 56 ranks of two cores"
is "$(value "$work/snc.json" "$nodes")" \
	"0:7 1:7 2:7 3:7 4:7 5:7 6:7 7:7" "seven of them on each NUMA node"
is "$(bound a64fx a64fx.txt --ranks 0-47 --algorithm best)" \
	"34400 44800 48800" "A64FX, 48 ranks"
is "$(value "$work/a64fx.json" "$nodes")" "0:12 1:12 2:12 3:12" "twelve a CMG"
is "$(bound gpu gpu-node.xml --ranks 0-7 --gpu-map 0,1,2,3,4,5,6,7)" \
	"6800 6800 6800" "a GPU node, one rank a GPU"
is "$(value "$work/gpu.json" 'join " ", map { int($_->[0] / 16) } @{$r->{rank_to_pus}}')" \
	"6 7 2 3 0 1 4 5" "each at the L3 of its GPU"
is "$(bound near gpu-node.xml --ranks 0-8 --gpu-map 5 && value "$work/near.json" '" $r->{far_from_gpu}"')" \
	"4000 4000 3600 1" "nine ranks of one GPU with eight cores: one is far"
# node NAME: the hwloc XML of a node of tests/nodes
node() {
	awk -f "$here/../tools/node-xml.awk" "$here/../nodes/$1.txt" \
		>"$work/$1.xml"
}
# near NODE OPTION...: the lines of ranks, without cores
near() {
	"$commplace" bind --signature "$mesh" --topology "$work/$1.xml" "${@:2}" |
		awk '$1 == "RANK", NF == 0 { if (NF) print $1, $3, $4, $5, $6 }'
}
node dgx-h100
is "$(near dgx-h100 --ranks 0-3 --gpus 7,4,6,1 --cores-per-rank 14)" \
	"RANK CPUS NUMA GPU NIC
0 56-69,168-181 1 7 mlx5_11
1 70-83,182-195 1 4 mlx5_6
2 84-97,196-209 1 6 mlx5_10
3 42-55,154-167 0 1 mlx5_3" "half of the GPUs of a node, in the job's order"
is "$(near dgx-h100 --ranks 0-3 --gpus 6,7 --gpu-map 1,1,0,0 \
	--cpus 60-63,172-175)" "RANK CPUS NUMA GPU NIC
0 62,174 1 7 mlx5_11
1 63,175 1 7 mlx5_11
2 60,172 1 6 mlx5_10
3 61,173 1 6 mlx5_10" "--gpu-map counts among the job's GPUs"
is "$(near dgx-h100 --ranks 0-2 --gpus 5,5,1)" "RANK CPUS NUMA GPU NIC
0 56,168 1 5 mlx5_9
1 57,169 1 5 mlx5_9
2 2,114 0 1 mlx5_3" "slices of a GPU"
is "$(near dgx-h100 --ranks 3 --gpus 2,3)" "RANK CPUS NUMA GPU NIC
3 0,112 0 2,3 mlx5_4,mlx5_5" "one rank has them all"
"$commplace" bind --signature "$mesh" --topology "$work/dgx-h100.xml" --ranks 0-1 \
	--gpus 4,0 --json >"$work/h100.json"
is "$(value "$work/h100.json" \
	'join " ", $r->{gpu_cores}, $r->{gpus}[7], map { "@$_" } @{$r->{rank_to_gpus}}, @{$r->{rank_to_nics}}')" \
	"tree 0000:df:00.0 4 0 mlx5_6 mlx5_0" "in JSON, too"
"$commplace" bind --signature "$mesh" --topology "$work/dgx-h100.xml" --ranks 0-1 \
	--json >"$work/none.json"
is "$(value "$work/none.json" 'join " ", grep { /gpu|nic/ } sort keys %$r')" \
	"far_from_gpu" "which has nothing new without GPUs"
# What mpibind's own test expects of Corona for eight tasks and its four GPUs
# (LLNL/mpibind, test-suite/expected/expected.epyc-corona, number 11).
node corona
is "$("$commplace" bind --signature "$mesh" --topology "$work/corona.xml" --ranks 0-7 \
	--gpu-map 0,0,1,1,2,2,3,3 --cores-per-rank 3 | awk 'NR > 1 && NF == 0 { exit }
	NR > 1 { printf "%s%s:%s", (NR > 2 ? " " : ""), $2, $4 }')" \
	"6-8:1 9-11:1 12-14:2 15-17:2 30-32:5 33-35:5 42-44:7 45-47:7" \
	"GPUs first, then cores near them: as mpibind"
node one-place
is "$(near one-place --ranks 0-3 --gpus 0,1,2,3 --cores-per-rank 8)" \
	"RANK CPUS NUMA GPU NIC
0 0-7,32-39 0 0 mlx5_0
1 8-15,40-47 0 1 mlx5_1
2 16-23,48-55 1 2 mlx5_2
3 24-31,56-63 1 3 mlx5_3" "all GPUs in one place: an even split of the cores"
is "$("$commplace" bind --signature "$mesh" --topology "$work/one-place.xml" \
	--ranks 0-3 --gpu-map 0,1,2,3 | tail -n 1)" \
	"The topology has all GPUs in one place: cores are split evenly in their order" \
	"which is said"
"$commplace" bind --signature "$mesh" --ranks 0-47 --topology \
	"$etc/topologies/a64fx.txt" --algorithm packed --plot "$work/a.svg" \
	>"$work/a.txt"
is "$(grep -A5 '^Ranks on' "$work/a.txt")" "Ranks on the cores (-: free, x: not allowed)
Machine, Package 0
  L2 0 (NUMA 0):  0  1  2  3  4  5  6  7  8  9 10 11
  L2 1 (NUMA 1): 12 13 14 15 16 17 18 19 20 21 22 23
  L2 2 (NUMA 2): 24 25 26 27 28 29 30 31 32 33 34 35
  L2 3 (NUMA 3): 36 37 38 39 40 41 42 43 44 45 46 47" "the tree as text"
is "$(grep -c '<rect' "$work/a.svg")" 54 "and as a drawing: 48 cores in five boxes"
# tree SIGNATURE TOPOLOGY OPTION...
tree() {
	local signature=$1 topology=$2
	shift 2
	"$commplace" bind --signature "$signature" --topology \
		"$etc/topologies/$topology" --algorithm packed "$@" |
		sed -n '/^Ranks on/,/^$/{//!p}'
}
is "$(tree "$mesh" xeon-2x56-snc4.txt --ranks 0-9 --cpus 0,2,4,26-31,56-63,112-221)" \
	"Machine
  Package 0, L3 0
    NUMA 0: 0 1 2 x x x x x x x x x x 3
    NUMA 1: 4 5 x x x x x x x x x x x x
    NUMA 2: 6 7 8 9 x x x x x x x x x x
    NUMA 3: x x x x x x x x x x x x x x
  Package 1, L3 1
    NUMA 4: - - - - - - - - - - - - - -
    NUMA 5: - - - - - - - - - - - - - -
    NUMA 6: - - - - - - - - - - - - - -
    NUMA 7: - - - - - - - - - - - - - x" "SNC4 with some of its CPUs: groups by their memory"
sed 's/128/192/; s/\[8, 16\]/[12, 16]/' "$mesh" >"$work/mesh192.json"
is "$(tree "$work/mesh192.json" genoa-2x96.txt | sed -n '1,3p;11,17p')" "Machine
  Package 0 (NUMA 0)
    L3 0:    0   1   2   3   4   5   6   7
    L3 8:   64  65  66  67  68  69  70  71
    L3 9:   72  73  74  75  76  77  78  79
    L3 10:  80  81  82  83  84  85  86  87
    L3 11:  88  89  90  91  92  93  94  95
  Package 1 (NUMA 1)
    L3 12:  96  97  98  99 100 101 102 103
    L3 13: 104 105 106 107 108 109 110 111" "Genoa with 192 ranks, in columns"
"$commplace" bind --signature "$work/mesh192.json" --topology \
	"$etc/topologies/a64fx.txt" --algorithm packed --overcommit \
	--plot "$work/shared.svg" >/dev/null
is "$(grep -cE '>(0,1|2,3|188,189|190,191)<' "$work/shared.svg")" 4 \
	"four ranks of a core in two lines"
told() {
	"$commplace" bind --signature "$mesh" --ranks 0-15 --topology \
		"$etc/topologies/xeon-2x56-snc4.txt" "$@" | grep '^Ranks are in'
}
is "$(told)" "Ranks are in 8 of 8 memory domains, at most 2 in one" \
	"16 ranks on 112 cores have memory bandwidth"
is "$(told --fill-domains)" "Ranks are in 2 of 8 memory domains, at most 14 in one; \
the memory bandwidth of 6 is idle" "or those next to each other"
is "$(for a in packed round-robin scatter cluster treematch best; do
	bound "$a" genoa-2x96.txt --algorithm "$a" | cut -d' ' -f1
done | paste -sd' ')" "147200 147200 147200 147200 137200 124800" "every algorithm on Genoa"
done_testing
