#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace explain` and `status` on a state directory made by hand.
. "${0%/*}/golden.bash"
cp -r "$here/explain/." "$work"
chmod -R u+w "$work"
cd "$work" || bail "no $work"
export COMMPLACE_CONF=$work/commplace.conf LC_ALL=C
cat >commplace.conf <<-END
NetworkFile=$work/network.json
ProfileDir=$work/profiles
StateDir=$work/state
Seed=1
END

# same FILE NAME COMMAND...: stdout is the file's text; @W@ is the directory
same() {
	local file=$1 name=$2 got want
	shift 2
	got=$("$commplace" "$@" 2>&1)
	ok $? "$name: exit code 0"
	want=$(sed "s|@W@|$work|g" "$here/explain/$file")
	is "$got" "$want" "$name"
}

same placed.txt "a placed job" explain 17
# Fault 47: seconds of another routing than the one in force.
jq '.job = 18 | .routing = "static-indirect" | .seconds = 2 | .stock_seconds = 3
	| .candidates[1].seconds = 2' state/running/17.json >state/running/18.json
text=$("$commplace" explain 18)
like "$text" "predicted +2 s of communication under minimal routing
" "whose seconds they are"
like "$text" "
communication, minimal routing +3 +2 " "against stock, too"
like "$text" "  time \(s\), minimal routing  " "and in the table of candidates"
rm state/running/18.json
same stock.txt "a stock job that has ended" explain 20
same default-order.txt "a job in default order" explain 19
same hostfile.txt "host file" explain 17 --format hostfile
same rankfile.txt "rank file" explain --format=rankfile 17
same status.txt "status" status --links
is "$("$commplace" explain 17 --json)" \
	"$(cd / && "$commplace" explain --state-dir "$work/state" --json 17)" \
	"--json: the options may come first"

# The global link of each direction: 0 -> 1 carries job 19, 1 -> 0 nothing but
# job 17's, whose rank 0 runs on n0: both go 0 -> 1.
"$commplace" status --json --links >status.json
is "$(json status.json links global max)" 2000 "status --json: bytes of both jobs"
is "$(json status.json max_congestion)" 0.5 "status --json: over 4000 bytes/s"
is "$(json status.json mean_congestion)" 0.25 "status --json: mean of two links"
is "$(json status.json busiest 0 from)-$(json status.json busiest 0 to)" 0-1 \
	"status --json: the busiest link"
is "$(json status.json jobs 1 hosts)" n1,n3 "status --json: hosts"

"$commplace" status --state now.json
is "$(json now.json jobs 0 signature)" "$work/profiles/pair.json" \
	"--state: the profile as a path"
is "$(json now.json jobs 0 rank_to_host)" n0,n2 "--state: rank order"
"$commplace" explain 17 --state then.json --json >explain.json
is "$(json then.json jobs 0 id)" 12 "explain --state: the background of then"
like "$(json explain.json replay)" "--running then.json$" \
	"and the replay line uses it"
is "$(json explain.json ended)" false "--json: running"
is "$(json explain.json rank_to_host)" n0,n2 "--json: host of each rank"

# A job runs before its record is on a slow disk.
mv state/running/17.json late.json
unlike "$("$commplace" explain 17 2>&1)" "^Job" "no record yet"
(sleep 0.5; cp late.json state/running/17.json.tmp
	mv state/running/17.json.tmp state/running/17.json) &
like "$("$commplace" explain 17 --wait 30 2>&1)" "^Job 17 " "--wait: it comes"
wait $!
rm state/running/17.json
(sleep 0.5; mv late.json state/running/17.json) &
is "$(SLURM_JOB_ID=17 "$commplace" explain 17 --format hostfile 2>&1 |
	paste -sd' ')" "n0 n2" "within its job nobody needs to ask for that"
wait $!

# Fault 26: an order that no mapper made was called "greedyallc: not better".
sed 's/"map_max_before": 0.375/"map_max_before": 0/' state/running/19.json |
	sed 's/"map_max_after": 0.25/"map_max_after": 0/' >state/ended/21.json
sed -i 's/"job": 19/"job": 21/' state/ended/21.json
like "$("$commplace" explain 21)" "mapping +none: ranks in blocks on the nodes as they are above" \
	"nothing was mapped: ranks are as the policy lists its nodes"
sed -i 's/"job": 21,/& "own_order": true,/' state/ended/21.json
got=$("$commplace" explain 21)
like "$got" "mapping +none: the ranks are in Slurm's order" \
	"or as the user has them: explain says so"
unlike "$got" "not better" "and blames no mapper"

# Candidates judged with their rank order, the stock nodes among them.
sed 's/"job": 17/"job": 27/; s/"stock_mean/"stock_mapped_max_congestion": 0.25,\n&/
	s/"policy": "random-groups", "seed": 1, "evaluated": false,/"policy": "stock", "seed": 1, "evaluated": true, "mapped": true, "mapped_max_congestion": 0.25,/
	s/"hop_bytes": 900/&, "mapped": true, "mapped_max_congestion": 0.125/
	s/"map_max_after": 0.25/"map_max_after": 0.125/' \
	state/running/17.json >state/ended/27.json
got=$("$commplace" explain 27)
like "$got" "busiest link, ranks mapped +0.25 +0.125 +-50.0 %" \
	"explain: against stock, both mapped"
like "$got" "busiest link, in blocks +0.5 +0.375 +-25.0 %" "and before mapping"
like "$got" "hop-bytes +mapped \(s\)" "candidates, too"
like "$got" "\* +random-nodes +2 .* 900 +0.125" "that taken"
like "$got" " --rank-mapping greedyallc --stock 'n\[0-1\]' " \
	"and what to repeat it with"
"$commplace" explain 27 --html explain.html
like "$(grep -A3 "against stock Slurm" explain.html)" "-50.0 %" \
	"--html: mapped, too"
# Row 58: mapped again for the tasks that each host got; one figure, everywhere.
sed -i 's/"map_max_before": 0.375/"map_max_before": 0.4/
	s/"map_max_after": 0.125/"map_max_after": 0.2/' state/ended/27.json
got=$("$commplace" explain 27)
like "$got" "busiest link, ranks mapped +0.25 +0.2 +-20.0 %" \
	"explain: against stock, as the ranks run"
like "$got" "busiest link, in blocks +0.5 +0.4 +-20.0 %" "and in default order"
like "$got" "greedyallc: busiest link 0.4 s in default order, 0.2 s mapped" \
	"the mapping has the same figures"
sed -i 's/"mapping": "greedyallc"/"mapping": "linear"/
	s/"mapping_kept_default": false/"mapping_kept_default": true/' \
	state/ended/27.json
unlike "$("$commplace" explain 27)" "not better" "linear was compared with nothing"
rm state/ended/27.json

# Fault 20: text of users reaches no terminal as it is.
sed 's/"job_name": "solver"/"job_name": "a\\u009b2J\\u202eb"/; s/"job": 19/"job": 23/' \
	state/running/19.json >state/ended/23.json
like "$("$commplace" explain 23)" "^Job 23 \(a\?2J\?b\)," \
	"explain: names are made printable"

# Fault 26: one job on a host that the network lacks, or without its profile,
# made status fail whole.
sed 's/"job": 17/"job": 24/; s/"n0"/"n77"/' state/running/17.json \
	>state/running/24.json
sed 's/"job": 17/"job": 25/; s/"profile": "pair"/"profile": "gone"/' \
	state/running/17.json >state/running/25.json
got=$("$commplace" status 2>&1)
ok $? "status goes on without jobs that it cannot count"
like "$got" " 24  pair +2 +2 +- +- +n\[2,77\]" "and lists them"
like "$got" "job 24 is not in the load: host n77 is not in the network two" \
	"with the reason: a host"
like "$got" "job 25 is not in the load: .*/profiles/gone\.json: No such" \
	"a profile"
like "$got" "global +2 +1 +1 kB +2 kB +0\.5" "the others are counted"
"$commplace" status --json >status.json
like "$(json status.json jobs 2 left_out)" "host n77" "status --json says it"
is "$(json status.json max_congestion)" 0.5 "status --json: the others' load"
rm state/running/2[45].json

# Fault 26: ids of array elements and het components were refused.
sed 's/"job": 19/"job": 26, "shown_as": "18_3"/' state/running/19.json \
	>state/running/26.json
sed 's/"job": 19/"job": 27, "shown_as": "18+1"/' state/running/19.json \
	>state/ended/27.json
like "$("$commplace" explain 18_3)" "^Job 26 = 18_3 \(solver\)," \
	"an element of a job array by the id that Slurm shows"
like "$("$commplace" explain 18+1)" "^Job 27 = 18\+1 \(solver\).* ended" \
	"a component of a heterogeneous job"
is "$("$commplace" explain 18_3 --json | json - shown_as)" 18_3 \
	"--json has that id"
like "$("$commplace" explain 18_33 2>&1)" "no record of job 18_33 in" \
	"an element that has none"
rm state/running/26.json

# What jobs tell of a profile is the same in whatever order a folder has them.
list() {
	local id=30 stock
	rm -rf used
	mkdir -p used/running used/ended
	for stock; do
		sed "s/\"job\": 17/\"job\": $((++id))/; s/\(\"map_max_after\": \)[^,]*/\11/
			s/\(\"stock_max_congestion\": \)[^,]*/\1$stock/" \
			state/running/17.json >used/ended/$id.json
	done
	COMMPLACE_CONF=$work/used.conf "$commplace" signature list --json
}
sed "s|^StateDir=.*|StateDir=$work/used|" commplace.conf >used.conf
list 1.1 1.3 7 23 310 >one.json
is "$(json one.json profiles 0 jobs)" 5 "signature list --json: jobs of a profile"
is "$(json one.json profiles 0 last_used)" 1795254000 "and the last of them"
is "$(json one.json profiles 0 predicted_gain | cut -c1-6)" 0.6264 \
	"and what they gained"
for order in "1.1 1.3 7 310 23" "1.1 1.3 23 310 7" "310 23 7 1.3 1.1" \
	"23 310 7 1.3 1.1" "7 310 23 1.3 1.1"; do
	# shellcheck disable=SC2086 # words
	list $order >other.json
	ok "$(cmp -s one.json other.json; echo $?)" "the same with $order"
done

# A record that cannot be read is counted, not fatal.
echo '{' >state/running/18.json
like "$("$commplace" status)" "skipped +1 unreadable" "status: unreadable records"
is "$("$commplace" status --json | json - skipped)" 1 "status --json: skipped"
# Without a configuration.
rm commplace.conf
like "$("$commplace" explain 17 --state-dir state)" "outcome +placed" \
	"explain with --state-dir alone"
like "$("$commplace" status --state-dir state)" "jobs +2 running" \
	"status with --state-dir alone"
done_testing
