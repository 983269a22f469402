/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A launcher of a framework, such as torchrun, is one task of its job and starts a
 * rank of the signature for each accelerator of its node. */
#pragma once

#include "signature/signature.h"

/* This returns sig for so many tasks, each with as many consecutive ranks, to be
 * freed by cpl_signature_free. What the ranks of a task send each other stays in
 * it, and the groups in which they communicate become those of tasks. It returns
 * NULL with err if the ranks are no multiple, the signature tells no groups, or
 * memory is out. It costs O(entries log entries). */
struct cpl_signature *cpl_signature_tasks(const struct cpl_signature *sig,
                                          int tasks, struct cpl_error *err);

/* This says whether the signature that begins with this text may tell groups. */
bool cpl_signature_peek_groups(const char *text, size_t length);
