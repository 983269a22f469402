#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace traffic`: several jobs, phases, running jobs, placements; and the
# counts of `commplace network check`.
. "${0%/*}/golden.bash"

# traffic NAME OPTION...: output in NAME.json
traffic() {
	local name=$1
	shift
	"$commplace" traffic --network "$networks/quickstart.json" "$@" \
		--json >"$work/$name.json"
}

cat >"$work/a.json" <<'END'
{ "format": "commplace-signature", "version": 1, "name": "a", "ranks": 4,
  "phases": [
    { "name": "once", "weight": 1, "traffic": [ [0, 2, 100, 1] ] },
    { "name": "often", "weight": 10, "traffic": [ [2, 0, 7, 1], [0, 1, 1, 1] ] } ] }
END

traffic whole --signature "$work/a.json" --ranks-per-node 2
# By the link's target: a file that took the place of /dev/stdout would be missed
# by all of the machine.
traffic linked --signature "$work/a.json" --ranks-per-node 2 \
	--links "$work/links.csv"
is "$(traffic linked --signature "$work/a.json" --ranks-per-node 2 \
	--links /proc/self/fd/3 3>&1)" "$(cat "$work/links.csv")" \
	"--links to an open descriptor"
is "$(json "$work/whole.json" jobs 0 placement)" linear "linear is the default"
is "$(json "$work/whole.json" jobs 0 hosts)" n0,n1 "its hosts"
is "$(json "$work/whole.json" bytes_on_network)" 170 "phases count by weight"
is "$(json "$work/whole.json" bytes_in_node)" 10 "and inside nodes"
is "$(json "$work/whole.json" links all used)" 0 "one router: no link"
is "$(json "$work/whole.json" injection used)" 2 "but injection"
is "$(json "$work/whole.json" routing)" static-direct "routing by name"

traffic phase --signature "$work/a.json" --hosts 'n[0,2]' --ranks-per-node 2 \
	--phase often
is "$(json "$work/phase.json" bytes_on_network)" 7 "one execution of a phase"
is "$(json "$work/phase.json" links row max)" 7 "on its link"
is "$(json "$work/phase.json" hop_bytes)" 7 "hop-bytes"

# Hosts before the first signature hold for all; the second has its own.
traffic both --hosts 'n[0,2]' --ranks-per-node 2 --signature "$work/a.json" \
	--signature "$work/a.json" --hosts 'n[4,6]'
is "$(json "$work/both.json" jobs 0 hosts)" n0,n2 "common options"
is "$(json "$work/both.json" jobs 1 hosts)" n4,n6 "own options"
is "$(json "$work/both.json" bytes_on_network)" 340 "jobs add up"
is "$(json "$work/both.json" links row used)" 4 "on links of their own"
traffic same --hosts 'n[0,2]' --ranks-per-node 2 --signature "$work/a.json" \
	--signature "$work/a.json"
is "$(json "$work/same.json" links row max)" 200 "or on the same links"

# Given hosts come first, whatever the order on the command line.
traffic given --ranks-per-node 2 --signature "$work/a.json" \
	--signature "$work/a.json" --hosts 'n[0,1]'
is "$(json "$work/given.json" jobs 0 hosts)" n2,n3 "a placement leaves given hosts alone"

cat >"$work/state.json" <<END
{ "jobs": [
  { "id": 7, "hosts": ["n0", "n2"], "ranks_per_node": 2,
    "signature": "$work/a.json" },
  { "id": 9, "hosts": ["n1"], "ranks_per_node": 2 } ] }
END
traffic running --running "$work/state.json" --signature "$work/a.json" \
	--ranks-per-node 2
is "$(json "$work/running.json" jobs 0 hosts)" n3,n4 "hosts of running jobs are not free"
# Row link 0-1: 100 of job 7, and of this job half of the 70 from 2 to 1.
is "$(json "$work/running.json" links row max)" 135 "their traffic is on the links"
is "$(json "$work/running.json" bytes_on_network)" 170 "and not in the job's sums"
sed "s|$work/a.json|a.json|" "$work/state.json" >"$work/beside.json"
(cd "$work" && traffic named --running beside.json --signature a.json \
	--ranks-per-node 2)
is "$(json "$work/named.json" links row max)" 135 \
	"their signatures are files where --signature's are"

mkdir "$work/profiles"
cp "$work/a.json" "$work/profiles/lammps-2.1.json"
traffic profile --signature lammps-2.1 --profile-dir "$work/profiles"
is "$(json "$work/profile.json" jobs 0 hosts)" n0,n1,n2,n3 "a profile by name; one rank a node"

table=$here/links/dragonfly-4x2x2x2.json
for policy in random-nodes RDR rdc RDG RRN RRR auto traffic; do
	traffic one --signature "$table" --placement $policy --seed 5
	traffic two --signature "$table" --placement $policy --seed 5
	is "$(grep -v seconds "$work/two.json")" "$(grep -v seconds "$work/one.json")" \
		"$policy: the same seed gives the same bytes"
done
traffic one --signature "$table" --placement RDN --seed 5
traffic two --signature "$table" --placement RDN --seed 6
isnt "$(json "$work/two.json" jobs 0 hosts)" "$(json "$work/one.json" jobs 0 hosts)" \
	"another seed, another placement"

text=$("$commplace" traffic --network "$networks/quickstart.json" \
	--signature "$work/a.json" --hosts 'n[0,2]' --ranks-per-node 2)
like "$text" 'network quickstart, routing static-direct' "text: head"
like "$text" $'\na +4 +2 +hosts +n\[0,2\]\n' "text: jobs"
like "$text" $'\nrow +16 +2 +0 B +0 B +0 B +10.6 B +0 B +100 B\n' "text: links"

# Rank 0 to the next group: direct over one global link; indirect over 14
# others, as many hops as links are loaded; nothing is lost.
for r in SD SI AD AI AH; do
	traffic "r$r" --signature "$work/a.json" --hosts 'n[0,31]' \
		--ranks-per-node 2 --routing "$r" --links "$work/$r.csv"
	sum=$(awk -F, 'NR > 1 { sum += $5 } END { printf "%.6g", sum }' "$work/$r.csv")
	is "$sum" "$(printf %.6g "$(json "$work/r$r.json" hop_bytes)")" "$r: hop-bytes"
done
is "$(json "$work/rAD.json" hop_bytes)" "$(json "$work/rSD.json" hop_bytes)" \
	"AD: as far as SD"
is "$(json "$work/rAH.json" routing)" adaptive-hybrid "AH: name"
# Two jobs: a routing for both, wherever it stands, or for each its own.
traffic bothAD --ranks-per-node 2 --signature "$work/a.json" --hosts 'n[0,31]' \
	--signature "$work/a.json" --hosts 'n[1,30]' --routing AD
is "$(json "$work/bothAD.json" jobs 0 routing)" adaptive-direct "one routing: of all"
traffic mixed --ranks-per-node 2 --routing AH --signature "$work/a.json" \
	--hosts 'n[0,31]' --signature "$work/a.json" --hosts 'n[1,30]' --routing SD \
	--links "$work/mixed.csv"
is "$(json "$work/mixed.json" routing)" mixed "two routings"
is "$(json "$work/mixed.json" jobs 0 routing)" adaptive-hybrid "two routings: the first"
is "$(json "$work/mixed.json" jobs 1 routing)" static-direct "two routings: the last"
sum=$(awk -F, 'NR > 1 { sum += $5 } END { printf "%.6g", sum }' "$work/mixed.csv")
is "$sum" "$(printf %.6g "$(json "$work/mixed.json" hop_bytes)")" "two routings: hop-bytes"
for n in 1 2 3; do
	traffic "threads$n" --ranks-per-node 2 --routing AH --threads $n \
		--signature "$work/a.json" --links "$work/threads$n.csv"
	is "$(cksum <"$work/threads$n.csv")" "$(cksum <"$work/threads1.csv")" "AH: $n threads"
done
# 2100 ranks to all others are not stored; 100 each on hosts that come round
# twice, n0 three times.
cat >"$work/all.json" <<'END'
{"format":"commplace-signature","version":1,"name":"all","ranks":2100,
 "phases":[{"pattern":{"type":"collective","operation":"alltoall",
 "algorithm":"pairwise","ranks":2100,"bytes":8}}]}
END
for i in {0..20}; do echo "n$((i % 10 * 3))"; done >"$work/round"
for routing in SD AH; do
	traffic "round-$routing" --signature "$work/all.json" --ranks-per-node 100 \
		--node-file "$work/round" --routing $routing
	is "$(json "$work/round-$routing.json" bytes_in_node)" \
		$(((300 * 299 + 9 * 200 * 199) * 8)) "$routing: bytes in nodes given twice"
	is "$(json "$work/round-$routing.json" bytes_on_network)" \
		$(((2100 * 2099 - 300 * 299 - 9 * 200 * 199) * 8)) \
		"$routing: bytes between them"
done
for routing in SD:hops AH:hops,paths SI:hops,paths; do
	is "$("$commplace" traffic --network "$networks/quickstart.json" \
		--signature "$work/a.json" --routing "${routing%:*}" |
		awk '/max dilation/ { print $4 ($5 == "" ? "" : $5) }')" \
		"${routing#*:}" "${routing%:*}: of which paths dilations are"
done
"$commplace" traffic --network "$networks/torus-4x4x4.json" --json --routing AM \
	--signature "$work/a.json" --hosts 'n[0,42]' --ranks-per-node 2 >"$work/am.json"
is "$(json "$work/am.json" max_dilation)" 6 "AM: hops"
is "$(json "$work/am.json" links all used)" \
	"$(("$(json "$work/am.json" links dim0 used)" * 3))" "AM: all dimensions alike"

"$commplace" network check "$networks/edison.json" --json >"$work/edison.json"
is "$(json "$work/edison.json" routers)" 1440 "edison: routers"
is "$(json "$work/edison.json" nodes)" 5760 "edison: nodes"
is "$(json "$work/edison.json" links all)" 29640 "edison: links"
is "$(json "$work/edison.json" links global)" 840 "edison: global links"
is "$(json "$work/edison.json" bandwidth column)" 15750000000 "edison: bandwidth"
is "$(json "$work/edison.json" routing_stated)" adaptive-hybrid "edison: stated routing"
"$commplace" network check "$networks/cascade-960.json" --json >"$work/960.json"
is "$(json "$work/960.json" routers)" 92160 "960 groups: routers"
is "$(json "$work/960.json" links global)" 920640 "960 groups: global links"
is "$(($(json "$work/960.json" links row) + $(json "$work/960.json" links column)))" \
	1843200 "960 groups: links inside groups"
like "$("$commplace" network check "$networks/vulcan-512.json")" \
	'512 routers, 512 nodes, 5120 directed links' "vulcan-512: text"

# Two jobs, each with its own links; one that adapts has none to itself.
printf '%s\n' '{"format": "commplace-network", "version": 1, "type": "dragonfly",
	"groups": 2, "rows": 1, "columns": 2, "nodes": "n[0-3]"}' >"$work/four.json"
printf '%s\n' '{"format": "commplace-signature", "version": 1, "name": "two",
	"ranks": 2, "phases": [{"name": "all", "weight": 1, "traffic":
	[[0, 1, 900, 1]]}]}' >"$work/two.json"
"$commplace" traffic --network "$work/four.json" --signature "$work/two.json" \
	--hosts 'n[0-1]' --routing SD --signature "$work/two.json" --hosts 'n[2-3]' \
	--routing AD --job-links --json >"$work/jobs.json"
is "$(tr -d ' \n' <"$work/jobs.json" | sed 's/\.0//g' |
	grep -oE '"load":(null|[{][^}]*[}])' | paste -sd' ')" \
	'"load":{"links":[["row",0,1,900]],"injection":[["n0",0,900]],"ejection":[["n1",0,900]]} "load":null' \
	"--job-links: what each job has on which links"

# A decision goes by minimal paths where the network states an adaptive routing; in
# the end it and the scheduler's own nodes are judged by that, as traffic does.
sed 's/"type"/"routing": "adaptive-hybrid", "type"/' >"$work/hybrid.json" <<-END
	{"format": "commplace-network", "version": 1, "type": "dragonfly",
	"groups": 4, "rows": 2, "columns": 4, "nodes_per_router": 2, "nodes": "n[0-63]"}
END
printf '%s\n' '{"format": "commplace-signature", "version": 1, "name": "grid",
	"ranks": 48, "phases": [{"pattern": {"type": "stencil", "dims": [6, 8],
	"points": 5, "periodic": true, "bytes": 1000}}]}' >"$work/grid.json"
"$commplace" place --network "$work/hybrid.json" --signature "$work/grid.json" \
	--nodes 24 --policy auto --stock 'n[20-43]' --json >"$work/placed.json"
judged() {
	"$commplace" traffic --network "$work/hybrid.json" --signature \
		"$work/grid.json" --node-file "$1" --ranks-per-node 2 --json |
		json - max_congestion
}
is "$(json "$work/placed.json" rank_to_host)" "" "place: blocks on hosts in an order"
json "$work/placed.json" hosts | tr , '\n' >"$work/node-file"
for i in $(seq 0 99); do
	[ "$(json "$work/placed.json" candidates "$i" chosen)" = true ] && break
done
is "$(json "$work/placed.json" candidates "$i" stated max_congestion)" \
	"$(judged "$work/node-file")" "place: figures of the stated routing are traffic's"

done_testing
