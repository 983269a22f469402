#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Whose order ranks run in: only what a user really stated keeps Slurm's, and
# the record has the order in force. And what others see of a cluster with us.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
cluster_start
cluster_signature pairs16 16 pairs
home=$CLUSTER/home
OPTIONS=(-N4 -n16 --exclusive --comm-profile=pairs16)

# lines OF BATCH SCRIPT: a job with them; output in step.out
script() {
	{
		echo '#!/bin/bash'
		cat
	} >"$home/step.sh"
	rm -f "$home"/*.out
	job=$(submit "${OPTIONS[@]}" "$@" step.sh) && wait_ended "$job" 60
}
blocks() {
	ranks "$1" | tr ' ' '\n' | uniq | wc -l
}
cyclic_of() {
	echo "$(job_hosts "$1") $(job_hosts "$1") $(job_hosts "$1") $(job_hosts "$1")"
}

# fault 16: arguments of the program are none of srun's.
printf '#!/bin/bash\n%s\n' "$PRINT_RANK" >"$home/print.sh"
chmod 755 "$home/print.sh"
script <<-END
	srun ./print.sh -m block -mblocksize=4 >step.out 2>&1
	srun --distribution=block ./print.sh >block.out 2>&1
	SLURM_DISTRIBUTION=block srun ./print.sh >env.out 2>&1
	srun sh -c 'echo \$SLURM_PROCID \$SLURM_DISTRIBUTION' >default.out 2>&1
	unset SLURM_SPANK_COMM_DISTRIBUTION
	SLURM_DISTRIBUTION=cyclic srun ./print.sh >cyclic.out 2>&1
END
ok $? "steps with and without a distribution: ended well"
is "$(blocks "$home/block.out")" 4 "srun --distribution=block: block order"
is "$(blocks "$home/env.out")" 4 "SLURM_DISTRIBUTION=block srun: block order"
isnt "$(ranks "$home/step.out")" "$(ranks "$home/block.out")" \
	"arguments like -m block: the plan's order"
is "$(ranks "$home/cyclic.out")" "$(cyclic_of "$job")" \
	"SLURM_DISTRIBUTION=cyclic srun: cyclic order"
# fault 26
comes_to "$(ranks "$home/cyclic.out")" planned "$job"
is "$COME" "$(ranks "$home/cyclic.out")" "on record is the order of the last step"
cancel_all

# As --wrap has it, the submit line of sbatch holds the words.
job=$(submit "${OPTIONS[@]}" -o "$home/wrap.out" \
	--wrap "srun ./print.sh -m block")
wait_ended "$job"
ok $? "sbatch --wrap: ended well"
is "$(ranks "$home/wrap.out")" "$(planned "$job")" "the plan's order"
isnt "$(blocks "$home/wrap.out")" 4 "which is not in blocks"
cancel_all

script -m cyclic <<-END
	srun ./print.sh >step.out 2>&1
END
ok $? "sbatch -m cyclic: ended well"
is "$(ranks "$home/step.out")" "$(cyclic_of "$job")" "cyclic order"
comes_to "$(ranks "$home/step.out")" planned "$job"
is "$COME" "$(ranks "$home/step.out")" "which is on record"
unlike "$(job_field "$job" admin_comment)" "mapping=" "and no mapping"
cancel_all

as_user salloc "${OPTIONS[@]}" bash -c "
	srun ./print.sh >plan.out 2>&1
	SLURM_DISTRIBUTION=block srun ./print.sh >env.out 2>&1" \
	>"$home/salloc.log" 2>&1
ok $? "salloc: ended well" || diag "$(cat "$home/salloc.log")"
is "$(blocks "$home/env.out")" 4 "salloc: SLURM_DISTRIBUTION=block srun"
isnt "$(blocks "$home/plan.out")" 4 "salloc: srun alone"
as_user srun "${OPTIONS[@]}" -m block ./print.sh >"$home/alone.out" 2>&1
is "$(blocks "$home/alone.out")" 4 "srun -m block alone"
as_user srun "${OPTIONS[@]}" ./print.sh -m block >"$home/alone.out" 2>&1
isnt "$(blocks "$home/alone.out")" 4 "srun alone, with arguments like it"
cancel_all

# Jobs of the site's: of a Match rule, or placed by DefaultPolicy alone.
# Runs of ranks on a host, and the same in block order.
order() {
	ranks "$1" | tr ' ' '\n' | uniq
}
block_order() {
	order "$1" | sort -V -u
}
for site in "Match JobName=ruled Profile=pairs16" "DefaultPolicy=random-nodes"; do
	CLUSTER_SITE=$site
	cluster_write_site
	cluster_reconfigure
	OPTIONS=(-N4 -n16 --exclusive -J ruled)
	script <<-END
		srun ./print.sh >step.out 2>&1
		SLURM_DISTRIBUTION=block srun ./print.sh >env.out 2>&1
		srun -m block ./print.sh >block.out 2>&1
	END
	ok $? "$site: ended well"
	block=$(block_order "$home/step.out")
	isnt "$(order "$home/step.out")" "$block" "srun alone: the plan's order"
	is "$(order "$home/env.out")" "$block" "SLURM_DISTRIBUTION=block srun"
	is "$(order "$home/block.out")" "$block" "srun -m block"
	as_user salloc "${OPTIONS[@]}" bash -c "
		srun ./print.sh >plan.out 2>&1
		SLURM_DISTRIBUTION=block srun ./print.sh >env.out 2>&1" \
		>"$home/salloc.log" 2>&1
	block=$(block_order "$home/plan.out")
	isnt "$(order "$home/plan.out")" "$block" "salloc: srun alone"
	is "$(order "$home/env.out")" "$block" "salloc: SLURM_DISTRIBUTION=block"
	as_user srun "${OPTIONS[@]}" ./print.sh >"$home/alone.out" 2>&1
	isnt "$(order "$home/alone.out")" "$(block_order "$home/alone.out")" \
		"srun as a job: the plan's order"
	cancel_all
done
CLUSTER_SITE=
cluster_write_site
cluster_reconfigure
OPTIONS=(-N4 -n16 --exclusive --comm-profile=pairs16)

# fault 35: programs of others, linked with the public libslurm.
job=$(submit "${OPTIONS[@]}" --wrap "srun sleep 300")
wait_running "$job"
wait_for 20 bash -c "squeue -h -s -j $job | grep -q $job.0"
list=$("${COMMPLACE_BUILD:?}/tests/plugin/test_public" list 2>&1)
ok $? "a program with the public libslurm lists the cluster"
is "$(grep -c '^node ' <<<"$list")" 16 "all nodes"
is "$(grep '^partition ' <<<"$list")" "partition main" "partitions"
like "$list" "job $job n" "jobs"
like "$list" "step $job n" "steps" || diag "$list"

# fault 28: with DebugFlags=SelectType the log says it at level info.
cancel_all
runs "scontrol setdebug info" scontrol setdebug info
lines() {
	grep -c "commplace: JobId=.* RUN_NOW: placed by" "$CLUSTER/log/slurmctld.log"
}
before=$(lines)
job=$(submit "${OPTIONS[@]}")
wait_running "$job"
is $(($(lines) - before)) 1 "a decision is logged at level info"

# fault 27: other changes than a reconfiguration adopt nothing.
CLUSTER_SITE=Mode=off
cluster_write_site
runs "scontrol update partition" scontrol update PartitionName=main MaxTime=100
runs "scontrol setdebugflags" scontrol setdebugflags +backfill
second=$(submit "${OPTIONS[@]}")
wait_running "$second"
like "$(job_field "$second" admin_comment)" "policy=.*profile=pairs16" \
	"the configuration in force stays until scontrol reconfigure"
runs "scontrol reconfigure" cluster_reconfigure
like "$(tail -n 200 "$CLUSTER/log/slurmctld.log")" "is in force: Mode=off" \
	"the log says what is in force then"

# fault 17: a suspended job is no background.
CLUSTER_SITE=
cluster_write_site
cluster_reconfigure
runs "scontrol suspend" scontrol suspend "$job"
third=$(submit "${OPTIONS[@]}")
wait_running "$third"
is "$(decision "$third" '.background | join(",")')" "$second" \
	"only the job that goes on is background"
cancel_all
cluster_check
done_testing
