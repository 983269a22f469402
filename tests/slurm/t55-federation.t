#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two clusters on one file system, each with its own StateDir: jobs that are sent to the
# other one (-M), and jobs of a federation, which wait on both and begin on either. The
# record is where the job began, and nowhere else. Accounting is a slurmdbd on a
# mariadbd of the test's own, which listens on a socket alone.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
. "${0%/*}/slurmdbd.bash"
CLUSTER_GROUPS=2
CLUSTER_NODE_PREFIX=e
CLUSTER_CRED_EXPIRE=6

# The second cluster is in a folder of the first one; ports from the 20th on.
west() {
	local CLUSTER=$CLUSTER/west CLUSTER_PORT=$((CLUSTER_PORT + 20))
	local CLUSTER_NODE_PREFIX=w NETWORK=$CLUSTER/etc/network.json
	local -x SLURM_CONF=$CLUSTER/etc/slurm.conf
	"$@"
}
east() { "$@"; }
name() { sed -n 's/^ClusterName=//p' "$SLURM_CONF"; }

# munged is there by now, and slurmctld needs what slurmdbd says.
cluster_write_conf() {
	accounting_conf
	mkdir -p "$CLUSTER"/west/{etc,state,log,run,spool,tmp,decisions}
	ln -s ../../run/munge.socket "$CLUSTER/west/run/munge.socket"
	ln -s ../home "$CLUSTER/west/home"
	plain_cluster_write_conf
	west plain_cluster_write_conf
	west cluster_network "$CLUSTER/west/etc/network.json"
	accounting_start
	# Clusters have the numbers 1 to 63, above which job ids begin: so many went
	# before that ids are beyond 2^31.
	before=$(printf 'gone%s,' {1..32})
	before=${before%,}
	sacctmgr -i -Q add cluster "$before,$(name),$(west name)" >/dev/null
}
west_stop() {
	local f
	for f in "$CLUSTER"/run/slurmd.*.pid "$CLUSTER/run/slurmctld.pid"; do
		cluster_kill "$f"
	done
}
cluster_start
on_exit 'west west_stop'
west_start() {
	local n
	for n in $(cluster_nodes); do
		mkdir -p "$CLUSTER/spool/$n"
		mkdir -p -m 1777 "$CLUSTER/tmp/$n"
	done
	cluster_start_ctld -c || {
		cluster_dump "$CLUSTER/log/slurmctld.log"
		bail "the second slurmctld does not start"
	}
	for n in $(cluster_nodes); do
		cluster_start_slurmd "$n"
	done
	wait_for 60 cluster_nodes_up
}
runs "a second cluster" west west_start
cluster_signature pairs8 8 pairs
cluster_signature ring8 8
here=$(name) there=$(west name)
diag "up in $SECONDS s" >&2

# has_record JOB
has_record() { ls -R "$CLUSTER/decisions" | grep -q "^$1\.json"; }
# began SIDE OTHER JOB NAME: the one has its record, the other knows nothing of it
began() {
	local side=$1 other=$2 job=$3 n
	is "$($side decision "$job" .outcome)" placed "$4: placed"
	is "$($side decision "$job" .job)" "$job" "$4: by its number"
	is "$(sorted "$($side decision "$job" '.hosts | join(" ")')")" \
		"$($side job_hosts "$job")" "$4: on its nodes"
	! $other has_record "$job"
	ok $? "$4: the other cluster has no record of it"
	$other runs "$4: nor a load" not_loaded "$job"
}
not_loaded() { [ -z "$(load_of "$1")" ]; }
loaded() { [ -n "$(load_of "$1")" ]; }

west snapshot
job=$(submit -M "$there" -N4 -n8 --exclusive --comm-profile=pairs8)
west wait_running "$job"
ok $? "sbatch -M: runs on the other cluster"
west expect_place "$job" "sbatch -M"
began west east "$job" "sbatch -M"
like "$(west commplace explain "$job" 2>&1)" "pairs8" "explain there knows it"
like "$(commplace explain "$job" 2>&1)" "no record of job" \
	"explain here does not: $(commplace explain "$job" 2>&1 | head -n 1)"
as_user scancel -M "$there" "$job"
west wait_ended "$job"
west comes_to "" load_of "$job"
ok $? "scancel -M: its load is gone"
as_user srun -M "$there" -N2 -n8 --ntasks-per-node=4 --comm-profile=pairs8 \
	bash -c "echo job \$SLURM_JOB_ID; $PRINT_RANK" >"$CLUSTER/srun.out" 2>&1
ok $? "srun -M" || cluster_dump "$CLUSTER/srun.out"
job=$(sed -n 's/^job //p' "$CLUSTER/srun.out" | head -n 1)
is "$(ranks "$CLUSTER/srun.out")" "$(west planned "$job")" "srun -M: ranks in the planned order"

# All of them are in one federation, then none but the two.
sacctmgr -i -Q add federation both "clusters=$before,$here,$there" >/dev/null &&
	sacctmgr -i -Q modify federation both set "clusters-=$before" >/dev/null
ok $? "a federation"
joined() {
	scontrol show federation 2>/dev/null | grep -q "^Sibling:.*$1:.*PersistConnSend/Recv:Yes/Yes"
}
{ wait_for 30 joined "$there" && west wait_for 30 joined "$here"; } ||
	cluster_dump "$CLUSTER/log/slurmctld.log"
ok $? "each cluster has the other as its sibling"
diag "federation in $SECONDS s" >&2

# squeue -j of 22.05 takes no number beyond 2^31, nor is it to ask the sibling.
job_field() {
	squeue --local -h -a -t all -O "JobID:20,$2:200" 2>/dev/null |
		sed -n "s/^$1  *//p" | head -n 1 | sed 's/ *$//'
}
# side_of JOB: where it runs
side_of() {
	local at
	for at in east west; do
		[ "$($at job_field "$1" State),$($at job_field "$1" BatchHost | cut -c1)" != \
			"RUNNING,${at:0:1}" ] || echo $at
	done
}
is_somewhere() { [ -n "$(side_of "$1")" ]; }
other_of() { [ "$1" = east ] && echo west || echo east; }

job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8)
[ "${job:-0}" -gt 2147483648 ]
ok $? "a job of the federation has a number beyond 2^31: $job"
runs "it runs on one of them" wait_for 60 is_somewhere "$job"
side=$(side_of "$job")
began "$side" "$(other_of "$side")" "$job" "a job of the federation"
$side runs "its load is there" loaded "$job"
as_user scancel "$job"
gone() { [ -z "$(side_of "$1")" ]; }
runs "scancel" wait_for 30 gone "$job"
$side comes_to "" load_of "$job"
ok $? "ends its load"

# One is full: the job of it goes to the other.
full=$(submit -M "$here" -N8 --exclusive)
wait_running "$full"
job=$(submit -N4 -n8 --exclusive --comm-profile=ring8)
runs "here all nodes are taken: a job runs" wait_for 60 is_somewhere "$job"
is "$(side_of "$job")" west "over there"
began west east "$job" "a job that began elsewhere"
west cluster_restart_ctld
ok $? "its slurmctld restarts"
west runs "and knows its load" wait_for 10 loaded "$job"
# It is queued again, and the nodes are free here only.
wait_for 30 joined "$there"
more=$(submit -M "$there" -N4 --exclusive)
west wait_running "$more"
as_user scancel "$full"
wait_ended "$full"
last=$(submit -M "$there" -N4 -n8 --exclusive --comm-profile=pairs8)
scontrol requeue "$job"
ok $? "scontrol requeue"
began_here() { [ "$(side_of "$job")" = east ]; }
runs "it begins here, what waited over there has its nodes" \
	wait_for 180 began_here
is "$(decision "$job" .outcome)" placed "requeued: placed"
is "$(sorted "$(decision "$job" '.hosts | join(" ")')")" "$(job_hosts "$job")" \
	"requeued: on its nodes"
runs "requeued: its load is here" loaded "$job"
west runs "and no more over there" wait_for 10 not_loaded "$job"
west runs "where another has begun" wait_for 30 loaded "$last"
diag "all in $SECONDS s" >&2
for side in east west; do
	$side cancel_all
	$side cluster_check
done
done_testing
