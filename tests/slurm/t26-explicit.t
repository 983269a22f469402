#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Options about nodes and order, those of newer Slurms among them: what the
# user or the site asks for is as without a profile, and the decision says so.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
# Of nodes that are as good as Slurm's own those are taken; these are not.
CLUSTER_SITE="OrderReaches=yes"
cluster_start
cluster_signature pairs8 8 pairs
cluster_signature all8 8 all
home=$CLUSTER/home

# runs_on SBATCH-OPTION...: leaves the job running; HOSTS
runs_on() {
	job=$(submit "$@") && wait_running "$job" || return 1
	HOSTS=$(job_hosts "$job")
}

# explicit NAME REASON SBATCH-OPTION...: with a profile the same nodes as without
explicit() {
	local name=$1 reason=$2 stock
	shift 2
	runs_on "$@" || { fail "$name: runs without a profile"; return; }
	stock=$HOSTS
	cancel_all
	runs_on "$@" --comm-profile=pairs8 || { fail "$name: runs"; return; }
	is "$HOSTS" "$stock" "$name: the nodes are those without a profile"
	is "$(decision "$job" '.outcome + " " + .reason')" "stock $reason" \
		"$name: on record as Slurm's choice"
	is "$(commplace explain "$job" --wait 10 \
		--state-dir "$CLUSTER/decisions" | grep '^outcome')" \
		"outcome      stock: $reason" "$name: commplace explain says why"
	cancel_all
}

# What else this job gets; n0 and n2 are never free.
taken() {
	hold=$(submit -N2 -w n0,n2 --exclusive --no-requeue)
	wait_running "$hold"
}
cancel_all() {
	scancel "$job"
	ended() { ! squeue -h -j "$job" 2>/dev/null | grep -q .; }
	wait_for 30 ended
}
taken
runs_on -N4 -n8 --exclusive
stock=$HOSTS
cancel_all
runs_on -N4 -n8 --exclusive --comm-profile=all8
is "$(decision "$job" .outcome)" placed "with a profile alone: placed"
isnt "$HOSTS" "$stock" "and not on the nodes of without"
cancel_all

explicit --contiguous "the user asked for --contiguous" \
	-N4 -n8 --exclusive --contiguous
explicit --switches "the user asked for --switches" -N4 -n8 --exclusive --switches=1
explicit --spread-job "the user asked for --spread-job" \
	-N4 -n8 --exclusive --spread-job

# The hosts that a file names, in its order.
printf '%s\n' n9 n5 n9 n5 n13 n13 n9 n5 >"$home/hosts"
printf '#!/bin/bash\nsrun sh -c '\''%s'\'' >arbitrary.out 2>&1\n' \
	"$PRINT_RANK" >"$home/arbitrary.sh"
arbitrary() {
	job=$(cd "$home" && as_user env SLURM_HOSTFILE="$home/hosts" sbatch \
		--parsable -n8 -m arbitrary "$@" arbitrary.sh) &&
		wait_ended "$job"
}
arbitrary --comm-profile=pairs8
ok $? "-m arbitrary: runs"
is "$(job_hosts "$job")" "n5 n9 n13" "-m arbitrary: on the hosts of the file"
is "$(ranks "$home/arbitrary.out")" "n9 n5 n9 n5 n13 n13 n9 n5" \
	"-m arbitrary: ranks as the file has them"
is "$(decision "$job" '.outcome + " " + .reason')" \
	"stock the user asked for --distribution=arbitrary" \
	"-m arbitrary: on record as Slurm's choice"

# Every form of a stated order, against the same job without a profile.
ranked() { # SRUN-OPTION...
	printf '#!/bin/bash\nsrun %s sh -c '\''%s'\'' >order.out 2>&1\n' "$*" \
		"$PRINT_RANK" >"$home/order.sh"
	job=$(submit -N4 -n8 --exclusive -w n4,n5,n8,n9 "${profile[@]}" order.sh) &&
		wait_ended "$job" && ranks "$home/order.out"
}
for order in block:cyclic cyclic:block plane=2 block:block:cyclic \
	'*:cyclic' 'block,pack' 'cyclic:fcyclic,nopack'; do
	profile=()
	stock=$(ranked -m "'$order'")
	profile=(--comm-profile=pairs8)
	like "$stock" "^n4 .*n[59]" "-m $order: a job without a profile has ranks"
	case $order in
	'*'*) # the first part is left to the default
		isnt "$(ranked -m "'$order'")" "" "-m $order: runs"
		;;
	*)
		is "$(ranked -m "'$order'")" "$stock" "-m $order: the user's order"
		;;
	esac
done
scancel "$hold"

if [ "$CLUSTER_SERIES" -ge 2411 ]; then
	echo TopologyPlugin=topology/block >>"$SLURM_CONF"
	cat >"$CLUSTER/etc/topology.conf" <<-'END'
	BlockName=b0 Nodes=n[0-3]
	BlockName=b1 Nodes=n[4-7]
	BlockName=b2 Nodes=n[8-11]
	BlockName=b3 Nodes=n[12-15]
	BlockSizes=4
	END
	cluster_restart_ctld
	ok $? "slurmctld restarts with topology/block"
	taken
	explicit --segment "the user asked for --segment" \
		-N4 -n8 --exclusive --segment=2
	explicit "--segment over blocks" "the user asked for --segment" \
		-N6 -n8 --exclusive --segment=3
	explicit --exclusive=topo "the user asked for --exclusive=topo" \
		-N2 -n8 --exclusive=topo
	if [ "$CLUSTER_SERIES" -ge 2605 ]; then
		explicit --spread-segments "the user asked for --segment" \
			-N4 -n8 --exclusive --segment=2 --spread-segments
		explicit --consolidate-segments "the user asked for --segment" \
			-N4 -n8 --exclusive --segment=2 --consolidate-segments
	fi
	scontrol update partition=main ExclusiveTopo=YES
	explicit ExclusiveTopo \
		"the partition gives out whole blocks (ExclusiveTopo)" \
		-N2 -n8 --exclusive
	scancel "$hold"
fi
cluster_check
done_testing
