#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Results are the same on every machine: nothing in the core calls a function of
# libm whose last bits a C library may choose (fault 33). sqrt, fma, floor and
# the like are exact by IEEE 754.
. "${0%/*}/../tools/tap.bash"
: "${COMMPLACE_BUILD:?}"
inexact='a?(sin|cos|tan)h?|atan2|exp(2|10|m1)?|log(2|10|1p|b)?|pow|cbrt|hypot|erfc?|[lt]?gamma|j[01n]|y[01n]'

archive=$COMMPLACE_BUILD/.libs/libcore.a
symbols=$(nm -Au "$archive" | sed 's/@.*//')
like "$symbols" "sqrt" "calls into libm are seen"
is "$(grep -E " U ($inexact)[fl]?(_r)?\$" <<<"$symbols")" "" \
	"the core calls none of libm's inexact functions"
done_testing
