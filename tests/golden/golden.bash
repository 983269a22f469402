# SPDX-License-Identifier: GPL-2.0-or-later
# What golden tests begin with: TAP, where the samples are, the command under test,
# and a folder $work that goes with the test.
here=$(cd "${0%/*}" && pwd)
. "$here/../tools/tap.bash"
etc=$here/../../etc
networks=$etc/networks
commplace=${COMMPLACE:-commplace}
work=$(mktemp -d)
on_exit 'rm -rf "$work"'
