#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What users are told at submission: one line, and no job.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
cluster_start
cluster_signature ring8 8
cp "$PROFILES/ring8.json" "$PROFILES/damaged.json"
truncate -s 60 "$PROFILES/damaged.json"
echo '{"format": "commplace-signature", "version": 9}' >"$PROFILES/future.json"
# The job's script is the same in all.
cat >"$CLUSTER/home/hello.sh" <<'END'
#!/bin/bash
echo hello
END

# refuses NAME REGEX COMMAND...: as the user; no job may come of it
refuses() {
	local name=$1 regex=$2 output status
	shift 2
	output=$(as_user timeout 20 "$@" 2>&1)
	status=$?
	[ "$status" -ne 0 ] && [ "$status" -ne 124 ]
	ok $? "$name: refused (exit code $status)"
	like "$output" "$regex" "$name: the reason is given"
	is "$(squeue -h)" "" "$name: there is no job"
}

for command in "sbatch hello.sh" "srun true" "salloc true"; do
	tool=${command%% *} args=${command#* }
	refuses "$tool, unknown profile" "no-such-profile" \
		"$tool" -N2 -n8 --comm-profile=no-such-profile "$args"
	refuses "$tool, damaged profile" "damaged" \
		"$tool" -N2 -n8 --comm-profile=damaged "$args"
	refuses "$tool, unknown policy" "no-such-policy" \
		"$tool" -N2 -n8 --comm-profile=ring8 \
		--placement-policy=no-such-policy "$args"
	refuses "$tool, unknown mapping" "no-such-mapping" \
		"$tool" -N2 -n8 --comm-profile=ring8 \
		--rank-mapping=no-such-mapping "$args"
	refuses "$tool, a path as profile" "/etc/passwd|[Nn]ame" \
		"$tool" -N2 -n8 --comm-profile=../../../etc/passwd "$args"
done
refuses "profile of a later version" "version" \
	sbatch -N2 -n8 --comm-profile=future hello.sh
printf '#!/bin/bash\n#SBATCH --comm-profile=no-such-profile\ntrue\n' \
	>"$CLUSTER/home/directive.sh"
refuses "#SBATCH line, unknown profile" "no-such-profile" \
	sbatch -N2 -n8 directive.sh

# A profile of another number of ranks is ignored, as the site has it ...
snapshot
job=$(submit -N4 -n16 --comm-profile=ring8)
wait_running "$job"
ok $? "a profile of 8 ranks, a job of 16: it runs"
is "$(job_hosts "$job")" "n0 n1 n2 n3" "on the stock nodes"
like "$(cat "$CLUSTER/sbatch.err")" "8 ranks.* 16" "and sbatch says so"
cancel_all
job=$(submit -N4 --comm-profile=ring8)
wait_running "$job"
ok $? "no tasks stated: it runs"
like "$(cat "$CLUSTER/sbatch.err")" "steps have 4 unless .*add -n 8 .*placed as 8" \
	"and sbatch says what its steps get"
cancel_all
job=$(submit -N4 --ntasks-per-node=2 --comm-profile=ring8)
wait_running "$job"
is "$(cat "$CLUSTER/sbatch.err")" "" "tasks per node are tasks"
cancel_all
# ... or refused.
CLUSTER_SITE="RankMismatch=reject"
cluster_write_site
cluster_reconfigure
refuses "RankMismatch=reject" "8" \
	sbatch -N4 -n16 --comm-profile=ring8 hello.sh
refuses "nodes without tasks" "steps have 4 unless .*add -n 8" \
	sbatch -N4 --comm-profile=ring8 hello.sh
# The same for profiles that do not exist.
CLUSTER_SITE="MissingProfile=ignore"
cluster_write_site
cluster_reconfigure
job=$(submit -N2 -n8 --comm-profile=no-such-profile)
wait_running "$job"
ok $? "MissingProfile=ignore: the job runs"
like "$(cat "$CLUSTER/sbatch.err")" "no-such-profile" "sbatch says so"
is "$(job_hosts "$job")" "n0 n1" "on the stock nodes"
cancel_all
# What users may not override.
CLUSTER_SITE="UserMayOverride=none"
cluster_write_site
cluster_reconfigure
refuses "UserMayOverride=none" "policy|override|UserMayOverride" \
	sbatch -N2 -n8 --placement-policy=linear hello.sh
cluster_check
done_testing
