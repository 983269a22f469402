#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The README's commands in bare roots of Debian trixie.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/fresh.bash"
fresh_run trixie 31000
