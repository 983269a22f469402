#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Faults on purpose: each line of `table` is one, put into a cluster that runs,
# with jobs beside it; then the same has to hold as after every other. A line of
# result each. `faults.t REGEX` takes the lines whose name fits.
here=$(cd "${0%/*}" && pwd)
. "$here/../tools/tap.bash"
. "$here/../slurm/cluster.bash"
. "$here/inject.bash"
. "$here/work.bash"
. "$here/check.bash"
[ $# -gt 0 ] || needs_turn 2 1

CLUSTER_CPUS=8
CLUSTER_CRED_EXPIRE=6
CLUSTER_DEBUG=info
CLUSTER_DEBUG_FLAGS=
CLUSTER_DECISION_TIME=500
CLUSTER_SLURMD_TIMEOUT=0
CLUSTER_EXTRA="PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
BatchStartTimeout=3"
CLUSTER_PARTITIONS="PartitionName=main Nodes=n[0-15] Default=YES MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF
PartitionName=low Nodes=n[0-15] MaxTime=INFINITE State=UP PriorityTier=1"

trim() {
	local text=${1#"${1%%[![:space:]]*}"}
	echo "${text%"${text##*[![:space:]]}"}"
}

faults_prepare
while IFS='|' read -r name inject work holds; do
	name=$(trim "$name")
	[[ $name && $name != \#* && $name =~ ${1:-} ]] || continue
	line_begin "$name" "$(trim "${holds:-}")"
	eval "inject_$(trim "$inject")"
	eval "work_$(trim "$work")"
	line_end
done <"$here/table"
faults_finish
cluster_check
done_testing
