#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The tarball builds, passes its tests, installs and uninstalls.
. "${0%/*}/../tools/tap.bash"
: "${COMMPLACE_BUILD:?}"
unset CMOCKA_MESSAGE_OUTPUT MAKEFLAGS
runs "make distcheck" make -s -C "$COMMPLACE_BUILD" distcheck -j"$(nproc)"
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
