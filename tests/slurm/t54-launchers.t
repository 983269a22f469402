#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Launchers other than srun's default follow the plan by the files and variables
# that stand ready in the job; where each rank runs is read in the program.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
cluster_start
cluster_signature pairs8 8 pairs
home=$CLUSTER/home

cat >"$home/job.sh" <<'END'
#!/bin/bash
export | grep COMMPLACE_ >environment
echo "$COMMPLACE_HOSTFILE" >path
cp "$COMMPLACE_HOSTFILE" "$COMMPLACE_RANKFILE" "$COMMPLACE_MACHINEFILE" \
	"$COMMPLACE_RANK_ORDER" .
scontrol show hostnames "$COMMPLACE_NODES" | paste -sd' ' >nodes
SLURM_HOSTFILE=$COMMPLACE_HOSTFILE srun -n "$SLURM_NTASKS" -m arbitrary \
	sh -c 'echo $SLURM_PROCID $SLURMD_NODENAME' >arbitrary.out 2>&1
# As torchrun's: one process a node starts the ranks there.
srun -n "$SLURM_NNODES" --ntasks-per-node=1 -m block sh -c 'for i in 0 1; do
	echo $((${COMMPLACE_NODE_RANK:-9} * 2 + i)) $SLURMD_NODENAME
done' >torch.out 2>&1
# Open MPI 5 does not always end where one host has eight of its daemons.
[ "$SLURM_NNODES" = 4 ] || exit 0
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo
export OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_mpi_yield_when_idle=1
mpirun --bind-to none --map-by seq --hostfile "$COMMPLACE_HOSTFILE" \
	sh -c 'echo $OMPI_COMM_WORLD_RANK $SLURMD_NODENAME' >mpi.out 2>mpi.err
END
mpirun_alone
job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8 job.sh)
wait_ended "$job" 120
ok $? "a job with a plan" || diag "$(tail -5 "$home/mpi.err")" >&2
mpirun_done
plan=$(planned "$job")
is "$(paste -sd' ' "$home/hostfile")" "$plan" "the host file is the plan"
is "$(sed 's/.*=\(.*\) .*/\1/' "$home/rankfile" | paste -sd' ')" "$plan" \
	"so is the rank file"
is "$(awk -F: '{ for (i = 0; i < $2; i++) print $1 }' "$home/machinefile" | paste -sd' ')" \
	"$plan" "and the machine file"
is "$(paste "$home/MPICH_RANK_ORDER" <(job_hosts "$job" | tr ' ' '\n') |
	awk '{ n = split($1, r, ","); for (i = 1; i <= n; i++) print r[i], $2 }' |
	sort -n | cut -d' ' -f2 | paste -sd' ')" "$plan" \
	"and MPICH_RANK_ORDER, whose lines are the job's nodes in order"
is "$(cat "$home/nodes")" \
	"$(tr ' ' '\n' <<<"$plan" | awk '!seen[$0]++' | paste -sd' ')" \
	"COMMPLACE_NODES are the nodes in the order of their first ranks"
is "$(ranks "$home/arbitrary.out")" "$plan" \
	"srun -m arbitrary: each rank is where the plan has it"
is "$(ranks "$home/mpi.out")" "$plan" "mpirun: likewise"
[ "$(ranks "$home/mpi.out")" = "$plan" ] || diag "$(cat "$home/mpi.err")"
ok $([ ! -e "$(cat "$home/path")" ]; echo $?) "the job's end removes them"
is "$(grep -c NODE_RANK "$home/environment")" 0 \
	"the script itself is no rank's place"

# Ranks in blocks along the network, which is not the order of the nodes' numbers:
# what torchrun wants.
cancel_all
job=$(submit -N8 -n16 --exclusive --rank-mapping=network-order job.sh)
wait_ended "$job" 120
ok $? "a job in the order of the network"
plan=$(planned "$job")
unlike "$plan" "n0 n0 n1 n1 n2 n2 n3 n3 n4 n4" "its plan is one of its own"
is "$(ranks "$home/torch.out")" "$plan" \
	"COMMPLACE_NODE_RANK: one process a node, each rank where the plan has it"
cancel_all

# Each component of a heterogeneous job has files of its own in the script.
cat >"$home/het.sh" <<'END'
#!/bin/bash
export | grep -o 'COMMPLACE_[A-Z_0-9]*=' >environment
cp "$COMMPLACE_HOSTFILE_HET_GROUP_0" het0
cp "$COMMPLACE_HOSTFILE_HET_GROUP_1" het1
SLURM_HOSTFILE=$COMMPLACE_HOSTFILE_HET_GROUP_1 srun --het-group=1 -n8 -m arbitrary \
	sh -c 'echo $SLURM_PROCID $SLURMD_NODENAME' >het.out 2>&1
END
job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8 : -N4 -n8 --exclusive \
	--comm-profile=pairs8 het.sh)
wait_ended "$job" 120
ok $? "a heterogeneous job with two plans"
plan=$(planned "$job+1")
is "$(paste -sd' ' "$home/het0")" "$(planned "$job")" "the first component's host file"
is "$(paste -sd' ' "$home/het1")" "$plan" "and the second's"
is "$(ranks "$home/het.out")" "$plan" "srun -m arbitrary follows it in the component"
is "$(grep -c 'COMMPLACE_HOSTFILE=' "$home/environment")" 0 "there is none of the whole"
cancel_all

# MPI's own reordering in such a job: the program's results are those without it,
# neighbours share nodes where the plan has them apart, and the ranks of each node are
# as many as before.
library=$(find "$COMMPLACE_PREFIX/lib" -maxdepth 3 -name libcommplace-reorder.so | head -1)
cat >"$home/reorder.sh" <<'END'
#!/bin/bash
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo
export OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_mpi_yield_when_idle=1
run() {
	mpirun --bind-to none --map-by seq --hostfile "$COMMPLACE_HOSTFILE" "$@"
}
for kind in "stencil 2 4" irregular; do
	name=${kind%% *}
	run ./topologies $kind >"$name.plain" 2>"$name.plain.err"
	run -x LD_PRELOAD="$1" -x COMMPLACE_REORDER=check ./topologies $kind \
		>"$name.check" 2>"$name.check.err"
done
END
# How many neighbours are on different nodes?
apart() {
	awk '$1 == "at" { host[$2] = $3 } $1 == "edge" { a[++n] = $2; b[n] = $3 }
		END { for (i = 1; i <= n; i++) apart += host[a[i]] != host[b[i]]
			print apart + 0 }' "$1"
}
if [ "$CLUSTER_SERIES" = 2605 ]; then
	skip "MPI's reordering" "Open MPI 6.0.0rc2 has no way over loopback between hosts"
elif [ -n "$library" ] && command -v mpicc >/dev/null &&
	mpicc -o "$home/topologies" "${0%/*}/../record/topologies.c" 2>/dev/null; then
	mpirun_alone
	job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8 reorder.sh "$library")
	wait_ended "$job" 240
	ok $? "a job whose programs ask for reordering" || diag "$(tail -5 "$home"/*.err)"
	mpirun_done
	for kind in stencil irregular; do
		is "$(grep -c '^value' "$home/$kind.check") $(grep -E '^(value|wrong)' "$home/$kind.check")" \
			"8 $(grep -E '^(value|wrong)' "$home/$kind.plain")" \
			"$kind: the same results in another order"
		like "$(cat "$home/$kind.check.err")" \
			"of 8 ranks: neighbours and data are as stated" "$kind: proved"
		is "$(awk '$1 == "at" { print $3 }' "$home/$kind.check" | sort | paste -sd' ')" \
			"$(job_hosts "$job" | tr ' ' '\n' | sed p | sort | paste -sd' ')" \
			"$kind: two ranks on each node, as slurmd calls it"
		ok $(($(apart "$home/$kind.check") > $(apart "$home/$kind.plain"))) \
			"$kind: $(apart "$home/$kind.check") neighbours of $(apart "$home/$kind.plain") are apart"
	done
	ok $(($(apart "$home/irregular.check") >= $(apart "$home/irregular.plain"))) \
		"irregular: fewer than by the plan of another pattern"
fi
cancel_all

# Without a plan there is nothing.
cat >"$home/none.sh" <<'END'
#!/bin/bash
env | grep -c ^COMMPLACE_ >none.out
END
job=$(submit -N4 -n8 --exclusive none.sh)
wait_ended "$job"
is "$(cat "$home/none.out")" 0 "a job without a plan has none of it"

# Of salloc's steps, and with --export=NONE.
as_user salloc -N4 -n8 --exclusive --comm-profile=pairs8 srun -N1 -n1 sh -c \
	'cat $COMMPLACE_HOSTFILE; ls -d ${COMMPLACE_HOSTFILE%/*} >&2' \
	>"$home/salloc.out" 2>"$home/salloc.err"
is "$(wc -l <"$home/salloc.out")" 8 "a step of salloc has them"
dir=$(grep '^/' "$home/salloc.err")
gone() { [ ! -e "$dir" ]; }
ok "$([ -n "$dir" ] && wait_for 10 gone; echo $?)" "until its end"
cat >"$home/export.sh" <<'END'
#!/bin/bash
cat "$COMMPLACE_HOSTFILE" >export.out
END
job=$(submit -N4 -n8 --exclusive --export=NONE --comm-profile=pairs8 export.sh)
wait_ended "$job"
is "$(paste -sd' ' "$home/export.out")" "$(planned "$job")" "--export=NONE: all the same"
cancel_all

cluster_check
done_testing
