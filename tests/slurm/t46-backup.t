#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A backup slurmctld on the same StateSaveLocation and StateDir. The primary is
# killed, shut down by `scontrol takeover`, killed again, and comes back each time,
# while jobs are submitted: what is decided, on record and loaded is as if one
# slurmctld had been in charge all the time, and the one in standby does nothing.
# COMMPLACE_BACKUP_JOBS: short jobs in all.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
: "${COMMPLACE_BACKUP_JOBS:=60}"
# Names that need no resolver: a slurmctld knows its place among SlurmctldHost by
# its host's name, and listens at that address alone.
first=127.0.0.1 second=127.0.0.2
CLUSTER_CTLD_HOSTS="$first $second"
CLUSTER_DEBUG_FLAGS=NO_CONF_HASH
CLUSTER_CRED_EXPIRE=6
CLUSTER_MIN_JOB_AGE=3000
CLUSTER_SLURMD_TIMEOUT=0
CLUSTER_CTLD_TIMEOUT=4
CLUSTER_EXTRA="CommunicationParameters=NoCtldInAddrAny
BatchStartTimeout=3"
# There a long job was requeued when the killed primary came back,
# for a reason that is not known yet.
[ "$CLUSTER_SERIES" -lt 2605 ] ||
	skip_all "not shown on this Slurm yet: doc/admin-guide.md, A backup slurmctld"
unshare --uts bash -c 'echo "$0" >/proc/sys/kernel/hostname' $first 2>/dev/null ||
	skip_all "no namespace with a host name of its own can be made"
# Each call on StateDir of either slurmctld is a line of CALLS.HOST.hits.
tools=${COMMPLACE_BUILD:?}/tests/tools/.libs
calls=$(mktemp -u /tmp/commplace-calls.XXXXXX)
on_exit 'rm -f "$calls".*'
for host in $first $second; do
	echo "1 all count 1 0 /decisions/" >"$calls.$host"
	: >"$calls.$host.hits"
done
me=$first
slurmctld() {
	unshare --uts env COMMPLACE_FAULTS="$calls.$me" bash -c '
		echo "$0" >/proc/sys/kernel/hostname &&
		export LD_PRELOAD="$1" && shift && exec -a slurmctld "$@"' \
		"$me" "$tools/faults.so" "$(type -P slurmctld)" "$@"
}
cluster_start
cluster_signature pairs8 8 pairs
cluster_signature ring8 8
log=$CLUSTER/log/backup.log
sed "s|slurmctld.pid|backup.pid|; s|slurmctld.log|backup.log|" \
	"$SLURM_CONF" >"$CLUSTER/etc/backup.conf"

start_primary() {
	me=$first
	slurmctld -f "$SLURM_CONF" >>"$CLUSTER/log/slurmctld.out" 2>&1 \
		</dev/null 3>&- 4>&-
}
start_backup() {
	me=$second
	slurmctld -f "$CLUSTER/etc/backup.conf" \
		>>"$CLUSTER/log/slurmctld.out" 2>&1 </dev/null 3>&- 4>&-
}
# in_charge HOST [SECONDS]: it, and no other, answers for jobs
in_charge() {
	local n
	n=$([ "$1" = $first ] && echo 0 || echo 1)
	is_in_charge() {
		[ "$(od -An -j8 -N8 -t u1 "$CLUSTER/state/heartbeat" 2>/dev/null |
			tr -d ' ')" = "0000000$n" ] &&
			timeout 10 squeue -h >/dev/null 2>&1
	}
	wait_for "${2:-40}" is_in_charge
}
calls_of() {
	wc -l <"$calls.$1.hits"
}
# The same once it has taken leave of its own socket there.
calls_in_the_end() {
	local before= now
	while now=$(calls_of "$1") && [ "$now" != "$before" ]; do
		before=$now
		sleep 3
	done
	echo "$now"
}

# Short jobs all the time, each as soon as somebody takes it.
submit_jobs() {
	local i
	for ((i = 1; i <= COMMPLACE_BACKUP_JOBS; i++)); do
		until as_user timeout 60 sbatch --parsable -o /dev/null -N2 -n8 \
			--exclusive --comm-profile=$( ((i % 2)) && echo pairs8 ||
				echo ring8) --wrap "sleep 0.3" 2>/dev/null; do
			sleep 0.5
		done
		sleep 0.4
	done >"$CLUSTER/submitted"
	touch "$CLUSTER/all-submitted"
}

# Long jobs whose load has to be in the background of all others.
cluster_steps_script
kept=$(submit -N3 -n8 --exclusive --comm-profile=ring8 steps.sh)
moves=$(submit -N4 -n8 --exclusive --requeue --comm-profile=pairs8 steps.sh)
wait_running "$kept"
wait_running "$moves"
plan=$(planned "$kept")
is "$(order_now "$kept")" "$plan" "steps go by the plan"
before=$(load_of "$kept")
like "$before" "$kept" "the job is on record as running"

# Does the job run? Meanwhile nodes say now and then what runs on them: a slurmctld
# whose state lacks the end of a job waits for it, 13 seconds at least.
registered=0
nodes_say() {
	[ $((SECONDS - registered)) -ge 5 ] || return
	cluster_register
	registered=$SECONDS
}
begins() {
	job_is "$1" RUNNING || { nodes_say; return 1; }
}

# as_before NAME: the long jobs are as they were, for users and for decisions
as_before() {
	local job
	wait_for 30 cluster_nodes_up
	is "$(load_of "$kept")" "$before" "$1: loads on record are as before"
	is "$(job_state "$kept")" RUNNING "$1: the long job runs on"
	is "$(order_now "$kept")" "$plan" "$1: its steps go by its plan"
	is "$(order_now "$moves")" "$(planned "$moves")" \
		"$1: those of another by its own"
	job=$(submit -N2 -n8 --exclusive --comm-profile=pairs8)
	wait_for 60 begins "$job"
	is "$(decision "$job" .outcome)" placed "$1: jobs are placed"
	is "$(decision "$job" "[.background[] | select(. == $kept or
		. == $moves)] | sort | join(\" \")")" "$kept $moves" \
		"$1: beside the loads of those from before"
	scancel "$job"
}
# The second long job runs elsewhere from now on, which the backup does not see.
move() {
	local hosts block
	hosts=$(job_hosts "$moves")
	scontrol requeuehold "$moves"
	block=$(submit -w "$(fold "$hosts")" --exclusive)
	wait_for 60 begins "$block"
	again() {
		scontrol release "$moves"
		scontrol update jobid="$moves" starttime=now
		begins "$moves"
	} 2>/dev/null
	wait_for 60 again
	isnt "$(job_hosts "$moves")" "$hosts" "a long job runs elsewhere"
	scancel "$block"
}

noted=0
start_backup
runs "a backup starts" wait_for 30 cluster_alive "$CLUSTER/run/backup.pid"
submit_jobs 3>&- 4>&- &
submitter=$!
on_exit 'kill "$submitter" 2>/dev/null'
sleep 6
for round in killed "told to go" "killed again"; do
	is "$(calls_of $second)" "$noted" \
		"before the primary is $round: the backup has touched nothing"
	if [ "$round" = "told to go" ]; then
		runs "scontrol takeover" scontrol takeover
	else
		cluster_kill "$CLUSTER/run/slurmctld.pid" KILL
	fi
	in_charge $second
	ok $? "primary $round: the backup takes over"
	as_before "primary $round"
	# Before 23.11 a slurmctld that gives way a second time waits for a thread
	# for ever that it has waited for the first time, or crashes.
	if [ "$round" = "told to go" ] && [ "$CLUSTER_SERIES" -lt 2311 ]; then
		cluster_kill "$CLUSTER/run/backup.pid" KILL
	fi
	start_primary
	in_charge $first
	ok $? "primary $round: it comes back"
	cluster_alive "$CLUSTER/run/backup.pid" || start_backup
	noted=$(calls_in_the_end $second)
	wait_for 30 cluster_nodes_up
	[ "$round" != killed ] || move
	as_before "primary back after it was $round"
done
is "$(calls_of $second)" "$noted" "in the end: the backup has touched nothing"

# All that was taken has run, and is on record once.
submitted_all() { [ -e "$CLUSTER/all-submitted" ]; }
wait_for 240 submitted_all
ok $? "$COMMPLACE_BACKUP_JOBS jobs are taken"
# Like an admin: jobs that Slurm holds since slurmd knew them already, and those
# whose end got lost with a slurmctld that was killed, which Slurm has as running.
: >"$CLUSTER/lost"
since=$SECONDS
only_long() {
	local id
	[ $((SECONDS - since)) -lt 45 ] ||
		for id in $(squeue -h -a -t RUNNING -o %A | grep -vx "$kept\|$moves"); do
			scancel "$id" && echo "$id" >>"$CLUSTER/lost"
		done
	for id in $(squeue -h -a -t PENDING -o %A); do
		scontrol release "$id"
		scontrol update jobid="$id" starttime=now
	done
	[ "$(squeue -h -a -o %A | sort -n | paste -sd' ')" = "$kept $moves" ] ||
		{ nodes_say; return 1; }
} 2>/dev/null
wait_for 120 only_long
ok $? "all have ended" ||
	diag "$(scontrol show job "$(squeue -h -a -o %A | grep -vx "$kept\|$moves" |
		head -1)")" "$(sinfo -h -N -o '%N %t' | paste -sd' ')"
ended=$CLUSTER/decisions/ended
squeue -h -a -t all -O "JobID:|,State:|,admin_comment:200" |
	sed 's/ *|/|/g' >"$CLUSTER/jobs"
# The last state that a killed slurmctld has saved may have a job as waiting that has
# run since: Slurm then fails it for want of its script, or ends it on its nodes.
unfinished=$(awk -F'|' 'NR == FNR { state[$1] = $2; next }
	$1 in state && state[$1] != "COMPLETED" { print $1, state[$1] }' \
	"$CLUSTER/jobs" "$CLUSTER/submitted" | grep -vwFf "$CLUSTER/lost")
n=$(grep -c . <<<"$unfinished")
[ "$n" -le $((COMMPLACE_BACKUP_JOBS / 10)) ]
ok $? "completed, but for $n" || diag "$unfinished"
[ "$n" -eq 0 ] || diag "$(scontrol show job "${unfinished%% *}")" \
	"$(grep -hw "${unfinished%% *}" "$CLUSTER"/log/* | tail -n 30)"
[ "$(sort -u "$CLUSTER/lost" | wc -l)" -le 3 ]
ok $? "but for $(sort -u "$CLUSTER/lost" | wc -l) whose end Slurm has lost"
# A slurmctld that is killed has not saved the last seconds.
forgotten=$(awk -F'|' 'NR == FNR { known[$1] = 1; next } !($1 in known)' \
	"$CLUSTER/jobs" "$CLUSTER/submitted" | wc -l)
[ "$forgotten" -le $((COMMPLACE_BACKUP_JOBS * 3 / 10)) ]
ok $? "of $COMMPLACE_BACKUP_JOBS jobs Slurm has forgotten $forgotten"
running_ids() {
	basename -as .json "$CLUSTER"/decisions/running/* | sort -n |
		paste -sd' '
}
comes_to "$kept $moves" running_ids
is "$COME" "$kept $moves" "no other job is on record as running"
is "$(awk -F'|' '/ commplace: policy=|\|commplace: policy=/ { print $1 }' \
	"$CLUSTER/jobs" | grep -vx "$kept\|$moves" | while read -r id; do
	[ -f "$ended/$id.json" ] || echo "$id"
done | head -5 | paste -sd' ')" "" "each job that was placed is on record"
is "$(ls "$CLUSTER"/decisions/damaged 2>/dev/null)" "" "no record is damaged"
is "$(find "$CLUSTER/decisions" -name '*.tmp*' | head -3)" "" "nor left half"
placed=$(jq -r 'select(.outcome == "placed") | .job' "$ended"/*.json | wc -l)
[ "$placed" -gt $((COMMPLACE_BACKUP_JOBS / 2)) ]
ok $? "$placed jobs were placed"
commplace replay --json "$CLUSTER/decisions" >"$CLUSTER/replay"
is "$(jq -r '.records[] | select(.verdict == "different") |
	"job \(.job): \(.why)"' "$CLUSTER/replay" | head -5)" "" \
	"each decision is what its state comes to"
jq -r '[.records[].verdict] | group_by(.) | map("# \(.[0]): \(length)")[]' \
	"$CLUSTER/replay"
# Jobs may begin twice, and numbers that are forgotten are given to others; what a
# slurmctld that was killed has begun commplaced has counted.
starts=$(jq '.job_starts | add' "$CLUSTER/decisions/counters.json")
records=$(find "$CLUSTER/decisions" -path '*/[0-9]*.json' | wc -l)
[ "$starts" -gt $((records * 8 / 10)) ] && [ "$starts" -lt $((records * 2 + forgotten)) ]
ok $? "$starts starts are counted, of $records jobs on record"
cancel_all
none_running() { ! compgen -G "$CLUSTER/decisions/running/*.json"; }
runs "nothing is on record as running" wait_for 10 none_running
is "$(grep -hE 'fatal:|segfault|stack smashing|double free|[Aa]ssertion' \
	"$log" | head -5)" "" "the backup logged no crash"
cluster_check
done_testing
