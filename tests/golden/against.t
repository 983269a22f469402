#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace network check --against-slurm`, with a stand-in for scontrol.
. "${0%/*}/golden.bash"
mkdir "$work/bin"
cat >"$work/bin/scontrol" <<-'EOF2'
	#!/bin/bash
	case "$*" in
	"-o show nodes") cat "$ANSWERS/nodes" ;;
	"show topology" | "show topology racks") [ "$SLURM_TOPO_LEN" -gt 100000 ] && cat "$ANSWERS/topology" ;;
	*) exit 2 ;;
	esac
	exit "${STATUS:-0}"
EOF2
chmod 755 "$work/bin/scontrol"
PATH=$work/bin:$PATH
export ANSWERS=$work

# Two groups of two switches with two nodes each.
cat >"$work/net.json" <<-EOF2
	{ "format": "commplace-network", "version": 1, "type": "dragonfly",
	  "groups": 2, "rows": 1, "columns": 2, "nodes_per_router": 2,
	  "nodes": "n[0-7]" }
EOF2
# nodes NAME...: what scontrol prints of them
nodes() {
	local n
	for n; do
		printf 'NodeName=%s Arch=x86_64 CoresPerSocket=1 OS=Linux 6.1 #1 NodeName=x State=IDLE Reason=a Nodes=b \n' "$n"
	done >"$work/nodes"
}
# check: its lines, the last that of standard error and its exit status
check() {
	local status=0
	"$commplace" network check "$work/net.json" --against-slurm "$@" \
		>"$work/out" 2>"$work/err" || status=$?
	cat "$work/out" "$work/err"
	echo "exit $status"
}
differ="commplace network: $work/net.json: is not what Slurm shows
exit 1"

nodes n0 n1 n2 n3 n4 n5 n6 n7
cat >"$work/topology" <<-'EOF2'
	SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[0-1]
	SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[2-3]
	SwitchName=s2 Level=0 LinkSpeed=1 Nodes=n[4-5]
	SwitchName=s3 Level=0 LinkSpeed=1 Nodes=n[6-7]
	SwitchName=top Level=1 LinkSpeed=1 Nodes=n[0-7] Switches=s[0-3]
EOF2
is "$(check)" "nodes: 8 in both, 0 in Slurm only, 0 in the network file only
switches: Slurm's 4 against units of level router
exit 0" "the same nodes on the same switches"

nodes n0 n1 n2 n3 n4 n5 n6 n8 login
is "$(check | head -4)" "nodes: 7 in both, 2 in Slurm only, 1 in the network file only
in Slurm only: n8,login
in the network file only: n7
switches: Slurm's 4 against units of level router" "nodes of one of them"
is "$(check | tail -2)" "$differ" "are a difference"

nodes n0 n1 n2 n3 n4 n5 n6 n7
sed -i 's/n\[0-1\]/n[0,2]/; s/n\[2-3\]/n[1,3]/' "$work/topology"
is "$(check)" "nodes: 8 in both, 0 in Slurm only, 0 in the network file only
switches: Slurm's 4 against units of level router
switch s0: n2 is on router 1, most others on 0
switch s1: n3 is on router 1, most others on 0
switches s0 and s1: one router in the network file, 0
$differ" "nodes that are not where Slurm has them"

cat >"$work/topology" <<-'EOF2'
	SwitchName=a Level=0 LinkSpeed=1 Nodes=n[0-3]
	SwitchName=b Level=0 LinkSpeed=1 Nodes=n[4-6]
	SwitchName=top Level=1 LinkSpeed=1 Nodes=n[0-6] Switches=a,b
EOF2
is "$(check | sed -n 2,3p)" "switches: Slurm's 2 against units of level chassis
on no switch in Slurm: n7" "switches that are chassis, and a node without one"
is "$(check --json >"$work/json"; json "$work/out" differs),$(json "$work/out" both),$(json "$work/out" switches level),$(json "$work/out" switches on_no_switch)" \
	true,8,chassis,n7 "as JSON"

cat >"$work/topology" <<-'EOF2'
	BlockName=b0 BlockIndex=0 Nodes=n[0-3] BlockSize=4
	BlockName=b1 BlockIndex=1 Nodes=n[4-7] BlockSize=4
	AggregatedBlock=b[0-1] BlockIndex=2 Nodes=n[0-7] BlockSize=8
EOF2
is "$(check | tail -2)" "switches: Slurm's 2 against units of level chassis
exit 0" "blocks"

is "$(check --topology racks | tail -1)" "exit 0" "a topology by its name"
like "$(check --topology 'a; b')" "'a; b' is not the name of a topology
exit 1" "which no shell takes for more"

# As scontrol show topoconf of 26.11 prints it.
cp "$work/nodes" "$work/saved"
cat >"$work/topoconf" <<-'EOF2'
	%YAML 1.1
	---
	- topology: leaves
	  cluster_default: true
	  block: {}
	  flat: {}
	  ring: {}
	  torus3d: {}
	  tree:
	    switches:
	    - switch: top
	      children: s[0-3]
	      nodes:
	    - switch: s0
	      children:
	      nodes: n[0-1]
	    - switch: s1
	      children:
	      nodes: n[2-3]
	    - switch: s2
	      children:
	      nodes: n[4-5]
	    - switch: s3
	      children:
	      nodes: n[6-7]
	- topology: racks
	  cluster_default: false
	  block:
	    block_sizes:
	    - 4
	    blocks:
	    - block: b0
	      nodes: n[0-3]
	    - block: b1
	      nodes: n[4-7]
	  flat: {}
	  tree: {}
	- topology: all
	  cluster_default: false
	  block: {}
	  flat: true
	  tree: {}
	...
EOF2
topoconf() {
	check --slurm-nodes "$work/saved" --slurm-topology "$work/topoconf" "$@"
}
is "$(topoconf | tail -2)" "switches: Slurm's 4 against units of level router
exit 0" "topoconf: the cluster's default topology"
is "$(topoconf --topology racks | tail -2)" \
	"switches: Slurm's 2 against units of level chassis
exit 0" "topoconf: another by its name"
is "$(topoconf --topology all | tail -2)" "switches: Slurm shows none
exit 0" "topoconf: a flat one"
like "$(topoconf --topology none)" "has no topology 'none'" \
	"topoconf: a name that it has not"
is "$("$commplace" network import "$work/topoconf" --format topology-yaml \
	-o "$work/leaves.json" 2>&1)" "$work/leaves.json: graph" \
	"topoconf is imported"
is "$("$commplace" network check "$work/leaves.json" --against-slurm \
	--slurm-nodes "$work/saved" --slurm-topology "$work/topoconf" | tail -1)" \
	"switches: Slurm's 4 against units of level router" \
	"and agrees with what it was made of"
runs "so does another of its topologies" "$commplace" network import \
	"$work/topoconf" --format topology-yaml --topology racks \
	-o "$work/racks.json"

echo 'No topology information available' >"$work/topology"
is "$(check | tail -2)" "switches: Slurm shows none
exit 0" "without a topology plugin nodes alone are compared"
is "$(check --slurm-nodes "$work/saved" --slurm-topology "$work/topology" | tail -1)" \
	"exit 0" "files in place of scontrol"

echo 'slurm_load_node error: Unable to contact slurm controller (connect failure)' \
	>"$work/nodes"
is "$(STATUS=1 check)" "commplace network: scontrol show nodes: slurm_load_node error: Unable to contact slurm controller (connect failure)
exit 1" "no controller"
is "$(check)" "commplace network: scontrol show nodes names no node
exit 1" "no node"
printf '#!/bin/sh\nexit 127\n' >"$work/bin/scontrol"
is "$(check)" "commplace network: scontrol show nodes: it prints nothing
exit 1" "a scontrol that says nothing"
done_testing
