/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This stands in for the config.h that Slurm's own configure makes, as far as
 * Slurm's headers need it. No macro of that file changes the layout of a structure
 * that the plugins use; USE_ALIAS and NDEBUG are as in releases. The version is that
 * of the installed Slurm, which configure has compared with the tree. */
#pragma once

#include <slurm/slurm_version.h>

#define SLURM_VERSION_STRING CPL_SLURM_VERSION_STRING
#define USE_ALIAS 1
#define NDEBUG 1
