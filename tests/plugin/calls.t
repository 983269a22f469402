#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the plugins need of Slurm stands in src/plugins/compat/SLURM-CALLS.md, file
# by file, and nothing else stands there: for the series that they are built for.
. "${0%/*}/../tools/tap.bash"
: "${COMMPLACE_BUILD:?}" "${COMMPLACE_SOURCE:?}"
rooms=$COMMPLACE_SOURCE/src/plugins
list=$rooms/compat/SLURM-CALLS.md
flags=$(sed -n 's/^SLURM_CPPFLAGS = //p' "$COMMPLACE_BUILD/Makefile")
# shellcheck disable=SC2086
series=$(($(echo CPLSLURM_SERIES |
	"${CC:-cc}" -E -P $flags -include "$rooms/compat/series.h" - | tail -n 1)))
ok $((series < 2205)) "the series is known ($series)"

# holds CONDITION: in this series? "all", "<2405", ">=2405" or ">=2405<2505".
holds() {
	local form='^(>=([0-9]+))?(<([0-9]+))?$'
	[[ $1 =~ $form || $1 = all ]] ||
		bail "no condition: $1"
	[ "$1" = all ] || [ "$series" -ge "${BASH_REMATCH[2]:-0}" ] &&
		[ "$series" -lt "${BASH_REMATCH[4]:-9999}" ]
}

# Undefined symbols that no library has under a version of its own, but for those
# of hwloc and zlib, which have none.
needed() {
	nm -D --undefined-only "$@" | awk 'NF == 2 && $2 !~ /@/ { print $2 }' |
		grep -vE '^(_|hwloc_|json_|inflate)' | sort -u
}

declare -A listed written users
table=$(awk -F' *[|] *' '$2 ~ /^`[a-z]/ && NF == 9 {
	print $2 "\t" $3 "\t" $4 "\t" $5 }' OFS='\t' "$list" | tr -d '`')
while IFS=$'\t' read -r symbol as files condition; do
	holds "$condition" || continue
	[ -z "${listed[$symbol]+there}" ] || fail "$symbol stands there once"
	listed[$symbol]=$files
	written[$symbol]=${as:-$symbol}
done <<<"$(sed 's/\t\t/\t-\t/' <<<"$table" |
	awk -F'\t' -v OFS='\t' '$2 == "-" { $2 = $1 } { print }')"
ok $((${#listed[@]} < 40)) "the table is read (${#listed[@]} lines)"

plugins=("$COMMPLACE_BUILD"/.libs/{select,switch,task,job_submit,spank}_*commplace.so)
for i in "${!plugins[@]}"; do
	[ -f "${plugins[i]}" ] || unset "plugins[$i]"
done
ok $((${#plugins[@]} < 4)) "select, task, job_submit and spank plugins are there"
is "$(printf '%s\n' "${!listed[@]}" | sort)" "$(needed "${plugins[@]}")" \
	"what the plugins need is what is listed"

# Which of the files that this build has needs what.
built=' '
for object in "$COMMPLACE_BUILD"/src/plugins/*/.libs/*_la-*.o; do
	room=${object%/.libs/*}
	room=${room##*/}
	file=${object##*_la-}
	file=${file%.o}.c
	[ -f "$rooms/$room/$file" ] || continue
	[ "$room" = compat ] || file=$room/$file
	built+="$file "
	while read -r symbol; do
		users[$symbol]+="$file"$'\n'
	done < <(nm -u "$object" | awk '{ print $2 }')
done
like "$built" ' select_hooks\.c .* spank/record\.c ' "the files of the plugins are found"
unlike_list='' unwritten=''
for symbol in "${!listed[@]}"; do
	files=
	for file in ${listed[$symbol]}; do
		condition=${file#*.c}
		file=${file%"$condition"}
		[[ $built == *" $file "* ]] && holds "${condition:-all}" || continue
		files+="$file"$'\n'
		path=$rooms/compat/$file
		[[ $file != */* ]] || path=$rooms/$file
		grep -qF "$(tr ' ' '\n' <<<"${written[$symbol]}")" "$path" ||
			unwritten+="$symbol in $file"$'\n'
	done
	[ "$(sort -u <<<"$files")" = "$(sort -u <<<"${users[$symbol]-}")" ] ||
		unlike_list+="$symbol: "$(sort -u <<<"${users[$symbol]-}" | xargs)$'\n'
done
is "$unlike_list" "" "each of them in the files that are listed"
is "$unwritten" "" "there as it is written"
done_testing
