#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace status`: links and who loads them, counters, metrics; pages of
# status and explain; names that mean harm.
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
sed -i "s|/etc/slurm/my net.json|$work/network.json|" state/*/*.json
metrics=$here/../tools/openmetrics.awk

# has TEXT REGEX NAME: in one of its lines
has() {
	like "$(grep -E -- "$2" <<<"$1")" . "$3"
}

# Two jobs, on the one global link of 4000 bytes/s: each sends 1000 bytes in a
# second alone (its node's cable), so the link is used half, by halves.
"$commplace" status --json >status.json
is "$(json status.json busiest 0 utilisation)" 0.5 "utilisation of the link"
is "$(json status.json busiest 0 rate)" 2000 "in bytes per second"
is "$(json status.json busiest 0 jobs 0 id) $(json status.json busiest 0 jobs 0 share)" \
	"17 0.5" "the first job's share"
is "$(json status.json busiest 0 jobs 1 id) $(json status.json busiest 0 jobs 1 share)" \
	"19 0.5" "and the other's"
is "$(json status.json links global utilisation 1)" 0.5 "the class' busiest"
is "$(json status.json links global utilisation 0.5)" 0.25 "and median of two"
is "$(json status.json timed)" false "signatures without times are said so"
alone=$(json status.json jobs 0 alone) here_s=$(json status.json jobs 0 seconds)
is "$alone" 3.25 "alone: 1000 bytes on two cables of 1000 bytes/s and a link of 4000, in turn"
is "$(json status.json jobs 0 slowdown)" "$(perl -e 'printf "%.12g", $ARGV[0] / $ARGV[1]' \
	"$here_s" "$alone")" "slowdown: here over alone"
has "$("$commplace" status)" "^ 17  pair +2 +2 +1\.[0-9]+ " "slowdown in the table"
like "$("$commplace" status)" "17 \(50 %\), 19 \(50 %\)" "who loads the link"
has "$("$commplace" status)" "^next +job 17 communicates" "what to do next"

# The same jobs with times: half a second of each two, the rest computes.
sed -i 's/"weight": 1,/"weight": 1, "time": 2, "compute_time": 1.5,/' \
	profiles/pair.json
"$commplace" status --json >status.json
is "$(json status.json timed)" true "signatures with times"
is "$(json status.json busiest 0 utilisation)" 0.25 "bytes over the run's time"

# Jobs without a signature: which are worth a recording.
like "$("$commplace" status --unrecorded)" "no job without a signature is on record" \
	"--unrecorded: those with a profile are none"
# ran ID NAME HOSTS SECONDS VOLUME MEASURED
ran() {
	cat >"state/ended/$1.json" <<-END
	{"format": "commplace-decision", "version": 1, "job": $1, "job_name": "$2",
	 "time": 1700000000, "ended": $((1700000000 + $4)), "outcome": "stock",
	 "volume": $5, "measured_volume": $6, "hosts": [$3], "rank_host": []}
	END
}
mkdir -p state/ended
ran 901 small '"a", "b"' 3600 1000 0
ran 902 large '"a", "b", "c", "d"' 3600 1000 4000
ran 903 large '"a", "b", "c", "d"' 1800 1000 1000
ran 904 unheard '"a", "b"' 3600 0 0
ran 905 one '"a"' 3600 9000 0
ran 906 lost '"a", "b"' 0 9000 0
"$commplace" status --unrecorded --json >unrecorded.json
is "$(json unrecorded.json unrecorded 0 name) $(json unrecorded.json unrecorded 0 jobs)" \
	"large 2" "the largest first, its runs together"
is "$(json unrecorded.json unrecorded 0 node_seconds)" 21600 "node-seconds"
is "$(json unrecorded.json unrecorded 0 volume)" 3000 "bytes/s as measured, by time"
is "$(json unrecorded.json unrecorded 1 name)" unheard \
	"one that nothing is known of sends as the others do"
is "$(json unrecorded.json unrecorded 2 name)" small "those that send less later"
is "$(json unrecorded.json unrecorded 3 name 2>/dev/null)" "" \
	"one node, and runs of unknown length, do not count"
has "$("$commplace" status --unrecorded)" "^ *large +2 +2 +4 +6\.0 +3.* kB +[0-9.]+ %$" \
	"the same as a table"
rm state/ended/90?.json

# Counters
is "$("$commplace" status --counters)" "nothing was counted yet" "no counters yet"
cat >state/counters.json <<-'END'
{"format": "commplace-counters", "version": 1, "since": 1700000000,
 "decisions": {"placed": 5, "observed": 0, "stock": 2}, "cut_short": 1,
 "cache_answers": {"hit": 3, "miss": 4}, "stock_answers": {"refused": 2},
 "bounds_ns": [100000, 200000, 500000, 1000000, 2000000, 5000000, 10000000,
  20000000, 50000000, 100000000, 200000000, 500000000, 1000000000, 2000000000,
  5000000000],
 "decision": {"sum_ns": 9000000, "longest_ns": 4000000,
  "buckets": [0, 0, 1, 2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}}
END
got=$("$commplace" status --counters)
like "$got" "^counted since 2023-11-14 22:13:20 UTC" "counters: since when"
has "$got" "^decisions +placed +5" "decisions"
has "$got" "^stock_answers +refused \(fallback\) +2" "reasons, and their kind"
has "$got" "^decision +6 +1.5 +<= 1 +<= 5 +<= 5 +4$" "milliseconds"
is "$("$commplace" status --json | json - counters decisions placed)" 5 \
	"counters in JSON"
like "$("$commplace" status)" "2 answers fell back" "status points at them"
echo '{' >broken.json
cp state/counters.json good.json
cp broken.json state/counters.json
like "$("$commplace" status --counters)" "^no counters: .*counters.json:" \
	"counters that cannot be read are said"
runs "and status goes on" "$commplace" status
cp good.json state/counters.json
"$commplace" status --reset-counters
ok $? "--reset-counters"
is "$("$commplace" status --counters)" "nothing was counted yet" "begins anew"
like "$("$commplace" status --tree /jobs 2>&1)" \
	"state/status.socket: .*no commplaced answers; commplace status without" \
	"--tree without a commplaced"
runs "--reset-counters where none are" "$commplace" status --reset-counters
cp good.json state/counters.json

# check_metrics NAME FILE: OpenMetrics, by our checker and, where it is at hand,
check_metrics() {
	is "$(awk -f "$metrics" "$2")" "" "$1: OpenMetrics text"
}

"$commplace" status --format openmetrics >metrics.txt
ok $? "--format openmetrics"
check_metrics "metrics" metrics.txt
# value SERIES
value() {
	awk -v s="commplace_$1" '$1 == s { print $2 }' metrics.txt
}
is "$(value running_jobs)" 2 "jobs"
is "$(value 'link_utilisation_ratio{class="global",percentile="100"}')" 0.25 \
	"utilisation"
is "$(value 'decisions_total{answer="placed"}')" 5 "decisions"
is "$(value 'stock_answers_total{reason="refused",kind="fallback"}')" 2 "fallbacks"
is "$(value 'decision_seconds_bucket{le="0.001"}')" 3 "histogram"
is "$(value decision_seconds_sum)" 0.009000000 "in seconds"
is "$(value 'job_slowdown_ratio{percentile="50"}')" \
	"$("$commplace" status --json | perl -ne 'print $1 if /"slowdown": ([0-9.]+)/ && !$n++')" \
	"slowdown of the median job"
"$commplace" status --format openmetrics -o out.prom
is "$(stat -c %a out.prom)" 644 "-o: readable for the exporter"
cmp -s out.prom metrics.txt
ok $? "-o: the same text"
is "$(ls -A | grep -c 'out\.prom')" 1 "-o: no temporary file is left"
mkdir dir.prom
unlike "$("$commplace" status --format openmetrics -o dir.prom 2>&1)" "^#" \
	"-o: not over a folder"

# The checker itself: each of these is broken.
broken() {
	local name=$1
	shift
	sed "$@" metrics.txt >broken.txt
	cmp -s broken.txt metrics.txt && fail "$name: sed changed nothing"
	awk -f "$metrics" broken.txt >/dev/null
	is $? 1 "checker: $name"
}
broken "no end" '$d'
broken "text behind the end" '$ a x 1'
broken "a blank line" '3 i\\'
broken "an unescaped quotation mark" 's/class="global"/class="glo"bal"/'
broken "an unescaped backslash" 's/class="global"/class="glo\\bal"/'
broken "a second TYPE" '0,/^# TYPE.*/s//&\n&/'
broken "a family in two pieces" '1,3 { H; }; $ { x; s/^\n//; G; }'
broken "a counter without _total" 's/_total{/{/'
broken "a series twice" 's/^commplace_running_jobs .*/&\n&/'
broken "buckets that fall" '/decision_seconds_bucket{le="0.002"}/s/ [0-9]*$/ 0/'
broken "a count beside +Inf" '/^commplace_decision_seconds_count/s/ .*/ 99/'
broken "a value that is none" 's/^commplace_running_jobs .*/commplace_running_jobs two/'
broken "a label twice" 's/{answer="placed"}/{answer="placed",answer="placed"}/'
broken "another unit" 's/UNIT commplace_decision_seconds seconds/UNIT commplace_decision_seconds ms/'

# --watch: blocks, until a signal, with exit code 0
"$commplace" status --watch 1 >watch.txt 2>&1 &
pid=$!
for _ in $(seq 100); do
	[ "$(grep -c '^mode ' watch.txt)" -lt 2 ] || break
	sleep 0.1
done
kill -INT "$pid" 2>/dev/null
wait "$pid"
is $? 0 "--watch ends with exit code 0 on SIGINT"
ok "$(($(grep -c '^mode ' watch.txt) < 2))" "--watch 1: again and again"
is "$(grep -c $'\033' watch.txt)" 0 "no escape sequences where no terminal is"
is "$(sed -n 1p watch.txt | grep -cE '^[0-9-]+ [0-9:]+ UTC$')" 1 "each with its time"
"$commplace" status --watch=1 --format openmetrics -o watch.prom &
pid=$!
for _ in $(seq 100); do
	[ ! -s watch.prom ] || break
	sleep 0.1
done
rm watch.prom
for _ in $(seq 100); do
	[ ! -s watch.prom ] || break
	sleep 0.1
done
kill -TERM "$pid"
wait "$pid"
is $? 0 "--watch with a file ends on SIGTERM"
check_metrics "--watch with a file" watch.prom
if script -qec true /dev/null >/dev/null 2>&1; then
	timeout -s INT 30 script -qfec "$commplace status --watch 1" screen.txt \
		>/dev/null 2>&1 &
	pid=$!
	for _ in $(seq 300); do
		! grep -qs $'\033\\[2J' screen.txt || break
		sleep 0.1
	done
	kill -INT "$pid"
	wait "$pid"
	like "$(cat screen.txt)" $'\033\\[H\033\\[2J' "a terminal is redrawn"
fi

# Pages

# page NAME FILE: whole, one script, nothing from elsewhere
page() {
	local text
	text=$(cat "$2")
	like "$text" "^<!DOCTYPE html>" "$1: a page"
	is "$(tail -n 1 "$2")" "</html>" "$1: whole"
	is "$(grep -o '<script' "$2" | wc -l)" 1 "$1: one script"
	is "$(grep -oE '<[^<>]*>' "$2" | sed -E 's/ href="#[a-z0-9-]+"//' |
		grep -ciE '<(img|iframe|object|embed|link|base|form)|[[:space:]](src|href|action|style|on[a-z]+)=')" 0 "$1: nothing is loaded, and nothing runs or styles inline"
	unlike "$(sed 's|http://www.w3.org/2000/svg||g' "$2")" "https?://" \
		"$1: no address"
	is "$(perl -0777 -ne '
		s{<(script|style)>.*?</\1>}{}gs; s{<!DOCTYPE[^>]*>}{};
		while (m{<(/?)([a-z0-9]+)[^<>]*?(/?)>}g) {
			next if $3 || $2 eq "meta";
			push(@open, $2), next if !$1;
			my $last = pop(@open) // "nothing";
			print "$2 ends $last; " if $2 ne $last;
		}
		print "open: @open" if @open;
		s{</?[a-z0-9]+[^<>]*>}{}g;
		print "a bare $1" if m{([<>])}' "$2")" "" "$1: elements are closed"
}

# hash FILE ELEMENT: of its text, as the policy has it
hash() {
	perl -0777 -MDigest::SHA=sha256_base64 -ne \
		"my (\$t) = m{<$2>(.*?)</$2>}s; print sha256_base64(\$t)" "$1"
}

"$commplace" status --html status.html
ok $? "status --html"
page "status" status.html
like "$(cat status.html)" "style-src 'sha256-$(hash status.html style | sed 's/[+]/[+]/g')='" \
	"the policy allows this style"
like "$(cat status.html)" "script-src 'sha256-$(hash status.html script | sed 's/[+]/[+]/g')='" \
	"and this script"
like "$(cat status.html)" "default-src 'none'" "and nothing else"
is "$(grep -c '<svg' status.html)" 5 "classes, links, map and two histograms"
like "$(cat status.html)" \
	"<td class=\"r\"><a href=\"#job-17\">17</a></td><td>pair</td>" "a job's row"
# ids FILE: of its elements, in their order
ids() { grep -oE ' id="[^"]*"' "$1" | cut -d'"' -f2 | paste -sd' '; }
is "$(ids status.html)" "what-to-do-next running-jobs links \
why-each-job-is-where-it-is job-17 job-19 what-the-scheduler-asked" \
	"sections and jobs have addresses"
is "$(grep -oE 'href="#[^"]*"' status.html | sort -u | paste -sd' ')" \
	'href="#job-17" href="#job-19"' \
	"links lead to both jobs, and nowhere else"
is "$(perl -0777 -ne 'for (m{<details class="job" id="job-17">(.*?)</details>}s) {
	print join(" ", m{<summary>(job 17 [^<]*)<}, scalar(() = /<table>/g),
		m{<td>(network)</td>}) }' status.html)" \
	"job 17 (lam?mps): placed by policy random-nodes, 2 nodes, 2 ranks 3 network" \
	"a job: what it asked for, against stock, and the candidates"
is "$(grep -c 'http-equiv="refresh"' status.html)" 0 "nothing loads it anew"
"$commplace" status --html fresh.html --watch 7 &
pid=$!
for _ in $(seq 100); do
	[ ! -s fresh.html ] || break
	sleep 0.1
done
kill -TERM "$pid"
wait "$pid"
like "$(cat fresh.html)" '<meta http-equiv="refresh" content="7">' \
	"--watch: a browser does, as often as it is written"
"$commplace" explain 17 --html explain.html
ok $? "explain --html"
page "explain" explain.html
is "$(grep -c '<svg' explain.html)" 3 "candidates, the job's map, the others'"
like "$(cat explain.html)" "<tr class=\"taken\"><td>\*</td><td>random-nodes</td>" \
	"the candidate taken is marked"
mv network.json away.json
"$commplace" explain 17 --html explain.html
ok $? "explain --html without the network file"
like "$(cat explain.html)" "no map: .*network.json" "says so"
page "explain without the network" explain.html
mv away.json network.json
# The network states no bandwidths: bytes a second, and nothing that is full.
sed 's/"bandwidth": {[^}]*},//' network.json >unstated.json
"$commplace" status --html unstated.html --network unstated.json
like "$(cat unstated.html)" "Load of the links by class.*busiest [0-9.]+ k?B/s.*[0-9.]+ k?B/s, 2 jobs" \
	"without bandwidths loads are rates"
unlike "$(grep '<svg' -A999 unstated.html)" '[0-9] %, [0-9]+ job|all that the link can give' \
	"and no percent of anything"
# What the script makes of a page, in a browser.
chromium=$(command -v chromium || command -v chromium-browser)
if [ -n "$chromium" ]; then
	timeout 120 "$chromium" --headless=new --no-sandbox --disable-gpu \
		--user-data-dir="$work/browser" --virtual-time-budget=2000 --dump-dom \
		"file://$work/status.html#job-17" >dom.html 2>dom.err
	like "$(cat dom.html)" '<nav aria-label="Sections">(<a href="#[a-z-]+">[^<]*</a>){5}</nav>' \
		"a browser: sections are listed" || diag "$(tail -n 5 dom.err)"
	like "$(cat dom.html)" '<details class="job" id="job-17" open="">' \
		"the job of the address is open, the other one is not"
	unlike "$(cat dom.html)" 'id="job-19" open' "the other one is not"
	is "$(grep -o '<th[ >]' dom.html | wc -l)" \
		"$(grep -o '<th [^>]*tabindex="0"' dom.html | wc -l)" \
		"each head of a column can be reached by keys"
else
	skip "the page in a browser" "chromium is not there"
fi
"$commplace" status --html a.html --network network.json
"$commplace" explain 20 --html stock.html
page "a stock job" stock.html

# Names that mean harm, wherever a record or a file has one
cat >evil.pl <<-'END'
	use JSON::PP;
	my $evil = "x</script><script>alert(1)</script><img src=y onerror=z>\"'&" .
		"\n# EOF\nforged 1\e[2J\x{9b}2J\x{202e}\\";
	local $/;
	my $file = decode_json(<STDIN>);
	if ($file->{format} eq "commplace-network") {
		$file->{name} = $evil;
	} else {
		$file->{$_} = $evil for qw(job_name partition profile reason shown_as
			policy policy_asked objective routing mapping stock_hosts
			free_hosts required_hosts);
		$_->{policy} = $evil for @{$file->{candidates}};
		$file->{hosts}[0] = $evil;
		$file->{job} = 30;
	}
	print JSON::PP->new->utf8->encode($file);
END
perl evil.pl <state/running/17.json >state/running/30.json
perl evil.pl <network.json >evil.net && mv evil.net network.json
is "$(json state/running/30.json job)" 30 "the record is JSON"
# harmless NAME FILE: no character that a terminal acts on
harmless() {
	is "$(LC_ALL=C grep -cP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]' "$2")" 0 \
		"$1: nothing for a terminal to act on"
	is "$(grep -cE '^(forged|# EOF.)' "$2")" 0 "$1: no line is forged"
}
"$commplace" status --links >evil.txt
ok $? "status goes on"
harmless "status" evil.txt
is "$(grep -c '^ *30 ' evil.txt)" 1 "status: one line for the job"
"$commplace" explain 30 >evil.txt
ok $? "explain goes on"
harmless "explain" evil.txt
"$commplace" status --html evil.html
page "status with such names" evil.html
harmless "status --html" evil.html
like "$(cat evil.html)" "x&lt;/script&gt;&lt;script&gt;alert\(1\)" "escaped"
"$commplace" explain 30 --html evil.html
page "explain with such names" evil.html
harmless "explain --html" evil.html
"$commplace" status --format openmetrics >evil.txt
check_metrics "metrics with such names" evil.txt
harmless "metrics" evil.txt
is "$(grep -c . evil.txt)" "$(grep -c . metrics.txt)" "metrics: no series is added"
"$commplace" status --json >evil.json
is "$(json evil.json jobs 2 id)" 30 "status --json is JSON"
harmless "status --json" evil.json
"$commplace" explain 30 --json >evil.json
is "$(json evil.json job)" 30 "explain --json too"
harmless "explain --json" evil.json
is "$(perl -MJSON::PP -e 'local $/;
	print decode_json(<STDIN>)->{job_name} =~ /\e\[2J\x{9b}2J\x{202e}/' <evil.json)" \
	1 "with the name as it is"
rm state/running/30.json

# Who may not list records reads no page of them either
modes() { stat -c %a "$@" | paste -sd' '; }
made="status.html explain.html state.json others.json"
for mode in 755 711; do
	rm -f $made
	chmod $mode state/running
	"$commplace" status --html status.html
	"$commplace" explain 17 --html explain.html
	"$commplace" status --state state.json
	"$commplace" explain 17 --state others.json >/dev/null
	"$commplace" status --format openmetrics -o metrics.prom
	# shellcheck disable=SC2086
	is "$(modes $made)" \
		"$([ $mode = 755 ] && echo 644 644 644 644 || echo 600 600 600 600)" \
		"pages and states where records' folder is $mode"
	is "$(modes metrics.prom)" 644 "metrics, which name no job"
done
chmod 755 state/running

# What measurements say of cables: of a job that is alone, n0 sends to n2; then n1 does;
# then a switch keeps something for itself.
carried() { # LINK=RATE...
	echo time,from,to,bytes_per_second
	local link
	for link in 0,1 1,0 n{0,1,2,3}, ,n{0,1,2,3}; do
		echo "1795254000,$link,$(printf '%s\n' "$@" 0 | sed -n "s/^$link=//p; \$p" |
			head -n 1)"
	done
}
rm -f state/running/19.json
carried n0,=400 0,1=400 ,n2=400 >links.csv
has "$("$commplace" status --measured links.csv)" \
	"^cabling  as the network file has it: 2 routers pass on what they get$" \
	"cables as in the file"
has "$("$commplace" status --measured links.csv)" \
	"^         job 17, if it is alone, loads 10 links as predicted$" "and links"
carried n1,=400 0,1=400 ,n2=400 >links.csv
has "$("$commplace" status --measured links.csv)" "^cabling  not as the network" "a host's is not"
is "$("$commplace" status --measured links.csv --json | jq -c '.measured.cabling |
	[.differs, .routers, .exchanged, .odd, .job, .compared]')" \
	"[true,[],[],[],17,10]" "which sums of routers do not tell"
has "$("$commplace" status --measured links.csv)" "^         n1 to router 0: 400 B/s measured, 0 B/s predicted" \
	"but the job"
carried n0,=400 0,1=400 ,n2=100 >links.csv
has "$("$commplace" status --measured links.csv)" "^         router 1 gets 400 B/s and passes on 100 B/s" \
	"a router's sums"
"$commplace" status --measured links.csv --html measured.html
has "$(tr '\n' ' ' <measured.html)" \
	">Measured links<.*cabling  not as the network file has it:.*router 1 gets 400 B/s and passes on 100 B/s" \
	"the page has it, too"
unlike "$("$commplace" status --html /dev/stdout)" "Measured links" "where links were measured"
carried >links.csv
has "$("$commplace" status --measured links.csv)" "^         job 17 sends nothing" "a job that waits"
sed 's/"job": 17/"job": 19/' state/running/17.json >state/running/19.json
unlike "$("$commplace" status --measured links.csv)" "if it is alone" "two jobs are not alone"
sed -n '1p; /,n/p' links.csv >few.csv
has "$("$commplace" status --measured few.csv)" "^cabling  not known: of no router" "too little is measured"
done_testing
