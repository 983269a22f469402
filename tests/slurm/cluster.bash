# SPDX-License-Identifier: GPL-2.0-or-later
# A throw-away Slurm cluster on loopback for live tests. Sourced after
# tests/tools/tap.bash (or what has its bail, diag and on_exit: quickstart). Everything (munge key and daemon, configuration, state,
# logs, an unprivileged user) is the cluster's own, so that several clusters can
# run side by side.
#
#   . "${0%/*}/../tools/tap.bash"; . "${0%/*}/cluster.bash"
#   CLUSTER_EXTRA="PreemptType=preempt/partition_prio"   # settings, see below
#   cluster_start
#   job=$(submit -N2 --comm-profile=halo4 --wrap "sleep 100")
#   wait_running "$job"
#   is "$(job_hosts "$job")" "n0 n1" "..."
#   cluster_check; done_testing
#
# Settings, read by cluster_start; set them after sourcing this file:
: "${CLUSTER_GROUPS:=4}"         # dragonfly, 2 nodes a router
: "${CLUSTER_ROWS:=2}"
: "${CLUSTER_COLUMNS:=1}"
: "${CLUSTER_CPUS:=4}"           # of each pretended node n0, n1, ...
: "${CLUSTER_SELECT:=cons_tres_commplace}" # or cons_tres, the stock plugin
: "${CLUSTER_SELECT_PARAMETERS:=CR_Core}"
: "${CLUSTER_SWITCH:=commplace}"  # from Slurm 24.05 on
: "${CLUSTER_TASK:=task/none}"   # or task/commplace,task/affinity,task/cgroup
: "${CLUSTER_CGROUP:=v1}"         # or v2
: "${CLUSTER_JOB_SUBMIT=commplace}"
: "${CLUSTER_SPANK:=yes}"
: "${CLUSTER_CRED_EXPIRE:=120}"  # seconds; requeued jobs wait as long
: "${CLUSTER_DEBUG:=debug}"        # of slurmctld
: "${CLUSTER_DEBUG_FLAGS=SelectType}"
: "${CLUSTER_MIN_JOB_AGE:=300}"
: "${CLUSTER_SLURMD_TIMEOUT:=300}"
: "${CLUSTER_CTLD_TIMEOUT:=10}"    # SlurmctldTimeout
: "${CLUSTER_HONEST:=no}"        # yes: node h0, partition real
: "${CLUSTER_PARTITIONS:=}"      # lines in place of partition main
: "${CLUSTER_EXTRA:=}"           # further lines of slurm.conf
: "${CLUSTER_RETURN:=2}"         # ReturnToService: 1 leaves nodes down that were set so
: "${CLUSTER_NODE_EXTRA:=}"       # what else each pretended node has
: "${CLUSTER_TOPOLOGY:=}"        # lines of topology.conf
: "${CLUSTER_DECISION_TIME:=2000}"
: "${CLUSTER_SITE:=}"            # further lines of commplace.conf
: "${CLUSTER_NODE_PREFIX:=n}"
: "${CLUSTER_CTLD_WRAP:=}"       # e.g. valgrind ...; slurmctld then runs -D
: "${CLUSTER_PORTS:=${COMMPLACE_TEST_PORTS:-17000-19999}}" # where to look
: "${CLUSTER_CTLD_HOSTS:=localhost(127.0.0.1)}" # slurmctld's, of a backup the second
# Where commplace is installed (make install); run-tests sets it.
: "${COMMPLACE_PREFIX:?cluster.bash: COMMPLACE_PREFIX is not set: the directory of make install}"
# Set by cluster_start: CLUSTER (its directory), CLUSTER_USER, CLUSTER_PORT,
# CLUSTER_N (number of pretended nodes), SLURM_CONF, PROFILES, NETWORK.

COMMPLACE=$COMMPLACE_PREFIX/bin/commplace
. "${BASH_SOURCE[0]%/*}/../tools/slurm.bash"
CLUSTER_SERIES=$SLURM_SERIES
# Packages put ours beside Slurm's.
CLUSTER_PLUGINS=$SLURM_STOCK_PLUGINS
[ "$COMMPLACE_PREFIX" = /usr ] ||
	CLUSTER_PLUGINS=$COMMPLACE_PREFIX/lib/slurm-wlm:$SLURM_STOCK_PLUGINS
export PATH=$COMMPLACE_PREFIX/bin:$SLURM_PATH
# MPI and PMIx look up the host's name, which in a bare root nobody knows.
export RES_OPTIONS=timeout:1

# wait_for SECONDS COMMAND...: poll until the command exits 0. The seconds are those
# of a quiet machine: one that runs all tests and builds beside them has three times
# as long, which costs nothing where nothing is amiss.
wait_for() {
	local end=$((${EPOCHREALTIME/./} + $1 * 3000000)) pause=0.05
	shift
	until "$@"; do
		[ "${EPOCHREALTIME/./}" -lt "$end" ] || return 1
		nap "$pause"
		case $pause in
		0.05) pause=0.1 ;;
		*) pause=0.2 ;;
		esac
	done
}
# nap SECONDS: sleep, but without a process, of which polls were half: nobody writes
# into this pipe.
nap() {
	if [ -p "${CLUSTER:-}/never" ]; then
		read -rt "$1" <>"$CLUSTER/never" || :
	else
		sleep "$1"
	fi
}

# Does any TCP socket listen on a port FIRST..LAST?
cluster_ports_busy() {
	awk -v first="$1" -v last="$2" '
		function hex(s,  i, v) {
			for (i = 1; i <= length(s); i++)
				v = v * 16 + index("0123456789ABCDEF",
					substr(s, i, 1)) - 1
			return v
		}
		FNR > 1 && $4 == "0A" {
			split($2, a, ":")
			p = hex(a[2])
			if (p >= first && p <= last)
				busy = 1
		}
		END { exit !busy }' /proc/net/tcp /proc/net/tcp6 2>/dev/null
}

# Block PORT of 40 ports is ours, and all are free; its directory in /tmp is the lock.
cluster_lock_ports() {
	local lock=/tmp/.commplace-ports-$1 owner
	if ! mkdir "$lock" 2>/dev/null; then
		owner=$(cat "$lock/pid" 2>/dev/null) && [ ! -d "/proc/$owner" ] ||
			return 1
	fi
	echo $$ >"$lock/pid"
	cluster_port_locks+=("$lock")
	! cluster_ports_busy "$1" $(($1 + 39))
}

# cluster_try_ports [PORTS]: as many blocks, one after the other, as slurmctld, the
# nodes and h0 need
cluster_try_ports() {
	local low=${CLUSTER_PORTS%-*} high=${CLUSTER_PORTS#*-} blocks need i j k
	need=$(((${1:-$((CLUSTER_N + 2))} + 39) / 40))
	blocks=$(((high - low + 1) / 40 - need + 1))
	[ "$blocks" -gt 0 ] || return 1
	k=$((RANDOM % blocks))
	for ((i = 0; i < blocks; i++)); do
		CLUSTER_PORT=$((low + (k + i) % blocks * 40))
		cluster_port_locks=()
		for ((j = 0; j < need; j++)); do
			cluster_lock_ports $((CLUSTER_PORT + j * 40)) || break
		done
		[ "$j" -lt "$need" ] || return 0
		rm -rf "${cluster_port_locks[@]}"
	done
	return 1
}

# Write the dragonfly of the settings with NODES (a hostlist) to FILE.
cluster_network() {
	cat >"$1" <<-END
	{ "format": "commplace-network", "version": 1, "name": "test",
	  "type": "dragonfly", "groups": $CLUSTER_GROUPS, "rows": $CLUSTER_ROWS,
	  "columns": $CLUSTER_COLUMNS, "nodes_per_router": 2,
	  "global_links_per_group_pair": 1, "global_wiring": "modulo",
	  "bandwidth": { "row": 5.25e9, "column": 15.75e9, "global": 4.7e9,
	    "injection": 16e9 },
	  "routing": "static-direct",
	  "nodes": "${2:-${CLUSTER_NODE_PREFIX}[0-$((CLUSTER_N - 1))]}" }
	END
}

# cluster_signature NAME RANKS [PATTERN]: install a profile. PATTERN: ring
# (default), pairs (r talks to r + RANKS/2), fours (4 * i up to 4 * i + 3 talk to
# each other), all, none.
cluster_signature() {
	local file=$PROFILES/$1.json
	awk -v name="$1" -v n="$2" -v pattern="${3:-ring}" 'BEGIN {
		printf "{ \"format\": \"commplace-signature\", \"version\": 1,"
		printf " \"name\": \"%s\", \"application\": \"test\",", name
		printf " \"ranks\": %d, \"phases\": [ { \"name\": \"all\",", n
		printf " \"weight\": 1, \"time\": 1.0, \"compute_time\": 0.5,"
		printf " \"traffic\": ["
		for (i = 0; i < n; i++)
			for (j = 0; j < n; j++) {
				if (i == j)
					continue
				if (pattern == "ring" && (i + 1) % n != j &&
				    (j + 1) % n != i)
					continue
				if (pattern == "pairs" &&
				    (i + int(n / 2)) % n != j &&
				    (j + int(n / 2)) % n != i)
					continue
				if (pattern == "fours" &&
				    int(i / 4) != int(j / 4))
					continue
				if (pattern == "none")
					continue
				printf "%s[%d,%d,%d,10]", sep, i, j, 1000000
				sep = ","
			}
		print "] } ] }"
	}' >"$file.new" && mv "$file.new" "$file"
}

cluster_write_site() {
	cat >"$CLUSTER/etc/commplace.conf" <<-END
	NetworkFile=$NETWORK
	ProfileDir=$PROFILES
	StateDir=$CLUSTER/decisions
	MaxDecisionTime=$CLUSTER_DECISION_TIME
	$CLUSTER_SITE
	END
}

cluster_write_cgroup() {
	# cgroup/v1 fails where slurmd may make none; from 24.05 on one can do
	# without.
	if [ "$CLUSTER_SERIES" -ge 2405 ] && [[ "$CLUSTER_TASK" != *cgroup* ]]; then
		echo CgroupPlugin=disabled
		return
	fi
	cat <<-END
	CgroupPlugin=cgroup/$CLUSTER_CGROUP
	CgroupMountpoint=/sys/fs/cgroup
	IgnoreSystemd=yes
	ConstrainCores=yes
	ConstrainRAMSpace=no
	ConstrainDevices=no
	END
	[ "$CLUSTER_SERIES" -ge 2311 ] || echo CgroupAutomount=no
}

cluster_write_conf() {
	local p=$CLUSTER_PORT nodes="${CLUSTER_NODE_PREFIX}[0-$((CLUSTER_N - 1))]"
	local cpus
	cat >"$SLURM_CONF" <<-END
	ClusterName=test$p
	$(printf 'SlurmctldHost=%s\n' $CLUSTER_CTLD_HOSTS)
	SlurmctldPort=$p
	AuthType=auth/munge
	AuthInfo=socket=$CLUSTER/run/munge.socket,cred_expire=$CLUSTER_CRED_EXPIRE
	SlurmUser=root
	SlurmdUser=root
	PluginDir=$CLUSTER_PLUGINS
	PlugStackConfig=$CLUSTER/etc/plugstack.conf
	SelectType=select/$CLUSTER_SELECT
	SelectTypeParameters=$CLUSTER_SELECT_PARAMETERS
	TaskPlugin=$CLUSTER_TASK
	ProctrackType=proctrack/linuxproc
	StateSaveLocation=$CLUSTER/state
	SlurmdSpoolDir=$CLUSTER/spool/%n
	SlurmctldPidFile=$CLUSTER/run/slurmctld.pid
	SlurmdPidFile=$CLUSTER/run/slurmd.%n.pid
	SlurmctldLogFile=$CLUSTER/log/slurmctld.log
	SlurmdLogFile=$CLUSTER/log/slurmd.%n.log
	SlurmctldDebug=$CLUSTER_DEBUG
	TmpFS=$CLUSTER/tmp/%n
	FirstJobId=$((p % 10000 * 100 + 1))
	SchedulerParameters=bf_interval=2,bf_window=1440,sched_interval=3,sched_min_interval=100000
	SlurmdParameters=config_overrides
	ReturnToService=$CLUSTER_RETURN
	KillWait=2
	CompleteWait=0
	MinJobAge=$CLUSTER_MIN_JOB_AGE
	SlurmdTimeout=$CLUSTER_SLURMD_TIMEOUT
	SlurmctldTimeout=$CLUSTER_CTLD_TIMEOUT
	InactiveLimit=0
	Waittime=0
	MailProg=/bin/true
	END
	[ -z "$CLUSTER_DEBUG_FLAGS" ] ||
		echo "DebugFlags=$CLUSTER_DEBUG_FLAGS" >>"$SLURM_CONF"
	[ -z "$CLUSTER_JOB_SUBMIT" ] ||
		echo "JobSubmitPlugins=$CLUSTER_JOB_SUBMIT" >>"$SLURM_CONF"
	cat >>"$SLURM_CONF" <<-END
	NodeName=$nodes NodeHostname=localhost NodeAddr=127.0.0.1 Port=[$((p + 1))-$((p + CLUSTER_N))] CPUs=$CLUSTER_CPUS Sockets=1 CoresPerSocket=$CLUSTER_CPUS ThreadsPerCore=1 RealMemory=1000 $CLUSTER_NODE_EXTRA
	END
	if [ "$CLUSTER_HONEST" = yes ]; then
		cpus=$(nproc)
		cat >>"$SLURM_CONF" <<-END
		NodeName=h0 NodeHostname=localhost NodeAddr=127.0.0.1 Port=$((p + CLUSTER_N + 1)) CPUs=$cpus Sockets=1 CoresPerSocket=$cpus ThreadsPerCore=1 RealMemory=1000
		PartitionName=real Nodes=h0 MaxTime=INFINITE State=UP
		END
	fi
	if [ -n "$CLUSTER_PARTITIONS" ]; then
		echo "$CLUSTER_PARTITIONS" >>"$SLURM_CONF"
	else
		echo "PartitionName=main Nodes=$nodes Default=YES MaxTime=INFINITE State=UP" >>"$SLURM_CONF"
	fi
	[ -z "$CLUSTER_EXTRA" ] || echo "$CLUSTER_EXTRA" >>"$SLURM_CONF"
	[ "$CLUSTER_SERIES" -lt 2405 ] || [ "$CLUSTER_SELECT" = cons_tres ] ||
		echo "SwitchType=switch/$CLUSTER_SWITCH" >>"$SLURM_CONF"
	[ -z "$CLUSTER_TOPOLOGY" ] ||
		echo "$CLUSTER_TOPOLOGY" >"$CLUSTER/etc/topology.conf"
	cluster_write_cgroup >"$CLUSTER/etc/cgroup.conf"
	if [ "$CLUSTER_SPANK" = yes ]; then
		echo "required spank_commplace.so"
	fi >"$CLUSTER/etc/plugstack.conf"
	cluster_write_site
}

cluster_nodes() {
	local i
	for ((i = 0; i < CLUSTER_N; i++)); do
		echo "$CLUSTER_NODE_PREFIX$i"
	done
	[ "$CLUSTER_HONEST" != yes ] || echo h0
}

cluster_alive() {
	local pid
	pid=$(cat "$1" 2>/dev/null) && [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null
}

# For tests of binding by cgroup v1's cpusets, before cluster_start.
cluster_needs_cpusets() {
	[ ! -d /sys/fs/cgroup/cpuset ] || [ "$(nproc)" -lt 2 ] || return 0
	skip_all "needs a cpuset hierarchy (cgroup v1) and two CPUs"
}

# cluster_kill PIDFILE [SIGNAL]: end one of our daemons and wait for it
cluster_kill() {
	local pid
	pid=$(cat "$1" 2>/dev/null) && [ -n "$pid" ] || return 0
	kill "-${2:-TERM}" "$pid" 2>/dev/null || return 0
	cluster_gone() { ! kill -0 "$pid" 2>/dev/null; }
	wait_for 30 cluster_gone || kill -9 "$pid" 2>/dev/null
	rm -f "$1"
}

cluster_ping() {
	scontrol ping 2>/dev/null | grep -q 'is UP'
}

cluster_nodes_up() {
	# idle, mixed or allocated, and not idle* (silent) or down
	! sinfo -h -N -o '%t' 2>/dev/null | grep -qvE '^(idle|mix|alloc|resv|drain|drng|comp)$'
}

# Nodes say now what they are and what runs on them, for which slurmctld asks some
# seconds after it begins. From 23.11 on as another process.
cluster_register() {
	local file
	for file in "$CLUSTER"/run/slurmd.*.pid; do
		kill -HUP "$(<"$file")"
	done 2>/dev/null
}

# cluster_start_ctld [-c]: returns when it answers
cluster_start_ctld() {
	if [ -n "$CLUSTER_CTLD_WRAP" ]; then
		# 24.11 goes by the name that it is called by, and starts its
		# slurmscriptd by it, or else by /proc/self/exe, of which
		# valgrind 3.24 makes ".../slurmctld-wlmemcheck-amd64-linux".
		# shellcheck disable=SC2086
		$CLUSTER_CTLD_WRAP "$(command -v slurmctld)" -D "$@" -f "$SLURM_CONF" \
			>"$CLUSTER/log/slurmctld.out" 2>&1 </dev/null 3>&- 4>&- &
	else
		slurmctld "$@" -f "$SLURM_CONF" \
			>"$CLUSTER/log/slurmctld.out" 2>&1 </dev/null 3>&- 4>&- ||
			return 1
	fi
	wait_for 60 cluster_ping
}

cluster_stop_ctld() {
	cluster_kill "$CLUSTER/run/slurmctld.pid"
}

# With running and pending jobs kept; -c would clear the state. Until the nodes
# have reported no step can be made.
cluster_restart_ctld() {
	cluster_stop_ctld
	cluster_start_ctld && wait_for 30 cluster_nodes_up
}

# Reconfigured, by another process from 23.11 on, and steps can be made again. The
# status is scontrol's.
cluster_reconfigure() {
	local rc
	scontrol reconfigure
	rc=$?
	wait_for 30 cluster_ping
	wait_for 30 cluster_nodes_up
	return $rc
}

cluster_start_slurmd() {
	slurmd -N "$1" -f "$SLURM_CONF" \
		>>"$CLUSTER/log/slurmd.$1.out" 2>&1 </dev/null 3>&- 4>&-
}

# cluster_has_plugin NAME: has this Slurm NAME.so? What a Slurm can do is up to the
# libraries that it was built with.
cluster_has_plugin() {
	local dir
	for dir in ${CLUSTER_PLUGINS//:/ }; do
		[ ! -e "$dir/$1.so" ] || return 0
	done
	return 1
}

cluster_dump() {
	diag "--- last lines of $1"
	diag "$(tail -n "${2:-30}" "$1" 2>&1)"
}

cluster_start() {
	local n uid
	[ "$(id -u)" = 0 ] || bail "live tests need root"
	CLUSTER_N=$((CLUSTER_GROUPS * CLUSTER_ROWS * CLUSTER_COLUMNS * 2))
	CLUSTER=$(mktemp -d "${TMPDIR:-/tmp}/commplace-live.XXXXXX")
	mkfifo "$CLUSTER/never"
	chmod 755 "$CLUSTER"
	on_exit cluster_stop
	wait_for 300 cluster_try_ports || bail "no free ports in $CLUSTER_PORTS"
	CLUSTER_USER=cpl$CLUSTER_PORT
	NETWORK=$CLUSTER/etc/network.json
	PROFILES=$CLUSTER/profiles
	export SLURM_CONF=$CLUSTER/etc/slurm.conf
	mkdir -p "$CLUSTER"/{etc,state,log,run,spool,tmp,home,profiles,decisions}
	for n in $(cluster_nodes); do
		mkdir -p "$CLUSTER/spool/$n"
		mkdir -p -m 1777 "$CLUSTER/tmp/$n"
	done
	# Left by a run that was killed: these ports, and the name, are ours now.
	! id "$CLUSTER_USER" >/dev/null 2>&1 ||
		wait_for 20 userdel -f "$CLUSTER_USER"
	# The lock file of useradd is held by one at a time. Numbers by the ports:
	# cgroups are by them, and other roots' clusters have theirs beside ours.
	wait_for 20 useradd -M -U -d "$CLUSTER/home" -s /bin/bash \
		-K UID_MIN="$CLUSTER_PORT" -K UID_MAX=$((CLUSTER_PORT + 39)) \
		-K GID_MIN="$CLUSTER_PORT" -K GID_MAX=$((CLUSTER_PORT + 39)) \
		"$CLUSTER_USER" ||
		bail "useradd $CLUSTER_USER failed"
	uid=$(id -u "$CLUSTER_USER")
	chown "$uid" "$CLUSTER/home"
	dd if=/dev/urandom of="$CLUSTER/etc/munge.key" bs=128 count=1 status=none
	chmod 600 "$CLUSTER/etc/munge.key"
	munged --key-file="$CLUSTER/etc/munge.key" \
		--socket="$CLUSTER/run/munge.socket" \
		--pid-file="$CLUSTER/run/munged.pid" \
		--log-file="$CLUSTER/log/munged.log" \
		--seed-file="$CLUSTER/run/munged.seed" --origin=127.0.0.1 \
		2>"$CLUSTER/log/munged.err" 3>&- 4>&- ||
		bail "munged does not start: $(cat "$CLUSTER/log/munged.err")"
	cluster_network "$NETWORK"
	cluster_write_conf
	# Where there is no systemd slurmd wants it to be there.
	[ "$CLUSTER_CGROUP" != v2 ] || [ ! -w /sys/fs/cgroup ] ||
		mkdir -p /sys/fs/cgroup/system.slice
	if ! cluster_start_ctld -c; then
		cluster_dump "$CLUSTER/log/slurmctld.out"
		cluster_dump "$CLUSTER/log/slurmctld.log"
		bail "slurmctld does not start"
	fi
	for n in $(cluster_nodes); do
		cluster_start_slurmd "$n" || {
			cluster_dump "$CLUSTER/log/slurmd.$n.log"
			bail "slurmd $n does not start"
		}
	done
	wait_for 60 cluster_nodes_up || {
		diag "$(sinfo -N -o '%N %T %E')"
		cluster_dump "$CLUSTER/log/slurmctld.log"
		bail "nodes do not come up"
	}
}

# Of the cluster's user, whose number may be another's in another root.
cluster_processes() {
	local pid
	for pid in $(pgrep -u "$CLUSTER_USER"); do
		[ ! "/proc/$pid/root/" -ef / ] || echo "$pid"
	done
}

# Ends all that cluster_start and the tests' jobs left, by pid.
cluster_stop() {
	local f n pid
	[ -n "${CLUSTER:-}" ] && [ -d "$CLUSTER" ] || return 0
	if cluster_alive "$CLUSTER/run/slurmctld.pid"; then
		timeout 20 scancel --full --signal=KILL -u "$CLUSTER_USER" 2>/dev/null
		timeout 20 scancel -u "$CLUSTER_USER" 2>/dev/null
		wait_for 10 cluster_no_jobs
	fi
	for f in "$CLUSTER"/run/slurmd.*.pid; do
		pid=$(cat "$f" 2>/dev/null) && kill "$pid" 2>/dev/null
	done
	for f in "$CLUSTER"/run/slurmd.*.pid; do
		cluster_kill "$f"
	done
	cluster_kill "$CLUSTER/run/backup.pid"
	cluster_kill "$CLUSTER/run/slurmctld.pid"
	cluster_kill "$CLUSTER/run/munged.pid"
	# What jobs left behind runs as the cluster's own user.
	for pid in $(cluster_processes); do
		kill -9 "$pid" 2>/dev/null
	done
	cluster_no_processes() { [ -z "$(cluster_processes)" ]; }
	wait_for 5 cluster_no_processes
	# Groups are directories full of files: rmdir takes the empty groups.
	for n in $(cluster_nodes); do
		for f in /sys/fs/cgroup/*/"slurm_$n" \
		    /sys/fs/cgroup/system.slice/"${n}_slurmstepd.scope"; do
			[ -d "$f" ] || continue
			find "$f/uid_$(id -u "$CLUSTER_USER")" "$f/system" -depth \
				-type d -exec rmdir {} \; 2>/dev/null
			rmdir "$f" 2>/dev/null
		done
	done
	wait_for 10 userdel "$CLUSTER_USER" 2>/dev/null
	rm -rf "${cluster_port_locks[@]}"
	if [ -n "${COMMPLACE_KEEP_LOGS:-}" ]; then
		echo "# logs are kept in $CLUSTER"
	else
		rm -rf "$CLUSTER"
	fi
}

# The last tests of every live file: slurmctld lives and nothing crashed.
cluster_check() {
	runs "slurmctld is still up" cluster_ping
	is "$(grep -hE 'fatal:|segfault|stack smashing|double free|[Aa]ssertion' \
		"$CLUSTER"/log/slurmctld.log "$CLUSTER"/log/slurmctld.out |
		head -5)" "" "slurmctld logged no crash"
	is "$(grep -hE 'fatal:|segfault|[Aa]ssertion' "$CLUSTER"/log/slurmd.*.log |
		head -5)" "" "no slurmd logged a crash"
}

# Run a command as the unprivileged user, in its home.
as_user() {
	(cd "$CLUSTER/home" && exec setpriv --reuid="$CLUSTER_USER" \
		--regid="$CLUSTER_USER" --init-groups --inh-caps=-all env -i \
		HOME="$CLUSTER/home" USER="$CLUSTER_USER" \
		LOGNAME="$CLUSTER_USER" SHELL=/bin/bash LANG=C PATH="$PATH" \
		RES_OPTIONS="$RES_OPTIONS" SLURM_CONF="$SLURM_CONF" "$@")
}

# submit SBATCH-OPTIONS...: prints the job id. Without --wrap or a script the
# job sleeps. What sbatch says is in $CLUSTER/sbatch.err.
submit() {
	local id a wrap=yes
	for a in "$@"; do
		case $a in
		--wrap | --wrap=* | *.sh) wrap= ;;
		esac
	done
	id=$(as_user sbatch --parsable ${wrap:+--wrap "exec sleep 300"} "$@" \
		2>"$CLUSTER/sbatch.err") || {
		diag "$(cat "$CLUSTER/sbatch.err")" >&2
		return 1
	}
	echo "${id%%;*}"
}

# job_field JOB FORMAT: a squeue -O field, e.g. State, NodeList, admin_comment
job_field() {
	local text
	text=$(squeue -h -a -t all -j "$1" -O "$2:200" 2>/dev/null)
	text=${text%%$'\n'*}
	text=${text%"${text##*[! ]}"}
	[ -z "$text" ] || echo "$text"
}

job_state() {
	job_field "$1" State
}

job_is() {
	local state
	state=$(job_state "$1")
	[[ " $2 " == *" $state "* ]]
}

# wait_state JOB "STATE..." [SECONDS]
wait_state() {
	wait_for "${3:-30}" job_is "$1" "$2" && return
	diag "job $1 is $(job_state "$1") ($(job_field "$1" Reason)), not $2"
	return 1
}

wait_running() {
	wait_state "$1" RUNNING "${2:-30}"
}

# Ended in any way; prints nothing, status 0 when COMPLETED.
wait_ended() {
	wait_state "$1" "COMPLETED FAILED CANCELLED TIMEOUT NODE_FAIL OUT_OF_MEMORY" \
		"${2:-60}" && job_is "$1" COMPLETED
}

# A test of mpirun begins with it and ends with mpirun_done: under load the daemons
# of two of them on one host lose each other (Open MPI 5).
mpirun_alone() {
	exec 9>/tmp/.commplace-mpirun
	flock 9
}

mpirun_done() {
	exec 9>&-
}

# Under mpi/pmix ranks of one node may leave MPI_Init while others of another are in its
# first fence (seen on stock Slurm where one is held up), and Open MPI 4 jumps to 0 on
# their first message: ./again COMMAND... in the folder begins anew then.
mpi_again() { # FOLDER
	cat >"$1/again" <<-'END'
		#!/bin/bash
		for try in 1 2 3; do
			"$@" 2>"again.$$"
			status=$?
			grep -q "Failing at address: (nil)" "again.$$" || break
		done
		cat "again.$$" >&2
		rm -f "again.$$"
		exit $status
	END
	chmod 755 "$1/again"
}

cluster_no_jobs() {
	[ -z "$(squeue -h -a 2>/dev/null)" ]
}

# Cancel everything and wait until all nodes are free again.
cancel_all() {
	scancel --state=PENDING -u "$CLUSTER_USER" 2>/dev/null
	scancel --full --signal=KILL -u "$CLUSTER_USER" 2>/dev/null
	scancel -u "$CLUSTER_USER" 2>/dev/null
	wait_for 30 cluster_no_jobs || {
		diag "$(squeue -a)"
		return 1
	}
}

# expand HOSTLIST: "n0 n1 n2"; by ourselves where it is as simple as that
expand() {
	local range i out=
	[ -n "$1" ] || return 0
	if [[ $1 =~ ^n(0|[1-9][0-9]*)$ ]]; then
		echo "$1"
	elif [[ $1 =~ ^n\[((0|[1-9][0-9]*)([,-](0|[1-9][0-9]*))*)\]$ ]]; then
		for range in ${BASH_REMATCH[1]//,/ }; do
			for ((i = ${range%-*}; i <= ${range#*-}; i++)); do
				out+=" n$i"
			done
		done
		echo "${out# }"
	else
		scontrol show hostnames "$1" | paste -sd' '
	fi
}

# fold "n0 n1": a hostlist
fold() {
	echo "${1// /,}"
}

# Hosts in node order, separated by spaces.
job_hosts() {
	expand "$(job_field "$1" NodeList)"
}

# Hosts of a partition (default main) that are wholly idle, as a hostlist.
idle_hosts() {
	sinfo -h -p "${1:-main}" -t idle -o '%N'
}

# sorted "n3 n1": in natural order, for sets
sorted() {
	local host n=0 simple=yes
	local -a have=()
	for host in $1; do
		n=$((n + 1))
		[[ $host =~ ^n(0|[1-9][0-9]*)$ ]] || { simple= && break; }
		have[BASH_REMATCH[1]]=$host
	done
	if [ -n "$simple" ] && [ ${#have[@]} -eq "$n" ]; then
		echo "${have[*]}"
	else
		tr ' ' '\n' <<<"$1" | sort -V | paste -sd' '
	fi
}

# decision JOB JQ-FILTER: from the job's decision record, which slurmctld writes
# behind the job: on a slow disk it comes after the job runs
decision() {
	commplace explain "$1" --wait 10 --state-dir "$CLUSTER/decisions" \
		--json 2>/dev/null | jq -r "$2"
}

# comes_to WANT COMMAND...: the command prints that within 10 seconds. COME is
# what it printed last.
comes_to() {
	local want=$1
	shift
	comes_to_it() { COME=$("$@") && [ "$COME" = "$want" ]; }
	wait_for 10 comes_to_it "$@"
}

# Do nodes show as the jobs are, and are the jobs' decisions on record? sinfo is up
# to a second behind, slurmctld writes records behind the jobs.
snapshot_settled() { # PARTITION
	local id used
	while read -r id _; do
		[ -f "$CLUSTER/decisions/running/$id.json" ] || return 1
	done < <(squeue -h -a -r -t RUNNING -O JobID:20,admin_comment:200 |
		grep ' commplace: policy=')
	used=$(squeue -h -a -t RUNNING,COMPLETING -o %N | paste -sd,)
	expand "$used" | tr ' ' '\n' | awk '
		FILENAME == "-" { used[$1] = 1; next }
		FILENAME == ARGV[2] { suspended[$1] = 1; next }
		$2 ~ /^comp/ { bad = 1 }
		$1 in suspended { next }
		$2 == "idle" && $1 in used { bad = 1 }
		($2 == "mix" || $2 == "alloc") && !($1 in used) { bad = 1 }
		END { exit bad }' - \
		<(expand "$(squeue -h -a -t SUSPENDED -o %N | paste -sd,)" |
			tr ' ' '\n') \
		<(sinfo -h -N -p "$1" -o '%N %t')
}

# snapshot [STATES]: what the next decision will see: SNAP_FREE, the hosts that
# sinfo -o %t calls idle (or any of the comma-separated STATES), and SNAP_STATE, a file with the
# jobs that run.
snapshot() {
	wait_for 15 snapshot_settled "${2:-main}" ||
		diag "sinfo and the jobs do not agree: $(sinfo -h -N -o '%N %t' |
			paste -sd' '); $(squeue -h -a -o '%A %T %N' | paste -sd';')"
	# Not -t idle: that lists drained and reserved nodes, too.
	SNAP_FREE=$(sinfo -h -N -p "${2:-main}" -o '%N %t' |
		awk -v states=",${1:-idle}," 'index(states, "," $2 ",") { print $1 }' |
		sort -uV | paste -sd' ')
	SNAP_STATE=$CLUSTER/state.json
	commplace status --state "$SNAP_STATE" >/dev/null 2>"$CLUSTER/status.err" || {
		diag "commplace status --state: $(cat "$CLUSTER/status.err")"
		SNAP_STATE=
	}
}

# expect_place JOB NAME: the job's nodes are exactly those that `commplace
# place` prints for the state of the last snapshot.
expect_place() {
	local job=$1 name=$2 record=$CLUSTER/decision.$1.json want args outcome
	local profile
	if ! commplace explain "$job" --wait 10 --json >"$record" \
	    2>"$record.err"; then
		fail "$name: there is a decision"
		diag "$(cat "$record.err")"
		return 1
	fi
	outcome=$(jq -r '.outcome + " " + .reason' "$record")
	is "${outcome% }" placed "$name: placed" || return 1
	is "$(sorted "$(expand "$(jq -r .free_hosts "$record")")")" \
		"$(sorted "$SNAP_FREE")" "$name: chosen from the free nodes"
	profile=$(jq -r .profile "$record")
	args=(--network "$NETWORK" --signature "$PROFILES/$profile.json"
		--nodes "$(jq .nodes_wanted "$record")"
		--ranks-per-node "$(jq .ranks_per_node "$record")"
		--policy "$(jq -r .policy_asked "$record")"
		--order-reaches "$(jq -r '.order_reaches // "yes"' "$record")"
		--free "$(fold "$SNAP_FREE")" --json)
	[ "$(jq -r .required_hosts "$record")" = "" ] ||
		args+=(--require "$(jq -r .required_hosts "$record")")
	# Slurm's own nodes are a candidate of searches.
	! jq -e '.stock_hosts != "" and any(.candidates[]; .policy == "stock")' \
		"$record" >/dev/null ||
		args+=(--stock "$(jq -r .stock_hosts "$record")")
	[ -z "$SNAP_STATE" ] || args+=(--running "$SNAP_STATE"
		--profile-dir "$PROFILES")
	if ! commplace place "${args[@]}" >"$record.place" 2>"$record.err"; then
		fail "$name: commplace place"
		diag "commplace place ${args[*]}: $(cat "$record.err")"
		return 1
	fi
	want=$(jq -r '.hosts | join(" ")' "$record.place")
	is "$(job_hosts "$job")" "$(sorted "$want")" \
		"$name: exactly the nodes of commplace place" &&
		is "$(jq -r '.hosts | join(" ")' "$record")" "$want" \
			"$name: in its order"
}

# A command for srun that prints "RANK HOST" of each task.
PRINT_RANK='echo $SLURM_PROCID $SLURMD_NODENAME'

# ranks FILE: hosts in rank order from lines "RANK HOST"
ranks() {
	grep -E '^[0-9]+ ' "$1" | sort -n | cut -d' ' -f2 | paste -sd' '
}

# A batch script, steps.sh, that makes steps of 8 tasks when it is told to.
cluster_steps_script() {
	cat >"$CLUSTER/home/steps.sh" <<END
#!/bin/bash
while sleep 0.2; do
	[ -e go.\$SLURM_JOB_ID ] || continue
	rm go.\$SLURM_JOB_ID
	srun -n8 --overlap sh -c '$PRINT_RANK' >ranks.new.\$SLURM_JOB_ID 2>&1
	mv ranks.new.\$SLURM_JOB_ID ranks.\$SLURM_JOB_ID
done
END
}
# order_now JOB: hosts in rank order of a step that such a job makes now
order_now() {
	local file=$CLUSTER/home/ranks.$1
	rm -f "$file"
	as_user touch "go.$1"
	stepped() { [ -e "$file" ]; }
	wait_for 60 stepped
	ranks "$file"
}
# load_of JOB: what of it is on record as running
load_of() {
	commplace status --state "$CLUSTER/state.json" >/dev/null 2>&1
	jq -cS ".jobs[] | select(.id == $1)" "$CLUSTER/state.json"
}

# planned JOB: hosts in rank order as the decision has them
planned() {
	decision "$1" '.hosts as $h | [.rank_host[] | $h[.]] | join(" ")'
}

# expect_map JOB FILE NAME: ranks ran where `commplace map` puts them, given
# the job's hosts and the jobs of the last snapshot.
expect_map() {
	local job=$1 name=$3 record=$CLUSTER/decision.$1.json args want
	commplace explain "$job" --wait 10 --json >"$record"
	args=(--network "$NETWORK"
		--signature "$PROFILES/$(jq -r .profile "$record").json"
		--hosts "$(jq -r '.hosts | join(",")' "$record")"
		--ranks-per-node "$(jq .ranks_per_node "$record")"
		--algorithm "$(jq -r .mapping "$record")" --json)
	[ -z "$SNAP_STATE" ] || args+=(--running "$SNAP_STATE"
		--profile-dir "$PROFILES")
	if ! commplace map "${args[@]}" >"$record.map" 2>"$record.err"; then
		fail "$name: commplace map"
		diag "commplace map ${args[*]}: $(cat "$record.err")"
		return 1
	fi
	want=$(jq -r '.rank_to_host | join(" ")' "$record.map")
	is "$(ranks "$2")" "$want" "$name: ranks where commplace map puts them"
}
