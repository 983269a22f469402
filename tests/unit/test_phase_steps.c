/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What phases foresee for runs of more steps, where that is known. */
#include <math.h>

#include "unit.h"

#include "played_run.h"
#include "signature/phases/predict.h"

/* Phases times ten foresee a run ten times as long, without options. */
static void ordinary_codes_have_phases(void **state)
{
	static const struct {
		const char *once, *ten;
		int phases;   /* that repeat; 0: never mind */
		double error; /* at most */
	} row[] = {
	        {"i(hra)30", "i(hra)300", 1, 0.01},
	        {"(hra)30", "(hra)300", 1, 0.01},
	        /* a few rounds in a few others */
	        {"i((hr)5a)16", "i((hr)5a)160", 1, 0.01},
	        {"i((hr)4(a)3)8", "i((hr)4(a)3)80", 2, 0.01},
	        {"i((h(ra)4g)3hr)12z", "i((h(ra)4g)3hr)120z", 0, 0.01},
	        {"i(h(r(a)20g)3)12z", "i(h(r(a)20g)3)120z", 0, 0.01},
	        /* a gather every fifth step */
	        {"i((hra)5g)6", "i((hra)5g)60", 2, 0.01},
	        /* now and then */
	        {"i(hr)7g(hr)9g(hr)5g", "i((hr)7g(hr)9g(hr)5g)10", 2, 0.01},
	        {"i(hr)7g(hr)9g(hr)5gz", "i((hr)7g(hr)9g(hr)5g)10z", 0, 0.03},
	        /* gathers of five and seven steps, of which one is with another */
	        {"i(hr)5g(hr)2p(hr)3g(hr)4p(hr)1gz",
	         "i((hr)5g(hr)2p(hr)3g(hr)4p(hr)1g)10z", 0, 0.03},
	        /* what is folded begins in the middle of a step */
	        {"i(h(a)10)30", "i(h(a)10)300", 2, 0.01},
	        {"i(hr(a)3)30h", "i(hr(a)3)300h", 1, 0.01},
	        /* loops of the start and the end are no steps */
	        {"i(b)20(hra)30", "i(b)20(hra)300", 1, 0.01},
	        {"(b)20i(hra)30(z)4", "(b)20i(hra)300(z)4", 1, 0.01},
	        {"(bz)6i((hra)5g)6z(bg)4z", "(bz)6i((hra)5g)60z(bg)4z", 2, 0.01},
	        {"i(b)4g(hra)30g(z)3", "i(b)4g(hra)300g(z)3", 1, 0.01},
	        /* a long end that is no loop, and one piece of work */
	        {"i(hra)30zzii", "i(hra)300zzii", 1, 0.01},
	        /* what is computed before the steps is not in their first round */
	        {"(b)12I(hra)30(z)3", "(b)12I(hra)300(z)3", 1, 0.01},
	        {"I(a)30(z)3", "I(a)300(z)3", 1, 0.01},
	        {"(b)12I(((hr)5a)2g)3(z)3", "(b)12I(((hr)5a)2g)30(z)3", 0,
	         0.01},
	        {"(b)12I((hra)8p)3(hra)6(z)3", "(b)12I((hra)8p)37(hra)4(z)3", 0,
	         0.02},
	        {"(b)12I(dra)30(z)3", "(b)12I(dra)300(z)3", 0, 0.02},
	        /* a solver's rounds are others each time */
	        {"i(h(ra)8~)30z", "i(h(ra)8~)300z", 2, 0.02},
	        {"i(h(ra)8~(p)3~g)30z", "i(h(ra)8~(p)3~g)300z", 0, 0.02},
	        /* roles */
	        {"i(mhr)30z", "i(mhr)300z", 1, 0.01},
	        {"i(phr(p)3)30z", "i(phr(p)3)300z", 0, 0.01},
	        {"i(b)9((mp)3a)20(z)3", "i(b)9((mp)3a)200(z)3", 0, 0.01},
	        /* sizes that are never the same */
	        {"i(vra)50z", "i(vra)500z", 0, 0.03},
	        {"i((vr)5gp)10(z)3", "i((vr)5gp)100(z)3", 0, 0.03},
	        /* imbalance that drifts from rank to rank */
	        {"i(dra)40z", "i(dra)400z", 1, 0.02},
	        {"i(b)7((dr)5a)8z", "i(b)7((dr)5a)80z", 0, 0.02},
	};

	for (size_t i = 0; i < 2 * sizeof(row) / sizeof(*row); i++) {
		struct cpl_phase_options options = CPL_PHASE_OPTIONS;
		double noise = i % 2 ? 0.2 : 0;
		struct cpl_run_events *e[2];
		struct cpl_error err = {""};
		struct bytes file[2];
		struct cpl_phases *p;
		struct cpl_signature *sig;
		struct cpl_foreseen of;
		double run = 0;
		int n = 0;

		for (int k = 0; k < 2; k++) {
			file[k] = make_file_of(k ? row[i / 2].ten
			                         : row[i / 2].once,
			                       0, 0, 0, noise);
			e[k] = cpl_run_events_parse(file[k].data, file[k].n,
			                            "f", &err);
			assert_non_null(e[k]);
			run = 0;
			for (int r = 0; r < e[k]->n; r++)
				run = fmax(run, e[k]->rank[r].time);
		}
		p = cpl_phases_find(e[0], &options, &err);
		assert_non_null(p);
		for (int k = 0; k < p->n; k++)
			n += p->phase[k].kind == CPL_PHASE_REPEATS;
		sig = cpl_phases_signature(e[0], p, "n", NULL, &err);
		assert_non_null(sig);
		of = cpl_foresee(sig, 10);
		assert_true(of.low <= of.time && of.time <= of.high);
		if ((row[i / 2].phases && n != row[i / 2].phases) ||
		    fabs(of.time / run - 1) >
		            row[i / 2].error + (noise > 0 ? 0.02 : 0))
			fail_msg("%s, noise %g: %d phases, %g of %g s",
			         row[i / 2].once, noise, n, of.time, run);
		cpl_signature_free(sig);
		cpl_phases_free(p);
		for (int k = 0; k < 2; k++) {
			cpl_run_events_free(e[k]);
			free(file[k].data);
		}
	}
}

/* Which phases a longer run has more often, by their names and weights. */
static void intervals_are_told(void **state)
{
	static const struct {
		const char *name;
		double weight, time, low, high; /* ten times as long, 1 s each */
	} row[] = {
	        {"phase1", 30, 300, 300, 300},
	        {"halo", 2, 20, 20, 20},
	        {"run", 1, 1, 1, 10},
	        {"rest", 1, 10, 1, 10},
	        {"start", 1, 1, 1, 1},
	        {"end", 1, 1, 1, 1},
	        {"start1", 20, 20, 20, 200},
	        {"end12", 3, 3, 3, 30},
	        {"starter", 3, 30, 30, 30},
	        {"ending1", 3, 30, 30, 30},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_phase phase = {.name = (char *)row[i].name,
		                          .weight = row[i].weight,
		                          .time = 1};
		struct cpl_signature sig = {.n_phases = 1, .phase = &phase};
		struct cpl_foreseen of = cpl_foresee(&sig, 10);
		struct cpl_foreseen less = cpl_foresee(&sig, 0.1);

		if (of.time != row[i].time || of.low != row[i].low ||
		    of.high != row[i].high)
			fail_msg("%s: %g (%g to %g)", row[i].name, of.time,
			         of.low, of.high);
		assert_true(less.low <= less.time && less.time <= less.high);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(ordinary_codes_have_phases),
	        cmocka_unit_test(intervals_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
