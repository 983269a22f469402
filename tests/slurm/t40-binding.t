#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tasks are bound as `commplace bind` says, by a cpuset cgroup of their own
# that their user cannot leave, and nothing is left behind.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
CLUSTER_GROUPS=1 CLUSTER_ROWS=1 CLUSTER_HONEST=yes CLUSTER_JOB_SUBMIT=
CLUSTER_NODE_PREFIX=b
CLUSTER_TASK=task/commplace,task/affinity,task/cgroup
# w0 has two sockets, of which the real machine knows nothing.
CLUSTER_EXTRA="NodeName=w0 NodeHostname=localhost NodeAddr=127.0.0.1 Port=W0PORT CPUs=4 Sockets=2 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=1000
PartitionName=wide Nodes=w0 MaxTime=INFINITE State=UP"

cluster_needs_cpusets

# The port is known only once the cluster has taken its block.
eval "plain_$(declare -f cluster_write_conf)"
cluster_write_conf() {
	CLUSTER_EXTRA=${CLUSTER_EXTRA/W0PORT/$((CLUSTER_PORT + 30))}
	plain_cluster_write_conf
	# No GPUs, but as many devices, in the other order than the cores. Newer
	# Slurms want them beside whole sockets.
	sed -i '1s/^/GresTypes=gpu\n/
		/^NodeName=h0/s/Sockets=1 CoresPerSocket=\([0-9]*\)/Sockets=\1 CoresPerSocket=1/
		/^NodeName=h0/s/$/ Gres=gpu:2/' "$SLURM_CONF"
	printf 'NodeName=h0 Name=gpu File=%s Cores=%d\n' /dev/null 1 /dev/zero 0 \
		>"$CLUSTER/etc/gres.conf"
}
eval "plain_$(declare -f cluster_nodes)"
cluster_nodes() {
	plain_cluster_nodes
	echo w0
}
# slurmd leaves its node's own directories.
on_exit 'find /sys/fs/cgroup/*/slurm_w0 -depth -type d -exec rmdir {} + 2>/dev/null'
cluster_start
cpus=$(nproc)
# Other clusters on this host may have an h0, too.
own=/sys/fs/cgroup/cpuset/slurm_h0/uid_$(id -u "$CLUSTER_USER")
cluster_signature pairs2 2 ring
cluster_signature pairs4 4 pairs
cluster_signature one 1 none

cat >"$CLUSTER/home/report" <<'END'
#!/bin/bash
allowed=$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status)
group=$(awk -F: '$2 == "cpuset" { print $3 }' /proc/self/cgroup)
# From 23.02 on Slurm makes each task a directory, with the CPUs of the step.
top=/sys/fs/cgroup/cpuset
case $group in
*/task_*) [ "$(<$top$group/cpuset.cpus)" != "$(<$top${group%/*}/cpuset.cpus)" ] ||
	group=${group%/*} ;;
esac
echo "$SLURM_PROCID $allowed $group ${COMMPLACE_CPUS-unset}" \
	"${COMMPLACE_PLAN-unset} ${COMMPLACE_BOUND-unset}"
END
cat >"$CLUSTER/home/widen" <<'END'
#!/bin/bash
taskset -pc "$1" $$ >/dev/null 2>&1
group=$(awk -F: '$2 == "cpuset" { print $3 }' /proc/self/cgroup)
echo "$1" 2>/dev/null >"/sys/fs/cgroup/cpuset$group/cpuset.cpus" && echo wrote
mkdir "/sys/fs/cgroup/cpuset$group/more" 2>/dev/null && echo made
echo $$ 2>/dev/null >"/sys/fs/cgroup/cpuset${group%/*}/cgroup.procs" &&
	echo moved
echo "$SLURM_PROCID $(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status)"
END
cat >"$CLUSTER/home/memory" <<'END'
#!/bin/bash
group=$(awk -F: '$2 == "cpuset" { print $3 }' /proc/self/cgroup)
echo "$SLURM_PROCID $(cat "/sys/fs/cgroup/cpuset$group/cpuset.mems")" \
	"${COMMPLACE_MEMS-unset}"
END
chmod 755 "$CLUSTER/home/"{report,widen,memory}

# The nodes do not read commplace.conf.
reconfigure() { scontrol reconfigure; sleep 1; }
# step SRUN-OPTIONS...: on h0, sorted by rank
step() {
	as_user timeout 60 srun -p real "$@" 2>"$CLUSTER/step.err" | sort -n
}
# planned PROFILE BIND-OPTIONS...: lines "rank cpus" as `commplace bind` has it
planned() {
	"$COMMPLACE" bind --signature "$PROFILES/$1.json" "${@:2}" |
		awk 'NR > 1 && NF >= 4 && $1 ~ /^[0-9]+$/ { print $1, $3 }'
}
# Both tasks ran, and in the step's own cpuset.
untouched() {
	like "$(field 3 <<<"$got")" '^/[^ ]*/step_[0-9]+ /[^ ]*/step_[0-9]+$' "$1"
}
field() { awk -v f="$1" '{ print $f }' | paste -sd' '; }
# That of a batch script Slurm 24.11 forgets itself.
no_task_directories() {
	! find "$own" -path '*/step_[0-9]*/task_*' 2>/dev/null | grep -q .
}
logged() {
	wait_for 5 grep -qE "$1" "$CLUSTER/log/slurmd.${2:-h0}.log"
}

got=$(step -n2 --comm-profile=pairs2 ./report)
is "$(awk '{ print $1, $2 }' <<<"$got")" "$(planned pairs2)" \
	"Cpus_allowed_list of each task is what commplace bind prints"
like "$(field 3 <<<"$got")" \
	'^/slurm_h0/uid_[0-9]+/job_[0-9]+/step_0/task_0 /slurm_h0/uid_[0-9]+/job_[0-9]+/step_0/task_1$' \
	"each in a cpuset cgroup of its own"
is "$(field 4 <<<"$got")" "$(planned pairs2 | field 2)" \
	"COMMPLACE_CPUS tells the task"
is "$(field 5 <<<"$got") $(field 6 <<<"$got")" "unset unset unset unset" \
	"nothing else of ours is in its environment"
runs "the directories are gone afterwards" wait_for 10 no_task_directories
logged 'commplace: .* bound by treematch, profile pairs2, masks 0x1,0x2'
ok $? "slurmd logged the decision"

got=$(step -n2 --comm-profile=pairs2 ./widen 0-$((cpus - 1)))
is "$got" "$(planned pairs2)" "the user cannot widen the set, nor leave it"

got=$(step -n1 --comm-profile=one ./report)
like "$(field 4 <<<"$got")" '^[0-9]+$' "a step on a part of the node is bound"

# What a task leaves running must not hinder the end.
step -n2 --comm-profile=pairs2 bash -c 'setsid sleep 300 >/dev/null 2>&1 </dev/null & sleep 0.5' >/dev/null
runs "a process left behind does not keep the directories" \
	wait_for 20 no_task_directories

job=$(submit -p real -n2 --comm-profile=pairs2 --wrap "srun sleep 300")
wait_running "$job"
bound() { find "$own" -path "*job_$job/*/task_1" | grep -q .; }
runs "a batch job's step is bound too" wait_for 10 bound
scancel "$job"
wait_state "$job" CANCELLED
runs "scancel leaves no directories" wait_for 20 no_task_directories ||
	diag "$(find "$own" -type d)"

job=$(submit -p real -n2 --comm-profile=pairs2 -o out.txt -e err.txt --wrap "srun ./report; srun -n1 ./report; COMMPLACE_BOUND=1 COMMPLACE_PLAN=0x1 srun -n1 ./report")
wait_ended "$job"
got=$(cat "$CLUSTER/home/out.txt")
is "$(head -2 <<<"$got" | sort -n | awk '{ print $1, $2 }')" \
	"$(planned pairs2)" "srun inside sbatch inherits the profile"
like "$(sed -n 3p <<<"$got")" 'step_1 unset unset unset$' \
	"a smaller step stays Slurm's"
like "$(sed -n 4p <<<"$got")" 'step_2 unset unset unset$' \
	"our variables cannot be forged"

how="none map_cpu:1,0 mask_cpu:0x2,0x1 cores"
# Slurm has it no more, and takes it for nothing.
[ "$CLUSTER_SERIES" -ge 2405 ] || how+=" rank"
for how in $how; do
	want=$(step -n2 --cpu-bind=$how ./report | awk '{ print $1, $2 }')
	got=$(step -n2 --cpu-bind=$how --comm-profile=pairs2 ./report)
	is "$(awk '{ print $1, $2 }' <<<"$got")" "$want" "--cpu-bind=$how wins"
	untouched "and is left alone"
done

got=$(step -n2 --cpu-bind=verbose --comm-profile=pairs2 ./report)
like "$got" task_1 "--cpu-bind=verbose is no binding"
is "$(sed -n 's/^cpu-bind=MASK - .* task *\([0-9]*\) .*: mask \(0x[0-9a-f]*\) set$/\1 \2/p' \
	"$CLUSTER/step.err" | sort -n)" "0 0x1
1 0x2" "and reports our masks as Slurm's own"
got=$(step -n2 --gpus-per-task=1 --comm-profile=pairs2 ./report)
is "$(awk '{ print $1, $2 }' <<<"$got") $(grep -c task_ <<<"$got")" "0 1
1 0 2" "tasks get the cores beside their GPUs"
got=$(step -n2 --gpus-per-node=2 --gpu-bind=map_gpu:1,0 \
	--comm-profile=pairs2 ./report)
is "$(awk '{ print $1, $2 }' <<<"$got")" "0 0
1 1" "as --gpu-bind says"
got=$(step -n2 --gpus-per-node=2 --comm-profile=pairs2 ./report)
is "$(awk '{ print $1, $2 }' <<<"$got")" "0 1
1 0" "as many GPUs as tasks are theirs by number"
got=$(step -n2 --gpus-per-node=2 --gpu-bind=none --comm-profile=pairs2 ./report)
is "$(awk '{ print $1, $2 }' <<<"$got")" "$(planned pairs2)" \
	"--gpu-bind=none: GPUs for all to use change nothing"
echo "BindMemory=yes" >>"$CLUSTER/etc/commplace.conf"
reconfigure
got=$(step -n2 --comm-profile=pairs2 ./memory)
is "$got" "0 $(cat /sys/fs/cgroup/cpuset/cpuset.mems) unset
1 $(cat /sys/fs/cgroup/cpuset/cpuset.mems) unset" \
	"BindMemory: the NUMA nodes of the cores"
cluster_write_site
echo "DefaultBinding=none" >>"$CLUSTER/etc/commplace.conf"
reconfigure
got=$(step -n2 --comm-profile=pairs2 ./report)
untouched "DefaultBinding=none leaves tasks to Slurm"
cluster_write_site
reconfigure
job=$(submit -p real -n"$cpus" --comm-profile=pairs4 -o over.txt \
	--wrap "srun -n4 -O ./report")
wait_ended "$job"
got=$(sort -n "$CLUSTER/home/over.txt")
is "$(awk '{ print $2 }' <<<"$got" | sort | uniq -c |
	awk '{ print $1 }' | paste -sd' ')" \
	"$(for ((i = 0; i < (cpus < 4 ? cpus : 4); i++)); do
		echo $((4 / cpus + (i < 4 % cpus)))
	done | paste -sd' ')" \
	"--overcommit: tasks share the cores evenly"
is "$(grep -c task_ <<<"$got")" 4 "each in a cgroup of its own"

want=$(step -n2 ./report | awk '{ print $1, $2 }')
got=$(step -n2 --comm-profile=nobody ./report)
is "$(awk '{ print $1, $2 }' <<<"$got")" "$want" \
	"an unknown profile leaves Slurm's binding"
logged "left to Slurm's binding: .*nobody.json"
ok $? "and slurmd logged why"
got=$(step -n2 --comm-profile=pairs4 ./report)
untouched "so does a profile of another rank count"
logged "left to Slurm's binding: profile pairs4 is of 4 ranks, the step has 2"
ok $? "logged"
echo '{ "format": "commplace-signature", ' >"$PROFILES/broken.json"
got=$(step -n2 --comm-profile=broken ./report)
is "$(awk '{ print $1, $2 }' <<<"$got")" "$want" "so does a damaged profile"
ln -s pairs2.json "$PROFILES/linked.json"
got=$(step -n2 --comm-profile=linked ./report)
untouched "and a symbolic link"
mkfifo "$PROFILES/fifo.json"
got=$(step -n2 --comm-profile=fifo ./report)
untouched "and a FIFO, which does not hang slurmd"
got=$(step -n2 --comm-profile=../etc/x ./report)
is "$got" "" "a path is not a profile name"
got=$(step -n2 ./report)
untouched "without a profile nothing changes"

cluster_signature pairs2 2 all
got=$(step -n2 --comm-profile=pairs2 ./report)
like "$got" task_1 "a profile that was replaced is read again"
got=$(step -n1 -c2 --comm-profile=one ./report)
is "$(awk '{ print $1, $2 }' <<<"$got")" \
	"$(planned one --cores-per-rank 2)" "-c2 gives a task two cores"

echo "Mode=observe" >>"$CLUSTER/etc/commplace.conf"
reconfigure
got=$(step -n2 --comm-profile=pairs2 ./report)
untouched "Mode=observe binds nothing"
cluster_write_site
echo "Match JobName=rep* Profile=pairs2" >>"$CLUSTER/etc/commplace.conf"
reconfigure
# Nodes of 23.11 know of a profile by the step's own option, and where it is by
# commplace.conf.
travels=yes
[ "$CLUSTER_SERIES" -ne 2311 ] || travels=
rule="a Match rule attaches a profile"
got=$(step -n2 -J report ./report)
if [ -n "$travels" ]; then
	like "$got" "task_1" "$rule"
else
	skip "$rule" "nothing of it travels with a launch"
fi
got=$(step -n2 -J other ./report)
untouched "to jobs of that name only"
got=$(step -n2 -J report --comm-profile=none ./report)
untouched "and --comm-profile=none takes it off"
cluster_write_site
reconfigure
# Fault 2: the nodes wait for no file of ours.
if [ -n "$travels" ]; then
	mv "$CLUSTER/etc/commplace.conf" "$CLUSTER/etc/moved"
	mkfifo "$CLUSTER/etc/commplace.conf"
	got=$(step -n2 --comm-profile=pairs2 ./report)
	like "$got" "task_1" "no commplace.conf is needed on the node"
	unlike "$(cat "$CLUSTER"/log/slurmd.h0.log)" 'commplace.conf' "nor read"
	rm "$CLUSTER/etc/commplace.conf"
	mv "$CLUSTER/etc/moved" "$CLUSTER/etc/commplace.conf"
fi

got=$(as_user timeout 60 srun -p wide -N1 -n4 --comm-profile=pairs4 ./report |
	sort -n)
is "$(awk '{ print $1, $4 }' <<<"$got")" \
	"$(planned pairs4 --topology 'pack:2 core:2 pu:1')" \
	"on pretended CPUs the plan is what commplace bind prints"
is "$(field 5 <<<"$got")" "0x1,0x4,0x2,0x8 0x1,0x4,0x2,0x8 0x1,0x4,0x2,0x8 0x1,0x4,0x2,0x8" \
	"handed over as COMMPLACE_PLAN"
unlike "$got" task_ "and not enforced"

is "$(grep -h 'commplace: .*\(cannot\|affinity only\)' \
	"$CLUSTER"/log/slurmd.*.log | head -3)" "" "no binding failed"
runs "no directory is left" wait_for 10 no_task_directories ||
	diag "$(find "$own" -type d)"
cluster_check
done_testing
