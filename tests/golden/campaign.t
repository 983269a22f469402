#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace campaign`: what a small log comes to by hand, the same bytes every
# time, and that it decides as `commplace place` does.
. "${0%/*}/golden.bash"
cd "$work" || bail "no $work"
export LC_ALL=C
cat >network.json <<-END
{ "format": "commplace-network", "version": 1, "name": "df", "type": "dragonfly",
  "groups": 6, "rows": 2, "columns": 4, "nodes_per_router": 2,
  "global_links_per_group_pair": 2, "nodes": "n[0-95]" }
END
# campaign LOG MAP POLICIES OPTION...
campaign() {
	"$commplace" campaign --network network.json --log "$1" --jobs "$2" \
		--policies "$3" "${@:4}"
}

# Nothing is sent: two jobs of all nodes, one behind the other, and a small one
# that EASY lets go before the second.
cat >log <<-END
	JobID|Submit|Elapsed|Timelimit|NNodes|JobName
	1|2026-01-01T00:00:00|01:00:00|02:00:00|90|a
	2|2026-01-01T00:10:00|01:00:00|02:00:00|96|b
	3|2026-01-01T00:20:00|00:30:00|00:30:00|6|c
	4|2026-01-01T00:30:00|00:00:00|00:30:00|6|never
	5|2026-01-01T00:30:00|00:10:00|00:30:00|97|large
END
echo 'Match Pattern=none' >none.map
campaign log none.map flat --json --events events >json
ok $? "a log without traffic"
is "$(sed 1d events | cut -f2-4 | paste -sd' ')" \
	"0.000	start	1 1200.000	start	3 3000.000	end	3 3600.000	end	1 3600.000	start	2 7200.000	end	2" \
	"starts and ends, as by hand"
is "$(grep -c 'n\[0-89\]$\|n\[90-95\]$\|n\[0-95\]$' events)" 3 "on their nodes"
is "$(json - jobs <json) $(json - never_ran <json) $(json - too_large <json)" \
	"3 1 1" "jobs are counted"
is "$(json - policies 0 wait mean <json)" 1000 "waiting time, mean"
is "$(json - policies 0 makespan <json)" 7200 "makespan"
is "$(json - policies 0 communication_ratio <json)" 1 "no communication"
# (90 + 96) * 3600 + 6 * 1800 of 96 * 7200 node-seconds
like "$(json - policies 0 utilisation <json)" '^0\.984375' "utilisation"
campaign log none.map flat --queue fifo --events events >/dev/null
is "$(sed 1d events | awk '$3 == "start" && $4 == 3 { print $2 }')" 7200.000 \
	"without backfilling the small one waits"
# Slurm's own clock: its main scheduler looks after 3 s, and backfill each 30.
campaign log none.map flat --queue slurm --events events >/dev/null
is "$(sed 1d events | awk '$3 == "start" { print $4, $2 }' | paste -sd' ')" \
	"1 3.000 3 1200.000 2 3603.000" "Slurm's queue"
# All times are told; the clock's first is 2026-01-01T00:00:00.
printf '%s\n' '1767225600.5 main' '1767226799 backfill' '1767226801.25 backfill' >passes
campaign log none.map flat --queue slurm --passes passes --events events \
	--scheduler-parameters bf_continue,bf_interval=7 >/dev/null
is "$(sed 1d events | awk '$3 == "start" { print $4, $2 }' | paste -sd' ')" \
	"1 0.500 3 1201.250 2 3601.000" "which looks at the times that a file has"
like "$(campaign log none.map flat --passes passes 2>&1)" \
	'--scheduler-parameters and --passes are for --queue slurm' "only that one"
like "$(campaign log none.map flat --queue slurm --scheduler-parameters bf_window=x 2>&1)" \
	'--scheduler-parameters: bf_window: needs a number from 1 to 43200' "a wrong one"
gzip -c log >log.gz
is "$(campaign log.gz none.map flat --json | sha1sum)" "$(sha1sum <json)" \
	"a gzipped log gives the same"

# 120 jobs that communicate.
awk 'BEGIN { for (i = 1; i <= 120; i++)
	printf "%d %d -1 %d %d -1 -1 -1 %d -1 1 1 1 %d 1 -1 -1 0\n", i, 60 * i,
	600 + i * 7919 % 3000, 1 + i * i * 31 % 40, 7200, i % 4 }' >swf
cat >mix.map <<-END
	Match Name=0 Pattern=none Class=quiet
	Match Name=1 Nodes=1-20 Pattern=pencil Share=40 Class=fft
	Mix Weight=2 Pattern=stencil-3d Share=30
	Mix Weight=1 Pattern=recursive-doubling Share=60
END
policies=flat,tree,tree-rank,select-linear,greedy,balanced,adaptive,auto+mapping
campaign swf mix.map $policies --json --threads 1 >one.json
ok $? "all policies"
campaign swf mix.map $policies --json --threads 3 >three.json
is "$(sha1sum <three.json)" "$(sha1sum <one.json)" \
	"the same bytes with other threads"
is "$(campaign swf mix.map flat,auto --json --seed 2 | sha1sum)" \
	"$(campaign swf mix.map flat,auto --json --seed 2 | sha1sum)" \
	"and with a seed"
campaign swf mix.map flat,auto --plot plot.svg >text
ok $? "the table, and a picture"
like "$(tail -3 text | head -1)" \
	"^120 jobs, [0-9]+ of which communicate; changes are against flat$" "text: counts"
# Fault 67: one sentence says what came out, of this run's numbers.
campaign swf mix.map flat,auto --json >two.json
hours=($(jq -r '.policies[].node_seconds / 3600' two.json | xargs printf '%.6g '))
change=$(jq -r '100 * (.policies[1].node_seconds / .policies[0].node_seconds - 1)' two.json |
	xargs printf '%+.2f')
like "$(tail -1 text)" \
	"^Fewest node hours for these jobs: auto, ${hours[1]} where flat takes ${hours[0]} .${change/+/.} %.[.,]" \
	"text: the verdict in node hours"
like "$(campaign swf mix.map auto,flat | tail -1)" \
	"^Fewest node hours for these jobs: auto, [0-9.]+\.$" "text: that the first takes fewest"
is "$(head -3 text | cut -c1-6 | tr -d ' ' | paste -sd' ')" "policy flat auto" \
	"text: a line a policy"
is "$(head -3 text | awk '{ print length }' | sort -u | wc -l)" 1 \
	"text: columns align"
is "$(sed -n '6,9p' text | awk '{ print $2 }' | paste -sd' ')" \
	"quiet fft stencil-3d recursive-doubling" "text: classes as in the map"
is "$(grep -c '<rect' plot.svg)" 9 "the picture has its bars"
like "$(cat plot.svg)" ">Communication time, flat = 100 % " "and says against what"
like "$(campaign swf mix.map flat,autoo 2>&1)" \
	"none of flat, tree, .* adaptive, blind, leftovers, site, and placement policy 'autoo' is unknown" \
	"a policy that is none"
is "$(campaign swf mix.map tree,tree-rank --json |
	json - policies 1 communication_ratio)" 1 \
	"where nodes are in order of leaf switches tree-rank is tree"
is "$(campaign swf mix.map flat,flat --reference first --json |
	json - policies 0 run)" \
	"$(awk '{ s += $4 } END { print s }' swf | sed 's/$//')" \
	"with the first policy as reference it runs as the log says"
is "$(campaign swf mix.map select-linear,adaptive --model study \
	--reference first --pattern rd --json | json - policies 1 jobs)" 120 \
	"the study's model"

campaign swf mix.map auto --events events --max-jobs 12 >/dev/null
is "$(cut -f3 events | grep -c start) $(cut -f3 events | grep -c end)" "12 12" "--max-jobs"

# What the site's own lines say of each job: the same as the policy that they name.
# site_is POLICY
site_is() {
	local name
	for name in site "$1"; do
		campaign swf mix.map "$name" --config site.conf \
			--events events >/dev/null || return
		awk -F'\t' -v p="$name" '$1 == p' events | cut -f2- >"events.$name"
	done
	[ -s events.site ] && cmp -s events.site "events.$1"
}
echo 'DefaultPolicy=random-groups' >site.conf
site_is random-groups+quick
ok $? "site: the policy of commplace.conf, and its mapping"
printf '%s\n' DefaultPolicy=auto DefaultMapping=linear MinNodes=90 >site.conf
site_is flat
ok $? "site: jobs of few nodes have the stock ones"
printf '%s\n' DefaultPolicy=auto DefaultMapping=linear Mode=observe >site.conf
site_is flat
ok $? "site: so have all where it only observes"
printf '%s\n' DefaultPolicy=auto DefaultMapping=linear \
	"Match User=$(awk '{ print $12 }' swf | sort -u | paste -sd,) Profile=none" >site.conf
site_is flat
ok $? "site: and those without a profile"
printf '%s\n' DefaultPolicy=random-nodes DefaultMapping=linear \
	'Match JobName=* DefaultPolicy=random-groups' >site.conf
site_is random-groups
ok $? "site: Match lines hold"
printf '%s\n' DefaultPolicy=auto Objective=learned TimeModel=/m >site.conf
like "$(campaign swf mix.map flat,site --config site.conf 2>&1)" \
	"site.conf: Objective=learned goes by a model" "site: no model of time"
like "$(campaign swf mix.map flat,site --config none.conf 2>&1)" "none.conf: " \
	"site: a configuration that there is not"

# A stored signature: one phase of 8 ranks, its times stated.
cat >ring8.json <<-END
{ "format": "commplace-signature", "version": 1, "ranks": 8,
  "phases": [ { "name": "p", "weight": 10, "time": 4, "compute_time": 3,
    "pattern": { "type": "stencil", "dims": [8], "points": 3,
    "periodic": true, "bytes": 1 } } ] }
END
printf '%s\n' "1 0 -1 100 4 -1 -1 -1 -1 -1 1 1 1 7 1 -1 -1 0" \
	"2 0 -1 100 5 -1 -1 -1 -1 -1 1 1 1 7 1 -1 -1 0" >two
echo 'Match Name=7 Signature=./ring8.json RanksPerNode=2' >sig.map
campaign two sig.map auto,auto --reference first --json >json
ok $? "a signature, its share from its times"
is "$(json - other_ranks <json)" 1 "one job is not of its ranks"
is "$(json - policies 0 communicating <json)" 1 "the other is"
like "$(json - policies 1 communication <json)" '^(25|24\.9|25\.0)' \
	"a quarter of its time is communication"
# The same nodes as commplace place takes on the empty machine, in their order.
campaign two sig.map auto --max-jobs 1 --events events >/dev/null
is "$(sed -n 2p events | cut -f8 | tr -d 'n[]')" \
	"$("$commplace" place --network network.json --signature ./ring8.json \
		--nodes 4 --policy auto --json | json - hosts | tr -d n)" \
	"the nodes of commplace place"

# What jobs ask for of their nodes, on routers with two each. The first three leave one
# node each on two routers to a job that wants both on one, and may not have them; the
# next one goes before it, on the node that it does not need.
cat >asked <<-END
	JobID|Submit|ElapsedRaw|NNodes|JobName|SubmitLine
	1|0|100|1|a|
	2|0|100|46|b|
	3|0|100|47|c|sbatch --wrap=a
	4|1|100|2|d|sbatch --switches=1 --wrap=a|b
	5|2|300|1|e|
	6|3|100|3|f|sbatch --segment=2
END
echo 'Match Name=b Pattern=none Options="--segment=2 --spread-segments"' >asked.map
echo 'Match Pattern=none' >>asked.map
campaign asked asked.map blind,flat --json --events events >json
ok $? "jobs that ask for nodes"
starts() {
	awk -v policy="$1" '$1 == policy && $3 == "start" { print $4 ":" $2 }' events |
		sort | paste -sd' '
}
is "$(starts blind)" "1:0.000 2:0.000 3:0.000 4:1.000 5:100.000" \
	"blind: only numbers count"
is "$(starts flat)" "1:0.000 2:0.000 3:0.000 4:100.000 5:2.000" \
	"flat: a router is waited for"
is "$(json - too_large <json)" 1 "segments that do not divide a job are never had"
is "$(jq -c '[.policies[] | .segments, .across_domains]' json)" "[23,1,23,0]" \
	"segments are counted, and those that cross routers"
like "$(campaign asked asked.map blind,flat)" "flat +[0-9.]+ % +23 +0" "the table says so"
like "$(campaign asked asked.map blind,flat)" "1 want more nodes than there are as they ask" \
	"and who never runs"
is "$(campaign swf mix.map flat,auto+mapping --json --segment-from-signature --threads 1 | sha1sum)" \
	"$(campaign swf mix.map flat,auto+mapping --json --segment-from-signature --threads 3 | sha1sum)" \
	"segments of the traffic: the same bytes with other threads"
# Three nodes are free, one of them by itself on its router, and the first of the queue
# waits for segments of two: who has none passes it on the one that no segment has.
cat >left <<-END
	JobID|Submit|ElapsedRaw|NNodes|SubmitLine
	1|0|100|93|
	2|1|100|6|sbatch --segment=2
	3|2|300|1|
	4|2|300|1|
	5|3|50|2|sbatch --segment=2
END
echo 'Match Pattern=none' >left.map
campaign left left.map tree,leftovers --events events >/dev/null
is "$(starts tree)" "1:0.000 2:100.000 3:2.000 4:2.000 5:100.000" "tree: both pass it"
is "$(starts leftovers)" "1:0.000 2:100.000 3:2.000 4:100.000 5:3.000" \
	"leftovers: one does, and the router is there for a segment"
# Four racks of five, of which segments of four leave a node each. Two of these are free
# when a job of three is the first of the queue: it lets segments pass until they end.
cat >racks.json <<-END
	{ "format": "commplace-network", "version": 1, "name": "racks", "type": "fattree",
	  "nodes_per_router": 5, "levels": [ { "down": 4, "up": 5 } ], "nodes": "n[1-20]" }
END
cat >left <<-END
	JobID|Submit|ElapsedRaw|NNodes|SubmitLine
	1|0|100|12|sbatch --segment=4
	2|1|100|8|sbatch --segment=4
	3|2|300|2|
	4|3|190|3|
	5|4|100|16|sbatch --segment=4
END
held() {
	"$COMMPLACE" campaign --network racks.json --log left --jobs left.map \
		--policies tree,leftovers --events events >/dev/null
	starts leftovers
}
is "$(held)" "1:0.000 2:100.000 3:2.000 4:300.000 5:200.000" \
	"the first of the queue waits for what segments leave"
# With ten times as many seconds they have asked for more than that.
sed -i '5s/190/1900/' left
is "$(held)" "1:0.000 2:100.000 3:2.000 4:100.000 5:2000.000" \
	"but not where jobs without segments ask for more than that"
campaign swf mix.map blind,auto --json --segment-from-signature --domain group >json
ok "$(jq '.policies[1].segments > 100 and .policies[1].across_domains == 0 and
	.policies[0].across_domains > 0 | not | if . then 1 else 0 end' json)" \
	"in groups: auto keeps them, blind does not"

# What is done to others, by what it weighs; and by the links shared.
done_to_others() {
	campaign swf mix.map flat,auto+mapping --objective "$@" --json |
		json - policies 1 interference
}
own=$(done_to_others interference --others-weight 0)
for objective in 'interference --own-weight 0' isolation; do
	# shellcheck disable=SC2086 # an option behind it
	ok "$(awk -v a="$(done_to_others $objective)" -v b="$own" \
		'BEGIN { print !(a < b) }')" "$objective: others are slowed down less"
done
done_testing
