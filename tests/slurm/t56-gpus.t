#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Nodes with GPUs, from hwloc's trees of such machines (tests/nodes) and other devices in
# the place of the GPUs' files: tasks get the cores and the adapter near the GPUs that
# their job was given, whatever number these have in its programs.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
CLUSTER_GROUPS=1 CLUSTER_ROWS=1 CLUSTER_NODE_PREFIX=g CLUSTER_JOB_SUBMIT=
# Not task/affinity: it has no answer to CPUs that do not exist.
CLUSTER_TASK=task/commplace
CLUSTER_SITE="NearNic=UCX_NET_DEVICES"
#   x0  DGX H100: eight GPUs
#   y0  four GPUs that are all in the first of two NUMA nodes
#   z0  four GPUs with two slices each
CLUSTER_EXTRA="NodeName=x0 NodeHostname=localhost NodeAddr=127.0.0.1 Port=PORT30 CPUs=224 Sockets=2 CoresPerSocket=56 ThreadsPerCore=2 RealMemory=1000 Gres=gpu:8
NodeName=y0 NodeHostname=localhost NodeAddr=127.0.0.1 Port=PORT31 CPUs=64 Sockets=2 CoresPerSocket=16 ThreadsPerCore=2 RealMemory=1000 Gres=gpu:4
NodeName=z0 NodeHostname=localhost NodeAddr=127.0.0.1 Port=PORT32 CPUs=160 Sockets=2 CoresPerSocket=20 ThreadsPerCore=4 RealMemory=1000 Gres=gpu:1g.10gb:8
PartitionName=h100 Nodes=x0 MaxTime=INFINITE State=UP
PartitionName=place Nodes=y0 MaxTime=INFINITE State=UP
PartitionName=slices Nodes=z0 MaxTime=INFINITE State=UP"
declare -A machine=([x0]=dgx-h100 [y0]=one-place [z0]=lassen)

eval "plain_$(declare -f cluster_write_conf)"
cluster_write_conf() {
	local node
	CLUSTER_EXTRA=${CLUSTER_EXTRA//PORT3/$(((CLUSTER_PORT + 30) / 10))}
	plain_cluster_write_conf
	sed -i '1s/^/GresTypes=gpu\n/' "$SLURM_CONF"
	cat >"$CLUSTER/etc/gres.conf" <<-END
	NodeName=x0,y0 Name=gpu File=/dev/null
	NodeName=x0,y0 Name=gpu File=/dev/zero
	NodeName=x0,y0 Name=gpu File=/dev/full
	NodeName=x0,y0 Name=gpu File=/dev/random
	NodeName=x0 Name=gpu File=/dev/urandom
	NodeName=x0 Name=gpu File=/dev/tty
	NodeName=x0 Name=gpu File=/dev/ptmx
	NodeName=x0 Name=gpu File=/dev/fuse
	NodeName=z0 Name=gpu Type=1g.10gb File=/dev/null
	NodeName=z0 Name=gpu Type=1g.10gb File=/dev/zero
	NodeName=z0 Name=gpu Type=1g.10gb File=/dev/full
	NodeName=z0 Name=gpu Type=1g.10gb File=/dev/random
	NodeName=z0 Name=gpu Type=1g.10gb File=/dev/urandom
	NodeName=z0 Name=gpu Type=1g.10gb File=/dev/tty
	NodeName=z0 Name=gpu Type=1g.10gb File=/dev/ptmx
	NodeName=z0 Name=gpu Type=1g.10gb File=/dev/fuse
	END
	for node in "${!machine[@]}"; do
		awk -f "${BASH_SOURCE[0]%/*}/../tools/node-xml.awk" \
			"${BASH_SOURCE[0]%/*}/../nodes/${machine[$node]}.txt" \
			>"$CLUSTER/etc/$node.xml"
	done
}
eval "plain_$(declare -f cluster_nodes)"
cluster_nodes() {
	plain_cluster_nodes
	printf '%s\n' x0 y0 z0
}
cluster_start_slurmd() {
	env ${machine[$1]:+HWLOC_XMLFILE="$CLUSTER/etc/$1.xml"} \
		bash -c 'exec slurmd "$@"' slurmd -N "$1" -f "$SLURM_CONF" \
		>>"$CLUSTER/log/slurmd.$1.out" 2>&1 </dev/null 3>&- 4>&-
}
for device in fuse ptmx tty; do
	[ -c /dev/$device ] || skip_all "needs /dev/$device"
done
on_exit 'find /sys/fs/cgroup/*/slurm_[xyz]0 -depth -type d -exec rmdir {} + 2>/dev/null'
cluster_start
cluster_signature all2 2 all
cluster_signature all4 4 all
cluster_signature all8 8 all

# A line for each rank: the socket or NUMA node of its CPUs by the machine's numbers,
# what it is told of adapters, and the GPUs that its program sees.
cat >"$CLUSTER/home/report" <<'END'
#!/bin/bash
first=${COMMPLACE_CPUS%%[-,]*}
echo "$SLURM_PROCID $(((${first:-0}) / $1 % 2)) ${COMMPLACE_NIC-none}" \
	"${UCX_NET_DEVICES-none} ${COMMPLACE_NICS-gone} $CUDA_VISIBLE_DEVICES"
END
chmod 755 "$CLUSTER/home/report"
step() { as_user timeout 60 srun "$@" 2>"$CLUSTER/step.err" | sort -n; }
column() { awk -v f="$1" '{ print $f }' <<<"$got" | paste -sd' '; }
logged() { wait_for 5 grep -qE "$1" "$CLUSTER/log/slurmd.$2.log"; }

got=$(step -p h100 -n8 -c28 --gpus-per-node=8 --comm-profile=all8 ./report 56)
is "$(column 2)" "0 0 0 0 1 1 1 1" "a whole node: each rank in its GPU's socket"
is "$(column 3)" "mlx5_0 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_9 mlx5_10 mlx5_11" \
	"with the adapter on its PCI switch"
is "$(column 4)" "mlx5_0:1 mlx5_3:1 mlx5_4:1 mlx5_5:1 mlx5_6:1 mlx5_9:1 mlx5_10:1 mlx5_11:1" \
	"which the site has UCX know"
is "$(column 5 | tr ' ' '\n' | sort -u)" gone "what is for us is not in its environment"
got=$(step -p h100 -n8 -c28 --gpus-per-node=8 --gpu-bind=none --comm-profile=all8 ./report 56)
is "$(column 3 | tr ' ' '\n' | sort -u)" none "--gpu-bind=none wins"
got=$(step --export=ALL,UCX_NET_DEVICES=all -p h100 -n8 -c28 --gpus-per-node=8 --comm-profile=all8 ./report 56)
is "$(column 4 | tr ' ' '\n' | sort -u)" all "so does the user's UCX_NET_DEVICES"

# The first half of the GPUs and of the cores is another job's.
first=$(submit -p h100 -n4 -c28 --gpus-per-node=4 --wrap "sleep 300")
wait_running "$first"
got=$(step -p h100 -n4 -c28 --gpus-per-node=4 --comm-profile=all4 ./report 56)
is "$(column 6 | tr ' ' '\n' | sort -u)" 4,5,6,7 "a job has the other half"
is "$(column 3)" "mlx5_6 mlx5_9 mlx5_10 mlx5_11" "with the adapters of these"
if scontrol -d show job "$first" | grep -q "CPU_IDs=0-111 "; then
	is "$(column 2)" "1 1 1 1" "and is bound near these"
else
	skip "bound near these" "this Slurm gives each job cores of both sockets"
fi
got=$(step -p h100 -n4 -c28 --gpus-per-node=4 --gpu-bind=map_gpu:7,6,5,4 \
	--comm-profile=all4 ./report 56)
is "$(column 3)" "mlx5_11 mlx5_10 mlx5_9 mlx5_6" "in the order of --gpu-bind"
got=$(step -p h100 -n2 -c28 --gpus-per-task=2 --comm-profile=all2 ./report 56)
is "$(column 3)" "mlx5_6,mlx5_9 mlx5_10,mlx5_11" "two for each task"
got=$(step -p h100 -n2 -c28 --gpus-per-node=1 --comm-profile=all2 ./report 56)
is "$(column 3)" "mlx5_6 mlx5_6" "one for both"
got=$(step -p h100 -n2 -c28 --gpus-per-node=3 --comm-profile=all2 ./report 56)
is "$(column 3)" "none none" "three for two tasks: nobody knows whose they are"
got=$(step -p h100 -n2 -c28 --comm-profile=all2 ./report 56)
is "$(column 3)" "none none" "nothing without GPUs"
scancel "$first"

got=$(step -p place -n4 -c16 --gpus-per-node=4 --comm-profile=all4 ./report 16)
is "$(column 2) $(column 3)" "0 0 1 1 mlx5_0 mlx5_1 mlx5_2 mlx5_3" \
	"all GPUs in one NUMA node: cores are split evenly in their order"
logged 'GPUs not told apart: cores split evenly' y0
ok $? "slurmd says so"
got=$(step -p place -n2 -c16 --gpus-per-node=2 --comm-profile=all2 ./report 16)
is "$(wc -l <<<"$got")" 2 "a part of the node, too"

got=$(step -p slices -n8 -c20 --gpus-per-node=8 --comm-profile=all8 ./report 20)
is "$(column 2) $(column 3)" \
	"0 0 0 0 1 1 1 1 mlx5_0 mlx5_0 mlx5_1 mlx5_1 mlx5_2 mlx5_2 mlx5_3 mlx5_3" \
	"slices are near their device"
got=$(step -p slices -n2 -c4 --gpus-per-task=1g.10gb:1 --comm-profile=all2 ./report 20)
is "$(column 3)" "mlx5_0 mlx5_0" "two of one device by --gpus-per-task"

# A site that has not asked for it.
cluster_write_site
sed -i '/^NearNic/d' "$CLUSTER/etc/commplace.conf"
scontrol reconfigure
sleep 1
got=$(step -p h100 -n8 -c28 --gpus-per-node=8 --comm-profile=all8 ./report 56)
is "$(column 2) $(column 3 | tr ' ' '\n' | sort -u)" "0 0 0 0 1 1 1 1 none" \
	"without NearNic tasks are bound, but told nothing"
cluster_check
done_testing
