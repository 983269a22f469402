/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is in the messages between slurmctld and commplaced: what the calls of
 * site/engine.h and site/submit.h take and give. Writers cannot fail but by
 * their packer; readers trust nothing, allocate no more than a message has
 * bytes (times the size of a number), and leave texts where they stand in it.
 * All O(bytes).
 */
#pragma once

#include "base/packed.h"
#include "site/engine.h"
#include "site/submit.h"

/* Of messages; another one is refused. */
#define CPL_DOOR_VERSION 5

enum cpl_door_kind {
	/* slurmctld begins: version, program's version, path of the
	 * configuration. Without an answer, as all up to the answered ones. */
	CPL_DOOR_HELLO,
	CPL_DOOR_CLUSTER,
	CPL_DOOR_END,
	CPL_DOOR_RESIZED,
	CPL_DOOR_SUSPENDED,
	CPL_DOOR_FORGET,
	/* Answered by CPL_DOOR_ANSWER of their number, a CPL_DOOR_DECIDE not where
	 * CPL_DOOR_PLACE was its last question and the nodes were taken. */
	CPL_DOOR_LOAD,
	CPL_DOOR_HOSTS,
	CPL_DOOR_RESTORE,
	CPL_DOOR_SUBMIT,
	CPL_DOOR_DECIDE,
	CPL_DOOR_START,
	CPL_DOOR_STEP,
	CPL_DOOR_HANDOVER,
	CPL_DOOR_IDLE,
	CPL_DOOR_DRAIN,
	CPL_DOOR_REQUESTS,
	/* commplaced asks within a call, and gets CPL_DOOR_REPLY. */
	CPL_DOOR_MEASURE = 32,
	CPL_DOOR_PLACE,
	CPL_DOOR_NARROW,
	CPL_DOOR_STOCK,
	CPL_DOOR_COMPARE,
	CPL_DOOR_LAYOUT,
	CPL_DOOR_REPLY,
	CPL_DOOR_ANSWER,
	/* A line for the log, at any time. */
	CPL_DOOR_LOG,
};

/* A text or NULL; as it stands in the message. */
void cpl_form_put_text(struct cpl_packer *o, const char *text);
const char *cpl_form_get_text(struct cpl_unpacker *in);
/* One that is there is an error's. */
void cpl_form_get_error(struct cpl_unpacker *in, struct cpl_error *err);
/* n bytes; the same. */
void cpl_form_put_bytes(struct cpl_packer *o, const void *data, size_t n);
const void *cpl_form_get_bytes(struct cpl_unpacker *in, size_t *n);

/* A signed number. */
void cpl_form_put_signed(struct cpl_packer *o, int64_t value);
int64_t cpl_form_get_signed(struct cpl_unpacker *in);

/* Numbers that go up mostly: n, and differences. Read into *out, free(); NULL
 * with in->bad: there are none, or memory is out. */
void cpl_form_put_ints(struct cpl_packer *o, const int *value, int n);
int *cpl_form_get_ints(struct cpl_unpacker *in, int *n);
/* n numbers, of which many in a row are the same; read into value[n]. */
void cpl_form_put_runs(struct cpl_packer *o, const uint64_t *value, int n);
void cpl_form_get_runs(struct cpl_unpacker *in, uint64_t *value, int n);

void cpl_form_put_facts(struct cpl_packer *o, const struct cpl_job_facts *job);
void cpl_form_get_facts(struct cpl_unpacker *in, struct cpl_job_facts *job);

void cpl_form_put_submission(struct cpl_packer *o,
                             const struct cpl_submission *s);
void cpl_form_get_submission(struct cpl_unpacker *in, struct cpl_submission *s);
/* The texts are copied. */
void cpl_form_put_verdict(struct cpl_packer *o, const struct cpl_verdict *v);
void cpl_form_get_verdict(struct cpl_unpacker *in, struct cpl_verdict *v);

/* required is free()d by the reader. */
void cpl_form_put_request(struct cpl_packer *o,
                          const struct cpl_engine_request *req);
void cpl_form_get_request(struct cpl_unpacker *in,
                          struct cpl_engine_request *req, int **required);

/* What a scheduler says of its hosts in place of the question: CPUs and ranks of
 * those of the span, cpus NULL: it has no memory to tell. */
void cpl_form_put_measured(struct cpl_packer *o, const uint32_t *cpus,
                           const uint64_t *rank, struct cpl_engine_span span);
/* As struct cpl_engine_scheduler's measure. -1 also where the message is none. */
int cpl_form_get_measured(struct cpl_unpacker *in, int n_hosts, uint32_t *cpus,
                          uint64_t *rank, struct cpl_engine_span *span);

/* All but layout and arg; host is free()d by the reader. */
void cpl_form_put_allocation(struct cpl_packer *o,
                             const struct cpl_engine_allocation *a);
void cpl_form_get_allocation(struct cpl_unpacker *in,
                             struct cpl_engine_allocation *a, int **host);

/* A step and its tasks; what they are in is free()d at once: `memory`. */
void cpl_form_put_step(struct cpl_packer *o,
                       const struct cpl_engine_step *step);
void cpl_form_get_step(struct cpl_unpacker *in, struct cpl_engine_step *step,
                       void **memory);
/* What became of it: the ids of a step that was changed go back into it. */
void cpl_form_put_layout(struct cpl_packer *o,
                         const struct cpl_engine_step *step,
                         const struct cpl_engine_layout *layout);
void cpl_form_get_layout(struct cpl_unpacker *in,
                         const struct cpl_engine_step *step,
                         struct cpl_engine_layout *layout);
