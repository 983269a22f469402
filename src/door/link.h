/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages over a Unix socket between slurmctld and commplaced: a head and as
 * many bytes as it says. Both ends are processes of one host, so the head is
 * the compiler's. Nobody waits beyond a stated time; the next call goes on with
 * a message that has come in part.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/packed.h"

/* Times are cpl_now()'s. */
#define CPL_DOOR_MS INT64_C(1000000)
/* Where a commplaced that slurmctld began has its link. */
#define CPL_LINK_CHILD_FD 3

/* Bytes of a message at the most: the names of a million hosts. */
#define CPL_LINK_MAX (32u << 20)
/* The deadline of a caller that waits as long as it takes. */
#define CPL_LINK_FOREVER INT64_MAX

struct cpl_link_head {
	uint32_t length; /* bytes that follow */
	uint32_t number; /* of the call that it belongs to */
	uint8_t kind;
	/* Of requests: how long the call before this one took, of that kind of
	 * enum cpl_timer (+ 1, 0: of none). Of answers: how long calls may
	 * take, 0: as before. */
	uint8_t held_kind;
	uint16_t patience_ms;
	uint32_t held_us;
	int64_t deadline; /* of a request: when its answer is late; 0: never */
};

struct cpl_link {
	int fd; /* non-blocking; -1: there is none */
	struct cpl_link_head head;
	unsigned char *data;  /* [head.length] of the last message received */
	size_t capacity, got; /* got: with the head */
};

/* The packer with which a message's body is put together; the caller frees its
 * data. */
static inline struct cpl_packer cpl_link_packer(void)
{
	return (struct cpl_packer){.limit = CPL_LINK_MAX};
}

/*
 * Send a message, by `deadline`. 0. -1: the other end is gone, did not take it
 * in time, or the message did not get together; the link is of no use then.
 */
int cpl_link_send(struct cpl_link *link, const struct cpl_link_head *head,
                  const struct cpl_packer *body, int64_t deadline);

/* Receive one. 1: it is there, until the next call; 0: not by the deadline. -1:
 * the other end is gone, or sent what is no message. */
int cpl_link_receive(struct cpl_link *link, int64_t deadline);

/* Where the message is read from. */
struct cpl_unpacker cpl_link_body(const struct cpl_link *link);

void cpl_link_close(struct cpl_link *link);
