#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# configure builds without Slurm, and refuses a Slurm that is not the installed
# one.
. "${0%/*}/../tools/tap.bash"
: "${COMMPLACE_SOURCE:?}" "${COMMPLACE_SLURM_SOURCE:?}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/commplace-configure.XXXXXX")
on_exit 'rm -rf "$tmp"'

mkdir "$tmp/plain"
cd "$tmp/plain" || bail "no directory"
output=$("$COMMPLACE_SOURCE/configure" --without-slurm --without-mpi \
	--enable-werror --prefix="$tmp/inst" 2>&1)
ok $? "configure --without-slurm --without-mpi"
like "$output" "Slurm plugins +no" "the summary says: no plugins"
runs "it builds" make -s
runs "it installs" make -s install
is "$(find "$tmp/inst" -name '*slurm*')" "" "nothing of Slurm is installed"
runs "the command works" "$tmp/inst/bin/commplace" network check \
	"$COMMPLACE_SOURCE/etc/networks/quickstart.json"

# refuses NAME REGEX OPTION...
refuses() {
	local name=$1 regex=$2 output
	shift 2
	rm -rf "$tmp/refused"
	mkdir "$tmp/refused"
	cd "$tmp/refused" || bail "no directory"
	if output=$("$COMMPLACE_SOURCE/configure" "$@" 2>&1); then
		fail "$name: refused"
	else
		pass "$name: refused"
	fi
	like "$output" "$regex" "$name: the reason is given"
}
tree() { # VERSION DEBIAN-VERSION
	rm -rf "$tmp/tree"
	mkdir -p "$tmp/tree/debian" "$tmp/tree/src/common"
	touch "$tmp/tree/src/common/slurm_xlator.h"
	sed "s/^\([ \t]*Version:[ \t]*\).*/\1$1/" \
		"$COMMPLACE_SLURM_SOURCE/META" >"$tmp/tree/META"
	echo "slurm-wlm ($2) bookworm; urgency=medium" >"$tmp/tree/debian/changelog"
}
tree 22.05.9 22.05.9-1
refuses "source of another Slurm" "22\.05\.9" --with-slurm-source="$tmp/tree"
tree 22.05.8 22.05.8-1
refuses "source of another Debian revision" "22\.05\.8-1" \
	--with-slurm-source="$tmp/tree"
tree 23.11.4 23.11.4-1
refuses "a series that the plugins do not know" \
	"23\.11\.4; .* the series 22\.05, 24\.11, 25\.05, 25\.11 and 26\.05" \
	--with-slurm-source="$tmp/tree"
rm -r "$tmp/tree/src"
refuses "a tree without headers" "slurm_xlator\.h: .* all headers of it" \
	--with-slurm-source="$tmp/tree"
refuses "no Slurm source" "META" --with-slurm-source="$tmp/inst"
refuses "a prefix without Slurm" "inst: there is no include/slurm" \
	--with-slurm="$tmp/inst"
done_testing
