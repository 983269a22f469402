/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The library's mappers and binders, and Scotch's where it was built in. */
#pragma once

#include "commplace-config.h"

#include "binding/binding.h"
#include "mapping/mappers.h"

#ifdef HAVE_SCOTCH
#define CMD_MAPPERS (&cpl_mappers_and_scotch)
#define CMD_BINDERS (&cpl_binders_and_scotch)
#else
#define CMD_MAPPERS (&cpl_mappers)
#define CMD_BINDERS (&cpl_binders)
#endif
