#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Man pages, --help, completions, sample configuration and messages say the same,
# and say it in plain English. (cmd_options() refuses a table with an option that
# src/cmd/help does not have.)
here=$(cd "${0%/*}" && pwd)
top=$(cd "$here/../.." && pwd)
. "$here/../tools/tap.bash"
commplace=${COMMPLACE:-commplace}
export LC_ALL=C
# Pages of subcommands are built, and so are lists.
made=${COMMPLACE_BUILD:?}
pages=("$top"/doc/man[158]/*.[158] "$made"/doc/man[15]/*.[15])

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
	page=$made/doc/man1/commplace-$sub.1
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
	is "$(awk -v sub_="$sub" '$2 == sub_ { print $3 }' "$made/doc/options-in-versions" |
		sort | diff "$work/in-help" -)" "" \
		"$sub: options-in-versions has its options, no others"
	# Tags of lists in OPTIONS; some actions have a page of their own.
	for page in "$page" "$made/doc/man1/commplace-$sub"-phases.1; do
		[ ! -f "$page" ] || sed -n '/^\.SH OPTIONS/,/^\.SH [^O]/p' "$page"
	done >"$work/section"
	page=$made/doc/man1/commplace-$sub.1
	text "$work/section" | awk 'tag { print; tag = 0 } /^\.TP/ { tag = 1 }' |
		options >"$work/in-page"
	is "$(grep -vxFf "$work/in-page" "$work/in-help")" "" \
		"$sub: every option of --help is in its man page"
	is "$(grep -vxFf "$work/in-help" "$work/in-page")" "" \
		"$sub: every option of its man page is in --help"
	# A table that lacks one, be it that of an action. (All are refused here, so
	# that with pipefail no pipe succeeds.)
	mapfile -t actions < <(sed -n '/^Usage/,/^$/p' "$work/help" |
		sed -nE "s/.*commplace $sub ([a-z-]+) .*/\\1/p" | sort -u)
	unknown=
	while read -r option; do
		for action in "" "${actions[@]}"; do
			said=$("$commplace" "$sub" ${action:+"$action"} "$option" \
				--no-such --no-such 2>&1 </dev/null)
			[[ "$said" == *"unknown option $option;"* ]] || continue 2
		done
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
			[ -f "$made/doc/man$number/$other.$number" ] ||
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

# Which release brought an option: one that NEWS tells of.
is "$(sed -n 's/^commplace \([0-9]*\.[0-9]*\)\.0$/\1/p' "$top/NEWS" |
	grep -vxFf - <(awk '{ print $NF }' "$made/doc/options-in-versions"))" "" \
	"options-in-versions: releases are those of NEWS"

# completed WORD...: what bash offers for the last of them
completed() {
	bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _commplace
		printf "%s\n" "${COMPREPLY[@]}"' "$made/completions/bash/commplace" "$@"
}
is "$(completed commplace "" | grep -v '^-' | sort)" \
	"$(printf '%s\n' "${subcommands[@]}" | sort)" "bash: completes subcommands"
for sub in "${subcommands[@]}"; do
	is "$(completed commplace "$sub" -- | sort)" \
		"$(awk -v sub_="$sub" '$2 == sub_ { print $3 }' \
			"$made/doc/options-in-versions" | sort)" "bash: options of $sub"
done
is "$(completed commplace signature inst)" install "bash: what follows a subcommand"
is "$(completed commplace map --network "$work/he")" "$work/help" "bash: files"
is "$(completed commplace map --seed "")" "" "bash: no guess at a number"
# Options that are added to sbatch, beside what Slurm itself completes.
added="--comm-profile= --comm-record= --placement-policy= --rank-mapping="
submitted() {
	bash -c '_sbatch() { COMPREPLY=(--nodes); }
		__load_completion() { complete -F _sbatch "$1"; }
		. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
		for i in 1 2; do _commplace_submit sbatch; done
		printf "%s\n" "${COMPREPLY[@]}"' "$made/completions/submit/bash/commplace" "$@"
}
is "$(submitted sbatch -- | sort | paste -sd' ')" \
	"$(printf '%s\n' $added --nodes | sort | paste -sd' ')" "bash: options of sbatch"
is "$(submitted sbatch job | paste -sd' ')" --nodes "bash: files are Slurm's to complete"
# In the shells themselves.
export PATH=$work/bin:$PATH
mkdir -p "$work/bin"
ln -sf "$(realpath "$(command -v "$commplace")")" "$work/bin/commplace"
# typed SHELL WORDS: what it offers for the last of them
typed() {
	case $1 in
	fish)
		fish -N -c "source '$made/completions/fish/commplace.fish'
			source '$made/completions/submit/fish/commplace.fish'
			complete -C '$2'" 2>&1 | cut -f1
		;;
	zsh)
		mkdir -p "$work/zsh"
		cp "$made"/completions/zsh/* "$made"/completions/submit/zsh/* "$work/zsh"
		zsh -f -c 'zmodload zsh/zpty; zpty shell zsh -fi
			zpty -w shell "PS1= PROMPT= RPROMPT=; fpath=('"$work/zsh"' \$fpath)
				autoload -Uz compinit; compinit -u -D; setopt no_list_ambiguous
				LISTMAX=9999; COLUMNS=300; LINES=500; stty columns 300 rows 500
				zstyle :completion:\\* list-colors ; print RE""ADY"
			zpty -r shell line "*READY*"; zpty -w -n shell "$1"$'"'\t\t'"'
			sleep 2; text=
			while zpty -rt shell line; do text+=$line; done; print -r -- "$text"
			zpty -d shell' zsh "$2" 2>&1 | sed $'s/\e\\[[0-9;?]*[a-zA-Z]//g' |
			tr -cd '\n[:print:]'
		;;
	esac
}
for shell in fish zsh; do
	command -v $shell >/dev/null || { skip "completions of $shell" "it is not there"; continue; }
	for row in "commplace sig|signature" "commplace signature inst|install" \
		"commplace map --alg|--algorithm" "sbatch --comm-p|--comm-profile" \
		"srun --rank|--rank-mapping"; do
		like "$(typed $shell "${row%|*}")" "[-]*${row#*|}" "$shell: ${row%|*}"
	done
done

# The sample has every key, and none that the parser does not know.
sed -n 's/^\.BI \([A-Za-z]*\)= .*/\1/p' "$made/doc/man5/commplace.conf.5" |
	sort -u >"$work/keys"
is "$(sed -n 's/^commplace.conf \(.*\)= .*/\1/p' "$made/doc/options-in-versions" |
	sort -u | diff "$work/keys" -)" "" \
	"options-in-versions has the keys of commplace.conf, no others"
grep -oE '\b[A-Z][A-Za-z]+=' "$made/etc/commplace.conf" | tr -d = |
	sort -u >"$work/sample"
is "$(grep -vxFf "$work/sample" "$work/keys")" "" \
	"the sample commplace.conf has every key"
is "$(grep -vxFf "$work/keys" "$work/sample")" "" "and no other"
sed -e 's/^#\([A-Z][A-Za-z]*[= ]\)/\1/' -e '/^Partition=debug/d' \
	-e "s|^\\(NetworkFile\\)=.*|\\1=$top/etc/networks/quickstart.json|" \
	-e "s|^\\(ProfileDir\\)=.*|\\1=$top/etc/signatures|" \
	-e "s|^\\(StateDir\\)=.*|\\1=$work|" -e '/^Match /d' \
	-e '/^Routing=/d' "$made/etc/commplace.conf" >"$work/sample.conf"
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
		# In an example of a page's own it is the site's.
		[[ $link != /* ]] || continue
		[ -e "$top/${file%/*}/$link" ] || [ -e "$top/$link" ] ||
			missing+="$link "
	done < <(grep -oE '\]\([^)#:]+' "$top/$file" | cut -c3-)
	is "$missing" "" "$file: its links lead somewhere"
done
done_testing
