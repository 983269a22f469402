/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine's desk: the snapshot and hosts in force, what has been decided by
 * them, and what of a pass of the scheduler has been used. It knows no job that
 * runs: functions that need these, too, take the ledger. All of it is read and
 * changed with the engine's `api` held.
 */
#pragma once

#include <sys/types.h>

#include "mapping/mapping.h"
#include "mapping/rank_groups.h"
#include "placement/bounds.h"
#include "placement/placement.h"
#include "site/engine_ledger.h"
#include "site/resolve.h"

/* An answer on which a job is about to begin. */
struct decided {
	struct decided *next;
	struct cpl_record *record;
	struct cpl_profile *profile;
	int *order; /* [n_order] our hosts in rank order, or NULL */
	int n_order;
	/* As the decision mapped the ranks, in blocks of ranks_per_node: see
	 * struct cpl_decision. Congestion before and after. */
	bool mapped;
	int *rank_host; /* [ranks] index into order; NULL: in blocks */
	double max_before, max_after;
	struct cpl_times_result times; /* seconds > 0: so judged */
	int *host; /* [n_host] what the scheduler gave it, in node order */
	int n_host;
	bool quiet; /* nothing is told of it: it has a record, that is all */
};

/* Of a profile on so many hosts with so many ranks each. */
#define ENGINE_GROUPS 8
struct kept_groups {
	struct snapshot *snapshot;
	struct cpl_profile *profile; /* NULL: none */
	int ranks_per_node, n_hosts;
	uint64_t used;                       /* larger: later */
	struct cpl_rank_groups block, grown; /* of cpl_decide_request */
	struct growing
	        *growing; /* by the worker now: grown is empty, or NULL */
};

/* What was advised for a profile with so many ranks on each node. */
#define ENGINE_SEGMENTS 8
struct kept_segment {
	struct snapshot *snapshot;
	struct cpl_profile *profile; /* NULL: none */
	int ranks_per_node;
	uint64_t used; /* larger: later */
	int nodes;     /* of a segment; 0: none is needed */
	struct advising *advising; /* by the worker now, or NULL */
};

/* Volumes of jobs of so many nodes, as profiles. */
#define ENGINE_VOLUMES 8
struct kept_volume {
	struct cpl_profile *profile; /* NULL: none */
	double volume;
};

/* What jobs were bound by last. */
#define ENGINE_BOUNDS 4
struct kept_bounds {
	char *rules, *units; /* NULL: none */
	struct cpl_bounds bounds;
};

/* What a job takes of a pass: those of few ranks that no slow mapper lays out
 * have a part that others leave them; elements of an array that are placed like
 * one before them a pass of their own. */
enum engine_size { ENGINE_LARGE, ENGINE_SMALL, ENGINE_ALIKE };

/* Users with profiles of which it is known whether orders of ranks reach their
 * tasks. */
#define ENGINE_SHOWN 256

/* Users told apart in a pass. */
#define ENGINE_SHARES 256

struct desk {
	struct clerk *clerk;       /* of the same engine */
	struct snapshot *snapshot; /* in force, NULL: none yet */
	char **host_name;          /* [n_hosts] */
	uint64_t *follows; /* bit i: name i follows the one before in a text */
	int n_hosts;
	int *host_node; /* [n_hosts] node id, -1: unknown to the network */
	int *node_host; /* [net->n_nodes] host index or -1 */

	int64_t began, ends;    /* of the call under way; 0: not said yet */
	int64_t ends_by, hurry; /* at the latest, of it and of the next; or 0 */
	int64_t pass, spent;    /* when the pass began, what calls took of it */
	struct share {
		int64_t uid, spent;
	} share[ENGINE_SHARES]; /* [n_shares] the same of users */
	int n_shares;
	struct share *whose;   /* the call under way is, or NULL: nobody's */
	enum engine_size size; /* of its job */
	struct shape {
		int64_t array, pass;
		const struct cpl_placement_policy *policy; /* NULL: none */
		uint64_t seed;
	} shape; /* of the array of which an element began last */

	struct decided *decided; /* newest first */
	struct formers *formers; /* of jobs that have ended; NULL: none */
	struct memo *memo;   /* decisions made in this state, newest first */
	uint64_t memo_state; /* the ledger's, of which they are */
	struct cpl_orders orders; /* of the network in force */
	struct kept_groups groups[ENGINE_GROUPS];
	uint64_t groups_used;
	struct kept_segment segment_of[ENGINE_SEGMENTS];
	uint64_t segments_used;
	struct kept_volume volume_of[ENGINE_VOLUMES];
	int next_volume; /* is kept there */
	struct kept_bounds bounds[ENGINE_BOUNDS];
	int next_bounds; /* is read into */
	struct shown {
		uint32_t uid;
		char profile[CPL_PROFILE_NAME_MAX + 1];
		enum cpl_order order;
	} shown[ENGINE_SHOWN]; /* [n_shown], by steps of batch jobs */
	int n_shown, next_shown;
	uint64_t recordable; /* submissions that Record= has a profile for */
};

/* engine_pass.c */

/* Whose call it is that is under way (uid -1: not known), and for what job.
 * Before its deadline is asked. */
void engine_for(struct desk *desk, int64_t uid, enum engine_size size);
/* Of a job, element of an array (0: none), by what lays out its ranks. */
enum engine_size engine_size(const struct desk *desk, int64_t array, long ranks,
                             long nodes, const struct cpl_mapper *mapper);
/*
 * When the call under way ends, whatever it does: MaxDecisionTime after it
 * began, or before, when its pass or its user's share of it is used up; the
 * scheduler's own time besides. The same for all that a call does. engine_limit:
 * for a call that may take ms in place of MaxDecisionTime. With a snapshot in
 * force.
 */
int64_t engine_deadline(struct desk *desk);
int64_t engine_limit(struct desk *desk, int ms);
/* Since then the scheduler has been at work, not we: the call ends so much
 * later. Returns how long. */
int64_t engine_theirs(struct desk *desk, int64_t since);
/* Time that counts as one pass of the scheduler, for MaxPassTime. */
#define ENGINE_PASS_NS (2 * INT64_C(1000000000))

/* engine_decided.c */

/* What a decision on the job begins with: what is asked for, and the stock
 * outcome. NULL: memory. */
struct cpl_record *engine_record_new(const struct snapshot *now,
                                     const struct cpl_job_facts *job,
                                     const struct cpl_resolved *want);
/* It is the newest from now on; the oldest goes where there are too many. */
void engine_decided_keep(struct desk *desk, struct decided *decided);
/* Out of the list: what was decided for the job, or NULL. */
struct decided *engine_decided_take(struct desk *desk, int64_t id);
void engine_decided_free(struct decided *decided);

/* engine_shape.c */

/* Has an element of the array begun in this pass, so that others need no
 * search?
 */
bool engine_shape_known(const struct desk *desk, int64_t array);
/* An element of the array begins as decided. */
void engine_shape_note(struct desk *desk, int64_t array,
                       const struct cpl_record *record);

/* engine_former.c: layouts of the newest jobs that have ended, for those that run
 * again. */

/* The job ends. O(its nodes and ranks), and the number of those kept. */
void engine_former_keep(struct desk *desk, const struct running *job);
/* That of the job's run before, until another is kept; NULL: none. */
const struct cpl_former *engine_former(const struct desk *desk, int64_t job);
/* What became of it, on record. -1: memory. */
int engine_note_former(const struct desk *desk, struct cpl_record *record,
                       const struct cpl_former *former,
                       const struct cpl_repaired *repaired);
/* The network is another one, or all ends. */
void engine_formers_forget(struct desk *desk);

/* engine_groups.c */

/*
 * cpl_decide_blocks and cpl_decide_groups of a large job that the default
 * mapper lays out, kept for the next ones; valid until the next call. Those of
 * many entries are grown by the worker: until then ranks are in blocks. NULL:
 * none are kept. O(1), or as cpl_decide_blocks.
 */
const struct kept_groups *engine_groups(struct desk *desk,
                                        struct cpl_profile *profile,
                                        const struct cpl_mapper *mapper,
                                        int ranks_per_node, int n_hosts);
/* Them in the request. True: they are growing, so that its answer is not yet
 * what it will be. */
bool engine_use_groups(struct desk *desk, struct cpl_decide_request *req,
                       struct cpl_profile *profile);
void engine_groups_free(struct desk *desk);

/* engine_segment.c */

/*
 * The nodes of a segment that a profile with so many ranks on each node implies
 * (cpl_segment_advise on the network in force); 0: none, or memory is out. Kept for
 * the next ones. That of many entries is found by the worker: *growing, and there is
 * none until then. O(1), or as cpl_segment_advise.
 */
int engine_segment(struct desk *desk, struct cpl_profile *profile,
                   int ranks_per_node, bool *growing);
void engine_segments_free(struct desk *desk);

/* engine_volume.c */

void engine_volumes_free(struct desk *desk);

/* engine_bounds.c */

/* The network changed. */
void engine_bounds_forget(struct desk *desk);

/* engine_memo.c */

/*
 * cpl_decide, but for a request that was answered before in the same state of
 * configuration, network, hosts and running jobs the answer of then: backfill's
 * test and the start after it, the passes over a queue, jobs alike. One that
 * the deadline cut short is made anew. The decision is the desk's, until the
 * next call. NULL with err. O(nodes + decisions kept * nodes / 8), else as
 * cpl_decide; bounded in number and bytes.
 */
const struct cpl_decision *
engine_memo_decide(struct desk *desk, const struct ledger *ledger,
                   const struct cpl_decide_request *req,
                   struct cpl_profile *profile, struct cpl_error *err);
/* Behind this entry, whose bytes are added; for tests. */
struct memo *engine_memo_next(struct memo *memo, size_t *bytes);
/* That state changed. */
void engine_memo_forget(struct desk *desk);

/* engine_map.c */

/*
 * Map the ranks of a profile on n hosts (nodes of the network) with slots[]
 * under MaxDecisionTime, by the record's mapping and objective; turn as
 * cpl_map_request, rank_host as cpl_map_result. -1 with err.
 */
int engine_map_ranks(struct desk *desk, struct ledger *ledger,
                     struct cpl_profile *profile,
                     const struct cpl_record *record, const int *node,
                     const int *slots, const int *turn, int n,
                     struct cpl_map_result *out, struct cpl_error *err);
/* The mapper that orders the ranks of the record's job without its traffic, or
 * NULL: the job has a profile, or another mapping, or an order of its own. */
const struct cpl_mapper *engine_order(const struct cpl_record *record);
/* Map ranks by it: slots[h] on node[h], rank_host by index. -1 with err. */
int engine_order_ranks(const struct cpl_network *net,
                       const struct cpl_mapper *order, const int *node,
                       const int *slots, int n, int *rank_host,
                       struct cpl_error *err);

/* engine_reach.c */

/* A step of the job took its order of ranks, or one on all of its nodes did
 * not, or is of daemons that may have it from a host file: what is known of its
 * user's jobs of this profile. On its record, too. */
void engine_reach_shown(struct desk *desk, struct running *job,
                        enum cpl_order order);
/* The same of a record that was taken back. */
void engine_reach_restore(struct desk *desk, const struct cpl_record *record);

/* engine_choice.c */

/* The names of hosts (indexes): an array to free(), the names are the desk's.
 * NULL: memory, or an index that is no host. */
char **engine_host_names(const struct desk *desk, const int *host, int n);
/* Replace *field by the host list of n names (NULL: memory). -1: memory. */
int engine_set_hostlist(char **field, char *const *name, int n);
/* Copy n names (NULL: memory) into the record's hosts. -1: memory, nothing
 * changed. */
int engine_record_hosts(struct cpl_record *record, char *const *name, int n);
