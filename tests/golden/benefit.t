#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace benefit` of tables whose gain is known.
. "${0%/*}/golden.bash"
cd "$work" || bail "no $work"
export LC_ALL=C

# table GAIN DEVIATION JOBS: two profiles at two sizes, a job a line; noise is a sum
# of numbers of a generator that is the same everywhere.
table() {
	awk -v gain="$1" -v s="$2" -v n="$3" 'function next_one() {
			x = (x * 16807) % 2147483647
			return x / 2147483647
		}
		BEGIN {
			x = 12345
			print "profile,ranks,nodes,arm,seconds"
			for (i = 0; i < n; i++) {
				z = -6
				for (k = 0; k < 12; k++)
					z += next_one()
				placed = next_one() < 0.5
				large = next_one() < 0.5
				t = 1000 * (1 + large) * exp(s * z)
				if (placed)
					t *= 1 - gain
				printf "%s,%d,%d,%s,%.6f\n",
					next_one() < 0.5 ? "milc" : "vasp",
					large ? 256 : 64, large ? 16 : 4,
					placed ? "commplace" : "stock", t
			}
		}'
}

cat >few.csv <<'END'
profile,ranks,nodes,arm,seconds
a,64,4,stock,100
a,64,4,stock,400
a,64,4,commplace,150
END
"$commplace" benefit --table few.csv --json >json
ok $? "a few jobs"
is "$(json json groups 0 gain) $(json json overall gain)" "0.25 0.25" \
	"the gain is 1 - the ratio of geometric means"
is "$(json json groups 0 jobs stock) $(json json groups 0 jobs commplace)" "2 1" \
	"jobs by arm"
is "$(json json groups 0 low),$(json json groups 0 verdict)" ",unknown" \
	"no interval yet"

for case in "0.05 better" "-0.05 worse" "0 unknown"; do
	read -r gain verdict <<<"$case"
	table "$gain" 0.15 3000 >t.csv
	"$commplace" benefit --table t.csv --json >json
	is "$(json json overall verdict)" "$verdict" "a gain of $gain is $verdict"
	awk -v g="$gain" -v l="$(json json overall low)" \
		-v h="$(json json overall high)" 'BEGIN { exit !(l < g && g < h) }'
	ok $? "its interval holds it"
	is "$(json json groups 3 profile) $(json json groups 3 ranks)" "vasp 256" \
		"groups are in order"
done
table 0.05 0.15 3000 >t.csv
"$commplace" benefit --table t.csv >text
like "$(tail -n +6 text)" "over all +[0-9]+ +[0-9]+ +\\+[456]\\.[0-9] %.* better +0 " \
	"the table ends with all of them"
{ head -1 t.csv; tail -n +2 t.csv | tac; } >turned.csv
grep -v drift text >plain
"$commplace" benefit --table turned.csv | grep -v drift | cmp - plain
ok $? "lines in another order tell the same"
awk -F, -v OFS=, '{ print $5, $4, $3, $2, $1 }' t.csv >columns.csv
"$commplace" benefit --table columns.csv | cmp - text
ok $? "and so do columns"

awk -F, -v OFS=, 'NR == 1 { print $0, "energy", "merit", "predicted"; next }
	{ print $0, 3 * $5, 1e6 / $5, 0.1 }' t.csv >more.csv
"$commplace" benefit --table more.csv --json >json
awk -v a="$(json json overall energy gain)" -v b="$(json json overall gain)" \
	'BEGIN { exit !(a > 0.03 && (a - b) ^ 2 < 1e-12) }'
ok $? "energy gains as seconds do"
is "$(json json overall merit verdict)" better "more merit is better"
is "$(json json overall predicted) $(json json calibration groups)" "0.1 4" \
	"predicted gains"
awk -v s="$(json json calibration slope)" -v e="$(json json calibration error)" \
	'BEGIN { exit !(s > 0.487 - 3 * e && s < 0.487 + 3 * e) }'
ok $? "half of which was measured"

{
	table 0.1 0.1 1000
	table -0.1 0.1 1000 | tail -n +2
} >drift.csv
"$commplace" benefit --table drift.csv >text
like "$(cat text)" "drift: the gain was \\+[0-9.]+ % in the first half of the jobs and \
-[0-9.]+ % in the second" "drift is told"

"$commplace" benefit --table t.csv --html page.html --plot gains.svg \
	--format openmetrics -o metrics >out
is "$?,$(wc -c <out)" "0,0" "files alone"
like "$(cat metrics)" "commplace_trial_gain_ratio\{profile=\"milc\"\} 0\\.[0-9]+
.*commplace_trial_gain_ratio 0\\.0[0-9]+
.*# EOF" "metrics"
like "$(cat page.html)" "<svg.*Gain in elapsed time.*</svg>.*vasp" "a page"
like "$(cat page.html)" "<footer>commplace. Gains are measured" "which says what it shows"
like "$(cat gains.svg)" "^<svg .*over all.*</svg>" "a figure"

"$commplace" benefit --plan --effect 5 --spread 20 --node-hours 10 --json >json
half=$(json json jobs)
awk -v j="$half" -v c="$(json json cost_node_hours)" \
	'BEGIN { exit !(j > 400 && j < 700 && c == j * 0.5 * 10 * 0.05) }'
ok $? "a plan: what a trial costs"
"$commplace" benefit --plan --effect 5 --spread 20 --trial 10 --json >json
awk -v a="$half" -v b="$(json json jobs)" 'BEGIN { exit !(b > 2.7 * a && b < 2.9 * a) }'
ok $? "a smaller part of the jobs takes more of them"
like "$("$commplace" benefit --plan --table t.csv)" "differ by 1[45]" \
	"jobs of the past tell how much times differ"

# records ARM FIRST LAST SECONDS: records of ended jobs, and lines of sacct.
mkdir -p state/ended state/running
records() {
	local i beside
	for ((i = $2; i <= $3; i++)); do
		beside=$((i % 2 ? 2 : 42))
		cat >"state/ended/$i.json" <<-END
			{ "format": "commplace-decision", "version": 1, "job": $i,
			  "time": $((1700000000 + i)), "uid": 1000, "partition": "large",
			  "profile": "milc", "outcome": "stock", "reason": "",
			  "arm": "$1", "nodes_wanted": 4, "ranks_per_node": 16,
			  "run_seconds": 100, "alone_seconds": 20, "seconds": 30,
			  "stock_seconds": 40, "hosts": [], "rank_host": [],
			  "candidates": [], "background": [$beside, 7777] }
		END
		echo "$i|COMPLETED|$(($4 + i % 7))|$((10 * ($4 + i % 7)))|x merit=$i"
		echo "$i.batch|COMPLETED|1|1|"
	done
}
{
	echo "JobIDRaw|State|ElapsedRaw|ConsumedEnergyRaw|Comment"
	records stock 1 40 1000
	records commplace 41 80 900
} >sacct.txt
sed -i 's/^3|COMPLETED|.*/3|TIMEOUT|77|1|/; s/^45|.*/45|CANCELLED by 0|7||/
	/^50|/d; s/^51|COMPLETED/51|RUNNING/' sacct.txt
sed -i 's/"arm": "stock",//' state/ended/40.json
echo "{" >state/ended/99.json
"$commplace" benefit --state-dir state --sacct sacct.txt --json >json
ok $? "records and sacct"
is "$(json json groups 0 profile) $(json json groups 0 ranks) \
$(json json groups 0 jobs stock) $(json json groups 0 jobs commplace)" \
	"milc 64 38 37" "jobs of a trial that completed"
is "$(json json left_out unfinished stock) $(json json left_out unfinished commplace) \
$(json json left_out unknown) $(json json left_out unreadable)" "1 1 1 1" "the others"
awk -v g="$(json json overall gain)" -v e="$(json json overall energy gain)" \
	'BEGIN { exit !(g > 0.098 && g < 0.102 && (g - e) ^ 2 < 1e-12) }'
ok $? "their gain, and that of energy"
awk -v g="$(json json beside gain)" -v l="$(json json beside low)" \
	-v h="$(json json beside high)" 'BEGIN { exit !(l < g && g < h && g ^ 2 < 1e-4) }'
ok $? "jobs beside make no difference"
is "$(json json overall verdict) $(json json partitions 0 partition)" "better large" \
	"verdict and partition"
awk -v p="$(json json overall predicted)" 'BEGIN { exit !((p - (1 - 110 / 120)) ^ 2 < 1e-12) }'
ok $? "the gain that was predicted"
sed 's/ElapsedRaw/Elapsed/; s/COMPLETED|10\([0-9][0-9]\)|/COMPLETED|00:16:40|/
	s/COMPLETED|9\([0-9][0-9]\)|/COMPLETED|0-00:15:00|/' sacct.txt >elapsed.txt
"$commplace" benefit --state-dir state --sacct elapsed.txt --json >json
awk -v g="$(json json overall gain)" 'BEGIN { exit !((g - 0.1) ^ 2 < 1e-12) }'
ok $? "hours and minutes are read, too"
# What jobs report: seconds of their own, 300 and 200, and a rate by another name.
awk -F'|' -v OFS='|' 'NR > 1 && $1 ~ /^[0-9]+$/ {
	t = $1 > 40 ? 200 : 300
	$5 = "mine | t=1; commplace: t=" t + $1 % 3 " rate=" 1e9 / t " merit=1" }
	$1 == 4 || $1 == 60 { $5 = "t=x xt=5 commplace: t=" } { print }' sacct.txt >notes.txt
"$commplace" benefit --state-dir state --sacct notes.txt --seconds t --merit rate \
	--json >json
ok $? "seconds and merit that jobs report"
awk -v g="$(json json overall gain)" -v m="$(json json overall merit gain)" \
	'BEGIN { exit !(g > 0.33 && g < 0.34 && m > 0.49 && m < 0.51) }'
ok $? "their gains"
is "$(json json left_out silent) $(json json overall jobs stock)" "2 37" \
	"jobs that report nothing are left out"
like "$("$commplace" benefit --state-dir state --sacct notes.txt --seconds t)" \
	"2 jobs are left out: they reported no t" "and told of"
# The same as answers of slurmrestd: of slurmdbd, in both ways that numbers and states
# have been written, and of slurmctld, which has times alone, and no energy.
"$commplace" benefit --state-dir state --sacct notes.txt --seconds t --merit rate --json |
	grep -v '"seconds_taken"' >want
# answer JOB: of lines of sacct
answer() {
	awk -F'|' -v as="$1" -v q='"' '
		NR == 1 || $1 ~ /[.]/ { next }
		{ c = $0; for (i = 1; i < 5; i++) sub(/[^|]*[|]/, "", c); sub(/ .*/, "", $2)
		  number = as == "old" ? "%s" : "{\"set\": true, \"infinite\": false, \"number\": %s}"
		  state = as == "old" ? q $2 q : "[" q $2 q "]"
		  printf "%s\n{\"job_id\": %s, ", n++ ? "," : "{\"meta\": {}, \"jobs\": [", $1
		  if (as == "live")
			printf "\"job_state\": %s, \"start_time\": " number ", \"end_time\": " number \
				", \"comment\": \"%s\"}", state, 1700000000, 1700000000 + $3, c
		  else
			printf "\"state\": {\"current\": %s, \"reason\": \"None\"}, " \
				"\"time\": {\"elapsed\": " number "}, \"comment\": {\"job\": \"%s\"}, " \
				"\"tres\": {\"allocated\": [{\"type\": \"cpu\", \"count\": 4}, " \
				"{\"type\": \"energy\", \"count\": %s}]}}", state, $3, c, $4 + 0 }
		END { print "]}" }' notes.txt
}
for as in old new live; do
	answer $as >answer.json
	"$commplace" benefit --state-dir state --sacct answer.json --seconds t \
		--merit rate --json | grep -v '"seconds_taken"' >json
	if [ $as = live ]; then
		is "$(json json overall merit gain),$(json json overall gain)" \
			"$(json want overall merit gain),$(json want overall gain)" "slurmctld's JSON"
	else
		is "$(cat json)" "$(cat want)" "slurmdbd's JSON, $as"
	fi
done
"$commplace" benefit --state-dir state --sacct answer.json --json >json
awk -v g="$(json json overall gain)" 'BEGIN { exit !(g > 0.098 && g < 0.102) }'
ok $? "how long its jobs ran is from begin to end"
echo '{"jobs": 7}' >answer.json
"$commplace" benefit --state-dir state --sacct answer.json >out 2>&1
is "$?,$(cat out)" '1,commplace benefit: answer.json: has no array "jobs"' "JSON of something else"
"$commplace" benefit --state-dir state --sacct notes.txt --json >json
awk -v g="$(json json overall gain)" 'BEGIN { exit !(g > 0.098 && g < 0.102) }'
ok $? "without --seconds, elapsed times count"
like "$("$commplace" benefit --state-dir state --sacct sacct.txt)" \
	"1 stock and 1 placed jobs are left out: they did not complete" "the text tells"

table -0.06 0.1 2000 | sed 's/milc/good/' >worse.csv
table 0.06 0.1 2000 | grep milc | sed 's/milc/good/' >>worse.csv
"$commplace" benefit --table worse.csv --state-dir state --write >out
is "$(json state/trial.json stopped 0 profile) $(json state/trial.json stopped 1)" \
	"vasp " "what is worse beyond doubt is written"
"$commplace" benefit --table t.csv --state-dir state --write >out
is "$(json state/trial.json stopped 0)" "" "and taken back"
mkdir bin
# What stands between columns, it is told; some comment may be several lines.
cat >bin/sacct <<'END'
#!/bin/sh
echo "$@" >args
between=$(sed -n 's/.*--delimiter=\([^ ]*\) .*/\1/p' args)
sed "s/|/$between/g" sacct.txt
cat forged.txt
END
printf '%s\n' "41|COMPLETED|1|1|x" "42|FAILED|1|1|" "merit=1|42|COMPLETED|1|1|" >forged.txt
chmod +x bin/sacct
PATH=$PWD/bin:$PATH "$commplace" benefit --state-dir state --json >json
is "$(json json overall jobs stock) $(json json overall jobs commplace)" "38 37" \
	"sacct is run"
awk -v g="$(json json overall gain)" 'BEGIN { exit !(g > 0.098 && g < 0.102) }'
ok $? "lines that comments feign count for nothing"
like "$(cat args)" "--delimiter=[0-9a-f=]{34} -S 2023-11-13 -o JobIDRaw,State,ElapsedRaw" "from the first job on"
done_testing
