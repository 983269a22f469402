#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace network check --against-slurm` in a cluster that runs: what its
# scontrol shows, in whatever words of its release, is compared with the network
# file that commplace.conf names.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
# switches NODES...: a leaf switch for each list
switches() {
	local i=0 list
	for list; do
		echo "SwitchName=s$i Nodes=$list"
		i=$((i + 1))
	done
	echo "SwitchName=top Switches=s[0-$((i - 1))]"
}
# Four groups of two routers of two nodes, n0 to n15.
CLUSTER_TOPOLOGY=$(switches n[0-1] n[2-3] n[4-5] n[6-7] n[8-9] n[10-11] n[12-13] n[14-15])
CLUSTER_EXTRA=TopologyPlugin=topology/tree
cluster_start

# check [FILE]: its lines, the last line of standard error, its exit status
check() {
	local status=0 out=$CLUSTER/against.out err=$CLUSTER/against.err
	commplace network check "${1:-$NETWORK}" --against-slurm >"$out" 2>"$err" ||
		status=$?
	cat "$out"
	tail -1 "$err"
	echo "exit $status"
}
# other LEAVES...: slurmctld with other switches
other() {
	switches "$@" >"$CLUSTER/etc/topology.conf"
	cluster_restart_ctld || bail "slurmctld does not start: $*"
}
nodes="nodes: 16 in both, 0 in Slurm only, 0 in the network file only"
differ="commplace network: $NETWORK: is not what Slurm shows
exit 1"

is "$(check)" "$nodes
switches: Slurm's 8 against units of level router
exit 0" "switches that are the routers"

sed 's/n\[0-15\]/n[0-14],n99/' "$NETWORK" >"$CLUSTER/other.json"
is "$(check "$CLUSTER/other.json" | head -3)" \
	"nodes: 15 in both, 1 in Slurm only, 1 in the network file only
in Slurm only: n15
in the network file only: n99" "a file of other nodes"
is "$(check "$CLUSTER/other.json" | tail -1)" "exit 1" "is not the cluster's"

other n[0-3] n[4-7] n[8-11] n[12-15]
is "$(check)" "$nodes
switches: Slurm's 4 against units of level group
exit 0" "switches that are groups"

other n[0,2] n[1,3] n[4-5] n[6-7] n[8-9] n[10-11] n[12-13] n[14-15]
is "$(check)" "$nodes
switches: Slurm's 8 against units of level router
switch s0: n2 is on router 1, most others on 0
switch s1: n3 is on router 1, most others on 0
switches s0 and s1: one router in the network file, 0
$differ" "two nodes with each other's cables"

cluster_check
cluster_stop_ctld
like "$(check)" "^commplace network: scontrol show nodes: .*
exit 1$" "without slurmctld the reason is scontrol's"
done_testing
