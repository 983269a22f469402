#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The tarball builds, installs and uninstalls, and passes those of its tests that
# read files of it; the others are what the layers unit and plugin run.
. "${0%/*}/../tools/tap.bash"
: "${COMMPLACE_BUILD:?}"
needs_turn 2 1
unset CMOCKA_MESSAGE_OUTPUT MAKEFLAGS
tests=$(sed -n 's/^\(tests_[a-z_]*\)_CPPFLAGS = .*abs_top_srcdir.*/\1/p' \
	"$COMMPLACE_SOURCE"/tests/{unit/unit,plugin/plugin}.mk |
	sed -E 's|^tests_(unit\|plugin)_|tests/\1/|' | paste -sd' ')
like "$tests" "tests/unit/test_network .*tests/unit/test_binders" \
	"tests that read files of the tarball are known"
runs "make distcheck" make -s -C "$COMMPLACE_BUILD" distcheck -j"$(nproc)" \
	TESTS="$tests" check_PROGRAMS="$tests"
tarball=$(ls "$COMMPLACE_BUILD"/commplace-*.tar.xz 2>/dev/null)
isnt "$tarball" "" "the tarball is there"
list=$(tar -tf "$tarball" 2>/dev/null)
for f in quickstart run-tests scripts/install-packages scripts/fetch-slurm-source \
    README.md NEWS COPYING tests/slurm/cluster.bash tests/tools/tap.bash \
    tests/tools/limit tests/tools/root.bash tests/fuzz/run tests/bad-input/run; do
	like "$list" "commplace-[0-9.]+/$f" "it holds $f"
done
unlike "$list" "\.slurm-source|\.orig\.tar|\.o\b|\.so\b|autom4te" "and nothing that was built or fetched"
rm -f "$tarball"
done_testing
