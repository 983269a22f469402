#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Ranks run where `commplace map` puts them, in every kind of step; the user's
# explicit options win.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
cluster_start
# Slurm's own block order is bad for this one: r talks to r + 8.
cluster_signature pairs16 16 pairs
cluster_signature ring8 8
home=$CLUSTER/home

# step NAME SBATCH-OPTIONS -- SRUN-OPTIONS: job with one step, output in step.out
step() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	cat >"$home/step.sh" <<-END
	#!/bin/bash
	srun $* sh -c '$PRINT_RANK' >step.out 2>&1
	END
	rm -f "$home/step.out"
	job=$(submit "${options[@]}" step.sh) || return 1
	wait_ended "$job" 60
}
# How many distinct neighbours r, r + 8 share a node?
pairs_together() {
	ranks "$1" | awk '{ for (i = 1; i <= 8; i++) n += $i == $(i + 8) } END { print n + 0 }'
}

snapshot
step -N4 -n16 --exclusive --comm-profile=pairs16 -- ""
ok $? "sbatch + srun: ended well"
expect_map "$job" "$home/step.out" "sbatch + srun"
is "$(ranks "$home/step.out")" "$(planned "$job")" "the plan on record is that"
is "$(pairs_together "$home/step.out")" 8 "all partners share a node"
cancel_all

step -N4 -n16 --exclusive --comm-profile=pairs16 --rank-mapping=linear -- ""
is "$(ranks "$home/step.out" | tr ' ' '\n' | uniq | wc -l)" 4 \
	"--rank-mapping=linear: block order"
cancel_all

# srun alone, and inside salloc.
as_user srun -N4 -n16 --exclusive --comm-profile=pairs16 sh -c "$PRINT_RANK" \
	>"$home/srun.out" 2>&1
ok $? "srun alone: ended well"
is "$(pairs_together "$home/srun.out")" 8 "srun alone: all partners share a node"
cancel_all
as_user salloc -N4 -n16 --exclusive --comm-profile=pairs16 \
	srun sh -c "$PRINT_RANK" >"$home/salloc.out" 2>&1
ok $? "salloc: ended well"
is "$(pairs_together "$home/salloc.out")" 8 "salloc: all partners share a node"
cancel_all

# The user's distribution wins, given to srun or to sbatch.
step -N4 -n16 --exclusive --comm-profile=pairs16 -- -m cyclic
is "$(ranks "$home/step.out" | cut -d' ' -f1-5)" \
	"$(job_hosts "$job") $(job_hosts "$job" | cut -d' ' -f1)" \
	"srun -m cyclic: cyclic order"
cancel_all
step -N4 -n16 --exclusive --comm-profile=pairs16 -m cyclic -- ""
is "$(ranks "$home/step.out" | cut -d' ' -f1-5)" \
	"$(job_hosts "$job") $(job_hosts "$job" | cut -d' ' -f1)" \
	"sbatch -m cyclic: cyclic order"
cancel_all
step -N4 -n16 --exclusive --comm-profile=pairs16 -- -m block
is "$(ranks "$home/step.out" | tr ' ' '\n' | uniq | wc -l)" 4 \
	"srun -m block: block order, although it is the default's name"
cancel_all
step -N4 -n16 --exclusive --comm-profile=pairs16 -- -m plane=2
is "$(ranks "$home/step.out" | tr ' ' '\n' | head -4 | uniq -c | awk '{print $1}' | paste -sd' ')" \
	"2 2" "srun -m plane=2: plane order"
cancel_all

# Steps smaller than the job keep the stock layout.
step -N4 -n16 --exclusive --comm-profile=pairs16 -- -N2 -n4
ok $? "a step smaller than the job: ended well"
is "$(ranks "$home/step.out" | wc -w)" 4 "four tasks"
is "$(ranks "$home/step.out" | tr ' ' '\n' | uniq | wc -l)" 2 "in block order"
cancel_all

# Several steps in a row, and two at a time.
cat >"$home/step.sh" <<END
#!/bin/bash
srun sh -c '$PRINT_RANK' >first.out 2>&1
srun -n8 -N2 sh -c '$PRINT_RANK' >half.out 2>&1
srun sh -c '$PRINT_RANK' >second.out 2>&1
END
job=$(submit -N4 -n16 --exclusive --comm-profile=pairs16 step.sh)
wait_ended "$job"
ok $? "three steps in a row"
is "$(ranks "$home/first.out")" "$(planned "$job")" "the first follows the plan"
is "$(ranks "$home/second.out")" "$(planned "$job")" "so does the last"
cancel_all

# mpirun inside a job: its daemons' step is left alone, the ranks all run.
cat >"$home/mpi.sh" <<'END'
#!/bin/bash
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo
export OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_mpi_yield_when_idle=1
mpirun --bind-to none sh -c 'echo $OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_SIZE' >mpi.out 2>mpi.err
END
mpirun_alone
job=$(submit -N2 -n8 --exclusive --comm-profile=ring8 mpi.sh)
wait_ended "$job" 90
ok $? "mpirun inside a placed job" || diag "$(tail -5 "$home/mpi.err")" >&2
mpirun_done
is "$(sort -n "$home/mpi.out" | paste -sd,)" \
	"0 8,1 8,2 8,3 8,4 8,5 8,6 8,7 8" "starts all ranks"
cancel_all

# Uneven tasks per node: 16 on 3 nodes of 6 cores cannot be planned in blocks of
# one size, but must run.
step -N5 -n16 --exclusive --comm-profile=pairs16 -- ""
ok $? "16 ranks on 5 nodes: ended well"
is "$(ranks "$home/step.out" | wc -w)" 16 "all ranks are there"
cancel_all
cluster_check
done_testing
