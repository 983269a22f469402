#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The package of doc/python.md: cases.py says what is looked at.
: "${COMMPLACE_SOURCE:?}" "${COMMPLACE_BUILD:?}"
why=
command -v python3 >/dev/null || why="no python3"
[ -n "$why" ] || python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' ||
	why="python3 is older than 3.8"
export COMMPLACE_LIBRARY=$COMMPLACE_BUILD/.libs/libcommplace.so.0
if [ -z "$why" ] && nm -D "$COMMPLACE_LIBRARY" | grep -q __asan_init; then
	why="the library has sanitizers, which a program cannot load later"
fi
[ -z "$why" ] || {
	echo "1..0 # SKIP $why"
	exit 0
}
export PYTHONPATH=$COMMPLACE_SOURCE/python${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
exec python3 "$COMMPLACE_SOURCE/tests/golden/python/cases.py"
