# SPDX-License-Identifier: GPL-2.0-or-later
# The Slurm that is tested: the system's own, or that of COMMPLACE_SLURM_PREFIX.
# Sourced; sets
#   SLURM_PATH           PATH with its daemons and commands first
#   SLURM_VERSION        25.11.7
#   SLURM_SERIES         the same without the last part, as a number: 2511
#   SLURM_STOCK_PLUGINS  where its own plugins are, libslurmfull.so among them
# Empty are the last three where there is none.

SLURM_PATH=/usr/sbin:/sbin:/usr/bin:/bin
[ -z "${COMMPLACE_SLURM_PREFIX:-}" ] ||
	SLURM_PATH=$COMMPLACE_SLURM_PREFIX/sbin:$COMMPLACE_SLURM_PREFIX/bin:$SLURM_PATH
# "slurm 25.11.7", "slurm-wlm 22.05.8", "slurm 26.11.0-0rc1"
SLURM_VERSION=$(PATH=$SLURM_PATH slurmctld -V 2>/dev/null |
	sed -n 's/^[^ ]* \([0-9][^ ]*\).*/\1/p')
SLURM_SERIES=$(sed -n 's/^\([0-9]*\)\.\([0-9]*\)\..*/\1\2/p' <<<"$SLURM_VERSION")
SLURM_STOCK_PLUGINS=$(ldd "$(PATH=$SLURM_PATH type -P slurmctld)" 2>/dev/null |
	sed -n 's|.* => \(.*\)/libslurmfull\.so .*|\1|p')
