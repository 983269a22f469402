#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# MPI programs that srun --mpi=pmix starts have the planned ranks, also where
# Slurm's stepmgr makes the steps; `commplace characterize` measures through them.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
# For stepmgr.
[ "$CLUSTER_SERIES" -lt 2405 ] || CLUSTER_EXTRA="PrologFlags=Contain"
for missing in "$SLURM_STOCK_PLUGINS/mpi_pmix.so" /usr/bin/mpicc; do
	[ -e "$missing" ] && continue
	skip_all "no $missing: doc/admin-guide.md, Versions of Slurm"
done
cluster_start
cluster_signature pairs16 16 pairs
home=$CLUSTER/home
# Each rank tells its partner r + 8 where it is.
cat >"$CLUSTER/where.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	const char *node = getenv("SLURMD_NODENAME");
	char mine[32] = "", partners[32] = "";
	int rank, ranks, partner;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	partner = (rank + ranks / 2) % ranks;
	snprintf(mine, sizeof(mine), "%s", node ? node : "?");
	MPI_Sendrecv(mine, sizeof(mine), MPI_CHAR, partner, 0, partners,
	             sizeof(partners), MPI_CHAR, partner, 0, MPI_COMM_WORLD,
	             MPI_STATUS_IGNORE);
	printf("%d %s %s %s\n", rank, mine, partners,
	       getenv("SLURM_PROCID"));
	MPI_Finalize();
	return 0;
}
END
mpicc -o "$home/where" "$CLUSTER/where.c" 2>"$CLUSTER/where.err" || bail "mpicc: $(cat "$CLUSTER/where.err")"
mpi_again "$home"
cat >"$home/mpi.sh" <<'END'
#!/bin/bash
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_coll_hcoll_enable=0
./again srun --mpi=pmix ./where >mpi.out 2>mpi.err
END

# check NAME [OPTIONS]
check() {
	rm -f "$home"/mpi.{out,err}
	job=$(submit -N4 -n16 --exclusive --comm-profile=pairs16 "${@:2}" mpi.sh)
	wait_ended "$job" 120
	ok $? "$1: ended well" || diag "$(tail -5 "$home/mpi.err")"
	is "$(ranks "$home/mpi.out")" "$(planned "$job")" \
		"$1: the ranks of MPI_COMM_WORLD are where the plan has them"
	is "$(awk '$2 == $3 && $1 == $4' "$home/mpi.out" | wc -l)" 16 \
		"$1: all partners share a node, as they tell each other"
	cancel_all
}
check "srun --mpi=pmix"
[ "$CLUSTER_SERIES" -lt 2405 ] || check "under stepmgr" --stepmgr

# Transfer times, through Slurm: the program is compiled beside the file and run
# on nodes of the job.
cat >"$home/characterize.sh" <<'END'
#!/bin/bash
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_coll_hcoll_enable=0
"$@" -- ./again srun --mpi=pmix >levels.out 2>levels.err
END
cp "$COMMPLACE_SOURCE/src/record/transfer.c" "$home"
job=$(submit -N4 -n8 --exclusive characterize.sh "$COMMPLACE" characterize \
	-o machine.json --network "$NETWORK" --most-bytes 1024 --seconds 0.001 \
	--source "$home/transfer.c")
wait_ended "$job" 120
ok $? "characterize: the job ended well" || diag "$(tail -5 "$home/levels.err")"
like "$(cat "$home/levels.out")" $'\nnodes of a router +[1-9]' \
	"characterize: nodes of a router are told apart by the network"
is "$(json "$home/machine.json" measured ranks)" 8 "characterize: the machine file"
cluster_check
done_testing
