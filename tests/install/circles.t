#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Files can be read one after the other. No header includes another that includes
# it, be it through further ones; and no file of the command or the core calls
# another that calls it back, but one of two such files has a part that belongs to
# the other, or to a third. The core's tables of things, which are made, reach files
# that use them.
. "${0%/*}/../tools/tap.bash"
src=$(cd "${0%/*}/../../src" && pwd) || bail "no sources"
export LC_ALL=C
work=$(mktemp -d)
on_exit 'rm -rf "$work"'
# circles FILE: of pairs "FILE FILE"; what is in one
circles() {
	tsort "$1" 2>&1 >"$work/order" | sed -n 's/^tsort: //p'
}

printf 'a b\nb c\nc b\n' >"$work/pairs"
like "$(circles "$work/pairs")" "loop:.*b.*c" "a circle is seen"

cd "$src" || bail "no sources"
grep -rn --include='*.h' '^#include "' . |
	sed 's,^\./\([^:]*\):[0-9]*:#include "\([^"]*\)".*,\1 \2,' |
	while read -r file header; do
		for path in "${file%/*}/$header" "core/$header" "$header" \
			"plugins/compat/$header"; do
			[ ! -f "$path" ] || { echo "$file $path"; break; }
		done
	done >"$work/includes"
is "$(($(wc -l <"$work/includes") > 300))" 1 "headers' includes are found"
is "$(circles "$work/includes")" "" "no circle of headers"

# uses OBJECT...: "FILE FILE" for each file that needs a name of another's. A name
# of several files is nobody's.
uses() {
	nm -AP "$@" | awk '
		{
			# "DIR/PROGRAM-FILE.o: NAME TYPE ..."
			file = $1
			sub(/\.o:$/, "", file)
			sub(/\.libs\//, "", file)
			if (match(file, /[^\/]*-/))
				file = substr(file, 1, RSTART - 1) \
					substr(file, RSTART + RLENGTH)
		}
		$3 ~ /^[TDRBV]$/ {
			if (!($2 in by))
				by[$2] = file
			else if (by[$2] != file)
				by[$2] = ""
		}
		$3 == "U" { needs[file " " $2] }
		END {
			for (i in needs) {
				split(i, n, " ")
				if (by[n[2]] && by[n[2]] != n[1])
					print n[1], by[n[2]]
			}
		}'
}
cd "${COMMPLACE_BUILD:?}/src" || bail "no objects"
mapfile -t objects < <(find . -name 'commplace-*.o')
uses "${objects[@]}" | sort -u >"$work/uses"
is "$(($(wc -l <"$work/uses") > 200))" 1 "calls between files are found"
is "$(circles "$work/uses")" "" "no circle of the command's files"
mapfile -t objects < <(find core -path '*/.libs/*.o')
# Without made files.
uses "${objects[@]}" | sort -u |
	while read -r file other; do
		[ ! -f "$src/$file.c" ] || echo "$file $other"
	done >"$work/uses"
is "$(($(wc -l <"$work/uses") > 500))" 1 "calls between files of the core are found"
is "$(circles "$work/uses")" "" "no circle of the core's files"
done_testing
