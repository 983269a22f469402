#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Fat trees, graphs, the HAEC Box and imports through `commplace network`,
# `traffic`, `place` and `map`.
. "${0%/*}/golden.bash"
samples=$here/import

# pattern NAME TYPE: NPB class C on 64 ranks as $work/NAME.json
pattern() {
	printf '{"format": "commplace-signature", "version": 1, "name": "%s",
		"ranks": 64, "phases": [{"name": "all", "weight": 1, "pattern":
		{"type": "%s", "class": "C", "ranks": 64}}]}' "$1" "$2" \
		>"$work/$1.json"
}
pattern lu npb-lu
pattern bt npb-bt

# Sharunov, 2016: hop-bytes of the xyz placement.
for job in lu:30031579584 bt:87395284800; do
	"$commplace" traffic --network "$networks/haec-box.json" \
		--signature "$work/${job%:*}.json" --json >"$work/out.json"
	is "$(json "$work/out.json" hop_bytes)" "${job#*:}" \
		"hop-bytes of ${job%:*} on the HAEC Box"
done

"$commplace" network check --json "$networks/gpc.json" >"$work/out.json"
is "$(json "$work/out.json" routers)" 157 "GPC has 103 + 2 * (18 + 9) switches"
is "$(json "$work/out.json" shape down)" 6,18 "6 leaves to a line switch, 18 of those"
is "$(json "$work/out.json" links up1)" 618 "103 * 6 links up from the leaves"
is "$(json "$work/out.json" links down2)" 648 "2 * 18 * 18 down from the spines"

# Node 0 to leaf 1 (below the same line switches) and to leaf 102. d-mod-k spreads
# a leaf's nodes over the 2 x 3 ports up, and the 30 of leaf 102 over 30 of the
# 2 x 18 ports to the spines; the ways down are the same.
printf '%s\n' '{"format": "commplace-signature", "version": 1, "name": "gpc",
	"ranks": 3, "phases": [{"name": "all", "weight": 1, "traffic":
	[[0, 1, 600, 1], [0, 2, 300, 1]]}]}' >"$work/gpc.json"
printf '%s\n' gpc0001 gpc0031 gpc3061 >"$work/gpc.hosts"
# gpc NETWORK ROUTING: "links x bytes" of each class
gpc() {
	"$commplace" traffic --network "$1" --signature "$work/gpc.json" \
		--node-file "$work/gpc.hosts" --ranks-per-node 1 --routing "$2" \
		--links "$work/links.csv" >/dev/null || return
	awk -F, 'NR > 1 && $5 > 0 { n[$1 " " sprintf("%.9g", $5)]++ }
		END { for (i in n) print i, n[i] }' "$work/links.csv" |
		sort | paste -sd,
}
is "$(gpc "$networks/gpc.json" dmodk)" \
	"down1 100 6,down1 50 6,down2 10 30,up1 150 6,up2 10 30" \
	"GPC with d-mod-k by hand"
# All routes over the first line switch and the first spine, on the first cable.
awk 'BEGIN {
	for (a = 0; a < 103; a++)
		for (b = 0; b < 103; b++) {
			up = 103 + int(a / 6)
			down = 103 + int(b / 6)
			if (a != b && up == down)
				print a, b, up, b
			else if (a != b)
				print a, b, up, 139, down, b
		}
}' >"$work/gpc.routes"
sed 's/"routing": "dmodk"/"routing_table": "gpc.routes"/' "$networks/gpc.json" \
	>"$work/gpc-table.json"
"$commplace" network check --json "$work/gpc-table.json" >"$work/out.json"
is "$(json "$work/out.json" routing)" table "GPC with a routing table"
is "$(gpc "$work/gpc-table.json" table)" \
	"down1 300 1,down1 600 1,down2 300 1,up1 900 1,up2 300 1" \
	"its loads by hand"
is "$(awk -F, '$5 == 300 { print $2, $3 }' "$work/links.csv" | sort -n | paste -sd,)" \
	"103 139,120 102,139 120" "on the routers of the route"
is "$(gpc "$work/gpc-table.json" dmodk)" \
	"down1 100 6,down1 50 6,down2 10 30,up1 150 6,up2 10 30" \
	"d-mod-k beside a table"
for policy in linear random-nodes random-routers traffic; do
	runs "GPC with a table: $policy" "$commplace" place --network \
		"$work/gpc-table.json" --signature "$work/gpc.json" --nodes 3 \
		--policy "$policy"
done

import() {
	"$commplace" network import "$samples/$1" --format "$2" \
		-o "$work/$3.json" "${@:4}"
}
runs "topology.conf is imported" import topology.conf topology-conf tree
runs "an ibnetdiscover dump is imported" import ib.txt ibnetdiscover ib
runs "with its routes" import ib.txt ibnetdiscover routed --routes "$samples/ib.traces"
runs "an Aries link list is imported" import aries.txt aries aries --name cray
"$commplace" network check --json "$work/ib.json" >"$work/out.json"
is "$(json "$work/out.json" routing)" ecmp "without routes: all shortest paths"
is "$(json "$work/out.json" bandwidth injection)" 4000000000 "hosts' links have their speed"
is "$(json "$work/ib.json" router_names 0)" ibleaf1 "switches have their names"
# A clean tree is one: half of what hosts of a leaf send goes over each spine.
cat >"$work/fabric.awk" <<-'END'
	BEGIN {
		for (s = 1; s <= 2; s++) {
			printf "Switch 36 \"S-a%d\" # \"%s\"\n", s, name ? name : "spine" s
			for (l = 1; l <= 3; l++)
				if (!(cut && l == 3 && s == 2))
					printf "[%d] \"S-b%d\"[%d] # \"x\" lid 1 4xHDR\n", l, l, 20 + s
		}
		for (l = 1; l <= 3; l++) {
			printf "Switch 36 \"S-b%d\" # \"%s\"\n", l, name ? name : "leaf" l
			for (s = 1; s <= 2; s++)
				if (!(cut && l == 3 && s == 2))
					printf "[%d] \"S-a%d\"[%d] # \"x\" lid 1 4xHDR\n", 20 + s, s, l
			for (h = 1; h <= 2; h++)
				printf "[%d] \"H-%d%d\"[1](c) # \"n%d%d mlx5_0\" lid 9 4xHDR\n", h, l, h, l, h
		}
	}
END
awk -f "$work/fabric.awk" >"$work/fabric.txt"
is "$("$commplace" network import "$work/fabric.txt" --format ibnetdiscover \
	-o "$work/fabric.json")" "$work/fabric.json: fattree
recognised: fat tree of 3 leaf switches x 2 nodes, 2 x 1 links up to 2 switches" \
	"a tree of leaves and spines is recognised"
"$commplace" network check --json "$work/fabric.json" >"$work/out.json"
is "$(json "$work/out.json" type) $(json "$work/out.json" bandwidth up1) $(json "$work/out.json" bandwidth injection)" \
	"fattree 25000000000 25000000000" "with the bandwidths of its links"
is "$(json "$work/out.json" routers),$(json "$work/out.json" nodes),$(json "$work/out.json" links up1)" \
	5,6,6 "with all switches, nodes and cables"
is "$(json "$work/fabric.json" router_names)" "leaf1,leaf2,leaf3,spine1,spine2" \
	"which have their names"
# Counters of that tree where the cables of leaf1 to spine1 and of leaf2 to spine2 are
# exchanged: n11 sends to n31, n31 to n22.
{
	echo time,from,to,bytes_per_second
	for link in n11,=5 leaf1,spine1=5 spine2,leaf3=5 ,n31=5 \
		n31,=3 leaf3,spine1=3 spine1,leaf1=3 ,n22=3 \
		leaf{2,3},spine2=0 leaf2,spine1=0 leaf1,spine2=0 spine1,leaf{2,3}=0 \
		spine2,leaf{1,2}=0 n{12,21,22,32},=0 ,n{11,12,21,32}=0; do
		echo "1795254000,${link%=*},${link#*=}e9"
	done
} >"$work/links.csv"
"$commplace" network check "$work/fabric.json" --measured "$work/links.csv" >"$work/out"
is "$? $(cat "$work/out")" "1 cabling  not as the network file has it:
         leaf1 - spine1 and leaf2 - spine2 look exchanged
         spine1 gets 8 GB/s and passes on 3 GB/s
         spine2 gets 0 B/s and passes on 5 GB/s
         leaf1 gets 8 GB/s and passes on 5 GB/s
         leaf2 gets 0 B/s and passes on 3 GB/s" "cables that were exchanged are named"
"$commplace" network check "$work/fabric.json" --measured "$work/links.csv" --json >"$work/out.json"
is "$? $(jq -c '[.differs, .judged, .exchanged, .routers[0]]' "$work/out.json")" \
	'1 [true,5,[[["leaf1","spine1"],["leaf2","spine2"]]],{"router":"spine1","in":8000000000,"out":3000000000}]' \
	"as JSON"
sed -i 's/e9$/e-3/; s/,leaf3,spine2,/,leaf3[7],spine7[1],/' "$work/links.csv"
"$commplace" network check "$work/fabric.json" --measured "$work/links.csv" >"$work/out"
is "$? $(cat "$work/out")" "1 cabling  not as the network file has it:
         leaf3 - spine7: counted, but not in the file" "and one that the file has not"
sed -i '/spine7/d; 2,$ s/,[^,]*$/,0/' "$work/links.csv"
is "$("$commplace" network check "$work/fabric.json" --measured "$work/links.csv")" \
	"cabling  as the network file has it: 3 routers pass on what they get" \
	"routers are judged by all of their links"
awk -v cut=1 -f "$work/fabric.awk" >"$work/cut.txt"
runs "one with a cable less is a graph" "$commplace" network import "$work/cut.txt" \
	--format ibnetdiscover -o "$work/cut.json"
is "$(json "$work/cut.json" type) $(json "$work/cut.json" routing)" "graph ecmp" \
	"which goes over all shortest paths"
awk -v cut=1 -v name=SwitchX -f "$work/fabric.awk" >"$work/same.txt"
"$commplace" network import "$work/same.txt" --format ibnetdiscover \
	-o "$work/same.json" >/dev/null
is "$(json "$work/same.json" router_names 0)" S-b1 "names that all have are none"
"$commplace" network check --json "$work/routed.json" >"$work/out.json"
is "$(json "$work/out.json" routing)" table "with routes: table"
"$commplace" network check --json "$work/aries.json" >"$work/out.json"
is "$(json "$work/out.json" name)" cray "--name"
is "$(json "$work/out.json" type)" dragonfly "a regular Aries list is a dragonfly"
is "$(json "$work/out.json" links row),$(json "$work/out.json" links column),$(json "$work/out.json" links global)" \
	8,24,4 "links of each colour as in the list"
is "$(json "$work/out.json" links all)" 36 "links of all colours"
is "$(json "$work/out.json" bandwidth column)" 5250000000 "bandwidth of one cable"

# Bytes of a column are shared by its three cables.
printf '%s\n' '{"format": "commplace-signature", "version": 1, "name": "column",
	"ranks": 12, "phases": [{"name": "all", "weight": 1, "traffic":
	[[0, 8, 6, 1]]}]}' >"$work/column.json"
"$commplace" traffic --network "$work/aries.json" --signature "$work/column.json" \
	--ranks-per-node 1 --links "$work/links.csv" --json >"$work/out.json"
is "$(json "$work/out.json" links column count),$(json "$work/out.json" links column used),$(json "$work/out.json" links column max)" \
	24,3,2 "statistics by cable"
is "$(awk -F, '$5 != "0"' "$work/links.csv" | tail -n +2 | paste -sd' ')" \
	"column,0,2,5250000000,2 column,0,2,5250000000,2 column,0,2,5250000000,2" \
	"each cable of --links"
is "$(json "$work/out.json" max_congestion)" "$(perl -e 'printf "%.12g", 2 / 5.25e9')" \
	"congestion of a cable"
is "$(json "$work/out.json" nonzero_congestion_average)" \
	"$(perl -e 'printf "%.12g", 2 / 5.25e9')" "average over cables"
is "$(wc -l <"$work/links.csv")" 37 "a row for each cable"

# One link less each way: no dragonfly.
grep -v '^[^ ]*a0l04(\(0:0:1\|1:0:1\))' "$samples/aries.txt" >"$work/holes.txt"
sed '/^c0-0c0s1a0l00/d; s/^c0-0c0s0a0l00.*/c0-0c0s0a0l00(0:0:0) green -> unused/' \
	"$samples/aries.txt" >"$work/hole.txt"
is "$("$commplace" network import "$work/hole.txt" --format aries -o "$work/hole.json")" \
	"$work/hole.json: graph, not a dragonfly: not each two routers of a row are joined" \
	"an Aries list with a gap is a graph"
runs "one global link less each way is regular" "$commplace" network import \
	"$work/holes.txt" --format aries -o "$work/holes.json"
is "$(json "$work/holes.json" global_links_per_group_pair)" 1 "one is left"
gzip -c "$samples/aries.txt" >"$work/aries.txt.gz"
if "$commplace" network import "$work/aries.txt.gz" --format aries \
	-o "$work/gz.json" --name cray >/dev/null 2>"$work/err"; then
	cmp -s "$work/gz.json" "$work/aries.json"
	ok $? "the same from gzip"
else
	like "$(cat "$work/err")" "built without zlib" "gzip without zlib"
fi
for routing in SD SI AD AI AH; do
	runs "$routing on the imported dragonfly" "$commplace" traffic --network "$work/aries.json" --signature \
		"$here/../../etc/signatures/halo-16.json" --routing "$routing" \
		--ranks-per-node 1
done

printf '%s\n' '{"format": "commplace-signature", "version": 1, "name": "pair",
	"ranks": 4, "phases": [{"name": "all", "weight": 1, "traffic":
	[[0, 2, 8, 1], [1, 3, 4, 1]]}]}' >"$work/pair.json"
"$commplace" traffic --network "$work/routed.json" --signature "$work/pair.json" \
	--links "$work/links.csv" --json >"$work/out.json"
is "$(json "$work/out.json" hop_bytes)" 24 "two links each way"
is "$(awk -F, '$2 == 0 && $3 == 2' "$work/links.csv" | cut -d, -f5 | paste -sd,)" \
	0,9 "three of four routes take the second cable"
is "$(awk -F, '$2 == 0 && $3 == 3' "$work/links.csv" | cut -d, -f5)" 3 \
	"one the other spine"

for net in tree ib routed aries hole; do
	for policy in linear random-nodes random-routers round-robin-nodes \
		traffic auto; do
		"$commplace" place --network "$work/$net.json" --signature \
			"$work/pair.json" --nodes 4 --policy "$policy" --json \
			>"$work/out.json"
		is "$?,$(json "$work/out.json" hosts | tr , '\n' | sort -u | wc -l)" \
			0,4 "$net: $policy"
	done
	hosts=$(json "$work/out.json" hosts)
	for algorithm in linear greedyallc; do
		runs "$net: map with $algorithm" "$commplace" map --network \
			"$work/$net.json" --signature "$work/pair.json" \
			--hosts "$hosts" --ranks-per-node 1 \
			--algorithm "$algorithm"
	done
done
like "$("$commplace" network check "$networks/torus-4x4x4.json")" \
	$'\n\nAll links have 1 byte/s, .* are bytes\\.$' "no bandwidths: check says so"
unlike "$("$commplace" network check "$networks/gpc.json")" "1 byte/s" "or has them"
# Gbit/s where bytes/s are meant.
sed 's/4e9/400/' "$networks/gpc.json" >"$work/gbit.json"
like "$("$commplace" network check "$work/gbit.json")" \
	'Doubtful: 400 bytes/s of "[a-z0-9]*" are less than any link has; if Gbit/s are meant, they are 5e[+]10 bytes/s\.' \
	"check doubts a bandwidth of 400"
like "$("$commplace" network check --json "$work/gbit.json")" '"doubt": "400 bytes/s' "json, too"
unlike "$("$commplace" network check "$networks/gpc.json")" Doubtful "but no real one"
# Seconds of bytes: there is no part of a bandwidth.
"$commplace" traffic --network "$networks/torus-4x4x4.json" --ranks-per-node 1 \
	--signature "$here/../../etc/signatures/halo-16.json" >"$work/unrated.txt"
like "$(cat "$work/unrated.txt")" "link used" "traffic has a column of the link's use"
unlike "$(cat "$work/unrated.txt")" "[0-9]\.[0-9] %" \
	"which is empty where no bandwidth is stated"
# Fault 47: seconds are of the routing that loads the links, and where they are not,
# it is told.
df=(--network "$networks/quickstart.json" --signature
	"$here/../../etc/signatures/halo-16.json" --ranks-per-node 1)
for routing in static-indirect adaptive-hybrid progressive-adaptive; do
	"$commplace" traffic "${df[@]}" --routing $routing --json >"$work/adaptive.json"
	is "$(jq -r '([.max_congestion, .max_injection_congestion] | max) as $busiest | .jobs[0].communication |
		"\(.routing) \(.seconds / $busiest - 1 | fabs < 1e-4)"' "$work/adaptive.json")" \
		"$routing true" "traffic, $routing: seconds are its own"
done
text=$("$commplace" place "${df[@]}" --nodes 16 --policy random-nodes --routing static-indirect)
like "$text" "communication, minimal routing +slowdown" "place: likewise"
unlike "$("$commplace" traffic "${df[@]}" --routing static-direct)" "minimal routing" \
	"but not where they are of the routing in force"
# Fault 67: what a placement is in node hours.
like "$text" "
The network states no bandwidths: what that is in node hours is not known\." \
	"place: no node hours without bandwidths"
text=$("$commplace" place --network "$networks/gpc.json" --signature \
	"$work/bt.json" --nodes 2 --policy linear)
like "$text" "
Each run communicates ([^ ]+) s, linear \1 s .\+0.0 %.: 0 node hours less on 2 nodes\." \
	"place: node hours, of linear against itself"
unlike "$text" "running jobs" "place: nothing of running jobs where there are none"
like "$text" "seed  max congestion \(s\)  mean \(s\)  hop-bytes  mapped max \(s\)" \
	"congestion is seconds"
for net in gpc gpc-nodes haec-box dragonfly-plus-22 fattree-18 nvl72-8 slingshot-16 \
	dgx-h100-4 dgx-h100-16 hpn-15 slingshot-74; do
	runs "$net: place" "$commplace" place --network "$networks/$net.json" \
		--signature "$work/bt.json" --nodes 16 --policy auto
done

# Eight GPUs of two trays, each 1 to the next: in the tray, in the domain, or, to
# another rack, over the rail of the receiver. Links out by class.
printf '%s\n' '{"format": "commplace-signature", "version": 1, "name": "ring",
	"ranks": 8, "phases": [{"name": "all", "weight": 1, "traffic":
	[[0,1,1,1],[1,2,1,1],[2,3,1,1],[3,4,1,1],[4,5,1,1],[5,6,1,1],[6,7,1,1],
	[7,0,1,1]]}]}' >"$work/ring.json"
inside() { # NETWORK HOSTS
	"$commplace" traffic --network "$networks/$1.json" --signature \
		"$work/ring.json" --ranks-per-node 4 --hosts "$2" --json \
		--links "$work/links.csv" |
		jq -r 'def sum: if . then .mean * .count | round else 0 end;
			[.bytes_in_node, .bytes_in_domain // 0, .bytes_on_network,
			(.injection | sum), (.node_out | sum),
			(.domain_out | sum), (.hop_bytes | round)] |
			map(tostring) | join(" ")'
}
is "$(inside nvl72-8 rack1-tray[01-02])" "6 2 0 0 0 8 0" "nvl72: in a domain"
is "$(inside nvl72-8 rack[1,8]-tray01)" "6 0 2 2 0 8 4" \
	"nvl72: between domains, over the receiver's rail"
is "$(awk -F, '$1 ~ /^domain_out/ && $5 > 0 { print $2, $3, $5 }' \
	"$work/links.csv" | sort | paste -sd,)" \
	"rack1-tray01:0 0 1,rack1-tray01:1 0 1,rack1-tray01:2 0 1,rack1-tray01:3 0 1,$(
	)rack8-tray01:0 7 1,rack8-tray01:1 7 1,rack8-tray01:2 7 1,rack8-tray01:3 7 1" \
	"each GPU sends once to its domain"
is "$(inside dgx-h100-4 dgx[001-002])" "6 0 2 2 8 0 0" "dgx: two nodes of a unit"
is "$(inside dgx-h100-4 dgx[001,128])" "6 0 2 2 8 0 4" "dgx: of two units"
is "$(inside dgx-h100-16 dgx[001,512])" "6 0 2 2 8 0 8" "dgx: over the cores"
is "$(inside hpn-15 host[0001,1920])" "6 0 2 2 8 0 4" "hpn: two segments"
is "$(inside slingshot-74 node[00001-00002])" "6 0 2 2 6 0 2" \
	"slingshot: from the own card across the group"
text=$("$commplace" network check "$networks/nvl72-8.json" | tail -2)
is "$text" "injection    144    5e+10  and back, port 3; affinity
domain       576    9e+11  and back, of accelerators in 8 domains" "check tells domains"

# 900 bytes between two leaves: over 18 spines of a cell, 50 each, or over the 18
# links between two cells.
plus() { # HOST HOST
	printf '%s\n' "$@" >"$work/hosts"
	"$commplace" traffic --network "$networks/dragonfly-plus-22.json" \
		--signature "$work/two.json" --node-file "$work/hosts" \
		--links "$work/links.csv" >/dev/null &&
		awk -F, 'NR > 1 && $5 > 0 { n[$1 " " $5]++ } END { for (k in n) print k, n[k] }' \
			"$work/links.csv" | sort | paste -sd,
}
printf '%s\n' '{"format": "commplace-signature", "version": 1, "name": "two",
	"ranks": 2, "phases": [{"name": "all", "weight": 1, "traffic":
	[[0, 1, 900, 1]]}]}' >"$work/two.json"
is "$(plus n0001 n0002)" "" "dragonfly+: two nodes of a leaf"
is "$(plus n0001 n0011)" "down 50 18,up 50 18" "two leaves of a cell"
is "$(plus n0001 n4992)" "down 50 18,global 50 18,up 50 18" \
	"of two cells"
runs "the map of its links is drawn" "$commplace" traffic --network \
	"$networks/dragonfly-plus-22.json" --signature "$work/two.json" \
	--node-file "$work/hosts" --plot "$work/plus.svg"
is "$(grep -c 'links down' "$work/plus.svg")" 1 "with a strip of the spines"

# Two groups of 2 x 2 routers with a node each, one all-to-all group of 3 with two
# nodes each and links of twice the bandwidth.
cat >"$work/kinds.json" <<-EOF
	{ "format": "commplace-network", "version": 1, "type": "dragonfly",
	  "name": "two-kinds",
	  "rows": 2, "columns": 2, "kinds": [ { "name": "cpu", "groups": 2 },
	    { "name": "gpu", "groups": 1, "rows": 1, "columns": 3,
	      "nodes_per_router": 2,
	      "bandwidth": { "row": 2, "injection": 4 } } ],
	  "adaptive": { "threshold": 100 },
	  "nodes": "c[0-7],g[0-5]" }
EOF
is "$("$commplace" network check "$work/kinds.json" | sed 's/  */ /g; s/ $//')" "$(cat <<-EOF
	two-kinds: dragonfly of 3 groups (cpu: 2 x 2 rows x 2 columns x 1 nodes; gpu: 1 x 1 rows x 3 columns x 2 nodes), 1 global links per pair of groups
	routing static-direct
	11 routers, 14 nodes, 28 directed links

	class links bytes/s
	row-cpu 8 1
	row-gpu 6 2
	column 8 1
	global 6 1
	injection 8 1 and back
	injection 6 4 and back
EOF
)" "groups of two kinds"
# kinds ROUTING: bytes of c0 to g4 on links in use
kinds() {
	printf '%s\n' c0 g4 >"$work/hosts"
	"$commplace" traffic --network "$work/kinds.json" --routing "$1" \
		--signature "$work/two.json" --node-file "$work/hosts" \
		--links "$work/links.csv" >/dev/null &&
		awk -F, 'NR > 1 && $5 > 0 { print $1, $2, $3, sprintf("%.6g", $5) }' \
			"$work/links.csv" | sort | paste -sd,
}
# Link 0 of groups 0 and 2 is on router 2 of the one, 0 of the other.
is "$(kinds SD)" "column 0 2 900,global 2 8 900,row-gpu 8 10 900" \
	"minimal between two kinds"
# What the direct link keeps is 100 more than twice the mean of the detour's.
is "$(kinds PA | tr , '\n' | grep global | paste -sd,)" \
	"global 1 4 266.667,global 2 8 633.333,global 6 9 266.667" \
	"progressive-adaptive over the third group"

# A table of nodes and switches, as lines and as TOML.
printf '%s\n' 'n[0-3],leaf1,top' 'n[4-7],leaf2,top' login,top >"$work/list.csv"
cat >"$work/list.toml" <<-'EOF'
	# who is where
	[nodes]
	"n[0-3]" = ["leaf1", "top"]
	'n[4-7]' = [  # below the same
		'leaf2', "top",
	]
	login = "top"
EOF
"$commplace" network import "$work/list.csv" --format node-list --name x \
	-o "$work/list.json" >/dev/null
"$commplace" network import "$work/list.toml" --format node-toml --name x \
	-o "$work/toml.json" >/dev/null
is "$(cat "$work/toml.json")" "$(cat "$work/list.json")" "TOML says the same as lines"
is "$(json "$work/toml.json" router_names)" "leaf1,top,leaf2" "of three switches"

# Segments inside domains: 5 and 7 nodes are free in two racks, and 3 in a third.
hosts_of() { # OPTION...
	"$commplace" place --network "$networks/nvl72-8.json" --free \
		'rack1-tray[01-05],rack2-tray[04-10],rack3-tray[02-04]' --json "$@" |
		jq -r '.hosts | if type == "array" then join(" ") else . end'
}
is "$(hosts_of --nodes 8 --policy segments:4)" "$(echo rack1-tray{01..04} \
	rack2-tray{04..07})" "segments of four"
is "$(hosts_of --nodes 9 --policy segments:2)" "$(echo rack2-tray{04..09} \
	rack3-tray{02..03} rack2-tray10)" "of two, and one more"
is "$(hosts_of --nodes 10 --policy segments:16)" "$(echo rack2-tray{04..10} \
	rack3-tray{02..04})" "none, where no domain has so many"
like "$(hosts_of --nodes 4 --policy keep-whole:domain)" rack "domains are units to keep"

# Topograph's JSON, with domains as its releases have them; a host without layers.
cat >"$work/topograph.json" <<-'EOF'
	{"instances": [
	{"id": "n0", "network_layers": ["leaf-a", "spine"],
	 "labels": {"accelerator.topograph.run/domain": "nvl-1", "zone": "z"}},
	{"id": "n1", "network_layers": ["leaf-a", "spine"],
	 "labels": {"nvidia.com/gpu.clique": "nvl-1"}},
	{"id": "n2", "type": "GB200", "network_layers": ["leaf-b", "spine"],
	 "attributes": {"nvlink": "nvl-2"}},
	{"id": "n3", "network_layers": ["leaf-b", "spine"], "nvlink_domain": "nvl-2"},
	{"id": "login", "network_layers": ["spine"]},
	{"id": "n4", "network_layers": null, "attributes": {"nvlink": "nvl-3"}}]}
EOF
text=$("$commplace" network import "$work/topograph.json" --format topograph \
	--name x -o "$work/tg.json")
is "$text" "$work/tg.json: graph
doubt: how 2 switches are joined is not told; a switch above all of them stands for it
doubt: how many accelerators a node has, and the bandwidths, are not told; one with 1 byte/s stands for them" \
	"topograph: what is not told"
is "$(jq -c '[.nodes, .router_names, .accelerators]' "$work/tg.json")" \
	'[{"0":"n[0-1]","1":"login","2":"n[2-3]","3":"n4"},["leaf-a","spine","leaf-b","nvl-3","(top)"],{"per_node":1,"domain":{"nodes":["n[0-1]","n[2-3]","n4"]}}]' \
	"topograph: switches and domains"

# Out again: a graph's own switches; units of levels; blocks.
export_network() { # NETWORK FORMAT OPTION...
	"$commplace" network export "$1" --format "$2" -o "$work/slurm" "${@:3}" &&
		cat "$work/slurm"
}
is "$(export_network "$work/tg.json" topology-conf)" \
	"SwitchName=router4 Switches=spine,nvl-3
SwitchName=spine Switches=leaf-a,leaf-b,spine-nodes
SwitchName=nvl-3 Nodes=n4
SwitchName=leaf-a Nodes=n[0-1]
SwitchName=leaf-b Nodes=n[2-3]
SwitchName=spine-nodes Nodes=login" "export: a graph that is a tree"
cp "$work/slurm" "$work/first"
"$commplace" network import "$work/slurm" --format topology-conf \
	-o "$work/again.json" >/dev/null
is "$(export_network "$work/again.json" topology-conf | tr ',=' '\n\n' | sort)" \
	"$(tr ',=' '\n\n' <"$work/first" | sort)" "and it comes back as it was"
is "$(export_network "$work/tg.json" topology-conf --topology block)" \
	"BlockName=domain0 Nodes=n[0-1]
BlockName=domain1 Nodes=n[2-3]
BlockName=domain2 Nodes=n4
BlockSizes=1" "export: blocks are domains"
is "$(export_network "$work/tg.json" topograph | jq -c '.instances[]')" \
	'{"id":"n0","network_layers":["leaf-a","spine","router4"],"labels":{"accelerator.topograph.run/domain":"domain0"}}
{"id":"n1","network_layers":["leaf-a","spine","router4"],"labels":{"accelerator.topograph.run/domain":"domain0"}}
{"id":"login","network_layers":["spine","router4"]}
{"id":"n2","network_layers":["leaf-b","spine","router4"],"labels":{"accelerator.topograph.run/domain":"domain1"}}
{"id":"n3","network_layers":["leaf-b","spine","router4"],"labels":{"accelerator.topograph.run/domain":"domain1"}}
{"id":"n4","network_layers":["nvl-3","router4"],"labels":{"accelerator.topograph.run/domain":"domain2"}}' \
	"export: Topograph's layers and domains"
# As Topograph has it, and as it comes back: the same switches, hosts and domains.
for net in dgx-h100-16 nvl72-8 edison; do
	export_network "$networks/$net.json" topograph >"$work/out.tg" &&
		"$commplace" network import "$work/out.tg" --format topograph \
			-o "$work/again.json" >/dev/null
	is "$(export_network "$work/again.json" topograph |
		jq -c '.instances | sort_by(.id)' | cksum)" \
		"$(jq -c '.instances | sort_by(.id)' "$work/out.tg" | cksum)" \
		"$net: Topograph's and back"
done
is "$(export_network "$networks/dgx-h100-16.json" topology-yaml | sed -n 1,10p)" \
	"---
- topology: tree
  cluster_default: true
  tree:
    switches:
    - switch: top
      children: level1-[0-3]
    - switch: level1-0
      children: router[0,8,16,24]
    - switch: level1-1" "export: subtrees"
export_network "$networks/nvl72-8.json" topology-yaml >/dev/null
is "$(sed -n '/topology: block/,$p' "$work/slurm" | sed -n 1,8p)" \
	"- topology: block
  cluster_default: false
  block:
    block_sizes:
    - 18
    blocks:
    - block: domain0
      nodes: rack1-tray[01-18]" "export: both topologies in one file"

# What was exported is what the network says, seen as a running Slurm's.
agrees() { # NETWORK HOSTS FORMAT OPTION...
	export_network "$networks/$1.json" "$3" "${@:4}" >/dev/null || return
	scontrol_hosts "$2" | sed 's/^/NodeName=/' >"$work/nodes"
	"$commplace" network check "$networks/$1.json" --against-slurm \
		--slurm-nodes "$work/nodes" --slurm-topology "$work/slurm" | tail -1
}
scontrol_hosts() { # PREFIX FORMAT LAST
	local prefix format last
	IFS=: read -r prefix format last <<<"$1"
	for i in $prefix; do
		seq -f "$i$format" "${last%-*}" "${last#*-}"
	done
}
for net in edison=nid:%05g:0-5759 dgx-h100-4=dgx:%03g:1-128 \
	"nvl72-8=rack1-tray rack2-tray rack3-tray rack4-tray rack5-tray rack6-tray rack7-tray rack8-tray:%02g:1-18"; do
	for format in conf yaml; do
		like "$(agrees "${net%%=*}" "${net#*=}" topology-$format)" \
			"^switches: Slurm's [0-9]+ against units of level router$" \
			"${net%%=*}: topology.$format agrees with the network"
	done
done
like "$(agrees nvl72-8 "${net#*=}" topology-yaml --topology block)" \
	"Slurm's 8 against units of level router" "so do blocks"

# Names with coordinates: numbers by value, slots of a cabinet in one row.
printf '%s\n' '# compute' 'x1000c0s[0-1]b[0-1]n[0-1]' x1001c0s0b0n0 \
	'x1001c7s10b0n0 # late' x1001c7s9b0n0 login1 >"$work/names.txt"
is "$("$commplace" network import "$work/names.txt" --format names \
	-o "$work/names.json" | sed -n '2p;5p')" \
	"recognised: dragonfly of 2 groups x 1 rows x 3 columns x 4 nodes, 1 global links per pair of groups
doubt: 1 names are left out, which the pattern does not match; the first is login1" \
	"HPE's names"
is "$(json "$work/names.json" nodes 1),$(json "$work/names.json" nodes 4),$(json "$work/names.json" nodes 5)" \
	"x1000c0s1b0n[0-1],x1000c0s1b1n[0-1],x1001c7s9b0n0,x1001c7s10b0n0" \
	"each on the switch of its slot"
is "$("$commplace" network import "$work/names.txt" --format names \
	-o "$work/names.json" --pattern '^x([0-9]+)c([0-9]+)s([0-9]+)b' \
	--roles group,row,column | sed -n 2p)" \
	"recognised: dragonfly of 2 groups x 2 rows x 4 columns x 4 nodes, 1 global links per pair of groups" \
	"a site's own pattern"
is "$(json "$work/names.json" nodes 14)" x1001c7s9b0n0 "chassis and slot apart"

# Two groups of two leaves and two spines in a dump whose names tell nothing; a host with
# a port on another switch.
{
	for s in 5 2 8 1 7 3 4 6; do
		printf 'Switch\t8 "S-%d"\t# "x" lid %d\n' "$s" "$s"
		case $s in
		1 | 2 | 3 | 4)
			printf '[1]\t"H-%d"[1](%d) # "n%d x" lid 9 4xHDR\n' "$s" "$s" "$s"
			[ "$s" = 4 ] && printf '[6]\t"H-9"[1](9) # "n3 y" lid 9 4xHDR\n'
			a=$(((s - 1) / 2 * 2 + 5))
			for t in $a $((a + 1)); do
				printf '[%d]\t"S-%d"[%d] # "x" 4xHDR\n' \
					$((2 + t % 2)) "$t" $((1 + s % 2))
			done
			;;
		*)
			a=$(((s - 5) / 2 * 2 + 1))
			for t in $a $((a + 1)); do
				printf '[%d]\t"S-%d"[%d] # "x" 4xHDR\n' \
					$((1 + t % 2)) "$t" $((2 + s % 2))
			done
			printf '[3]\t"S-%d"[3] # "x" 4xNDR\n' $((s < 7 ? s + 2 : s - 2))
			;;
		esac
	done
} >"$work/plus.ib"
is "$("$commplace" network import "$work/plus.ib" --format ibnetdiscover \
	-o "$work/plus.json" --name fabric)" "$(cat <<-EOF
	$work/plus.json: dragonfly+
	recognised: dragonfly+ of 2 cells of 2 leaf and 2 spine switches x 1 nodes, 2 global links per pair of cells
	doubt: 1 ports of hosts are on other switches than the hosts' first and are left out
EOF
)" "a dragonfly+ is recognised by its cables"
"$commplace" network check --json "$work/plus.json" >"$work/out.json"
is "$(json "$work/out.json" bandwidth up),$(json "$work/out.json" bandwidth global),$(json "$work/out.json" bandwidth injection),$(json "$work/out.json" routing)" \
	25000000000,50000000000,25000000000,ecmp "with the speeds of its cables"

"$commplace" network check --json "$networks/slingshot-16.json" >"$work/out.json"
is "$(json "$work/out.json" routers),$(json "$work/out.json" nodes),$(json "$work/out.json" links global),$(json "$work/out.json" routing)" \
	512,4096,8640,progressive-adaptive "slingshot: 17 global ports of each switch, at most"

# 900 bytes of each of four ranks on a host to its peer on the other; the hosts
# have two cards of 1 and 2 bytes/s on two leaves each.
ports() { # USE
	cat >"$work/ports.json" <<-EOF
		{ "format": "commplace-network", "version": 1, "type": "fattree",
		  "nodes_per_router": 1, "leaves": 4, "levels": [ { "down": 4, "up": 1 } ],
		  "ports": { "count": 2, "use": "$1", "bandwidth": [1, 2] },
		  "nodes": "n[0-1]" }
	EOF
	"$commplace" traffic --network "$work/ports.json" --signature \
		"$work/eight.json" --hosts 'n[0-1]' --ranks-per-node 4 --links \
		"$work/links.csv" --json >"$work/out.json" && {
		printf '%s\n' "$(json "$work/out.json" max_injection_congestion)"
		awk -F, 'NR > 1 { print $5 }' "$work/links.csv" | paste -sd' '
	} | paste -sd,
}
printf '%s\n' '{"format": "commplace-signature", "version": 1, "name": "eight",
	"ranks": 8, "phases": [{"name": "all", "weight": 1, "traffic":
	[[0, 4, 900, 1], [1, 5, 900, 1], [2, 7, 900, 1], [3, 6, 900, 1]]}]}' \
	>"$work/eight.json"
is "$(ports spread)" "1200,1200 2400 0 0 0 0 1200 2400" "two ports: spread"
is "$(ports first)" "3600,3600 0 0 0 0 0 3600 0" "all on the first"
is "$(ports nearest)" "1800,1800 1800 0 0 0 0 1800 1800" "the nearest"
is "$(ports round-robin)" "1800,1800 1800 0 0 0 0 1800 1800" "in turns"
is "$("$commplace" network check "$work/ports.json" | grep ^injection)" \
	"injection      2        1  and back, port 0; round-robin
injection      2        2  and back, port 1; round-robin" "check tells the ports"

# Four routers of two nodes in a ring, two to a cabinet; round prices.
cat >"$work/ring.json" <<-'END'
	{ "format": "commplace-network", "version": 1, "name": "ring",
	  "type": "torus", "dims": [4], "nodes_per_router": 2, "nodes": "n[0-7]" }
END
cost() {
	"$commplace" network cost "$work/ring.json" --json --price router=100 \
		--price port=10 --price router-factor=3 --price copper=5 \
		--price copper-metre=1 --price optical=50 --price optical-metre=2 \
		--price optical-square=0.5 --price cable-factor=2 \
		--price cabinet=4 --price width=1 --price pitch=100 \
		--price inside=1 --price slack=2 "$@" >"$work/cost.json"
}
costs() { json "$work/cost.json" "$1"; }
cost
# 16 ports: 3 * (4 * 100 + 16 * 10); 10 cables of 1 m (8 of nodes), 2 of 3 m.
is "$(costs cabinets) $(costs ports) $(costs router_cost)" "2 16 1680" \
	"cost: routers by their ports"
is "$(costs copper_cables) $(costs optical_cables) $(costs metres)" "12 0 16" \
	"cost: cables inside and between cabinets"
is "$(costs copper_cost) $(costs cost) $(costs cost_per_node)" "152 1832 229" \
	"cost: copper, all, and of a node"
cost --price copper-most=2
# 2 * 2 * (50 + 2 * 3 + 0.5 * 9)
is "$(costs copper_cost) $(costs optical_cables) $(costs optical_cost)" "120 2 242" \
	"cost: longer cables are optical"
like "$("$commplace" network cost "$work/ring.json")" "routers +4 +[0-9]+ +[0-9.]+ %" \
	"cost: a table"
like "$("$commplace" network cost "$work/ring.json" --price router-factor=0 \
	--price cable-factor=0)" "routers +4 +0 +0\.0 %" "cost: of nothing"
# A cost of 1832 as above; the longer run takes 4 s: 1e6 / (4 * 1832).
echo '{"network": "ring", "jobs": [{"run_seconds": 0.5}, {"run_seconds": 4}]}' \
	>"$work/simulated.json"
cost --performance "$work/simulated.json"
is "$("$commplace" network cost "$work/ring.json" --performance "$work/simulated.json" |
	grep -c "simulated.json *4 ")" 1 "cost: performance as a table"
is "$(json "$work/cost.json" performance 0 run_seconds) $(
	json "$work/cost.json" performance 0 runs_per_second_and_million |
		cut -c1-11)" "4 136.4628820" "cost: performance for its cost"

done_testing
