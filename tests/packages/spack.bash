#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Spack's recipe: configure takes the arguments that it gives. After rpm.bash,
# with its tarball; Spack itself is not needed.
top=$(cd "${0%/*}/../.." && pwd)
. "$top/tests/tools/tap.bash"
[ "$top" = /commplace/source ] || bail "changes the system: only for a root of packages_run"
tmp=$(mktemp -d)
on_exit 'rm -rf "$tmp"'
recipe=$top/contrib/spack/spack_repo/commplace/packages/commplace/package.py
tar -xf "$top"/commplace-*.tar.xz -C "$tmp" || bail "no tarball"
arguments() {
	python3 "$top/tests/packages/spack.py" "$recipe" /opt/commplace "$@"
}
# configured NAME VARIANT=VALUE...: with what it says in $out
configured() {
	local name=$1 args
	shift
	args=$(arguments "$@") && rm -rf "$tmp/build" && mkdir "$tmp/build" &&
		# shellcheck disable=SC2086
		out=$(cd "$tmp/build" && "$tmp"/commplace-*/configure $args 2>&1)
	ok $? "configure of $name" || diag "${out:-}" >&2
	unlike "$out" "unrecognized options" "$name: it knows all arguments"
}
configured "the variants by default"
unlike "$out" "slurm-source" "builds no plugins"
configured "all variants" "slurm_source=/commplace/slurm-source" scotch=yes
like "$out" "/opt/commplace/lib/slurm" "puts plugins below the prefix"
configured "no MPI" mpi=no
arguments slurm_source=relative >/dev/null 2>&1
is $? 1 "slurm_source is a whole path"
done_testing
