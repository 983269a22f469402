#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# dnf with a site's repository of our rpms: what it takes along, that Slurm is not
# replaced without us, and that nothing is left. After rpm.bash, with its rpms; what
# these need of other packages, Slurm's among them, is provided by one without files.
top=$(cd "${0%/*}/../.." && pwd)
. "$top/tests/tools/tap.bash"
[ "$top" = /commplace/source ] || bail "changes the system: only for a root of packages_run"
tmp=$(mktemp -d)
on_exit 'rm -rf "$tmp"'
cd "$tmp" || exit
mkdir repo root
cp /commplace/rpm/RPMS/x86_64/*.rpm repo
rpm -qp --requires repo/*.rpm | grep -vE '^rpmlib|^commplace|^/' | sed 's/ *$//' |
	sort -u >needs
slurm=$(sed -n 's/^slurm(x86-64) = //p' needs)
isnt "$slurm" "" "the rpms require a Slurm: $slurm"
# offer VERSION: a Slurm of it is in the repository
offer() {
	{
		printf '%s\n' "Name: slurm" "Version: $1" "Release: 1" \
			"Summary: stand-in" "License: none" "AutoReqProv: no"
		sed '/^slurm(/d; s/^/Provides: /' needs
		printf '%s\n' %description stand-in %files
	} >slurm.spec
	rpmbuild -bb --define "_topdir $tmp/build" slurm.spec >log 2>&1 &&
		cp build/RPMS/x86_64/*.rpm repo && createrepo_c -q repo
}
# Without a cache: how old one is dnf tells by the clock, which may be behind that of
# the file system.
in_root() {
	rm -rf cache
	dnf -y --installroot="$tmp/root" --releasever=9 --repofrompath="site,$tmp/repo" \
		--repo=site --nogpgcheck --setopt=cachedir="$tmp/cache" \
		--setopt=metadata_expire=0 "$@" >log 2>&1
}
installed() {
	rpm --root "$tmp/root" -qa --qf '%{NAME}-%{VERSION}\n' | sort | paste -sd' '
}

offer "$slurm" || bail "$(tail -n 3 log)"
in_root install slurm slurm-commplace commplace
ok $? "dnf install" || diag "$(tail -n 5 log)"
version=$(sed -n 's/^Version: *//p' "$top/commplace.spec")
whole="commplace-$version commplace-libs-$version slurm-$slurm slurm-commplace-$version"
is "$(installed)" "$whole" "with the library, nothing else"
is "$(rpm --root "$tmp/root" -Va)" "" "every file is as in its rpm"
offer "${slurm%.*}.99" || bail "$(tail -n 3 log)"
in_root upgrade
is "$?:$(installed)" "0:$whole" "dnf upgrade: a newer Slurm waits for a commplace of it"
in_root install "slurm-${slurm%.*}.99"
isnt "$?" 0 "asked for by name it is refused"
like "$(<log)" "requires slurm\(x86-64\) = $slurm" "for what the plugins require"
in_root remove slurm-commplace commplace commplace-libs
is "$?:$(installed)" "0:slurm-$slurm" "dnf remove leaves Slurm"
is "$(find root -name '*commplace*' ! -path '*/dnf*')" "" "and nothing of ours"
done_testing
