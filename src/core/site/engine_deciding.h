/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One decision of the engine, for the files that make it. */
#pragma once

#include "scene/scene.h"
#include "site/engine_internal.h"

/* A decision on its way. */
struct deciding {
	struct desk *desk;
	struct ledger *ledger;
	const struct cpl_engine_request *req;
	const struct cpl_engine_scheduler *scheduler;
	struct cpl_resolved want; /* its wish without a mapper where ranks stay
	                           * in their own order */
	int64_t deadline;
	struct cpl_engine_span span; /* of hosts that may be usable */
	uint32_t *cpus;          /* [n_hosts] free */
	unsigned char *required; /* [n_hosts] named by the user */
	uint64_t *rank;          /* [n_hosts] the lower are filled first */
	int n_levels;            /* 0: they do not count (any more); 1: nor */
	uint64_t *level;         /* [n_levels] ranks in use, increasing */
	uint64_t highest;        /* rank that is offered */
	uint32_t *filled;        /* [n_hosts] cpus up to that rank */
	const uint32_t *offer;   /* cpus or filled */
	int *stock;  /* [n_stock] the scheduler's own choice, in node order */
	int n_stock; /* 0: none, or it was not asked */
	bool asked_stock;
	char *rules; /* with what the signature implies, or NULL: the request's */
	bool growing; /* that, or a part of the answer, is yet to come */
	const struct cpl_bounds *bounds; /* or NULL */
	/* Without a profile: what goes by what its newest run sent, of a rank a
	 * node; or NULL. A reference of the desk's. */
	struct cpl_profile *by_volume;
	struct cpl_size size;
	bool enough, fits; /* hosts; the required ones among them */
	enum cpl_reason reason; /* for the stock answer */
	int64_t theirs; /* ns of the scheduler's own answer to this call */
	struct decided *out;
};

/* Ranks of each node. */
static inline int engine_spread(int ranks, uint32_t nodes)
{
	return nodes > 0 && ranks > 0
	               ? (int)(((uint32_t)ranks + nodes - 1) / nodes)
	               : 1;
}

/* engine_volume.c */

/*
 * May the job, which has no profile, be placed by what the newest run of its name
 * sent (PlaceByVolume)? Then d->by_volume is that, and it is on record. 0; 1 with
 * err: it sent nothing; -1: not. O(1), or as cpl_profile_of_volume.
 */
int engine_find_volume(struct deciding *d, bool asked, struct cpl_error *err);
/* The same for as many nodes as the job is to have now, if it is placed so. 0, or -1
 * with err (memory). */
int engine_fit_volume(struct deciding *d, struct cpl_error *err);

/* engine_shape.c */

/* What it is to get but, of another element of a job array that has begun in
 * this pass, by the policy whose nodes were best then, with its *seed: what is
 * alike is searched for once. */
struct cpl_wish engine_wish(const struct deciding *d, uint64_t *seed);

/* engine_reach.c */

/* Does the job's order of ranks reach its tasks, as far as is known? It goes on
 * record. 0, or -1: memory. */
int engine_reach(struct deciding *d, enum cpl_order *out);

/* engine_trial.c */

/*
 * Does the job stay stock, though nodes were chosen for it: Mode=observe, a trial
 * that draws it so, a profile whose trial went badly? In words, too. The arm of a
 * trial goes on record. CPL_REASON_NONE: it is placed. O(stopped profiles).
 */
enum cpl_reason engine_held_back(struct deciding *d, char *text, size_t size);

/* engine_offer.c */

/* Ask the scheduler for free hosts and take the lowest ranks that hold the job:
 * d->offer and d->size. 0, or -1: memory. O(hosts of d->span * log(ranks)). */
int engine_measure(struct deciding *d);
/*
 * After a refusal: without hosts that cannot serve the job, or with more of
 * them. False: there is nothing else to try. As engine_measure.
 */
bool engine_try_others(struct deciding *d);
static inline bool engine_offers(const struct deciding *d, int host)
{
	uint32_t cpus = d->offer[host];

	return cpus && d->desk->host_node[host] >= 0 &&
	       cpus >= (d->required[host] ? cpl_size_least(&d->req->need)
	                                  : d->size.cpus);
}
/*
 * The hosts that the job must have, into host[n_hosts]; returns how many, -1:
 * memory. Those filled first, where they are not too many for its size, the user's,
 * and of the largest, the first ones, as many as it takes for any others to hold the
 * rest of the job.
 */
int engine_must_have(const struct deciding *d, int *host);

/* engine_compare.c */

/* The scheduler did something else, since then: for how long (ns). The deadline
 * is so much later. */
int64_t engine_took(struct deciding *d, int64_t since);
/* The scheduler's own choice into d->stock, once a decision, whatever mode
 * asks: a test and the start after it choose among the same. */
void engine_ask_beside(struct deciding *d);
/* Would that ask? O(hosts of d->span). */
bool engine_asks_beside(const struct deciding *d);
/* It in order, as a candidate (node ids); false: it is none. */
bool engine_stock_nodes(const struct deciding *d,
                          const unsigned char *is_free, int *node);
/* The scheduler's answer for a job that is not placed by us, or beside ours,
 * for the record. */
void engine_ask_stock(struct deciding *d, bool placed);

/* engine_bounds.c */

/* By the scheduler's own answer: as many nodes as it would give the job. False:
 * it would give none now. True, too, where it is not asked. */
bool engine_follow_stock(struct deciding *d);
/*
 * What the nodes have to keep to: the request's rules, and, by SegmentFromSignature,
 * the segments that the job's signature implies as a wish (placement/bounds.h).
 * 0, or -1 with err.
 */
int engine_bind(struct deciding *d, struct cpl_error *err);
/* May the scheduler's own nodes be taken as they are? Not where they lack segments
 * that are wished for and that their units have. O(nodes). */
bool engine_takes_stock(const struct cpl_placement_request *place,
                        const int *stock);
/* What the decision keeps to, on record. -1: memory. */
int engine_note_bounds(struct deciding *d, const struct cpl_decision *decision);

/* engine_choice.c */

/* Hosts (indexes) as the text of a record's field. -1: memory. */
int engine_set_hosts_text(const struct desk *desk, char **field,
                          const int *host, int n);
/* The same of hosts that are free, of which each is a bit. O(hosts / 64 + runs of
 * names that follow each other). */
int engine_set_free_text(const struct desk *desk, const uint64_t *bits,
                         char **field);
/* Hosts and ranks of it, as what the job begins with. -1: memory. */
int engine_set_order(struct deciding *d, const struct cpl_decision *decision);
/* The same, with all that goes on record. -1: memory. */
int engine_set_choice(struct deciding *d,
                        const struct cpl_decision *decision);
