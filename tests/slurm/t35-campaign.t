#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace campaign` decides as slurmctld does: the starts and ends of a
# campaign are put to a cluster in their order, and each job gets the nodes, in
# the order, that it has there. JOBS= plays more of them.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
jobs=${JOBS:-40}
CLUSTER_GROUPS=6 CLUSTER_COLUMNS=2
CLUSTER_SITE="OrderReaches=yes
DefaultPolicy=auto
DefaultMapping=greedyallc
Seed=3"
cluster_start
cluster_signature ring8 8
cluster_signature all16 16 all
cluster_signature pairs32 32 pairs
cluster_signature fours16 16 fours
mkdir "$CLUSTER/campaign" && cd "$CLUSTER/campaign" || bail "no folder"

# Jobs of 2, 4 and 8 nodes, four ranks on each; one in five sends nothing between
# nodes, and has those of stock Slurm here and there.
awk -v n="$jobs" 'BEGIN {
	print "JobID|Submit|Elapsed|NNodes|JobName"
	split("ring8 all16 pairs32 fours16", name)
	split("2 4 8 4", nodes)
	for (i = 1; i <= n; i++) {
		k = i % 5 ? 1 + i * i * 7 % 3 : 4
		printf "%d|%d|%d|%d|%s\n", i, 30 * i, 100 + i * 7919 % 700,
			nodes[k], name[k]
	} }' >log
for name in ring8 all16 pairs32 fours16; do
	echo "Match Name=$name Signature=$PROFILES/$name.json Share=50 RanksPerNode=4"
done >jobs.map
commplace campaign --network "$NETWORK" --log log --jobs jobs.map \
	--policies auto+greedyallc --seed 3 --events events --json >json
ok $? "a campaign"
is "$(jq '[.other_ranks, .too_large, .policies[0].communicating] | join(" ")' \
	json)" "\"0 0 $((jobs - jobs / 5))\"" "all but those communicate"

# Its nodes are idle again.
gone() { [ -z "$(squeue -h -j "$1" 2>/dev/null)" ]; }
declare -A id
started=0 equal=0
while IFS=$'\t' read -r _ _ event job nodes _ _ hosts; do
	if [ "$event" = end ]; then
		scancel "${id[$job]}"
		wait_for 60 gone "${id[$job]}" || break
		continue
	fi
	profile=$(awk -F'|' -v job="$job" '$1 == job { print $5 }' log)
	id[$job]=$(submit -N"$nodes" --ntasks-per-node=4 --exclusive -t 60 \
		--comm-profile="$profile") || break
	wait_running "${id[$job]}" || break
	started=$((started + 1))
	got=$(decision "${id[$job]}" '.hosts | join(" ")')
	if [ "$got" = "$(expand "$hosts")" ] &&
	    [ "$(job_hosts "${id[$job]}")" = "$(sorted "$got")" ]; then
		equal=$((equal + 1))
	else
		diag "job $job ($profile): $(fold "$got"), campaign $hosts"
	fi
done < <(sed 1d events)
is "$started" "$jobs" "all jobs start when the campaign starts them"
is "$equal" "$jobs" "all on its nodes, in its order"
cancel_all
cluster_check
done_testing
