#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Wishes beside nodes and tasks: GRES, features, licences, shared nodes, nodes of
# one user, gang scheduling, nodes that are powered down or in a cloud. The table
# in doc/admin-guide.md says what a job with a profile gets.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
CLUSTER_NODE_EXTRA="Gres=gpu:2"
CLUSTER_PARTITIONS="PartitionName=main Nodes=n[0-15] Default=YES MaxTime=INFINITE State=UP
PartitionName=shared Nodes=n[0-3] MaxTime=INFINITE OverSubscribe=FORCE:2 State=UP
PartitionName=yes Nodes=n[0-3] MaxTime=INFINITE OverSubscribe=YES:2 State=UP
PartitionName=alone Nodes=n[0-7] MaxTime=INFINITE OverSubscribe=EXCLUSIVE State=UP"
power=$(mktemp -d)
chmod 755 "$power"
on_exit 'rm -rf "$power"'
CLUSTER_EXTRA="GresTypes=gpu
Licenses=solver:4
PreemptMode=SUSPEND,GANG
PreemptType=preempt/partition_prio
SchedulerTimeSlice=5
SuspendProgram=$power/suspend
ResumeProgram=$power/resume
SuspendTime=3600
SuspendTimeout=3
ResumeTimeout=60
NodeName=c[0-1] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[@CLOUD@] CPUs=4 Sockets=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=1000 State=CLOUD
PartitionName=cloud Nodes=c[0-1] MaxTime=INFINITE State=UP"
# Ports are known when the configuration is written.
eval "plain_$(declare -f cluster_write_conf)"
cluster_write_conf() {
	CLUSTER_EXTRA=${CLUSTER_EXTRA/@CLOUD@/$((CLUSTER_PORT + 30))-$((CLUSTER_PORT + 31))}
	plain_cluster_write_conf
	cluster_network "$NETWORK" "n[0-13],c[0-1]"
	# No GPUs, but as many devices.
	printf 'NodeName=n[0-15] Name=gpu File=%s\n' /dev/null /dev/zero \
		>"$CLUSTER/etc/gres.conf"
	cat >"$power/suspend" <<-END2
	#!/bin/bash
	export SLURM_CONF=$SLURM_CONF
	for n in \$(scontrol show hostnames "\$1"); do
		kill "\$(cat $CLUSTER/run/slurmd.\$n.pid)"
	done
	END2
	cat >"$power/resume" <<-END2
	#!/bin/bash
	export SLURM_CONF=$SLURM_CONF PATH=$PATH
	# A slurmd that began in the second of the request counts, now and then, as
	# one from before it, and its node as not booted.
	sleep 2
	for n in \$(scontrol show hostnames "\$1"); do
		# The former one has its port until it is gone.
		pid=\$(cat $CLUSTER/run/slurmd.\$n.pid 2>/dev/null)
		while [ -n "\$pid" ] && kill -0 "\$pid" 2>/dev/null; do
			sleep 0.1
		done
		mkdir -p -m 1777 $CLUSTER/spool/\$n $CLUSTER/tmp/\$n
		(exec slurmd -b -N "\$n" -f $SLURM_CONF) \
			>>$CLUSTER/log/slurmd.\$n.out 2>&1 </dev/null
	done
	END2
	chmod 755 "$power"/*
}
# Those in the cloud are not up yet.
cluster_nodes_up() {
	! sinfo -h -N -p main -o %t 2>/dev/null | grep -qvE '^(idle|mix|alloc)$'
}
cluster_start
cluster_signature pairs8 8 pairs
cluster_signature ring8 8

# stays NAME: the job is placed, on nodes of `commplace place` among SNAP_FREE
placed() { # NAME SBATCH-OPTION...
	local name=$1
	shift
	job=$(submit "$@") && wait_running "$job" 60 ||
		{ fail "$name: runs"; return 1; }
	expect_place "$job" "$name"
}
among() { # HOSTS: SNAP_FREE without others
	snapshot
	SNAP_FREE=$(expand "$1")
}
# n14 and n15 are not in the network.

# GRES: nodes that have them free, and the job gets as many as without us.
hold=$(submit -N4 -n4 -w n0,n2,n4,n6 --gres=gpu:2)
wait_running "$hold"
ok $? "some GPUs are taken"
among 'n[1,3,5,7-13]'
placed "--gres" -N4 -n8 --gres=gpu:1 --comm-profile=pairs8
like "$(scontrol -d show job "$job")" "GRES=gpu:1" "--gres: the GPUs are the job's"
big=$(submit -N11 -n11 --gres=gpu:1 --comm-profile=pairs8 -w "$(fold "$(job_hosts "$job")")" -t 1)
is "$(job_state "$job")" RUNNING "--gres: beside another job's GPUs"
scancel "$big"
cancel_all

# Features.
scontrol update nodename='n[2-3,6-7,9,12]' availablefeatures=fast activefeatures=fast
fast() { [ "$(sinfo -h -N -p main -o '%N %f' | grep -c fast)" = 6 ]; }
wait_for 10 fast
among 'n[2-3,6-7,9,12]'
placed "--constraint" -N4 -n8 --exclusive -C fast --comm-profile=pairs8
cancel_all
# So many nodes with it: counted by Slurm, which asks for each count apart.
job=$(submit -N4 -n8 --exclusive -C 'fast*2' --comm-profile=pairs8)
wait_running "$job"
ok $? "--constraint=fast*2: runs"
n=$(job_hosts "$job" | tr ' ' '\n' | grep -cxE 'n(2|3|6|7|9|12)')
[ "$n" -ge 2 ]
ok $? "--constraint=fast*2: on two such nodes at least ($n)"
is "$(job_hosts "$job" | wc -w)" 4 "--constraint=fast*2: of four in all"
cancel_all
scontrol update nodename='n[0-15]' availablefeatures= activefeatures=

# Licences.
among 'n[0-13]'
placed "-L" -N4 -n8 --exclusive -L solver:3 --comm-profile=pairs8
next=$(submit -N4 -n8 --exclusive -L solver:2 --comm-profile=pairs8)
other=$(submit -N2 -n8 --exclusive --comm-profile=ring8)
wait_running "$other"
ok $? "-L: a job that needs none passes"
comes_to Licenses job_field "$next" Reason
# The backfill of 23.11 takes the reason off.
[ "$CLUSTER_SERIES" -ne 2311 ] || [ "$COME" != None ] || COME=Licenses
is "$(job_state "$next")/$COME" PENDING/Licenses "-L: one that lacks some waits"
first=$job
scancel "$first"
wait_running "$next" 60
ok $? "-L: and starts when they are back"
is "$(decision "$next" .outcome)" placed "-L: placed"
cancel_all

# Nodes of one user.
hold=$(submit -N2 -n2 -w n3,n8 --exclusive=user)
wait_running "$hold"
alone=$(submit -N2 -n2 --exclusive=user)
wait_running "$alone"
stock=$(job_hosts "$alone")
scancel "$alone"
gone() { ! squeue -h -j "$alone" 2>/dev/null | grep -q .; }
wait_for 30 gone
job=$(submit -N2 -n2 --exclusive=user --comm-profile=pairs8)
wait_running "$job"
is "$(job_hosts "$job")" "$stock" \
	"--exclusive=user: packed with the user's other jobs, as without a profile"
cancel_all

# Partitions of whole nodes.
hold=$(submit -p alone -N2 -n2 -w n0,n3)
wait_running "$hold"
snapshot
SNAP_FREE=$(expand 'n[1-2,4-7]')
placed "OverSubscribe=EXCLUSIVE" -p alone -N4 -n8 --comm-profile=pairs8
like "$(scontrol show job "$job")" "NumCPUs=16" "and all of their CPUs"
cancel_all

# Shared CPUs: free ones by our choice; where there are none Slurm stacks jobs.
among 'n[0-3]'
placed "OverSubscribe=FORCE, free nodes" -p shared -N2 -n8 --comm-profile=pairs8
second=$(submit -p shared -N4 -n16 --comm-profile=pairs8)
wait_running "$second" 60
ok $? "OverSubscribe=FORCE: one job on another's CPUs runs"
is "$(job_hosts "$second")" "n0 n1 n2 n3" "on all nodes of the partition"
like "$(decision "$second" '.outcome + " " + .reason')" "^stock ." \
	"OverSubscribe=FORCE: Slurm's choice, and why is on record"
# Gang: one of the two is suspended at a time, and none is lost.
turns() {
	local state
	state=$(job_state "$job")
	[ "$state" = "$1" ]
}
if wait_for 60 turns SUSPENDED; then
	pass "gang scheduling: the first gives way"
	wait_for 60 turns RUNNING
	ok $? "and goes on"
else
	fail "gang scheduling: the first gives way"
fi
cancel_all
hold=$(submit -p yes -N4 -n16 --oversubscribe)
wait_running "$hold"
second=$(submit -p yes -N2 -n8 --oversubscribe --comm-profile=pairs8)
wait_running "$second" 60
ok $? "OverSubscribe=YES, --oversubscribe: runs on another's CPUs"
like "$(decision "$second" '.outcome')" "^stock" "as Slurm stacks it"
cancel_all

# Powered down: others first; if they are needed they are booted.
scontrol update nodename='n[0-3]' state=power_down
slept() { [ "$(sinfo -h -N -p main -o '%N %t' | grep -c 'idle~')" = 4 ]; }
wait_for 60 slept
ok $? "four nodes are powered down" || diag "$(sinfo -h -N -p main -o '%N %t')"
among 'n[4-13]'
job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8)
wait_running "$job" 60
unlike " $(job_hosts "$job") " " n[0-3] " "power saving: none of them is booted for four"
is "$(decision "$job" .outcome)" placed "power saving: placed"
cancel_all
snapshot
job=$(submit -N14 -n14 --exclusive --comm-profile=pairs8)
wait_running "$job" 90
ok $? "power saving: nodes are booted for a job that needs them"
is "$(job_hosts "$job" | wc -w)" 14 "power saving: it has its nodes"
cancel_all

# In a cloud: not there until a job needs them.
job=$(submit -p cloud -N2 -n8 --comm-profile=pairs8)
wait_running "$job" 90
ok $? "cloud nodes are started for a job"
is "$(job_hosts "$job")" "c0 c1" "cloud nodes: it has them"
like "$(decision "$job" '.outcome + " " + .reason')" "^(placed|stock) " \
	"cloud nodes: the decision is on record"
cancel_all
for n in c0 c1; do
	cluster_kill "$CLUSTER/run/slurmd.$n.pid"
done
cluster_check
done_testing
