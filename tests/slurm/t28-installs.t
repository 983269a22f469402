#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Half an installation, plugins of another Slurm, words missing in slurm.conf:
# a daemon starts and jobs have the stock answers, or it says why it does not.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
cluster_start
cluster_signature pairs8 8 pairs
home=$CLUSTER/home
log=$CLUSTER/log/slurmctld.log
ours=$CLUSTER/plugins
stock=$CLUSTER/stock
like "$(cat "$log")" "commplace: TaskPlugin=(task/none)? without task/commplace: tasks are bound by Slurm alone" \
	"without task/commplace slurmctld says so"
sed -i "s|^PluginDir=.*|PluginDir=$ours:$stock|" "$SLURM_CONF"
sed -i "s|$COMMPLACE_PREFIX/lib/slurm-wlm|$ours|" "$CLUSTER/etc/plugstack.conf"
cp "$SLURM_CONF" "$CLUSTER/etc/whole.conf"
newer=
[ "$CLUSTER_SERIES" -lt 2405 ] || newer=yes

# whole: everything installed, slurm.conf as it should be
whole() {
	rm -rf "$ours" "$stock"
	mkdir "$ours" "$stock"
	cp "$COMMPLACE_PREFIX"/lib/slurm-wlm/*.so "$ours"
	ln -s "$SLURM_STOCK_PLUGINS"/* "$stock"
	cp "$CLUSTER/etc/whole.conf" "$SLURM_CONF"
}

# of_another_slurm FILE: its version is that of no Slurm
of_another_slurm() {
	local at
	at=$(nm -D "$ours/$1" | sed -n 's/ R plugin_version$//p')
	printf '\1\0\27\0' | dd of="$ours/$1" bs=1 seek=$((16#$at)) \
		conv=notrunc status=none
}

# refuses NAME REGEX DAEMON ARGUMENT...: it ends, not well, and says why
refuses() {
	local name=$1 regex=$2
	shift 2
	timeout 30 "$@" >"$CLUSTER/refused.out" 2>&1 3>&- 4>&-
	like "$?" "^[1-9]$" "$name: it does not come up"
	like "$(cat "$CLUSTER/refused.out")" "$regex" "$name: it says why"
}

ctld_refuses() {
	refuses "slurmctld, $1" "$2" bash -c \
		'exec slurmctld -D -f "$SLURM_CONF"'
}

slurmd_refuses() {
	refuses "slurmd, $1" "$2" bash -c \
		'exec slurmd -D -N n15 -f "$SLURM_CONF"'
}

# starts NAME REGEX: slurmctld comes up, and its log says that
starts() {
	: >"$log"
	cluster_start_ctld && wait_for 30 cluster_nodes_up
	ok $? "$1: slurmctld is up" || diag "$(sinfo -R; sinfo -N; tail -5 "$CLUSTER/log/slurmd.n15.log")"
	like "$(cat "$log")" "$2" "$1: its log says so"
}

# step SBATCH-OPTION...: a job of 8 ranks that prints them
step() {
	printf '#!/bin/bash\nsrun -n8 sh -c '\''%s'\'' >step.out 2>&1\n' \
		"$PRINT_RANK" >"$home/step.sh"
	rm -f "$home/step.out"
	job=$(submit -N4 -n8 --exclusive "$@" step.sh) && wait_ended "$job" 30
}

# doctor NAME REGEX: says what is wrong
doctor() {
	commplace doctor >"$CLUSTER/doctor.out" 2>&1
	like "$(grep -E "^(ok|note|wrong) +${2%% *} " "$CLUSTER/doctor.out")" "$2" \
		"$1: commplace doctor" || diag "$(cat "$CLUSTER/doctor.out")"
}

cluster_stop_ctld
another='Incompatible Slurm plugin .*'

# slurmctld's plugins
whole
rm "$ours/select_cons_tres_commplace.so"
ctld_refuses "no select plugin" "select/cons_tres_commplace"
whole
of_another_slurm select_cons_tres_commplace.so
ctld_refuses "a select plugin of another Slurm" \
	"$another/select_cons_tres_commplace.so"
whole
rm "$ours/select_cons_tres_commplace.so"
doctor "no select plugin" "SelectType +select_cons_tres_commplace.so is not in"
whole
rm "$stock/select_cons_tres.so"
ctld_refuses "no stock select plugin" "commplace: cannot load select_cons_tres.so from PluginDir"
whole
rm "$ours/job_submit_commplace.so"
ctld_refuses "no job_submit plugin" "job_submit.commplace"
whole
of_another_slurm job_submit_commplace.so
ctld_refuses "a job_submit plugin of another Slurm" \
	"$another/job_submit_commplace.so"
if [ -n "$newer" ]; then
	whole
	rm "$ours/switch_commplace.so"
	ctld_refuses "no switch plugin" "switch/commplace"
	slurmd_refuses "no switch plugin" "switch/commplace"
	whole
	of_another_slurm switch_commplace.so
	ctld_refuses "a switch plugin of another Slurm" \
		"$another/switch_commplace.so"
	whole
	echo SwitchParameters=commplace_wraps=switch/nosuch >>"$SLURM_CONF"
	ctld_refuses "no plugin to wrap" \
		"commplace: cannot load switch_nosuch.so"
fi

# slurmd's
whole
sed -i 's|^TaskPlugin=.*|TaskPlugin=task/commplace|' "$SLURM_CONF"
rm "$ours/task_commplace.so"
cluster_kill "$CLUSTER/run/slurmd.n15.pid"
slurmd_refuses "no task plugin" "task/commplace"
whole
sed -i 's|^TaskPlugin=.*|TaskPlugin=task/commplace|' "$SLURM_CONF"
of_another_slurm task_commplace.so
slurmd_refuses "a task plugin of another Slurm" \
	"$another/task_commplace.so"

# What slurm.conf leaves out
# In 24.05 slurmctld and slurmd cannot read each other's launches if only one of them
# has a SwitchType.
same_switch_on_nodes() {
	local n
	[ "$CLUSTER_SERIES" -eq 2405 ] || return 0
	for n in $(cluster_nodes); do
		cluster_kill "$CLUSTER/run/slurmd.$n.pid"
		cluster_start_slurmd "$n"
	done
}
whole
rm -f "$CLUSTER/log/slurmd.n15.log"
cluster_start_ctld && cluster_start_slurmd n15
cluster_stop_ctld
if [ -n "$newer" ]; then
	sed -i '/^SwitchType=/d' "$SLURM_CONF"
	same_switch_on_nodes
	starts "no SwitchType" "commplace: SwitchType=.* is not switch/commplace: ranks keep Slurm's order"
	step --comm-profile=pairs8
	ok $? "no SwitchType: a job with a profile runs"
	is "$(decision "$job" .outcome)" placed "no SwitchType: placed"
	hosts=$(job_hosts "$job")
	is "$(ranks "$home/step.out")" \
		"$(for h in $hosts; do echo "$h" "$h"; done | paste -sd' ')" \
		"no SwitchType: ranks in Slurm's order"
	like "$(commplace explain "$job" --state-dir "$CLUSTER/decisions")" \
		"mapping +none: the ranks are in Slurm's order" \
		"no SwitchType: commplace explain says so"
	cluster_stop_ctld
fi
whole
same_switch_on_nodes
sed -i '/^JobSubmitPlugins=/d' "$SLURM_CONF"
starts "no JobSubmitPlugins" "commplace: JobSubmitPlugins= without commplace: options are not checked at submission"
step --comm-profile=nosuch
ok $? "no JobSubmitPlugins: a job with a profile that is none runs"
like "$(decision "$job" '.outcome + " " + .reason')" "^stock .*nosuch" \
	"no JobSubmitPlugins: on the stock nodes, and why is on record"
step --comm-profile=pairs8
is "$(decision "$job" .outcome)" placed \
	"no JobSubmitPlugins: other profiles are used"
doctor "no JobSubmitPlugins" "JobSubmitPlugins +not set"
doctor "no JobSubmitPlugins: slurmctld" "slurmctld +answers"
doctor "no JobSubmitPlugins: nodes" "nodes +16, the same"
doctor "no JobSubmitPlugins: decisions" 'decisions +[0-9]+ placed, [0-9]+ fell back .*"profile_missing"'
doctor "no JobSubmitPlugins: the process that decides" "commplaced +answers; it has 16 nodes"
cluster_stop_ctld

whole
sed -i 's|^SelectType=.*|SelectType=select/cons_tres|' "$SLURM_CONF"
: >"$log"
cluster_start_ctld && wait_for 30 cluster_nodes_up
ok $? "stock SelectType beside our other plugins: slurmctld is up"
job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8) && wait_running "$job"
is "$(job_hosts "$job")" "n0 n1 n2 n3" "stock SelectType: the stock nodes"
like "$(cat "$log")" "commplace: SelectType=select/cons_tres is not select/cons_tres_commplace" \
	"stock SelectType: the log says so"
cluster_stop_ctld

whole
mv "$CLUSTER/etc/commplace.conf" "$CLUSTER/etc/away"
starts "no commplace.conf" "commplace: .*commplace.conf: No such file"
scancel "$job"
wait_for 30 cluster_no_jobs
step
ok $? "no commplace.conf: jobs run"
is "$(job_hosts "$job")" "n0 n1 n2 n3" "no commplace.conf: on the stock nodes"
mv "$CLUSTER/etc/away" "$CLUSTER/etc/commplace.conf"
cluster_reconfigure

# Hosts without SPANK: where jobs are submitted, and where they run.
plugstack=$CLUSTER/etc/plugstack.conf
says() { # NAME REGEX SBATCH-OPTION...
	local name=$1 regex=$2
	shift 2
	like "$(as_user sbatch "$@" --wrap true 2>&1)" "$regex" "$name"
}
cp "$plugstack" "$plugstack.whole"
: >"$plugstack"
says "plugstack.conf without us: sbatch knows no --comm-profile" \
	"unrecognized option '--comm-profile" --comm-profile=pairs8
says "plugstack.conf without us: other jobs are accepted" "^Submitted" -N1
rm "$plugstack"
says "no plugstack.conf: other jobs are accepted" "^Submitted" -N1
echo "required $ours/nosuch.so" >"$plugstack"
says "a required SPANK plugin that is missing: sbatch says so" "nosuch.so" -N1
echo "optional $ours/nosuch.so" >"$plugstack"
says "an optional one: other jobs are accepted" "Submitted" -N1
cp "$plugstack.whole" "$plugstack"
of_another_slurm spank_commplace.so
says "a SPANK plugin of another Slurm: sbatch says so" \
	"spank_commplace.so" -N1
# What the jobs' slurmstepds load is there until they are.
cancel_all
whole

# The nodes' slurmds have a plugstack.conf of their own, without us.
mkdir "$CLUSTER/node"
cp "$CLUSTER"/etc/*.conf "$CLUSTER/node"
: >"$CLUSTER/node/plugstack.conf"
sed -i "s|^PlugStackConfig=.*|PlugStackConfig=$CLUSTER/node/plugstack.conf|" \
	"$CLUSTER/node/slurm.conf"
for n in $(cluster_nodes); do
	cluster_kill "$CLUSTER/run/slurmd.$n.pid"
	SLURM_CONF=$CLUSTER/node/slurm.conf cluster_start_slurmd "$n"
done
wait_for 30 cluster_nodes_up
step --comm-profile=pairs8
ok $? "nodes without SPANK: a job with a profile runs"
is "$(decision "$job" .outcome)" placed "nodes without SPANK: placed"
is "$(ranks "$home/step.out")" "$(planned "$job")" \
	"nodes without SPANK: ranks as planned"
cluster_check
done_testing
