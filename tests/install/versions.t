#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the layer versions says where no root of a Debian release can be had.
. "${0%/*}/../tools/tap.bash"
: "${COMMPLACE_SOURCE:?versions.t: COMMPLACE_SOURCE is not set}"
[ "$(id -u)" = 0 ] || skip_all "needs root"
tmp=$(mktemp -d)
on_exit "rm -rf '$tmp'"
mkdir "$tmp/bin" "$tmp/roots"
cat >"$tmp/bin/debootstrap" <<'END'
#!/bin/sh
echo "E: Failed getting release file of $2" >&2
exit 1
END
chmod 755 "$tmp/bin/debootstrap"
# One that this system is not.
suite=trixie
[ "$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" != trixie ] || suite=bookworm
layer() { # CI
	env -u COMMPLACE_TEST_ROOTS CI="$1" COMMPLACE_EVERY=yes TMPDIR="$tmp/roots" \
		PATH="$tmp/bin:$PATH" \
		bash "$COMMPLACE_SOURCE/tests/versions/$suite.t" 2>/dev/null
}

said="no root of $suite can be made: E: Failed getting release file of $suite"
out=$(layer false)
is "$?:$out" "0:1..0 # SKIP $said" "no mirror: skipped, and why"
out=$(layer true)
is "$?:$out" "1:not ok 1 - $said
1..1" "in continuous integration: failed, and why"
is "$(ls "$tmp/roots")" "" "nothing is left"

# Slurms that are built: archives of series that the plugins have never heard of.
mkdir "$tmp/archives"
touch "$tmp/archives/slurm-99.99.9.tar.xz"
series() { # ARCHIVES SERIES
	env -u COMMPLACE_TEST_ROOTS COMMPLACE_EVERY=yes TMPDIR="$tmp/roots" \
		COMMPLACE_SLURM_SERIES="$1" COMMPLACE_TEST_SERIES="$2" \
		bash "$COMMPLACE_SOURCE/tests/versions/series.t" 2>/dev/null
}
is "$(series "" "")" \
	"1..0 # SKIP no archive slurm-VERSION.tar.* of a series that the plugins know in COMMPLACE_SLURM_SERIES=" \
	"no archives: skipped, and why"
is "$(series "$tmp/archives" 99.99)" \
	"1..0 # SKIP no archive slurm-99.99.tar.* of a series that the plugins know in COMMPLACE_SLURM_SERIES=$tmp/archives" \
	"none that is known: the same"
like "$(COMMPLACE_SERIES_LIVE="t20-sizes t99-none" series "" "")" \
	"not ok 1 - COMMPLACE_SERIES_LIVE: there is no tests/slurm/t99-none.t" \
	"a live file that there is not"
listed=$(. "$COMMPLACE_SOURCE/tests/versions/root.bash" && trap - EXIT && version_differ)
like "$listed" "t20-sizes" "there is a list of live files"
for name in $listed; do
	[ -f "$COMMPLACE_SOURCE/tests/slurm/$name.t" ]
	ok $? "of it: $name"
done
is "$(ls "$tmp/roots")" "" "nothing is left, either"
done_testing
