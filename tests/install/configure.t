#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# configure builds without Slurm, and refuses a Slurm that is not the installed
# one.
. "${0%/*}/../tools/tap.bash"
: "${COMMPLACE_SOURCE:?}" "${COMMPLACE_SLURM_SOURCE:?}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/commplace-configure.XXXXXX")
on_exit 'rm -rf "$tmp"'

mkdir "$tmp/plain"
cd "$tmp/plain" || bail "no directory"
builds() { # NAME COMMAND...
	if turn 2 0; then
		runs "$@"
	else
		skip "$1" "distcheck builds today"
	fi
}
output=$("$COMMPLACE_SOURCE/configure" --without-slurm --without-mpi \
	--enable-werror --prefix="$tmp/inst" CFLAGS=-O0 2>&1)
ok $? "configure --without-slurm --without-mpi"
like "$output" "Slurm plugins +no" "the summary says: no plugins"
builds "it builds" make -s -j2
builds "it installs" make -s install
without_slurm() {
	local found
	found=$(find "$tmp/inst" -name '*slurm*' ! -path '*/share/doc/*') && [ -z "$found" ]
}
builds "nothing of Slurm is installed" without_slurm
builds "the command works" "$tmp/inst/bin/commplace" network check \
	"$COMMPLACE_SOURCE/etc/networks/quickstart.json"

# refuses NAME REGEX OPTION...
refuses() {
	local name=$1 regex=$2 output
	shift 2
	rm -rf "$tmp/refused"
	mkdir "$tmp/refused"
	cd "$tmp/refused" || bail "no directory"
	if output=$("$COMMPLACE_SOURCE/configure" "$@" 2>&1); then
		fail "$name: refused"
	else
		pass "$name: refused"
	fi
	like "$output" "$regex" "$name: the reason is given"
}
tree() { # VERSION DEBIAN-VERSION
	rm -rf "$tmp/tree"
	mkdir -p "$tmp/tree/debian" "$tmp/tree/src/common"
	touch "$tmp/tree/src/common/slurm_xlator.h"
	sed "s/^\([ \t]*Version:[ \t]*\).*/\1$1/" \
		"$COMMPLACE_SLURM_SOURCE/META" >"$tmp/tree/META"
	echo "slurm-wlm ($2) bookworm; urgency=medium" >"$tmp/tree/debian/changelog"
}
tree 22.05.9 22.05.9-1
refuses "source of another Slurm" "22\.05\.9" --with-slurm-source="$tmp/tree"
tree 22.05.8 22.05.8-1
refuses "source of another Debian revision" "22\.05\.8-1" \
	--with-slurm-source="$tmp/tree"
tree 23.02.4 23.02.4-1
refuses "a series that the plugins do not know" \
	"23\.02\.4; .* the series 22\.05, 23\.11, 24\.05, .* and 26\.11" \
	--with-slurm-source="$tmp/tree"
rm -r "$tmp/tree/src"
refuses "a tree without headers" "slurm_xlator\.h: .* all headers of it" \
	--with-slurm-source="$tmp/tree"
refuses "no Slurm source" "META" --with-slurm-source="$tmp/inst"
refuses "a prefix without Slurm" "inst: there is no include/slurm" \
	--with-slurm="$tmp/inst"

# Wrappers of an MPI that are there without the compiler that they call.
mkdir "$tmp/wrappers" "$tmp/without"
printf '#!/bin/sh\necho no compiler >&2\nexit 1\n' >"$tmp/wrappers/mpifort"
chmod 755 "$tmp/wrappers/mpifort"
cd "$tmp/without" || bail "no directory"
output=$(PATH=$tmp/wrappers:$PATH "$COMMPLACE_SOURCE/configure" \
	--without-slurm 2>&1)
like "$output" "whether mpifort works\.\.\. no" "an mpifort without a compiler"
is "$(sed -n 's/^MPIFORT = //p' Makefile)" "" "is none"

# Installations of others, on which the plugins only have to be found a place:
# a prefix with Slurm's public headers, daemons and libslurmfull.so.
version=$(sed -n 's/^[ \t]*Version:[ \t]*//p' "$COMMPLACE_SLURM_SOURCE/META")
other=${version%.*}.99
prefix=$tmp/prefix
looks= # where its libslurmfull.so says that its plugins are; "": it says nothing
# installation LIBDIR [VERSION]
installation() {
	local n
	rm -rf "$prefix"
	mkdir -p "$prefix"/{include/slurm,sbin,"$1"}
	cp "$COMMPLACE_SLURM_SOURCE"/slurm/{slurm,slurm_errno,slurmdb,spank}.h \
		"$prefix/include/slurm"
	n=$(printf '0x%02x%02x%02x' $(tr . ' ' <<<"${2:-$version}" | sed 's/\b0*\([0-9]\)/\1/g'))
	sed "s/^#define[ \t]*SLURM_VERSION_NUMBER.*/#define SLURM_VERSION_NUMBER $n/" \
		"${COMMPLACE_SLURM_PREFIX:-/usr}/include/slurm/slurm_version.h" \
		>"$prefix/include/slurm/slurm_version.h"
	touch "$prefix/$1/libslurmfull.so"
	[ -z "$looks" ] || gcc -shared -fPIC -x c -o "$prefix/$1/libslurmfull.so" - <<-END
	char *default_plugin_path = "$looks";
	char *default_slurm_config_file = "$prefix/conf/slurm.conf";
	END
	printf '#!/bin/sh\necho slurm %s\n' "${2:-$version}" \
		>"$prefix/sbin/slurmctld"
	chmod 755 "$prefix/sbin/slurmctld"
}
# Of SchedMD: all sources, and no debian/changelog of Debian's.
upstream=$tmp/upstream
mkdir "$upstream"
ln -s "$COMMPLACE_SLURM_SOURCE"/{META,src,slurm} "$upstream"

# accepts NAME OPTION...: into $output, in $tmp/accepted
accepts() {
	local name=$1
	shift
	rm -rf "$tmp/accepted"
	mkdir "$tmp/accepted"
	cd "$tmp/accepted" || bail "no directory"
	output=$("$COMMPLACE_SOURCE/configure" --without-mpi \
		--with-slurm="$prefix" --with-slurm-source="$upstream" "$@" 2>&1)
	ok $? "$name: accepted" || diag "$(tail -3 <<<"$output")"
}
made() { # VARIABLE: of the Makefile
	sed -n "s/^$1 = //p" "$tmp/accepted/Makefile"
}
plugindir() { made slurmplugindir; }
conf_dir() { made SLURM_CONF_DIR; }

installation lib64/slurm
accepts "an rpm's or a site's prefix, SchedMD's sources"
like "$output" "installed Slurm is of that version\.\.\. yes" \
	"it is said that the daemons are of the headers' version"
like "$output" "its spank.h is that of the tree\.\.\. yes" "and spank.h"
like "$output" "Slurm plugins +yes, for Slurm $version of $upstream, with $prefix/include/slurm/spank.h" \
	"the summary names version, tree and spank.h"
is "$(plugindir)" "$prefix/lib64/slurm" "plugins go beside Slurm's"
is "$(conf_dir)" "$prefix/etc" "and commplace.conf where slurm.conf is by default"
is "$(made prefix)" "$prefix" "all else goes to that prefix, too"
like "$(sed -n 's/^SLURM_PLUGIN_SYSTEM_DIR = //p' Makefile)" \
	"^$prefix/lib64/slurm$" "where these are is found"
unlike "$output" "WARNING: Slurm" "a release that was tested: no warning"

installation "lib/$(gcc -dumpmachine)/slurm"
rm "$prefix/sbin/slurmctld"
echo "/* patched */" >>"$prefix/include/slurm/spank.h"
accepts "slurm-smd's directories, no daemon, another spank.h"
is "$(plugindir)" "$prefix/lib/$(gcc -dumpmachine)/slurm" \
	"plugins go beside these"
like "$output" "version\.\.\. not known: neither" "no daemon to ask: said"
like "$output" "spank\.h differ: is the tree" "another spank.h: a warning"

# Fault 63: whatever folders of its own commplace is given.
looks=$prefix/lib/slurm
installation lib/slurm
own=(--prefix=/usr --libdir=/usr/lib/x86_64-linux-gnu --sysconfdir=/etc)
accepts "README's folders, and a Slurm elsewhere" "${own[@]}"
is "$(plugindir)" "$looks" "plugins go where that Slurm looks"
is "$(conf_dir)" "$prefix/conf" "commplace.conf is beside its slurm.conf"
is "$(made prefix)" /usr "all else goes where it was told to"
like "$output" "looks for plugins and slurm.conf\.\.\. $looks, $prefix/conf" \
	"both were asked of that Slurm"
like "$output" "into $looks"$'\n'" +configuration +$prefix/conf/commplace\.conf" \
	"the summary says so"
accepts "other folders" "${own[@]}" --with-slurm-sysconfdir=/opt/site \
	--with-slurm-plugindir='${libdir}/slurm'
is "$(conf_dir)" /opt/site "a folder of configuration that was told"
like "$output" "into /usr/lib/x86_64-linux-gnu/slurm \(that Slurm looks in $looks: name both in PluginDir\)"$'\n' \
	"a folder of plugins that was told, expanded, and what it takes"
looks=$tmp/moved/lib/slurm
installation lib/slurm
accepts "a Slurm that is to be moved"
is "$(plugindir)" "$looks" "plugins go where it will look"
looks=

installation lib64/slurm "$other"
rm "$upstream/META"
sed "s/^\([ \t]*Version:[ \t]*\).*/\1$other/" \
	"$COMMPLACE_SLURM_SOURCE/META" >"$upstream/META"
accepts "a micro release of which nobody knows"
like "$output" "WARNING: Slurm $other was never tested" "a warning says so"

printf '#!/bin/sh\necho slurm 1.2.3\n' >"$prefix/sbin/slurmctld"
refuses "daemons of another version than the headers" \
	"are Slurm $other, installed is 1\.2\.3" \
	--with-slurm="$prefix" --with-slurm-source="$upstream"
done_testing
