#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The rpms of commplace.spec, by Debian's rpm: after debian.bash, from the tree
# and with the packages that it left.
top=$(cd "${0%/*}/../.." && pwd)
. "$top/tests/tools/tap.bash"
[ "$top" = /commplace/source ] || bail "changes the system: only for a root of packages_run"
cd "$top" || exit
tmp=$(mktemp -d)
log=$tmp/log
rpms=/commplace/rpm
on_exit 'rm -rf "$tmp"'
rm -rf "$rpms"
slurm=$(dpkg-query -W -f '${source:Upstream-Version}' libslurm-dev)
version=$(sed -n 's/^Version: *//p' commplace.spec)

runs "make dist" make -s dist
is "$(tar -tf "commplace-$version.tar.xz" | grep -E '/debian/.*/.' |
	grep -vE '/debian/(source/format|tests/control)$')" "" \
	"without what dpkg-buildpackage left, Slurm's source among it"
# rpmbuild as RHEL has it: MPIs are environment modules, in no PATH before one is
# loaded, and its flags. Slurm and the libraries are no rpms here.
mkdir -p "$tmp/bin" "$tmp/openmpi/bin"
find /usr/bin /usr/local/bin -mindepth 1 ! -name '*mpi*' ! -name 'ortecc' \
	-exec ln -sft "$tmp/bin" {} +
ln -s /usr/bin/mpicc "$tmp/openmpi/bin/mpicc"
flags="-O2 %{_lto_cflags} -fexceptions -g -grecord-gcc-switches -pipe -Wall -Werror=format-security -Wp,-U_FORTIFY_SOURCE,-D_FORTIFY_SOURCE=2 -Wp,-D_GLIBCXX_ASSERTIONS -fstack-protector-strong -m64 -march=x86-64-v2 -mtune=generic -fasynchronous-unwind-tables -fstack-clash-protection -fcf-protection"
# built DIR OPTION-OF-RPMBUILD...: of the tarball, below DIR
built() {
	local dir=$1
	shift
	env PATH="$tmp/bin:/usr/sbin:/sbin" rpmbuild --nodeps \
		--define "_topdir $dir" --define "optflags $flags" \
		--define "_lto_cflags -flto=auto -ffat-lto-objects" \
		--define "build_ldflags -Wl,-z,relro -Wl,--as-needed" \
		"$@" "commplace-$version.tar.xz" >"$log" 2>&1
}
load="export PATH=$tmp/openmpi/bin:\$PATH"

# The site's Slurm as source rpm, with a patch of its own.
mkdir -p "$tmp/slurm/SOURCES" "$tmp/slurm-$slurm"
cp -R /commplace/slurm-source/. "$tmp/slurm-$slurm"
tar -C "$tmp" -czf "$tmp/slurm/SOURCES/slurm-$slurm.tar.gz" "slurm-$slurm"
cp -R "$tmp/slurm-$slurm" "$tmp/patched"
echo '/* of the site */' >>"$tmp/patched/src/common/slurm_xlator.h"
(cd "$tmp" && diff -u "slurm-$slurm/src/common/slurm_xlator.h" \
	patched/src/common/slurm_xlator.h) >"$tmp/slurm/SOURCES/site.patch"
cat >"$tmp/slurm.spec" <<END
Name: slurm
Version: $slurm
Release: 1
Summary: Slurm
License: GPL-2.0-or-later
Source0: slurm-$slurm.tar.gz
Patch0: site.patch
BuildRequires: a-package-that-nobody-has
%description
As a site has it.
%prep
%autosetup -p1
END
rpmbuild -bs --define "_topdir $tmp/slurm" "$tmp/slurm.spec" >"$log" 2>&1 ||
	bail "$(tail -n 3 "$log")"
tree=$tmp/of/srpm
runs "contrib/rpm/slurm-tree" contrib/rpm/slurm-tree \
	"$tmp/slurm/SRPMS/slurm-$slurm-1.src.rpm" "$tree"
is "$(tail -n 1 "$tree/src/common/slurm_xlator.h")" "/* of the site */" \
	"the tree has the site's patch"
contrib/rpm/slurm-tree "$tmp/slurm/SRPMS/slurm-$slurm-1.src.rpm" "$tree" 2>"$log"
is "$?:$(<"$log")" "1:slurm-tree: $tree is there already" "it overwrites nothing"

built "$rpms" -tb --define "slurm_source $tmp/none"
is "$?:$(grep -c "$tmp/none is no source tree of Slurm" "$log")" 1:1 \
	"without the tree rpmbuild ends at once, and says what it takes"
built "$rpms" -tb --define "slurm_source $tree"
is "$?:$(grep -c "^no MPI to build the recorder with: install openmpi-devel" "$log")" 1:1 \
	"without an MPI rpmbuild ends and says how to leave the recorder out"
is "$(find "$rpms/BUILD" -name '*.o')" "" "before anything is compiled"
built "$rpms" -tb --define "slurm_source $tree" --define "_openmpi_load $load"
ok $? "rpmbuild -tb" || { tail -n 40 "$log" >&2; done_testing; }

release=1.slurm$slurm
# From 4.20 on Debian's rpm makes packages of debug data, too, as Fedora's does.
no_debug() { find "$1/RPMS" -name '*-debug*.rpm' -delete; }
no_debug "$rpms"
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
is "$(files slurm-commplace | grep -vE '\.so$|/man8/' | sort | paste -sd' ')" \
	"/usr/libexec/commplace-layout /usr/sbin/commplaced" \
	"and what decides, with their manual pages, no more"
is "$(files commplace-libs | paste -sd' ')" \
	"$lib/libcommplace.so.0 $lib/libcommplace.so.0.0.0" \
	"commplace-libs has the library"
like "$(files commplace-devel | paste -sd' ')" \
	"/usr/include/commplace .*/commplace.h.* $lib/libcommplace.so $lib/pkgconfig/commplace.pc$" \
	"commplace-devel what is needed to link with it"
for f in /usr/bin/commplace "$lib/commplace/libcommplace-record.so" "$lib/commplace/libcommplace-reorder.so" \
    "$lib/commplace/libnccl-profiler-commplace.so" \
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
# The former is refused by RHEL's checks; the latter by what daemons alone have.
is "$(find "$root" -type f -exec readelf -d {} + 2>/dev/null |
	grep -E 'R(UN)?PATH|BIND_NOW|Flags:.*NOW')" "" \
	"no run path, and nothing that is bound at once"
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

# Slurm of no rpm, below a prefix of the site's; and no recorder.
site=$tmp/site
mkdir -p "$site/include" "$site/sbin" "$site/lib64"
cp -R /usr/include/slurm "$site/include"
ln -s "$(command -v slurmctld)" "$site/sbin"
ln -s "$(dirname "$(ls /usr/lib/*/slurm-wlm/libslurmfull.so)")" "$site/lib64/slurm"
rpms=$tmp/prefix
built "$rpms" -tb --without mpi --define "optflags -O0" --define "slurm_source $tree" \
	--define "slurm_prefix $site"
ok $? "rpmbuild -tb for a Slurm below a prefix" || tail -n 40 "$log" >&2
is "$(files slurm-commplace | grep '\.so$' | sed 's|/[^/]*$||' | sort -u)" \
	"$site/lib64/slurm" "plugins go beside that Slurm's own"
is "$(query -R slurm-commplace | grep -iw slurm)" "" "and require no package of it"
is "$(files commplace | grep "^$lib/.*\.so")" "$lib/commplace/libnccl-profiler-commplace.so" \
	"without mpi there is no recorder but NCCL's"
built "$rpms" -tb --define "slurm_source $tree" --define "slurm_prefix $tmp"
is "$?:$(grep -c "$tmp has neither lib64/slurm/libslurmfull.so nor" "$log")" 1:1 \
	"a prefix without Slurm is refused"
done_testing
