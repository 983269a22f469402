#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A short soak; doc/reproduction/soak.md.
exec bash "${0%/*}/../soak/run" --jobs 300 --seed 3
