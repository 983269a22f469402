#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `scontrol reconfigure` of slurmctld, and slurmds told to read their files again or
# begun anew, while jobs begin and end all the time: no job is lost, each that was
# placed is on record once, and in the end the loads are those that a slurmctld with
# no memory of them reads from the records. COMMPLACE_RECONFIGURE_JOBS: short jobs.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
# It unloads accounting before the submissions that it has begun with are over.
[ "$SLURM_VERSION" != 25.05.8 ] ||
	skip_all "slurmctld 25.05.8 crashes by itself where a job is submitted while it hands over"
: "${COMMPLACE_RECONFIGURE_JOBS:=40}"
CLUSTER_DEBUG_FLAGS=SelectType,NO_CONF_HASH
CLUSTER_CRED_EXPIRE=6
CLUSTER_MIN_JOB_AGE=3000
CLUSTER_SLURMD_TIMEOUT=0
CLUSTER_EXTRA="BatchStartTimeout=30"
cluster_start
cluster_signature pairs8 8 pairs
cluster_signature ring8 8

cluster_steps_script
# Each job says where its ranks were. What its srun says for want of a slurmctld that
# answers at once is no matter: the step comes.
cat >"$CLUSTER/home/short.sh" <<END
#!/bin/bash
echo begin >>runs.\$SLURM_JOB_ID
srun -n8 sh -c '$PRINT_RANK' >ranks.\$SLURM_JOB_ID 2>err.\$SLURM_JOB_ID
sleep 0.3
echo end >>runs.\$SLURM_JOB_ID
END
submit_jobs() {
	local i
	for ((i = 1; i <= COMMPLACE_RECONFIGURE_JOBS; i++)); do
		until as_user timeout 60 sbatch --parsable -o /dev/null \
			-N$((2 + i % 3)) -n8 --exclusive --comm-profile=$(
				((i % 2)) && echo pairs8 || echo ring8) \
			short.sh 2>/dev/null; do
			sleep 0.5
		done
		sleep 0.3
	done >"$CLUSTER/submitted"
	touch "$CLUSTER/all-submitted"
}

kept=$(submit -N3 -n8 --exclusive -o /dev/null --comm-profile=ring8 steps.sh)
wait_running "$kept"
plan=$(planned "$kept")
before=$(load_of "$kept")
is "$(order_now "$kept")" "$plan" "steps of a long job go by its plan"

submit_jobs 3>&- 4>&- &
submitter=$!
on_exit 'kill "$submitter" 2>/dev/null'
submitted_all() { [ -e "$CLUSTER/all-submitted" ]; }
# Both sorts of a slurmd's: its files read again (SIGHUP, as systemctl reload does),
# and a new slurmd whose steps outlive the one before.
times=0 fresh=0 refused=0
while ! submitted_all && [ "$times" -lt 200 ]; do
	case $((times % 4)) in
	0 | 2) scontrol reconfigure >/dev/null 2>&1 || refused=$((refused + 1)) ;;
	1) cluster_register ;;
	3)
		node=n$((fresh % CLUSTER_N))
		fresh=$((fresh + 1))
		cluster_kill "$CLUSTER/run/slurmd.$node.pid"
		cluster_start_slurmd "$node"
		;;
	esac
	times=$((times + 1))
	sleep 0.7
done
submitted_all
ok $? "$COMMPLACE_RECONFIGURE_JOBS jobs are taken in the course of $times reconfigurations ($fresh of them slurmds begun anew)"
diag "$refused were refused"
[ "$times" -ge 8 ]
ok $? "which are enough to tell"
others_ended() {
	[ "$(squeue -h -a -o %A)" = "$kept" ]
}
# Nodes say now and then what runs on them, as to any slurmctld that has waited.
ended_and_said() {
	others_ended && return
	[ $((SECONDS - said)) -lt 10 ] || { cluster_register; said=$SECONDS; }
	return 1
}
said=$SECONDS
wait_for 120 ended_and_said
ok $? "all have ended" || diag "$(squeue -a)"

squeue -h -a -t all -O "JobID:|,State:|,admin_comment:200" |
	sed 's/ *|/|/g' >"$CLUSTER/jobs"
is "$(awk -F'|' 'NR == FNR { state[$1] = $2; next }
	state[$1] != "COMPLETED" { print $1, state[$1] }' \
	"$CLUSTER/jobs" "$CLUSTER/submitted" | head -5)" "" "none is lost, all completed"
is "$(while read -r id; do
	[ "$(paste -sd' ' "$CLUSTER/home/runs.$id" 2>/dev/null)" = "begin end" ] ||
		echo "$id"
done <"$CLUSTER/submitted" | head -5)" "" "each has run once"
ended=$CLUSTER/decisions/ended
on_record() {
	while read -r id; do
		[ -f "$ended/$id.json" ] || echo "$id"
	done <"$CLUSTER/submitted" | paste -sd' '
}
comes_to "" on_record
is "$COME" "" "each is on record"
is "$(while read -r id; do
	jq -r '.outcome' "$ended/$id.json"
done <"$CLUSTER/submitted" | sort | uniq -c | tr -s ' ')" \
	" $COMMPLACE_RECONFIGURE_JOBS placed" "as placed"
is "$(while read -r id; do
	grep -q "^$id|.*| commplace: policy=\|^$id|.*commplace: policy=" \
		"$CLUSTER/jobs" || echo "$id"
done <"$CLUSTER/submitted" | head -5)" "" "and in its AdminComment"
is "$(while read -r id; do
	[ "$(ranks "$CLUSTER/home/ranks.$id")" = "$(planned "$id")" ] ||
		echo "$id: $(ranks "$CLUSTER/home/ranks.$id") for $(planned "$id") $(head -c 200 "$CLUSTER/home/err.$id")"
done <"$CLUSTER/submitted" | head -5)" "" "ranks of all were where it says"
is "$(jq -r --argjson kept "$kept" 'select((.background | index($kept)) == null) |
	.job' $(sed "s|.*|$ended/&.json|" "$CLUSTER/submitted") | head -5)" "" \
	"the long job was in the background of each"
commplace replay --json "$CLUSTER/decisions" >"$CLUSTER/replay"
is "$(jq -r '.records[] | select(.verdict == "different") |
	"job \(.job): \(.why)"' "$CLUSTER/replay" | head -5)" "" \
	"each decision is what its state comes to"
is "$(find "$CLUSTER/decisions/running" -name '[0-9]*.json' -printf '%f ')" \
	"$kept.json " "the long job alone is on record as running"
is "$(ls "$CLUSTER"/decisions/damaged 2>/dev/null)" "" "no record is damaged"
is "$(find "$CLUSTER/decisions" -name '*.tmp*' | head -3)" "" "nor left half"
is "$(load_of "$kept")" "$before" "loads are as before"
is "$(order_now "$kept")" "$plan" "steps of the long job go by its plan"

# What the next job sees, now and after slurmctld has begun from scratch.
probe() {
	local job
	job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8)
	wait_running "$job"
	decision "$job" '[.hosts, .background, .seconds, .run_seconds, .load // ""] | tostring'
	scancel "$job"
	gone() { ! job_is "$job" "RUNNING COMPLETING"; }
	wait_for 20 gone
}
now=$(probe)
cluster_restart_ctld
ok $? "slurmctld begins from scratch"
like "$now" "$kept" "the next job sees the long one"
is "$(probe)" "$now" "and is decided as from scratch"
is "$(load_of "$kept")" "$before" "loads are as from scratch"
cancel_all
cluster_check
done_testing
