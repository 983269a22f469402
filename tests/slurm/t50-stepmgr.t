#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Where Slurm's stepmgr makes a job's steps, on its first node and without
# slurmctld: ranks and CPUs are those of `commplace map` and `commplace bind`.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
CLUSTER_HONEST=yes CLUSTER_TASK=task/commplace,task/affinity
CLUSTER_EXTRA="PrologFlags=Contain"
[ "$CLUSTER_SERIES" -ge 2405 ] ||
	skip_all "there is no stepmgr before Slurm 24.05: doc/admin-guide.md, Versions of Slurm"
cluster_start
cluster_signature pairs16 16 pairs
cluster_signature pairs2 2 ring
home=$CLUSTER/home
OPTIONS=(-N4 -n16 --exclusive --stepmgr --comm-profile=pairs16)
printf '#!/bin/bash\n%s\n' "$PRINT_RANK" >"$home/print.sh"
chmod 755 "$home/print.sh"

# script [SBATCH-OPTIONS] <LINES: a job with them, output in *.out
script() {
	{
		echo '#!/bin/bash'
		cat
	} >"$home/step.sh"
	rm -f "$home"/*.out "$home"/*.err
	job=$(submit "${OPTIONS[@]}" "$@" step.sh)
}
# In the log of the node that makes the steps.
logged() {
	wait_for 5 grep -qE "$1" "$CLUSTER/log/slurmd.$(job_hosts "$job" | cut -d' ' -f1).log"
}
cyclic_of() {
	echo "$(job_hosts "$1") $(job_hosts "$1") $(job_hosts "$1") $(job_hosts "$1")"
}

snapshot
script <<-'END'
	echo "${SLURM_STEPMGR:-none}" >manager.out
	srun ./print.sh >first.out 2>first.err
	srun -N2 -n8 ./print.sh >half.out 2>half.err
	srun -m cyclic ./print.sh >cyclic.out 2>cyclic.err
	touch waits.out
	until [ -e go ]; do sleep 0.1; done
	srun ./print.sh >last.out 2>last.err
END
wait_for 60 test -e "$home/waits.out"
ok $? "steps with their manager on a node"
is "$(cat "$home/manager.out")" "$(job_hosts "$job" | cut -d' ' -f1)" \
	"which is the first"
expect_map "$job" "$home/first.out" "sbatch --stepmgr + srun"
is "$(ranks "$home/first.out")" "$(planned "$job")" "the plan on record is that"
isnt "$(planned "$job" | tr ' ' '\n' | uniq | wc -l)" 4 "and not in blocks"
logged "JobId=$job StepId=0 laid out as planned"
ok $? "the node's slurmstepd has laid it out"
is "$(grep -c "JobId=$job StepId=0 laid out" "$CLUSTER/log/slurmctld.log")" 0 \
	"and not slurmctld"
is "$(ranks "$home/half.out" | tr ' ' '\n' | uniq -c | awk '{ print $1 }' | paste -sd' ')" \
	"4 4" "a step smaller than the job: Slurm's blocks"
logged "JobId=$job StepId=1 left as it is: the step has 8 tasks, the layout 16 ranks"
ok $? "with the reason"
is "$(ranks "$home/cyclic.out")" "$(cyclic_of "$job")" "srun -m cyclic: cyclic order"
logged "JobId=$job StepId=2 left as it is: the order is the user's"
ok $? "with the reason"
cluster_restart_ctld
touch "$home/go"
wait_ended "$job" 60
ok $? "slurmctld restarted while the job runs"
is "$(ranks "$home/last.out")" "$(planned "$job")" "the step after that follows the plan"
cancel_all

# Without --stepmgr slurmctld makes the steps, side by side with the others.
job=$(submit -N4 -n16 --exclusive --comm-profile=pairs16 -o ctld.out --wrap "srun ./print.sh")
wait_ended "$job" 60
ok $? "a job without a manager of its own"
is "$(ranks "$home/ctld.out")" "$(planned "$job")" "follows its plan"
cancel_all
as_user srun "${OPTIONS[@]}" ./print.sh >"$home/srun.out" 2>"$home/srun.err"
ok $? "srun --stepmgr alone"
is "$(ranks "$home/srun.out" | awk '{ for (i = 1; i <= 8; i++) n += $i == $(i + 8) } END { print n + 0 }')" \
	8 "all partners share a node"
cancel_all

script --comm-profile=none <<-END
	srun ./print.sh >none.out 2>none.err
END
wait_ended "$job" 60
ok $? "without a profile: ended well"
is "$(ranks "$home/none.out" | tr ' ' '\n' | uniq | wc -l)" 4 "in blocks"
cancel_all

# Slurm gives heterogeneous jobs no manager of their own.
cat >"$home/het.sh" <<-'END'
	#!/bin/bash
	#SBATCH -N4 -n16 --exclusive --stepmgr --comm-profile=pairs16
	#SBATCH hetjob
	#SBATCH -N1 -n1 --exclusive --stepmgr
	echo "${SLURM_STEPMGR:-none}" >manager.out
	srun --het-group=0 ./print.sh >het.out 2>het.err
	srun --het-group=1 ./print.sh >one.out 2>one.err
END
job=$(submit het.sh)
wait_ended "$job" 60
ok $? "a heterogeneous job with --stepmgr: ended well"
is "$(cat "$home/manager.out")" none "slurmctld makes its steps"
is "$(ranks "$home/het.out") $(ranks "$home/one.out" | wc -w)" \
	"$(planned "$job") 1" "in the plan's order"
cancel_all

# CPUs on a real node.
cat >"$home/report" <<'END'
#!/bin/bash
echo "$SLURM_PROCID $(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status)" \
	"${COMMPLACE_CPUS-unset}"
END
chmod 755 "$home/report"
# bound PROFILE: lines "rank cpus cpus" as `commplace bind` has it
bound() {
	commplace bind --signature "$PROFILES/$1.json" |
		awk 'NR > 1 && NF >= 4 && $1 ~ /^[0-9]+$/ { print $1, $3, $3 }'
}
if [ "$(nproc)" -ge 2 ]; then
	job=$(submit -p real -n2 --stepmgr --comm-profile=pairs2 -o cpus.out \
		--wrap "srun ./report; srun -n1 ./report; srun ./report")
	wait_ended "$job" 60
	ok $? "bound tasks: ended well"
	# A step that waits for the end of the one before is announced by srun.
	sed -i '/^srun: /d' "$home/cpus.out"
	is "$(sed -n 1,2p "$home/cpus.out" | sort -n)" "$(bound pairs2)" \
		"each on the CPUs that commplace bind prints"
	is "$(sed -n 4,5p "$home/cpus.out" | sort -n)" "$(bound pairs2)" \
		"so is the last step's"
	like "$(sed -n 3p "$home/cpus.out")" ' unset$' "a step of one task is Slurm's"
	runs "with the reason" wait_for 5 grep -q \
		"StepId=$job.1: left to Slurm's binding: profile pairs2 is of 2 ranks, the step has 1" \
		"$CLUSTER/log/slurmd.h0.log"
fi
cluster_check
done_testing
