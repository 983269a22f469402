#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What jobs state about sets of nodes: these are chosen within it, the decision says
# so and can be repeated; a job starts when it would without a profile, never later.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
JOBS=${COMMPLACE_TEST_JOBS:-20}
# Leaf switches across the dragonfly's routers.
CLUSTER_TOPOLOGY="SwitchName=s0 Nodes=n[0-5]
SwitchName=s1 Nodes=n[6-9]
SwitchName=s2 Nodes=n[10-15]
SwitchName=top Switches=s[0-2]"
CLUSTER_EXTRA="TopologyPlugin=topology/tree"
CLUSTER_SITE="OrderReaches=yes
SegmentFromSignature=yes"
cluster_start
cluster_signature all8 8 all
cluster_signature all4 4 all
cluster_signature pairs4 4 pairs
home=$CLUSTER/home

has() {
	grep -qE -- "$2" <<<"$1"
	ok $? "$3" || diag "$1"
}

leaf_of() { awk -v n="${1#n}" 'BEGIN { print n < 6 ? 0 : n < 10 ? 1 : 2 }'; }

# holds RULE N NODE...: what these N nodes are to keep to
holds() {
	local rule=$1 n=$2 node leaves=" " last= count=(0 0 0 0)
	shift 2
	[ $# = "$n" ] || return 1
	for node; do
		case $rule in
		pairs* | blocks*) count[${node#n} / 4]=$((count[${node#n} / 4] + 1)) ;;
		row) [ -z "$last" ] || [ $((last + 1)) = "${node#n}" ] || return 1 ;;
		*) [[ "$leaves" = *" $(leaf_of "$node") "* ]] ||
			leaves+="$(leaf_of "$node") " ;;
		esac
		last=${node#n}
	done
	case $rule in
	pairs*)
		for n in "${count[@]}"; do
			[ $((n % ${rule#pairs})) = 0 ] || return 1
		done
		return ;;
	blocks*)
		[ "$(printf '%s\n' "${count[@]}" | grep -vc '^0$')" -le "${rule#blocks}" ]
		return ;;
	esac
	[ "$rule" = row ] || [ "$(wc -w <<<"$leaves")" -le "${rule#leaves}" ]
}

# wished NAME RULE N WORDS SBATCH-OPTION...: a job that is placed within the rule
wished() {
	local name=$1 rule=$2 n=$3 words=$4
	shift 4
	job=$(submit "$@") && wait_running "$job"
	ok $? "$name: it runs"
	is "$(decision "$job" '.outcome + " " + .reason')" "placed " "$name: placed"
	# shellcheck disable=SC2046
	holds "$rule" "$n" $(job_hosts "$job")
	ok $? "$name: $(job_hosts "$job") keep to it"
	has "$(commplace explain "$job" --state-dir "$CLUSTER/decisions")" \
		"^constraints +$words" "$name: commplace explain says what is kept"
	commplace replay "$CLUSTER/decisions/running/$job.json" \
		>"$CLUSTER/replay.out" 2>&1
	ok $? "$name: commplace replay comes to the same" ||
		diag "$(cat "$CLUSTER/replay.out")"
	scancel "$job"
	wait_ended "$job"
}

hold=$(submit -N3 -w n2,n7,n13 --exclusive --wrap "sleep 1000")
wait_running "$hold"
wished --contiguous row 4 "nodes kept in a row" -N4 -n8 --exclusive \
	--contiguous --comm-profile=all8 --wrap "sleep 1000"
wished "--contiguous, a range" row 4 "nodes kept in a row" -N2-4 -n8 --exclusive \
	--contiguous --comm-profile=all8 --wrap "sleep 1000"
wished "--contiguous with a node" row 3 "nodes kept in a row" -N3 -n8 -w n4 \
	--exclusive --contiguous --comm-profile=all8 --wrap "sleep 1000"
wished --switches=1 leaves1 4 "kept on switch s[02]" -N4 -n8 --exclusive \
	--switches=1 --comm-profile=all8 --wrap "sleep 1000"
wished --switches=2 leaves2 8 "kept on switches s[01], s[12], 2 at most" \
	-N8 -n8 --exclusive --switches=2 --comm-profile=all8 --wrap "sleep 1000"
wished "a policy by name" leaves1 4 "kept on switch s[02]" -N4 --exclusive \
	--switches=1 --placement-policy=random-nodes --wrap "sleep 1000"
scontrol create reservation users="$CLUSTER_USER" reservationname=some starttime=now \
	duration=60 nodes=n[3-6,8-9] >/dev/null
wished "in a reservation" row 4 "nodes kept in a row" -N4 -n8 --exclusive \
	--contiguous --reservation=some --comm-profile=all8 --wrap "sleep 1000"
is "$(decision "$job" .free_hosts)" "n[3-6,8-9]" "which narrows what is free"
scontrol delete reservationname=some

job=$(submit -N2 -n8 --exclusive --spread-job --comm-profile=all8 \
	--wrap "sleep 1000") && wait_running "$job"
ok $? "--spread-job: it runs"
is "$(decision "$job" '.outcome + " " + .reason')" "placed " "--spread-job: placed"
spread=$(job_hosts "$job" | wc -w)
scancel "$job"
wait_ended "$job"
job=$(submit -N2 -n8 --exclusive --spread-job --wrap "sleep 1000")
wait_running "$job"
is "$spread" "$(job_hosts "$job" | wc -w)" "on as many nodes as without a profile"
scancel "$job" "$hold"
wait_for 30 cluster_no_jobs

# What is not to be had waits, as without a profile.
hold=$(submit -N5 -w n2,n5,n8,n11,n14 --exclusive --wrap "sleep 1000")
wait_running "$hold"
job=$(submit -N4 -n8 --exclusive --contiguous --comm-profile=all8 --wrap true)
wait_for 5 job_is "$job" PENDING
ok $? "no four nodes in a row are free: it waits"
scancel "$hold"
wait_ended "$job"
ok $? "and runs when there are"

# Where Slurm has no segments SegmentFromSignature does nothing, and says nothing.
job=$(submit -N4 -n4 --exclusive --comm-profile=pairs4 --wrap "sleep 1000")
wait_running "$job"
is "$(decision "$job" '.outcome, .segment_from, .rules')" "placed
null
null" "without blocks a signature implies no segment"
commplace explain "$job" --state-dir "$CLUSTER/decisions" | grep -qi segment
ok $((! $?)) "nor is one spoken of"
scancel "$job"
wait_ended "$job"

# Segments of topology/block, and whole blocks.
blocks() {
	[ "$CLUSTER_SERIES" -ge 2411 ] || return
	cp "$SLURM_CONF" "$CLUSTER/etc/tree.conf"
	sed -i 's|^TopologyPlugin=.*|TopologyPlugin=topology/block|' "$SLURM_CONF"
	local g
	for g in 0 1 2 3; do
		echo "BlockName=b$g Nodes=n[$((4 * g))-$((4 * g + 3))]"
	done >"$CLUSTER/etc/topology.conf"
	echo BlockSizes=4,8 >>"$CLUSTER/etc/topology.conf"
	cluster_restart_ctld
	ok $? "slurmctld restarts with topology/block"
	local whole=$(submit -N1 -w n2 --exclusive=topo --wrap "sleep 1000")
	wait_running "$whole"
	wished "a block that another job has whole" blocks1 3 "kept on block b1" -N3 \
		--exclusive --placement-policy=linear --wrap "sleep 1000"
	scancel "$whole"
	wait_ended "$whole"
	# One of both is not to be had: they are in two blocks.
	local one=$(submit -N1 -w n2 --exclusive --wrap "sleep 1000")
	local other=$(submit -N1 -w n7 --exclusive --wrap "sleep 1000")
	wait_running "$one"
	wait_running "$other"
	wished --segment pairs2 4 "segments of 2 kept on blocks? b" -N4 -n8 \
		--exclusive --segment=2 --comm-profile=all8 --wrap "sleep 1000"
	wished "--segment over blocks" pairs3 6 "segments of 3 kept on blocks b" \
		-N6 -n8 --exclusive --segment=3 --comm-profile=all8 \
		--wrap "sleep 1000"
	wished SegmentFromSignature pairs2 4 \
		"kept on block b[23], in the segments of 2 that its signature" -N4 \
		-n4 --exclusive --comm-profile=pairs4 --wrap "sleep 1000"
	is "$(decision "$job" .segment_from)" signature "which is on record"
	wished --exclusive=topo blocks2 4 "kept on block b3" -N4 -n8 \
		--exclusive=topo -w n12 --comm-profile=all8 --wrap "sleep 1000"
	wished "as many blocks as a job needs" blocks2 6 "kept on blocks b2, b3, 2" \
		-N6 -n8 --exclusive --comm-profile=all8 --wrap "sleep 1000"
	if [ "$CLUSTER_SERIES" -ge 2511 ]; then
		wished --spread-segments pairs2 4 \
			"segments of 2 kept apart on blocks b" -N4 -n8 --exclusive \
			--segment=2 --spread-segments --comm-profile=all8 \
			--wrap "sleep 1000"
		wished --consolidate-segments pairs2 6 \
			"segments of 2 kept together on blocks b2, b3" -N6 -n8 \
			--exclusive --segment=2 --consolidate-segments \
			--comm-profile=all8 --wrap "sleep 1000"
	fi
	scontrol update partition=main ExclusiveTopo=YES
	wished ExclusiveTopo blocks1 2 "kept on block b[23]" -N2 -n8 --exclusive \
		--comm-profile=all8 --wrap "sleep 1000"
	scancel "$one" "$other"
	wait_for 30 cluster_no_jobs
	cp "$CLUSTER/etc/tree.conf" "$SLURM_CONF"
	printf '%s\n' "$CLUSTER_TOPOLOGY" >"$CLUSTER/etc/topology.conf"
	cluster_restart_ctld
	ok $? "and again with topology/tree"
}
blocks

# The nth job of a sequence that is the same each time.
random_options() {
	local n=$((RANDOM % 5 + 1))
	OPTIONS=(-N$n -n4 --overcommit --exclusive)
	PROFILE=all4
	case $((RANDOM % 5)) in
	0) OPTIONS+=(--contiguous) ;;
	1) OPTIONS+=("--switches=$((RANDOM % 2 + 1))@0") ;;
	2) OPTIONS+=("--switches=$((RANDOM % 2 + 1))") ;;
	3) OPTIONS=(-N$n-$((n + RANDOM % 3)) -n4 --overcommit --exclusive --contiguous) ;;
	4) OPTIONS+=(--contiguous -w n$((RANDOM % 16))) ;;
	esac
}

# start OPTION...: ID where it starts at once, and how many nodes it has
start() {
	ID=$(as_user timeout 60 salloc -I --no-shell "$@" 2>&1 |
		sed -n 's/.*Granted job allocation //p')
	[ -n "$ID" ] && N=$(job_hosts "$ID" | wc -w) || N=0
}
given_back() { ! squeue -h -j "$1" 2>/dev/null | grep -q .; }

RANDOM=2605
alike=0 started=0 running=()
for ((i = 0; i < JOBS; i++)); do
	random_options
	start "${OPTIONS[@]}"
	stock=$N
	[ -z "$ID" ] || { scancel "$ID"; wait_for 10 given_back "$ID"; }
	start "${OPTIONS[@]}" --comm-profile="$PROFILE"
	[ "$stock" = "$N" ] && alike=$((alike + 1)) ||
		diag "${OPTIONS[*]}: $stock nodes without a profile, $N with one"
	[ -z "$ID" ] || { running+=("$ID"); started=$((started + 1)); }
	while [ ${#running[@]} -gt 0 ] &&
	    { [ -z "$ID" ] || [ $((RANDOM % 4)) = 0 ]; }; do
		scancel "${running[0]}"
		wait_for 10 given_back "${running[0]}"
		running=("${running[@]:1}")
		ID=again
	done
done
is "$alike" "$JOBS" "random jobs start where they do without a profile"
ok $((started < JOBS / 2)) "$started of $JOBS started"
cluster_check
done_testing
