#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace map --compare`: LU.C.64 of Sharunov 2017 on a 4x4x4 mesh and torus.
. "${0%/*}/golden.bash"

for wrap in true false; do
	cat >"$work/$wrap.json" <<END
{ "format": "commplace-network", "version": 1, "type": "torus",
  "dims": [4, 4, 4], "wrap": [$wrap, $wrap, $wrap], "nodes": "n[0-63]" }
END
done
cat >"$work/lu.json" <<'END'
{ "format": "commplace-signature", "version": 1, "name": "lu", "ranks": 64,
  "phases": [ { "name": "run", "weight": 1,
    "pattern": { "type": "npb-lu", "class": "C", "ranks": 64 } } ] }
END

# compare WRAP OPTION...
compare() {
	local wrap=$1
	shift
	"$commplace" map --network "$work/$wrap.json" \
		--signature "$work/lu.json" --hosts 'n[0-63]' "$@"
}

# value MAPPER KEY <JSON
value() {
	perl -MJSON::PP -0777 -e 'my ($name, $key) = @ARGV;
		for (@{decode_json(<STDIN>)->{rows}}) {
			print $_->{$key} if $_->{algorithm} eq $name }' "$@"
}

compare true --compare all --json >"$work/torus"
is "$(value linear ienpc <"$work/torus")" 16165850 "torus: default order"
is "$(value linear hop_bytes <"$work/torus")" 39515235648 "its hop-bytes"
is "$(value linear hybrid <"$work/torus")" 4 "it scores 4"
for key in seconds wtad max_congestion nonzero_congestion_average \
	nonzero_congestion_variance; do
	like "$(value ptram $key <"$work/torus")" '^[0-9]' "$key"
done
is "$(compare true --compare all --json | grep -v seconds)" \
	"$(grep -v seconds "$work/torus")" "the same each time"

compare false --compare linear --json >"$work/mesh"
is "$(value linear ienpc <"$work/mesh")" 17459118 "mesh: default order"
is "$(value linear hop_bytes <"$work/mesh")" 42676454848 "its hop-bytes"
is "$(value greedyallc ienpc <"$work/mesh")" "" "only what was asked for"
# 2 * 17459118 / (64 * 63)
like "$(value linear wtad <"$work/mesh")" '^8660\.2767' "WTAD"

text=$(compare false --compare linear,TopoAware-1)
like "$text" '^algorithm +hop-bytes +max congestion +NZCA +NZCV +hybrid +WTAD +IeNPC +seconds' \
	"text: head"
like "$text" $'\nlinear +42.7 GB .* 4.000 +8660 +17459118 ' "text: a row"
like "$text" $'\ntopoaware-1 ' "text: another"

# Two nodes of a half are alike to whoever counts hops; only the routing table
# tells that two of the three share a cable (in the manner of PTRAM, Figures 1
# and 2). All these layouts have the same hop-bytes.
halves() {
	"$commplace" map --network "$here/mapping/two-halves.json" \
		--signature "$here/mapping/two-halves-job.json" \
		--hosts 'n[1-6]' --work 20000 --json "$@"
}
names=linear,greedyallc,topoaware-1,topoaware-2,minmd,fhgreedy,greedy,udfs
names+=,pacmap,astar,ptram,ptram-refine,fhgreedy-mc,best
halves --compare $names >"$work/halves"
for name in ${names//,/ }; do
	is "$(value $name hop_bytes <"$work/halves")" 208 "halves: $name: hop-bytes"
	case $name in
	ptram* | *-mc | best) expect=4 ;;
	*) expect=8 ;;
	esac
	is "$(value $name max_congestion <"$work/halves")" $expect \
		"$name: largest congestion"
done
# Without the table the two ways are one to ptram as well.
halves --compare ptram --routing shortest-path >"$work/halves"
is "$(value ptram max_congestion <"$work/halves")" 8 "ptram without the table"
# As a job would have it: ranks 3 and 4, the receivers, apart.
halves --algorithm ptram >"$work/halves"
like "$(tr -d ' \n' <"$work/halves")" \
	'"rank_to_host":\["n1","n2","n3","n4","n6","n5"\]' "where they are"


# PTRAM, Figure 5 (4,096 ranks, 8 a node, against the block order): less than
# 0.4 of every number for the 2-D 5-point pattern, half the largest congestion
# for the others. The job has 17 leaf switches; its host list is in no order.
perl -e 'my ($x, @h) = (1, 1 .. 512);
	for my $i (reverse 1 .. 511) {
		$x = ($x * 1103515245 + 12345) % 2147483648;
		my $k = int($x / 65536) % ($i + 1);
		@h[$i, $k] = @h[$k, $i];
	}
	printf "gpc%04d\n", $_ for @h' >"$work/hosts"
while read -r name limit pattern; do
	cat >"$work/job.json" <<-END
		{ "format": "commplace-signature", "version": 1, "name": "$name",
		  "ranks": 4096, "phases": [ { "name": "step", "weight": 1,
		  "pattern": {"bytes": 1000, $pattern} } ] }
	END
	"$commplace" map --network "$here/../../etc/networks/gpc-nodes.json" \
		--signature "$work/job.json" --hosts-file "$work/hosts" \
		--ranks-per-node 8 --compare linear,ptram-refine --json \
		>"$work/gpc"
	for key in hop_bytes max_congestion nonzero_congestion_average \
		nonzero_congestion_variance; do
		case $name,$key in
		5-point,* | *,max_*) ;;
		*) continue ;;
		esac
		perl -e 'exit !($ARGV[0] < $ARGV[1] * $ARGV[2])' \
			"$(value ptram-refine $key <"$work/gpc")" \
			"$(value linear $key <"$work/gpc")" "$limit"
		ok $? "GPC, $name: $key"
	done
done <<'END'
5-point 0.40 "type":"stencil","dims":[64,64],"points":5
15-point 0.50 "type":"stencil","dims":[16,16,16],"points":15
all-to-all 0.50 "type":"many-to-many","dims":[64,64],"axis":0
END

# All-to-all in rows of 16 and columns of 32, 8 ranks a node, in two rows of a group:
# columns on routers leave the links half of what rows there do, and quick knows.
cat >"$work/rows.json" <<'END'
{ "format": "commplace-signature", "version": 1, "name": "rows", "ranks": 512,
  "phases": [ { "name": "row", "weight": 1, "pattern": { "type": "many-to-many",
      "dims": [32, 16], "axis": 1, "bytes": 100000 } },
    { "name": "column", "weight": 1, "pattern": { "type": "many-to-many",
      "dims": [32, 16], "axis": 0, "bytes": 100000 } } ] }
END
cat >"$work/group.json" <<'END'
{ "format": "commplace-network", "version": 1, "type": "dragonfly", "groups": 2,
  "rows": 4, "columns": 8, "nodes_per_router": 4, "global_links_per_group_pair": 4,
  "nodes": "n[0-255]" }
END
"$commplace" map --network "$work/group.json" --signature "$work/rows.json" \
	--hosts 'n[0-63]' --ranks-per-node 8 --compare linear,quick --json >"$work/rows"
ok "$(perl -e 'exit !($ARGV[0] <= 0.51 * $ARGV[1])' \
	"$(value quick max_congestion <"$work/rows")" \
	"$(value linear max_congestion <"$work/rows")"; echo $?)" \
	"quick: all-to-all in rows and columns"

# The worked example of TreeMatch (RR-8269): 8 processes on a tree of arities 2,
# 3, 2, by leaves from left to right 0 1 2 3 6 7 8 9; traffic 4000, 2024, 412 by
# level, packed 4000, 1218, 1218, both ways counted.
cat >"$work/tree.json" <<'END'
{ "format": "commplace-network", "version": 1, "type": "fattree",
  "nodes_per_router": 2, "leaves": 6,
  "levels": [ { "down": 3, "up": 1, "links": 1 },
    { "down": 2, "up": 1, "links": 1 } ], "nodes": "n[0-11]" }
END
perl -e 'for my $half (0, 4) {
		for (0 .. 2) {
			push @m, [$half + $_, $half + $_ + 1, 1000];
		}
		push @m, [$half, $half + 2, 10];
		push @m, [$half, $half + 3, 1], [$half + 1, $half + 3, 1];
	}
	for my $i (0 .. 3) {
		push @m, [$i, $_ + 4, $_ == $i ? 100 : 1] for 0 .. 3;
	}
	print "@$_\n$_->[1] $_->[0] $_->[2]\n" for @m' >"$work/tree.coo"
"$commplace" signature import "$work/tree.coo" --format coo -o "$work/tree8.json"
tree() {
	"$commplace" map --network "$work/tree.json" \
		--signature "$work/tree8.json" --hosts 'n[0-11]' \
		--slots 1,1,1,1,1,1,1,1,1,1,1,1 --objective hop-bytes "$@"
}
is "$(tree --algorithm treematch --format hostfile | tr '\n' ' ')" \
	'n0 n1 n2 n3 n6 n7 n8 n9 ' "TreeMatch: worked example"
tree --compare linear,treematch,best --work 20000 --json >"$work/tree"
is "$(value linear hop_bytes <"$work/tree")" $((2 * (2 * 1218 + 4 * 1218))) \
	"packed"
for mapper in treematch best; do
	is "$(value $mapper hop_bytes <"$work/tree")" \
		$((2 * (2 * 2024 + 4 * 412))) "$mapper: the optimum"
done

done_testing
