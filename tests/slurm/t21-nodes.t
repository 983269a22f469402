#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Nodes that are not simply free: drained, down, reserved.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
CLUSTER_RETURN=1
cluster_start
cluster_signature pairs8 8 pairs
cluster_signature ring8 8

# What sinfo shows may lag behind scontrol.
idle_are() {
	snapshot
	[ "$(wc -w <<<"$SNAP_FREE")" = "$1" ]
}

scontrol update nodename=n1,n4,n7 state=drain reason=test
wait_for 10 idle_are 13
unlike " $SNAP_FREE " " n[147] " "drained nodes are not idle"
job=$(submit -N6 -n8 --exclusive --comm-profile=pairs8)
wait_running "$job"
expect_place "$job" "beside drained nodes"
unlike " $(job_hosts "$job") " " n[147] " "no drained node is among them"
cancel_all
scontrol update nodename=n1,n4,n7 state=resume

scontrol update nodename=n2 state=down reason=test
wait_for 10 idle_are 15
job=$(submit -N6 -n8 --exclusive --comm-profile=ring8)
wait_running "$job"
expect_place "$job" "beside a node that is down"
cancel_all
scontrol update nodename=n2 state=idle
wait_for 10 idle_are 16

# All nodes but one drained: too few for the job, which has to wait.
scontrol update nodename=n[1-15] state=drain reason=test
job=$(submit -N2 -n8 --comm-profile=ring8)
sleep 2
is "$(job_state "$job")" PENDING "a job waits while nodes are missing"
scontrol update nodename=n[1-15] state=resume
wait_running "$job"
ok $? "and starts when they return"
is "$(decision "$job" .outcome)" placed "placed"
cancel_all

# Reserved nodes: others keep off, the holder stays inside.
scontrol create reservation reservationname=maint starttime=now duration=60 \
	users="$CLUSTER_USER" nodes=n[4-11] >/dev/null
ok $? "a reservation of 8 nodes"
reserved() { [ "$(scontrol show reservation maint | grep -c ACTIVE)" = 1 ]; }
wait_for 10 reserved
snapshot
SNAP_FREE="n0 n1 n2 n3 n12 n13 n14 n15"
job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8)
wait_running "$job"
expect_place "$job" "outside a reservation"
snapshot
SNAP_FREE=$(expand "n[4-11]")
job=$(submit -N4 -n8 --exclusive --reservation=maint --comm-profile=pairs8)
wait_running "$job"
expect_place "$job" "inside a reservation"
cancel_all
scontrol delete reservationname=maint
# From 23.11 on a number for all nodes together.
cores=2,2,2,2
[ "$CLUSTER_SERIES" -lt 2311 ] || cores=8
scontrol create reservation reservationname=cores starttime=now duration=60 \
	users=root nodes=n[0-3] corecnt=$cores >/dev/null
ok $? "a reservation of cores"
# used FILE JOB and kept FILE: a line "NODE CORE" each, of cores with one thread
each_core() {
	local hosts cores host
	while read -r hosts cores; do
		for host in $(expand "$hosts"); do
			scontrol show hostnames "c[$cores]" | sed "s/^c/$host /"
		done
	done | sort >"$1"
}
used() {
	scontrol -d -o show job "$2" |
		grep -o ' Nodes=[^ ]* CPU_IDs=[^ ]*' |
		sed 's/ Nodes=//; s/CPU_IDs=//' | each_core "$1"
}
kept() {
	scontrol show reservation cores |
		sed -n 's/.*NodeName=\([^ ]*\) CoreIDs=\([^ ]*\).*/\1 \2/p' |
		each_core "$1"
}
listed() { scontrol show reservation cores | grep -q CoreIDs; }
wait_for 10 listed
kept "$CLUSTER/kept"
is "$(wc -l <"$CLUSTER/kept")" 8 "of eight cores"
cluster_signature ring30 30
cluster_signature ring48 48
for options in "-N15 -n30 --ntasks-per-node=2 --comm-profile=ring30" \
	"-n48 --comm-profile=ring48"; do
	# shellcheck disable=SC2086
	job=$(submit $options) && wait_running "$job"
	ok $? "$options: runs beside it"
	is "$(decision "$job" .outcome)" placed "$options: placed"
	used "$CLUSTER/used" "$job"
	like "$(cut -d' ' -f1 "$CLUSTER/used" | sort -u | wc -l)" "^1[2-6]$" \
		"$options: on twelve nodes and more"
	is "$(comm -12 "$CLUSTER/used" "$CLUSTER/kept")" "" \
		"$options: and on none of these cores"
	cancel_all
done
# 12 nodes are whole.
job=$(submit -N12 -n48 --exclusive --comm-profile=ring48)
wait_running "$job"
ok $? "a job of whole nodes runs beside it"
is "$(job_hosts "$job")" "$(expand 'n[4-15]')" "on those without a reservation"
cancel_all
scontrol delete reservationname=cores

# Weights: the lowest that hold the job, for a job that starts at once and for
# one that waits, whichever scheduler starts it.
scontrol update nodename=n[0-7] weight=20
scontrol update nodename=n[8-13] weight=5
wait_for 10 idle_are 16
SNAP_FREE="n14 n15"
job=$(submit -N2 -n8 --exclusive --comm-profile=pairs8)
wait_running "$job"
expect_place "$job" "the nodes of the lowest weight"
is "$(set -- $(job_hosts "$job"); echo "$@" | tr ' ' '\n' | sort | xargs)" \
	"n14 n15" "both of them"
cancel_all
for filler in "" --wrap="sleep 2"; do
	[ -z "$filler" ] || wide=$(submit -N16 --exclusive "$filler")
	[ -z "$filler" ] || wait_running "$wide"
	job=$(submit -N8 -n8 --exclusive --comm-profile=pairs8)
	wait_running "$job" 40
	is "$(job_hosts "$job" | tr ' ' '\n' | sort -V | xargs)" \
		"n8 n9 n10 n11 n12 n13 n14 n15" \
		"two weights hold it${filler:+, after waiting}"
	cancel_all
done
# One after the other as the stock plugin fills them.
weights=(20 1 5 3)
for i in {0..15}; do
	scontrol update nodename="n$i" weight="${weights[i % 7 % 4]}"
done
for n in 2 4 6; do
	job=$(submit -N$n --exclusive)
	wait_running "$job"
	stock=$(job_hosts "$job")
	cancel_all
	job=$(submit -N$n -n8 --exclusive --comm-profile=pairs8 \
		--placement-policy=linear)
	wait_running "$job"
	is "$(job_hosts "$job")" "$stock" "$n nodes of four weights: stock's"
	cancel_all
done
scontrol update nodename=n[0-15] weight=1
cluster_check
done_testing
