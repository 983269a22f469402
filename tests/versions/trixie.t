#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What depends on Slurm's version, on Debian trixie with its own Slurm, and on Open MPI 5 of MPI's sessions.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/root.bash"
version_turn trixie ||
	skip_all "other releases have their turn today; COMMPLACE_EVERY=yes has all"
files=(live)
[ "${CI:-}" != true ] || [ "${COMMPLACE_EVERY:-}" = yes ] ||
	mapfile -t files < <(version_differ | sed 's|.*|tests/slurm/&.t|' | sort -r)
version_run trixie 20000 plugin tests/record/sessions.t "${files[@]}"
