#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What Slurm 25.05 and later do with jobs: steps that nobody waits for, jobs that
# others run, on nodes without a slurmd, too, requeues at once, channels for segments,
# segments changed while a job waits, topologies of
# partitions, nodes that come and go, tasks by the names of nodes, jobs in JSON. Each is
# placed, or left to Slurm with the reason on record.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
[ "$CLUSTER_SERIES" -ge 2505 ] ||
	skip_all "nothing of this is in Slurm before 25.05"
CLUSTER_PARTITIONS="PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=other Nodes=n[0-15] MaxTime=INFINITE State=UP"
CLUSTER_EXTRA="PrologFlags=Contain
MaxNodeCount=40
TreeWidth=65533
SuspendTime=3600
ResumeTimeout=60"
[ "$CLUSTER_SERIES" -lt 2511 ] ||
	CLUSTER_EXTRA+=$'\nSlurmctldParameters=enable_expedited_requeue,cloud_reg_addrs'
# It has no devices here, and says so; slurmctld deals its channels out.
if cluster_has_plugin switch_nvidia_imex; then
	CLUSTER_EXTRA+=$'\nSwitchParameters=commplace_wraps=switch/nvidia_imex,imex_channel_count=16'
	CLUSTER_DEBUG_FLAGS=SelectType,Switch
fi
eval "plain_$(declare -f cluster_write_conf)"
cluster_write_conf() {
	plain_cluster_write_conf
	# Four groups have nodes from the start, two come later.
	CLUSTER_GROUPS=6 cluster_network "$NETWORK" 'n[0-23]'
	cat >>"$SLURM_CONF" <<-CONF
	Epilog=$CLUSTER/etc/epilog
	ResumeProgram=$CLUSTER/etc/resume
	SuspendProgram=/bin/true
	CONF
	# The node of this file is not well after a job.
	cat >"$CLUSTER/etc/epilog" <<-SCRIPT
	#!/bin/bash
	[ ! -e "$CLUSTER/unwell.\$SLURMD_NODENAME" ]
	SCRIPT
	cat >"$CLUSTER/etc/resume" <<-SCRIPT
	#!/bin/bash
	export SLURM_CONF=$SLURM_CONF
	echo "\$1" >>$CLUSTER/resumed
	$(type -P slurmd) -N "\$1" -b -f $SLURM_CONF 3>&- 4>&-
	SCRIPT
	chmod 755 "$CLUSTER"/etc/{epilog,resume}
}
cluster_start
cluster_signature pairs8 8 pairs
cluster_signature all8 8 all
cluster_signature ring8 8
cluster_signature pairs16 16 pairs
home=$CLUSTER/home
printf '#!/bin/bash\n%s\n' "$PRINT_RANK" >"$home/print.sh"
chmod 755 "$home/print.sh"

outcome() {
	decision "$1" '.outcome + " " + .reason'
}
# placed JOB NAME: it runs where the record says
placed() {
	is "$(outcome "$1")" "placed " "$2: placed"
	is "$(sorted "$(decision "$1" '.hosts | join(" ")')")" "$(job_hosts "$1")" \
		"$2: on the nodes of its record"
}
# stock JOB REASON NAME
stock() {
	is "$(outcome "$1")" "stock $2" "$3: Slurm's own nodes, with the reason"
}
# admin_comment JOB NAME
commented() {
	like "$(job_field "$1" admin_comment)" 'commplace: ' "$2: with its line"
}
# has SERIES NAME: else it is skipped
has() {
	[ "$CLUSTER_SERIES" -lt "$1" ] || return 0
	skip "$2" "Slurm has it from ${1:0:2}.${1:2} on"
	return 1
}

async() {
	has 2605 "srun --async" || return
	printf '#!/bin/bash\n%s\n%s\n%s\n' \
		'srun --async -o first.%t.out ./print.sh' \
		'srun --async -N2 -n8 -o half.%t.out ./print.sh' \
		'until ls first.15.out half.7.out; do sleep 0.2; done; sleep 1' \
		>"$home/async.sh"
	snapshot
	job=$(submit -N4 -n16 --exclusive --stepmgr --comm-profile=pairs16 \
		async.sh) && wait_ended "$job"
	ok $? "srun --async: a job of such steps"
	placed "$job" "srun --async"
	cat "$home"/first.*.out >"$home/first.out"
	expect_map "$job" "$home/first.out" "srun --async: ranks as planned"
	cat "$home"/half.*.out >"$home/half.out"
	is "$(ranks "$home/half.out" | wc -w)" 8 "srun --async: a smaller step, too"
	cancel_all
}

external() {
	has 2511 "sbatch --external" || return
	snapshot
	job=$(as_user sbatch --parsable --external -N4 -n8 --exclusive \
		--comm-profile=pairs8) && wait_running "$job"
	ok $? "sbatch --external: a job whose tasks others start"
	expect_place "$job" "sbatch --external"
	commented "$job" "sbatch --external"
	snapshot
	beside=$(submit -N4 -n8 --exclusive --comm-profile=ring8)
	wait_running "$beside"
	is "$(decision "$beside" '.background | join(" ")')" "$job" \
		"sbatch --external: its traffic is there for others"
	scancel "$job"
	wait_state "$job" CANCELLED
	ok $? "sbatch --external: cancelled"
	cancel_all
	gone() { ! ls "$CLUSTER"/decisions/running/*.json >/dev/null 2>&1; }
	wait_for 20 gone
	ok $? "sbatch --external: and no longer in the load"
}

# Nodes without a slurmd, of the partition of all nodes: for such jobs alone.
external_nodes() {
	has 2511 "State=EXTERNAL" || return
	scontrol create nodename='n[20-23]' state=EXTERNAL $(node n20 30)
	ok $? "State=EXTERNAL: four nodes"
	job=$(as_user sbatch --parsable --external -N2 -n8 --exclusive \
		--exclude='n[0-15]' --comm-profile=pairs8) && wait_running "$job"
	ok $? "State=EXTERNAL: a job on them"
	placed "$job" "State=EXTERNAL"
	like "$(job_hosts "$job")" '^n2[0-3] n2[0-3]$' "State=EXTERNAL: has two of them"
	isnt "$(planned "$job")" "" "State=EXTERNAL: and an order of ranks"
	# Two of the four are idle.
	beside=$(submit -N16 -n16 --exclusive --comm-profile=pairs16)
	wait_running "$beside"
	placed "$beside" "State=EXTERNAL: a job of this cluster beside it"
	unlike "$(job_hosts "$beside")" 'n2[0-3]' "State=EXTERNAL: which has none of them"
	as_user sbatch -N17 -n17 --exclusive --wrap true >/dev/null 2>&1
	isnt $? 0 "State=EXTERNAL: nor do they make the cluster larger"
	cancel_all
	scontrol delete nodename='n[20-23]'
	ok $? "State=EXTERNAL: and gone"
}

expedited() {
	local node
	has 2511 "--requeue=expedite" || return
	cat >"$home/expedite.sh" <<-'SCRIPT'
	#!/bin/bash
	[ "${SLURM_RESTART_COUNT:-0}" = 0 ] || exec sleep 300
	until [ -e fail ]; do sleep 0.1; done
	false
	SCRIPT
	job=$(submit -N4 -n8 --exclusive --requeue=expedite --comm-profile=pairs8 \
		expedite.sh) && wait_running "$job"
	ok $? "--requeue=expedite: a job"
	placed "$job" "--requeue=expedite"
	first=$(decision "$job" .time)
	node=$(job_hosts "$job" | cut -d' ' -f1)
	# Records have whole seconds.
	sleep 1.1
	touch "$CLUSTER/unwell.$node" "$home/fail"
	again() {
		job_is "$job" RUNNING && [ "$(decision "$job" .time)" != "$first" ]
	}
	wait_for 60 again
	ok $? "--requeue=expedite: runs again, at once, when an epilog fails"
	placed "$job" "--requeue=expedite, once more"
	unlike " $(job_hosts "$job") " " $node " \
		"--requeue=expedite: without the node that is not well"
	rm "$CLUSTER/unwell.$node"
	scontrol update nodename="$node" state=resume
	cancel_all
	wait_for 30 cluster_nodes_up
}

# In topology/block.
blocks() {
	has 2511 "channels of segments, SegmentSize of a pending job" || return
	local g
	for g in 0 1 2 3; do
		echo "BlockName=b$g Nodes=n[$((g * 4))-$((g * 4 + 3))]"
	done >"$CLUSTER/etc/topology.conf"
	echo BlockSizes=4 >>"$CLUSTER/etc/topology.conf"
	cp "$SLURM_CONF" "$CLUSTER/etc/flat.conf"
	echo TopologyPlugin=topology/block >>"$SLURM_CONF"
	cluster_restart_ctld || { fail "slurmctld with blocks"; return; }
	channels
	segments
	cp "$CLUSTER/etc/flat.conf" "$SLURM_CONF"
	rm "$CLUSTER/etc/topology.conf"
	cluster_restart_ctld || fail "slurmctld without blocks"
}

# The segments that switch/nvidia_imex is told of are those of the job's nodes.
channels() {
	local of=unique-channel-per-segment
	if ! cluster_has_plugin switch_nvidia_imex; then
		skip "--network=$of" "this Slurm was built without switch/nvidia_imex"
		return
	fi
	for beside in n0 n5; do
		beside=$(submit -N1 -n1 --exclusive -w $beside) && wait_running "$beside"
	done
	job=$(submit -N4 -n8 --exclusive --segment=2 --network=$of \
		--comm-profile=pairs8 -o channel.out --wrap "srun ./print.sh")
	wait_ended "$job"
	ok $? "--network=$of: a job"
	is "$(outcome "$job")" "placed " "--network=$of: placed"
	is "$(ranks "$CLUSTER/home/channel.out")" "$(planned "$job")" \
		"--network=$of: ranks as planned"
	grep -oE "allocating channel [0-9]+ to JobId=$job with node_list .*" \
		"$CLUSTER/log/slurmctld.log" | sort -u >"$CLUSTER/channels"
	is "$(wc -l <"$CLUSTER/channels")" 2 "--network=$of: two channels"
	is "$(sorted "$(expand "$(sed 's/.* //' "$CLUSTER/channels" | paste -sd,)")")" \
		"$(job_hosts "$job")" "--network=$of: for the nodes of the job"
	is "$(grep -h 'No channel found' "$CLUSTER"/log/slurmd.*.log | head -3)" "" \
		"--network=$of: each node has one"
	cancel_all
}

# A job waits for nodes; what it wants is changed meanwhile.
segments() {
	has 2611 "SegmentSize of a pending job" || return
	local full job with without
	full=$(submit -N16 -n16 --exclusive) && wait_running "$full"
	with=$(submit -N4 -n8 --exclusive --comm-profile=pairs8)
	without=$(submit -N4 -n8 --exclusive --segment=2 --comm-profile=pairs8)
	scontrol update jobid="$with" SegmentSize=2
	ok $? "SegmentSize=2 while a job waits"
	scontrol update jobid="$without" SegmentSize=0
	ok $? "SegmentSize=0 while a job waits"
	scancel "$full"
	for job in "$with" "$without"; do
		wait_running "$job"
		ok $? "SegmentSize: the job runs"
	done
	placed "$with" "SegmentSize=2"
	like "$(decision "$with" .kept)" "segments of 2 kept" \
		"SegmentSize=2: in segments"
	commented "$with" "SegmentSize=2"
	placed "$without" "SegmentSize=0"
	cancel_all
}

# A partition's Topology=, changed while slurmctld runs, too.
partitions() {
	local part
	if ! cluster_has_plugin serializer_json; then
		skip "topologies of partitions" \
			"this Slurm was built without json-c, and slurmctld ends itself on topology.yaml"
		return
	fi
	cat >"$CLUSTER/etc/topology.yaml" <<-'YAML'
	- topology: flat
	  cluster_default: true
	  flat: true
	- topology: blocks
	  cluster_default: false
	  block:
	    block_sizes:
	      - 4
	    blocks:
	      - block: b0
	        nodes: n[0,4,8,12]
	      - block: b1
	        nodes: n[1,5,9,13]
	      - block: b2
	        nodes: n[2,6,10,14]
	      - block: b3
	        nodes: n[3,7,11,15]
	YAML
	cp "$SLURM_CONF" "$CLUSTER/etc/flat.conf"
	sed -i '/^PartitionName=other/s/$/ Topology=blocks/' "$SLURM_CONF"
	cluster_restart_ctld || { fail "slurmctld with topology.yaml"; return; }
	for part in main other; do
		job=$(submit -p "$part" -N4 -n8 --exclusive --comm-profile=pairs8) &&
			wait_running "$job"
		ok $? "topology.yaml, $part: a job"
		placed "$job" "topology.yaml, $part"
		[ "$part" = main ] || is "$(job_hosts "$job" | tr -d n |
			tr ' ' '\n' | awk '{ print $1 % 4 }' | sort -u | wc -l)" 1 \
			"topology.yaml, $part: in one block"
		cancel_all
	done
	runs "topology.yaml: check --against-slurm knows the partition's" \
		grep -q "Slurm's 4 against" \
		<(commplace network check "$NETWORK" --against-slurm --topology blocks 2>&1)
	rm "$CLUSTER/etc/topology.yaml"
	cp "$CLUSTER/etc/flat.conf" "$SLURM_CONF"
	cluster_restart_ctld || fail "slurmctld without topology.yaml"
}

node_is() {
	[[ "$(sinfo -h -N -n "$1" -p main -o %t 2>/dev/null)" == $2 ]]
}
# node NAME PORT-OFFSET: what slurmd and scontrol are told of a node
node() {
	echo "CPUs=4 Sockets=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=1000 Port=$((CLUSTER_PORT + $2))"
}

dynamic_slurmd() {
	mkdir -p "$CLUSTER/spool/$1" "$CLUSTER/tmp/$1"
	slurmd -Z -N "$1" -f "$SLURM_CONF" --conf "$(node "$1" "$2")" \
		>>"$CLUSTER/log/slurmd.$1.out" 2>&1 </dev/null 3>&- 4>&-
}

# Nodes that slurm.conf does not name: of the network file, and strangers to it.
dynamic() {
	local n before beside
	job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8) &&
		wait_running "$job"
	before=$(job_hosts "$job")
	dynamic_slurmd n16 20
	dynamic_slurmd n17 21
	dynamic_slurmd x1 22
	for n in n16 x1 n17; do
		wait_for 30 node_is $n idle
		ok $? "slurmd -Z: $n is there and idle"
	done
	is "$(job_hosts "$job")" "$before" "a job that runs keeps its nodes"
	snapshot
	beside=$(submit -N4 -n8 --exclusive --comm-profile=ring8)
	wait_running "$beside"
	placed "$beside" "beside new nodes"
	is "$(decision "$beside" '.background | join(" ")')" "$job" \
		"the job from before is its background"
	# The new ones and no other.
	job=$(submit -N2 -n8 --exclusive -w n16,n17 --comm-profile=pairs8 -o new.out \
		--wrap "srun ./print.sh")
	wait_ended "$job"
	ok $? "a job on new nodes"
	is "$(job_hosts "$job")" "n16 n17" "has these"
	like "$(outcome "$job")" '^(placed|stock) ' "with a decision: $(outcome "$job")"
	is "$(ranks "$home/new.out" | wc -w)" 8 "and its ranks run"
	# A node of which the network file knows nothing.
	job=$(submit -N2 -n8 --exclusive -w x1 --comm-profile=pairs8)
	wait_running "$job"
	ok $? "a job on a node that is not in the network file"
	stock "$job" "a required node is not free or not in the network" "is told of"
	cancel_all
	# All nodes, the stranger among them.
	job=$(submit -N19 -n19 --exclusive --comm-profile=pairs8) && wait_running "$job"
	ok $? "a job on all nodes, that one as well"
	stock "$job" "not enough nodes of the network are free now" "is told of"
	cancel_all
	for n in x1 n17; do
		cluster_kill "$CLUSTER/run/slurmd.$n.pid"
		scontrol delete nodename=$n
		ok $? "scontrol delete nodename=$n"
	done
	job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8) && wait_running "$job"
	placed "$job" "after nodes went"
	cluster_restart_ctld
	is "$(job_state "$job")" RUNNING "slurmctld restarted: the job runs"
	beside=$(submit -N4 -n8 --exclusive --comm-profile=ring8)
	wait_running "$beside"
	placed "$beside" "after a restart"
	is "$(decision "$beside" '.background | join(" ")')" "$job" \
		"and knows the load"
	cancel_all
}

# Nodes that came against the order of their names: alpha_step_rank has tasks in this
# order, Slurm's default in that of their coming. A plan for a profile is in force
# beside both; whoever states a distribution has Slurm's, and so has a job for which no
# order is better.
by_name() {
	local part n
	local -A named
	has 2605 "alpha_step_rank" || return
	if ! cluster_has_plugin serializer_json; then
		skip "alpha_step_rank" "this Slurm was built without json-c"
		return
	fi
	cat >"$CLUSTER/etc/topology.yaml" <<-'YAML'
	- topology: named
	  cluster_default: true
	  flat:
	    alpha_step_rank: true
	- topology: flat
	  cluster_default: false
	  flat: true
	YAML
	cp "$SLURM_CONF" "$CLUSTER/etc/flat.conf"
	sed -i 's/^PartitionName=other.*/PartitionName=other Nodes=ALL MaxTime=INFINITE State=UP Topology=flat/' \
		"$SLURM_CONF"
	cluster_restart_ctld || { fail "slurmctld with alpha_step_rank"; return; }
	for n in 23 22; do
		dynamic_slurmd n$n $((n + 2))
		wait_for 30 node_is n$n idle
		ok $? "alpha_step_rank: n$n is there"
	done
	for part in main other; do
		job=$(submit -p $part -N2 -n8 --exclusive -w n22,n23 -o named.out \
			--wrap "srun ./print.sh") && wait_ended "$job"
		ok $? "alpha_step_rank, $part: a job without a profile"
		named[$part]=$(ranks "$home/named.out")
		job=$(submit -p $part -N2 -n8 --exclusive -w n22,n23 --comm-profile=pairs8 \
			-o planned.out --wrap "srun ./print.sh") && wait_ended "$job"
		placed "$job" "alpha_step_rank, $part"
		is "$(ranks "$home/planned.out")" "$(planned "$job")" \
			"alpha_step_rank, $part: ranks as planned"
		job=$(submit -p $part -N2 -n8 --exclusive -w n22,n23 --comm-profile=pairs8 \
			-o stated.out --wrap "srun -m block ./print.sh") &&
			wait_ended "$job"
		is "$(ranks "$home/stated.out")" "${named[$part]}" \
			"alpha_step_rank, $part: -m block has Slurm's"
		job=$(submit -p $part -N2 -n8 --exclusive -w n22,n23 --comm-profile=all8 \
			-o alike.out --wrap "srun ./print.sh") && wait_ended "$job"
		placed "$job" "alpha_step_rank, $part: all orders are alike"
		is "$(decision "$job" .mapping_kept_default)" true \
			"alpha_step_rank, $part: Slurm's is kept"
		is "$(ranks "$home/alike.out")" "${named[$part]}" \
			"alpha_step_rank, $part: and is what they ran in"
	done
	is "${named[main]}" "n22 n22 n22 n22 n23 n23 n23 n23" \
		"alpha_step_rank: Slurm's order is by names"
	is "${named[other]}" "n23 n23 n23 n23 n22 n22 n22 n22" \
		"without it: by their coming"
	rm "$CLUSTER/etc/topology.yaml"
	cp "$CLUSTER/etc/flat.conf" "$SLURM_CONF"
	cluster_restart_ctld || fail "slurmctld without alpha_step_rank"
}

# A node that is switched on for a job.
cloud() {
	mkdir -p "$CLUSTER/spool/n18" "$CLUSTER/tmp/n18"
	sed "/^NodeName=n\[0-15\]/a NodeName=n18 NodeHostname=localhost NodeAddr=127.0.0.1 State=CLOUD $(node n18 23)" \
		"$SLURM_CONF" >"$CLUSTER/etc/cloud.conf" &&
		cp "$CLUSTER/etc/cloud.conf" "$SLURM_CONF"
	cluster_stop_ctld
	cluster_start_ctld && cluster_register && wait_for 30 node_is n18 'idle~'
	ok $? "cloud: a node that is switched off"
	cluster_others_up() { ! sinfo -h -N -o '%N %t' | grep -v n18 | grep -qv idle; }
	wait_for 30 cluster_others_up
	job=$(submit -N2 -n8 --exclusive -w n18 --comm-profile=pairs8 -o cloud.out \
		--wrap "srun ./print.sh")
	wait_ended "$job" 40
	ok $? "cloud: a job on a node that is switched on for it"
	runs "cloud: it was" grep -q n18 "$CLUSTER/resumed"
	like "$(job_hosts "$job")" 'n18' "cloud: has that node"
	like "$(outcome "$job")" '^(placed|stock) ' \
		"cloud: with a decision: $(outcome "$job")"
	is "$(ranks "$home/cloud.out")" "$(planned "$job")" "cloud: ranks as planned"
	cancel_all
}

# A job as a JSON document, over slurmrestd's socket.
rest() {
	local socket=$home/rest.socket version answer
	if ! type -P slurmrestd >/dev/null; then
		skip "slurmrestd" "this Slurm was built without it"
		return
	fi
	type -P curl >/dev/null || { skip slurmrestd "needs curl"; return; }
	rm -f "$socket"
	# It wants to be nobody that Slurm runs as.
	as_user slurmrestd -f "$SLURM_CONF" -s slurmctld "unix:$socket" \
		>"$CLUSTER/log/rest.log" 2>&1 </dev/null 3>&- 4>&- &
	rest_pid=$!
	on_exit "kill $rest_pid 2>/dev/null"
	wait_for 20 test -S "$socket"
	ok $? "slurmrestd" || {
		cluster_dump "$CLUSTER/log/rest.log"
		return
	}
	version=$(ls ${SLURM_STOCK_PLUGINS}/data_parser_v*.so | sort |
		sed -n '$s/.*data_parser_v\(.*\)_\(.*\)_\(.*\)\.so/v\1.\2.\3/p')
	cat >"$home/job.json" <<-JSON
	{ "job": { "name": "rest", "script": "#!/bin/bash\nsleep 100\n",
	    "current_working_directory": "$home", "user_id": "$CLUSTER_USER",
	    "minimum_nodes": 4, "maximum_nodes": 4, "tasks": 8,
	    "shared": ["none"], "environment": ["PATH=$PATH"],
	    "comment": "of JSON", "spank_environment": ["COMM_PROFILE=pairs8"] } }
	JSON
	answer=$(as_user curl -s --unix-socket "$socket" -H 'Content-Type: application/json' \
		--data-binary @job.json \
		"http://localhost/slurm/$version/job/submit")
	job=$(jq -r '.job_id // empty' <<<"$answer")
	[ -n "$job" ]
	ok $? "slurmrestd: a job" || diag "$answer"
	[ -n "$job" ] && wait_running "$job" || return
	placed "$job" "slurmrestd"
	commented "$job" "slurmrestd"
	like "$(as_user curl -s --unix-socket "$socket" \
		"http://localhost/slurm/$version/job/$job" |
		jq -r '.jobs[0].admin_comment')" 'commplace: ' \
		"slurmrestd: which it shows"
	cancel_all
	kill $rest_pid
}

async
external
external_nodes
expedited
rest
blocks
partitions
dynamic
by_name
cloud
cluster_check
done_testing
