#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What is in archives, plugins and commplaced: no name of a room that they may not
# have, and no more code than a daemon or every srun should carry
# (doc/architecture.md).
. "${0%/*}/../tools/tap.bash"
: "${COMMPLACE_BUILD:?}"
cd "$COMMPLACE_BUILD/.libs" || bail "no plugins are built"
export LC_ALL=C

# names TYPES FILE...: of functions and variables, a line each
names() {
	nm -P "${@:2}" 2>/dev/null | awk -v types="^[$1]\$" '$2 ~ types { print $1 }' | sort -u
}
archives() { printf 'lib%s.a\n' "$@"; }
# What an archive may need names of, and what has names of archives.
declare -A below=(
	[base]=''
	[node]='base'
	[site]='base node'
	[lab]='base node site'
	[door]='base node'
)
declare -A has=(
	[select_cons_tres_commplace.so]='base node door'
	[job_submit_commplace.so]='base node door'
	[switch_commplace.so]='base node door'
	[spank_commplace.so]='base node'
	[task_commplace.so]='base node site'
	[../commplaced]='base node site'
)
# Messages are the same at both ends of the door.
all=$(names TDRBV $(archives "${!below[@]}") | grep -vE '^cpl_(form|link)_')
others() { # ARCHIVE...: names of all the others
	comm -23 <(echo "$all") <(names TDRBV $(archives "$@"))
}
for archive in "${!below[@]}"; do
	is "$(comm -12 <(names U "lib$archive.a") <(others $archive ${below[$archive]}))" \
		"" "lib$archive needs nothing but of: ${below[$archive]:-none}"
done
for file in "${!has[@]}"; do
	# What this Slurm has no hooks for is not built.
	[ -e "$file" ] || continue
	is "$(comm -12 <(names TtDdRrBbVv "$file") <(others ${has[$file]}))" "" \
		"$file has nothing but of: ${has[$file]}"
done
isnt "$(comm -12 <(names TtDdRrBbVv libcore.a) <(others base node site))" "" \
	"the lab is seen in what has it"

size_of() { # FILE KILOBYTES
	local text
	text=$(size -A "$1" | awk '/^\.(text|rodata|plt|eh_frame) / { n += $2 }
		END { print int(n / 1024) }')
	[ "$text" -le "$2" ]
	ok $? "$1 has $text KB of code, at most $2"
}

# It is a process of its own, so the number is to be noticed, not a bound of Slurm's:
# 842 with rounds gone through host by host.
size_of ../commplaced 845

# PLUGIN KILOBYTES ROOM...: the rooms whose functions are cpl_ROOM_... or as here.
walls() {
	local file=$1_commplace.so names
	[ -e "$file" ] || return
	size_of "$file" "$2"
	shift 2
	names=$(nm "$file" | awk '$2 ~ /^[TtRrDdBb]$/ && $3 ~ /^cpl_/ { print $3 }' |
		grep -vE "^cpl_($(IFS='|'; echo "$*"))(_|[.]|$)")
	is "$names" "" "$file has nothing of other rooms"
}
base='array|cond|milliseconds|spawn|debuginfo|error|fail|vfail|file|fnv|get|put|hostlist|heap|json|members|path|printable|random|registry|entry|suggest|run|now|socket'
door='door|link|form|verdict|engine|step|handed|rank|launch'
node='arena|bind|binder|binders|binomial|comm|devices|gpus?|graph|groups|launch|near|nic|rows|slots|topology|tree|treematch'
walls select_cons_tres 150 "$base" "$door" comment
walls job_submit 150 "$base" "$door" comment
walls switch 150 "$base" "$door" "$node"
# It knows what policies and mappers are called.
walls spank 100 "$base" rank 'mapper(_names|_entry|s_lacking)' placement_names profile_name
# A node reads commplace.conf and the files of profiles.
walls task 300 "$base" "$node" by config cut is match network_level objective \
	mappers_lacking measured_source_check patterns phases_groups profile rank_grid record resolve signature slots store user \
	whole worker get random
done_testing
