#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A site's own switch plugin inside ours: it gets every call with its own data,
# in slurmctld, on the nodes, under stepmgr, over restarts, and while SwitchType
# changes.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
[ "$CLUSTER_SERIES" -ge 2405 ] ||
	skip_all "there is no switch/commplace before Slurm 24.05: doc/admin-guide.md, Versions of Slurm"
CLUSTER_ROWS=1 CLUSTER_TASK=task/commplace
CLUSTER_EXTRA="PrologFlags=Contain
SwitchParameters=first=1,commplace_wraps=switch/test,last=2"
# Slurm finds the other plugin, too, and ours inside it.
test_plugins=${COMMPLACE_BUILD:?}/tests/tools/.libs
eval "plain_$(declare -f cluster_write_conf)"
cluster_write_conf() {
	plain_cluster_write_conf
	sed -i "s|^PluginDir=|&$test_plugins:|" "$SLURM_CONF"
}
cluster_start
cluster_signature pairs16 16 pairs
home=$CLUSTER/home
printf '#!/bin/bash\n%s\necho "%s" >&2\n' "$PRINT_RANK" \
	'$SLURM_PROCID $SWITCH_TEST ${COMMPLACE_PLAN-unset}' >"$home/print.sh"
chmod 755 "$home/print.sh"
OPTIONS=(-N4 -n16 --exclusive --comm-profile=pairs16)

# set_conf KEY=VALUE: in slurm.conf, and slurmctld and the slurmds begin anew
set_conf() {
	local n
	# All at once: each takes two seconds.
	for n in "$CLUSTER"/run/slurmd.*.pid; do
		kill "$(cat "$n")"
	done
	sed -i "s|^${1%%=*}=.*|$1|" "$SLURM_CONF"
	cluster_stop_ctld
	for n in $(cluster_nodes); do
		cluster_kill "$CLUSTER/run/slurmd.$n.pid"
		cluster_start_slurmd "$n"
	done
	cluster_start_ctld && wait_for 60 cluster_nodes_up
}
# In the logs: switch_test's HOOK with DATA
called() {
	wait_for 10 grep -qE "switch_test: $1 $2\$" "$CLUSTER/log/$3"*.log
}
tasks_have() { # FILE WHAT: all 16 tasks
	is "$(grep '^[0-9]' "$1" | awk '{ print $2 }' | sort | uniq -c | awk '{ print $1, $2 }')" \
		"16 $2" "$3"
}
until_go='touch waits; until [ -e go ]; do sleep 0.1; done'
waits() {
	wait_for 60 test -e "$home/waits" && rm "$home/waits"
}

called init 'first=1,last=2' slurmctld
ok $? "the wrapped plugin has SwitchParameters without our word"
called restore none slurmctld
ok $? "and is told of the start"
rm -f "$home/go"
cat >"$home/step.sh" <<-END
	#!/bin/bash
	srun ./print.sh >first.out 2>first.err
	$until_go
	srun ./print.sh >last.out 2>last.err
END
job=$(submit "${OPTIONS[@]}" step.sh)
waits
ok $? "a job with a step"
is "$(ranks "$home/first.out")" "$(planned "$job")" "its ranks follow the plan"
isnt "$(planned "$job" | tr ' ' '\n' | uniq | wc -l)" 4 "which is not in blocks"
tasks_have "$home/first.err" "$job.0" "all tasks have the data of the other plugin"
is "$(grep -c unset "$home/first.err")" 0 "and a plan for their CPUs"
for hook in job_start:$job stepinfo_build:$job.0 job_step_complete:$job.0; do
	called "${hook%:*}" "${hook#*:}" slurmctld
	ok $? "slurmctld: ${hook%:*}"
done
for hook in job_preinit job_init job_postfini; do
	called $hook "$job.0" slurmd.
	ok $? "node: $hook"
done

# It looks at its other jobs when the first begins after a start.
cluster_restart_ctld
called jobinfo_unpack "$job" slurmctld
ok $? "slurmctld restarted: the running job has its data"
called save none slurmctld
ok $? "the end of slurmctld is told, too"
other=$(submit -N1 -n1 --wrap "exec sleep 300")
wait_running "$other"
ok $? "another job begins"
called "other job" "$job" slurmctld
ok $? "and the plugin sees the data of the first"
touch "$home/go"
wait_ended "$job" 60
ok $? "which ends well"
is "$(ranks "$home/last.out")" "$(planned "$job")" "its last step follows the plan"
tasks_have "$home/last.err" "$job.1" "with the other plugin's data"
called job_complete "$job" slurmctld
ok $? "slurmctld: job_complete"
cancel_all

rm -f "$home"/*.out "$home"/*.err
touch "$home/go"
job=$(submit "${OPTIONS[@]}" --stepmgr step.sh)
wait_ended "$job" 60
ok $? "under stepmgr: ended well"
is "$(ranks "$home/first.out") $(ranks "$home/last.out")" \
	"$(planned "$job") $(planned "$job")" "both steps follow the plan"
tasks_have "$home/last.err" "$job.1" "with the other plugin's data"
is "$(grep -c unset "$home/last.err")" 0 "and a plan for their CPUs"
called stepinfo_build "$job.1" slurmd.
ok $? "which a node has made"
cancel_all

# SwitchType changes under running jobs; whose data is in the state does not
# keep a job from going on.
changes() { # NAME FROM TO: SwitchType, while a job runs
	set_conf "$2"
	rm -f "$home"/*.out "$home"/*.err "$home/go" "$home/waits"
	job=$(submit "${OPTIONS[@]}" step.sh)
	waits
	ok $? "$1: a step before"
	is "$(ranks "$home/first.out" | wc -w) $(ls "$home/last.out" 2>&1 | grep -c such)" \
		"16 1" "$1: and none yet after"
	set_conf "$3"
	ok $? "$1: all daemons begin anew"
	touch "$home/go"
	wait_ended "$job" 60
	ok $? "$1: the job goes on and ends well" ||
		diag "$(cat "$home"/*.err)"
	is "$(ranks "$home/last.out" | wc -w)" 16 "$1: all ranks of its last step"
}
changes "switched on" SwitchType=switch/test SwitchType=switch/commplace
is "$(ranks "$home/last.out")" "$(planned "$job")" "in the plan's order"
cancel_all
changes "switched off" SwitchType=switch/commplace SwitchType=switch/test
tasks_have "$home/last.err" none.1 "without the data that commplace had wrapped"
cancel_all
set_conf SwitchType=switch/commplace
changes "no longer wrapped" "SwitchParameters=commplace_wraps=switch/test" \
	"SwitchParameters=none=1"
is "$(ranks "$home/last.out")" "$(planned "$job")" "in the plan's order"
cancel_all

# Debian's own; it has no channels here, and says so.
if ls "$SLURM_STOCK_PLUGINS/switch_nvidia_imex.so" >/dev/null 2>&1; then
	changes "nvidia_imex, then another" "SwitchParameters=commplace_wraps=switch/nvidia_imex,imex_channel_count=8" \
		"SwitchParameters=commplace_wraps=switch/test"
	is "$(ranks "$home/last.out")" "$(planned "$job")" "in the plan's order"
	tasks_have "$home/last.err" none.1 "one that is wrapped instead never gets its data"
	cancel_all
fi
is "$(grep -h 'foreign data\|switch.*unpack error' "$CLUSTER"/log/*.log | head -5)" "" \
	"no plugin has seen data that is not its own"

# What cannot be wrapped: no daemon comes up without saying why.
for wrong in switch/nowhere switch/commplace switch/../x ''; do
	cluster_stop_ctld
	sed -i "s|^SwitchParameters=.*|SwitchParameters=commplace_wraps=$wrong|" "$SLURM_CONF"
	mv "$CLUSTER/log/slurmctld.log" "$CLUSTER/log/before.log"
	timeout 20 bash -c 'exec slurmctld -D -f "$SLURM_CONF"' \
		>"$CLUSTER/log/wrong.out" 2>&1
	case $wrong in
	switch/nowhere) why='cannot load switch_nowhere.so: .*' ;;
	*) why='SwitchParameters=commplace_wraps=.* names no other switch plugin' ;;
	esac
	like "$(cat "$CLUSTER/log/wrong.out" "$CLUSTER/log/slurmctld.log")" \
		"commplace: $why" "commplace_wraps=$wrong: refused with the reason"
	is "$(cluster_ping && echo up)" "" "and slurmctld is down"
done
sed -i "s|^SwitchParameters=.*|SwitchParameters=commplace_wraps=switch/test|" "$SLURM_CONF"
rm "$CLUSTER/log/slurmctld.log"
: >"$CLUSTER/log/slurmctld.out"
cluster_start_ctld
ok $? "mended, it starts"
cluster_check
done_testing
