#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The scheduler's other ways: backfill, preemption, requeue, suspend, resize.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
CLUSTER_PARTITIONS="PartitionName=main Nodes=n[0-15] Default=YES MaxTime=INFINITE State=UP PriorityTier=1
PartitionName=urgent Nodes=n[0-15] MaxTime=INFINITE State=UP PriorityTier=10"
CLUSTER_EXTRA="PreemptType=preempt/partition_prio
PreemptMode=REQUEUE"
CLUSTER_CRED_EXPIRE=10
CLUSTER_SITE="OrderReaches=yes"
cluster_start
cluster_signature ring8 8
cluster_signature pairs8 8 pairs

# Backfill: the first in the queue needs all nodes; a short one goes before it.
long=$(submit -N10 --exclusive -t 60)
wait_running "$long"
snapshot
blocked=$(submit -N16 --exclusive -t 60)
small=$(submit -N3 -n8 --exclusive -t 5 --comm-profile=pairs8)
wait_running "$small" 40
ok $? "a short job is backfilled"
is "$(job_state "$blocked")" PENDING "past the one that waits for all nodes"
expect_place "$small" "backfill"
toolong=$(submit -N3 -n8 --exclusive -t 120 --comm-profile=pairs8)
sleep 6
is "$(job_state "$toolong")" PENDING "a longer one would delay it and waits"
start=$(job_field "$blocked" StartTime)
like "$start" "^20" "the blocked job has an expected start"
scancel "$small" "$toolong" "$long"
wait_running "$blocked" 40
ok $? "the blocked job starts when the nodes are free"
cancel_all

# Preemption: an urgent job takes the nodes of one that can be run again.
low=$(submit -N14 -n14 --exclusive --requeue)
wait_running "$low"
high=$(submit -p urgent -N6 -n8 --exclusive --comm-profile=ring8)
wait_running "$high" 60
ok $? "an urgent job preempts"
isnt "$(job_state "$low")" RUNNING "the other one has lost its nodes"
is "$(job_hosts "$high" | wc -w)" 6 "on six nodes"
cancel_all

# Requeue: the second run is decided anew, with its ranks where they were.
job=$(submit -N4 -n8 --exclusive --requeue --comm-profile=pairs8)
wait_running "$job"
again() {
	job_is "$job" RUNNING && [ "$(decision "$job" .time)" != "$first" ]
}
requeue() { # [NODE that fails meanwhile]
	first=$(decision "$job" .time)
	layout=$(decision "$job" '[.hosts, .rank_host] | tojson')
	sleep 1.1
	scontrol requeue "$job"
	[ -z "${1:-}" ] || scontrol update nodename="$1" state=drain reason=test
	wait_for 180 again
}
requeue
ok $? "a requeued job is placed once more"
is "$(decision "$job" '.policy, ([.hosts, .rank_host] | tojson)')" "repair
$layout" "where it was, with its ranks"
like "$(commplace explain "$job")" \
	"run before +was on .*, where its ranks stay; " "explain says so"
gone=$(decision "$job" '.hosts[1]')
requeue "$gone"
ok $? "and once more without one of its nodes"
if [ "$(decision "$job" .policy)" = repair ]; then
	is "$(decision "$job" '[.hosts, .rank_host] | tojson' |
		sed "s/\"$(decision "$job" '.hosts[1]')\"/\"$gone\"/")" "$layout" \
		"the other ranks stay where they are"
else
	is "$(decision "$job" '.former_worse > 0.02')" true \
		"a fresh plan is better by more than that"
fi
like "$(commplace replay "$CLUSTER/decisions" | tail -n 1)" "^[0-9]+ equal, 0 different, 0 not" \
	"the decision can be made again"
scontrol update nodename="$gone" state=resume
is_idle() { [ "$(sinfo -h -n "$gone" -o %t)" = idle ]; }
wait_for 30 is_idle
is "$(sorted "$(decision "$job" '.hosts | join(" ")')")" "$(job_hosts "$job")" \
	"and runs where decided"
# What others see of it is its second run alone.
snapshot
beside=$(submit -N4 -n8 --exclusive --comm-profile=ring8)
wait_running "$beside"
is "$(decision "$beside" '.background | join(" ")')" "$job" \
	"it is the background of the next job"
expect_place "$beside" "beside a requeued job"
is "$(decision "$beside" '.run_seconds == 1')" true \
	"which sees what is sent in its own run"
is "$(decision "$beside" '.seconds >= .alone_seconds and .alone_seconds > 0')" true \
	"and is told how long it communicates"
cancel_all

# Suspend and resume.
job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8)
wait_running "$job"
hosts=$(job_hosts "$job")
scontrol suspend "$job" && wait_state "$job" SUSPENDED && scontrol resume "$job" &&
	wait_running "$job"
ok $? "a placed job is suspended and resumed"
is "$(job_hosts "$job")" "$hosts" "on its nodes"
cancel_all

# Resize: the job gives back nodes and goes on.
cat >"$CLUSTER/home/resize.sh" <<'END'
#!/bin/bash
scontrol update JobId="$SLURM_JOB_ID" NumNodes=2
. ./slurm_job_"$SLURM_JOB_ID"_resize.sh
srun sh -c 'echo step $SLURMD_NODENAME' && sleep 300
END
job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8 -o resize.out resize.sh)
wait_running "$job"
smaller() { [ "$(job_hosts "$job" | wc -w)" = 2 ]; }
wait_for 20 smaller
ok $? "a placed job shrinks to two nodes"
stepped() { grep -q '^step' "$CLUSTER/home/resize.out"; }
wait_for 20 stepped
ok $? "and runs a step there"
# Each task writes when it gets there.
stepped_on() {
	grep '^step' "$CLUSTER/home/resize.out" | cut -d' ' -f2 | sort -uV | paste -sd' '
}
comes_to "$(job_hosts "$job")" stepped_on
ok $? "on the nodes it kept"
# Its signature says nothing of so few nodes: those given back and those kept
# are no background any more. The former are idle, says sinfo, before slurmctld
# gives them to a job: jobs come and go until one could have had all 14.
could_have_all() {
	snapshot
	beside=$(submit -N4 -n8 --exclusive --comm-profile=ring8)
	wait_running "$beside" &&
		[ "$(expand "$(decision "$beside" .free_hosts)" | wc -w)" = 14 ] &&
		return
	scancel "$beside"
	return 1
}
wait_for 60 could_have_all
ok $? "the nodes that it gave back are another's to have"
is "$(decision "$beside" '.background | length')" 0 \
	"a job that shrank is no background"
expect_place "$beside" "beside a job that shrank"
cancel_all

cluster_check
done_testing
