# SPDX-License-Identifier: GPL-2.0-or-later
# A slurmctld with thousands of nodes that one process stands for (fake_nodes,
# slurm_calls, to be made before), for benches. Sourced after tests/tools/tap.bash
# and tests/slurm/cluster.bash; nodes, per_node (CPUs of each) and what
# fake_network and fake_partitions print are the bench's.
calls=$COMMPLACE_BUILD/tests/bench/slurm_calls
fakes=$COMMPLACE_BUILD/tests/bench/fake_nodes
[ -x "$calls" ] && [ -x "$fakes" ] || bail "make $fakes $calls first"
tap_done=1

cluster_nodes() { :; }

# fake_conf [LINE-OF-SLURM.CONF]...: by CLUSTER_SELECT, the rest as cluster.bash
# has it
fake_conf() {
	local first last
	cluster_write_conf
	sed -i -e '/^NodeName=/d; /^PartitionName=/d; /^DebugFlags/d
		/^SlurmctldDebug/d; /^SlurmdTimeout/d; /^MinJobAge/d' "$SLURM_CONF"
	if [ $# -gt 0 ]; then
		sed -i '/^SchedulerParameters/d' "$SLURM_CONF"
	fi
	{
		[ "$nodes" -lt 20000 ] || echo "MaxNodeCount=$nodes"
		printf '%s\n' SlurmdTimeout=0 SlurmctldDebug=info MinJobAge=10 \
			MaxJobCount=60000 "$@"
		# A range of Slurm's has 65,536 names at most; a list of all nodes of
		# one NodeHostname, which Slurm walks for each, or a table that grows
		# by 100 nodes at a time, would take minutes.
		for ((first = 0; first < nodes; first = last + 1)); do
			last=$((first + 65535 < nodes ? first + 65535 : nodes - 1))
			echo "NodeName=n[$first-$last]" \
				"NodeAddr=127.0.0.1 Port=$((CLUSTER_PORT + 1))" \
				"CPUs=$per_node Sockets=1 CoresPerSocket=$per_node" \
				"ThreadsPerCore=1 RealMemory=64000"
		done
		fake_partitions
	} >>"$SLURM_CONF"
}

# slurmctld without jobs, and its nodes, on which batch jobs end as their scripts
# do
fake_begin() {
	cluster_start_ctld -c || bail "slurmctld does not start"
	"$fakes" -e $((CLUSTER_PORT + 1)) n "$nodes" "$per_node" 64000 \
		>"$CLUSTER/log/fake.out" 2>"$CLUSTER/log/fake.err" &
	fake=$!
	wait_for 300 grep -q registered "$CLUSTER/log/fake.out" ||
		bail "nodes do not register: $(cat "$CLUSTER/log/fake.err")"
}

fake_end() {
	cluster_stop_ctld
	kill "$fake"
	wait "$fake" 2>/dev/null
	fake=
}

# What there is before any slurmctld: ports, folders, munged, the network.
fake_start() {
	[ "$(id -u)" = 0 ] || bail "needs root"
	CLUSTER_N=$nodes
	CLUSTER=$(mktemp -d "${TMPDIR:-/tmp}/commplace-bench.XXXXXX")
	chmod 755 "$CLUSTER"
	wait_for 300 cluster_try_ports 2 || bail "no free ports"
	on_exit fake_stop
	CLUSTER_USER=root
	NETWORK=$CLUSTER/etc/network.json PROFILES=$CLUSTER/profiles
	export SLURM_CONF=$CLUSTER/etc/slurm.conf
	mkdir -p "$CLUSTER"/{etc,state,log,run,spool,tmp,profiles,decisions,figures}
	dd if=/dev/urandom of="$CLUSTER/etc/munge.key" bs=128 count=1 status=none
	chmod 600 "$CLUSTER/etc/munge.key"
	munged --key-file="$CLUSTER/etc/munge.key" \
		--socket="$CLUSTER/run/munge.socket" \
		--pid-file="$CLUSTER/run/munged.pid" \
		--log-file="$CLUSTER/log/munged.log" --num-threads=4 \
		--seed-file="$CLUSTER/run/munged.seed" --origin=127.0.0.1 \
		2>/dev/null 3>&- 4>&- || bail "munged does not start"
	fake_network >"$NETWORK"
}

# What was started with our configuration and has not said by a file which
# process it is.
fake_strays() { pgrep -f -- "-f $CLUSTER/etc/slurm.conf"; }
fake_quiet() { [ -z "$(fake_strays)" ]; }

fake_stop() {
	local pid
	[ -z "${fake:-}" ] || kill "$fake" 2>/dev/null
	cluster_stop_ctld
	for pid in $(fake_strays); do
		kill "$pid" 2>/dev/null
	done
	wait_for 10 fake_quiet || for pid in $(fake_strays); do
		kill -9 "$pid" 2>/dev/null
	done
	cluster_kill "$CLUSTER/run/munged.pid"
	rm -rf "${cluster_port_locks[@]}"
	if [ -n "${COMMPLACE_KEEP_LOGS:-}" ]; then
		echo "# logs in $CLUSTER"
	else
		rm -rf "$CLUSTER"
	fi
}
