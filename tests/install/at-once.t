#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ./quickstart and ./run-tests may be begun twice at the same time, on one host and in
# one tree: the second waits where the first makes configure or installs packages, and
# has nothing more to do then.
. "${0%/*}/../tools/tap.bash"
: "${COMMPLACE_SOURCE:?}"
tmp=$(mktemp -d)
on_exit 'rm -rf "$tmp"'
mkdir -p "$tmp"/tree/{m4,src,etc,doc,tests} "$tmp/bin"
cp -r "$COMMPLACE_SOURCE/scripts" "$tmp/tree"
touch "$tmp"/tree/{configure.ac,Makefile.am}
# Stand-ins tell that they begin and end, and take a while.
cat >"$tmp/bin/slow" <<-END
	echo begin >>$tmp/log
	sleep 1
	echo end >>$tmp/log
END
cat >"$tmp/bin/autoreconf" <<-END
	#!/bin/sh
	. $tmp/bin/slow
	printf '#!/bin/sh\n' >configure
	chmod 755 configure
	touch Makefile.in
END
cat >"$tmp/bin/apt-get" <<-END
	#!/bin/sh
	case "\$*" in *' install '*) ;; *) exit 0 ;; esac
	. $tmp/bin/slow
	: >$tmp/installed
END
cat >"$tmp/bin/dpkg-query" <<-END
	#!/bin/sh
	case "\$*" in *emulator) ;; *) [ ! -e $tmp/installed ] || echo installed ;; esac
END
chmod 755 "$tmp"/bin/{autoreconf,apt-get,dpkg-query}

# at_once NAME COMMAND...: two of them do the work once
at_once() {
	local name=$1 first second
	shift
	: >"$tmp/log"
	PATH=$tmp/bin:$PATH "$@" &
	first=$!
	PATH=$tmp/bin:$PATH "$@"
	second=$?
	wait $first
	is "$? $second" "0 0" "$name: both end well"
	is "$(paste -sd' ' "$tmp/log")" "begin end" "$name: the work is done once"
}
at_once "scripts/bootstrap" "$tmp/tree/scripts/bootstrap"
touch -d '-1 minute' "$tmp/tree/Makefile.in"
at_once "once more, after a change" "$tmp/tree/scripts/bootstrap"
: >"$tmp/log"
PATH=$tmp/bin:$PATH "$tmp/tree/scripts/bootstrap"
is "$? $(cat "$tmp/log")" "0 " "nothing is done where nothing is to do"
if [ "$(id -u)" = 0 ] && grep -qx ID=debian /etc/os-release; then
	at_once "scripts/install-packages" "$tmp/tree/scripts/install-packages" cluster
else
	skip "scripts/install-packages" "needs root on Debian"
fi
done_testing
