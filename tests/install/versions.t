#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the layer versions says where no root of a Debian release can be had.
. "${0%/*}/../tools/tap.bash"
: "${COMMPLACE_SOURCE:?versions.t: COMMPLACE_SOURCE is not set}"
if [ "$(id -u)" != 0 ]; then
	echo "1..0 # SKIP needs root"
	tap_done=yes
	exit 0
fi
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
	env -u COMMPLACE_TEST_ROOTS CI="$1" TMPDIR="$tmp/roots" \
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
done_testing
