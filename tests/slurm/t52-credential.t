#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What nodes need to bind travels in the credential of a step, signed by munge or
# by Slurm itself (auth/slurm), as long as it has at most 64 KiB; beyond that
# nodes look into the profile's file. Slurm 24.11's slurmctld crashes at 512 KiB
# with auth/slurm.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
[ "$CLUSTER_SERIES" -ge 2405 ] ||
	skip_all "nothing is in the credential before Slurm 24.05: doc/admin-guide.md, Versions of Slurm"
CLUSTER_GROUPS=1 CLUSTER_ROWS=1 CLUSTER_CPUS=200 CLUSTER_TASK=task/commplace
CLUSTER_JOB_SUBMIT='' CLUSTER_EXTRA="PrologFlags=Contain"

eval "plain_$(declare -f cluster_write_conf)"
cluster_write_conf() {
	plain_cluster_write_conf
	if [ "$auth" = slurm ]; then
		(umask 077 && head -c 1024 /dev/urandom >"$CLUSTER/etc/slurm.key")
		sed -i 's|^AuthType=.*|AuthType=auth/slurm\nCredType=cred/slurm|
			s|^AuthInfo=.*|AuthInfo=cred_expire=120|' "$SLURM_CONF"
	fi
	# The nodes' own copy, with profiles somewhere else.
	cp -rp "$CLUSTER/etc" "$CLUSTER/node"
	sed -i "s|^ProfileDir=.*|ProfileDir=$CLUSTER/nowhere|" \
		"$CLUSTER/node/commplace.conf"
}
cluster_start_slurmd() {
	SLURM_CONF=$CLUSTER/node/slurm.conf slurmd -N "$1" \
		-f "$CLUSTER/node/slurm.conf" \
		>>"$CLUSTER/log/slurmd.$1.out" 2>&1 </dev/null 3>&- 4>&-
}
# step RANKS [OPTIONS]: how many of its tasks have a plan, of how many
step() {
	as_user timeout 100 srun -n"$1" -N1 -w n0 --exclusive \
		--comm-profile="all$1" "${@:2}" \
		sh -c 'echo "task ${COMMPLACE_PLAN-unset}"' \
		>"$CLUSTER/step.out" 2>"$CLUSTER/step.err" ||
		diag "$(tail -5 "$CLUSTER/step.err")"
	echo "$(grep -c '^task 0x' "$CLUSTER/step.out") of $(grep -c ^task "$CLUSTER/step.out")"
}

for auth in munge slurm; do
	# A Slurm that was built without libjwt has no auth/slurm.
	if [ ! -e "$SLURM_STOCK_PLUGINS/auth_$auth.so" ]; then
		skip "auth/$auth" "this Slurm was built without it"
		continue
	fi
	cluster_start
	is "$(scontrol show config | awk '$1 == "AuthType" { print $3 }')" \
		"auth/$auth" "auth/$auth: in force"
	[ "$auth" = munge ] || cluster_kill "$CLUSTER/run/munged.pid"
	# Of n ranks that all talk 5 n (n - 1) / 2 + n bytes, and a few more.
	cluster_signature all16 16 all
	cluster_signature all150 150 all
	cluster_signature all162 162 all
	cluster_signature all163 163 all
	is "$(step 16)" "16 of 16" "auth/$auth: 0.6 KiB in the credential"
	is "$(step 162)" "162 of 162" "auth/$auth: 63.9 KiB in the credential"
	is "$(step 163)" "0 of 163" "auth/$auth: 64.5 KiB do not fit"
	runs "auth/$auth: the node looks for the file" wait_for 5 grep -q \
		"left to Slurm's binding: .*$CLUSTER/nowhere" \
		"$CLUSTER/log/slurmd.n0.log"
	is "$(step 150 --stepmgr)" "150 of 150" "auth/$auth: 55 KiB under stepmgr"
	is "$(step 163 --stepmgr)" "0 of 163" "auth/$auth: 64.5 KiB under stepmgr do not fit"
	cp "$CLUSTER/etc/commplace.conf" "$CLUSTER/node/commplace.conf"
	is "$(step 163)" "163 of 163" "auth/$auth: it finds the file where there is one"
	is "$(step 163 --stepmgr)" "163 of 163" "auth/$auth: under stepmgr, too"
	cluster_check
	cluster_stop
	CLUSTER=
done
done_testing
