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
done_testing
