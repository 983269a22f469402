#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What depends on Slurm's version, on Debian sid with its own Slurm.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/root.bash"
version_run sid 23000 plugin live
