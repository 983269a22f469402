/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmocka, what it wants before it, and what nearly every unit test uses. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* cmocka 2 deprecates assert_in_range; 1.1 has nothing in its place. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
