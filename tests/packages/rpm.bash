#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The rpms of commplace.spec, by Debian's rpm: after debian.bash, from the tree
# and with the packages that it left.
top=$(cd "${0%/*}/../.." && pwd)
. "$top/tests/tools/tap.bash"
[ "$top" = /commplace/source ] || bail "changes the system: only for a root of packages_run"
cd "$top" || exit
log=$(mktemp)
rpms=/commplace/rpm
on_exit 'rm -f "$log"'
rm -rf "$rpms"
slurm=$(dpkg-query -W -f '${source:Upstream-Version}' libslurm-dev)
version=$(sed -n 's/^Version: *//p' commplace.spec)

runs "make dist" make -s dist
is "$(tar -tf "commplace-$version.tar.xz" | grep -E '/debian/.*/.' |
	grep -vE '/debian/(source/format|tests/control)$')" "" \
	"without what dpkg-buildpackage left, Slurm's source among it"
# Slurm and the libraries are no rpms here.
rpmbuild -tb --nodeps --define "_topdir $rpms" \
	--define "slurm_source /commplace/slurm-source" \
	"commplace-$version.tar.xz" >"$log" 2>&1
ok $? "rpmbuild -tb" || { tail -n 40 "$log" >&2; done_testing; }

release=1.slurm$slurm
# From 4.20 on Debian's rpm makes packages of debug data, too, as Fedora's does.
mkdir "$rpms/debug"
find "$rpms/RPMS" -name '*-debug*.rpm' -exec mv -t "$rpms/debug" {} +
is "$(cd "$rpms/RPMS/x86_64" && echo *)" "commplace-$version-$release.x86_64.rpm commplace-devel-$version-$release.x86_64.rpm commplace-libs-$version-$release.x86_64.rpm slurm-commplace-$version-$release.x86_64.rpm" \
	"four rpms, Slurm's version in the release"
query() { # OPTION RPM
	rpm -qp "$1" "$rpms/RPMS/x86_64/$2-$version-$release.x86_64.rpm"
}
# Files but build ids, licences, and directories of others.
files() {
	query -l "$1" | grep -vE '/\.build-id|/licenses/' | sort
}
lib=$(rpm --eval '%{_libdir}')
plugins="job_submit select_cons_tres spank"
major=${slurm%%.*} minor=${slurm#*.}
[ "$major${minor%%.*}" -lt 2405 ] || plugins="$plugins switch"
want=$(for p in $plugins task; do
	echo "$lib/slurm/${p}_commplace.so"
done)
is "$(files slurm-commplace | grep '\.so$')" "$want" \
	"slurm-commplace has the plugins of Slurm $slurm"
is "$(files slurm-commplace | grep -vE '\.so$|/man8/')" "" \
	"and their manual pages, no more"
is "$(files commplace-libs | paste -sd' ')" \
	"$lib/libcommplace.so.0 $lib/libcommplace.so.0.0.0" \
	"commplace-libs has the library"
like "$(files commplace-devel | paste -sd' ')" \
	"/usr/include/commplace .*/commplace.h.* $lib/libcommplace.so $lib/pkgconfig/commplace.pc$" \
	"commplace-devel what is needed to link with it"
for f in /usr/bin/commplace "$lib/commplace/libcommplace-record.so" "$lib/commplace/libcommplace-reorder.so" \
    /usr/share/commplace/commplace.conf /usr/share/man/man1/commplace.1 \
    /usr/share/man/man5/commplace.conf.5; do
	like " $(files commplace | paste -sd" ") " " ${f//./\\.}(\.gz)? " \
		"commplace has $f"
done
is "$(query -R slurm-commplace | grep -i slurm)" "slurm(x86-64) = $slurm" \
	"the plugins require exactly their Slurm, of any release"
for p in commplace commplace-devel; do
	like "$(query -R "$p" | paste -sd' ')" \
		"commplace-libs\(x86-64\) = $version-$release" \
		"$p requires its library"
done
is "$(query -R commplace | grep -iE 'mpi|scotch')" "" \
	"commplace requires no MPI, which programs bring, and nothing that was found by chance"

# Into a directory, since the system's packages are no rpms: installed, replaced
# and removed. No scriptlet would do anything outside of it.
root=$(mktemp -d)
on_exit 'rm -rf "$root"'
rpm_in() {
	rpm --root "$root" --nodeps "$@"
}
left() { # all but rpm's own and directories of others
	find "$root" -path "$root$(rpm --eval '%{_dbpath}')" -prune -o \
		\( ! -type d -o -name '*commplace*' \) -print
}
is "$(rpm -qp --scripts "$rpms"/RPMS/x86_64/*.rpm)" "" "no scriptlets"
runs "installed" rpm_in -i "$rpms"/RPMS/x86_64/*.rpm
is "$(rpm_in -Va)" "" "every file is as in its rpm"
is "$(LD_LIBRARY_PATH=$root$lib "$root/usr/bin/commplace" --version)" \
	"commplace $version" "the command runs"
for p in $plugins task; do
	is "$(nm -D "$root$lib/slurm/${p}_commplace.so" |
		grep -c ' [DRB] plugin_version$')" 1 "$p is a plugin of Slurm"
done
runs "replaced" rpm_in -U --replacepkgs "$rpms"/RPMS/x86_64/*.rpm
isnt "$(left)" "" "files are there"
runs "removed" rpm_in -e commplace commplace-libs commplace-devel \
	slurm-commplace
is "$(left)" "" "nothing is left"
done_testing
