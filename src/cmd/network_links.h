/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdio.h>

#include "traffic/traffic.h"

/*
 * Write every directed link as CSV: "class,from,to,bandwidth,bytes", from and to
 * router ids, parallel links a line each; behind them those of accelerators
 * (commplace-traffic(1)). load NULL: without the bytes. Errors show at the
 * stream. O(links).
 */
void network_write_links(const struct cpl_network *net,
                         const struct cpl_load *load, FILE *out);
