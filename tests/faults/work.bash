# SPDX-License-Identifier: GPL-2.0-or-later
# The second column: what users and admins do meanwhile. Sourced by faults.t.
#
# `main` is the job that the line is about: its profile, $fresh, is new in each.

# add NAME SBATCH-OPTION...: submit; its number goes to the variable NAME and to
# those that must be accounted for. NAME _: only these.
add() {
	local name=$1 id
	shift
	id=$(as_user timeout 60 sbatch --parsable -o /dev/null "$@" \
		2>"$CLUSTER/sbatch.err") || {
		refusals+=("$name: $(grep -v '^$' "$CLUSTER/sbatch.err" |
			paste -sd' ')")
		return 1
	}
	id=${id%%;*}
	submitted+=("$id")
	printf -v "$name" %s "$id"
}

all_ended() {
	[ -z "$(squeue -h -a -o %i 2>/dev/null)" ]
}

# As long as a fault may hold up jobs.
wait_all_ended() {
	wait_for "${1:-40}" all_ended
}

some_jobs() {
	add _ -N2 -n8 --comm-profile=ring8 --wrap "sleep 0.2"
	add _ -N2 -n4 --array=1-3 --comm-profile=pairs4 --wrap true
	add _ -N1 --wrap true
}

# What the line is about is in force while they are submitted, run and end.
work_jobs() { # SBATCH-OPTION of the main one...
	arm
	add main -N4 -n8 --exclusive --comm-profile="$fresh" "$@" \
		--wrap "srun true"
	some_jobs
	try_secret
	wait_all_ended
}

# The main job has had its step: one that finds no slurmctld waits for a minute.
begun() {
	[ -e "$CLUSTER/home/$fresh" ]
}

# The script of a job that has had a step and runs until it may end.
until_told="srun true; touch \$FRESH; until [ -e \$FRESH.end ]; do sleep 0.1; done"
tell() {
	as_user touch "$fresh.end"
}

# Running and waiting jobs while slurmctld begins anew under the fault.
work_restart() {
	add main -N4 -n8 --exclusive --comm-profile="$fresh" \
		--export="ALL,FRESH=$fresh" --wrap "$until_told"
	add _ -N16 -n32 --exclusive --comm-profile=ring32 --wrap true
	wait_for 30 begun
	faults_stop
	arm
	faults_start
	tell
	some_jobs
	wait_all_ended
}

# With a wrong clock from the start on: what has ended stays on record.
work_restart_clock() { # SECONDS
	add main -N4 -n8 --exclusive --comm-profile="$fresh" --wrap "srun true"
	some_jobs
	wait_all_ended
	faults_stop
	set_clock "$1"
	mend=mend_clock
	faults_start
	some_jobs
	wait_all_ended
}

work_reconfigure() {
	add main -N4 -n8 --exclusive --comm-profile="$fresh" \
		--export="ALL,FRESH=$fresh" --wrap "$until_told"
	wait_for 30 begun
	arm
	# Read again where they changed.
	touch "$NETWORK" "$CLUSTER/etc/commplace.conf"
	faults_reconfigure
	tell
	some_jobs
	wait_all_ended
	calm
	touch "$NETWORK" "$CLUSTER/etc/commplace.conf"
	faults_reconfigure
	add last -N4 -n8 --exclusive --comm-profile=ring8 --wrap true
	wait_all_ended
}

# slurmctld ends at the call that the rule says, once the job is known for good.
work_killed() { # [later: what was seen at submission does not hold any more]
	add main -H -N4 -n8 --exclusive --comm-profile="$fresh" \
		--wrap "srun true"
	touch "$CLUSTER/taken"
	saved() { [ "$CLUSTER/state/job_state" -nt "$CLUSTER/taken" ]; }
	wait_for 10 saved || scontrol update jobid="$main" comment=saved
	wait_for 10 saved
	[ -z "${1-}" ] || sleep 6
	arm
	scontrol release "$main" >/dev/null 2>&1
	wait_for 20 dead || problem "slurmctld is not killed"
	wait_for 10 ctld_gone
	faults_start
	drain_killed
}
dead() {
	[ ! -e "$faults_rule" ]
}
ctld_gone() {
	! ctld_pids >/dev/null
}

# Like an admin: jobs that Slurm holds since slurmd knew them already.
killed_over() {
	scontrol release "$main"
	scontrol update jobid="$main" starttime=now
	all_ended
} >/dev/null 2>&1

drain_killed() {
	wait_for 60 killed_over
}

# The same in the midst of a submission, which is no job then, or is one.
work_killed_submitting() {
	arm
	as_user timeout 20 sbatch -o /dev/null -N2 -n8 \
		--comm-profile="$fresh" --wrap true >/dev/null 2>&1 &
	wait_for 20 dead || problem "slurmctld is not killed"
	wait_for 10 ctld_gone
	faults_start
	wait $!
	add main -N4 -n8 --exclusive --comm-profile="$fresh" --wrap "srun true"
	some_jobs
	wait_all_ended
}

work_network_replaced() { # TIMES
	local i files=("$NETWORK" "$CLUSTER/network.2")
	sed 's/"test"/"again"/' "$NETWORK" >"$CLUSTER/network.2"
	for ((i = 1; i <= $1; i++)); do
		cp "${files[i % 2]}" "$NETWORK.new"
		mv "$NETWORK.new" "$NETWORK"
		[ $((i % 5)) -ne 0 ] || some_jobs
		[ $((i % 10)) -ne 0 ] || faults_reconfigure
	done
	add main -N4 -n8 --exclusive --comm-profile="$fresh" --wrap true
	wait_all_ended 60
}

# Many at once: 20 sbatch at a time, of jobs that wait; then some of them run.
work_submissions() { # COUNT
	local out id
	out=$(seq "$1" | as_user timeout 120 xargs -P 20 -I{} sbatch --parsable \
		-H -o /dev/null -N2 -n8 --comm-profile="$fresh" --wrap true \
		2>"$CLUSTER/sbatch.err")
	mapfile -t out <<<"$out"
	[ "${#out[@]}" -eq "$1" ] ||
		refusals+=("$1: $(sort "$CLUSTER/sbatch.err" | uniq -c |
			head -3 | paste -sd' ')")
	for id in "${out[@]}"; do
		submitted+=("${id%%;*}")
	done
	main=${out[0]}
	scontrol release "$main,${out[1]},${out[2]}"
	sleep 1
	wait_state "$main" COMPLETED 40
	scancel --state=PENDING -u "$CLUSTER_USER"
	wait_all_ended
}

work_array() { # ELEMENTS THAT-RUN
	add main -N2 -n4 --array="1-$1" --comm-profile=pairs4 --wrap "sleep 0.2"
	some() {
		[ "$(squeue -h -r -t CD -j "$main" -o %i | wc -l)" -ge "$2" ]
	}
	wait_for 60 some _ "$2"
	scancel "$main"
	wait_all_ended
}

work_het() {
	local id
	add main -N2 -n8 --comm-profile="$fresh" : -N2 -n4 \
		--comm-profile=pairs4 : -N1 -n1 --wrap "srun --het-group=0 true"
	for id in $((main + 1)) $((main + 2)); do
		submitted+=("$id")
	done
	some_jobs
	wait_all_ended
}

work_nodes_down() {
	local node
	arm
	for node in n0 n5 n10; do
		add _ -N4 -n8 --exclusive --comm-profile="$fresh" --wrap true
		scontrol update nodename="$node" state=down reason=faults
		some_jobs
		scontrol update nodename="$node" state=resume
	done
	main=${submitted[0]}
	wait_for 10 nodes_back
	wait_all_ended 60
}

work_slurmd_dies() {
	add main -N16 -n32 --exclusive --comm-profile=ring32 --requeue \
		--wrap "srun sleep 3"
	wait_running "$main"
	cluster_kill "$CLUSTER/run/slurmd.n3.pid" KILL
	scontrol update nodename=n3 state=down reason=faults
	some_jobs
	cluster_start_slurmd n3
	wait_for 20 nodes_back
	wait_for 60 all_ended_at_last
}

work_requeue() {
	add main -N4 -n8 --exclusive --comm-profile="$fresh" --requeue \
		--wrap "srun sleep 2"
	wait_running "$main"
	as_user scontrol requeue "$main"
	some_jobs
	wait_for 60 all_ended_at_last
}

work_resize() {
	resized=yes
	# Slurm 22.05 starts no job of whole nodes on those that one gave back, until
	# it begins anew.
	mend=faults_restart
	add main -N6 -n12 --exclusive --comm-profile=pairs12 \
		--wrap "srun true; sleep 3"
	wait_running "$main"
	as_user scontrol update jobid="$main" numnodes=3
	some_jobs
	wait_all_ended
}

work_suspend() {
	add main -N4 -n8 --exclusive --comm-profile="$fresh" \
		--wrap "srun sleep 1"
	wait_running "$main"
	scontrol suspend "$main"
	some_jobs
	wait_for 10 only_suspended
	scontrol resume "$main"
	# One that overtook the suspension on its way to a node leaves it standing.
	wait_for 5 all_ended || {
		scontrol suspend "$main"
		sleep 1
		scontrol resume "$main"
	} 2>/dev/null
	wait_all_ended
}
only_suspended() {
	[ "$(squeue -h -a -o %T | sort -u)" = SUSPENDED ]
}

work_preempt() {
	add _ -p low -N16 -n32 --exclusive --comm-profile=ring32 --requeue \
		--wrap "srun sleep 2"
	wait_running "${submitted[0]}"
	add main -N4 -n8 --exclusive --comm-profile="$fresh" --wrap "srun true"
	wait_state "$main" COMPLETED 40
	wait_for 60 all_ended_at_last
}

work_reservation() {
	scontrol create reservation=faults starttime=now duration=5 \
		users="$CLUSTER_USER" nodes="n[8-15]" >/dev/null
	add main --reservation=faults -N4 -n8 --exclusive \
		--comm-profile="$fresh" --wrap true
	some_jobs
	wait_all_ended
	scontrol delete reservation=faults
}

# Each field of a waiting job that says something to a decision: what Slurm
# refuses is its business. All of them go on then.
work_update() {
	local field
	while read -r field; do
		add main -H -N4 -n8 --comm-profile="$fresh" --wrap true || continue
		# shellcheck disable=SC2086
		scontrol update jobid="$main" $field
	done >"$CLUSTER/update.out" 2>&1 <<-END
	numtasks=16
	numtasks=1
	numtasks=1000000
	numnodes=2
	numnodes=2-8
	numnodes=16
	numcpus=24
	partition=low
	partition=main,low
	name=other
	name=$(printf 'x%.0s' {1..900})
	account=other
	qos=other
	features=none
	excnodelist=n[0-3]
	excnodelist=n[0-11]
	reqnodelist=n[4-5]
	nodelist=n[4-5]
	contiguous=1
	switches=1
	minCPUsNode=4
	cpuspertask=2
	minMemoryNode=10
	timelimit=1
	priority=1
	nice=5
	oversubscribe=1
	overcommit=1
	comment=commplace
	admincomment=nothing
	dependency=afterany:1
	reservation=none
	END
	main=${submitted[0]}
	scontrol release "$(IFS=,; echo "${submitted[*]}")" 2>/dev/null
	try_secret
	sleep 1
	wait_for 60 no_more_starts
	# What cannot run: features that no node has, an unknown dependency.
	scancel --state=PENDING -u "$CLUSTER_USER"
	wait_all_ended
}
no_more_starts() {
	! squeue -h -a -o '%T %r' | grep -qvE \
		'^PENDING .*(Dependency|BadConstraints|Resources|Priority|Held|Reservation|Partition|ReqNode|Limit)'
}

# A user that only the submit host knows.
work_stranger() { # PROFILE
	local i out ids=()
	for i in 1 2 3; do
		out=$(setpriv --reuid=64321 --regid=64321 --clear-groups env -i \
			PATH="$PATH" SLURM_CONF="$SLURM_CONF" timeout 20 sbatch \
			--parsable -D / -H -N2 -n8 -o /dev/null \
			--comm-profile="$1" --wrap true 2>/dev/null) &&
			ids+=("${out%%;*}")
	done
	add main -N4 -n8 --exclusive --comm-profile="$fresh" --wrap "srun true"
	some_jobs
	try_secret
	[ "${#ids[@]}" -eq 0 ] || scancel "${ids[@]}"
	wait_all_ended
}

# sizes OPTION...: a line of any user, with numbers that no machine has.
work_numbers() {
	local options
	for options in "$@"; do
		# shellcheck disable=SC2086
		add _ $options --comm-profile="$fresh" --wrap true ||
			unset 'refusals[-1]'
	done
	add main -N4 -n8 --exclusive --comm-profile="$fresh" --wrap "srun true"
	try_secret
	wait_state "$main" COMPLETED 40
	scancel -u "$CLUSTER_USER"
	wait_all_ended
}

# Admins change their minds while users submit.
work_reconfigures() { # TIMES
	local i
	for ((i = 0; i < $1; i++)); do
		some_jobs
		faults_reconfigure
	done
	add main -N4 -n8 --exclusive --comm-profile="$fresh" --wrap true
	wait_all_ended 60
}

# The user's own profile is there when the job is submitted, and is gone or
# another's business when it begins; the site has a private one of its name.
work_own_deleted() {
	local store=$CLUSTER/homes/$CLUSTER_USER
	cp "$PROFILES/pairs8.json" "$store/secret.json"
	chown "$CLUSTER_USER" "$store/secret.json"
	add main -H -N4 -n8 --exclusive --comm-profile=secret --wrap "srun true"
	rm -f "$store/secret.json"
	sleep 6
	scontrol release "$main"
	wait_all_ended
}

# The name is a public profile's at 8 ranks and a private one's at 16.
work_other_ranks() {
	add main -H -N4 -n8 --exclusive --comm-profile=half --wrap "srun true"
	scontrol update jobid="$main" numtasks=16 >/dev/null 2>&1
	scontrol release "$main"
	add _ -N4 -n8 --exclusive --comm-profile=half \
		--wrap "srun -n16 --overcommit true"
	wait_all_ended
}
