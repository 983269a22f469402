#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One line of any user with numbers and texts that nobody can mean, --overcommit
# being as large as they like: slurmctld, held to 1 GiB, goes on with as much memory
# as the stock plugin's for the same line, also when it finds the job in its saved
# state.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
CLUSTER_DEBUG_FLAGS=
CLUSTER_SITE="MappingWithoutProfile=network-order"
# Of a process that is moved there; where there are no groups of memory (v1), its
# data: address space would count what malloc only reserves for threads.
group=/sys/fs/cgroup/memory/commplace-$$
if mkdir "$group" 2>/dev/null; then
	on_exit 'rmdir "$group" 2>/dev/null'
	echo 1G >"$group/memory.limit_in_bytes"
	limited() {
		echo $BASHPID >"$group/cgroup.procs"
		exec "$@"
	}
else
	limited() {
		ulimit -d 1048576
		exec "$@"
	}
fi
CLUSTER_CTLD_WRAP=limited
cluster_start
cluster_signature pairs8 8 pairs
most_kib() {
	awk '$1 == "VmHWM:" { print $2 }' \
		"/proc/$(cat "$CLUSTER/run/slurmctld.pid")/status"
}
# reset_most: what has been needed so far is forgotten
reset_most() {
	echo 5 >"/proc/$(cat "$CLUSTER/run/slurmctld.pid")/clear_refs"
}
# near STOCK NAME: slurmctld lives, and has not needed 20 MB more
near() {
	local most
	runs "$2: slurmctld lives" wait_for 60 cluster_ping
	most=$(most_kib)
	[ "$most" -lt $(($1 + 20000)) ]
	ok $? "$2: $most KiB, stock $1, within 20,000"
}

# What the line takes of the stock plugin.
big=(-N2 -n200000000 --overcommit)
of_stock() {
	cluster_stop_ctld
	sed -i "s|^SelectType=.*|SelectType=select/$1|" "$SLURM_CONF"
	cluster_start_ctld && wait_for 30 cluster_nodes_up
}
runs "a slurmctld without commplace" of_stock cons_tres
reset_most
job=$(submit "${big[@]}")
# Nodes of 22.05 may not run what another SelectType has started.
wait_state "$job" "RUNNING COMPLETING COMPLETED FAILED"
ok $? "the line is started there"
stock=$(most_kib)
scancel "$job"
runs "and one with it" of_stock cons_tres_commplace
cancel_all

reset_most
job=$(submit "${big[@]}" --comm-profile=none --rank-mapping=linear)
wait_running "$job"
ok $? "the line runs without a profile"
near "$stock" "without a profile"
scancel "$job"

while IFS='|' read -r what options; do
	reset_most
	# shellcheck disable=SC2086
	job=$(submit $options)
	wait_running "$job" 20
	ok $? "$what: the job runs"
	near "$stock" "$what"
	scancel "$job"
	cancel_all
done <<-END
	a profile of 8 ranks|${big[*]} --comm-profile=pairs8
	a policy as well|${big[*]} --comm-profile=pairs8 --placement-policy=linear
	a policy alone|${big[*]} --placement-policy=random-nodes
	an order of ranks alone|${big[*]}
	fifty million|-N2 -n50000000 --overcommit --comm-profile=pairs8
	more than Slurm counts on a node|-N2 -n131071 -O --placement-policy=linear
	the end of what sbatch reads|-N2 -n2147483646 -O --comm-profile=pairs8
	parts of a whole|${big[*]} --comm-profile=pairs8 : ${big[*]}
	an array|${big[*]} --comm-profile=pairs8 --array=1-4
END
# What Slurm refuses, or keeps for a machine that is larger.
long=$(printf 'x%.0s' {1..100000})
parts=$(printf -- '-n1 --comm-profile=pairs8 : %.0s' {1..40})
while IFS='|' read -r what options; do
	reset_most
	# shellcheck disable=SC2086
	as_user timeout 60 sbatch --wrap='sleep 1' $options \
		>"$CLUSTER/said" 2>&1 </dev/null
	ok $(($? == 124)) "$what: sbatch has its answer"
	[ "$(grep 'commplace: ' "$CLUSTER/said" | wc -L)" -lt 1024 ]
	ok $? "$what: which is short where it is ours"
	sleep 1
	near "$stock" "$what"
	cancel_all
done <<-END
	CPUs of a task|-N2 -n2 -c2147483647 --comm-profile=pairs8
	as many as 16 bits hold|-N2 -n2 -c65533 -O --comm-profile=pairs8
	tasks of a node|-N2 --ntasks-per-node=2147483647 -O --comm-profile=pairs8
	as many on two nodes|-N2 --ntasks-per-node=65533 -O --comm-profile=pairs8
	tasks of a socket|-N2 -n8 --ntasks-per-socket=2147483647 --comm-profile=pairs8
	tasks of a core|-N2 -n8 --ntasks-per-core=2147483647 --comm-profile=pairs8
	nodes|-N2147483647 --comm-profile=pairs8
	up to so many nodes|-N1-2147483647 -n8 --comm-profile=pairs8
	a plane|-N2 -n131070 -O -m plane=65533 --comm-profile=pairs8
	a plane of one|-N2 -n131071 -O -m plane=1
	elements of an array|-N2 -n8 --array=0-2147483647 --comm-profile=pairs8
	an element's number|-N2 -n8 --array=2147483646 --comm-profile=pairs8
	many parts|$parts -n1
	a profile's name|-N2 -n8 --comm-profile=$long
	a policy's name|-N2 -n8 --placement-policy=$long
	an order's name|-N2 -n8 --rank-mapping=$long
	a recording's name|-N2 -n8 --comm-record=$long
	a job's name|-N2 -n8 --comm-profile=pairs8 -J $long
END
is "$(find "$CLUSTER/decisions" -name '*.json' -size +64k | wc -l)" 0 \
	"no record of a decision is large"

# Slurm's own layout of more tasks in planes than it counts on a node never ends;
# from 26.05 on slurmctld makes one of each batch job.
planes=(-N2 -O -m plane=1)
as_user sbatch -n131071 "${planes[@]}" --wrap='sleep 1' >"$CLUSTER/said" 2>&1
ok $(($? == 0)) "more tasks in planes than Slurm counts are refused"
like "$(cat "$CLUSTER/said")" "131071 tasks on 2 nodes.*another distribution" \
	"with the reason and what to do"
job=$(submit -H -n8 "${planes[@]}")
as_user scontrol update "jobid=$job" numtasks=131071 >"$CLUSTER/said" 2>&1
ok $(($? == 0)) "and as many of a pending job"
like "$(scontrol show job "$job")" "NumTasks=8 " "which stays as it was"
as_user scontrol release "$job"
wait_running "$job"
ok $? "and runs"
near "$stock" "tasks in planes"
cancel_all

# In the saved state.
job=$(submit -H "${big[@]}" --comm-profile=pairs8 --placement-policy=linear)
runs "slurmctld starts again" cluster_restart_ctld
reset_most
scontrol release "$job"
wait_running "$job"
ok $? "released there, the job runs"
near "$stock" "after a restart"
like "$(decision "$job" .reason)" "200000000 ranks are too many" "it says why"
runs "and once more, while it runs" cluster_restart_ctld
near "$stock" "with it running"
cancel_all

# What fits is placed as ever.
job=$(submit -N2 -n8 --comm-profile=pairs8)
wait_running "$job"
is "$(decision "$job" .outcome)" placed "a job of 8 ranks is placed"
cancel_all
cluster_check
done_testing
