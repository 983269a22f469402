#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace interleave`: iterations from phases, and offsets that `simulate` bears out.
. "${0%/*}/golden.bash"
cd "$work" || bail "no $work"
export LC_ALL=C
# Two routers, one link of 1000 bytes/s; each job sends 1000 bytes in 1 s of 2.
cat >net.json <<-'END'
	{"format": "commplace-network", "version": 1, "name": "dumbbell", "type": "torus", "dims": [2],
	 "wrap": [false], "nodes_per_router": 3, "bandwidth": {"dim": 1000, "injection": 100000},
	 "nodes": "n[0-5]"}
END
step() { # NAME TIME COMPUTE [MORE PHASES]
	cat >"$1.json" <<-END
		{"format": "commplace-signature", "version": 1, "name": "$1", "ranks": 2, "phases": [
		 {"name": "step", "weight": 100, "time": $2, "compute_time": $3,
		  "traffic": [[0, 1, 1000, 1]]}${4:-}]}
	END
}
step half 2 1
step start 2 1 ', {"name": "init", "weight": 1, "time": 50, "compute_time": 1, "traffic": [[0, 1, 5, 1]]}'
jobs=(--signature ./half.json --hosts n0,n3 --signature ./half.json --hosts n1,n4)
"$commplace" interleave --network net.json "${jobs[@]}" --json >two.json
ok $? "two jobs on one link"
is "$(jq -c '[.jobs[].offset, .wait_before, .wait_after, .links]' two.json)" "[0,1,0.5,0,1]" \
	"one begins when the other has sent: none of the bytes wait, where half did"
is "$(jq -c '[.jobs[0].period, .jobs[0].communication, .circle]' two.json)" "[2,0.5,2]" "periods"
like "$("$commplace" interleave --network net.json "${jobs[@]}" | tail -2 | tr '\n' ' ')" \
	"50.0 % of the bytes wait for other jobs' where all begin at once, 0.0 % so" "in words"
is "$("$commplace" interleave --network net.json "${jobs[@]:0:4}" --signature ./start.json \
	--hosts n1,n4 --json | jq -c '[.jobs[1].period, .jobs[1].phases_left_out, .wait_after]')" \
	"[2,1,0]" "what runs once is no part of the iteration"
like "$("$commplace" interleave --network net.json --signature ./half.json --hosts n0,n1 \
	--signature ./half.json --hosts n3,n4)" "There is no link of which they want more" \
	"jobs that meet on no link"
step third 3 2
third=(--signature ./third.json)
is "$("$commplace" interleave --network net.json "${third[@]}" --hosts n0,n3 "${third[@]}" \
	--hosts n1,n4 "${third[@]}" --hosts n2,n5 --json | jq -c '[.wait_before, .wait_after | . * 3000 | round]')" \
	"[2000,0]" "three thirds"

# For the environment of each.
env=$("$commplace" interleave --network net.json "${jobs[@]}" --env 2)
is "$env" "COMMPLACE_INTERLEAVE=2.1:1.05" "--env: the second job's period and offset, 5 % longer"
is "$(jq -c '[.jobs[].environment]' two.json)" \
	'["COMMPLACE_INTERLEAVE=2.1:0","COMMPLACE_INTERLEAVE=2.1:1.05"]' "and in JSON"
"$commplace" interleave --network net.json "${jobs[@]}" --env 3 >env 2>&1
is "$?" 2 "--env of no job"
step odd 3.17 2.5
own=(interleave --network net.json "${jobs[@]:0:4}" --signature ./odd.json --hosts n1,n4)
like "$("$commplace" "${own[@]}" --env 1 2>&1)" "job 1 has a period of its own" \
	"a job that goes into no circle"
is "$("$commplace" "${own[@]}" --json | jq -c '[.jobs[0].periodic, .jobs[0].environment]')" \
	"[false,null]" "has no turns"

# The flow simulation: together each takes longer than with the offset.
run() { # START OF THE SECOND
	"$commplace" simulate --network net.json --signature ./half.json --hosts n0,n3 \
		--signature ./half.json --hosts n1,n4 --start "$1" --level flow --json |
		jq '[.jobs[].seconds] | add'
}
together=$(run 0) apart=$(run 1)
awk -v a="$together" -v b="$apart" 'BEGIN { exit !(b > 0 && b < 0.8 * a) }'
ok $? "simulate: shorter with the offset" || diag "$together $apart"
done_testing
