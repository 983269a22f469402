/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "learn/learn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpl_error err = {""};
	struct cpl_samples *s =
	        cpl_samples_parse((const char *)data, size, "f", &err);
	const int first = 0;

	if (!s) {
		if (!err.text[0])
			abort();
		return 0;
	}
	for (int64_t i = 0; i < (int64_t)s->n * s->n_columns; i++)
		if (!isfinite(s->value[i]))
			abort();
	for (int i = 0; i < s->n; i++)
		if (strlen(s->label[i]) > size)
			abort();
	if (s->n_columns > 1 && s->n < 200)
		cpl_model_free(cpl_learn(
		        s,
		        &(struct cpl_learn_options){
		                .learner = (const void *)cpl_registry_at(
		                        &cpl_learners, s->n % 2),
		                .target = s->name[1],
		                .feature = &first,
		                .n_features = 1,
		                .trees = 3},
		        &err));
	cpl_samples_free(s);
	return 0;
}
