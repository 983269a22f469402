#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Names of structs and functions keep the glossary's rules (doc/glossary.md): no word
# of daily life, one meaning for the name of a struct, and a noun behind the verbs
# that many files would have alone.
here=$(cd "${0%/*}" && pwd)
. "$here/../tools/tap.bash"
cd "$here/../.." || bail "no sources"
export LC_ALL=C

# All names that are defined in FILE..., one a line: struct NAME, function NAME.
names() {
	awk '
	match($0, /^(static )?(const )?(struct|union|enum) [a-z_0-9]+ *\{/) {
		name = substr($0, 1, RLENGTH)
		gsub(/ *\{|.*(struct|union|enum) /, "", name)
		print "struct", name
	}
	/^[a-z][a-z_0-9 *]*[ *][a-z_0-9]+\(/ && !/^(typedef|return|else)/ || \
	/^[a-z][a-z_0-9]+\(/ {
		name = $0
		sub(/\(.*/, "", name)
		sub(/.*[ *]/, "", name)
		print "function", name
	}' "$@"
}
# `place` is a verb of placements; of the others no form is a name.
daily() {
	names "$@" | awk '{
		n = split($2, word, "_")
		for (i = 1; i <= n; i++)
			if (word[i] ~ /^(part|seat|spot|lane|walk|way|bunch|passage)s?$/ ||
			    word[i] == "places" || word[i] == "place" && i > 1)
				print $2
	}' | sort -u
}
alone() {
	names "$@" | awk '$2 ~ /^(add|place|put|run|take)$/ { print $1, $2 }' | sort -u
}
# Each subcommand has options of its own; the plugins in slurmctld have an engine
# that asks commplaced for the answers of the other.
twice() {
	names "$@" | awk '$1 == "struct" { print $2 }' | sort | uniq -d |
		grep -vxE 'options|cpl_engine'
}
mapfile -t files < <(find src include -name '*.[ch]')
[ "${#files[@]}" -gt 300 ]
ok $? "sources are found: ${#files[@]}"
sample=$(mktemp)
on_exit 'rm -f "$sample"'
printf '%s\n' 'static int way_of(int x)' 'struct seat {' 'struct placement {' \
	'static int place_ranks(void)' 'int in_place(void)' 'static void add(int x)' \
	'add(int x, ...)' 'static struct seat *run(void)' 'struct run {' 'struct seat {' \
	'struct options {' 'struct options {' >"$sample"
is "$(daily "$sample" | paste -sd' ')" "in_place seat way_of" "words of daily life are seen"
is "$(alone "$sample" | paste -sd, )" "function add,function run,struct run" \
	"verbs alone are seen"
is "$(twice "$sample")" "seat" "a name of two structs is seen"
is "$(daily "${files[@]}")" "" "no name has a word of daily life"
is "$(alone "${files[@]}")" "" "no name is a verb that needs its noun"
is "$(twice "${files[@]}")" "" "no two structs have one name"
done_testing
