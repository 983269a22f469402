#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Steps that end in every way leave no cgroup, no process and no file behind.
# COMMPLACE_TEST_LAUNCHES (default 48) of them; 1000 take some minutes.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
CLUSTER_GROUPS=1 CLUSTER_ROWS=1 CLUSTER_HONEST=yes CLUSTER_JOB_SUBMIT=
CLUSTER_SELECT=cons_tres CLUSTER_NODE_PREFIX=k
CLUSTER_TASK=task/commplace,task/affinity,task/cgroup
launches=${COMMPLACE_TEST_LAUNCHES:-48}

if [ ! -d /sys/fs/cgroup/cpuset ] || [ "$(nproc)" -lt 2 ]; then
	echo "1..0 # SKIP needs a cpuset hierarchy (cgroup v1) and two CPUs"
	tap_done=1
	exit 0
fi
# linuxproc, the others' plugin, loses sight of processes that leave their session.
eval "plain_$(declare -f cluster_write_conf)"
cluster_write_conf() {
	plain_cluster_write_conf
	sed -i 's|^ProctrackType=.*|ProctrackType=proctrack/cgroup|' "$SLURM_CONF"
}
on_exit 'find /sys/fs/cgroup/*/slurm_h0 -depth -type d -exec rmdir {} + 2>/dev/null'
cluster_start
cluster_signature pairs2 2 ring
own=/sys/fs/cgroup/cpuset/slurm_h0/uid_$(id -u "$CLUSTER_USER")

groups_left() { find "$own" -mindepth 1 -type d 2>/dev/null; }
no_groups() { [ -z "$(groups_left)" ]; }
no_task_groups() { ! groups_left | grep -q task_; }
processes_left() { pgrep -u "$CLUSTER_USER"; }
no_processes() { [ -z "$(processes_left)" ]; }
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
	runs "$1: no process" wait_for 10 no_processes || diag "$(processes_left)"
}

# Most of them in one job: to their end, killed by signals, cancelled.
cat >"$CLUSTER/home/many.sh" <<'END'
#!/bin/bash
for ((i = 0; i < $1; i++)); do
	case $((i % 6)) in
	0 | 1 | 2) srun -n2 true ;;
	3) srun -n2 bash -c 'kill -9 $$' ;;
	4) srun -n2 bash -c 'setsid sleep 300 >/dev/null 2>&1 </dev/null & exit 1' ;;
	5)
		srun -n2 sleep 300 &
		until squeue -h -s -j "$SLURM_JOB_ID" -t running -o %i |
			grep -q "\.$i$"; do sleep 0.05; done
		scancel "$SLURM_JOB_ID.$i"
		wait $!
		;;
	esac
	echo "$i $?" >>many.out
done
END
chmod 755 "$CLUSTER/home/many.sh"
job=$(submit -p real -n2 --comm-profile=pairs2 -o /dev/null -e /dev/null \
	--wrap "./many.sh $launches")
wait_ended "$job" $((60 + launches * 2))
is "$(wc -l <"$CLUSTER/home/many.out")" "$launches" "$launches steps were launched"
is "$(grep -c "StepId=$job\.[0-9]*: bound by" "$CLUSTER/log/slurmd.h0.log")" \
	"$launches" "and bound"
clean "steps that end, crash or are cancelled"

start() {
	job=$(submit -p real -n2 --comm-profile=pairs2 "$@" \
		--wrap "srun sleep 300")
	wait_running "$job"
	wait_for 20 bound "$job"
}
start
scancel "$job"
wait_state "$job" CANCELLED
clean "scancel of the job"

start -t 5
scontrol update JobId="$job" EndTime=now+2
wait_state "$job" TIMEOUT 90
clean "time limit"

start --no-requeue
scontrol update NodeName=h0 State=down Reason=test
wait_state "$job" "NODE_FAIL FAILED CANCELLED"
clean "node failure"
# It may have come back by itself.
scontrol update NodeName=h0 State=resume 2>/dev/null
node_idle() { [ "$(sinfo -h -n h0 -o %t)" = idle ]; }
wait_for 60 node_idle || diag "$(sinfo -N -n h0 -o '%T %E')"

for ((i = 0; i < (launches + 99) / 100; i++)); do
	start
	kill -9 "$(stepd "$job.0")"
	runs "slurmstepd killed: no cgroup of the step" wait_for 40 no_task_groups
	scancel "$job"
	wait_ended "$job"
done
clean "slurmstepd killed"
wait_for 5 grep -q 'commplace: .*slurmstepd is gone' "$CLUSTER/log/slurmd.h0.log"
ok $? "slurmd logged it"
runs "no file is left in slurmd's spool folder" wait_for 20 no_files ||
	diag "$(files)"
is "$(find "$CLUSTER/home" -mindepth 1 -name 'slurm-*' -prune -o -type f -print |
	sort | xargs -n1 basename | paste -sd' ')" "many.out many.sh" \
	"nor is one in the user's folder"
cluster_check
done_testing
