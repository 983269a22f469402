#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# contrib/grafana and contrib/prometheus: every metric and label that they name is one
# that `commplace status --format openmetrics` writes; the rules are tried by promtool
# where there is one.
here=$(cd "${0%/*}" && pwd)
. "$here/../tools/tap.bash"
commplace=${COMMPLACE:-commplace}
contrib=$here/../../contrib
work=$(mktemp -d)
on_exit 'rm -rf "$work"'
cp -r "$here/../golden/explain/." "$work"
chmod -R u+w "$work"
cd "$work" || bail "no $work"
export COMMPLACE_CONF=$work/commplace.conf LC_ALL=C
printf '%s\n' "NetworkFile=$work/network.json" "ProfileDir=$work/profiles" \
	"StateDir=$work/state" >commplace.conf
sed -i "s|/etc/slurm/my net.json|$work/network.json|" state/*/*.json
echo '{"format": "commplace-counters", "version": 1, "since": 1700000000}' >state/counters.json
"$commplace" status --format openmetrics >metrics
ok $? "metrics of two running jobs"
grep -v '^#' metrics | sed 's/[{ ].*//' | sort -u >names
grep -v '^#' metrics | grep -o '[{,][a-z]*="[^"]*"' | tr -d '{,' | sort -u >labels
for file in grafana/commplace.json prometheus/commplace.rules.yml; do
	grep -oE 'commplace_[a-z_]+' "$contrib/$file" | sort -u >named
	[ -s named ]
	ok $? "$file names metrics"
	is "$(comm -23 named names | paste -sd' ')" "" "$file: all of them are written"
	# {percentile="100"} and the like, of which there has to be such a value
	grep -oE '(kind|answer|outcome|percentile)=\\?"[a-z0-9]+\\?"' "$contrib/$file" |
		tr -d '\\' | sort -u >named
	is "$(comm -23 named labels | paste -sd' ')" "" "$file: and so are the labels"
done
jq -e '[.panels[] | select(.targets | length == 0)] == [] and (.panels | length) > 9 and
	([.panels[].id] | length == (unique | length)) and
	([.panels[].gridPos | .x + .w] | max) == 24' "$contrib/grafana/commplace.json" >/dev/null
ok $? "panels have targets, numbers of their own and room"
promtool=$(command -v promtool)
if [ -n "$promtool" ]; then
	(cd "$contrib/prometheus" && "$promtool" check rules commplace.rules.yml &&
		"$promtool" test rules commplace.rules.test.yml) >promtool.log 2>&1
	ok $? "each alert is raised, and none where all is well" || diag "$(cat promtool.log)"
else
	skip "promtool test rules" "promtool (package prometheus) is not there"
fi
done_testing
