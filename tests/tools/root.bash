# SPDX-License-Identifier: GPL-2.0-or-later
# Roots of Debian releases, bare or with commplace's tree in /commplace/source.
# Sourced; needs root, mounts, debootstrap and a mirror.
#
# COMMPLACE_TEST_ROOTS=DIR keeps there what a root is begun with: base-SUITE, a bare
# root, and debs-SUITE, packages that were downloaded for one of that release.
# COMMPLACE_SLURM_HEADERS (see scripts/fetch-slurm-source) goes along.

root_mirror() {
	{
		sed -n 's/^URIs:[ \t]*//p' /etc/apt/sources.list.d/*.sources
		sed -n 's/^deb \(\[[^]]*\] \)\?\([^ ]*\).*/\2/p' \
			/etc/apt/sources.list /etc/apt/sources.list.d/*.list
	} 2>/dev/null | grep -E '/debian/?$' | head -1
}

# root_bootstrap SUITE DIR: a bare root of it, which starts no daemons.
root_bootstrap() {
	local mirror
	mirror=$(root_mirror)
	[ -n "$mirror" ] || mirror=http://deb.debian.org/debian
	rm -rf --one-file-system "$2"
	mkdir -p "$2"
	debootstrap --variant=minbase "$1" "$2" "$mirror" || return 1
	chmod 755 "$2"
	# Nobody is there to be asked.
	cat >"$2/etc/apt/apt.conf.d/99commplace" <<-END
	Acquire::Check-Valid-Until "false";
	Acquire::Retries "3";
	APT::Get::Assume-Yes "true";
	APT::Sandbox::User "root";
	END
	[ "$1" = sid ] || cat >>"$2/etc/apt/sources.list" <<-END
	deb $mirror-security $1-security main
	END
	cp /etc/resolv.conf /etc/hosts "$2/etc/"
	printf '#!/bin/sh\nexit 101\n' >"$2/usr/sbin/policy-rc.d"
	chmod 755 "$2/usr/sbin/policy-rc.d"
	mkdir "$2/commplace"
	# Cut off before this it is made anew.
	: >"$2/commplace/made"
}

# root_make SUITE DIR: of the one that is kept, where roots are.
root_make() {
	local kept=${COMMPLACE_TEST_ROOTS:-}
	if [ -z "$kept" ]; then
		root_bootstrap "$1" "$2"
		return
	fi
	mkdir -p "$kept/debs-$1" "${2%/*}"
	(
		flock 9
		[ -f "$kept/base-$1/commplace/made" ] ||
			root_bootstrap "$1" "$kept/base-$1"
	) 9>"$kept/base-$1.lock" || return 1
	rm -rf --one-file-system "$2" "$2.new"
	cp -a "$kept/base-$1" "$2.new" && mv "$2.new" "$2" || return 1
	find "$kept/debs-$1" -name '*.deb' -exec \
		ln -t "$2/var/cache/apt/archives" {} + 2>/dev/null || :
}

# root_keep_debs SUITE DIR: what a root has downloaded, for the next one
root_keep_debs() {
	[ -z "${COMMPLACE_TEST_ROOTS:-}" ] ||
		find "$2/var/cache/apt/archives" -maxdepth 1 -name '*.deb' -exec \
			ln -t "$COMMPLACE_TEST_ROOTS/debs-$1" {} + 2>/dev/null || :
}

root_mount() { # DIR
	local m
	for m in proc sys dev; do
		mountpoint -q "$1/$m" || mount --rbind "/$m" "$1/$m" || return 1
		mount --make-rslave "$1/$m"
	done
}

root_umount() { # DIR: what was ever mounted in it, also by what was killed there
	awk -v d="$(realpath -m "$1")/" 'index($5, d) == 1 { print $5 }' \
		/proc/self/mountinfo | sort -r | xargs -r umount -l
}

# root_copy DIR: commplace's tree, without what git ignores at its top
root_copy() {
	local made=()
	# Built anew: a file that was changed during the last build looks older
	# than what was made of it.
	rm -rf "$1"/commplace/{source,headers,build/build,build/inst}
	mkdir -p "$1/commplace/source"
	mapfile -t made < <(sed -n 's|^/\(.*[^/]\)/*$|--exclude=./\1|p' \
		"$COMMPLACE_SOURCE/.gitignore" 2>/dev/null)
	tar -C "$COMMPLACE_SOURCE" -cf - --exclude=./.git "${made[@]}" . |
		tar -xf - -C "$1/commplace/source" || return 1
	[ -z "${COMMPLACE_SLURM_HEADERS:-}" ] ||
		cp -R "$COMMPLACE_SLURM_HEADERS" "$1/commplace/headers"
}

root_in() { # DIR [NAME=VALUE]... COMMAND...
	local root=$1 name proxies=()
	shift
	for name in http_proxy https_proxy no_proxy; do
		[ -z "${!name:-}" ] || proxies+=("$name=${!name}")
	done
	chroot "$root" env -i -C /commplace/source HOME=/root LANG=C TERM=dumb \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		DEBIAN_FRONTEND=noninteractive "${proxies[@]}" \
		${COMMPLACE_SLURM_HEADERS:+COMMPLACE_SLURM_HEADERS=/commplace/headers} \
		"$@"
}
