/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of the select plugin on the fake controller while other jobs run. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "controller.h"
#include "oracle.h"

/* Fixtures of a program: the controller with profiles ring16, pairs16, ring8.
 */
int start_controller(void **state);
int stop_controller(void **state);
/* Fixtures of a test: the usual configuration, and some jobs without a profile,
 * so that the machine is not empty. */
int set_up(void **state);
int tear_down(void **state);

/* Takes both texts. */
void assert_same(char *a, char *b);
/* End a job of ours and wait for its record to move, or the oracle would still
 * count it as running. */
void finish(job_record_t *job);
