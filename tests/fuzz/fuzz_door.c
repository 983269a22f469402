/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The forms of messages between slurmctld and commplaced; the first byte says which.
 *
 * fuzz-sources: src/door/forms.c
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "door/forms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ranks of a step go back into it where they are its ranks. */
static void layout(struct cpl_unpacker *in)
{
	uint32_t row[2][3] = {{0, 1, 2}, {3, 4, 5}}, *ids[] = {row[0], row[1]};
	const uint16_t tasks[] = {3, 3};
	const struct cpl_engine_step step = {
	        .n_hosts = 2, .ranks = 6, .tasks = tasks, .ids = ids};
	struct cpl_engine_layout out = {0};
	int seen = 0;

	cpl_form_get_layout(in, &step, &out);
	for (int i = 0; i < 6; i++)
		seen |= 1 << row[i / 3][i % 3];
	if (seen != 63)
		abort();
	free(out.data);
}

static void step(struct cpl_unpacker *in)
{
	struct cpl_engine_step got;
	void *memory;
	uint64_t sum = 0;

	cpl_form_get_step(in, &got, &memory);
	for (int i = 0; !in->bad && i < got.n_hosts; i++)
		for (int k = 0; k < got.tasks[i]; k++)
			sum += got.ids[i][k];
	if (!in->bad && sum > UINT64_MAX / 2)
		abort();
	free(memory);
}

/* Of eight hosts, of which none beyond the span has any CPUs. */
static void measured(struct cpl_unpacker *in)
{
	struct cpl_engine_span span = {0, 8};
	uint32_t cpus[8] = {0};
	uint64_t rank[8] = {0};

	if (cpl_form_get_measured(in, 8, cpus, rank, &span))
		return;
	for (int i = 0; i < 8; i++)
		if ((i < span.first || i >= span.end) && (cpus[i] || rank[i]))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpl_unpacker in = {.at = data + 1, .end = data + size};
	struct cpl_engine_allocation allocation;
	struct cpl_submission submission = {0};
	struct cpl_engine_request request;
	struct cpl_verdict verdict = {0};
	uint64_t runs[64];
	int *list = NULL;

	if (!size)
		return 0;
	switch (data[0]) {
	case 0:
		layout(&in);
		break;
	case 1:
		step(&in);
		break;
	case 2:
		cpl_form_get_request(&in, &request, &list);
		break;
	case 3:
		cpl_form_get_allocation(&in, &allocation, &list);
		break;
	case 4:
		cpl_form_get_submission(&in, &submission);
		break;
	case 5:
		cpl_form_get_verdict(&in, &verdict);
		break;
	case 6:
		measured(&in);
		break;
	default:
		cpl_form_get_runs(&in, runs, 64);
	}
	free(list);
	cpl_verdict_free(&verdict);
	return 0;
}
