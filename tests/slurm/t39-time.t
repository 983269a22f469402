#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How long slurmctld's locks are held because of us, by its own counters, with
# slow mappers and many ranks at the default times of a site; and that one user's
# jobs leave others their part of a pass.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
CLUSTER_CPUS=256
CLUSTER_DECISION_TIME=20
cluster_start
# On a quiet machine calls end within 25 ms. One that runs other tests beside may
# take them off the processor for as long as this; searches without a deadline
# took 500 to 1,800 ms of its time here.
BOUND_MS=${COMMPLACE_TEST_HELD_MS:-300}

printf '{"format": "commplace-signature", "version": 1, "ranks": 4096,
 "phases": [{"pattern": {"type": "spread", "ranks": 4096, "degree": [48, 48],
 "bytes": 4096, "seed": 1}}]}' >"$PROFILES/big.json"
cluster_signature ring64 64
cluster_signature ring8 8

# The longest time of a kind of call in ms; counters are written now and then.
held() { jq ".lock_held.$1.longest_ns / 1e6" "$CLUSTER/decisions/counters.json"; }

# The profile is read before it counts.
first=$(submit -N16 -n4096 -H --comm-profile=big)
ok $? "a job of 4,096 ranks is taken"
as_user scancel "$first"
for mapper in greedyallc minmd pacmap best quick; do
	job=$(submit -N16 -n4096 --contiguous --comm-profile=big \
		--rank-mapping=$mapper)
	wait_running "$job"
	ok $? "$mapper: it runs on all nodes"
	as_user scancel "$job"
	wait_ended "$job"
done
wait_for 30 test -s "$CLUSTER/decisions/counters.json"
ok $? "there are counters"
for call in test start; do
	ms=$(held $call)
	diag "lock held for $call: at most $ms ms"
	is "$(jq -n "$ms < $BOUND_MS")" true "$call: less than $BOUND_MS ms"
done

# Jobs of one user with a slow mapper, and then another user's small ones: times
# ten times as long as by default, so that other tests beside do not use them up.
CLUSTER_DECISION_TIME=200
CLUSTER_SITE=MaxPassTime=5s
cluster_write_site
cluster_reconfigure
many=() few=()
for _ in {1..40}; do
	many+=("$(submit -H -N4 -n64 --comm-profile=ring64 --rank-mapping=best)")
done
for _ in {1..5}; do
	few+=("$(sbatch --parsable -o /dev/null -H -N2 -n8 --comm-profile=ring8 \
		--wrap "exec sleep 300" 2>/dev/null)")
done
scontrol release "$(IFS=,; echo "${many[*]},${few[*]}")"
for job in "${few[@]}"; do
	wait_running "$job"
	is "$(decision "$job" .outcome)" placed \
		"another user's job of two nodes is placed in the same pass" ||
		diag "$(decision "$job" .reason)"
done
scancel "${few[@]}"
cancel_all
cluster_check
done_testing
