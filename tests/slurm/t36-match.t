#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Match lines by all that is known of a job, at submission and when it is
# scheduled; ranks along the network for jobs without a profile.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
cluster_start
home=$CLUSTER/home
cluster_signature ring8 8

site() {
	CLUSTER_SITE=$1
	cluster_write_site
	cluster_reconfigure
}
# step NAME SBATCH-OPTIONS -- SRUN-OPTIONS: hosts of the ranks of its one step
step() {
	local options=() job
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	printf '#!/bin/bash\nsrun %s sh -c '"'%s'"' >step.out 2>&1\n' "$*" \
		"$PRINT_RANK" >"$home/step.sh"
	rm -f "$home/step.out"
	job=$(submit "${options[@]}" step.sh) || return 1
	wait_ended "$job" 60 || return 1
	echo "$job" >"$home/job"
	ranks "$home/step.out"
}
# Each host once.
order() { step "$@" | tr ' ' '\n' | uniq | paste -sd' '; }

# Group 1 is gone through backwards: rows of odd groups are.
plain="n0 n1 n2 n3 n4 n5 n6 n7"
along="n0 n1 n2 n3 n6 n7 n4 n5"
is "$(order -N8 -n16 --exclusive --)" "$plain" "without a wish: Slurm's order"
job=$(cat "$home/job")
like "$(commplace explain "$job" 2>&1)" "no record of job $job" "and no record"
is "$(order -N8 -n16 --exclusive --rank-mapping=network-order --)" "$along" \
	"--rank-mapping=network-order: along the network"
job=$(cat "$home/job")
like "$(scontrol show job "$job")" \
	"AdminComment=commplace: stock .no policy is asked for. mapping=network-order" \
	"the job's comment says so"
like "$(commplace explain "$job" 2>&1)" "network-order" "so does explain"
is "$(order -N8 -n16 --exclusive --rank-mapping=network-order -m block --)" \
	"$plain" "sbatch -m block wins"
is "$(order -N8 -n16 --exclusive --rank-mapping=network-order -- -m block)" \
	"$plain" "srun -m block wins"
is "$(step -N8 -n16 --exclusive --rank-mapping=network-order -- -m cyclic |
	cut -d' ' -f1-8)" "$plain" "srun -m cyclic wins"

site "MappingWithoutProfile=network-order"
is "$(order -N8 -n16 --exclusive --)" "$along" "MappingWithoutProfile: all jobs"
is "$(order -N8 --exclusive -- -n8)" "$along" "a job that states no tasks"
is "$(order -N8 -n16 --exclusive -- -N7 -n7 -r1)" "n1 n2 n3 n6 n7 n4 n5" \
	"a step on a part of the nodes, with other counts"
is "$(order -N8 -n16 --exclusive --contiguous --)" "$along" \
	"a job that is left to Slurm for --contiguous"
is "$(order -N8 -n16 --exclusive --rank-mapping=linear --)" "$plain" \
	"--rank-mapping=linear: Slurm's order"
# Over a restart of slurmctld.
printf '#!/bin/bash\nuntil [ -e go ]; do sleep 0.2; done\nsrun -n8 sh -c '"'%s'"' >step.out 2>&1\n' \
	"$PRINT_RANK" >"$home/wait.sh"
rm -f "$home/go" "$home/step.out"
job=$(submit -N8 -n16 --exclusive wait.sh)
wait_running "$job"
cluster_restart_ctld
touch "$home/go"
wait_ended "$job" 60
is "$(ranks "$home/step.out")" "$along" "over a restart of slurmctld"
cancel_all

# Conditions: what a job asks for, and what Slurm makes of it.
site "DefaultPolicy=none
Match Nodes=3 DefaultPolicy=random-nodes
Match Account=chem* DefaultPolicy=round-robin-nodes
Match User=$(id -u "$CLUSTER_USER") JobName=mine Partition=ma* DefaultPolicy=random-routers
Match Command=*/special.sh DefaultPolicy=random-groups
Match JobName=cut Nodes=2- Mode=off"
printf '#!/bin/bash\nsleep 100\n' >"$home/special.sh"
policy() {
	local job
	job=$(submit "$@") || return 1
	wait_running "$job"
	scontrol show job "$job" |
		sed -n 's/.*AdminComment=commplace: policy=\([^ ]*\).*/\1/p'
	scancel "$job"
	wait_ended "$job"
}
is "$(policy -N2 --wrap 'sleep 100')" "" "no line: Slurm's nodes"
is "$(policy -N3 --wrap 'sleep 100')" random-nodes "Nodes=3"
is "$(policy -n12 --exclusive --wrap 'sleep 100')" random-nodes \
	"Nodes=3, of a job that states its tasks only"
is "$(policy -N2 -A chem1 --wrap 'sleep 100')" round-robin-nodes "Account"
is "$(policy -N2 -J mine --wrap 'sleep 100')" random-routers \
	"User, JobName and Partition"
is "$(policy -N2 special.sh)" random-groups "Command"
is "$(policy -N2 -J cut -A chem1 --wrap 'sleep 100')" "" "Mode=off of a line"
is "$(commplace config for "account=chem1" nodes=2 \
	--config "$CLUSTER/etc/commplace.conf" --json |
	sed -n '/"DefaultPolicy"/{n;s/.*: "\(.*\)",/\1/p}')" round-robin-nodes \
	"config for: the same"
job=$(submit -N3 -A chem -H --wrap true)
like "$(commplace config for "$job" --config "$CLUSTER/etc/commplace.conf")" \
	"DefaultPolicy +random-nodes +$CLUSTER/etc/commplace.conf:6 \(Match\)" \
	"config for JOBID: as squeue knows the job"
scancel "$job"

# Classes: what they promise; where that cannot be had now, Slurm's nodes at once.
site "DefaultPolicy=none
Match Account=s* DefaultPolicy=spread
Match Account=w* DefaultPolicy=whole:group
Match Account=r* DefaultPolicy=per-router:1
Match Account=c* DefaultPolicy=compact"
busy=$(submit -N1 --exclusive -w n1)
wait_running "$busy"
nodes() {
	local job hosts
	job=$(submit "$@" --exclusive) || return 1
	wait_running "$job"
	hosts=$(job_hosts "$job")
	echo "$job" >"$home/job"
	scancel "$job"
	wait_ended "$job"
	echo "$hosts"
}
is "$(nodes -N4 -A s)" "n0 n4 n8 n12" "spread"
is "$(nodes -N2 -A c)" "n2 n3" "compact"
is "$(nodes -N3 -A r)" "n0 n2 n4" "per-router:1"
is "$(nodes -N5 -A w)" "n4 n5 n6 n7 n8" "whole:group"
is "$(nodes -N13 -A w)" "n2 n3 n4 n5 n6 n7 n8 n9 n10 n11 n12 n13 n14" \
	"whole:group, of more nodes than whole groups have: Slurm's own, at once"
like "$(commplace explain "$(cat "$home/job")" 2>&1)" \
	"whole:group: 13 nodes are wanted, and 12 are in units that are wholly free" \
	"explain says why"
like "$(as_user srun --test-only -N13 -A w true 2>&1)" "to start at .*$(date +%Y)" \
	"nor later by srun --test-only"
cancel_all

# Who may override what: a right that an account has, and one that is settled
# after the submission.
site "UserMayOverride=none
Match Account=net UserMayOverride=all
Match QOS=trusted UserMayOverride=mapping"
refused=$(as_user sbatch -N2 -A bio --placement-policy=linear --wrap true 2>&1)
like "$refused" "does not let users choose the policy" "another account: refused"
job=$(submit -N2 -n2 -A net --placement-policy=random-nodes --wrap "sleep 100")
wait_running "$job"
like "$(scontrol show job "$job")" "commplace: policy=random-nodes" \
	"an account that may choose"
cancel_all
said=$(as_user sbatch -N2 -n2 -A bio --rank-mapping=network-order \
	--wrap "sleep 100" 2>&1)
like "$said" "whether you may choose the mapping is known once Slurm" \
	"a right that the QOS may give: the user is told"
job=$(squeue -h -o %i)
wait_running "$job"
like "$(commplace explain "$job" 2>&1)" "no record" \
	"and it has no effect when the QOS does not give it"
cancel_all

# Pods of Kubernetes, as Slinky's slurm-bridge submits them (SubmitJob in its
# internal/scheduler/plugins/slurmbridge/slurmcontrol): a job of a node and a task for
# each pod, nobody else on the nodes, named by an annotation; its AdminComment is JSON
# that has the pods and is read back, or else the pods are lost.
site "Match JobName=nccl-ring-* Profile=ring8"
guide=${0%/*}/../../doc/admin-guide.md
# manifests POD...: as kubectl shows them, with the annotation that the guide shows
manifests() {
	local key value
	read -r key value < <(sed -n '/^  annotations:$/{n; s/^ *\([^:]*\): \(.*\)-64$/\1 \2/p}' "$guide")
	printf '%s\n' "$@" | jq -Rn --arg key "$key" --arg value "$value-$#" '{items: [inputs |
		split("/") | {metadata: {namespace: .[0], name: .[1], annotations: {($key): $value}}}]}'
}
bridge() { # MANIFESTS
	local name job pods n
	name=$(jq -r '[.items[].metadata.annotations["slurmjob.slinky.slurm.net/job-name"]] |
		unique | join(" ")' <<<"$1")
	n=$(jq '.items | length' <<<"$1")
	pods=$(jq -c '{pods: [.items[].metadata | "\(.namespace)/\(.name)"]}' <<<"$1")
	job=$(submit -H -J "$name" -N "$n" --ntasks-per-node=1 --exclusive) || return 1
	scontrol update jobid="$job" admincomment="$pods"
	scontrol release "$job"
	wait_running "$job"
	echo "$job"
}
comment_of() {
	scontrol show job "$1" | sed -n 's/^ *AdminComment=//; T; s/ *$//p'
}
pods=(train/worker-{0..7})
job=$(bridge "$(manifests "${pods[@]}")")
is "$(squeue -h -j "$job" -o %j)" nccl-ring-8 "pods: the annotation is the job's name"
comment=$(comment_of "$job")
is "$(jq -r '.pods | join(" ")' <<<"$comment")" "${pods[*]}" \
	"pods: AdminComment is JSON as before, with its pods"
like "$(jq -r .commplace <<<"$comment")" '^policy=.* profile=ring8 ' \
	"pods: and with what was decided, by the job's name"
is "$(commplace explain "$job" --format hostfile | paste -sd' ')" \
	"$(planned "$job")" \
	"pods: explain has the host of each rank"
is "$(commplace explain "$job" --format hostfile | sort)" \
	"$(job_hosts "$job" | tr ' ' '\n' | sort)" "pods: which are the job's nodes"
# The guide's line, for pods on nodes in any order.
commplace explain "$job" --format hostfile >"$home/order"
i=0
for host in $(job_hosts "$job" | tr ' ' '\n' | sort -r); do
	echo "$host ${pods[i++]}"
done >"$home/pods"
line=$(sed -n "s/^\(awk 'NR == FNR.*\) >hostfile$/\1/p" "$guide")
is "$(cd "$home" && for pod in $(eval "$line"); do
	awk -v p="$pod" '$2 == p { print $1 }' pods
done | paste -sd' ')" "$(planned "$job")" "pods: the guide's hostfile has them by rank"
cancel_all
job=$(bridge "$(manifests "${pods[@]:0:2}" | jq '.items[].metadata.annotations[] = "pause"')")
is "$(comment_of "$job")" '{"pods":["train/worker-0","train/worker-1"]}' \
	"pods without a line: AdminComment is theirs"
cancel_all

cluster_check
done_testing
