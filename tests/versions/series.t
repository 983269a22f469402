#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What depends on Slurm's version, on one that is built from its source: of the
# archives slurm-VERSION.tar.* in COMMPLACE_SLURM_SERIES another each day, or the one
# of the version or series that COMMPLACE_TEST_SERIES names (./run-tests --series).
# Without archives SchedMD is asked for that version. What was built is kept with the
# roots (COMMPLACE_TEST_ROOTS). COMMPLACE_SERIES_LIVE: live files in place of those
# below, or "all".
. "${0%/*}/../tools/tap.bash"
: "${COMMPLACE_SOURCE:?}"
named=${COMMPLACE_TEST_SERIES:-}
kept=${COMMPLACE_TEST_ROOTS:-}

# The layer plugin has every hook and function that we call, and every field that we
# read; of live files those are run whose subject is Slurm's own behaviour
# (version_differ).
. "${0%/*}/root.bash"
mapfile -t live < <(version_differ)
version_turn "" || skip_all "other Slurms have their turn today; COMMPLACE_EVERY=yes has all"
if [ -n "${COMMPLACE_SERIES_LIVE:-}" ]; then
	read -ra live <<<"$COMMPLACE_SERIES_LIVE"
fi
files=(plugin)
for name in "${live[@]}"; do
	file=$COMMPLACE_SOURCE/tests/slurm/$name.t
	if [ "$name" = all ]; then
		files+=(live)
	elif [ -f "$file" ]; then
		files+=("$file")
	else
		bail "COMMPLACE_SERIES_LIVE: there is no tests/slurm/$name.t"
	fi
done

[ "$(id -u)" = 0 ] || skip_all "needs root"
log=$(mktemp)
on_exit 'rm -f "$log"'
if [ -z "$kept" ]; then
	kept=$(mktemp -d "${TMPDIR:-/tmp}/commplace-series.XXXXXX")
	on_exit "rm -rf '$kept'"
	chmod 755 "$kept"
fi

version_of() { sed 's|.*/slurm-||; s|\.tar\..*||' <<<"$1"; }
# The archives of series that the plugins know.
archives() {
	local known file version
	known=$(sed -n 's/^m4_define(\[CPL_SLURM_SERIES\], \[\(.*\)\])/\1/p' \
		"$COMMPLACE_SOURCE/m4/cpl_check_slurm.m4")
	for file in "${COMMPLACE_SLURM_SERIES:-/nowhere}"/slurm-[0-9]*.tar.*; do
		version=$(version_of "$file")
		[ -f "$file" ] && [[ -z $named || $version. == "$named".* ]] &&
			[[ " ${known//,/} " == *" ${version%.*} "* ]] && echo "$file"
	done
}
download() { # VERSION
	local file=$kept/slurm-$1.tar.bz2
	[ -f "$file" ] || /usr/lib/apt/apt-helper download-file \
		"https://download.schedmd.com/slurm/${file##*/}" "$file.new" >"$log" 2>&1 &&
		mv "$file.new" "$file" && echo "$file"
}
mapfile -t found < <(archives)
if [ ${#found[@]} -gt 0 ]; then
	archive=${found[EPOCHSECONDS / 86400 % ${#found[@]}]}
elif [[ $named == *.*.* ]]; then
	archive=$(download "$named") ||
		skip_all "no slurm-$named.tar.* in COMMPLACE_SLURM_SERIES, nor at SchedMD: $(tail -n 1 "$log")"
else
	skip_all "no archive slurm-${named:-VERSION}.tar.* of a series that the plugins know in COMMPLACE_SLURM_SERIES=${COMMPLACE_SLURM_SERIES:-}"
fi
version=$(version_of "$archive")
prefix=$kept/slurm-$version

# step NAME COMMAND...: or all ends with the end of its output
step() {
	local name=$1 begin=$SECONDS
	shift
	"$@" >"$log" 2>&1 </dev/null || {
		tail -n 40 "$log" >&2
		bail "$version: $name"
	}
	pass "$version: $name"
	diag "$name: $((SECONDS - begin)) s" >&2
}
unpack() {
	mkdir -p "$prefix.tree" &&
		tar -xf "$archive" -C "$prefix.tree" --strip-components=1
}
# What tests run, and fast: no static libraries, which take as long again, no documents,
# nothing optimised and no macros in debug information, which the plugins read.
build() {
	local flags
	mkdir -p "$prefix.build" && cd "$prefix.build" &&
		"$prefix.tree/configure" -q --prefix="$prefix" \
			--sysconfdir="$prefix/etc" --enable-multiple-slurmd \
			--with-munge &&
		sed -i 's/^build_old_libs=yes/build_old_libs=no/' libtool &&
		flags=$(sed -n 's/^CFLAGS = //p' src/slurmctld/Makefile |
			sed 's/-ggdb3/-g2/; s/-O[0-9]/-O0/g') &&
		make -s -j"$(nproc)" -C src CFLAGS="$flags" &&
		make -s -C src install && make -s install-am &&
		mkdir -p "$prefix/etc" && cd / && rm -rf "$prefix.build" &&
		: >"$prefix/made"
}
step "packages are installed" \
	"$COMMPLACE_SOURCE/scripts/install-packages" --own-slurm series
[ -f "$prefix.tree/META" ] || step "the archive is unpacked" unpack
[ -f "$prefix/made" ] || step "Slurm is built" build
begin=$SECONDS
[ -z "${COMMPLACE_TEST_UNTIL:-}" ] || export COMMPLACE_TEST_UNTIL="${COMMPLACE_TEST_UNTIL%:all}:all"
COMMPLACE_TEST_PORTS=${COMMPLACE_TEST_PORTS:-26000-28999} COMMPLACE_TEST_AT_ONCE=3 \
	"$COMMPLACE_SOURCE/run-tests" --no-install -d "$prefix.tests" \
	--slurm="$prefix" --slurm-source="$prefix.tree" "${files[@]}" >"$log" 2>&1
ok $? "$version: ./run-tests --slurm=... ${files[*]##*/}"
diag "tests: $((SECONDS - begin)) s" >&2
diag "$(grep -aE '^(Files=|Result:)' "$log" | paste -sd' ')"
grep -aE '\.\. skipped' "$log" | sed "s/^/# $version: /" >&2
[ "$tap_failed" -eq 0 ] || {
	grep -aE '^ *#|FAILED' "$log" | tail -n 200
	tail -n 40 "$log"
} >&2
done_testing
