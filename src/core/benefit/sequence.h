/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intervals that may be looked at as often as one likes: with the stated
 * probability none of all looks, however many, has the true value outside.
 *
 * They are the confidence sequence of a normal mixture (Robbins, Annals of
 * Mathematical Statistics 41, 1970; as an asymptotic one for means of any
 * distribution: Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas, "Time-uniform central
 * limit theory and asymptotic confidence sequences", arXiv 2103.06476, Theorem
 * 2.2), with the variance estimated as in the t-mixture of Wang and Ramdas
 * ("Anytime-valid t-tests and confidence sequences for Gaussian means with unknown
 * variance", arXiv 2310.03722, after Lai 1976): the few jobs of a trial's first days
 * give wide intervals, or none.
 *
 * The mixture is fixed: it is narrowest where an effect of 5 % comes out. One that
 * were chosen by what the data show would not be valid.
 */
#pragma once

/*
 * Half the width of the interval around an estimate whose variance is
 * 1 / precision, by that many degrees of freedom; outside it the true value ever
 * is with a probability of at most alpha. INFINITY: nothing is known yet. O(1).
 */
double cpl_sequence_radius(double precision, double df, double alpha);

/* The precision at which that is `effect` (> 0), with many degrees of freedom. */
double cpl_sequence_precision(double effect, double alpha);
