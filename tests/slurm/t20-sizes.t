#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Jobs of all forms: each with a profile gets exactly the nodes of `commplace
# place` for the same state, each without one the stock answer.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
cluster_start
cluster_signature ring6 6
cluster_signature ring8 8
cluster_signature pairs8 8 pairs
cluster_signature all10 10 all
cluster_signature ring16 16

# place NAME STATES SBATCH-OPTION...: submit, wait, compare, leave it running
place() {
	local name=$1 states=$2
	shift 2
	snapshot "$states"
	job=$(submit "$@") || { fail "$name: submitted"; return 1; }
	wait_running "$job" || { fail "$name: runs"; return 1; }
	expect_place "$job" "$name"
}

# Some nodes are taken, so that there is something to choose.
taken=$(submit -N5 -w n0,n3,n5,n8,n14 --exclusive)
wait_running "$taken"
ok $? "other jobs take some nodes"
unlike "$(commplace explain "$taken" 2>&1)" "^Job" \
	"a job without a profile has no decision"

place "-N4 --exclusive" idle -N4 -n8 --exclusive --comm-profile=pairs8
place "-N4 beside it" idle -N4 -n8 --exclusive --comm-profile=ring8
is "$(decision "$job" '.background | length')" 1 \
	"the first job's traffic is in the background"
cancel_all

place "-n without -N" idle -n10 --comm-profile=all10
is "$(job_hosts "$job" | wc -w)" 3 "10 ranks on nodes of 4 cores take 3 nodes"
cancel_all

place "-N2-4" idle -N2-4 -n8 --comm-profile=ring8
n=$(job_hosts "$job" | wc -w)
[ "$n" -ge 2 ] && [ "$n" -le 4 ]
ok $? "-N2-4 gets between 2 and 4 nodes: $n"
cancel_all

part=$(submit -N3 -n6 --ntasks-per-node=2 -w n1,n2,n9)
wait_running "$part"
place "partial cores" idle,mix -N8 -n16 --ntasks-per-node=2 --comm-profile=ring16
is "$(decision "$job" .ranks_per_node)" 2 "two ranks a node are planned"
cancel_all

# Shared nodes of which no three have an even share: what holds the job together.
part=$(submit -N15 -n30 --ntasks-per-node=2 -x n5)
wait_running "$part"
stock=$(submit -N3 -n8)
wait_running "$stock"
ok $? "-N3 -n8 on one node of 4 free cores and others of 2 runs without a profile"
as_user scancel "$stock"
wait_ended "$stock"
place "no even share" idle,mix -N3 -n8 --comm-profile=ring8
is "$(decision "$job" .required_hosts)" n5 "no even share: the largest is had"
as_user scancel "$job"
wait_ended "$job"
less=$(submit -N1 -n1 -w n1)
wait_running "$less"
place "-w with less than its share" idle,mix -N3 -n6 -w n1 --comm-profile=ring6
is "$(decision "$job" .required_hosts)" "n[1,5]" \
	"-w with less than its share: the largest with it"
cancel_all

place "-w" idle -N4 -n8 -w n6,n11 --exclusive --comm-profile=ring8
like " $(job_hosts "$job") " " n6 .*n11 " "-w: both are among the nodes"
cancel_all

place "-w naming all nodes" idle -N4 -n8 -w n6,n7,n11,n12 --exclusive \
	--comm-profile=ring8
is "$(job_hosts "$job")" "n6 n7 n11 n12" "-w: the user's nodes and no others"
cancel_all

all=$(expand 'n[0-15]')
SNAP_FREE=$(tr ' ' '\n' <<<"$all" | grep -vxE 'n4|n10' | paste -sd' ')
job=$(submit -N4 -n8 -x n4,n10 --exclusive --comm-profile=pairs8)
wait_running "$job"
expect_place "$job" "-x"
cancel_all

# A job without a profile: what the stock plugin gives.
stock=$(submit -N3 --exclusive)
wait_running "$stock"
is "$(job_hosts "$stock")" "n0 n1 n2" "no profile: the stock nodes"
cancel_all

# The policy that the user names.
snapshot
for policy in linear random-nodes random-routers random-chassis random-groups \
    round-robin-nodes round-robin-routers; do
	job=$(submit -N4 -n8 --exclusive --comm-profile=ring8 \
		--placement-policy=$policy)
	wait_running "$job"
	expect_place "$job" "--placement-policy=$policy"
	is "$(decision "$job" .policy)" $policy "$policy is taken"
	cancel_all
	snapshot
done

# Arrays: every element is a job of its own.
snapshot
array=$(submit --array=1-3 -N2 -n8 --exclusive --comm-profile=ring8)
array_up() { [ "$(squeue -h -t R -j "$array" | wc -l)" = 3 ]; }
wait_for 30 array_up
ok $? "all elements of an array run"
mapfile -t ids < <(squeue -h -t R -j "$array" -O JobID:20 | tr -d ' ')
placed=0
for id in "${ids[@]}"; do
	[ "$(decision "$id" .outcome)" != placed ] || placed=$((placed + 1))
	is "$(sorted "$(decision "$id" '.hosts | join(" ")')")" \
		"$(job_hosts "$id")" "array element $id runs where decided"
done
is "$placed" 3 "all three were placed"
like "$(commplace explain --wait 10 "${array}_2")" "^Job [0-9]+ = ${array}_2 \\(" \
	"explain takes the id that squeue shows"
cancel_all

# Heterogeneous jobs: components are placed one by one.
snapshot
het=$(submit -N2 -n8 --exclusive --comm-profile=ring8 : -N1 -n1)
het_up() { [ "$(squeue -h -t R -j "$het" | wc -l)" = 2 ]; }
wait_for 40 het_up
ok $? "a heterogeneous job runs"
is "$(sorted "$(decision "$het" '.hosts | join(" ")')")" "$(job_hosts "$het")" \
	"its first component runs where decided"
cancel_all

# Jobs below MinNodes (2) stay stock.
job=$(submit -N1 -n4 --comm-profile=ring8)
wait_running "$job"
is "$(job_hosts "$job")" n0 "a job of one node stays stock"
cancel_all
cluster_check
done_testing
