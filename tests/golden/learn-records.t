#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace learn --from records`: jobs of a trial whose times are planted.
. "${0%/*}/golden.bash"
cd "$work" || bail "no $work"
export LC_ALL=C
jobs=400
mkdir -p site/profiles state/ended state/running hosts
cp "$etc/networks/torus-4x4x4.json" network.json
cp "$etc/signatures/halo-16.json" site/profiles/halo.json
cat >commplace.conf <<-END
NetworkFile=$work/network.json
ProfileDir=$work/site/profiles
StateDir=$work/state
END
export COMMPLACE_CONF=$work/commplace.conf
names=$("$commplace" place --network network.json --signature ./site/profiles/halo.json \
	--nodes 64 --policy linear --json 2>/dev/null | json - hosts | tr -d '[] "')
[ -n "$names" ] || names=$(sed -n 's/.*"nodes": *"\([^"]*\)".*/\1/p' network.json)

# Eight hosts drawn for each job, in files of hosts a rank, and records.
awk -v jobs=$jobs -v names="$names" -v work="$work" 'function next_one() {
		x = (x * 16807) % 2147483647
		return x / 2147483647
	}
	BEGIN {
		x = 4711
		n = split(names, name, ",")
		for (j = 1; j <= jobs; j++) {
			hosts = blocks = ""
			for (k = 1; k <= n; k++)
				order[k] = k
			for (k = 1; k <= 8; k++) {
				at = k + int(next_one() * (n - k + 1))
				swap = order[at]; order[at] = order[k]; order[k] = swap
				host = name[swap]
				printf "%s\n%s\n", host, host >("hosts/" j)
				hosts = hosts (k > 1 ? ", " : "") "\"" host "\""
				blocks = blocks (k > 1 ? ", " : "") k - 1 ", " k - 1
			}
			close("hosts/" j)
			printf "{ \"format\": \"commplace-decision\", \"version\": 1, " \
				"\"job\": %d, \"time\": %d, \"uid\": 1000, " \
				"\"partition\": \"large\", \"profile\": \"halo\", " \
				"\"network_file\": \"%s/network.json\", " \
				"\"routing\": \"dimension-order\", " \
				"\"outcome\": \"placed\", \"reason\": \"\", " \
				"\"arm\": \"%s\", \"nodes_wanted\": 8, " \
				"\"ranks_per_node\": 2, \"hosts\": [%s], " \
				"\"rank_host\": [%s], \"candidates\": [], " \
				"\"background\": [] }\n", j, 1700000000 + j, work,
				j % 2 ? "stock" : "commplace", hosts, blocks \
				>("state/ended/" j ".json")
			close("state/ended/" j ".json")
		}
	}'
files=()
for ((j = 1; j <= jobs; j++)); do
	files+=(--rank-file "hosts/$j")
done
"$commplace" features --network network.json --signature ./site/profiles/halo.json \
	--ranks-per-node 2 "${files[@]}" >features.csv
is "$(wc -l <features.csv)" "$((jobs + 1))" "features of all places" || bail "no features"

# sacct PART-OF-HOPS PART-OF-LINK_MAX: elapsed times with noise, and one job in
# thirty that hangs; jobs are to run 5 minutes and longer ones later.
sacct() {
	awk -F, -v hops="$1" -v link="$2" -v jobs=$jobs 'function next_one() {
			x = (x * 16807) % 2147483647
			return x / 2147483647
		}
		NR == 1 {
			for (i = 1; i <= NF; i++)
				at[$i] = i
			x = 99
			print "JobIDRaw|State|ElapsedRaw|Comment"
			next
		}
		{
			h[NR - 1] = $at["hops"]; l[NR - 1] = $at["link_max"]
			mh += $at["hops"] / jobs; ml += $at["link_max"] / jobs
		}
		END {
			for (j = 1; j <= jobs; j++) {
				z = -6
				for (k = 0; k < 12; k++)
					z += next_one()
				t = 3000 * (1 + j / jobs) * exp(0.01 * z)
				t *= 1 + hops * (h[j] / mh - 1) + link * (l[j] / ml - 1)
				if (next_one() < 0.03)
					t *= 10
				printf "%d|COMPLETED|%d|commplace: loop=%.6g rate=%.6g\n",
					j, t, t / 3, 1e6 / t
			}
		}' features.csv
}
sacct 0.5 0 >hops.txt
sacct 0 0 >chance.txt
sacct 0 0.5 >link.txt

learn=("$commplace" learn --from records --sacct hops.txt)
"${learn[@]}" --write-table jobs.csv --json >json 2>err
ok $? "a model of what no plain figure shows" || diag "$(cat err json)"
is "$(json json better) $(json json samples) $(json json test jobs)" \
	"true $jobs $((jobs / 10))" "of all jobs, tested on the last tenth"
awk -v r="$(json json test right)" -v a="$(json json test plain 0 lead)" \
	-v e="$(json json test plain 0 error)" 'BEGIN { exit !(r > 0.75 && a > 2 * e && e > 0) }'
ok $? "which it puts in order" || diag "$(cat json)"
is "$(json json test plain 0 feature) $(json json test plain 1 feature)" \
	"link_max model" "better than both plain figures"
cut -d, -f4- features.csv | tail -n +2 | sort >one
cut -d, -f7-20 jobs.csv | tail -n +2 | sort >other
is "$(cmp one other 2>&1)" "" "features are those of commplace features" ||
	diag "$(head -2 one other)"
is "$(ls site)" profiles "without --name nothing is installed"

"${learn[@]}" --table jobs.csv --sacct x 2>err
is "$?" 2 "a table stands for records"
"$commplace" learn --from records --table jobs.csv --json >again
is "$(cmp json again 2>&1)" "" "the table tells the same" || {
	diag "$(diff json again)"
}
sed '1s/$/,note/; 2,$s/$/,x/' jobs.csv >wide.csv
"$commplace" learn --from records --table wide.csv --json >again
ok $? "other columns are passed over"
cut -d, -f1-7,10- jobs.csv >narrow.csv
"$commplace" learn --from records --table narrow.csv >text
ok $? "features that are not there are not used"
like "$(cat text)" "the model +[0-9.]+ %.*link_max +[0-9.]+ % +\\+[0-9.]+ % +[0-9.]+ %" \
	"what is told of the test"
"$commplace" learn --from records --table jobs.csv --features hops,queues -o two.json \
	>text
like "$?,$(cat text)" "^0,.*hops +0\\.[89]" "the features that matter"
[ -s two.json ]
ok $? "a file of it"
place=("$commplace" place --network network.json --signature ./site/profiles/halo.json
	--nodes 8 --objective learned --policy auto)
"${place[@]}" --time-model two.json --json >placed
ok $? "decisions go by it"

# Refused: nothing is there, or nothing that a plain figure does not show.
for case in chance link; do
	"$commplace" learn --from records --sacct $case.txt --name site -o none.json \
		>text 2>err
	is "$?,$(wc -l <err)" "1,1" "refused: $case"
	like "$(cat err)" "no model is written: of [0-9]+ pairs of the last 40 jobs it has \
[0-9.]+ % in the right order, and (link_max|model) [0-9.]+ %; .* lead is [+-][0-9.]+ %, with a \
standard error of [0-9.]+ %" "refused: $case: why"
	[ ! -e none.json ] && [ ! -e site/models ]
	ok $? "refused: $case: nothing is written"
done
"$commplace" learn --from records --sacct chance.txt --json >json 2>/dev/null
is "$?,$(json json better),$(json json features)" "1,false," "refused: as JSON"

# Versions.
"${learn[@]}" --name site >text
ok $? "a model with a name"
like "$(cat text)" "version 1 of site is in use; TimeModel=$work/site/models/site.json" \
	"where it is"
"${learn[@]}" --name site --method boosted --json >json
is "$?,$(json json installed version)" 0,2 "the next version"
"${place[@]}" --time-model site/models/site.json --json >placed
ok $? "which decides"
like "$("$commplace" learn --name site --versions)" \
	"1 +- +[0-9TZ:-]+ +extra-trees +400 +[0-9.]+ %"$'\n'" +2 +yes .*boosted" "the list"
"$commplace" learn --name site --version 1 >out
is "$?,$(cat out)" "0,site: version 1 is in use again" "rolled back by name"
is "$(cmp site/models/site.json site/models/.site.v1.json 2>&1)" "" "to the same bytes"
"$commplace" learn --name site --versions --json >json
is "$(json json versions 0 in_use) $(json json versions 1 in_use)" "true false" \
	"the list says so"
"$commplace" learn --name site --version 7 2>err
is "$?,$(cat err)" "1,commplace learn: site has no version 7; there are: 1, 2" "no such one"
"${learn[@]}" --name site --keep 1 --model-dir "$work/elsewhere" >/dev/null
is "$?,$(ls -A elsewhere | paste -sd' ')" "0,.lock .site.v1.json site.json" "another folder"

# What jobs report.
"${learn[@]}" --seconds loop --json >json
is "$?,$(json json better)" 0,true "seconds that jobs report"
"${learn[@]}" --target merit --merit rate --json >json
is "$?,$(json json better),$(json json target)" 0,true,merit "a merit"
"${learn[@]}" --target merit --json 2>err >json
is "$?,$(cat err)" "1,commplace learn: 0 jobs; at least 100 are needed; 400 reported nothing" "that nobody reports" ||
	diag "$(cat json)"

# Jobs that cannot be learned from.
sed -i 's/"background": \[\]/"background": [9999]/' state/ended/7.json
sed -i 's/"profile": "halo"/"profile": "gone"/' state/ended/8.json state/ended/9.json
sed -i 's/"nodes_wanted": 8/"nodes_wanted": 9/' state/ended/10.json
sed -i 's/"background": \[\]/"background": [21]/' state/ended/20.json
sed -i 's/^11|COMPLETED/11|FAILED/; /^12|/d; s/^13|.*/13|RUNNING|5|/' hops.txt
"${learn[@]}" --json --write-table less.csv >json
is "$?,$(json json samples)" "0,$((jobs - 7))" "the others are learned from"
is "$(json json left_out unfinished) $(json json left_out unknown) \
$(json json left_out unplaced) $(json json left_out alone)" "1 1 3 1" "those are counted"
awk -F, '$6 == 1700000020 { n++; if (NR == FNR) before = $11; else after = $11 }
	END { exit !(n == 2 && after > before) }' jobs.csv less.csv
ok $? "a job beside loads links"
like "$("${learn[@]}")" "3 jobs are left out: where they ran is not known; job [789]: " \
	"and told of"
done_testing
