#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Man pages, --help, sample configuration and messages say the same, and say it
# in plain English.
here=$(cd "${0%/*}" && pwd)
top=$(cd "$here/../.." && pwd)
. "$here/../tools/tap.bash"
commplace=${COMMPLACE:-commplace}
export LC_ALL=C
pages=("$top"/doc/man[158]/*.[158])

# A page as text without roff's requests, escapes and quotes, or one section of it.
text() {
	sed -e 's/^\.\(BI\|BR\|RB\|RI\|IB\|IR\|B\|I\|TQ\|SH\|SS\) //' \
		-e 's/\\-/-/g' -e 's/\\f[BIRP]//g' -e "s/\\\\(aq/'/g" \
		-e 's/\\~/ /g' -e 's/\\c$//' -e 's/"//g' -e 's/\\e$/\\/' "$1"
}
section() { # PAGE NAME
	sed -n "/^\.SH $2\$/,/^\.SH /p" "$1" | sed '1d;/^\.SH /d' >"$work/section"
	text "$work/section"
}
options() { # stdin: the long options in it, one a line
	grep -oE -- '(^|[^a-zA-Z0-9-])--[a-z][a-z-]*[a-z]' |
		grep -oE -- '--[a-z-]+' | sort -u
}
work=$(mktemp -d)
on_exit 'rm -rf "$work"'

mapfile -t subcommands < <("$commplace" --help | sed -n 's/^  \([a-z-]*\) .*/\1/p')
[ "${#subcommands[@]}" -ge 11 ] || bail "no list of subcommands"

is "$("$commplace" --help | awk 'length > 80')" "" "--help fits on a screen"
for sub in "${subcommands[@]}"; do
	page=$top/doc/man1/commplace-$sub.1
	[ -f "$page" ] || {
		fail "$sub has a man page"
		continue
	}
	"$commplace" "$sub" --help >"$work/help"
	is "$(awk 'length > 80' "$work/help")" "" "$sub: --help fits on a screen"
	# Examples and descriptions name options of other programs, too.
	sed '/^Examples:/,$d' "$work/help" | grep -E '^ {0,8}(-[a-z], )?--' |
		sed 's/^ *//; s/   .*//' | options >"$work/in-help"
	[ "$(grep -c '^Usage\|^ *commplace' "$work/help")" -gt 0 ] &&
		sed -n '/^Usage/,/^$/p' "$work/help" | options >>"$work/in-help"
	echo --help >>"$work/in-help"
	sort -uo "$work/in-help" "$work/in-help"
	# Tags of lists in OPTIONS.
	sed -n '/^\.SH OPTIONS/,/^\.SH [^O]/p' "$page" >"$work/section"
	text "$work/section" | awk 'tag { print; tag = 0 } /^\.TP/ { tag = 1 }' |
		options >"$work/in-page"
	is "$(grep -vxFf "$work/in-page" "$work/in-help")" "" \
		"$sub: every option of --help is in its man page"
	is "$(grep -vxFf "$work/in-help" "$work/in-page")" "" \
		"$sub: every option of its man page is in --help"
	# A table of options that is too small leaves the last ones out.
	unknown=
	while read -r option; do
		"$commplace" "$sub" "$option" --no-such --no-such 2>&1 </dev/null |
			grep -q "unknown option $option;" &&
			unknown+=" $option"
	done <"$work/in-help"
	is "$unknown" "" "$sub: takes every option of --help"
	section "$page" EXAMPLES |
		awk '/\\$/ { sub(/\\$/, ""); printf "%s ", $0; next } { print }' |
		sed -n "s/.*commplace $sub\\( [^|>;&)]*\\).*/\\1/p" |
		sed 's/ -- .*//' | options >"$work/in-examples"
	is "$(grep -vxFf "$work/in-help" "$work/in-examples")" "" \
		"$sub: the examples use its options"
done

for page in "${pages[@]}"; do
	name=${page##*/}
	sections=$(sed -n 's/^\.SH //p' "$page" | tr '\n' '|')
	like "$sections" '^NAME\|.*DESCRIPTION\|(.*\|)?SEE ALSO\|$' "$name: sections"
	case $sections in *OPTIONS*)
		like "$sections" 'DESCRIPTION\|EXAMPLES\|' \
			"$name: examples come first"
		;;
	esac
	missing=
	while read -r other number; do
		[ -f "$top/doc/man$number/$other.$number" ] ||
			missing+="$other($number) "
	done < <(text "$page" | sed 's/ (\([158]\))/(\1)/g' |
		grep -oE '[a-z_.-]*commplace[a-z_.-]*\([158]\)' |
		sed 's/(\(.\))/ \1/' | sort -u)
	is "$missing" "" "$name: the pages that it names exist"
	if command -v mandoc >/dev/null; then
		is "$(mandoc -Tlint -W style "$page" 2>&1 |
			grep -v 'longer than 80 bytes')" "" "$name: mandoc finds nothing"
	fi
	if command -v man >/dev/null && command -v groff >/dev/null; then
		is "$(man --warnings -l "$page" 2>&1 >/dev/null)" "" \
			"$name: man finds nothing"
	fi
done

# The sample has every key, and none that the parser does not know.
sed -n 's/^\.BI \([A-Za-z]*\)= .*/\1/p' "$top/doc/man5/commplace.conf.5" |
	sort -u >"$work/keys"
grep -oE '\b[A-Z][A-Za-z]+=' "$top/etc/commplace.conf" | tr -d = |
	sort -u >"$work/sample"
is "$(grep -vxFf "$work/sample" "$work/keys")" "" \
	"the sample commplace.conf has every key"
is "$(grep -vxFf "$work/keys" "$work/sample")" "" "and no other"
sed -e 's/^#\([A-Z][A-Za-z]*[= ]\)/\1/' -e '/^Partition=debug/d' \
	-e "s|^\\(NetworkFile\\)=.*|\\1=$top/etc/networks/quickstart.json|" \
	-e "s|^\\(ProfileDir\\)=.*|\\1=$top/etc/signatures|" \
	-e "s|^\\(StateDir\\)=.*|\\1=$work|" -e '/^Match /d' \
	-e '/^Routing=/d' "$top/etc/commplace.conf" >"$work/sample.conf"
runs "with all of them, it is read" \
	"$commplace" config check "$work/sample.conf"

# Words: what messages do not say, see doc/glossary.md.
is "$(cd "$top" && grep -rnE --include='*.c' \
	'"[^"]*( (is|are) right("|;)|stands? twice|is no [a-z]+ (name|file|router|list)|nor have neither)' \
	src)" "" "messages say what something must be"
for file in README.md doc/admin-guide.md doc/users-guide.md doc/offline.md \
	doc/architecture.md doc/glossary.md; do
	missing=
	while read -r link; do
		[ -e "$top/${file%/*}/$link" ] || [ -e "$top/$link" ] ||
			missing+="$link "
	done < <(grep -oE '\]\([^)#:]+' "$top/$file" | cut -c3-)
	is "$missing" "" "$file: its links lead somewhere"
done
done_testing
