#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A rolling upgrade: slurmctld and commands of the newest Slurm, slurmds of one
# three releases older, each with the plugins built for it. Uses the roots that
# the other tests of this layer keep (COMMPLACE_TEST_ROOTS, see root.bash); or Slurms
# of prefixes: COMMPLACE_SLURM_PREFIX and COMMPLACE_PREFIX are the newer one and its
# commplace, COMMPLACE_OLDER_SLURM_PREFIX and COMMPLACE_OLDER_PREFIX the older's. From
# before 24.05, which knows no switch plugins of others, nodes are chosen and ranks keep
# Slurm's order, until all have the newer one and it is added.
. "${0%/*}/../tools/tap.bash"

new=sid old=trixie
older=${COMMPLACE_OLDER_SLURM_PREFIX:-}
if [ -z "$older" ] && [ "${1:-}" != inside ]; then
	. "${0%/*}/root.bash"
	roots=${COMMPLACE_TEST_ROOTS:-}
	# Roots that are not kept are no more by now: no lack, also in CI.
	[ -n "$roots" ] || CI= version_lacks "needs roots that are kept (--roots)"
	prefix=${COMMPLACE_TEST_PREFIX:-/commplace/build/inst}
	for suite in $new $old; do
		# CI builds one of them a day.
		[ -d "$roots/$suite$prefix" ] ||
			CI=$([ "${COMMPLACE_EVERY:-}" != yes ] || echo "${CI:-}") version_lacks "no commplace in $roots/$suite$prefix"
	done
	shared=$(mktemp -d /tmp/commplace-upgrade.XXXXXX)
	chmod 755 "$shared"
	mounted=()
	unmount() {
		local m
		for m in "${mounted[@]}"; do
			umount -R -l "$m"
		done
		rmdir "$roots/$new/older" "$roots/$new/commplace-tests" \
			"$roots"/{$new,$old}"$shared"
		rm -rf --one-file-system "$shared"
	}
	on_exit unmount
	put() { # DIRECTORY WHERE
		mkdir -p "$2"
		mount --rbind "$1" "$2" && mount --make-rslave "$2" ||
			version_lacks "cannot mount $2"
		mounted=("$2" "${mounted[@]}")
	}
	for suite in $new $old; do
		for m in proc sys dev; do
			mountpoint -q "$roots/$suite/$m" ||
				put "/$m" "$roots/$suite/$m"
		done
		put "$shared" "$roots/$suite$shared"
	done
	put "$roots/$old" "$roots/$new/older"
	put "$COMMPLACE_SOURCE/tests" "$roots/$new/commplace-tests"
	chroot "$roots/$new" env -i HOME=/root LANG=C TMPDIR="$shared" \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin COMMPLACE_PREFIX="$prefix" \
		COMMPLACE_TEST_PORTS="${COMMPLACE_TEST_PORTS:-29000-29999}" \
		bash /commplace-tests/versions/upgrade.t inside
	status=$?
	tap_done=yes
	exit $status
fi

. "${0%/*}/../slurm/cluster.bash"
CLUSTER_NODE_PREFIX=u
CLUSTER_TASK=task/commplace,task/affinity
ordered=yes
if [ -n "$older" ]; then
	older_srun=$older/bin/srun
	slurmd() { "$older/sbin/slurmd" "$@"; }
	older_series=$(slurmd -V | sed 's/[^ ]* //; s/\([0-9]*\)\.\([0-9]*\).*/\1\2/')
	[ "$older_series" -ge 2405 ] || ordered=
	eval "plain_$(declare -f cluster_write_conf)
		newer_$(declare -f cluster_start_slurmd)"
	# The nodes' own copy: each Slurm looks for plugins of its own.
	cluster_write_conf() {
		plain_cluster_write_conf
		[ -n "$ordered" ] || sed -i '/^SwitchType=/d' "$SLURM_CONF"
		cp -rp "$CLUSTER/etc" "$CLUSTER/node"
		CLUSTER_SERIES=$older_series cluster_write_cgroup >"$CLUSTER/node/cgroup.conf"
		sed -i "s|^PluginDir=.*|PluginDir=$COMMPLACE_OLDER_PREFIX/lib/slurm-wlm:$older/lib/slurm|
			s|$CLUSTER/etc/|$CLUSTER/node/|" "$CLUSTER/node/slurm.conf"
	}
	cluster_start_slurmd() {
		SLURM_CONF=$CLUSTER/node/slurm.conf slurmd -N "$1" \
			-f "$CLUSTER/node/slurm.conf" \
			>>"$CLUSTER/log/slurmd.$1.out" 2>&1 </dev/null 3>&- 4>&-
	}
else
	older_srun=srun
	slurmd() { chroot /older env PATH="$PATH" slurmd "$@"; }
	useradd() {
		command useradd "$@" &&
			chroot /older useradd -u "$(id -u "${*: -1}")" "$@"
	}
	userdel() {
		chroot /older userdel "$@"
		command userdel "$@"
	}
fi
cluster_start
cluster_signature pairs8 8 pairs
isnt "$(slurmctld -V)" "$(slurmd -V)" "$(slurmctld -V) with $(slurmd -V) on the nodes"

in_blocks() { # FILE
	[ "$(ranks "$1" | tr ' ' '\n' | uniq | wc -l)" = 2 ]
}
# in_order JOB FILE NAME: ranks ran as the decision of the job says
in_order() {
	is "$(decision "$1" .outcome)" placed "$3: placed"
	if [ -z "$ordered" ]; then
		in_blocks "$2"
		ok $? "$3: in Slurm's order, since no switch plugin lays ranks out"
		return
	fi
	isnt "$(planned "$1")" "" "$3: with an order of ranks"
	is "$(ranks "$2")" "$(planned "$1")" "$3: which they ran in"
}
job=$(submit -N2 --ntasks-per-node=4 --comm-profile=pairs8 -o batch.out \
	--wrap "$older_srun bash -c '$PRINT_RANK; echo plan \$COMMPLACE_PLAN'")
runs "a batch job, whose srun is the older one, ends" wait_ended "$job"
in_order "$job" "$CLUSTER/home/batch.out" "older srun"
snapshot
as_user srun -N2 --ntasks-per-node=4 --comm-profile=pairs8 bash -c \
	"echo job \$SLURM_JOB_ID; $PRINT_RANK; echo plan \$COMMPLACE_PLAN" \
	>"$CLUSTER/srun.out" 2>"$CLUSTER/srun.err"
ok $? "srun of the newer one" || cluster_dump "$CLUSTER/srun.err"
job=$(sed -n 's/^job //p' "$CLUSTER/srun.out" | head -1)
in_order "$job" "$CLUSTER/srun.out" "newer srun"
# Four CPUs are pretended: the node's plan goes to the tasks.
for file in "$CLUSTER/home/batch.out" "$CLUSTER/srun.out"; do
	is "$(grep -c '^plan 0x' "$file")" 8 \
		"the older slurmstepd reads what the newer slurmctld sends"
done
job=$(submit -N2 --ntasks-per-node=4 -o stock.out --wrap "$older_srun bash -c '$PRINT_RANK'")
runs "a job without a profile ends" wait_ended "$job"
in_blocks "$CLUSTER/home/stock.out"
ok $? "and is in block order"
cluster_restart_ctld
ok $? "slurmctld restarts with the older nodes"

# slurmctld is replaced under a job that the older one has placed, and which makes
# its step when the newer one is there.
with_older() {
	local -x PATH=$older/sbin:$older/bin:$PATH SLURM_CONF=$CLUSTER/node/slurm.conf
	"$@"
}
if [ -n "$older" ]; then
	cluster_stop_ctld
	# What the newer one has saved is nothing to the older.
	rm -rf "$CLUSTER/state" && mkdir "$CLUSTER/state"
	# Other numbers than those of the jobs before.
	sed -i "s|^\(FirstJobId=.*\)..$|\150|" "$CLUSTER/node/slurm.conf"
	if ! with_older cluster_start_ctld -c; then
		cluster_dump "$CLUSTER/log/slurmctld.out"
		cluster_dump "$CLUSTER/log/slurmctld.log"
		bail "the older slurmctld does not start"
	fi
	runs "with the nodes" with_older wait_for 30 cluster_nodes_up
	job=$(with_older submit -N2 --ntasks-per-node=4 --comm-profile=pairs8 \
		-o over.out --wrap "until [ -e go ]; do sleep 0.2; done
		$older_srun bash -c '$PRINT_RANK'")
	runs "it starts a job" with_older wait_running "$job"
	with_older cluster_stop_ctld
	runs "the newer slurmctld takes over" cluster_start_ctld
	runs "with the nodes" wait_for 30 cluster_nodes_up
	is "$(squeue -h -j "$job" -o %T)" RUNNING "the job still runs"
	touch "$CLUSTER/home/go"
	runs "it ends" wait_ended "$job"
	in_order "$job" "$CLUSTER/home/over.out" "a step after the upgrade"

	# The nodes follow, and the switch plugin where they did not know it.
	for n in $(cluster_nodes); do
		cluster_kill "$CLUSTER/run/slurmd.$n.pid"
	done
	[ -n "$ordered" ] || echo "SwitchType=switch/$CLUSTER_SWITCH" >>"$SLURM_CONF"
	ordered=yes
	unset -f slurmd
	for n in $(cluster_nodes); do
		newer_cluster_start_slurmd "$n" || fail "the newer slurmd $n starts"
	done
	runs "slurmctld restarts with newer nodes" cluster_restart_ctld
	runs "which come" wait_for 30 cluster_nodes_up
	job=$(submit -N2 --ntasks-per-node=4 --comm-profile=pairs8 -o after.out \
		--wrap "$COMMPLACE_SLURM_PREFIX/bin/srun bash -c '$PRINT_RANK'")
	runs "a job ends" wait_ended "$job"
	in_order "$job" "$CLUSTER/home/after.out" "all are newer"
fi
cluster_check
done_testing
