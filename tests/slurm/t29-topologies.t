#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Slurm's own topologies, and reserved cores, beside us: jobs without a profile
# get the nodes and cores of a slurmctld without us, jobs with one nodes that the
# topology plugin takes.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
JOBS=${COMMPLACE_TEST_JOBS:-20}
CLUSTER_PARTITIONS="PartitionName=main Nodes=n[0-15] Default=YES MaxTime=INFINITE State=UP
PartitionName=other Nodes=n[0-15] MaxTime=INFINITE State=UP
PartitionName=third Nodes=n[0-15] MaxTime=INFINITE State=UP"
cluster_start
cluster_signature pairs8 8 pairs
cluster_signature ring8 8
home=$CLUSTER/home
cp "$SLURM_CONF" "$CLUSTER/etc/ours.conf"
sed -e 's|^SelectType=.*|SelectType=select/cons_tres|' \
	-e '/^SwitchType=/d;/^JobSubmitPlugins=/d' "$SLURM_CONF" \
	>"$CLUSTER/etc/stock.conf"

# restart WHOSE: slurmctld as ours or stock, with slurm.conf's EXTRA lines
restart() {
	cluster_stop_ctld
	{
		cat "$CLUSTER/etc/$1.conf"
		printf '%s\n' "${EXTRA[@]}"
	} | awk -v topology="$PARTITION_TOPOLOGY" '
		topology && /^PartitionName=other/ { $0 = $0 " Topology=" topology }
		topology && /^PartitionName=third/ { $0 = $0 " Topology=flat" }
		{ print }' >"$SLURM_CONF"
	cluster_start_ctld && wait_for 30 cluster_nodes_up
}

# The nth job of a sequence that is the same each time.
random_options() {
	local part=main
	case $((RANDOM % 6)) in
	0) set -- -N$((RANDOM % 8 + 1)) --exclusive ;;
	1) set -- -n$((RANDOM % 20 + 1)) ;;
	2) set -- -N$((RANDOM % 6 + 1)) --ntasks-per-node=$((RANDOM % 4 + 1)) ;;
	3) set -- -N2-$((RANDOM % 5 + 3)) ;;
	4) set -- -N$((RANDOM % 3 + 2)) -w n$((RANDOM % 16)) ;;
	5) set -- -N$((RANDOM % 4 + 1)) --switches=1@0 ;;
	esac
	case $((RANDOM % 4)) in
	0) part=other ;;
	1) part=third ;;
	esac
	OPTIONS=(-p "$part" "$@")
}

cores_of() {
	scontrol -d -o show job "$1" | grep -o ' Nodes=[^ ]* CPU_IDs=[^ ]*' |
		paste -sd' '
}

given_back() {
	! squeue -h -j "$1" 2>/dev/null | grep -q .
}

# play FILE: a line for each job, with its cores or none; they come and go
play() {
	local i id running=()
	RANDOM=2605
	for ((i = 0; i < JOBS; i++)); do
		random_options
		id=$(as_user timeout 60 salloc -I --no-shell "${OPTIONS[@]}" 2>&1 |
			sed -n 's/.*Granted job allocation //p')
		echo "$i ${OPTIONS[*]}: $([ -z "$id" ] || cores_of "$id")"
		[ -z "$id" ] || running+=("$id")
		while [ ${#running[@]} -gt 0 ] &&
		    { [ -z "$id" ] || [ $((RANDOM % 3)) = 0 ]; }; do
			scancel "${running[0]}"
			wait_for 10 given_back "${running[0]}"
			running=("${running[@]:1}")
			id=again
		done
	done >"$1"
	scancel "${running[@]}" 2>/dev/null
	wait_for 30 cluster_no_jobs
}

# placed NAME SBATCH-OPTION...: the ranks of a job with a profile are on its
# nodes as planned, whoever chose the nodes
placed() {
	local name=$1
	shift
	printf '#!/bin/bash\nsrun -n8 sh -c '\''%s'\'' >step.out 2>&1\n' \
		"$PRINT_RANK" >"$home/step.sh"
	snapshot
	job=$(submit -n8 --exclusive "$@" step.sh) && wait_ended "$job"
	ok $? "$name: a job with a profile runs"
	is "$(decision "$job" '.outcome + " " + .reason')" "placed " "$name: placed"
	is "$(sorted "$(decision "$job" '.hosts | join(" ")')")" \
		"$(job_hosts "$job")" "$name: on the nodes of its record"
	expect_map "$job" "$home/step.out" "$name"
}

# topology NAME PARTITION...: under EXTRA and what is in topology.conf or .yaml
# play for `whose`; when it is ours, compare, and jobs with a profile run
topology() {
	local name=$1 stock=$CLUSTER/stock-$1.txt ours=$CLUSTER/ours-$1.txt part
	shift
	restart "$whose" || { fail "$name: slurmctld starts, $whose"; return; }
	[ "$name" != reserved ] || scontrol create reservation users=root \
		reservationname=cores starttime=now duration=60 nodes=n[0-3] \
		corecnt="$CORES" >/dev/null || fail "$name: a reservation"
	play "$CLUSTER/$whose-$name.txt"
	[ "$name" != reserved ] || scontrol delete reservationname=cores
	[ "$whose" = ours ] || return
	is "$(cat "$ours")" "$(cat "$stock")" \
		"$name: jobs without a profile have the stock nodes"
	# A comparison of refusals would say nothing.
	[ "$(grep -c 'CPU_IDs' "$stock")" -ge $((JOBS / 2)) ]
	ok $? "$name: $(grep -c 'CPU_IDs' "$stock") of $JOBS got nodes"
	for part in "${@:-main}"; do
		placed "$name, $part, pairs" -p "$part" -N4 --comm-profile=pairs8
		placed "$name, $part, ring" -p "$part" -N2 --comm-profile=ring8
	done
}

tree() {
	local g
	for g in 0 1 2 3; do
		echo "SwitchName=s$g Nodes=n$g,n$((g + 4)),n$((g + 8)),n$((g + 12))"
	done
	echo "SwitchName=top Switches=s[0-3]"
}

topologies() {
	EXTRA=()
	PARTITION_TOPOLOGY=
	topology flat
	# Beside cores that others have reserved; from 23.11 on a number for
	# all nodes together.
	CORES=2,2,2,2
	[ "$CLUSTER_SERIES" -lt 2311 ] || CORES=8
	topology reserved

	# Switches across the order of names.
	tree >"$CLUSTER/etc/topology.conf"
	EXTRA=(TopologyPlugin=topology/tree)
	topology tree
	if [ "$CLUSTER_SERIES" -ge 2405 ]; then
		EXTRA+=(TopologyParam=SwitchAsNodeRank)
		topology SwitchAsNodeRank
	fi

	# 23.11 has it, with other words in topology.conf.
	if [ "$CLUSTER_SERIES" -ge 2405 ]; then
		for g in 0 1 2 3; do
			echo "BlockName=b$g Nodes=n[$((g * 4))-$((g * 4 + 3))]"
		done >"$CLUSTER/etc/topology.conf"
		echo BlockSizes=4 >>"$CLUSTER/etc/topology.conf"
		EXTRA=(TopologyPlugin=topology/block)
		topology block
	fi

	# topology.yaml is parsed by way of it.
	if ! cluster_has_plugin serializer_json; then
		skip "topology.yaml, $whose" "this Slurm was built without json-c"
		return
	fi
	if [ "$CLUSTER_SERIES" -ge 2505 ]; then
		rm "$CLUSTER/etc/topology.conf"
		EXTRA=()
		PARTITION_TOPOLOGY=blocks
		cat >"$CLUSTER/etc/topology.yaml" <<-'END'
		---
		- topology: switches
		  cluster_default: true
		  tree:
		    switches:
		      - switch: top
		        children: s[0-3]
		      - switch: s0
		        nodes: n[0,4,8,12]
		      - switch: s1
		        nodes: n[1,5,9,13]
		      - switch: s2
		        nodes: n[2,6,10,14]
		      - switch: s3
		        nodes: n[3,7,11,15]
		- topology: blocks
		  cluster_default: false
		  block:
		    block_sizes:
		      - 4
		    blocks:
		      - block: b0
		        nodes: n[0-3]
		      - block: b1
		        nodes: n[4-7]
		      - block: b2
		        nodes: n[8-11]
		      - block: b3
		        nodes: n[12-15]
		- topology: flat
		  cluster_default: false
		  flat: true
	END
		topology topology.yaml main other third
	fi

	# These give a job nodes beside each other or none.
	if [ "$CLUSTER_SERIES" -ge 2605 ]; then
		PARTITION_TOPOLOGY=torus
		cat >"$CLUSTER/etc/topology.yaml" <<-'END'
		---
		- topology: rings
		  cluster_default: true
		  ring:
		    rings:
		      - ring: r0
		        nodes: n[0-7]
		      - ring: r1
		        nodes: n[8-15]
		- topology: torus
		  cluster_default: false
		  torus3d:
		    toruses:
		      - name: t0
		        dims: { x: 4, y: 2, z: 2 }
		        nodes: n[0-15]
		        placements:
		          - dims: { x: 1, y: 1, z: 1 }
		          - dims: { x: 2, y: 1, z: 1 }
		          - dims: { x: 2, y: 2, z: 1 }
		          - dims: { x: 4, y: 2, z: 1 }
		- topology: flat
		  cluster_default: false
		  flat: true
		END
		topology rings main other
	fi
	rm -f "$CLUSTER/etc/topology.yaml"
}

# slurmds know the select plugin of their slurm.conf only.
whose=stock
cp "$CLUSTER/etc/stock.conf" "$SLURM_CONF"
slurmds() {
	local n
	for n in $(cluster_nodes); do
		cluster_kill "$CLUSTER/run/slurmd.$n.pid"
		cluster_start_slurmd "$n"
	done
}
slurmds
topologies
whose=ours
cp "$CLUSTER/etc/ours.conf" "$SLURM_CONF"
slurmds
topologies
cluster_check
done_testing
