# SPDX-License-Identifier: GPL-2.0-or-later
# The first column behind the name: what goes wrong, and how it is mended again.
# Sourced by faults.t, after cluster.bash.
#
# What concerns calls is a rule for tests/tools/faults.c, which the work puts in
# force when it is time for it (arm). All else holds from now on, until mend.

faults_rule=$(mktemp)
clock=$(mktemp)
on_exit 'rm -f "$faults_rule"* "$clock"'
tools=${COMMPLACE_BUILD:?}/tests/tools/.libs
slurmctld() {
	(export LD_PRELOAD="$tools/faults.so:$tools/clock.so" \
		COMMPLACE_FAULTS="$faults_rule" COMMPLACE_CLOCK="$clock"
	[ -z "$odd" ] || export ODD="$odd" \
		COMMPLACED="$COMMPLACE_BUILD/tests/tools/odd_commplaced"
	exec slurmctld "$@")
}
slurmd() {
	(export LD_PRELOAD="$tools/clock.so" COMMPLACE_CLOCK="$clock"
	exec slurmd "$@")
}

set_clock() {
	perl -e 'print pack("q", shift)' -- "$1" |
		dd of="$clock" conv=notrunc status=none
}

rule= rules=0 mend= odd=

arm() {
	[ -n "$rule" ] || return 0
	rules=$((rules + 1))
	echo "$rules $rule" >"$faults_rule.new"
	mv "$faults_rule.new" "$faults_rule"
}

# No call fails any more.
calm() {
	rm -f "$faults_rule"
}

struck() {
	[ -s "$faults_rule.hits" ]
}

inject_nothing() { :; }

# calls CALLS WHAT PATH [FROM [COUNT]], as the rules of tests/tools/faults.c
inject_calls() {
	[ "$2" != die ] || mend=mend_commplaced
	rule="$1 $2 ${4:-1} ${5:-0} $3"
}

# StateDir is a file system of its own, see faults_prepare.
inject_disk() { # full|read-only|gone|file|closed
	local state=$CLUSTER/decisions
	mend="mend_disk $1"
	case $1 in
	full)
		dd if=/dev/zero of="$state/.ballast" bs=64k 2>/dev/null
		dd if=/dev/zero of="$state/.ballast2" bs=512 2>/dev/null
		true
		;;
	read-only) mount -o remount,ro "$state" ;;
	# Only what slurmctld finds at the path: the mount stays where it was.
	# It may make it anew meanwhile.
	gone) umount -l "$state" && rm -rf "$state" ;;
	file)
		umount -l "$state"
		: >"$CLUSTER/no-folder"
		until rm -rf "$state" && ln -T "$CLUSTER/no-folder" "$state"
		do :; done 2>/dev/null
		;;
	esac || problem "the disk cannot be made so: $1"
}

mend_disk() {
	local state=$CLUSTER/decisions
	case $1 in
	full) rm -f "$state"/.ballast "$state"/.ballast2 ;;
	read-only) mount -o remount,rw "$state" ;;
	*)
		rm -rf "$state"
		mkdir "$state"
		mount_state
		;;
	esac
}

mount_state() {
	mount -t tmpfs -o size=32m faults "$CLUSTER/decisions" 2>/dev/null
}

# The clock of all daemons, and back: then Slurm's schedulers would wait until it
# is as late as before.
inject_clock() { # SECONDS
	set_clock "$1"
	mend=mend_clock
	[ "$1" -ge 0 ] || faults_restart
}

mend_clock() {
	set_clock 0
	faults_restart
}

# A profile's file is something else: damaged, empty, a FIFO, a folder.
inject_profile() { # HOW
	local file=$PROFILES/$fresh.json
	rm -f "$file"
	case $1 in
	# What hung for 5 s in the line before is to have ended: until then ProfileDir does
	# not answer, and no job is refused for what is not known.
	missing) sleep 6 ;;
	cut) head -c 200 "$PROFILES/pairs8.json" >"$file" ;;
	empty) : >"$file" ;;
	noise) head -c 5000 /proc/self/exe >"$file" ;;
	fifo) mkfifo "$file" ;;
	folder) mkdir "$file" ;;
	link) ln -s /etc/shadow "$file" ;;
	closed) cp "$PROFILES/pairs8.json" "$file" && chmod 000 "$file" ;;
	esac
}

# For a restart or a reconfiguration to find.
inject_network() { # HOW
	mend=mend_network
	case $1 in
	missing) rm -f "$NETWORK" ;;
	cut) truncate -s 100 "$NETWORK" ;;
	other) cluster_network "$NETWORK" "x[0-15]" ;;
	esac
}

mend_network() {
	cluster_network "$NETWORK"
	faults_reconfigure
}

inject_config() { # TEXT
	CLUSTER_SITE="$faults_site
$1"
	cluster_write_site
	mend=mend_config
}

mend_config() {
	CLUSTER_SITE=$faults_site
	cluster_write_site
	faults_reconfigure
}

commplaced_pids() {
	pgrep -x commplaced -P "$(ctld_pids | paste -sd,)"
}

# The process that decides is killed, stopped, killed again and again (storm), has
# no memory, or is one that is not as it should be (tests/tools/odd_commplaced.c).
inject_commplaced() { # killed|stopped|memory|storm|missing|odd HOW
	local pid
	pid=$(commplaced_pids)
	[ -n "$pid" ] || problem "there is no commplaced"
	mend=mend_commplaced
	case $1 in
	killed) kill -9 "$pid" ;;
	stopped) kill -STOP "$pid" ;;
	memory) prlimit --pid "$pid" --as=1000000: ;;
	storm)
		while sleep 0.3; do
			# shellcheck disable=SC2046
			kill -9 $(commplaced_pids)
		done 2>/dev/null &
		storm=$!
		;;
	missing)
		odd=missing
		mv "$COMMPLACE_BUILD/tests/tools/odd_commplaced"{,.away}
		faults_restart
		;;
	odd)
		odd=$2
		faults_restart
		;;
	esac
}
storm=

mend_commplaced() {
	local pid
	if [ -n "$storm" ]; then
		kill "$storm"
		wait "$storm"
		storm=
	fi 2>/dev/null
	[ "$odd" != missing ] ||
		mv "$COMMPLACE_BUILD/tests/tools/odd_commplaced"{.away,}
	if [ -n "$odd" ]; then
		odd=
		faults_restart
	fi
	for pid in $(commplaced_pids); do
		kill -CONT "$pid"
		prlimit --pid "$pid" --as=unlimited:
	done 2>/dev/null
	wait_for 60 placed_again || problem "no job is placed any more"
}

placed_again() {
	local id
	id=$(as_user timeout 30 sbatch --parsable -o /dev/null -N2 -n8 \
		--comm-profile=pairs8 --wrap true 2>/dev/null) &&
		wait_ended "$id" >/dev/null &&
		[[ $(job_field "$id" admin_comment) == *policy=* ]]
}
