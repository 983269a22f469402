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
	[campaign]=placement
	[simulate]=traffic
	[learn]=traffic
	[site]='placement binding'
	[lib]='placement binding'
	[cmd]='site campaign simulate record'
	[plugins]=site
	[record]=
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
# Only a network type's folder, what routes on it and streams along its routes
# know the type; only network/ knows where nodes hang.
types=$(find core/network/* -type d ! -name reader -printf '%f\n' | paste -sd'|')
is "$(grep -rlE --include='*.[ch]' "\"network/($types)/" . |
	grep -vE '^./core/(network|routing|traffic/stream_groups)')" "" \
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
is "$(grep -nE '^[ \t]*#[ \t]*(if|ifdef|ifndef|elif)' "${above[@]}" |
	grep -v ':#ifndef CPL_[A-Z_]*_H$')" "" "no condition above compat"
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
done_testing
