#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A short soak.
exec bash "${0%/*}/../soak/run" --jobs 300 --seed 3
