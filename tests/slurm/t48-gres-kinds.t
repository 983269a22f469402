#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# GRES of other kinds than GPUs with a file each: counts without files, counts that
# are used up by nobody, slices of GPUs with types as MIG has them, shards, MPS, on
# some nodes each. A job with a profile gets what it asks for, where it is free, and
# nodes are chosen among those that have it.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
CLUSTER_GROUPS=5
CLUSTER_EXTRA="GresTypes=gpu,shard,mps,scratch,fabric"
# Four nodes of each kind, across routers and groups; two have none.
#   slices   n0  n3  n6  n9     two 1g.10gb, one 3g.40gb
#   shards   n1  n4  n7  n10    one gpu, four shards
#   mps      n2  n5  n8  n11    one gpu, 100 of it
#   scratch  n12 n13 n15 n16    4 GB, no file; fabric there is used up by nobody
#   nothing  n14 n17 n18 n19
slices=n0,n3,n6,n9 shards=n1,n4,n7,n10 mps=n2,n5,n8,n11 scratch=n12,n13,n15,n16
eval "plain_$(declare -f cluster_write_conf)"
cluster_write_conf() {
	local kind nodes gres
	plain_cluster_write_conf
	while read -r nodes gres; do
		sed -n "s/^NodeName=n\[0-19\] \(.*\)Port=[^ ]* \(.*\)/\1 \2/p" \
			"$SLURM_CONF" >"$CLUSTER/etc/line"
		for kind in ${nodes//,/ }; do
			echo "NodeName=$kind $(<"$CLUSTER/etc/line") Port=$((CLUSTER_PORT + 1 + ${kind#n})) $gres"
		done
	done >"$CLUSTER/etc/nodes" <<-END
	$slices Gres=gpu:1g.10gb:2,gpu:3g.40gb:1
	$shards Gres=gpu:1,shard:4
	$mps Gres=gpu:1,mps:100
	$scratch Gres=scratch:4G,fabric:no_consume:8
		n14,n17,n18,n19
	END
	sed -i -e "/^NodeName=n\[0-19\] /{r $CLUSTER/etc/nodes" -e "d}" "$SLURM_CONF"
	cat >"$CLUSTER/etc/gres.conf" <<-END
	NodeName=$slices Name=gpu Type=1g.10gb File=/dev/null
	NodeName=$slices Name=gpu Type=1g.10gb File=/dev/zero
	NodeName=$slices Name=gpu Type=3g.40gb File=/dev/full
	NodeName=$shards Name=gpu File=/dev/null
	NodeName=$shards Name=shard Count=4 File=/dev/null
	NodeName=$mps Name=gpu File=/dev/null
	NodeName=$mps Name=mps Count=100 File=/dev/null
	NodeName=$scratch Name=scratch Count=4G
	NodeName=$scratch Name=fabric Count=8 Flags=CountOnly
	END
}
cluster_start
cluster_signature pairs8 8 pairs
cluster_signature ring8 8

spaced() { # "n1,n2": "n1 n2"
	tr , ' ' <<<"$1"
}
# of_kind NAME HOSTS OPTION...: a job is placed on nodes of these that are free
of_kind() {
	local name=$1 hosts=$2
	shift 2
	job=$(submit -n8 --comm-profile=pairs8 "$@")
	wait_running "$job"
	ok $? "$name: runs" ||
		{ diag "$(scontrol show job "$job")"; return 1; }
	SNAP_FREE=$(sorted "$hosts")
	expect_place "$job" "$name"
}
# allocated JOB: its GRES on a node. Slurm has one line for neighbours that are alike.
allocated() {
	scontrol -d show job "$1" | grep -o ' GRES=[^ ]*' |
		sed 's/(IDX[^)]*)//g' | sort -u | paste -sd' '
}
# The same job without a profile gets the same GRES on each node.
as_stock() { # NAME OPTION...
	local name=$1 stock
	shift
	scancel "$job"
	stock=$(submit -n8 "$@")
	wait_running "$stock" 60
	is "$OURS" "$(allocated "$stock")" "$name: as many as without a profile"
	scancel "$stock"
}
try() { # NAME HOSTS OPTION...
	local name=$1
	snapshot
	of_kind "$@" || return
	OURS=$(allocated "$job")
	like "$OURS" "GRES=" "$name: it has them ($OURS)"
	shift 2
	as_stock "$name" "$@"
}

try "a count without files" "$(spaced $scratch)" -N2 --gres=scratch:3G
try "all that is there" "$(spaced $scratch)" -N4 --gres=scratch:4G
try "one that is not used up" "$(spaced $scratch)" -N2 --gres=fabric:8
try "a slice" "$(spaced $slices)" -N2 --gres=gpu:1g.10gb:1
try "slices of two types" "$(spaced $slices)" -N3 \
	--gres=gpu:1g.10gb:2,gpu:3g.40gb:1
try "GPUs of any type" "$(spaced $slices)" -N2 --gres=gpu:3
try "shards" "$(spaced $shards)" -N2 --gres=shard:2
try "MPS" "$(spaced $mps)" -N2 --gres=mps:50
try "slices by --gpus-per-node" "$(spaced $slices)" -N2 --gpus-per-node=3g.40gb:1
try "slices by --gpus-per-task" "$(spaced $slices)" -N4 --gpus-per-task=1g.10gb:1 \
	--ntasks-per-node=2
cancel_all

# Where half of it is taken: nodes that have enough left, other jobs' or not.
half=$(submit -N2 -n2 -w n12,n15 --gres=scratch:3G)
wait_running "$half"
try "a count, half of it taken" "n13 n16" -N2 --gres=scratch:2G
snapshot
of_kind "what is left of it" "$(spaced $scratch)" -N4 --gres=scratch:1G
cancel_all
half=$(submit -N2 -n2 -w n1,n7 --gres=shard:3)
wait_running "$half"
try "shards, most of them taken" "n4 n10" -N2 --gres=shard:2
snapshot
of_kind "the last shards" "$(spaced $shards)" -N4 --gres=shard:1
cancel_all
# A GPU that has given shards is not had as a whole.
half=$(submit -N2 -n2 -w n1,n7 --gres=shard:1)
wait_running "$half"
# Slurm 22.05 gives it all the same: what it gives of it without us is had.
lent=
for node in n1 n7; do
	stock=$(submit -N1 -n1 -w $node --gres=gpu:1)
	sleep 2
	! job_is "$stock" RUNNING || lent+=" $node"
	scancel "$stock"
done
diag "of GPUs with shards Slurm gives as a whole:${lent:- none}"
snapshot
of_kind "whole GPUs beside shards" "$(spaced "$slices,n4,n10,$mps")$lent" \
	-N8 --gres=gpu:1
cancel_all
half=$(submit -N3 -n3 -w n0,n3,n6 --gres=gpu:3g.40gb:1)
wait_running "$half"
big=$(submit -N2 -n8 --gres=gpu:3g.40gb:1 --comm-profile=pairs8)
sleep 4
is "$(job_state "$big")" PENDING "a type that one node has left: two wait"
is "$(ls "$CLUSTER/decisions"/*/"$big".json 2>/dev/null)" "" "undecided"
scancel "$half"
wait_running "$big" 40
ok $? "until it is given back"
is "$(for host in $(job_hosts "$big"); do
	[[ ",$slices," == *,$host,* ]] || echo "$host"
done)" "" "on nodes that have it"
cancel_all

# Many at once, each on nodes of its kind.
options=(--gres=scratch:1G --gres=gpu:1g.10gb:1 --gres=shard:1 --gres=mps:25
	--gres=fabric:1 --gres=gpu:3g.40gb:1)
kinds=($scratch $slices $shards $mps $scratch $slices)
for i in {0..23}; do
	k=$((i % 6))
	n=$((2 << i % 2))
	echo "$(submit -N$n --ntasks-per-node=$((8 / n)) --comm-profile=ring8 \
		"${options[k]}" --wrap "sleep 1") ${kinds[k]}"
done >"$CLUSTER/many"
all_done() {
	[ "$(squeue -h -a -t all -O JobID:20,State:20 | awk '
		NR == FNR { want[$1]; next } $1 in want && $2 == "COMPLETED"' \
		"$CLUSTER/many" - | wc -l)" = 24 ]
}
wait_for 180 all_done
ok $? "24 jobs of six kinds at once have run" || diag "$(squeue -a -t all)"
is "$(while read -r id kind; do
	echo "$(decision "$id" .outcome) $(for host in $(job_hosts "$id"); do
		[[ ",$kind," == *,$host,* ]] || echo "$id on $host"
	done)"
done <"$CLUSTER/many" | sort | uniq -c | sed 's/ *$//' | tr -s ' ')" " 24 placed" \
	"all placed, on nodes that have theirs"
commplace replay --json "$CLUSTER/decisions" >"$CLUSTER/replay"
is "$(jq -r '.records[] | select(.verdict == "different") |
	"job \(.job): \(.why)"' "$CLUSTER/replay" | head -5)" "" \
	"each decision is what its state comes to"
cluster_check
done_testing
