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
printf '#!/bin/bash\nsrun true\ncommplace note rate=$((SLURM_JOB_ID + 7)) loop=2.5\n' \
	>"$home/job.sh"

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


# What jobs report of themselves: these do, and squeue shows what sacct would.
squeue -h -t all -o '%A|COMPLETED|100|%k' >"$home/notes"
sed -i '1i JobIDRaw|State|ElapsedRaw|Comment' "$home/notes"
commplace benefit --sacct "$home/notes" --merit rate --seconds loop --json >"$home/benefit"
is "$(jq -c '[.overall.jobs.stock + .overall.jobs.commplace, .left_out.silent,
	(.overall.merit.gain | . < 1 and . > -1), (.overall.gain | fabs < 1e-9)]' "$home/benefit")" \
	"[$((stock + placed)),0,true,true]" "benefit reads what they note" ||
	diag "$(cat "$home/notes" "$home/benefit")"
# The model needs more jobs, but where these ran, what links had to carry and what was
# predicted is told by their records.
commplace learn --from records --sacct "$home/notes" --write-table "$home/jobs.csv" \
	>"$home/out" 2>&1
is "$?,$(cat "$home/out")" \
	"1,commplace learn: $((stock + placed)) jobs; at least 100 are needed" \
	"learn knows where they ran"
for file in "$state"/ended/*.json; do
	jq -r 'select(.arm) | "\(.time) \(if .arm == "stock" then
		.stock_seconds else .seconds end)"' "$file"
done >"$home/predicted"
is "$(awk -F, 'NR == FNR { split($0, a, " "); told[a[1] " " sprintf("%.9g", a[2])]; next }
	FNR == 1 { for (i = 1; i <= NF; i++) if ($i == "model") m = i; next }
	($6 " " sprintf("%.9g", $m)) in told && $m > 0 { n++ } END { print n }' \
	"$home/predicted" "$home/jobs.csv")" "$((stock + placed))" \
	"and tells what was predicted for them" ||
	diag "$(cat "$home/predicted" "$home/jobs.csv" "$state"/ended/*.json)"

comment_of() { scontrol show job "$1" | sed -n 's/^ *Comment=\(.*[^ ]\) *$/\1/p'; }
cat >"$home/note.sh" <<'END'
#!/bin/bash
commplace note merit=2147483648 >note.out 2>&1
echo "$?" >>note.out
srun commplace note "task_$SLURM_JOB_ID=1" >>note.out 2>&1
[ "$1" != waits ] || sleep 300
END
job=$(submit -N2 -n8 --comment=$'my "own"; it\'s\n17|COMPLETED|1|merit=9' note.sh)
wait_ended "$job" 60
is "$(cat "$home/note.out")" 0 "commplace note in a job, and in all tasks of a step"
is "$(squeue -h -t all -j "$job" -o %k)" $'my "own"; it\'s\n17|COMPLETED|1|merit=9; commplace: '"merit=2147483648 task_$job=1" \
	"the comment has both, and what its user wrote"
job=$(submit --array=0-1 -n1 --wrap 'commplace note me=$((SLURM_ARRAY_TASK_ID + 1))')
wait_ended "$job" 60
is "$(comment_of "${job}_0"),$(comment_of "${job}_1")" \
	"commplace: me=1,commplace: me=2" "each member of an array speaks for itself"
job=$(submit -n1 note.sh waits)
noted() { [ "$(comment_of "$job")" = "commplace: merit=2147483648 task_$job=1" ]; }
wait_for 20 noted
ok $? "a job that runs"
setpriv --reuid=65534 --regid=65534 --clear-groups env "SLURM_JOB_ID=$job" \
	commplace note merit=1 >"$home/out" 2>&1
like "$?,$(cat "$home/out")" "1,commplace note: the comment of job $job cannot be changed: \
.*(Access/permission denied|Invalid user id)" "nobody else notes anything for it"
noted
ok $? "its comment is as before"
as_user scancel "$job"

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
