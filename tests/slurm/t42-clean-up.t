#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Steps that end in every way, also while slurmd is restarted, leave no cgroup,
# no process and no file behind. COMMPLACE_TEST_LAUNCHES (default 60) of them;
# 1000 take about a quarter of an hour.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
CLUSTER_GROUPS=1 CLUSTER_ROWS=1 CLUSTER_HONEST=yes CLUSTER_JOB_SUBMIT=
CLUSTER_NODE_PREFIX=k
CLUSTER_TASK=task/commplace,task/affinity,task/cgroup
launches=${COMMPLACE_TEST_LAUNCHES:-60}
# Of them jobs, for each of four endings, at most eight at a time.
jobs=$((launches / 100 > 2 ? launches / 100 : 2))

cluster_needs_cpusets
# linuxproc, the others' plugin, loses sight of processes that leave their session.
eval "plain_$(declare -f cluster_write_conf)"
cluster_write_conf() {
	plain_cluster_write_conf
	sed -i 's|^ProctrackType=.*|ProctrackType=proctrack/cgroup|
		/^PartitionName=real/s|$| OverSubscribe=FORCE:8|' "$SLURM_CONF"
}
on_exit 'find /sys/fs/cgroup/*/slurm_h0 -depth -type d -exec rmdir {} + 2>/dev/null'
cluster_start
cluster_signature pairs2 2 ring
uid=$(id -u "$CLUSTER_USER")
own=/sys/fs/cgroup/cpuset/slurm_h0/uid_$uid

# Of each hierarchy: proctrack/cgroup has the freezer.
groups_left() {
	find /sys/fs/cgroup/*/slurm_h0/uid_"$uid" -mindepth 1 -type d 2>/dev/null
}
no_groups() { [ -z "$(groups_left)" ]; }
# From 23.02 on batch scripts have one, too.
no_task_groups() { ! groups_left | grep -q '/step_[0-9]*/task_'; }
no_processes() { [ -z "$(cluster_processes)" ]; }
# Of steps and jobs: sockets of slurmstepd, hardware trees, scripts.
files() {
	find "$CLUSTER/spool/h0" \( -name 'h0_[0-9]*' -o \
		-name 'hwloc_topo_[0-9]*' -o -name 'job[0-9]*' \)
}
no_files() { [ -z "$(files)" ]; }
# A task has the title of its slurmstepd until it runs the program.
stepd() { pgrep -o -f "^slurmstepd: \[$1\]"; }
bound() { find "$own" -path "*job_$1/*/task_1" 2>/dev/null | grep -q .; }
clean() {
	runs "$1: no cgroup" wait_for 15 no_groups || diag "$(groups_left)"
	runs "$1: no process" wait_for 10 no_processes || diag "$(cluster_processes)"
}

# Every other time into the foreground, as systemd has it.
starts=0
restart_slurmd() { # COMMAND...: while there is none
	local file=$CLUSTER/run/slurmd.h0.pid
	cluster_kill "$file"
	"$@"
	starts=$((starts + 1))
	if ((starts % 2)); then
		(slurmd -D -N h0 -f "$SLURM_CONF" \
			>>"$CLUSTER/log/slurmd.h0.out" 2>&1 </dev/null 3>&- 4>&- &)
		wait_for 20 [ -s "$file" ]
	else
		cluster_start_slurmd h0
	fi
}
node_answers() { sinfo -h -n h0 -o %t | grep -qE '^(idle|mix|alloc|comp)$'; }

# Most of them in one job: to their end, killed by signals, cancelled; every
# twentieth runs while slurmd is restarted.
cat >"$CLUSTER/home/many.sh" <<'END'
#!/bin/bash
export SLURM_OVERLAP=1
sleeper() {
	srun -n2 sleep 300 &
	until squeue -h -s -j "$SLURM_JOB_ID" -t running -o %i |
		grep -q "\.$1$"; do sleep 0.05; done
}
for ((i = 0; i < $1; i++)); do
	case $((i % 20 == 19 ? 6 : i % 6)) in
	0 | 1 | 2) srun -n2 true ;;
	3) srun -n2 bash -c 'kill -9 $$' ;;
	4) srun -n2 bash -c 'setsid sleep 300 >/dev/null 2>&1 </dev/null & exit 1' ;;
	5)
		sleeper $i
		scancel "$SLURM_JOB_ID.$i"
		wait $!
		;;
	6)
		sleeper $i
		echo $i >pause.new && mv pause.new pause
		while [ -e pause ]; do sleep 0.05; done
		scancel "$SLURM_JOB_ID.$i"
		# Without its slurmstepd it would wait.
		pid=$!
		(sleep 5; kill -9 $pid) &
		wait $pid
		;;
	esac
	echo "$i $?" >>many.out
done
END
chmod 755 "$CLUSTER/home/many.sh"
steps=$((launches - 4 * jobs - 1))
job=$(submit -p real -n2 --comm-profile=pairs2 -o /dev/null -e /dev/null \
	--wrap "./many.sh $steps")
restarts=0
ended_or_paused() {
	[ -e "$CLUSTER/home/pause" ] ||
		job_is "$job" "COMPLETED FAILED CANCELLED TIMEOUT NODE_FAIL"
}
while wait_for $((60 + steps * 2)) ended_or_paused &&
	step=$(cat "$CLUSTER/home/pause" 2>/dev/null); do
	# One is killed with slurmd, one after it, one is not.
	case $((restarts % 3)) in
	0) restart_slurmd kill -9 "$(stepd "$job.$step")" ;;
	1)
		restart_slurmd true
		kill -9 "$(stepd "$job.$step")"
		;;
	2) restart_slurmd true ;;
	esac
	wait_for 30 node_answers || {
		cluster_dump "$CLUSTER/log/slurmd.h0.out"
		cluster_dump "$CLUSTER/log/slurmd.h0.log"
	} >&2
	restarts=$((restarts + 1))
	rm "$CLUSTER/home/pause"
done
wait_ended "$job"
is "$(wc -l <"$CLUSTER/home/many.out")" "$steps" \
	"$steps steps were launched, slurmd restarted $restarts times"
is "$(grep -c "StepId=$job\.[0-9]*: bound by" "$CLUSTER/log/slurmd.h0.log")" \
	"$steps" "and bound"
clean "steps that end, crash, are cancelled or lose slurmd"

start() { # SBATCH-OPTIONS: jobs with a step of two tasks each
	local job
	started=()
	for ((i = 0; i < 8 && i < left; i++)); do
		started+=("$(submit -p real -n2 --comm-profile=pairs2 "$@" \
			-o /dev/null --wrap "srun sleep 300")")
	done
	left=$((left - i))
	for job in "${started[@]}"; do
		wait_running "$job"
		wait_for 60 bound "$job"
	done
}
each() { # COMMAND...: with each started job
	local job
	for job in "${started[@]}"; do
		"$@" "$job"
	done
}
limit() { scontrol update JobId="$1" EndTime=now+5; }
kill_stepd() { kill -9 "$(stepd "$1.0")"; }
is_cancelled() { wait_state "$1" CANCELLED 60; }
is_late() { wait_state "$1" TIMEOUT 90; }
for ((left = jobs; left > 0;)); do
	start
	each scancel
	each is_cancelled
done
clean "scancel of $jobs jobs"
for ((left = jobs; left > 0;)); do
	start -t 9
	each limit
	each is_late
done
clean "time limit of $jobs jobs"
for ((left = jobs; left > 0;)); do
	start
	each kill_stepd
	wait_for 60 no_task_groups
	ok $? "slurmstepd killed: no cgroup of the steps" || diag "$(groups_left)"
	each scancel
	each wait_ended
done
clean "slurmstepd of $jobs jobs killed"
for ((left = jobs; left > 0;)); do
	start
	restart_slurmd each kill_stepd
	wait_for 60 no_task_groups
	ok $? "without slurmd: no cgroup of the steps" || diag "$(groups_left)"
	each scancel
	each wait_ended
done
clean "slurmstepd of $jobs jobs killed while slurmd was down"
wait_for 5 grep -q 'commplace: .*slurmstepd is gone' "$CLUSTER/log/slurmd.h0.log"
ok $? "slurmd logged it"

left=1
start --no-requeue
scontrol update NodeName=h0 State=down Reason=test
wait_state "${started[0]}" "NODE_FAIL FAILED CANCELLED"
clean "node failure"
# It may have come back by itself.
scontrol update NodeName=h0 State=resume 2>/dev/null
node_idle() { [ "$(sinfo -h -n h0 -o %t)" = idle ]; }
wait_for 60 node_idle || diag "$(sinfo -N -n h0 -o '%T %E')"
runs "no file is left in slurmd's spool folder" wait_for 20 no_files ||
	diag "$(files)"
is "$(find "$CLUSTER/home" -mindepth 1 -name 'slurm-*' -prune -o -type f -print |
	sort | xargs -n1 basename | paste -sd' ')" "many.out many.sh" \
	"nor is one in the user's folder"
cluster_check
done_testing
