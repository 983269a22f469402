#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# doc/reproduction says one thing: its index has a row of each of the sources' numbered
# results, as the pages have them, and figures are of the tables beside them.
. "${0%/*}/../tools/tap.bash"
: "${COMMPLACE_SOURCE:?}"
command -v perl >/dev/null || skip_all "missing: perl"
pages=$COMMPLACE_SOURCE/doc/reproduction
bench=$COMMPLACE_SOURCE/tests/bench
work=$(mktemp -d)
on_exit 'rm -rf "$work"'
perl "$bench/reproduction-index" "$pages" >"$work/README.md"
ok $? "all numbers have a row"
is "$(cmp "$work/README.md" "$pages/README.md" 2>&1)" "" \
	"the index is what reproduction-index makes of the pages"
rm "$work/README.md"
cp "$pages"/*.md "$work"
perl "$bench/plot-tables" "$work"
for figure in "$work"/*.svg; do
	name=${figure##*/}
	is "$(cmp "$figure" "$pages/$name" 2>&1)" "" "$name is of its table"
	is "$(grep -c "($name)" "$work"/*.md | grep -vc ':0$')" 1 "and beside it"
done
sed -i '/^| T18: /d' "$work/binding.md"
is "$(perl "$bench/reproduction-index" "$work" 2>&1 >/dev/null)" "no row of T18" \
	"a number without a row would be seen"
# Job by job, too, bench_adaptive's row names the one routing of jobs without their own.
mkdir "$work/full"
for run in "AD direct 5" "AI indirect 6" "AH hybrid 7" "JS direct 1"; do
	read -r short routing max <<<"$run"
	for placement in RDN RRR; do
		printf '{ "rows": [ { "routing": "adaptive-%s", "links": { "all": {
			"mean": %s, "max": %se6 } } } ] }' "$routing" "$max" "$max" \
			>"$work/full/w1.$placement.$short.json"
	done
done
perl "$bench/reproduce-damselfly.pl" --only RDN,RRR w1 "$work" >"$work/rows"
like "$(grep "^| R27 " "$work/rows")" "lowest: AD RDN 5" \
	"routing job by job is not taken for adaptive-direct"
done_testing
