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

# Topologies of partitions, by their names, and what topoconf prints of them.
topoconf() {
	rm "$CLUSTER/etc/topology.conf"
	{
		printf -- '- topology: routers\n  cluster_default: true\n'
		printf '  tree:\n    switches:\n'
		for i in 0 1 2 3 4 5 6 7; do
			printf '      - switch: s%d\n        nodes: n[%d-%d]\n' \
				$i $((2 * i)) $((2 * i + 1))
		done
		printf '      - switch: top\n        children: s[0-7]\n'
		printf -- '- topology: groups\n  cluster_default: false\n'
		printf '  block:\n    block_sizes:\n      - 4\n    blocks:\n'
		for i in 0 1 2 3; do
			printf '      - block: b%d\n        nodes: n[%d-%d]\n' \
				$i $((4 * i)) $((4 * i + 3))
		done
	} >"$CLUSTER/etc/topology.yaml"
	cluster_restart_ctld || bail "slurmctld does not start with topology.yaml"
	is "$(check)" "$nodes
switches: Slurm's 8 against units of level router
exit 0" "topology.yaml: the cluster's default"
	is "$(commplace network check "$NETWORK" --against-slurm --topology groups)" \
		"$nodes
switches: Slurm's 4 against units of level group" "a partition's by its name"
	scontrol show topoconf >"$CLUSTER/topoconf"
	scontrol -o show nodes >"$CLUSTER/nodes"
	for name in routers groups; do
		runs "topoconf: $name is imported" commplace network import \
			"$CLUSTER/topoconf" --format topology-yaml \
			--topology $name -o "$CLUSTER/$name.json"
		runs "topoconf: $name is what Slurm shows" commplace network \
			check "$CLUSTER/$name.json" --against-slurm \
			--topology $name
		runs "topoconf: $name, from files" commplace network check \
			"$NETWORK" --against-slurm --topology $name \
			--slurm-nodes "$CLUSTER/nodes" \
			--slurm-topology "$CLUSTER/topoconf"
	done
}
if [ "$CLUSTER_SERIES" -lt 2505 ]; then
	skip "topology.yaml" "Slurm has it from 25.05 on"
elif ! cluster_has_plugin serializer_json; then
	skip "topology.yaml" "this Slurm was built without json-c"
else
	topoconf
fi

cluster_check
cluster_stop_ctld
like "$(check)" "^commplace network: scontrol show nodes: .*
exit 1$" "without slurmctld the reason is scontrol's"
done_testing
