/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was decided for a job, in its AdminComment beside what others wrote there. */
#pragma once

/* Of our text no more bytes than these are taken. */
#define CPL_COMMENT_MAX 768

/*
 * Return the comment old (NULL: none) with text, "commplace: ...", in place of what
 * we wrote there before, or else after what others wrote, as "OLD; TEXT". A comment
 * that is a JSON object stays one: programs that keep their data there, such as
 * Slinky's slurm-bridge with {"pods": [...]}, take a job for somebody else's when
 * it is no JSON. Such a one gets a member "commplace". The result is to free();
 * NULL: memory is out. O(lengths).
 */
char *cpl_comment_with(const char *old, const char *text);
