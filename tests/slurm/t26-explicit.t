#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Options about order: what the user asks for is as without a profile, and the
# decision says so. Those about nodes are in t56.
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

cluster_check
done_testing
