#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Compute nodes that do not see the profiles of slurmctld's host: what they
# need of one comes with the launch.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
# Before 23.02 it is in the job's select data, from 24.05 on in the switch plugin's.
[ "$CLUSTER_SERIES" -ne 2311 ] ||
	skip_all "nothing of a profile travels with a launch of 23.11: nodes read ProfileDir"
CLUSTER_GROUPS=1 CLUSTER_ROWS=1 CLUSTER_NODE_PREFIX=d CLUSTER_JOB_SUBMIT=
# Not task/affinity: it has no answer to CPUs that do not exist.
CLUSTER_TASK=task/commplace
# Two sockets of which the real machine knows nothing; x0 has a hardware tree
# from a file.
CLUSTER_EXTRA="NodeName=w[0-1] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[PORT30-PORT31] CPUs=4 Sockets=2 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=1000
NodeName=x0 NodeHostname=localhost NodeAddr=127.0.0.1 Port=PORT32 CPUs=4 Sockets=2 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=1000
PartitionName=wide Nodes=w[0-1] MaxTime=INFINITE State=UP
PartitionName=file Nodes=x0 MaxTime=INFINITE State=UP"

eval "plain_$(declare -f cluster_write_conf)"
cluster_write_conf() {
	CLUSTER_EXTRA=${CLUSTER_EXTRA//PORT3/$(((CLUSTER_PORT + 30) / 10))}
	plain_cluster_write_conf
	# The nodes' own copy, with profiles somewhere else.
	mkdir -p "$CLUSTER/node"
	cp "$CLUSTER"/etc/{slurm,cgroup,plugstack}.conf "$CLUSTER/node"
	sed "s|^ProfileDir=.*|ProfileDir=$CLUSTER/nowhere|" \
		"$CLUSTER/etc/commplace.conf" >"$CLUSTER/node/commplace.conf"
	lstopo-no-graphics -i "pack:2 core:2 pu:1" --of xml \
		-f "$CLUSTER/node/tree.xml" 2>/dev/null
}
eval "plain_$(declare -f cluster_nodes)"
cluster_nodes() {
	plain_cluster_nodes
	echo w0 w1 x0 | tr ' ' '\n'
}
cluster_start_slurmd() {
	local tree=
	[ "$1" != x0 ] || tree=$CLUSTER/node/tree.xml
	env SLURM_CONF="$CLUSTER/node/slurm.conf" \
		${tree:+HWLOC_XMLFILE="$tree"} \
		bash -c 'exec slurmd "$@"' slurmd \
		-N "$1" -f "$CLUSTER/node/slurm.conf" \
		>>"$CLUSTER/log/slurmd.$1.out" 2>&1 </dev/null 3>&- 4>&-
}
command -v lstopo-no-graphics >/dev/null ||
	skip_all "needs lstopo-no-graphics (hwloc-nox)"
# slurmd leaves its nodes' own directories.
on_exit 'find /sys/fs/cgroup/*/slurm_[wx][01] -depth -type d -exec rmdir {} + 2>/dev/null'
cluster_start
cluster_signature pairs4 4 pairs
cluster_signature pairs8 8 pairs
# Local partners: 0-3, 1-2, and 4-7, 5-6.
cat >"$PROFILES/cross8.json" <<'END'
{ "format": "commplace-signature", "version": 1, "name": "cross8", "ranks": 8,
  "phases": [ { "name": "all", "weight": 3, "traffic": [
    [0, 3, 100, 1], [2, 1, 100, 1], [4, 7, 0.5, 1], [5, 6, 0.5, 1],
    [3, 4, 1, 1] ] } ] }
END
# Its user may read them.
chown "$CLUSTER_USER" "$PROFILES"/*.json
chmod 600 "$PROFILES"/*.json

show='echo $SLURM_PROCID ${COMMPLACE_PLAN-unset} $SLURM_JOB_ID'
step() {
	as_user ${preload:+LD_PRELOAD="$preload" DAMAGE="$how"} timeout 60 srun "$@" bash -c "$show" 2>"$CLUSTER/step.err" |
		sort -n
}
plans() { awk '{ print $2 }' <<<"$got" | sort -u | paste -sd' '; }
logged() { wait_for 5 grep -qE "$1" "$CLUSTER/log/slurmd.$2.log"; }

ok "$([ ! -e "$CLUSTER/nowhere" ]; echo $?)" "the nodes have no profiles"
# On w0 where its log is read: a job that has just ended may still hold it, and
# Slurm would take w1.
got=$(step -p wide -N1 -w w0 -n4 --comm-profile=pairs4)
is "$(plans)" "0x1,0x4,0x2,0x8" "a step is planned all the same"
logged 'profile pairs4, masks 0x1,0x4,0x2,0x8' w0
ok $? "and slurmd logged it"
got=$(step -p wide -N2 -n8 -m block --comm-profile=cross8)
is "$(plans) $(wc -l <<<"$got")" "0x1,0x4,0x8,0x2 8" \
	"on two nodes each has its own part"
got=$(step -p wide -N2 -n8 -m cyclic --comm-profile=pairs8)
is "$(plans)" "0x1,0x4,0x2,0x8" "also with tasks that go round"
got=$(step -p wide -N2 -n4 --ntasks-per-node=2 --comm-profile=pairs4)
is "$(wc -l <<<"$got")" 4 "half a node each"
got=$(step -p wide -N1 -n4)
is "$(plans)" unset "nothing without a profile"
got=$(step -p wide -N1 -w w0 -n2 --comm-profile=pairs4)
is "$(plans)" unset "nor with a step of another size"
logged "left to Slurm's binding: profile pairs4 is of 4 ranks, the step has 2" w0
ok $? "of which slurmd logged one line"

job=$(submit -p wide -N1 -w w0 -n4 --comm-profile=pairs4 -o out.txt -e err.txt \
	--wrap "srun bash -c '$show'; srun --comm-profile=cross8 bash -c '$show'; srun --comm-profile=none bash -c '$show'")
wait_ended "$job"
got=$(sed -n 1,4p "$CLUSTER/home/out.txt")
is "$(plans)" "0x1,0x4,0x2,0x8" "srun inside a batch job, which runs on a node"
got=$(sed -n 5,12p "$CLUSTER/home/out.txt")
is "$(plans)" unset "a step's own profile is not slurmctld's to send"
logged "left to Slurm's binding: .*nowhere" w0
ok $? "but looked for on the node"

# A client that sends something else, by error or on purpose. From 24.05 on it
# has nothing to send: what travels is in the credential, which is signed.
damage=${COMMPLACE_BUILD:?}/tests/tools/.libs/damage.so
ways="cut flip stretch swap"
[ "$CLUSTER_SERIES" -lt 2405 ] || ways=
for how in $ways; do
	got=$(preload="$damage" how=$how step -p wide -N1 -w w0 -n4 --comm-profile=pairs4)
	is "$(plans) $(wc -l <<<"$got")" "unset 4" \
		"damaged on the way ($how): Slurm's binding"
	of_step="StepId=$(awk 'NR == 1 { print $3 }' <<<"$got")\\.0: "
	logged "commplace: $of_step" w0
	lines=$(grep "commplace: $of_step" "$CLUSTER/log/slurmd.w0.log")
	is "$(grep -c . <<<"$lines") $(grep -c "left to Slurm's binding: the excerpt of the profile .*" <<<"$lines")" \
		"1 1" "and one line in slurmd's log" || diag "$lines"
done
got=$(step -p wide -N1 -n4 --comm-profile=pairs4)
is "$(plans)" "0x1,0x4,0x2,0x8" "the next one is planned"

# The step's record keeps nothing of it.
job=$(submit -p wide -N2 -n8 --comm-profile=cross8 --wrap "srun sleep 300")
wait_running "$job"
has_step() { squeue -h -s -j "$job" -o %i | grep -q '\.0$'; }
runs "squeue --steps reads the step" wait_for 20 has_step
cluster_restart_ctld
runs "as it does after a restart of slurmctld" wait_for 20 has_step
wait_running "$job"
scancel "$job"
wait_state "$job" CANCELLED
got=$(step -p wide -N1 -n4 --comm-profile=pairs4)
is "$(plans)" "0x1,0x4,0x2,0x8" "and the next step is planned again"

# The hardware tree of x0 cannot be read any more when it is wanted.
rm "$CLUSTER/node/tree.xml"
got=$(step -p file -n4 --comm-profile=pairs4)
is "$(plans) $(wc -l <<<"$got")" "unset 4" "no hardware tree: Slurm's binding"
logged "left to Slurm's binding: the hardware tree has .* slurmd knows 4" x0
ok $? "logged"
is "$(grep -c 'left to Slurm' "$CLUSTER/log/slurmd.x0.log")" 1 "once"
lstopo-no-graphics -i "pack:2 core:2 pu:1" --of xml \
	-f "$CLUSTER/node/tree.xml" 2>/dev/null
got=$(step -p file -n4 --comm-profile=pairs4)
is "$(plans)" "0x1,0x4,0x2,0x8" "found again"
cluster_check
done_testing
