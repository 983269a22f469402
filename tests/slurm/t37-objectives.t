#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Objectives by time and by what is done to others, and units that are kept whole:
# the same job in the same state goes elsewhere by each, as `commplace place` says,
# and explain tells why.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
# The nodes of an objective are those with the order of ranks.
CLUSTER_SITE="OrderReaches=yes
Match JobName=quick Objective=time
Match JobName=kind Objective=interference
Match JobName=keep KeepWhole=group KeepWholePrice=50"
cluster_start
cluster_signature all8 8 all
cluster_signature all12 12 all
cluster_signature all16 16 all

# A job in the way, of whose node in each of groups 0 to 2 (one has two) links of
# all of them are loaded; group 3 is wholly free.
beside=$(submit -N4 -n8 -w n1,n3,n6,n9 --exclusive --comm-profile=all8)
wait_running "$beside"
ok $? "a job with a profile runs"
snapshot

# run NAME PROFILE NODES RANKS [PLACE-OPTION...]: a job of that name. Its nodes are
# those of `commplace place` with these options; they come into NODES, their record
# into $CLUSTER/NAME.json.
run() {
	local name=$1 profile=$2 nodes=$3 ranks=$4 job stock record
	shift 4
	job=$(submit -N"$nodes" -n"$ranks" --exclusive -J "$name" \
		--comm-profile="$profile")
	wait_running "$job"
	ok $? "$name: it runs"
	record=$CLUSTER/$name.json
	decision "$job" . >"$record"
	stock=$(jq -r .stock_hosts "$record")
	NODES=$(jq -r '.hosts | join(" ")' "$record")
	is "$(job_hosts "$job")" "$(sorted "$NODES")" "$name: on the nodes decided"
	is "$NODES" "$(commplace place --network "$NETWORK" --policy auto \
		--signature "$PROFILES/$profile.json" --nodes "$nodes" \
		--ranks-per-node 4 --free "$(fold "$SNAP_FREE")" \
		--stock "$stock" --running "$SNAP_STATE" \
		--profile-dir "$PROFILES" --json "$@" \
		--order-reaches "$(jq -r '.order_reaches // "yes"' "$record")" |
		jq -r '.hosts | join(" ")')" \
		"$name: those of commplace place $*"
	commplace explain "$job" >"$CLUSTER/$name.txt" 2>&1
	as_user scancel "$job"
	wait_ended "$job"
}
# says NAME REGEX WHAT: a line of explain matches
says() {
	grep -qE -- "$2" "$CLUSTER/$1.txt"
	ok $? "$1: $3" || diag "$(cat "$CLUSTER/$1.txt")"
}
# holds JQ-FILTER WHAT [OPTION...]
holds() {
	local filter=$1 what=$2
	shift 2
	is "$(jq -n "$@" "$filter")" true "$what"
}

run plain all16 4 16
plain=$(sorted "$NODES")
says plain "^objective +max-congestion," "explain: the default objective"
run quick all16 4 16 --objective time
quick=$(sorted "$NODES")
says quick "^objective +time," "explain: the objective"
isnt "$quick" "$plain" "quick: other nodes than by max-congestion"
holds '$quick[0].seconds < $plain[0].seconds' \
	"quick: less predicted time than by max-congestion" \
	--slurpfile quick "$CLUSTER/quick.json" \
	--slurpfile plain "$CLUSTER/plain.json"
run kind all16 4 16 --objective interference
kind=$(sorted "$NODES")
says kind "^objective +interference," "explain: the objective"
says kind "time \(s\) +slowdown +shared links +slows others" \
	"explain: what is done to others, of each candidate"
isnt "$kind" "$plain" "kind: other nodes than by max-congestion"
# Of all candidates the least sum of own slowdown and that of others.
holds '$kind[0] | .policy as $policy | .seed as $seed |
	([.candidates[].alone_seconds | select(. > 0)] | min) as $alone |
	[.candidates[] | select(.evaluated) | { policy, seed,
		sum: (.seconds / $alone + .slows_others) }] |
	(map(select(.policy == $policy and .seed == $seed))[0].sum) <=
		(map(.sum) | min) * (1 + 1e-9)' \
	"kind: the least own and others' slowdown of all candidates" \
	--slurpfile kind "$CLUSTER/kind.json"

# n12 to n15 are group 3.
group3() { tr ' ' '\n' <<<"$1" | grep -cxE 'n1[2-5]'; }
run loose all12 3 12
is "$(group3 "$NODES")" 3 "loose: three nodes of the group that is wholly free"
run keep all12 3 12 --keep-whole group --keep-whole-price 50
is "$(group3 "$NODES")" 0 "keep: none of it with KeepWhole"
is "$(jq -r '.keep_whole, .broken, .best_broken' "$CLUSTER/keep.json" |
	paste -sd' ')" "group 0 1" "keep: on record, with what it saves"
says keep "0 of the wholly free units \(group\) broken, 1 by [a-z-]+, the best by max-congestion alone" \
	"explain: what is kept"
says keep "slowdown +broken" "explain: what each candidate breaks"
as_user scancel "$beside"
wait_ended "$beside"

as_user commplace replay >"$CLUSTER/replay.txt" 2>&1
like "$(cat "$CLUSTER/replay.txt")" "6 equal, 0 different, 0 not repeatable" \
	"replay: all are decided so again"
cluster_check
done_testing
