#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A trial: jobs that stay stock by chance, what is told of them, and a profile that
# is left to Slurm because of what came out.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
cluster_start
home=$CLUSTER/home
state=$CLUSTER/decisions
cluster_signature ring8 8
printf '#!/bin/bash\nsrun true\n' >"$home/job.sh"

site() {
	CLUSTER_SITE=$1
	cluster_write_site
	cluster_reconfigure
}
# run SBATCH-OPTIONS: sets job, whose record is there when it returns.
run() {
	job=$(submit -N4 -n8 --exclusive --comm-profile=ring8 "$@" job.sh) || return 1
	wait_ended "$job" 60
}
# field NAME: of that record.
field() { commplace explain "$job" --json --wait 10 | jq -r "$1"; }

site "Trial=50"
stock=0 placed=0 wrong=
for ((i = 0; i < 8; i++)); do
	run || bail "no job"
	case "$(field .arm),$(field .outcome),$(field .reason_code)" in
	stock,observed,trial) stock=$((stock + 1)) ;;
	commplace,placed,null) placed=$((placed + 1)) ;;
	*) wrong+=" $job: $(field .arm) $(field .outcome) $(field .reason_code)" ;;
	esac
	[ "$(field .arm)" = stock ] && a_stock_one=$job
done
is "$wrong" "" "what becomes of a job is what it was drawn to"
ok "$((!stock || !placed))" "$stock jobs stay stock, $placed are placed"
job=$a_stock_one
like "$(scontrol show job "$job")" \
	"AdminComment=commplace: stock .drawn to stay stock .Trial=50.. profile=ring8" \
	"the job's comment says so"
is "$(field '.candidates | length > 1')" true "what ours would be is on record"
like "$(commplace explain "$job")" "trial +arm stock" "explain tells the arm"
# Counters are written behind the jobs.
counted() {
	counts=$(commplace status --json | jq -c .counters.trial_starts)
	[ "$counts" = "{\"stock\":$stock,\"commplace\":$placed}" ]
}
wait_for 20 counted
ok $? "jobs are counted by arm" || diag "$counts, not $stock and $placed"
run --placement-policy=auto
is "$(field .arm),$(field .outcome)" null,placed "who states a policy is in no trial"

# What comes out of it, with an accounting that says 90 and 100 seconds.
{
	echo "JobIDRaw|State|ElapsedRaw"
	for file in "$state"/ended/*.json; do
		jq -r 'select(.arm) | "\(.job)|COMPLETED|" +
			(if .arm == "stock" then "100" else "90" end)' "$file"
	done
} >"$home/sacct"
commplace benefit --sacct "$home/sacct" --json >"$home/benefit"
is "$(jq -c '[.groups[0].profile, .groups[0].ranks, .groups[0].jobs.stock,
	.groups[0].jobs.commplace, (.overall.gain * 1000 | round)]' "$home/benefit")" \
	"[\"ring8\",8,$stock,$placed,100]" "benefit: its jobs and their gain"

# A profile that is worse beyond doubt.
{
	echo "profile,ranks,nodes,arm,seconds"
	for ((i = 0; i < 400; i++)); do
		echo "ring8,8,4,stock,$((1000 + i % 90))"
		echo "ring8,8,4,commplace,$((1100 + i % 90))"
	done
} >"$home/worse.csv"
commplace benefit --table "$home/worse.csv" --state-dir "$state" --write >/dev/null
ok $? "benefit --write"
cluster_reconfigure
run
is "$(field .reason_code),$(field .outcome),$(field .arm)" trial_stop,observed,null \
	"its jobs are left to Slurm"
like "$(cat "$CLUSTER/log/slurmctld.log")" \
	"profile ring8: placement is switched off, since its 800 jobs ran [89]\.[0-9] % longer" \
	"slurmctld's log says so"
site "Trial=50 TrialStop=no TrialUntil=2020-01-01"
run
is "$(field .arm),$(field .outcome)" null,placed \
	"TrialStop=no places them, and a trial that is over draws nobody"
done_testing
