# SPDX-License-Identifier: GPL-2.0-or-later
# What has to hold after each line of the table, whatever was done. Sourced by
# faults.t. The last column says what holds beside it, in words:
#
#   placed, stock   the main job's nodes
#   refused         the main job is; without it no submission may be
#   may-refuse      some may be
#   lost            records of jobs may be
#   late            ends may be put on record later than jobs end
#   fails         jobs may, since their nodes do
#   forgotten       jobs may be that Slurm had not saved
#   todo          it is known not to hold yet
#   held=MS         locks were held so long at most; default: LOCKS_MS
#
# LOCKS_MS: MaxDecisionTime, twice (a job's nodes and its start), and what a busy
# machine adds.
LOCKS_MS=1500

problem() {
	problems+=("$*")
}

expects() {
	[[ " $line_holds " == *" $1 "* ]]
}

as() {
	local CLUSTER_USER=$1
	shift
	as_user "$@"
}

# From 23.11 on slurmctld reconfigures as another process.
ctld_pids() {
	pgrep -f -- "^slurmctld( .*)? -f $SLURM_CONF\$"
}

faults_start() {
	cluster_start_ctld && cluster_register && wait_for 30 cluster_nodes_up ||
		problem "slurmctld does not start"
	line_pid=$(ctld_pids | sort -n | tail -1)
}

faults_stop() {
	local pid
	line_pids=$(ctld_pids)
	for pid in $line_pids; do
		kill "$pid" 2>/dev/null
	done
	faults_stopped() { ! ctld_pids >/dev/null; }
	wait_for 20 faults_stopped || {
		problem "slurmctld does not end"
		# shellcheck disable=SC2046
		kill -9 $(ctld_pids)
	}
	rm -f "$CLUSTER/run/slurmctld.pid"
}

faults_restart() {
	faults_stop
	faults_start
}

faults_reconfigure() {
	timeout 60 scontrol reconfigure >/dev/null 2>&1
	wait_for 30 cluster_ping && wait_for 30 cluster_nodes_up ||
		problem "slurmctld does not answer after scontrol reconfigure"
	line_pid=$(ctld_pids | sort -n | tail -1)
}

faults_prepare() {
	local name user
	set_clock 0
	calm
	cluster_start
	other=${CLUSTER_USER}b
	wait_for 20 useradd -M -U -d "$CLUSTER/home" -s /bin/bash "$other" ||
		bail "useradd $other failed"
	on_exit 'wait_for 10 userdel "$other" 2>/dev/null'
	for name in pairs4 pairs8 ring8 pairs12 pairs16 ring32; do
		cluster_signature "$name" "${name//[a-z]/}" \
			"${name%%[0-9]*}"
	done
	# Nobody else's business, in all lines: and one of which only the larger
	# size is private.
	cluster_signature secret 8 fours
	cp "$PROFILES/pairs8.json" "$PROFILES/half@8.json"
	cp "$PROFILES/pairs16.json" "$PROFILES/half@16.json"
	for name in secret half@16; do
		chown "$other" "$PROFILES/$name.json"
		chmod 600 "$PROFILES/$name.json"
	done
	cp "$PROFILES/pairs8.json" "$PROFILES/team.json"
	chmod 640 "$PROFILES/team.json"
	for user in "$CLUSTER_USER" "$other"; do
		mkdir -p "$CLUSTER/homes/$user"
		chown "$user" "$CLUSTER/homes/$user"
	done
	faults_site="UserProfileDir=$CLUSTER/homes/%u
RecordAccess=owner"
	CLUSTER_SITE=$faults_site
	cluster_write_site
	faults_stop
	on_exit 'umount -l "$CLUSTER/decisions" 2>/dev/null'
	rm -rf "$CLUSTER/decisions"
	mkdir "$CLUSTER/decisions"
	mount_state || bail "no tmpfs may be mounted here"
	faults_start
	# In memory from now on.
	use_secret
}

use_secret() {
	local id
	id=$(as "$other" sbatch --parsable -o /dev/null -D / -N2 -n8 \
		--comm-profile=secret --wrap true 2>&1) &&
		wait_ended "$id" >/dev/null
	like "$(job_field "$id" admin_comment)" "profile=secret" \
		"a private profile serves its owner"
}

# In the midst of whatever it is: it must not reach another.
try_secret() {
	local id
	id=$(as_user timeout 30 sbatch --parsable -o /dev/null -N2 -n8 \
		--comm-profile=secret --wrap true 2>/dev/null) || return 0
	submitted+=("$id")
}

line_begin() { # NAME HOLDS
	line_name=$1 line_holds=$2 line_start=${EPOCHREALTIME/./}
	problems=() submitted=() refusals=() main= last= rule= mend= resized=
	fresh=fresh$((++lines))
	cp "$PROFILES/pairs8.json" "$PROFILES/$fresh.json"
	rm -f "$faults_rule.hits" "$CLUSTER"/decisions/ended/*.json \
		"$CLUSTER/decisions/counters.json"
	line_log=$(stat -c %s "$CLUSTER/log/slurmctld.log")
	line_pid=$(ctld_pids | sort -n | tail -1)
}

lines=0

line_end() {
	local hits drained=${EPOCHREALTIME/./} text
	hits=$(cat "$faults_rule.hits" 2>/dev/null | wc -l)
	[ -z "$rule" ] || [ "$hits" -gt 0 ] ||
		problem "the fault never happened: $rule"
	calm
	[ -z "$mend" ] || $mend
	wait_for 20 nodes_back || problem "nodes stay down: $(sinfo -h -N -R |
		head -3 | paste -sd';')"
	check_drained
	drained=$(((${EPOCHREALTIME/./} - drained) / 100000))
	check_daemons
	check_jobs
	check_records
	check_private
	check_main
	check_locks
	text="$line_name: $(check_figures), $hits calls struck, locks held"
	text="$text $line_held ms, drained in $((drained / 10)).$((drained % 10)) s"
	text="$text, in $(((${EPOCHREALTIME/./} - line_start) / 1000000)) s"
	# What is broken is the next line's no more.
	[ "${#problems[@]}" -eq 0 ] || faults_restart
	if expects todo && [ "${#problems[@]}" -gt 0 ]; then
		todo "$text" "${problems[*]}"
		return
	fi
	ok $((${#problems[@]} > 0)) "$text" ||
		printf '#   %s\n' "${problems[@]}" >&2
}

# Requeued under a clock that was ahead, jobs would wait until it is so late. A slurmd
# refuses what begins in the second in which it ended the same job.
all_ended_at_last() {
	local id ids
	all_ended && return
	ids=$(squeue -h -a -r -o '%A %r' | sed -n 's/ BeginTime$//p')
	[ -z "$ids" ] || nap 2
	for id in $ids; do
		scontrol update jobid="$id" starttime=now
	done
	return 1
}

# What Slurm or a line has taken out an admin gives back.
nodes_back() {
	local node state down=
	while read -r node state; do
		case $state in
		*down* | *drain* | *drng* | *fail* | *\*)
			scontrol update nodename="$node" state=resume
			down=yes
			;;
		esac
	done < <(sinfo -h -N -o '%N %t' | sort -u) 2>/dev/null
	[ -z "$down" ]
}

check_drained() {
	wait_for 60 all_ended_at_last || {
		problem "jobs are left: $(squeue -h -a -o '%i %T %r' |
			head -5 | paste -sd';')"
		scancel --full --signal=KILL -u "$CLUSTER_USER" 2>/dev/null
		scancel -u "$CLUSTER_USER"
		wait_for 30 all_ended
	}
}

check_daemons() {
	local file text
	[ "$(ctld_pids | sort -n | tail -1)" = "$line_pid" ] ||
		problem "slurmctld is another process, or none"
	ctld_pids >/dev/null || faults_start
	for file in "$CLUSTER"/run/slurmd.*.pid; do
		kill -0 "$(<"$file")" 2>/dev/null || problem "$file: no slurmd"
	done
	text=$(tail -c +$((line_log + 1)) "$CLUSTER/log/slurmctld.log" |
		grep -aE 'fatal:|segfault|stack smashing|double free|[Aa]ssertion' |
		head -2)
	[ -z "$text" ] || problem "slurmctld: $text"
}

# "id|state|nodes|comment" of all that was submitted, elements of arrays each.
list_jobs() {
	squeue -h -a -r -t all -j "$(IFS=,; echo "${submitted[*]}")" \
		-O "JobID:|,ArrayJobID:|,State:|,NodeList:100|,admin_comment:200" \
		2>/dev/null
}

check_jobs() {
	local id array state nodes comment seen=" "
	jobs=0 placed=0
	placed_ids=()
	[ "${#submitted[@]}" -gt 0 ] || return
	list_jobs >"$CLUSTER/jobs"
	while IFS='|' read -r id array state nodes comment; do
		id=${id// } array=${array// } state=${state// }
		seen="$seen$id $array "
		jobs=$((jobs + 1))
		case $state in
		COMPLETED | CANCELLED) ;;
		NODE_FAIL | PREEMPTED) ;;
		FAILED)
			expects fails || problem "job $id failed"
			;;
		*) problem "job $id ended as $state" ;;
		esac
		[[ $comment == *"commplace: policy="* && $nodes == n* ]] || continue
		placed=$((placed + 1))
		placed_ids+=("$id")
	done <"$CLUSTER/jobs"
	for id in "${submitted[@]}"; do
		[[ $seen == *" $id "* ]] || expects forgotten ||
			problem "job $id is unknown"
	done
	expects refused || expects may-refuse || [ "${#refusals[@]}" -eq 0 ] ||
		problem "refused: ${refusals[*]}"
}

no_running_records() {
	! compgen -G "$CLUSTER/decisions/running/*.json" >/dev/null
}
no_leftovers() {
	left=$(find "$CLUSTER/decisions" "$PROFILES" "$CLUSTER/homes" \
		-name '*.tmp*' | head -3 | paste -sd' ')
	[ -z "$left" ]
}

# Ours agree with Slurm's: a placed job has its record, on the nodes it ran on.
check_records() {
	local ended=$CLUSTER/decisions/ended id state nodes _ hosts
	expects late || wait_for 5 no_running_records ||
		problem "on record as running: $(cd "$CLUSTER/decisions/running" &&
			echo *)"
	wait_for 3 no_leftovers || {
		problem "left behind: $left"
		# shellcheck disable=SC2086
		rm -f $left
	}
	expects lost || for id in "${placed_ids[@]}"; do
		[ -f "$ended/$id.json" ] || expects late ||
			problem "job $id has no record"
	done
	[ -z "$resized" ] || return 0
	compgen -G "$ended/*.json" >/dev/null || return 0
	while read -r id hosts; do
		nodes=$(awk -F'|' -v id="$id" '$1 + 0 == id { print $4 }' \
			"$CLUSTER/jobs")
		[ -z "${nodes// }" ] || [ -z "$hosts" ] ||
			[ "$(sorted "$hosts")" = "$(sorted "$(expand "${nodes// }")")" ] ||
			problem "job $id: nodes $nodes, on record $hosts"
	done < <(jq -r 'select(.outcome == "placed") |
		"\(.job) \(.hosts | join(" "))"' "$ended"/*.json)
	commplace replay --json "$CLUSTER/decisions" >"$CLUSTER/replay" \
		2>"$CLUSTER/replay.err"
	jq -e .records "$CLUSTER/replay" >/dev/null 2>&1 ||
		problem "replay: $(head -1 "$CLUSTER/replay.err")"
	while read -r _; do
		problem "replay: $_"
	done < <(jq -r '.records[]? | select(.verdict == "different") |
		"job \(.job): \(.why)"' "$CLUSTER/replay" 2>/dev/null)
}

# Nobody else's job has a private profile in its record or was told of one.
check_private() {
	local uid text
	uid=$(id -u "$CLUSTER_USER")
	text=$(find "$CLUSTER/decisions" -name '*.json' -path '*/[0-9]*' \
		-exec jq -r --argjson uid "$uid" 'select(.uid == $uid and
		(.outcome != "stock" or (.rank_host | length) > 0) and
		((.profile == "secret" and .own_profile != true) or
		 (.profile == "half" and (.rank_host | length) == 16))) | .job' {} + 2>/dev/null)
	[ -z "$text" ] || problem "a private profile is in the record of job $text"
}

main_comment() {
	awk -F'|' -v id="$main" '$1 + 0 == id || $2 + 0 == id {
		sub(/ +$/, "", $5); print $5 }' "$CLUSTER/jobs" | sort -u |
		head -5 | paste -sd';'
}

check_main() {
	local comment
	if expects refused; then
		[ -z "$main" ] || problem "the main job was not refused"
		return
	fi
	comment=$(main_comment)
	! expects placed || [[ $comment == *"commplace: policy="* ]] ||
		problem "the main job was not placed: '$comment'"
	! expects stock || [[ $comment != *"commplace: policy="* ]] ||
		problem "the main job was placed: '$comment'"
}

# By the slurmctld that runs: what one before it left when it ended says nothing of
# this one, which would be taken for the next line's.
counted() {
	[ "$CLUSTER/decisions/counters.json" -nt "$CLUSTER/run/slurmctld.pid" ]
}

check_locks() {
	local limit=$LOCKS_MS
	[[ ! $line_holds =~ held=([0-9]+) ]] || limit=${BASH_REMATCH[1]}
	line_held=none
	wait_for 3 counted || [ -f "$CLUSTER/decisions/counters.json" ] || return 0
	line_held=$(jq -r '[.lock_held[].longest_ns] | max / 1e5 | round / 10' \
		"$CLUSTER/decisions/counters.json")
	awk -v a="$line_held" -v b="$limit" 'BEGIN { exit !(a <= b) }' ||
		problem "locks were held $line_held ms, at most $limit are stated" \
			"($(jq -r '.lock_held | to_entries | map("\(.key) " +
			"\(.value.longest_ns / 1e6 | floor)") | join(", ")' \
			"$CLUSTER/decisions/counters.json"))"
}

check_figures() {
	echo "$jobs jobs, $placed placed, ${#refusals[@]} refused"
}

# All ends are on record in the end, and all is as at the beginning.
faults_finish() {
	line_begin "the end of all" placed
	work_jobs
	sleep 11
	some_jobs
	wait_all_ended
	line_end
	use_secret
}
