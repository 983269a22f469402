#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace features`, `learn` and `predict-time`, one after the other.
. "${0%/*}/golden.bash"
cd "$work" || bail "no $work"
export LC_ALL=C
job=(--network "$etc/networks/torus-4x4x4.json" --ranks-per-node 2
	--signature "$etc/signatures/halo-16.json" --phase exchange)
"$commplace" features "${job[@]}" --level packet --seeds 30 -o rows.csv
ok $? "a table of features"
is "$(head -1 rows.csv)" "network,signature,placement,hops,hops_ao,hops_max,\
hops_sum_ao,link,link_ao,link_to,link_max,links_ao,used,used_deviation,node_max,\
model,queues,stall,stall_ao,stall_to,stall_max,stalls_ao,seconds" "its columns"
is "$(grep -c ',random-nodes:' rows.csv) $(grep -c ',linear,' rows.csv)" "30 1" \
	"a row for each seed of a random policy"
is "$("$commplace" features "${job[@]}" --level packet --seeds 30 | cmp - rows.csv)" \
	"" "the same bytes again"

# The figures of `traffic`, and the time of `simulate`.
"$commplace" traffic "${job[@]}" --placement random-nodes --seed 3 --json >traffic
row() { # COLUMN: of random-nodes:3
	awk -F, -v c="$1" 'NR == 1 { for (i = 1; i <= NF; i++)
		n[$i] = i } /,random-nodes:3,/ { print $n[c] }' rows.csv
}
near() { # A B: alike to 1e-9
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 0 && (a - b) ^ 2 <= (1e-9 * a) ^ 2) }'
}
near "$(row link_max)" "$(json - max_congestion <traffic)"
ok $? "link_max is the congestion of traffic"
near "$(row hops)" "$(json - average_hops <traffic)"
ok $? "hops are its average hops"
near "$(row seconds)" "$("$commplace" simulate "${job[@]}" --seed 3 --level packet \
	--placement random-nodes --json | json - seconds)"
ok $? "seconds are those of simulate"

is "$("$commplace" features "${job[@]}" --placements linear --first-links --level packet |
	sed -n '1s/.*queues,//p')" \
	"first_max,stall,stall_ao,stall_to,stall_max,stalls_ao,seconds" \
	"the bytes of nodes' own links where they are asked for"

# Orders of ranks: as files list them, and by mappers' own answers.
"$commplace" features "${job[@]}" --placements linear >linear.csv
like "$(tail -1 linear.csv)" ",linear," "one placement"
"$commplace" place "${job[@]:0:2}" "${job[@]:4:2}" --nodes 8 --policy linear --json |
	json - hosts | tr -d ' []"' | tr , "\n" | awk "{ print; print }" >block.txt
tac block.txt >tac.txt
"$commplace" features "${job[@]}" --rank-file block.txt --rank-file tac.txt >files.csv
ok $? "rank files"
is "$(cut -d, -f3 files.csv | paste -sd' ')" "placement block.txt tac.txt" "a row of each"
is "$(sed -n 2p files.csv | cut -d, -f4-)" "$(tail -1 linear.csv | cut -d, -f4-)" \
	"block order in a file has the figures of the placement"
"$commplace" features "${job[@]}" --placements linear --mappings linear,greedy,random >maps.csv
is "$(cut -d, -f3 maps.csv | paste -sd' ')" \
	"placement linear+linear linear+greedy linear+random" "a row of each mapping"
is "$(sed -n 2p maps.csv | cut -d, -f4-)" "$(tail -1 linear.csv | cut -d, -f4-)" \
	"of which linear is block order"
[ "$(sed -n 4p maps.csv | cut -d, -f4-)" != "$(tail -1 linear.csv | cut -d, -f4-)" ]
ok $? "and random is not: no answer is guarded"
[ "$("$commplace" features "${job[@]}" --placements linear --mappings all | wc -l)" -gt 12 ]
ok $? "all of them"

for method in extra-trees boosted; do
	"$commplace" learn rows.csv --method $method -o $method.json --json >json
	ok $? "$method: a model"
	is "$(json - samples <json) $(json - method <json)" \
		"$(($(wc -l <rows.csv) - 1)) $method" "$method: of all rows"
	"$commplace" learn rows.csv --method $method -o again.json >/dev/null
	is "$(cmp $method.json again.json)" "" "$method: the same bytes again"
	"$commplace" predict-time --model $method.json rows.csv --json >told
	awk -v c="$(json - concordant <told)" 'BEGIN { exit !(c > 0.85) }'
	ok $? "$method: what it was grown from comes in order"
done
"$commplace" features "${job[@]}" --placements linear,random-nodes --seeds 1 \
	--seed 99 >new.csv
"$commplace" learn rows.csv --features link_max,hops,model -o few.json >text
like "$(cat text)" "extra-trees of [0-9]* samples, 200 trees" "what is told of a model"
like "$("$commplace" predict-time --model few.json new.csv)" \
	"torus-4x4x4 halo-16 random-nodes:99 +[0-9.e+]+ +[0-9.e+]+ +[0-9.e+]+" \
	"times of rows without them"
like "$("$commplace" predict-time --model few.json rows.csv)" \
	"above +actual"$'\n'".*% of pairs in the right order" "beside times that are known"
"$commplace" predict-time --model extra-trees.json new.csv 2>err
is "$?,$(cat err)" "1,commplace predict-time: new.csv: no column of numbers stall" \
	"a table that lacks a feature"

# Decisions by a model. few.json goes by figures that all placements have.
"$commplace" learn rows.csv --features link_max,link_to,hops,model -o few.json \
	>/dev/null
told() { # PLACEMENT: by predict-time
	"$commplace" features "${job[@]:0:4}" --signature "$etc/signatures/halo-16.json" \
		--placements "$1" --seeds 1 >one.csv
	"$commplace" predict-time --model few.json one.csv --json | json - rows 0 predicted
}
learned=("$commplace" place "${job[@]:0:4}" --signature
	"$etc/signatures/halo-16.json" --nodes 8 --objective learned
	--time-model few.json)
"${learned[@]}" --policy linear --json >placed
near "$(json placed candidates 0 learned_seconds)" "$(told linear)"
ok $? "a candidate is judged by what the model tells of its features"
"${learned[@]}" --policy auto --rank-mapping default --json >placed
is "$(perl -MJSON::PP -0777 -ne '@c = @{decode_json($_)->{candidates}};
	($best) = sort { $a <=> $b } map { $_->{learned_seconds} } @c;
	($chosen) = grep { $_->{chosen} } @c;
	print @c > 5 && $best > 0 && $chosen->{learned_seconds} == $best' placed)" 1 \
	"the least is taken"
like "$("${learned[@]}" --policy auto)" "slowdown +learned"$'\n'".* [0-9.e+]+ s" \
	"a column of the table"
"${learned[@]}" --policy auto --json >placed
"${learned[@]}" --policy auto --json >again
is "$(sed 's/"seconds": [0-9.e-]*//' placed)" "$(sed 's/"seconds": [0-9.e-]*//' again)" \
	"the same answer again"
"$commplace" compare --network "$etc/networks/torus-4x4x4.json" \
	--signature "$etc/signatures/halo-16.json" --ranks-per-node 2 \
	--placements linear,blocked --routings dimension-order --time-model few.json \
	--json >compared
for i in 0 1; do
	placement=$(json compared rows "$i" placement)
	near "$(json compared rows "$i" learned_seconds)" "$(told "$placement")"
	ok $? "compare: $placement by the model"
done
done_testing
