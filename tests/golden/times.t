#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What traffic, compare and place tell of the seconds that a job communicates,
# on a line of routers where they can be worked out by hand.
. "${0%/*}/golden.bash"
cd "$work" || bail "no $work"
export COMMPLACE_CONF=/dev/null LC_ALL=C
# 1 GB/s from router to router, two nodes on each.
cat >line.json <<-END
{ "format": "commplace-network", "version": 1, "name": "line", "type": "torus",
  "dims": [6], "wrap": [false], "nodes_per_router": 2,
  "bandwidth": { "dim": [1e9], "injection": 10e9 }, "nodes": "n[0-11]" }
END
# Two ranks: 1 GB in 10 runs of one phase, 2 GB the other way in one of another;
# 20 s each run, 19 s and 0 s of them computing.
cat >timed.json <<-END
{ "format": "commplace-signature", "version": 1, "ranks": 2, "phases": [
  { "name": "there", "weight": 10, "time": 20, "compute_time": 19,
    "traffic": [[0, 1, 1e9, 1]] },
  { "name": "back", "weight": 1, "time": 20,
    "traffic": [[1, 0, 2e9, 1]] } ] }
END
sed 's/"time": 20, "compute_time": 19,//; s/"time": 20,//' timed.json >untimed.json
cat >running.json <<-END
{ "jobs": [ { "id": 1, "signature": "$work/timed.json", "hosts": ["n0", "n2"],
  "ranks_per_node": 1 } ] }
END
sed s/timed/untimed/ running.json >loud.json

# value FILE 'PERL EXPRESSION OF $r'
value() {
	perl -MJSON::PP -e 'local $/; my $r = decode_json(<STDIN>);
		my $v = eval $ARGV[0]; print $v =~ /^[0-9.e+-]+$/ ? 0 + sprintf("%.9g", $v) : $v' "$2" <"$1"
}
traffic() {
	"$commplace" traffic --network line.json --json "$@" >out.json ||
		diag "traffic $*"
}

traffic --signature ./timed.json --hosts n0,n2
j='$r->{jobs}[0]{communication}'
is "$(value out.json "$j{seconds} - $j{latency}")" 12 "phases one after the other"
# A packet of 4 KB over a link of 1 and two of 10 GB/s, eleven times.
is "$(value out.json "$j{latency}")" "$(perl -e 'print 0 + sprintf "%.9g", 11 * 4096 * 1.2e-9')" \
	"until the first packet is there"
is "$(value out.json "$j{slowdown}")" 1 "alone"
is "$(value out.json "$j{run_seconds}")" 220 "the run's time"
is "$(value out.json "$j{share}")" "$(perl -e 'print 0 + sprintf "%.9g", 30 / 220')" \
	"share of communication"
is "$(value out.json "$j{utilisation}")" "$(perl -e 'print 0 + sprintf "%.9g", 10 / 220')" \
	"utilisation of the busiest link"
is "$(value out.json "$j{busiest_link}")" "dim0 0 -> 1" "busiest link"
is "$(value out.json "$j{exact}")" 1 "exact"
is "$(value out.json "$j{routing}")" dimension-order "routing"
traffic --signature ./timed.json --hosts n0,n2 --phase back
is "$(value out.json "$j{seconds} - $j{latency}")" 2 "one phase"

# Without times the busiest link is never idle: twice the time, but for waiting.
sed 's/"compute_time": 19/"compute_time": 21/' timed.json >over.json
traffic --signature ./over.json --hosts n0,n2
is "$(value out.json "$j{share}")" "$(perl -e 'print 0 + sprintf "%.9g", 20 / 220')" \
	"a phase that computes longer than it takes communicates for 0 s"
unlike "$("$commplace" signature show ./over.json)" "there +10 +-" "nor in show"
traffic --signature ./untimed.json --hosts n1,n3 --running loud.json
is "$(value out.json "$j{run_seconds}")" 0 "no times"
is "$(value out.json "($j{seconds} - $j{waiting} - $j{latency}) / ($j{alone} - $j{latency})")" \
	"$(perl -e 'print 0 + sprintf "%.9g", (10 * 2 + 2 * 1.2) / 12')" \
	"beside a job that always communicates"
traffic --signature ./timed.json --hosts n1,n3 --running running.json
is "$(value out.json "$j{seconds} - $j{waiting} - $j{latency}")" \
	"$(perl -e 'print 0 + sprintf "%.9g", 10 * (1 + 10 / 220) + 2 * (1 + 2 / 220)')" \
	"beside one that does for a part of its run"
# u / (2 (1 - u)) times four packets of 4096 bytes for each message, on one link here.
is "$(value out.json "$j{waiting}")" \
	"$(perl -e 'my ($u, $v) = (10 / 220, 2 / 220); print 0 + sprintf "%.9g",
		4 * 4096e-9 * (10 * $u / 2 / (1 - $u) + $v / 2 / (1 - $v))')" \
	"waiting in queues"
traffic --signature ./timed.json --hosts n0,n2 --signature ./timed.json --hosts n1,n3
is "$(value out.json '$r->{jobs}[1]{communication}{seconds} /
	$r->{jobs}[0]{communication}{seconds}')" 1 "two jobs slow each other down alike"

"$commplace" place --network line.json --signature ./timed.json --nodes 2 \
	--policy auto --running running.json --json >out.json
is "$(value out.json 'join " ", grep { $_ < 1 } map { $_->{slowdown} }
	grep { $_->{evaluated} } @{$r->{candidates}}')" "" \
	"no candidate is faster than the reference"
is "$(value out.json '(grep { $_->{policy} eq "linear" }
	@{$r->{candidates}})[0]{communication_alone}')" 12.0000541 "linear is apart"
# What is sent on link 0 -> 1 in 220 s: 10 GB of the job's, 10 GB of the other's.
"$commplace" place --network line.json --signature ./timed.json --nodes 2 \
	--policy linear --free n1,n3 --running running.json --json >out.json
is "$(value out.json '$r->{candidates}[0]{max_congestion}')" 20 \
	"the background of a job with times is what others send in its run"
sed 's/"weight": 10/"weight": 30/' timed.json >longer.json
"$commplace" place --network line.json --signature ./longer.json --nodes 2 \
	--policy linear --free n1,n3 --running running.json --json >out.json
is "$(value out.json '$r->{candidates}[0]{max_congestion}')" \
	"$(perl -e 'print 0 + sprintf "%.9g", 30 + 10 * 620 / 220')" \
	"of a longer one more"
"$commplace" place --network line.json --signature ./untimed.json --nodes 2 \
	--policy linear --free n1,n3 --running running.json --json >out.json
is "$(value out.json '$r->{candidates}[0]{max_congestion}')" 20 \
	"of one without times their sums"
"$commplace" place --network line.json --signature ./untimed.json --nodes 2 \
	--policy linear --free n1,n3 --running running.json >out.txt
like "$(cat out.txt)" "states no times" "the text says so"

"$commplace" compare --network line.json --signature ./timed.json \
	--ranks-per-node 1 --placements linear,round-robin-nodes \
	--routings DO --json >out.json
is "$(value out.json 'join " ", map { sprintf "%.4g", $_->{communication}{slowdown} }
	@{$r->{rows}}')" "1 10" "compare: against the best placement"
# Routings that adapt: of half of the bytes on a detour each has less than a minimal path.
cat >dragonfly.json <<-END
{ "format": "commplace-network", "version": 1, "name": "df", "type": "dragonfly",
  "groups": 3, "rows": 2, "columns": 2, "nodes_per_router": 2,
  "global_links_per_group_pair": 1, "routing": "adaptive-hybrid",
  "bandwidth": { "row": 1e9, "column": 1e9, "global": 1e9, "injection": 10e9 },
  "nodes": "n[0-23]" }
END
adapts() {
	"$commplace" traffic --network dragonfly.json --signature ./timed.json \
		--hosts n0,n20 --json "$@" >out.json
	value out.json "$j{routing}"
}
is "$(adapts)" adaptive-hybrid "a routing that adapts: it is named"
seconds=$(value out.json "$j{busiest}")
adapts --routing static-direct >direct.txt
is "$(value out.json "$seconds < 0.6 * $j{busiest} && $seconds > 0.3 * $j{busiest}")" 1 \
	"and seconds are its own"

# From corner to corner of a square, of which another job fills a side: what it takes alone
# is told by the ways that it has alone, and beside the other one it is longer, by less than
# half as packets go round.
cat >square.json <<-END
{ "format": "commplace-network", "version": 1, "name": "square", "type": "torus",
  "dims": [4, 4], "routing": "adaptive", "bandwidth": { "dim": [1e9, 1e9],
  "injection": 10e9 }, "nodes": "n[0-15]" }
END
beside() {
	"$commplace" traffic --network square.json --json --signature ./untimed.json \
		--hosts n0,n5 "$@" >out.json || diag "traffic $*"
}
beside
alone=$(value out.json "$j{alone}")
beside --signature ./untimed.json --hosts n0,n1
is "$(value out.json "$j{alone}")" "$alone" "packets that choose: alone whoever else is there"
is "$(value out.json "$j{seconds} > 1.2 * $alone && $j{seconds} < 1.5 * $alone")" 1 \
	"and beside others longer"

# From group to group over all links that lead there, the direct one and those over other
# groups, beside another job that does the same: both have half of each.
cat >groups.json <<-END
{ "format": "commplace-network", "version": 1, "name": "groups", "type": "dragonfly",
  "groups": 5, "rows": 1, "columns": 4, "nodes_per_router": 1,
  "global_links_per_group_pair": 1, "routing": "ugal-g", "bandwidth": { "row": 5e9,
  "column": 5e9, "global": 1e9, "injection": 10e9 }, "nodes": "n[0-19]" }
END
"$commplace" traffic --network groups.json --json --signature ./untimed.json \
	--hosts n0,n4 --signature ./untimed.json --hosts n1,n5 >out.json
is "$(value out.json "$j{seconds} > 1.7 * $j{alone} && $j{seconds} < 2.1 * $j{alone}")" 1 \
	"two that choose among the same ways"

# What place tells of others: job 2 goes from router 0 to 2 and back, 10 GB and
# 2 GB in 220 s; so does the job between n1 and n5, over the same four links. Its
# 10 / 220 GB/s slow the other one down by as much.
sed 's/"n0", "n2"/"n0", "n4"/' running.json >far.json
place() {
	"$commplace" place --network line.json --signature ./timed.json --nodes 2 \
		--running far.json --json "$@" >out.json || diag "place $*"
}
k='(grep { $_->{chosen} } @{$r->{candidates}})[0]'
place --free n1,n5,n8,n11 --policy linear --objective isolation
is "$(value out.json "$k->{shared_links}")" 4 "links shared with a running job"
is "$(value out.json "$k->{slows_others}")" \
	"$(perl -e 'print 0 + sprintf "%.9g", 10 / 220')" "what it is slowed down"
for objective in isolation interference; do
	place --free n1,n5,n8,n11 --policy auto --objective "$objective"
	is "$(value out.json 'join ",", sort @{$r->{hosts}}')" n11,n8 \
		"$objective: apart from it"
	is "$(value out.json "$k->{shared_links} + $k->{slows_others}")" 0 \
		"$objective: no link shared"
done
like "$("$commplace" place --network line.json --signature ./timed.json \
	--nodes 2 --running far.json --policy auto --objective isolation)" \
	"slowdown +shared links +slows others" "the table has both sides"
done_testing
