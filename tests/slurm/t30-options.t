#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a user's options become: in slurmctld, in scripts, shells and steps.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
cluster_start
cluster_signature ring8 8
cluster_signature other8 8
home=$CLUSTER/home
# What a task sees of the options.
cat >"$home/show.sh" <<'END'
#!/bin/bash
echo "$1 ${COMM_PROFILE-unset} ${COMM_PLACEMENT_POLICY-unset} ${COMM_RANK_MAPPING-unset}"
END
cat >"$home/job.sh" <<'END'
#!/bin/bash
bash show.sh script
srun -n1 bash show.sh step
srun -n1 --comm-profile=other8 bash show.sh changed
srun -n1 --comm-profile=none bash show.sh without
srun -n1 bash show.sh again
END

# seen FILE WHERE: the values printed there
seen() {
	sed -n "s/^$2 //p" "$1" | head -1
}

for tool in sbatch salloc srun; do
	help=$(as_user "$tool" --help 2>&1)
	for option in comm-profile placement-policy rank-mapping; do
		like "$help" "--$option=NAME" "$tool --help knows --$option"
	done
done

job=$(submit -N2 -n8 -o out.txt --comm-profile=ring8 --placement-policy=RDR \
	--rank-mapping=linear job.sh)
wait_ended "$job"
ok $? "sbatch with all three options ends well"
out=$home/out.txt
is "$(seen "$out" script)" "ring8 RDR linear" "the script has them"
is "$(seen "$out" step)" "ring8 RDR linear" "a step has them"
is "$(seen "$out" changed)" "other8 RDR linear" \
	"srun --comm-profile=other inside: for that step"
is "$(seen "$out" without)" "unset RDR linear" "srun --comm-profile=none inside"
is "$(seen "$out" again)" "ring8 RDR linear" "the next step has the job's again"
unlike "$(cat "$out")" "error" "no step complained"

cat >"$home/directive.sh" <<'END'
#!/bin/bash
#SBATCH --comm-profile=ring8
#SBATCH --rank-mapping=linear
srun -n1 bash show.sh step
END
job=$(submit -N2 -n8 -o out2.txt directive.sh)
wait_ended "$job"
ok $? "#SBATCH lines: ends well"
is "$(seen "$home/out2.txt" step)" "ring8 unset linear" "#SBATCH lines count"
like "$(job_field "$job" admin_comment)" "profile=ring8" "in AdminComment too"
job=$(submit -N2 -n8 -o out3.txt --comm-profile=other8 directive.sh)
wait_ended "$job"
is "$(seen "$home/out3.txt" step)" "other8 unset linear" \
	"the command line wins over #SBATCH"

job=$(submit -N2 -n8 -o out4.txt --export=NONE --comm-profile=ring8 job.sh)
wait_ended "$job"
is "$(seen "$home/out4.txt" script)" "ring8 unset unset" \
	"--export=NONE: the script has it all the same"

job=$(cd "$home" && as_user env \
	SLURM_SPANK__SLURM_SPANK_OPTION_commplace_comm_profile=ring8 \
	sbatch --parsable -N2 -n8 -o out5.txt job.sh)
wait_ended "$job"
is "$(seen "$home/out5.txt" script)" "ring8 unset unset" \
	"Slurm's own variable gives a default"

is "$(as_user salloc -N2 -n8 --comm-profile=ring8 bash show.sh shell 2>/dev/null)" \
	"shell ring8 unset unset" "salloc's command has it"
is "$(as_user salloc -N2 -n8 --comm-profile=ring8 srun -n1 bash show.sh step 2>/dev/null)" \
	"step ring8 unset unset" "and a step of it"
is "$(as_user srun -N1 -n1 --comm-profile=ring8 bash show.sh task 2>/dev/null)" \
	"task ring8 unset unset" "srun alone: the task has it"

# An array, and what slurmctld keeps over a restart and a requeue.
job=$(submit -N2 -n8 --array=1-2 -o array.%a --comm-profile=ring8 job.sh)
wait_ended "${job}_1" && wait_ended "${job}_2"
is "$(seen "$home/array.1" step) $(seen "$home/array.2" step)" \
	"ring8 unset unset ring8 unset unset" "each task of an array has it"

# Components of a heterogeneous job: each its own.
output=$(as_user sbatch --parsable -N2 -n8 --comm-profile=ring8 : \
	-N2 -n8 --comm-profile=other8 --wrap true 2>&1)
job=${output%%;*}
wait_ended "$job" && wait_ended $((job + 1))
like "$(job_field "$job" admin_comment)" "profile=ring8" "het job: first component"
like "$(job_field $((job + 1)) admin_comment)" "profile=other8" "het job: second component"

# One line each where the user types it; nothing reaches slurmctld.
refused() {
	local output
	output=$(as_user sbatch -N2 -n8 "$2" --wrap true 2>&1) &&
		diag "accepted: $output"
	like "$output" "$3" "$1"
}
refused "an empty name" "--comm-profile=" "commplace: --comm-profile"
refused "a path" "--comm-profile=a/b" "commplace: --comm-profile"
refused "a policy that is none" "--placement-policy=best" \
	"no placement policy 'best'; it must be one of auto, traffic, linear"
refused "a mapper that is none" "--rank-mapping=florp" "greedyallc"
refused "a policy of another network" "--placement-policy=blocked" \
	"not for this network type; it must be one of linear"
is "$(squeue -h)" "" "no job came of these"
cluster_check
done_testing
