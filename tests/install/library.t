#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What is installed of the library: headers that compile alone outside of the
# tree, a library that exports what they declare and nothing else, and the
# example of doc/, built and run as somebody else's program.
. "${0%/*}/../tools/tap.bash"
: "${COMMPLACE_SOURCE:?}" "${COMMPLACE_PREFIX:?}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/commplace-library.XXXXXX")
on_exit 'rm -rf "$tmp"'
cd "$tmp" || bail "no directory"
include=$COMMPLACE_PREFIX/include
library=$COMMPLACE_PREFIX/lib/libcommplace.so
commplace=$COMMPLACE_PREFIX/bin/commplace
export PKG_CONFIG_PATH=$COMMPLACE_PREFIX/lib/pkgconfig
read -ra cflags < <(pkg-config --cflags commplace)
read -ra libs < <(pkg-config --libs commplace)
c=(gcc -std=c11 -pedantic -Wall -Wextra -Werror)
cxx=(g++ -std=c++17 -pedantic -Wall -Wextra -Werror -x c++)
have_cxx=$(command -v g++)

# Headers
is "$(cd "$include" && find . -type f | LC_ALL=C sort)" \
	"$(cd "$COMMPLACE_SOURCE/include" && find . -type f | LC_ALL=C sort)" \
	"the headers of include/ are installed, no others"
for header in "$include"/commplace/*.h; do
	name=commplace/${header##*/}
	echo "#include <$name>" >alone.c
	runs "$name alone is C11" "${c[@]}" "${cflags[@]}" -fsyntax-only alone.c
	[ -n "$have_cxx" ] &&
		runs "$name alone is C++17" \
			"${cxx[@]}" "${cflags[@]}" -fsyntax-only alone.c
done

# Names
cat "$include"/commplace/*.h >all.h
echo '#include <commplace/commplace.h>' >all.c
"${c[@]}" "${cflags[@]}" -E -P all.c | tr '\n' ' ' | tr ';}' '\n\n' |
	sed -n 's/.*visibility("default").*[ *]\(commplace_[a-z_]*\)(.*/\1/p' |
	LC_ALL=C sort >declared
nm -D --defined-only "$library" | awk '$2 != "A" {print $3}' |
	sed 's/@.*//' | LC_ALL=C sort >exported
[ "$(wc -l <declared)" -gt 50 ]
ok $? "the headers declare functions: $(wc -l <declared)"
is "$(comm -13 declared exported)" "" "every exported name is declared"
is "$(comm -23 declared exported)" "" "every declared name is exported"
is "$(grep -c COMMPLACE_API all.h)" "$(($(wc -l <declared) + 2))" \
	"none was overlooked"
# Each name with the release that brought it; what went keeps its line.
list=$COMMPLACE_SOURCE/doc/symbols-in-versions
gcc -fpreprocessed -dD -E -P -x c all.h 2>/dev/null |
	grep -oE '\b(commplace|COMMPLACE)_[A-Za-z0-9_]+' |
	grep -vE '_H$|^COMMPLACE_(API|BEGIN|END)$' | LC_ALL=C sort -u >names
is "$(awk '!/^#/ && NF == 2 { print $1 }' "$list" | diff names -)" "" \
	"symbols-in-versions: the names of the headers, no others"
is "$(sed -n 's/^commplace \([0-9]*\.[0-9]*\)\.0$/\1/p' "$COMMPLACE_SOURCE/NEWS" |
	grep -vxFf - <(grep -v '^#' "$list" | awk '{ print $2; if (NF > 2) print $3 }'))" \
	"" "symbols-in-versions: releases are those of NEWS"
like "$(objdump -p "$library")" "SONAME +libcommplace\.so\.0" "the soname"
like "$(nm -D --with-symbol-versions --defined-only "$library")" \
	"commplace_network_load@@COMMPLACE_0" "names have a version"

# The example
network=$COMMPLACE_SOURCE/etc/networks/quickstart.json
signature=$COMMPLACE_SOURCE/etc/signatures/halo-16.json
job=(--network "$network" --signature "$signature" --hosts "n[0-3,8-19]")
example=$COMMPLACE_SOURCE/doc/examples/map_job.c
export LD_LIBRARY_PATH=$COMMPLACE_PREFIX/lib
"$commplace" traffic "${job[@]}" --json >traffic.json
"$commplace" map "${job[@]}" --algorithm greedyallc --json >map.json
want="busiest link: $(json traffic.json max_congestion | xargs printf %.9g) s, mapped $(
	json map.json metrics after max_congestion | xargs printf %.9g) s
$(json map.json rank_to_host | tr , '\n')"
[ "$(wc -l <"$example")" -le 40 ]
ok $? "the example has 40 lines at the most"
runs "the example is C11" "${c[@]}" "${cflags[@]}" -o example "$example" \
	"${libs[@]}"
is "$(./example "$network" "$signature" 'n[0-3,8-19]' 2>&1)" "$want" \
	"it says what the command says"
is "$(./example "$network" "$signature" 'n[0-3,8-99]' 2>&1)" \
	"network quickstart has no host n32" "errors are values"
is "$(./example "$network" "$signature" 'n[0-7]' 2>&1)" \
	"16 ranks do not fit 8 nodes with 1 ranks each" "also of too few nodes"
if [ -n "$have_cxx" ]; then
	runs "the example is C++17" "${cxx[@]}" "${cflags[@]}" -o example++ \
		"$example" -x none "${libs[@]}"
	is "$(./example++ "$network" "$signature" 'n[0-3,8-19]' 2>&1)" \
		"$want" "the same in C++"
fi
done_testing
