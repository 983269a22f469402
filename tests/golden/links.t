#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace traffic --links` equals the hand-written tables, link by link.
. "${0%/*}/golden.bash"

# table NETWORK CASE: compare all links with the table, in the table's form
table() {
	local name=$2 got want
	"$commplace" traffic --network "$networks/$1.json" \
		--signature "$here/links/$name.json" \
		--node-file "$here/links/$name.hosts" --ranks-per-node 1 \
		--links "$work/$name.csv" --json >"$work/$name.json"
	ok $? "$name: the command succeeds"
	is "$(head -n 1 "$work/$name.csv")" class,from,to,bandwidth,bytes \
		"$name: header"
	got=$(awk -F, 'NR > 1 && $5 != "0" { print $1, $2, $3, $5 }' \
		"$work/$name.csv" | sort)
	want=$(grep -v '^#' "$here/links/$name.table" | sort)
	is "$got" "$want" "$name: bytes on every link that carries any"
	is "$(($(wc -l <"$work/$name.csv") - 1))" "$3" "$name: links"
}

# number CASE KEY...: a number of the JSON output
number() {
	local file=$work/$1.json
	shift
	perl -MJSON::PP -0777 -e 'my $value = decode_json(<STDIN>);
		for (@ARGV) { $value = $value->{$_} }
		printf "%.12g\n", $value' "$@" <"$file"
}

name=torus-4x4x4
table torus-4x4x4 $name 384
is "$(number $name hop_bytes)" 16969 "$name: hop-bytes"
is "$(number $name bytes_on_network)" 5670 "$name: bytes on the network"
is "$(number $name max_dilation)" 6 "$name: max dilation"
is "$(number $name links all used)" 28 "$name: used links"
is "$(number $name links dim0 max)" 4000 "$name: busiest dim0 link"
is "$(number $name injection max)" 4007 "$name: busiest injection, rank 1"
is "$(number $name ejection max)" 4130 "$name: busiest ejection, rank 2"

name=dragonfly-4x2x2x2
table quickstart $name 44
is "$(number $name hop_bytes)" 26480 "$name: hop-bytes"
is "$(number $name bytes_on_network)" 6821 "$name: bytes on the network"
is "$(number $name bytes_in_node)" 77 "$name: bytes inside nodes"
is "$(number $name max_dilation)" 5 "$name: max dilation"
is "$(number $name links global used)" 5 "$name: used global links"
is "$(number $name links row max)" 2048 "$name: busiest row link"
is "$(number $name injection max)" 4096 "$name: busiest injection, rank 8"
is "$(number $name injection used)" 6 "$name: nodes that send"
is "$(number $name max_congestion)" 4096 "$name: max congestion"
is "$(number $name links global mean)" 495.583333333 "$name: mean of 5947 over 12"

# 3 groups of 2 routers, a global port each. Consecutive: links 0-2, 1-4 and 3-5.
# Palm tree: 0-5, 1-2 and 3-4.
printf '%s\n' '{"format": "commplace-signature", "version": 1, "name": "w",
	"ranks": 6, "phases": [{"name": "all", "weight": 1, "traffic":
	[[0, 3, 100, 1], [5, 0, 10, 1], [2, 4, 1, 1]]}]}' >"$work/w.json"
# wiring NAME [KEY]: used links as "class from to bytes"
wiring() {
	printf '{"format": "commplace-network", "version": 1, "name": "w",
		"type": "dragonfly", "groups": 3, "rows": 1, "columns": 2,
		"global_wiring": "%s", %s "nodes": "n[0-5]"}' "$1" "${2:-}" \
		>"$work/w-net.json"
	"$commplace" traffic --network "$work/w-net.json" \
		--signature "$work/w.json" --ranks-per-node 1 \
		--links "$work/w.csv" >/dev/null
	awk -F, 'NR > 1 && $5 > 0 { print $1, $2, $3, $5 }' "$work/w.csv" |
		sort | paste -sd,
}
is "$(wiring consecutive)" \
	"global 0 2 100,global 3 5 1,global 4 1 10,row 1 0 10,row 2 3 101,row 5 4 11" \
	"wiring consecutive by hand"
is "$(wiring palmtree)" \
	"global 1 2 100,global 3 4 1,global 5 0 10,row 0 1 100,row 2 3 101" \
	"wiring palmtree by hand"
is "$(wiring list '"global_links": [[2, 0, 1, 1], [1, 0, 0, 1], [0, 0, 2, 1]],')" \
	"global 1 2 100,global 3 4 1,global 5 0 10,row 0 1 100,row 2 3 101" \
	"the same links by a list"
is "$(wiring modulo)" \
	"global 1 2 100,global 2 5 1,global 4 0 10,row 0 1 100,row 2 3 100,row 5 4 11" \
	"wiring modulo by hand"

# The same links without a job.
"$commplace" network links --network "$work/w-net.json" >"$work/alone.csv"
ok $? "network links"
is "$(cut -d, -f1-4 "$work/w.csv" | cmp - "$work/alone.csv")" "" \
	"network links: those of traffic --links"
is "$(head -1 "$work/alone.csv")" "class,from,to,bandwidth" "network links: its columns"
done_testing
