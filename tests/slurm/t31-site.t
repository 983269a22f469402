#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the site decides at submission: Match rules, overrides, modes; changes
# of commplace.conf are seen without a restart, broken ones change nothing.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
CLUSTER_SITE="Match JobName=vasp* Profile=ring8"
cluster_start
cluster_signature ring8 8
cluster_signature other8 8
home=$CLUSTER/home

# The check at submission and the select plugin have one configuration, which
# `scontrol reconfigure` renews.
site() {
	CLUSTER_SITE=$1
	cluster_write_site
	cluster_reconfigure
}
# Comment of a job that is held, so that the one of the submission is seen.
comment() {
	local job
	job=$(submit -H "$@") || return 1
	job_field "$job" admin_comment | sed 's/^(null)$//'
	scancel "$job"
}

# A rule attaches a profile.
printf '#!/bin/bash\nsrun -N1 -n1 sh -c %s\n' "'echo \$COMM_PROFILE'" >"$home/job.sh"
job=$(submit -N2 -n8 -J vasp-big -o out.txt job.sh)
wait_ended "$job"
ok $? "a matched job ends well"
like "$(scontrol show job "$job")" "AdminComment=commplace: .*profile=ring8" \
	"scontrol show job says which profile"
is "$(cat "$home/out.txt")" ring8 "its steps see the profile"
is "$(comment -N2 -n8 -J vasp-big)" "commplace: profile=ring8 policy=auto" \
	"a job whose name matches gets the profile"
is "$(comment -N2 -n8 -J other)" "" "another job has no comment"
is "$(comment -N2 -n8 -J vasp --comm-profile=other8)" \
	"commplace: profile=other8 policy=auto" "the user's profile wins"
is "$(comment -N2 -n8 -J vasp --comm-profile=none)" "" \
	"--comm-profile=none: no profile at all"
is "$(comment -N2 -n8 -J vasp --rank-mapping=linear)" \
	"commplace: profile=ring8 policy=auto mapping=linear" \
	"a mapping of the user's with it"
job=$(submit -N2 -n8 -J vasp --comm-profile=none)
wait_running "$job"
is "$(commplace explain "$job" 2>&1 | sed -n 's/^profile *//p')" "" \
	"--comm-profile=none: the select plugin leaves the rule out too"
cancel_all

# A rule whose profile is gone must not stop jobs.
mv "$PROFILES/ring8.json" "$home/"
job=$(submit -N2 -n8 -J vasp)
wait_running "$job"
ok $? "the rule's profile is missing: the job runs"
is "$(job_hosts "$job")" "n0 n1" "on the stock nodes"
mv "$home/ring8.json" "$PROFILES/"
cancel_all

# Who may choose what.
refuses() {
	local name=$1 regex=$2 output
	shift 2
	output=$(as_user sbatch -N2 -n8 "$@" --wrap true 2>&1)
	[ $? -ne 0 ]
	ok $? "$name: refused"
	like "$output" "$regex" "$name: why"
	like "$output" "Batch job submission failed" "$name: by slurmctld"
}
site "UserMayOverride=profile"
refuses "policy" "commplace: this site does not let users choose the policy \(UserMayOverride in commplace.conf\); leave out --placement-policy" \
	--comm-profile=ring8 --placement-policy=linear
refuses "mapping" "choose the mapping" --rank-mapping=linear
job=$(submit -N2 -n8 --comm-profile=ring8)
wait_running "$job"
ok $? "the profile may be chosen"
cancel_all
site "UserMayOverride=none"
refuses "profile" "choose the profile" --comm-profile=ring8

# Names.
site ""
refuses "unknown profile" \
	"commplace: no profile 'foo' in $PROFILES; there are: other8, ring8 \(commplace signature list\)" \
	--comm-profile=foo
echo '{"format": "commplace-signature", "version": 1, "name": "x", "ranks": 0}' \
	>"$PROFILES/damaged.json"
refuses "damaged profile" "commplace: $PROFILES/damaged.json.*ranks" \
	--comm-profile=damaged
cluster_signature damaged 8
job=$(submit -N2 -n8 --comm-profile=damaged)
wait_running "$job"
ok $? "once repaired, it is taken"
rm "$PROFILES/damaged.json"
cancel_all
mkfifo "$PROFILES/pipe.json"
refuses "a FIFO as profile" "pipe.json: is not a regular file" --comm-profile=pipe
ln -s /etc/shadow "$PROFILES/link.json"
refuses "a link as profile" "link.json: is a symbolic link" --comm-profile=link
rm "$PROFILES/pipe.json" "$PROFILES/link.json"

# A broken file: the configuration before it stays, said once. From 23.11 on
# slurmctld reconfigures as a new process, which has none before.
site "RankMismatch=reject"
refuses "RankMismatch=reject" "recorded at 8 ranks, the job has 4" \
	--comm-profile=ring8 -n4
site "RankMismatch=perhaps"
stays() {
	if [ "$CLUSTER_SERIES" -lt 2311 ]; then
		refuses "$1" "recorded at 8 ranks" --comm-profile=ring8 -n4
		return
	fi
	like "$(as_user sbatch -N2 -n4 --comm-profile=ring8 --wrap true 2>&1)" \
		"not in force, the job goes on without it.*Submitted" "$1: none"
}
stays "broken configuration, the one before stays"
stays "and stays"
is "$(grep -c 'error: .*commplace: .*commplace.conf:5: RankMismatch=perhaps' \
	"$CLUSTER/log/slurmctld.log")" 1 "the error is logged once, with its line"
rm "$CLUSTER/etc/commplace.conf"
stays "no configuration, the one before stays"
cancel_all

# Fault 23: a profile that is not the user's to read.
site ""
cluster_signature secret 8
chmod 600 "$PROFILES/secret.json"
refuses "a profile that others may read" "profile 'secret' is not yours to use" \
	--comm-profile=secret
unlike "$(as_user sbatch -N2 -n8 --comm-profile=foo --wrap true 2>&1)" secret \
	"nor is it listed"
rm "$PROFILES/secret.json"

# Fault 18: a partition that is left to Slurm, or switched off.
for how in DefaultPolicy=none Mode=off; do
	site "Partition=main $how"
	job=$(submit -N2 -n8 -J vasp --comm-profile=ring8)
	wait_running "$job"
	is "$(job_hosts "$job")" "n0 n1" "$how of the partition: the stock nodes"
	like "$(commplace explain "$job" 2>&1)" "no record of job $job" \
		"$how: nothing is decided"
	cancel_all
done

# Links as switches counted them, read beside slurmctld; a source that is no more is
# told of once, and holds up nothing.
sample() { # BYTES-PER-SECOND
	printf 'time,from,to,bytes_per_second\n%d,0,1,%s\n' "$EPOCHSECONDS" "$1" \
		>"$CLUSTER/etc/links.new"
	chmod 644 "$CLUSTER/etc/links.new"
	mv "$CLUSTER/etc/links.new" "$CLUSTER/etc/links.csv"
}
sample 2e9
site "MeasuredLinks=$CLUSTER/etc/links.csv MeasuredMaxAge=30"
measured() {
	job=$(submit -N2 -n8 --comm-profile=ring8)
	wait_running "$job"
	told=$(decision "$job" .measured) outcome=$(decision "$job" .outcome)
	cancel_all
	# shellcheck disable=SC2053
	[[ $told == $1 ]]
}
runs "MeasuredLinks: a decision says what was measured" \
	wait_for 20 measured "1 links at *, 2e+09 bytes/s of others on 1"
is "$(commplace status --json | jq -c '.measured | [.links, .left_out]')" "[1,0]" \
	"status has it"
sample -1
# slurmctld hears of it when it asks for the next decision.
gone() {
	measured null
	grep -q "MeasuredLinks: .*nothing of it counts" "$CLUSTER"/log/*.log
}
runs "a sample that cannot be right is told of" wait_for 20 gone
measured null
is "$outcome" placed "and jobs are placed as ever"

# Jobs that ask for nothing are in the background by what they are taken for, or by
# their share of what was measured, and have a record that says so.
site "Unknown=uniform UnknownVolume=1000000"
job=$(submit -N2 -n8 -J plain)
wait_running "$job"
unlike "$(scontrol show job "$job")" AdminComment=commplace \
	"Unknown=uniform: nothing is told of a job"
is "$(decision "$job" .volume)" 1000000 "its record has its volume"
other=$(submit -N2 -n8 --comm-profile=ring8)
wait_running "$other"
is "$(decision "$other" ".background | index($job) != null")" true \
	"it is in the background of a decision"
like "$(commplace explain "$job")" "taken for +a job whose nodes send 1.* MB/s" \
	"explain says so"
like "$(commplace replay "$CLUSTER/decisions/running/$other.json" 2>&1 | tail -n 1)" \
	"^1 equal, 0 different, 0 not" "and a replay of that comes out equal"
cancel_all
unrecorded() { commplace status --unrecorded | grep -qE "plain +[12] "; }
wait_for 20 unrecorded
ok $? "status --unrecorded lists it" || diag "$(commplace status --unrecorded)"
cluster_write_site

# Modes.
site "Mode=observe"
is "$(comment -N2 -n8 --comm-profile=ring8)" \
	"commplace: profile=ring8 policy=auto (observed)" \
	"Mode=observe: the comment says so"
job=$(submit -N2 -n8 --comm-profile=ring8)
wait_running "$job"
ok $? "Mode=observe: the job runs"
is "$(job_hosts "$job")" "n0 n1" "on the stock nodes"
is "$(decision "$job" .outcome)" observed "its decision is on record"
cancel_all
site "Mode=off"
is "$(comment -N2 -n8 --comm-profile=foo)" "" "Mode=off: no check, no comment"
job=$(submit -N2 -n8 --comm-profile=foo)
wait_running "$job"
ok $? "and the job runs"
like "$(commplace explain "$job" 2>&1)" "no record of job $job" "nothing is decided"
cancel_all
cluster_check
done_testing
