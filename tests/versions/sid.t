#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What depends on Slurm's version, on Debian sid with its own Slurm.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/root.bash"
version_turn sid ||
	skip_all "other releases have their turn today; COMMPLACE_EVERY=yes has all"
files=(live)
[ "${CI:-}" != true ] || [ "${COMMPLACE_EVERY:-}" = yes ] ||
	mapfile -t files < <(version_differ | sed 's|.*|tests/slurm/&.t|' | sort -r)
version_run sid 23000 plugin tests/record/sessions.t "${files[@]}"
