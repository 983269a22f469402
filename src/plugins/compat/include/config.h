/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stands in for the config.h that Slurm's own configure makes. No macro of
 * that file changes the layout of a structure the plugins use; USE_ALIAS and
 * NDEBUG are as in Debian's build. slurm/slurm_version.h defines
 * SLURM_VERSION_NUMBER too, so another version shows as a redefinition.
 */
#ifndef CPL_COMPAT_CONFIG_H
#define CPL_COMPAT_CONFIG_H

#define SLURM_VERSION_NUMBER 0x160508
#define SLURM_VERSION_STRING "22.05.8"
#define USE_ALIAS 1
#define NDEBUG 1

#endif
