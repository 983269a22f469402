# SPDX-License-Identifier: GPL-2.0-or-later
# What has to be true of a soak. Sourced by run, after harm.bash.

SOAK_RSS_MIB=400       # of slurmctld, at any time
SOAK_DRAIN_SECONDS=600 # until the last job has ended, when all is mended

# Nodes that Slurm took out by itself, and jobs that it holds since they could
# not be started, wait for an admin: here.
free_stuck() {
	local node state id
	while read -r node state; do
		[ -z "${drained[$node]:-}" ] || continue
		case $state in
		*drain* | *drng* | *down* | *fail*)
			scontrol update nodename="$node" state=resume
			;;
		esac
	done < <(sinfo -h -N -o '%N %t' 2>/dev/null | sort -u) 2>/dev/null
	while read -r id; do
		scontrol release "$id"
	done < <(squeue -h -t PD -o '%A %r' 2>/dev/null |
		sed -n 's/ .*[Hh]eld.*//p' | sort -u) 2>/dev/null
	while read -r id; do
		scontrol resume "$id"
	done < <(squeue -h -t S -o %A 2>/dev/null) 2>/dev/null
}

# Requeued when the clock was ahead, they would wait until it is so late. What is
# past scontrol takes for its own now, so it has the daemons' clock.
free_late() {
	local id
	while read -r id; do
		LD_PRELOAD=$preload COMMPLACE_CLOCK=$clock \
			scontrol update jobid="$id" starttime=2020-01-01
	done < <(squeue -h -r -t PD -o '%A %r' 2>/dev/null |
		sed -n 's/ BeginTime$//p') >/dev/null 2>&1
}

# A resumption that overtook its suspension on the way to a busy node leaves a job
# standing that slurmctld takes for running: none of ours runs for a minute.
free_standing() {
	local id
	while read -r id; do
		scontrol suspend "$id" && sleep 1
		scontrol resume "$id"
	done < <(squeue -h -t R -o '%A %M' 2>/dev/null |
		awk '$2 !~ /^0:/ { print $1 }') >/dev/null 2>&1
}

# While there is something to wait for, every five seconds or more. Jobs
# of which a slurmctld that was killed had not saved the end are gone when their
# nodes report again: at each reconfiguration; from 23.11 on, where it is another
# slurmctld that reconfigures, when that is some BatchStartTimeout and 10 s old.
# Those whose slurmd is gone would be completing until it comes back.
wake_slurm() {
	local node pids
	free_stuck
	[ $SECONDS -ge $drain_next ] || return
	drain_next=$((SECONDS + 5)) drain_turns=$((drain_turns + 1))
	for node in $(cluster_nodes); do
		start_slurmd "$node"
	done
	free_late
	free_standing
	if [ "$CLUSTER_SERIES" -lt 2311 ]; then
		reconfigure
	elif [ $((drain_turns % 4)) -eq 0 ]; then
		pids=$(pgrep -f -- "^slurmd -N n[0-9]* -f $SLURM_CONF\$")
		# shellcheck disable=SC2086
		kill -HUP $pids
	fi
}

queue_is_empty() {
	local job
	cluster_no_jobs && return
	wake_slurm
	# Of an earlier check, of which slurmctld had not saved the end.
	for job in p0 p1 p2 p3 probe; do
		scancel -n "$job" 2>/dev/null
	done
	sleep 0.5
	return 1
}

# Memory of slurmctld in MiB, now and at most since it started.
soak_sample() {
	local pid
	ctld_or_crash
	pid=$(ctld_pid) &&
		awk -v jobs="$submitted" '/^VmHWM/ { most = $2 }
			/^VmRSS/ { now = $2 }
			END { printf "%d %.0f %.0f\n", jobs, now / 1024,
				most / 1024 }' "/proc/$pid/status" \
			>>"$CLUSTER/memory" 2>/dev/null
}

# tells NAME RANKS NODES PROFILE...: a job whose tasks say where they are, the
# hosts of its ranks then in $CLUSTER/home/NAME, a line each
tells() {
	local name=$1 ranks=$2 nodes=$3
	shift 3
	rm -f "$CLUSTER/home/$name.out"
	submit -N"$nodes" -n"$ranks" -J "$name" --no-requeue "$@" --wrap \
		"srun sh -c 'echo \$SLURM_PROCID \$SLURMD_NODENAME; exec sleep 900' >$name.out"
}

told() { # NAME RANKS
	[ "$(grep -cE '^[0-9]+ ' "$CLUSTER/home/$1.out" 2>/dev/null)" = "$2" ] &&
		ranks "$CLUSTER/home/$1.out" | tr ' ' '\n' \
			>"$CLUSTER/home/$1"
}

links_of() {
	jq -cS '.links | del(.all) |
		map_values({count, used, min, q1, median, mean, q3, max})' "$1"
}

# Has it nodes of ours? An answer that comes late leaves a job to Slurm, as is right
# on a busy machine, and says nothing of what this is to compare: such a job is gone
# then, for another.
is_placed() { # JOB
	[[ $(job_field "$1" admin_comment) == *" policy="* ]] && return
	scancel "$1"
	wait_state "$1" CANCELLED
	return 1
}

# Four jobs run: what commplace has of them, in its records and inside of
# slurmctld, is what follows from where their tasks are.
compare_loads() { # NAME
	local name=$1 i try job ids=() args=() ranks=(8 16 32 8) nodes=(2 4 4 3)
	local profile=(ring8 pairs16 ring32 pairs8)
	local policy=(auto random-nodes random-routers random-groups)
	for i in 0 1 2 3; do
		for try in 1 2 3 4 5 6 7 8; do
			job=$(tells "p$i" "${ranks[i]}" "${nodes[i]}" \
				--comm-profile="${profile[i]}" \
				--placement-policy="${policy[i]}") || {
				fail "$name: a job is submitted"
				return
			}
			wait_running "$job" 60 &&
				wait_for 60 told "p$i" "${ranks[i]}" || {
				fail "$name: job $job runs on its nodes"
				return
			}
			is_placed "$job" && break
		done
		ids+=("$job")
		args+=(--signature "$PROFILES/${profile[i]}.json" --node-file
			"$CLUSTER/home/p$i" --ranks-per-node 1)
	done
	recorded() {
		commplace status --json >"$CLUSTER/status" 2>"$CLUSTER/status.err" &&
			jq -r '[.jobs[].id] | sort | join(" ")' "$CLUSTER/status"
	}
	comes_to "${ids[*]}" recorded
	is "$COME" "${ids[*]}" "$name: the running jobs are on record" ||
		diag "$(cat "$CLUSTER/status.err")" >&2
	is "$(jq '.skipped | length' "$CLUSTER/status" 2>&1)" 0 "$name: all of them readable"
	commplace traffic --network "$NETWORK" "${args[@]}" \
		--routing static-direct --json >"$CLUSTER/scratch"
	is "$(links_of "$CLUSTER/status")" "$(links_of "$CLUSTER/scratch")" \
		"$name: loads of all links as computed from the tasks' hosts"
	# One that its time cut short cannot be computed anew.
	for i in 1 2 3 4 5 6 7 8; do
		job=$(submit -N4 -n16 -J probe --comm-profile=ring16)
		wait_running "$job" 60
		is_placed "$job" || continue
		[ "$(decision "$job" .cut_short)" = true ] || break
		scancel "$job"
		wait_state "$job" CANCELLED
	done
	is "$(decision "$job" '.outcome + ": " + (.background | sort | join(" "))')" \
		"placed: ${ids[*]}" "$name: slurmctld has them as background"
	is "$(commplace replay --json \
		"$CLUSTER/decisions/running/$job.json" 2>&1 |
		jq -r '.records[0] | .verdict + " " + (.why // "")')" \
		"equal " "$name: and decides as computed anew from the records"
	cancel_all
}

# Is there a commplaced again that has read its files?
places_again() {
	local job
	job=$(submit -N2 -n8 -J probe --comm-profile=pairs8 --wrap "sleep 900") ||
		return
	wait_running "$job" 60
	is_placed "$job" || return
	scancel "$job"
	wait_state "$job" CANCELLED
}

soak_check() {
	local name="after $submitted jobs" none
	log check
	mend_all
	drain_turns=0 drain_next=$((SECONDS + 5))
	wait_for "$SOAK_DRAIN_SECONDS" queue_is_empty
	ok $? "$name: all jobs have ended" || {
		diag "$(squeue -h -o '%i %j %T %r %N' | head -20)" >&2
		diag "$(sinfo -h -N -o '%N %t %E' | sort -u)" >&2
		scancel -u "$CLUSTER_USER"
	}
	wait_for 60 places_again || fail "$name: no job is placed any more"
	compare_loads "$name"
	none() { find "$CLUSTER/decisions/running" -type f | paste -sd' '; }
	comes_to "" none
	is "$COME" "" "$name: no job is on record as running"
	soak_sample
}

# Lines of ours at level error that nothing which the soak does explains.
unexpected_errors() {
	grep -hE 'error: (.* |[a-z_]*/)?commplace: ' "$CLUSTER"/log/slurmctld.log \
		"$CLUSTER"/log/slurmd.*.log | sed 's/^\[[^]]*\] //' |
		grep -vE "$expected_errors" | sort | uniq -c | sort -rn
}
# Of damaged files, a full disk, and a machine that is busy.
# A commplaced that was killed on purpose.
expected_errors='commplaced (is gone|does not answer|takes no messages)|StateDir does not answer|no time is left of MaxPassTime|commplace\.conf|network\.json|/profiles/[a-z0-9]*\.json|No space left|decisions/'

# Every job that was submitted has ended, is in the log of endings, and once;
# but for what Slurm had not saved when it was killed.
account_jobs() {
	awk '
		FILENAME == ARGV[1] { unsaved[$1] = 1; next }
		FILENAME == ARGV[2] { touched[$1] = 1; next }
		FILENAME == ARGV[3] {
			id = name = ""
			for (i = 1; i <= NF; i++)
				if ($i ~ /^JobId=/)
					id = substr($i, 7)
				else if ($i ~ /^Name=/)
					name = substr($i, 6)
			if (!((name, id) in seen))
				ended[name]++
			seen[name, id] = 1
			next
		}
		{
			wanted++
			if (!ended[$1] && !($1 in unsaved))
				print "not accounted for: " $0
			else if (!ended[$1])
				lost++
			else if (ended[$1] < $3 && !($1 in touched) &&
			    !($1 in unsaved))
				print "of " $3 " only " ended[$1] ": " $0
			n += ended[$1]
		}
		END {
			printf "# %d submissions, %d jobs in the log of " \
				"endings; %d submissions that slurmctld had " \
				"not saved when it was killed are gone\n",
				wanted, n, lost
		}' <(printf '%s\n' "${!may_be_lost[@]}") \
		<(plan | awk '/^(cancel|requeue|hold)/ { print $2 }') \
		"$endings" "$CLUSTER/submitted"
}

# Jobs that slurmctld says it placed have a record, but for those that ran into a
# full disk, or began just before slurmctld was killed.
account_records() {
	ls "$CLUSTER/decisions/ended" "$CLUSTER/decisions/damaged" 2>/dev/null |
		sed -n 's/\.json.*//p' | sort -u >"$CLUSTER/have"
	awk -v keep="$KEEP_RECORDS" '
		FILENAME == ARGV[1] { harmed[$1] = 1; next }
		FILENAME == ARGV[2] { have[$1] = 1; next }
		/^soak: disk full/ { full = 1 }
		/^soak: disk free/ { full = 0 }
		/^soak: (KILL|crash)/ {
			for (id in begun)
				if (begun[id] > FNR - 200)
					excused[id] = 1
		}
		/ JobId=[0-9]+.* commplace: policy=/ {
			match($0, /JobId=[0-9_*]+(\([0-9]+\))?/)
			id = substr($0, RSTART + 6, RLENGTH - 6)
			if (id ~ /\(/) {
				sub(/.*\(/, "", id)
				sub(/\)/, "", id)
			}
			begun[id] = FNR
			if (full)
				excused[id] = 1
		}
		END {
			for (id in begun) {
				n++
				if (id in have)
					kept++
				else if (!(id in excused) && !(id in harmed))
					missing = missing " " id
				else
					gone++
			}
			printf "# %d placed, %d on record, %d lost to a full " \
				"disk, damage or a kill\n", n, kept, gone
			if (missing && n <= keep)
				print "without a record:" missing
		}' <(printf '%s\n' "${!record_harmed[@]}") \
		"$CLUSTER/have" "$CLUSTER/log/slurmctld.log"
}

# Of the jobs read, those whose background has none that began more than once:
# requeued, or another with the number of one that slurmctld forgot. Only the last
# of them is on record, which replay sees by the time, and here the clock is turned.
unexplained() {
	local id
	grep -oE 'JobId=[0-9_]+(\([0-9]+\))?: commplace: ' \
		"$CLUSTER/log/slurmctld.log" |
		sed -E 's/.*[=(]([0-9]+)\)?: commplace: /\1/' | sort | uniq -d \
		>"$CLUSTER/twice"
	while read -r id; do
		jq -r '.background[]' "$CLUSTER/decisions/ended/$id.json" |
			grep -qxF -f "$CLUSTER/twice" || echo "$id"
	done
}

soak_accounts() {
	local out most
	is "$crashes" 0 "slurmctld never ended by itself"
	out=$(account_jobs)
	diag "$(grep '^#' <<<"$out" | sed 's/^# //')"
	is "$(grep -v '^#' <<<"$out" | head -20)" "" "every job is accounted for"
	out=$(account_records)
	diag "$(grep '^#' <<<"$out" | sed 's/^# //')"
	is "$(grep -v '^#' <<<"$out")" "" "every placed job left its record"
	is "$(grep ' refused: ' "$CLUSTER/soak.log" |
		grep -vE 'commplace: .*(profile|/profiles/)' | head -5)" "" \
		"no submission was refused, but for damaged profiles"
	out=$CLUSTER/decisions/counters.json
	[ ! -f "$out" ] || diag "longest time that slurmctld's locks were held" \
		"because of us: $(jq -r '[.lock_held[].longest_ns] | max / 1e6' \
		"$out") ms; $(jq -c '[.lock_held[].buckets] | transpose |
		map(add)' "$out") calls of up to $(jq -c '.bounds_ns |
		map(. / 1e6)' "$out") ms and more; longest:" \
		"$(jq -r '.lock_held | to_entries | map("\(.key) " +
		"\(.value.longest_ns / 1e6 | floor) ms") | join(", ")' "$out")"
	is "$(unexpected_errors | head -10)" "" "no error of ours without a cause"
	most=$(sort -k3n "$CLUSTER/memory" | tail -1 | cut -d' ' -f3)
	diag "slurmctld's memory: $(tail -1 "$CLUSTER/memory" | cut -d' ' -f2) MiB" \
		"at the end, $most MiB at most"
	[ "$most" -lt "$SOAK_RSS_MIB" ]
	ok $? "slurmctld never had $SOAK_RSS_MIB MiB"
	out=$(commplace replay --json "$CLUSTER/decisions/ended" 2>/dev/null)
	diag "replay: $(jq -r '"\(.equal) equal, \(.different) different, " +
		"\(.not_repeatable) not repeatable, \(.none) without a decision"' \
		<<<"$out")"
	is "$(jq -r '.records[] | select(.verdict == "different") | .job' \
		<<<"$out" | unexplained | head -5)" "" \
		"no decision comes out differently when computed anew"
	isnt "$(jq -r '.equal' <<<"$out")" 0 "and some come out equal"
}
