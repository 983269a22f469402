# SPDX-License-Identifier: GPL-2.0-or-later
# What a soak does to daemons, files, disk and clock, and how it is mended.
# Sourced by run, after cluster.bash.

# StateDir is a small file system of its own, so that it can be full.
STATE_MIB=$((160 + jobs / 50))
KEEP_RECORDS=$((jobs > 5000 ? jobs : 5000))
SOAK_PROFILES="ring8 pairs8 ring16 pairs16 ring32 pairs32 ring64 pairs64"

declare -A drained submitted_at may_be_lost record_harmed
crashes=0 harmed=0 clock_now=0 profile_harmed= disk_can_fill= disk_was_full=0

set_clock() {
	perl -e 'print pack("q", shift)' -- "$1" |
		dd of="$clock" conv=notrunc status=none
}

# With a clock that was set back Slurm's schedulers wait until it is as late as
# before, with and without commplace: the admin restarts slurmctld.
turn_clock() {
	local before=$clock_now
	set_clock "$1"
	clock_now=$1
	[ $((before - $1)) -le 2 ] || end_ctld TERM
}

soak_prepare() {
	local name ranks
	for name in $SOAK_PROFILES; do
		ranks=${name//[a-z]/}
		cluster_signature "$name" "$ranks" "${name%"$ranks"}"
	done
	cluster_stop_ctld
	if mount -t tmpfs -o "size=${STATE_MIB}m" soak "$CLUSTER/decisions" \
	    2>/dev/null; then
		disk_can_fill=yes
		on_exit 'umount -l "$CLUSTER/decisions"'
	else
		diag "no tmpfs may be mounted here: the disk is never full"
	fi
	cp -a "$PROFILES" "$CLUSTER/good"
	cp -a "$NETWORK" "$CLUSTER/good.network"
	cp -a "$CLUSTER/etc/commplace.conf" "$CLUSTER/good.conf"
	cluster_start_ctld && wait_for 30 cluster_nodes_up ||
		bail "slurmctld does not come back"
}

# A line of ours in slurmctld's log, which is opened to append.
mark() {
	echo "soak: $*" >>"$CLUSTER/log/slurmctld.log"
}

# From 23.11 on slurmctld reconfigures as another process, and for a while there
# are two; who has the pid file does not tell. Its slurmscriptd has another title.
ctld_pids() {
	pgrep -f -- "^slurmctld( .*)? -f $SLURM_CONF\$"
}

# The last that was begun.
ctld_pid() {
	pgrep -n -f -- "^slurmctld( .*)? -f $SLURM_CONF\$"
}

# Is slurmctld there, as nobody has ended it?
ctld_or_crash() {
	ctld_pids >/dev/null && return
	crashes=$((crashes + 1))
	log "slurmctld is gone"
	diag "slurmctld is gone after ${submitted:-0} jobs" >&2
	cluster_dump "$CLUSTER/log/slurmctld.log" 8 >&2
	mark "crash"
	cluster_start_ctld
}

# What Slurm has not saved yet when it is killed it knows no more: submissions
# since it last began to write its jobs down.
note_unsaved() {
	local saved name
	saved=$(stat -c %Y "$CLUSTER/state/job_state" 2>/dev/null || echo 0)
	for name in "${!submitted_at[@]}"; do
		if [ "${submitted_at[$name]}" -ge $((saved - 2)) ]; then
			may_be_lost[$name]=1
		else
			unset "submitted_at[$name]"
		fi
	done
}

# Is none of those left that are ending? A reconfiguration may be under way, which
# brings others. One that was killed loses its command line before its ports.
ctld_gone() { # SIGNAL
	local pid left=
	ending="$ending $(ctld_pids | paste -sd' ')"
	for pid in $ending; do
		if [ -d "/proc/$pid" ]; then
			left="$left $pid"
			kill "-$1" "$pid" 2>/dev/null
		fi
	done
	ending=$left
	[ -z "$left" ]
}

end_ctld() { # SIGNAL
	ctld_or_crash
	[ "$1" != KILL ] || note_unsaved
	mark "$1"
	ending=
	wait_for 30 ctld_gone "$1" || wait_for 10 ctld_gone KILL
	rm -f "$CLUSTER/run/slurmctld.pid"
	cluster_start_ctld || {
		fail "slurmctld starts again after $1"
		cluster_dump "$CLUSTER/log/slurmctld.log" >&2
	}
}

spoil() { # FILE HOW
	local half
	harmed=$((harmed + 1))
	[ -f "$1" ] || return
	log "spoil $1 $2"
	case $2 in
	cut)
		half=$(($(stat -c %s "$1") / 2))
		truncate -s "$half" "$1"
		;;
	empty) truncate -s 0 "$1" ;;
	gone) rm -f "$1" ;;
	fifo) rm -f "$1" && mkfifo "$1" ;;
	folder) rm -f "$1" && mkdir "$1" ;;
	noise) head -c 3000 /proc/self/exe >"$1" ;;
	esac 2>/dev/null
}

# A file as it was, at once.
mend_file() { # GOOD FILE
	[ ! -d "$2" ] || rmdir "$2"
	cp -p "$1" "$2.new" && mv "$2.new" "$2"
}

mend_profiles() {
	local name
	for name in $SOAK_PROFILES; do
		# Not a FIFO, which nobody would write to.
		[ -f "$PROFILES/$name.json" ] && cmp -s \
			"$CLUSTER/good/$name.json" "$PROFILES/$name.json" ||
			mend_file "$CLUSTER/good/$name.json" \
				"$PROFILES/$name.json"
	done
}

reconfigure() {
	ctld_or_crash
	mark reconfigure
	timeout 60 scontrol reconfigure >/dev/null 2>&1
	wait_for 60 cluster_ping
}

harm_damage() { # WHAT HOW
	local f name=($SOAK_PROFILES)
	case $1 in
	profile)
		profile_harmed=yes
		spoil "$PROFILES/${name[harmed % ${#name[@]}]}.json" "$2"
		;;
	record)
		f=$(find "$CLUSTER/decisions/running" -name '*.json' -type f \
			2>/dev/null | sort -V | tail -1)
		[ -n "$f" ] || return
		record_harmed[$(basename "$f" .json)]=1
		spoil "$f" "$2"
		;;
	conf)
		spoil "$CLUSTER/etc/commplace.conf" "$2"
		# Half of it may be a good one, with other folders.
		[ "$2" != cut ] ||
			printf '\nMode=perhaps\n' \
				>>"$CLUSTER/etc/commplace.conf"
		;;
	network) spoil "$NETWORK" "$2" ;;
	esac
}

harm_mend() { # WHAT
	case $1 in
	profile) mend_profiles ;;
	conf)
		mend_file "$CLUSTER/good.conf" "$CLUSTER/etc/commplace.conf"
		reconfigure
		;;
	network)
		mend_file "$CLUSTER/good.network" "$NETWORK"
		reconfigure
		;;
	esac
}

fill_disk() {
	[ -n "$disk_can_fill" ] || return
	disk_was_full=$((disk_was_full + 1))
	mark "disk full"
	dd if=/dev/zero of="$CLUSTER/decisions/.ballast" bs=64k 2>/dev/null
	dd if=/dev/zero of="$CLUSTER/decisions/.ballast2" bs=512 2>/dev/null
}

free_disk() {
	rm -f "$CLUSTER"/decisions/.ballast "$CLUSTER"/decisions/.ballast2
	mark "disk free"
}

start_slurmd() {
	cluster_alive "$CLUSTER/run/slurmd.$1.pid" || cluster_start_slurmd "$1"
}

harm() {
	case $1 in
	ctld) end_ctld "$2" ;;
	slurmd)
		if [ "$3" = start ]; then
			start_slurmd "$2"
		else
			cluster_kill "$CLUSTER/run/slurmd.$2.pid" "$3"
		fi
		;;
	commplaced)
		[ "$2" != KILL ] || mark "KILL of commplaced"
		pkill "-$2" -x commplaced -P "$(ctld_pids | paste -sd,)"
		;;
	reconfigure) reconfigure ;;
	drain)
		drained[$2]=1
		scontrol update nodename="$2" state=drain reason=soak
		;;
	undrain)
		unset "drained[$2]"
		scontrol update nodename="$2" state=resume
		;;
	damage) harm_damage "$2" "$3" ;;
	mend) harm_mend "$2" ;;
	disk) if [ "$2" = full ]; then fill_disk; else free_disk; fi ;;
	clock) turn_clock "$2" ;;
	esac 2>/dev/null
}

# All as at the beginning, but for the clock.
mend_all() {
	local node
	free_disk
	harm commplaced CONT
	mend_profiles
	mend_file "$CLUSTER/good.network" "$NETWORK"
	mend_file "$CLUSTER/good.conf" "$CLUSTER/etc/commplace.conf"
	for node in $(cluster_nodes); do
		start_slurmd "$node"
	done
	drained=()
	reconfigure
	# A profile is looked at anew after some seconds.
	[ -z "$profile_harmed" ] || sleep 6
	profile_harmed=
}
