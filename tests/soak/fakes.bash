# SPDX-License-Identifier: GPL-2.0-or-later
# Nodes of a soak that are not there, in four processes fakes0 .. fakes3 that
# are killed and started as slurmds are. Sourced by run, after cluster.bash.

fake_nodes=$COMMPLACE_BUILD/tests/bench/fake_nodes
[ -x "$fake_nodes" ] || bail "make $fake_nodes first"
[ "$CLUSTER_SERIES" = 2205 ] || bail "--fakes is for Slurm 22.05"
CLUSTER_PARTITIONS="PartitionName=main Nodes=n[0-15] Default=YES MaxTime=INFINITE State=UP
PartitionName=bulk Nodes=n[16-$((15 + fakes))] MaxTime=INFINITE State=UP
PartitionName=wide Nodes=ALL MaxTime=INFINITE State=UP"

cluster_nodes() {
	printf '%s\n' n{0..15} fakes{0..3}
}

fakes_of() { # K: FIRST-LAST
	echo "$((16 + $1 * fakes / 4))-$((15 + ($1 + 1) * fakes / 4))"
}

eval "plain_$(declare -f cluster_write_conf)"
cluster_write_conf() {
	local k rest
	plain_cluster_write_conf
	rest=$(sed -n 's/^NodeName=.*\( CPUs=.*\)/\1/p' "$SLURM_CONF")
	sed -i '/^NodeName=/d' "$SLURM_CONF"
	echo "NodeName=n[0-15] NodeHostname=localhost NodeAddr=127.0.0.1" \
		"Port=[$((CLUSTER_PORT + 1))-$((CLUSTER_PORT + 16))]$rest" \
		>>"$SLURM_CONF"
	for k in 0 1 2 3; do
		echo "NodeName=n[$(fakes_of $k)] NodeHostname=localhost" \
			"NodeAddr=127.0.0.1 Port=$((CLUSTER_PORT + 20 + k))$rest" \
			>>"$SLURM_CONF"
	done
}

eval "plain_$(declare -f cluster_start_slurmd)"
cluster_start_slurmd() {
	local k=${1#fakes}
	if [ "$k" = "$1" ]; then
		plain_cluster_start_slurmd "$1"
		return
	fi
	LD_PRELOAD=$preload COMMPLACE_CLOCK=$clock "$fake_nodes" -e \
		$((CLUSTER_PORT + 20 + k)) n "$(fakes_of "$k")" \
		"$CLUSTER_CPUS" 1000 >>"$CLUSTER/log/slurmd.$1.out" 2>&1 \
		</dev/null 3>&- 4>&- &
	echo $! >"$CLUSTER/run/slurmd.$1.pid"
	disown
}
