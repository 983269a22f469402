#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The rooms of src/ include each other downwards only (doc/architecture.md),
# and nobody includes another room's private headers.
. "${0%/*}/../tools/tap.bash"
cd "${0%/*}/../../src" || bail "no sources"

# What a room stands on; what that stands on may be included, too.
declare -A on=(
	[base]=
	[graph]=base
	[network]=graph
	[signature]=graph
	[routing]='network signature'
	[traffic]=routing
	[placement]='mapping learn'
	[mapping]=traffic
	[binding]=graph
	[benefit]=base
	[interleave]=traffic
	[scene]=placement
	[campaign]=scene
	[simulate]=traffic
	[learn]=traffic
	[measured]=scene
	[site]='measured binding'
	[lib]='scene binding interleave'
	[cmd]='site campaign simulate record benefit interleave'
	[door]=site
	[commplaced]=door
	[layout]=
	[plugins]=door
	[record]=base
	[reorder]='mapping record'
)

# reaches ROOM WANTED
reaches() {
	local room
	for room in ${on[$1]}; do
		[ "$room" = "$2" ] || reaches "$room" "$2" && return
	done
	return 1
}

rooms=()
for room in core/* *; do
	[ -d "$room" ] && [ "$room" != core ] && rooms+=("${room#core/}")
done
for room in "${rooms[@]}"; do
	[ -n "${on[$room]+known}" ] || bail "$room is not on the list of rooms"
done

# FILE ROOM HEADER of each include of a header in a room's folder.
includes() {
	local file header room own
	grep -rn --include='*.[ch]' '^#include "[^"]*/' . |
		sed -n 's,^\./\([^:]*\):[0-9]*:#include "\(core/\)\?\([^"]*\)".*,\1 \3,p' |
		while read -r file header; do
			own=${file#core/}
			room=${header%%/*}
			[ -n "${on[$room]+known}" ] &&
				echo "$file ${own%%/*} $room $header"
		done
}

upward='' private='' seen=0
while read -r file own room header; do
	seen=$((seen + 1))
	[ "$own" = "$room" ] && continue
	reaches "$own" "$room" || upward+="$file includes $header"$'\n'
	[[ $header == *_internal.h ]] && private+="$file includes $header"$'\n'
done < <(includes)
ok $((seen < 100)) "includes are found"
is "$upward" "" "no include upwards, hence no circle"
is "$private" "" "no private header of another room"
# Only a network type's folder and what routes on it know the type; only network/
# knows where nodes hang.
types=$(find core/network/* -type d ! -name reader -printf '%f\n' | paste -sd'|')
is "$(grep -rlE --include='*.[ch]' "\"network/($types)/" . |
	grep -vE '^./core/(network|routing)')" "" \
	"network types are known in their rooms only"
is "$(grep -rl --include='*.[ch]' nodes_per_router core plugins lib |
	grep -v core/network/)" "" "where nodes hang is for network/ to say"
# What depends on Slurm's version stands in plugins/compat. Above it no file sees
# a header of Slurm, in whatever way, so that the compiler lets none open a
# structure of Slurm; SPANK's own interface is public and the same in all.
above=()
for file in plugins/*/*.[ch]; do
	case $file in
	plugins/compat/*) ;;
	*) above+=("$file") ;;
	esac
done
is "$(grep -nE '^[ \t]*#[ \t]*(if|ifdef|ifndef|elif)' "${above[@]}")" "" \
	"no condition above compat"
is "$(grep -nE '"[^"]*((step|task|uid|job)_[[%]|\.scope|hwloc_topo)' "${above[@]}")" \
	"" "no name of Slurm's cgroups and files above compat"
headers() { # of Slurm, with the files that see them
	local file
	for file in "${above[@]}"; do
		"${CC:-cc}" -M -std=gnu11 -I. -Icore -Iplugins/compat \
			-I"${COMMPLACE_BUILD:?}" "$file" 2>&1 | tr -s ' \\' '\n' |
			grep -E '/slurm/|^src/|slurm_compat|error:' |
			sed "s|^|$file: |"
	done
}
seen=$(headers)
like "$seen" "spank_commplace.c: .*/slurm/spank\.h" \
	"what the compiler sees of Slurm's headers is found"
is "$(grep -v '^plugins/spank/.*/slurm/\(spank\|slurm_\(errno\|version\)\)\.h$' <<<"$seen")" \
	"" "above compat nobody sees another one"
is "$(sed -n 's,^| `\(core/\)\?\([a-z]*\)` .*,\2,p' ../doc/architecture.md | sort)" \
	"$(printf '%s\n' "${rooms[@]}" | sort)" \
	"doc/architecture.md tells of every room"
# The tests of FILE.c are test_FILE.c, or what a header of its folder, or of one
# above in the room, says: "Tests: FILES in TESTS; FILES in TESTS." Both are globs,
# TESTS those of tests/unit, tests/plugin or, with a folder, of tests/.
statements() { # FOLDER...: HEADER's folder, FILES in TESTS
	grep -rl --include='*.h' 'Tests: ' "$@" | while read -r header; do
		awk -v folder="${header%/*}" '
			/Tests: / { sub(/.*Tests: /, ""); more = 1 }
			more {
				sub(/^ \*[ \t]*/, "")
				ends = sub(/\.( \*\/)?$/, "")
				text = text " " $0
			}
			more && ends {
				n = split(text, statement, ";")
				for (i = 1; i <= n; i++)
					print folder statement[i]
				text = more = ""
			}' "$header"
	done
}
# untested FOLDER...: files without a test, statements about none
untested() {
	local folder text file name found
	local -A file_of=() tested=()
	set -f
	while read -r file; do
		name=${file##*/}
		name=${name%.c}
		file_of[$file]=$name
		[ -f "../tests/unit/test_$name.c" ] || [ -f "../tests/plugin/test_$name.c" ] &&
			tested[$file]=yes
	done < <(find "$@" -name '*.c')
	while read -r folder text; do
		for name in ${text#* in }; do
			compgen -G "../tests/unit/$name.c" || compgen -G "../tests/plugin/$name.c" ||
				compgen -G "../tests/$name" || echo "no test $name"
		done >"$answers"
		grep '^no test' "$answers"
		for name in ${text% in *}; do
			found=''
			for file in "${!file_of[@]}"; do
				# shellcheck disable=SC2053 # a glob
				[[ $file == $folder/$name.c ]] && tested[$file]=yes found=yes
			done
			[ -n "$found" ] || echo "no file $folder/$name.c"
		done
	done < <(statements "$@")
	for file in "${!file_of[@]}"; do
		[ -n "${tested[$file]:-}" ] || echo "$file"
	done
	set +f
}
answers=$(mktemp)
room=$(mktemp -d)
on_exit 'rm -rf "$answers" "$room"'
touch "$room/one.c" "$room/two.c" "$room/base.c"
printf '%s\n' '/* Tests: on* in test_base; none in' ' * test_base test_none. */' >"$room/room.h"
is "$(untested "$room" | sed "s,$room,room," | sort)" \
	$'no file room/none.c\nno test test_none\nroom/two.c' \
	"a file without a test is seen, and what is said of none"
is "$(untested core door commplaced lib plugins | sort)" "" \
	"every file has a test of its name, or its room says which"
# A file that has grown beyond what one reads at once has two jobs.
longer() { # LINES FOLDER...: files of more lines
	find "${@:2}" -type f \( -name '*.[ch]' -o -name '*.t' -o -name '*.bash' \) \
		-exec awk -v most="$1" 'FNR == most + 1 { print FILENAME }' {} +
}
[ "$(longer 600 . | wc -l)" -gt 5 ]
ok $? "long files are seen"
is "$(longer 700 . ../include)" "" "no file of sources has more than 700 lines"
is "$(longer 1000 ../tests)" "" "no file of tests has more than 1,000 lines"
done_testing
