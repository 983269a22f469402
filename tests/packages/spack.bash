#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Spack's recipe and EasyBuild's: configure takes the arguments that they give, and
# what the latter looks for is installed. After rpm.bash, with its tarball and rpms;
# neither program is needed.
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
# configures NAME ARGUMENT...: with what it says in $out
configures() {
	local name=$1
	shift
	rm -rf "$tmp/build" && mkdir "$tmp/build" &&
		out=$(cd "$tmp/build" && "$tmp"/commplace-*/configure "$@" 2>&1)
	ok $? "configure of $name" || diag "${out:-}" >&2
	unlike "$out" "unrecognized options" "$name: it knows all arguments"
}
configured() { # NAME VARIANT=VALUE...
	local name=$1 args
	shift
	mapfile -t args < <(arguments "$@")
	configures "$name" "${args[@]}"
}
configured "the variants by default"
unlike "$out" "slurm-source" "builds no plugins"
configured "all variants" "slurm_source=/commplace/slurm-source" scotch=yes
like "$out" "/opt/commplace/lib/slurm" "puts plugins below the prefix"
configured "no MPI" mpi=no
arguments slurm_source=relative >/dev/null 2>&1
is $? 1 "slurm_source is a whole path"

# An easyconfig is Python. Its prefix/lib is the rpms' lib64.
easyconfig() { # EXPRESSION
	python3 -c 'import sys
SYSTEM = None
exec(open(sys.argv[1]).read())
print(*eval(sys.argv[2]), sep="\n")' "$top"/contrib/easybuild/commplace-*.eb "$1"
}
mapfile -t args < <(easyconfig 'configopts.split()')
isnt "${#args[@]}" 0 "the easyconfig has arguments"
configures "the easyconfig" --prefix=/opt/commplace "${args[@]}"
is "$(easyconfig '[f"{name}-{version}.tar.xz"]')" \
	"$(cd "$top" && echo commplace-*.tar.xz)" "its source is what make dist makes"
rpm -qpl /commplace/rpm/RPMS/*/*.rpm >"$tmp/files"
easyconfig 'sanity_check_paths["files"] + sanity_check_paths["dirs"]' \
	>"$tmp/paths"
isnt "$(wc -l <"$tmp/paths")" 0 "it looks for files"
is "$(sed 's|^lib/|lib64/|; s|^|/usr/|' "$tmp/paths" |
	while read -r f; do
		grep -qE "^$f(/.*)?\$" "$tmp/files" || echo "$f"
	done)" "" "all of which are installed"
done_testing
