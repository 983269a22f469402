#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace bench`: decisions of the sizes asked for, the same but for the clock.
here=$(cd "${0%/*}" && pwd)
. "$here/../tools/tap.bash"
commplace=${COMMPLACE:-commplace}
net=$here/../../etc/networks/edison.json
export LC_ALL=C
figures() { # OPTION...
	"$commplace" bench --network "$net" --nodes 8,64 --draws 3 --json "$@" |
		jq -c '[.rows[] | [.nodes, .ranks, .policy, .decisions, .busiest_link]]'
}
first=$(figures)
is "$(jq -c '[.[][0]] | unique' <<<"$first") $(jq -c '[.[][2]] | unique' <<<"$first")" \
	'[8,64] ["auto","best-fit","linear","traffic"]' "each size by each policy"
is "$(jq -c '[.[][3]] | unique' <<<"$first")" "[3]" "a decision for each draw"
is "$(jq -c '[.[] | select(.[2] == "linear") | .[4]] | unique' <<<"$first")" "[1]" \
	"linear over itself"
is "$(figures)" "$first" "the same figures again"
isnt "$(figures --seed 7)" "$first" "others of other draws"
is "$(jq '[.[] | select(.[2] == "traffic" and .[4] > 1.0000001)] | length' <<<"$first")" 0 \
	"traffic is never worse than linear"
"$commplace" bench --network "$net" --nodes 8 --draws 2 --json |
	jq -e '.rows | all(.ms_median > 0 and .ms_most >= .ms_median)' >/dev/null
ok $? "times"
is "$("$commplace" bench --network "$net" --nodes 8 --draws 2 --busy 0 --ranks-per-node 1 |
	awk '/traffic/ { print $2 }')" 8 "an idle machine, a rank a node"
like "$("$commplace" bench --network "$here/../../etc/networks/quickstart.json" --draws 3 |
	head -1)" "^quickstart, 32 hosts, 50 % of them busy, static-direct, stencil-3d of 8" \
	"what was looked at stands above the table"
done_testing
