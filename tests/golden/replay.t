#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace replay` on records made of what `commplace place` decides, which
# evaluates candidates by another way.
. "${0%/*}/golden.bash"
cd "$work" || bail "no $work"
export COMMPLACE_CONF=$work/commplace.conf LC_ALL=C
mkdir -p profiles state/running state/ended
cat >commplace.conf <<-END
NetworkFile=$work/network.json
ProfileDir=$work/profiles
StateDir=$work/state
END
cat >network.json <<-END
{ "format": "commplace-network", "version": 1, "name": "df", "type": "dragonfly",
  "groups": 6, "rows": 2, "columns": 4, "nodes_per_router": 2,
  "global_links_per_group_pair": 2, "nodes": "n[0-95]" }
END
# The smallest states the time of its run.
for size in 4 8 24; do
	time=
	[ "$size" != 4 ] || time='"time": 2e-6, "compute_time": 1e-6,'
	cat >profiles/ring$size.json <<-END
	{ "format": "commplace-signature", "version": 1, "ranks": $size,
	  "phases": [ { "name": "p", "weight": 10, $time "pattern": { "type": "stencil",
	    "dims": [$size], "points": 3, "periodic": true, "bytes": 1000 } } ] }
	END
done

# record JOB STATE-FOLDER PROFILE NODES POLICY FREE BACKGROUND...: decide and
# write the record that slurmctld would
record() {
	local job=$1 folder=$2 profile=$3 nodes=$4 policy=$5 free=$6
	shift 6
	"$commplace" place --network network.json --nodes "$nodes" --seed 7 \
		--signature "profiles/$profile.json" --policy "$policy" \
		--free "$free" --running then.json --rank-mapping quick \
		${keep:+--keep-whole "$keep" --keep-whole-price 30} \
		${reaches:+--order-reaches "$reaches"} --json \
		>place.json ||
		return
	perl -MJSON::PP -0777 -e '
		sub mapped {
			my $m = shift or return ();
			return (mapped => JSON::PP::true,
				mapped_max_congestion => $m->{max_congestion},
				mapped_mean_congestion => $m->{mean_congestion},
				mapped_hop_bytes => $m->{hop_bytes});
		}
		my $d = decode_json(<STDIN>);
		my ($job, $profile, $nodes, $policy, $free, $net, @others) = @ARGV;
		my $ranks = $profile =~ s/\D//gr;
		my $each = int(($ranks + $nodes - 1) / $nodes);
		my @candidates = map { { policy => $_->{policy}, seed => $_->{seed},
			evaluated => JSON::PP::true, mapped($_->{mapped}),
			broken => ($_->{broken} // 0),
			barred => ($_->{barred} // JSON::PP::false),
			plain_max_congestion => ($_->{plain_max_congestion} // 0),
			map { $_->[0] => $_->[1] } (
				["max_congestion", $_->{max_congestion}],
				["mean_congestion", $_->{mean_congestion}],
				["hop_bytes", $_->{hop_bytes}]) } }
			@{$d->{candidates}};
		print encode_json({ format => "commplace-decision", version => 1,
			job => $job + 0, time => 4000000000, uid => 0,
			profile => $profile, outcome => "placed", reason => "",
			policy_asked => $policy, policy => $d->{policy}, seed => 7,
			objective => "max-congestion", routing => "static-direct",
			network_file => $net, nodes_wanted => $nodes + 0,
			ranks_per_node => $each, free_hosts => $free,
			required_hosts => "", cut_short => JSON::PP::false,
			decision_ms => 1, stock_hosts => "",
			run_seconds => $d->{run_seconds},
			stock_max_congestion => -1, stock_mean_congestion => -1,
			($ENV{reaches} ? (order_reaches => $ENV{reaches},
				order_known_by => "none") : ()),
			mapping => "quick", mapping_kept_default => JSON::PP::true,
			map_max_before => 0, map_max_after => 0,
			background => [ map { $_ + 0 } @others ],
			($d->{keep_whole} ? (map { ($_ eq "units" ? "keep_whole" :
				$_) => $d->{keep_whole}{$_} }
				keys %{$d->{keep_whole}}) : ()),
			hosts => $d->{hosts}, candidates => \@candidates,
			rank_host => [ map { int($_ / $each) } 0 .. $ranks - 1 ] })' \
		"$job" "$profile" "$nodes" "$policy" "$free" \
		"$work/network.json" "$@" <place.json >"state/$folder/$job.json"
}

echo '{"jobs": []}' >then.json
record 1 ended ring24 12 linear 'n[0-95]'
ok $? "a job on the empty machine"
"$commplace" explain 1 --state-dir state --json >/dev/null
ok $? "its record is one"
cat >then.json <<-END
{"jobs": [{"id": 1, "signature": "$work/profiles/ring24.json",
  "hosts": [$(json state/ended/1.json hosts | sed 's/[^,]*/"&"/g')],
  "ranks_per_node": 2}]}
END
record 2 running ring4 2 auto 'n[20-95]' 1
ok $? "a small one beside it"
record 3 running ring8 8 RDN 'n[20-60]' 1
ok $? "one of a random policy"
record 4 running ring24 24 traffic 'n[12-95]' 1
ok $? "one of a search"
sed 's/"outcome":"placed"/"outcome":"stock"/; s/"job":3/"job":5/' \
	state/running/3.json >state/ended/5.json

output=$("$commplace" replay)
ok $? "replay: exit code 0"
is "$(sed 's/ \+/ /g; s/ $//' <<<"$output")" "job policy verdict why
2 $(json state/running/2.json policy) equal
3 random-nodes equal
4 $(json state/running/4.json policy) equal
1 linear equal

4 equal, 0 different, 0 not repeatable; nothing was decided for 1" \
	"all come out equal"
is "$("$commplace" replay state --json | json - equal)" 4 \
	"a state directory, as JSON"
is "$(cd / && "$commplace" replay "$work/state/running" --json | json - equal)" \
	3 "a folder of records"
is "$("$commplace" replay state/running/2.json state/running/4.json --json |
	json - equal)" 2 "two records"
cp state/running/2.json elsewhere.json
is "$("$commplace" replay elsewhere.json --state-dir state --json |
	json - equal)" 1 "a record elsewhere, with --state-dir"

# What differs is said.
# differs WHAT WHY SED-EXPRESSION
differs() {
	local what=$1 why=$2 got rc
	sed "$3" state/running/2.json >other.json
	got=$("$commplace" replay other.json --state-dir state 2>&1)
	is $? 1 "$what: exit code 1"
	like "$got" "$why" "$what: says so"
}
host=$(json state/running/2.json hosts 0)
differs "another node" "different +node 0 is $host, in the record n95" \
	"s/\"hosts\":\[\"$host\"/\"hosts\":[\"n95\"/"
differs "another number" "different +candidate .*hop-bytes .*in the record" \
	's/"hop_bytes":[0-9.e+]*/"hop_bytes":123/g'
is "$(json state/running/2.json run_seconds)" 2e-05 \
	"what others send in its run is its background"
differs "as if it had no times" "different +candidate .*in the record" \
	's/"run_seconds":[0-9.e+-]*/"run_seconds":0/'
sed 's/"policy":"[a-z-]*"/"policy":"blocked"/g' state/running/3.json >other.json
like "$("$commplace" replay other.json --state-dir state)" \
	"different +chosen is random-nodes, in the record blocked" \
	"another policy: says so"
differs "a decision cut short" "not repeatable +MaxDecisionTime had cut it short" \
	"s/\"cut_short\":false/\"cut_short\":true/;
	s/\"hosts\":\[\"$host\"/\"hosts\":[\"n95\"/"
differs "a background job without a record" \
	"not repeatable +background of job 2: no record of job 99 in state" \
	's/"background":\[1\]/"background":[99]/'
differs "a profile that is gone" "not repeatable.*none.json" \
	's/"profile":"ring4"/"profile":"none"/'
differs "a background job that was requeued" \
	"not repeatable +background of job 2: job 1 ran again since" \
	's/4000000000/3999999999/; s/"hop_bytes":[0-9.e+]*/"hop_bytes":123/g'
sed -i 's/4000000000/1000000000/' state/ended/1.json
sed 's/4000000000/1000000000/; s/"hop_bytes":[0-9.e+]*/"hop_bytes":123/g' \
	state/running/2.json >other.json
like "$("$commplace" replay other.json --state-dir state)" \
	"different +\(.*(ring4|network)\.json was changed since\)" \
	"files that are younger than the decision are named"
# Damaged ones do not keep the others from being made again.
echo '{' >state/ended/7.json
mkdir state/ended/8.json
output=$("$commplace" replay 2>&1)
is $? 1 "damaged records: exit code 1"
like "$output" "
7 +not repeatable +.*7\.json.*
8 +not repeatable +.*8\.json: is a directory.*
4 equal, 0 different, 2 not repeatable" "each is said, and the others are made again"
is "$("$commplace" replay --json | json - records 5 verdict)" "not repeatable" \
	"in JSON, too"
rm -r state/ended/7.json state/ended/8.json
# Units that are kept whole, and what that costs.
keep=group
record 9 running ring24 12 traffic 'n[13-15,19-95]' 1
ok $? "one that keeps groups whole"
is "$("$commplace" replay state/running/9.json --json | json - equal)" 1 \
	"it comes out equal"
like "$("$commplace" explain 9)" "
kept whole   0 of the wholly free units \(group\) broken" "explain tells"
like "$("$commplace" explain 9 --state then.json)" \
	"--keep-whole group --keep-whole-price 30" "and how to repeat it"
"$commplace" explain 9 --html page.html
like "$(cat page.html)" "kept whole.*of the wholly free units" "so does the page"
sed 's/"broken":[0-9]*/"broken":7/g' state/running/9.json >other.json
like "$("$commplace" replay other.json --state-dir state)" \
	"different +candidate " "other units broken: says so"
sed 's/"price":[0-9.e-]*/"price":0.25/' state/running/9.json >other.json
like "$("$commplace" replay other.json --state-dir state)" \
	"different +price 0, in the record 0.25" "another price: says so"
sed 's/"keep_whole":"group"/"keep_whole":"board"/' state/running/9.json >other.json
like "$("$commplace" replay other.json --state-dir state)" \
	"not repeatable +units to be kept whole: .*no units 'board'" \
	"units that the network has not: says so"
keep=
# The rank order may not arrive, or does not; hosts are in Slurm's order in the list
# of free ones, which is not that of the network here.
turned='n[60-95,13-15,19-59]'
export reaches
for reaches in unknown no; do
	record 10 running ring24 12 traffic "$turned" 1
	is "$("$commplace" replay state/running/10.json --json | json - equal)" 1 \
		"order_reaches $reaches comes out equal"
	like "$("$commplace" explain 10 --state then.json)" \
		"--rank-mapping .* --order-reaches $reaches " "and how to repeat it"
done
is "$("$commplace" place --network network.json --nodes 12 --policy traffic \
	--signature profiles/ring24.json --free "$turned" --order-reaches no --json |
	json - hosts | tr , '\n' | perl -lne '/(\d+)/; print $1 >= 60 ? $1 - 60 : $1 + 36' |
	sort -nc && echo in order)" "in order" "no: nodes in the order of --free"
reaches=unknown
record 10 running ring24 12 auto "$turned" 1
like "$("$commplace" explain 10)" "
rank order   not known to arrive \(no step of such a job of the user has shown it yet\);\
 the nodes are good with and without it, and without it no worse than Slurm's
" "explain says what was assumed"
"$commplace" explain 10 --html page.html
like "$(cat page.html)" "rank order.*not known to arrive" "so does the page"
ok "$(grep -q '"barred":true' state/running/10.json; echo $?)" "some candidates are barred"
sed 's/"barred":true/"barred":false/' state/running/10.json >other.json
like "$("$commplace" replay other.json --state-dir state)" \
	"different +candidate " "another one barred: says so"
# said REACHES BY ARRIVED: the line of explain
said() {
	sed "s/\"order_reaches\":\"unknown\"/\"order_reaches\":\"$1\"/
		s/\"order_known_by\":\"none\"/\"order_known_by\":\"$2\"${3:+,\"order_arrived\":\"$3\"}/" \
		state/running/10.json >state/ended/11.json
	sed -i 's/"job":10/"job":11/' state/ended/11.json
	"$commplace" explain 11 | sed -n 's/^rank order   //p'
}
is "$(said yes srun)" "counted on (srun starts the job)" "srun's"
is "$(said yes step yes)" "counted on (steps of such jobs of the user took it); a step of\
 the job took it" "shown by steps"
is "$(said no step no)" "not counted on (steps of such jobs of the user did not take it);\
 judged in blocks in Slurm's order; the job's steps did not take it" "and the contrary"
is "$(said no user)" "not counted on (the job's user states another one); judged in blocks\
 in Slurm's order" "the user's"
is "$(said yes site)" "counted on (OrderReaches in commplace.conf)" "the site's"
is "$(said unknown step unknown)" "not known to arrive (such jobs of the user have a\
 launcher of their own); the nodes are good with and without it, and without it no worse\
 than Slurm's; the job has a launcher of its own" "mpirun's"
rm -r state/running/10.json state/ended/11.json
reaches=
rm state/running/9.json
mkdir none
is "$("$commplace" replay none)" \
	"0 equal, 0 different, 0 not repeatable; nothing was decided for 0" \
	"an empty folder"
done_testing
