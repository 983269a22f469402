#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Packages on Debian trixie, for its own Slurm.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/root.bash"
packages_run trixie 27000 guest
