#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Record in one job, place the next: --comm-record and Record= on a live
# cluster, from the first run to the placed second one; profiles of users,
# rescaled ones, and those that drift.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
for missing in /usr/bin/mpicc "$(ls -d "$COMMPLACE_PREFIX"/lib/commplace/libcommplace-record.so \
    "$COMMPLACE_PREFIX"/lib/*/commplace/libcommplace-record.so 2>/dev/null | head -1)"; do
	[ -n "$missing" ] && [ -e "$missing" ] && continue
	skip_all "no mpicc, or commplace was built without it"
done
[ "$CLUSTER_SERIES" = 2205 ] ||
	skip_all "recording was not tried with this Slurm: doc/admin-guide.md, Versions of Slurm"
OWN=$(mktemp -d "${TMPDIR:-/tmp}/commplace-own.XXXXXX")
chmod 755 "$OWN"
remove_own() { rm -rf "$OWN"; }
on_exit remove_own
CLUSTER_SITE="UserProfileDir=$OWN/%u/profiles
MissingProfile=ignore Rescale=yes
Match JobName=auto* Profile=auto Record=auto RecordOneIn=2
Match JobName=quiet* Record=%x"
cluster_start
# Programs that srun starts and mpirun's of another cluster lose each other, too.
mpirun_alone
home=$CLUSTER/home
mkdir -p "$OWN/$CLUSTER_USER"
chown "$CLUSTER_USER" "$OWN/$CLUSTER_USER"
STORE=$OWN/$CLUSTER_USER/profiles

# Each rank talks to the one half of all ranks away, or (another input) to the
# next one; a ring has the sizes of its own.
cat >"$CLUSTER/app.c" <<'END'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	static char out[65536], in[65536];
	int rank, ranks, shift;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	shift = !strcmp(argv[1], "half") ? ranks / 2 : 1;
	for (int i = 0; i < atoi(argv[2]); i++) {
		MPI_Sendrecv(out, sizeof(out), MPI_CHAR, (rank + shift) % ranks,
		             0, in, sizeof(in), MPI_CHAR,
		             (rank + ranks - shift) % ranks, 0, MPI_COMM_WORLD,
		             MPI_STATUS_IGNORE);
		MPI_Sendrecv(out, sizeof(out), MPI_CHAR,
		             (rank + ranks - shift) % ranks, 1, in, sizeof(in),
		             MPI_CHAR, (rank + shift) % ranks, 1,
		             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
END
mpicc -o "$home/app" "$CLUSTER/app.c" 2>"$CLUSTER/app.err" ||
	bail "mpicc: $(cat "$CLUSTER/app.err")"
mpi_again "$home"
cat >"$home/env.sh" <<'END'
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo
export OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_coll_hcoll_enable=0 OMPI_MCA_rmaps_base_oversubscribe=1
END
# script FILE COMMAND: a batch script that runs the command
script() {
	printf '#!/bin/bash\n. ./env.sh\n%s\n' "$2" >"$home/$1"
}
if [ -e "$SLURM_STOCK_PLUGINS/mpi_pmix.so" ]; then
	START='./again srun --mpi=pmix -n $SLURM_NTASKS'
else
	START='mpirun --host localhost:16 -n $SLURM_NTASKS'
fi
script half.sh "$START ./app half 20"
script ring.sh "$START ./app ring 20"
script fails.sh "$START ./app half 20; exit 3"
script none.sh "true"
script two.sh "$START ./app ring 2; $START ./app half 50"

# store FILTER [FILE]: of a profile in the user's store
store() { jq -r "$1" "$STORE/${2:-app.json}" 2>/dev/null; }
slurmd_says() { cat "$CLUSTER"/log/slurmd.*.log | grep -c "commplace: --comm-record: $1"; }
last_job() { squeue -h -a -t all -u "$CLUSTER_USER" -o %A | sort -n | tail -1; }
job() {
	job=$(submit "$@") && wait_ended "$job" 120
}

# From the first run to the placed second one.
job -N4 -n16 --exclusive --comm-record=app half.sh
ok $? "the first run ends well" || diag "$(cat "$home/slurm-$job.out")"
is "$(decision "$job" .outcome 2>/dev/null)" "" "it is placed by nothing"
is "$(store .ranks) $(store .name) $(store .application)" "16 app app" \
	"what it recorded is the user's profile" ||
	diag "$(grep -h comm-record "$CLUSTER"/log/slurmd.*.log; ls -laR "$home/.commplace" "$OWN"; cat "$home/slurm-$job.out")"
is "$(stat -c %U "$STORE/app.json")" "$CLUSTER_USER" "a file of the user's"
is "$(store '[.phases[0].traffic[] | select(.[0] == 3) | "\(.[1]):\(.[2])"] | join(" ")')" \
	"11:2621440" "with what rank 3 sends: to rank 11, 40 times 64 KiB"
is "$(store .recorded.installed.from)" "job $job" "it says from which job"
is "$(ls "$home/.commplace/recording")" "" "nothing else is left"
like "$(cat "$home/slurm-$job.out")" '^$' "nor said in the job's output"
job -N4 -n16 --exclusive --comm-profile=app half.sh
ok $? "the second run, with --comm-profile, ends well"
is "$(decision "$job" '"\(.outcome) \(.profile) \(.own_profile)"')" "placed app true" \
	"and is placed by it"
like "$(commplace explain "$job")" "profile +app, the user's own" "explain says whose it is"
is "$(decision "$job" '[.rank_host[0] == .rank_host[8], .rank_host[3] == .rank_host[11]] | all')" \
	true "ranks that talk share a host"

# What fails costs the recording only.
job -N2 -n8 --comm-record=bad fails.sh
ok $(($? == 0)) "a job that does not end well"
is "$(store .ranks bad.json)" "" "becomes no profile"
like "$(cat "$home/slurm-$job.out")" \
	"error: commplace: --comm-record: job $job did not end well: nothing is kept" \
	"its output says so"
job -N2 -n8 --comm-record=bad none.sh
ok $? "a job without MPI ends well"
is "$(store .ranks bad.json)" "" "and becomes none"
is "$(slurmd_says ".*job $job recorded nothing")" 1 "slurmd's log says so"
like "$(cat "$home/slurm-$job.out")" "job $job recorded nothing" "and its output"
job -N2 -n8 -J quiet5 none.sh
is "$(slurmd_says ".*job $job recorded nothing") $(cat "$home/slurm-$job.out")" "1 " \
	"Record=: the log only"
echo 'int MPI_Init(int *n, char ***v) { return !n || !v; }
int main(int n, char **v) { return MPI_Init(&n, &v); }' >"$CLUSTER/inside.c"
gcc -static -o "$home/inside" "$CLUSTER/inside.c" || bail "gcc -static"
script inside.sh "mpirun --host localhost:16 --bind-to none -n 3 ./inside"
job -N2 -n8 --comm-record=bad inside.sh
is "$(grep -c 'inside has its MPI library linked in statically' \
	"$home/slurm-$job.out")" 1 "mpirun of a program with MPI linked in: the output says so" ||
	diag "$(cat "$home/slurm-$job.out")"
if [[ $START == *srun* ]]; then
	script inside.sh "srun -n2 ./inside"
	job -N2 -n8 --comm-record=bad inside.sh
	ok $? "a job of a program with MPI linked in ends well"
	is "$(grep -c 'inside has its MPI library linked in statically' \
		"$home/slurm-$job.out")" 1 "and its output says why nothing is recorded, once" ||
		diag "$(cat "$home/slurm-$job.out")"
fi
chmod 000 "$STORE"
job -N2 -n8 --comm-record=bad half.sh
ok $? "with a store that cannot be written jobs end well"
chmod 755 "$STORE"
is "$(slurmd_says ".*Permission denied")" 1 "slurmd's log says why nothing is kept"
like "$(cat "$home/slurm-$job.out")" "Permission denied" "and the job's output"
# Messages that the recorder had no memory for.
cat >"$home/lossy.sh" <<'END'
#!/bin/bash
cat >"$HOME/.commplace/recording/$SLURM_JOB_ID.0.n0.1.json" <<'SIGNATURE'
{"format": "commplace-signature", "version": 1, "ranks": 2, "phases": [{"traffic":
[[0, 1, 10, 1]]}], "recorded": {"lost_messages": 12}}
SIGNATURE
END
job -N1 -n1 --comm-record=lossy lossy.sh
is "$(store .ranks lossy.json)" 2 "a recording that has lost something is kept"
like "$(cat "$home/slurm-$job.out")" "lossy, 2 ranks: 12 messages were not counted" \
	"and the job's output says what"
job -N2 -n8 --comm-record=two two.sh
is "$(store .ranks two.json) $(store '.phases[0].traffic[0][1]' two.json)" "8 4" \
	"of two programs of as many ranks the longer run is kept"
like "$(as_user sbatch -N2 -n8 --comm-record=../x half.sh 2>&1)" \
	"--comm-record: .*name" "a name that is none is refused"

# NCCL's plugin, which a stand-in loads as NCCL does, and counts by itself.
gcc -std=gnu11 -pthread -I"${0%/*}/../../src" -o "$home/nccl_job" \
	"${0%/*}/../record/nccl_job.c" -ldl || bail "gcc"
script nccl.sh 'srun -n8 bash -c "./nccl_job \$NCCL_PROFILER_PLUGIN 6 8 4 \$SLURM_PROCID \
	1 500 >own.\$SLURM_PROCID"'
job -N4 -n8 --comm-record=gpt nccl.sh
ok $? "a job of NCCL ends well" || diag "$(cat "$home/slurm-$job.out")"
is "$(store '.phases[0].traffic[] | map(tostring) | join(" ")' gpt.json | LC_ALL=C sort)" \
	"$(cat "$home"/own.* | LC_ALL=C sort)" "what NCCL sent is the user's profile" ||
	diag "$(cat "$home/slurm-$job.out"; ls -laR "$home/.commplace")"
is "$(ls "$home/.commplace/recording" | grep nccl)" "" "and nothing of it is left"

# srun and salloc by themselves, mpirun in a script.
as_user bash -c ". ./env.sh; ${START/\$SLURM_NTASKS/8} -N2 --comm-record=alone ./app half 10" \
	>"$CLUSTER/alone.out" 2>&1 || diag "$(cat "$CLUSTER/alone.out")"
if [[ $START == *srun* ]]; then
	is "$(store .ranks alone.json)" 8 "srun by itself" || diag "$(cat "$CLUSTER/alone.out")"
	as_user bash -c ". ./env.sh; salloc -N2 -n8 --comm-record=shell ${START/\$SLURM_NTASKS/8} ./app half 10" \
		>"$CLUSTER/shell.out" 2>&1
	is "$(store .ranks shell.json)" 8 "salloc" || diag "$(cat "$CLUSTER/shell.out")"
	# The site's word, of which nobody hears.
	as_user bash -c ". ./env.sh; ./again srun --mpi=pmix -J quiet1 -N2 -n8 ./app half 10" \
		>"$CLUSTER/quiet.out" 2>&1
	is "$(store .ranks quiet1.json)" 8 "Record=: srun by itself"
	as_user bash -c ". ./env.sh; salloc -J quiet2 -N2 -n8 ./again srun --mpi=pmix -n8 ./app half 10" \
		>"$CLUSTER/salloc.out" 2>&1
	is "$(store .ranks quiet2.json)" 8 "and salloc" || diag "$(cat "$CLUSTER/salloc.out")"
	as_user srun -J quiet3 -N2 -n2 hostname >>"$CLUSTER/quiet.out" 2>&1
	is "$(store .ranks quiet3.json)" "" "a program without MPI has none"
	unlike "$(cat "$CLUSTER/quiet.out")" commplace "not a word of it" ||
		diag "$(cat "$CLUSTER/quiet.out")"
	script step.sh "./again srun --mpi=pmix -n4 --comm-record=step ./app half 10"
	job -N2 -n8 step.sh
	is "$(store .ranks step.json)" 4 "a step of a job that is not recorded" ||
		diag "$(cat "$home/slurm-$job.out")"
	script out.sh "./again srun --mpi=pmix -n4 --comm-record=none ./app half 10; ./again srun --mpi=pmix -n8 ./app half 10"
	job -N2 -n8 --comm-record=out out.sh
	is "$(as_user commplace signature list --user out |
		awk 'NR > 1 { print $2 }' | paste -sd' ')" 8 \
		"a step that wants none in a job that is recorded"
fi
script mpirun.sh 'mpirun --bind-to none -n 8 ./app half 10'
job -N2 -n8 --comm-record=launched mpirun.sh
is "$(store .ranks launched.json)" 8 "mpirun" || diag "$(cat "$home/slurm-$job.out")"

# Another input: the traffic drifts.
job -N4 -n16 --exclusive --comm-record=app ring.sh
is "$(store .recorded.installed.version) $(store .recorded.installed.distance)" "2 1" \
	"a new version, and how far it is from the one before"
is "$(slurmd_says 'app: its traffic drifts: more than 10 % differs')" 1 \
	"slurmd's log says that it drifts"
like "$(as_user commplace signature list --user)" \
	"app +16 +2 +100.0 % !" "list marks it"
like "$(as_user sbatch -N4 -n16 --exclusive --comm-profile=app half.sh 2>&1)" \
	"profile 'app' drifts: it is 100.0 % from the one before it" \
	"so is it said at submission"
job=$(last_job)
wait_ended "$job" 120
like "$(commplace explain "$job")" "drifts: 100.0 % from the one before it" "and by explain"
is "$(grep -c "JobId=$job:.*drifts: 100.0 %" "$CLUSTER/log/slurmctld.log")" 1 \
	"and in the decision's log line"
as_user commplace signature install --user --version 1 app >/dev/null
sleep 6 # what slurmctld has in memory serves five seconds
job -N4 -n16 --exclusive --comm-profile=app half.sh
unlike "$(commplace explain "$job")" drifts "a version before is taken back"

# By the site's word: until there is a profile, then one of two.
recorded() {
	job "$@"
	# The comment of a job that is decided on is the decision's.
	if grep -q "\[$job.batch\] commplace: --comm-record" "$CLUSTER"/log/slurmd.*.log; then
		echo yes
	fi
}
is "$(recorded -J auto1 -N2 -n8 half.sh)" yes "Record=: the first job of a Match line"
is "$(store .ranks auto.json)" 8 "becomes the profile" || diag "$(cat "$home/slurm-$job.out")"
sleep 6 # that there was none is in memory as long
is "$(recorded -J auto2 -N2 -n8 half.sh)" "" "the second is not recorded"
job=$(last_job)
is "$(decision "$job" '"\(.outcome) \(.profile)"')" "placed auto" "and placed by the profile"
is "$(recorded -J auto3 -N2 -n8 half.sh)" yes "RecordOneIn=2: the third is"
is "$(recorded -J auto4 -N2 -n8 --comm-record=none half.sh)" "" "--comm-record=none: not"
is "$(recorded -J other -N2 -n8 half.sh)" "" "nor a job that the line is not for"

# Rescaled: a profile of other ranks, of a ring.
job -N4 -n16 --exclusive --comm-record=ring ring.sh
like "$(as_user sbatch -N4 -n8 --exclusive --comm-profile=ring half.sh 2>&1)" \
	"profile 'ring' was recorded at 16 ranks and is rescaled for 8, fit error 0.0 %" \
	"Rescale=yes: said at submission"
job=$(last_job)
wait_ended "$job" 120
is "$(decision "$job" '"\(.outcome) \(.rank_host | length) \(.recorded_ranks)"')" \
	"placed 8 16" "the job is placed"
like "$(commplace explain "$job")" \
	"profile +ring, the user's own, rescaled from 16 ranks, fit error 0.0 %" \
	"explain says from which ranks"

# A user's profile becomes the site's.
commplace signature install ring --from "$CLUSTER_USER" >"$CLUSTER/from.out" 2>&1
ok $? "install --from a user" || diag "$(cat "$CLUSTER/from.out")"
is "$(jq -r '"\(.ranks) \(.recorded.installed.from)"' "$PROFILES/ring.json")" "16 $STORE" \
	"the site's store has it"
ln -sf /etc/shadow "$STORE/link.json"
like "$(commplace signature install link --from "$CLUSTER_USER" 2>&1)" \
	"link" "no link of a user's is followed"
ok $(($(ls "$PROFILES" | grep -c link) != 0)) "and nothing is installed"
# One that root puts into a user's store is the user's, and used.
commplace signature install "$PROFILES/ring.json" --name gift --profile-dir "$STORE" \
	>"$CLUSTER/gift.out" 2>&1
is "$? $(stat -c %U "$STORE/gift.json")" "0 $CLUSTER_USER" \
	"root installs in a user's store" || diag "$(cat "$CLUSTER/gift.out")"
job -N4 -n16 --exclusive --comm-profile=gift ring.sh
is "$(decision "$job" '"\(.outcome) \(.profile) \(.own_profile)"')" "placed gift true" \
	"and the job is placed by it"
cluster_check
done_testing
