/* SPDX-License-Identifier: GPL-2.0-or-later */
/* OpenMetrics text (version 1.0.0); errors show at the stream. */
#pragma once

#include <stdio.h>

/* What stands above the samples of commplace_NAME; unit may be NULL. */
void metric_family(FILE *out, const char *name, const char *type,
                   const char *unit, const char *help);

/* NAME="VALUE", with what would end the value or the line escaped. */
void metric_label(FILE *out, const char *name, const char *value);
