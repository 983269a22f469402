#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# doc/five-minutes.md: each command that stands behind "$" there, typed in the order of
# the page, prints what follows it.
. "${0%/*}/../tools/tap.bash"
: "${COMMPLACE_SOURCE:?}"
commplace=$(realpath "${COMMPLACE:-commplace}")
work=$(mktemp -d)
on_exit 'rm -rf "$work"'
cd "$work" || bail "no $work"
ln -s "$COMMPLACE_SOURCE/etc" etc
mkdir bin
ln -s "$commplace" bin/commplace
export PATH=$work/bin:$PATH LC_ALL=C COMMPLACE_CONF=$work/none
# A block is a file: the command, an empty line, what it prints.
awk '/^```/ { inside = !inside; first = inside; next }
	inside && first && /^\$ / { file = sprintf("block%02d", ++n); command = 1
		sub(/^\$ /, "") }
	inside && first && !command { inside = 0; next }
	inside { print > file; if (command && !/\\$/) { print "" > file; command = 0 }
		first = 0 }' "$COMMPLACE_SOURCE/doc/five-minutes.md"
blocks=(block*)
[ ${#blocks[@]} -ge 9 ]
ok $? "the page has ${#blocks[@]} commands"
for block in "${blocks[@]}"; do
	command=$(sed '/^$/,$d' "$block")
	is "$(bash -c "$command" 2>&1 | sed 's/ *$//')" "$(sed '1,/^$/d' "$block")" \
		"${command%%-*}"
done
for picture in row chosen; do
	cmp "$picture.svg" "$COMMPLACE_SOURCE/doc/five-minutes-$picture.svg"
	ok $? "the picture of the page is what it draws: $picture"
done
done_testing
