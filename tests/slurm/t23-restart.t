#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slurmctld restarted, reconfigured, and with site files that are wrong: jobs
# are never lost, and what cannot be decided ends in the stock answer.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
cluster_start
cluster_signature ring8 8
cluster_signature pairs8 8 pairs
log=$CLUSTER/log/slurmctld.log

reconfigure() {
	cluster_write_site
	cluster_reconfigure
}

# Restart with jobs running and pending.
running=$(submit -N6 -n8 --exclusive --comm-profile=ring8)
wait_running "$running"
hosts=$(job_hosts "$running")
plan=$(planned "$running")
other=$(submit -N9 --exclusive)
wait_running "$other"
pending=$(submit -N4 -n8 --exclusive --comm-profile=pairs8)
sleep 1
is "$(job_state "$pending")" PENDING "one job waits"
cluster_restart_ctld
ok $? "slurmctld is restarted"
is "$(job_state "$running")" RUNNING "the placed job still runs"
is "$(job_hosts "$running")" "$hosts" "on its nodes"
is "$(planned "$running")" "$plan" "with its plan"
is "$(job_state "$pending")" PENDING "the waiting one still waits"
scancel "$other"
gone() { ! job_is "$other" "RUNNING COMPLETING"; }
wait_for 20 gone
wait_running "$pending" 40
ok $? "and starts when there are nodes"
is "$(decision "$pending" .outcome)" placed "placed"
is "$(decision "$pending" '.background | join(" ")')" "$running" \
	"with the traffic of the one from before the restart in the background"
# A step of a job that outlived the restart.
scancel "$pending"
out=$(as_user srun --jobid="$running" -n8 --overlap sh -c "$PRINT_RANK" 2>&1)
echo "$out" >"$CLUSTER/ranks.out"
is "$(ranks "$CLUSTER/ranks.out")" "$plan" \
	"steps after the restart follow the plan from before"
cancel_all

# Mode=off and observe.
CLUSTER_SITE="Mode=off"
reconfigure
job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8)
wait_running "$job"
is "$(job_hosts "$job")" "n0 n1 n2 n3" "Mode=off: the stock nodes"
cancel_all
CLUSTER_SITE="Mode=observe"
reconfigure
job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8)
wait_running "$job"
is "$(job_hosts "$job")" "n0 n1 n2 n3" "Mode=observe: the stock nodes"
is "$(decision "$job" .outcome)" observed "and the decision on record"
cancel_all

# A new good configuration is taken on, a broken one is not.
CLUSTER_SITE="DefaultPolicy=round-robin-routers"
reconfigure
job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8)
wait_running "$job"
is "$(decision "$job" .policy_asked)" round-robin-routers \
	"reconfigure: the new default policy"
cancel_all
# step_order: ranks of a step that job $kept makes when it is told to
step_order() {
	rm -f "$CLUSTER/home/ranks.out"
	as_user touch go
	stepped() { [ -e "$CLUSTER/home/ranks.out" ]; }
	wait_for 30 stepped
	ranks "$CLUSTER/home/ranks.out"
}
cat >"$CLUSTER/home/steps.sh" <<END
#!/bin/bash
while sleep 0.2; do
	[ -e go ] || continue
	rm go
	srun -n8 sh -c '$PRINT_RANK' >ranks.new 2>&1
	mv ranks.new ranks.out
done
END
kept=$(submit -N4 -n8 --exclusive --comm-profile=pairs8 steps.sh)
wait_running "$kept"
plan=$(planned "$kept")
hosts=$(job_hosts "$kept")
is "$(step_order)" "$plan" "a job runs as planned"
CLUSTER_SITE="DefaultPolicy=no-such-policy"
reconfigure
like "$(grep ' commplace: ' "$log" | tail -20)" "commplace.conf:[0-9]+: .*no-such-policy" \
	"a broken configuration is reported with file and line"
is "$(job_state "$kept")/$(job_hosts "$kept")" "RUNNING/$hosts" \
	"the job runs on"
is "$(decision "$kept" .outcome)/$(planned "$kept")" "placed/$plan" \
	"with its decision on record"
job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8)
wait_running "$job"
# From 23.11 on slurmctld reconfigures as a new process, which has no old one.
if [ "$CLUSTER_SERIES" -lt 2311 ]; then
	is "$(decision "$job" .policy_asked)" round-robin-routers \
		"the old one is kept"
	is "$(step_order)" "$plan" "steps of the first go by its plan"
else
	is "$(decision "$job" .outcome)" "" "nothing is decided"
	like "$(as_user sbatch -n4 --comm-profile=nosuch --wrap true 2>&1)" \
		"commplace: not in force" "at submission users are told"
	is "$(step_order)" "$(for h in $hosts; do echo "$h $h"; done |
		paste -sd' ')" "steps of the first run in Slurm's order"
fi
# Mended.
CLUSTER_SITE=
reconfigure
is "$(step_order)" "$plan" "with a whole configuration they go by its plan"
is "$(decision "$kept" .outcome)/$(planned "$kept")" "placed/$plan" \
	"which is on record as before"
cancel_all
CLUSTER_SITE="DefaultPolicy=no-such-policy"
cluster_write_site

# Started with a broken configuration: all stock, and up.
cluster_restart_ctld
ok $? "slurmctld starts with a broken commplace.conf"
job=$(submit -N4 -n8 --exclusive)
wait_running "$job"
is "$(job_hosts "$job")" "n0 n1 n2 n3" "jobs get the stock nodes"
cancel_all
CLUSTER_SITE=
reconfigure

# The network file is missing, damaged, or of another machine.
stock_with() { # NAME REGEX
	reconfigure
	cluster_restart_ctld || { fail "$1: slurmctld starts"; return; }
	job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8)
	wait_running "$job"
	ok $? "$1: jobs run"
	is "$(job_hosts "$job")" "n0 n1 n2 n3" "$1: on the stock nodes"
	like "$(grep ' commplace: ' "$log" | tail -30)" "$2" "$1: the log says why"
	cancel_all
}
mv "$NETWORK" "$NETWORK.away"
stock_with "missing network file" "network.json"
echo '{"format": "commplace-network", "version": 1, ' >"$NETWORK"
stock_with "damaged network file" "network.json"
mv "$NETWORK.away" "$NETWORK"
reconfigure
job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8)
wait_running "$job"
is "$(decision "$job" .outcome)" placed "the right file again: placed"
cancel_all

# The network names nodes that Slurm has not, and the reverse.
cp "$NETWORK" "$NETWORK.good"
cluster_network "$NETWORK" "n[0-9],x[0-5]"
reconfigure
cluster_restart_ctld
job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8)
wait_running "$job"
ok $? "a network with nodes that Slurm lacks: jobs run"
is "$(job_hosts "$job" | wc -w)" 4 "on four nodes"
like "$(grep -E '(error:|\]) commplace: ' "$log" | tail -5)" "x[0-5]|x\[" \
	"the log names those nodes"
cancel_all
job=$(submit -N4 -n8 --exclusive -w n12,n13 --comm-profile=pairs8)
wait_running "$job"
ok $? "a job on nodes that the network lacks runs"
cancel_all
cluster_signature all14 14 all
job=$(submit -N14 -n14 --exclusive --comm-profile=all14)
wait_running "$job"
ok $? "so does one that needs more nodes than the network has"
is "$(job_hosts "$job" | wc -w)" 14 "on all of its nodes"
cancel_all
cp "$NETWORK.good" "$NETWORK"

# A profile damaged while the job waits: the stock answer.
reconfigure
block=$(submit -N16 --exclusive)
wait_running "$block"
job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8)
echo broken >"$PROFILES/pairs8.json"
cluster_restart_ctld
scancel "$block"
wait_running "$job" 40
ok $? "a profile damaged after submission: the job runs"
is "$(job_hosts "$job")" "n0 n1 n2 n3" "on the stock nodes"
like "$(decision "$job" '.outcome + " " + .reason')" "^stock .*pairs8" \
	"the record says why"
cancel_all

# From the stock plugin to ours and back with a job in the system.
cluster_signature pairs8 8 pairs
job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8)
wait_running "$job"
hosts=$(job_hosts "$job")
cluster_stop_ctld
sed -i 's|^SelectType=.*|SelectType=select/cons_tres|' "$SLURM_CONF"
cluster_start_ctld
ok $? "slurmctld starts with the stock plugin"
is "$(job_state "$job")/$(job_hosts "$job")" "RUNNING/$hosts" \
	"a job placed by ours still runs"
cluster_stop_ctld
sed -i 's|^SelectType=.*|SelectType=select/cons_tres_commplace|' "$SLURM_CONF"
cluster_start_ctld
is "$(job_state "$job")/$(job_hosts "$job")" "RUNNING/$hosts" \
	"and after the way back"
cancel_all
cluster_check
done_testing
