/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside the engine. Two locks: a caller holds `api` for the whole of a call;
 * it guards all that decisions use. Callers and the worker hold `lock` briefly;
 * it guards what the worker stages for the next caller to adopt. The worker
 * never takes `api`.
 */
#ifndef CPL_SITE_ENGINE_INTERNAL_H
#define CPL_SITE_ENGINE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "learn/learned.h"
#include "mapping/mapping.h"
#include "mapping/rank_groups.h"
#include "network/network.h"
#include "routing/routing.h"
#include "signature/signature.h"
#include "site/background.h"
#include "site/config.h"
#include "site/counters.h"
#include "site/engine.h"
#include "site/record_dir.h"
#include "site/resolve.h"
#include "site/store.h"
#include "site/worker.h"
#include "traffic/times.h"
#include "traffic/traffic.h"

/* Configuration, network and routing that belong together; never changed. */
struct snapshot {
	atomic_int refs;
	struct cpl_config *config;
	struct cpl_network *net; /* NULL only with Mode=off */
	const struct cpl_routing *routing;
	const struct cpl_routing *stated; /* as of cpl_decide_request */
	struct cpl_learned *learned; /* TimeModel, where an objective needs it */
	struct cpl_file_mark config_mark, net_mark, model_mark;
};

/* A record taken back after a restart. */
struct restored {
	struct restored *next;
	struct cpl_record *record;
};

/* How ranks were mapped for a step of other counts than the job's layout has:
 * the next ones of that shape follow it. */
struct step_order {
	int n_hosts, ranks;
	int *node, *slots; /* [n_hosts] */
	int *rank_host;    /* [ranks] position in node[] */
};

struct running {
	int64_t id;
	struct cpl_record *record; /* hosts and layout */
	bool traffic; /* it has a profile that fits, as far as is known */
	struct cpl_profile *profile; /* held until the load is made, or NULL */
	bool has_layout;             /* steps follow it */
	bool ordered; /* any step's ranks are laid along the network */
	bool own_order;              /* but rank_host is how its user runs it */
	int *plan; /* [ranks] ours meanwhile, as rank_host; NULL: not known */
	bool suspended;              /* no load, until it goes on */
	bool load_made;            /* for the snapshot in force: */
	struct cpl_job_load *load; /* NULL: it has none, or not yet */
	struct making *making;     /* its load, under way, or NULL */
	struct step_order step; /* the last one; no ranks: none */
};

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
};

/* What loads of jobs are made with, by one thread at a time. */
struct load_scratch {
	struct snapshot *snapshot; /* that it is for; a reference, or NULL */
	struct cpl_workload *workload;
};

/* Of a profile on so many hosts with so many ranks each. */
#define ENGINE_GROUPS 8
struct kept_groups {
	struct snapshot *snapshot;
	struct cpl_profile *profile; /* NULL: none */
	int ranks_per_node, n_hosts;
	uint64_t used; /* larger: later */
	struct cpl_rank_groups block, grown; /* of cpl_decide_request */
	struct growing *growing; /* by the worker now: grown is empty, or NULL */
};

/* What a job takes of a pass: those of few ranks that no slow mapper lays out have
 * a part that others leave them; elements of an array that are placed like one
 * before them a pass of their own. */
enum engine_size { ENGINE_LARGE, ENGINE_SMALL, ENGINE_ALIKE };

/* Users with profiles of which it is known whether orders of ranks reach their
 * tasks. */
#define ENGINE_SHOWN 256

/* Users told apart in a pass. */
#define ENGINE_SHARES 256

struct cpl_engine {
	char *config_path;
	void (*log)(enum cpl_engine_log level, const char *text);
	char *cluster; /* NULL: not told */
	bool private_jobs;
	struct cpl_worker *worker;
	struct cpl_store *store;
	struct cpl_record_dir *records;
	struct cpl_counters counters;

	pthread_mutex_t api;
	int64_t began, ends; /* of the call under way; 0: not said yet */
	int64_t pass, spent; /* when the pass began, what calls took of it */
	struct share {
		int64_t uid, spent;
	} share[ENGINE_SHARES]; /* [n_shares] the same of users */
	int n_shares;
	struct share *whose; /* the call under way is, or NULL: nobody's */
	enum engine_size size; /* of its job */
	struct shape {
		int64_t array, pass;
		const char *policy; /* NULL: none is known */
		uint64_t seed;
	} shape; /* of the array of which an element began last */
	struct snapshot *snapshot; /* in force, NULL: none yet */
	char **host_name;          /* [n_hosts] */
	int n_hosts;
	int *host_node; /* [n_hosts] node id, -1: unknown to the network */
	int *node_host; /* [net->n_nodes] host index or -1 */
	struct running *running; /* in id order */
	int n_running, max_running;
	struct cpl_background *background; /* of the snapshot, or NULL */
	bool settled; /* it is complete; else jobs are to be looked at */
	struct load_scratch on_caller, on_worker;
	struct cpl_times_space *space; /* of the snapshot, or NULL */
	struct kept_groups groups[ENGINE_GROUPS];
	uint64_t groups_used;
	struct shown {
		uint32_t uid;
		char profile[CPL_PROFILE_NAME_MAX + 1];
		enum cpl_order order;
	} shown[ENGINE_SHOWN]; /* [n_shown], by steps of batch jobs */
	int n_shown, next_shown;
	struct memo *memo; /* decisions made in this state, newest first */
	struct decided *decided;      /* newest first */
	struct cpl_engine_live *live; /* [n_live] of the last restore, by id */
	int n_live;
	bool restore_waits, was_restored;
	uint64_t recordable; /* submissions that Record= has a profile for */

	pthread_mutex_t lock;
	struct snapshot *staged;
	char *profile_dir; /* of the configuration in force */
	bool loaded;       /* ever; the next are of the last good load */
	struct cpl_file_mark config_mark, net_mark, model_mark;
	char *last_network; /* file of that load; the worker's */
	char *last_model;   /* the same, NULL: none was read */
	bool last_routes;   /* it names a file of routes, read each time */
	char loaded_at[32]; /* that load */
	struct restored *restored;
	struct cpl_error last_logged;
};

/* engine_pass.c */

/* Whose call it is that is under way (uid -1: not known), and for what job.
 * Before its deadline is asked. */
void engine_for(struct cpl_engine *engine, int64_t uid, enum engine_size size);
/* Of a job, element of an array (0: none), by what lays out its ranks. */
enum engine_size engine_size(const struct cpl_engine *engine, int64_t array,
                             long ranks, long nodes,
                             const struct cpl_mapper *mapper);
/*
 * When the call under way ends, whatever it does: MaxDecisionTime after it
 * began, or before, when its pass or its user's share of it is used up; the
 * scheduler's own time beside. The same for all that a call does. engine_limit:
 * for a call that may take ms in place of MaxDecisionTime. With a snapshot in
 * force.
 */
int64_t engine_deadline(struct cpl_engine *engine);
int64_t engine_limit(struct cpl_engine *engine, int ms);
/* Since then the scheduler has been at work, not we: the call ends so much
 * later. Returns how long. */
int64_t engine_theirs(struct cpl_engine *engine, int64_t since);
/* Time that counts as one pass of the scheduler, for MaxPassTime. */
#define ENGINE_PASS_NS (2 * INT64_C(1000000000))

/* Begin and end a call of the scheduler's, with `api` held in between; the time
 * is counted, but for what was the scheduler's own (ns). */
int64_t engine_enter(struct cpl_engine *engine);
void engine_leave(struct cpl_engine *engine, enum cpl_timer timer,
                  int64_t entered, int64_t theirs);

/* engine.c */

/* Budget of core requests; arg is a deadline (int64_t, cpl_now). */
bool engine_expired(void *arg);

void engine_log(struct cpl_engine *engine, enum cpl_engine_log level,
                const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* engine_load.c */

/* Have the worker read configuration and network, and wait for it. 0: what
 * they say now is staged. -1 with err. */
int engine_load(struct cpl_engine *engine, int64_t deadline,
                struct cpl_error *err);
/* References; the last one dropped frees it. NULL is allowed. Any thread. */
struct snapshot *engine_snapshot_hold(struct snapshot *snapshot);
void engine_snapshot_drop(struct snapshot *snapshot);

/* engine_decide.c */

/* What a decision on the job begins with: what is asked for, and the stock
 * outcome. NULL: memory. */
struct cpl_record *engine_record_new(const struct cpl_engine *engine,
                                     const struct cpl_job_facts *job,
                                     const struct cpl_resolved *want);

/* Out of the list: what was decided for the job, or NULL. */
struct decided *engine_decided_take(struct cpl_engine *engine, int64_t id);
void engine_decided_free(struct decided *decided);

/* engine_shape.c */

/* Has an element of the array begun in this pass, so that others need no search?
 */
bool engine_shape_known(const struct cpl_engine *engine, int64_t array);
/* An element of the array begins as decided. */
void engine_shape_note(struct cpl_engine *engine, int64_t array,
                       const struct cpl_record *record);

/* engine_groups.c */

/*
 * cpl_decide_blocks and cpl_decide_groups of a large job that the default mapper
 * lays out, kept for the next ones; valid until the next call. Those of many
 * entries are grown by the worker: until then ranks are in blocks. NULL: none are
 * kept. O(1), or as cpl_decide_blocks.
 */
const struct kept_groups *engine_groups(struct cpl_engine *engine,
                                        struct cpl_profile *profile,
                                        const struct cpl_mapper *mapper,
                                        int ranks_per_node, int n_hosts);
/* Them in the request. True: they are growing, so that its answer is not yet what
 * it will be. */
bool engine_use_groups(struct cpl_engine *engine,
                       struct cpl_decide_request *req,
                       struct cpl_profile *profile);
void engine_groups_free(struct cpl_engine *engine);

/* engine_memo.c */

/*
 * cpl_decide, but for a request that was answered before in the same state of
 * configuration, network, hosts and running jobs the answer of then: backfill's
 * test and the start after it, the passes over a queue, jobs alike. One that
 * the deadline cut short is made anew. The decision is the engine's, until the
 * next call. NULL with err. O(nodes + decisions kept * nodes / 8), else as
 * cpl_decide; bounded in number and bytes.
 */
const struct cpl_decision *
engine_memo_decide(struct cpl_engine *engine,
                   const struct cpl_decide_request *req,
                   struct cpl_profile *profile, struct cpl_error *err);
/* Behind this entry, whose bytes are added; for tests. */
struct memo *engine_memo_next(struct memo *memo, size_t *bytes);
/* That state changed. */
void engine_memo_forget(struct cpl_engine *engine);

/*
 * The most ranks that a job on so many hosts is placed or laid out with: what
 * that takes grows with them, and -n with --overcommit may be any number. A
 * host with more than a few thousand is none (Slurm itself counts them in 16
 * bits), and no profile has more than CPL_SIGNATURE_MAX_RANKS.
 */
#define ENGINE_HOST_RANKS 4096
static inline int engine_most_ranks(int n_hosts)
{
	const int most = CPL_SIGNATURE_MAX_RANKS;

	return n_hosts < most / ENGINE_HOST_RANKS ? n_hosts * ENGINE_HOST_RANKS
	                                          : most;
}

/* engine_start.c */

/*
 * Map the ranks of a profile on n hosts (nodes of the network) with slots[]
 * under MaxDecisionTime, by the record's mapping and objective; turn as
 * cpl_map_request, rank_host as cpl_map_result. -1 with err.
 */
int engine_map_ranks(struct cpl_engine *engine,
                     struct cpl_profile *profile,
                     const struct cpl_record *record, const int *node,
                     const int *slots, const int *turn, int n,
                     struct cpl_map_result *out, struct cpl_error *err);
/* The mapper that orders the ranks of the record's job without its traffic, or
 * NULL: the job has a profile, or another mapping, or an order of its own. */
const struct cpl_mapper *engine_order(const struct cpl_record *record);
/* Map ranks by it: slots[h] on node[h], rank_host by index. -1 with err. */
int engine_order_ranks(const struct cpl_engine *engine,
                       const struct cpl_mapper *order, const int *node,
                       const int *slots, int n, int *rank_host,
                       struct cpl_error *err);

/* engine_step.c */

/* Ranks to positions in the step, rows in increasing order. -1 with err when
 * the counts are not those of the step, which is then unchanged. */
int engine_permute(const struct cpl_engine_step *step, const int *rank_host,
                   struct cpl_error *err);

void engine_step_order_free(struct step_order *order);

/* engine_reach.c */

/* A step of the job took its order of ranks, or one on all of its nodes did not, or
 * is of daemons that may have it from a host file: what is known of its user's jobs
 * of this profile. On its record, too. */
void engine_reach_shown(struct cpl_engine *engine, struct running *job,
                        enum cpl_order order);
/* The same of a record that was taken back. */
void engine_reach_restore(struct cpl_engine *engine,
                          const struct cpl_record *record);

/* engine_running.c */

struct running *engine_running_find(struct cpl_engine *engine, int64_t id);
/* Takes record and the profile's reference, also when it fails. */
struct running *engine_running_add(struct cpl_engine *engine,
                                   struct cpl_record *record,
                                   struct cpl_profile *profile);
void engine_running_remove(struct cpl_engine *engine, struct running *job);
/* Of struct cpl_engine_live, by id: for qsort and bsearch. */
int engine_live_order(const void *a, const void *b);
/* Remove those that are not to be kept. O(running), beside their loads. */
void engine_running_keep(struct cpl_engine *engine,
                         bool (*keep)(void *arg, int64_t id), void *arg);
/* The store's query for what a job has, by its user's word or a rule's. */
struct cpl_store_query engine_query(const struct cpl_engine *engine,
                                    const struct cpl_job_facts *job,
                                    const struct cpl_resolved *want, int ranks,
                                    int64_t deadline);
/* cpl_store_find by it: the user's own ones, if the user is known, and those of
 * ProfileDir that the user may read. */
void engine_find_profile(struct cpl_engine *engine,
                         const struct cpl_job_facts *job,
                         const struct cpl_resolved *want, int ranks,
                         int64_t deadline, struct cpl_store_answer *answer);

/* Who a job's time is counted for; -1: not known. */
static inline int64_t engine_user_of(const struct cpl_job_facts *job)
{
	return job->has_uid ? (int64_t)job->uid : -1;
}

/* A reference to the job's profile, out of the store if need be. NULL with
 * err. */
struct cpl_profile *engine_running_profile(struct cpl_engine *engine,
                                           const struct running *job,
                                           int64_t deadline,
                                           struct cpl_error *err);
void engine_running_free(struct cpl_engine *engine);
/* The job's ranks run elsewhere: its load is made anew. */
void engine_running_changed(struct cpl_engine *engine, struct running *job);
/* It begins or ceases to stand still: the load that it has counts, or not. */
void engine_running_count(struct cpl_engine *engine, struct running *job);
/* Have the worker make the loads that are missing. 0; 1: profiles of some are
 * still being read, for another call; -1 with err (memory). */
int engine_running_begin(struct cpl_engine *engine, struct cpl_error *err);
/* The network changed: all loads are to be made anew, by engine_running_begin
 * or the next decision. */
void engine_running_stale(struct cpl_engine *engine);
/*
 * What the running jobs come to, NULL when none has any load, or with err when
 * memory is out or the deadline (ns) passed before it was made. Notes the jobs
 * counted in the record (NULL: nowhere). O(running jobs), and of jobs that are
 * new or gone O(their links * jobs on them).
 */
struct cpl_background *engine_background(struct cpl_engine *engine,
                                         struct cpl_record *record,
                                         int64_t deadline,
                                         struct cpl_error *err);

/* engine_loads.c: the load of a job, made by the worker or by the first who
 * needs it. */

/*
 * By the record's layout and that profile, whose reference it takes. NULL with
 * err: memory, or a host that is not in the network.
 */
struct making *engine_load_begin(struct cpl_engine *engine,
                                 const struct cpl_record *record,
                                 struct cpl_profile *profile,
                                 struct cpl_error *err);
/* Wait for it until the deadline, or make it. True: *load is it, or NULL with
 * err (memory). False with err: the deadline. */
bool engine_load_end(struct cpl_engine *engine, struct making *making,
                     int64_t deadline, struct cpl_job_load **load,
                     struct cpl_error *err);
/* NULL is allowed. */
void engine_load_drop(struct cpl_engine *engine, struct making *making);
void engine_load_scratch_free(struct load_scratch *scratch);

/*
 * engine_times.c: the same as bytes per second, NULL as engine_background. Of a
 * job whose profile has no times its bytes in the time that its busiest link
 * takes for them.
 */
const struct cpl_load *engine_rates(struct cpl_engine *engine, int64_t deadline,
                                    struct cpl_error *err);
/* The same where decisions go by time, else NULL: they need none. */
const struct cpl_load *engine_rates_by(struct cpl_engine *engine,
                                       enum cpl_objective objective,
                                       int64_t deadline, struct cpl_error *err);
/*
 * What a decision for a job of this profile (may be NULL) adds to its bytes:
 * those that the running jobs send while it runs, or where the profile has no
 * times their sums over whole runs. Valid until the next call. record (NULL:
 * nowhere) says which.
 */
const struct cpl_load *engine_background_of(struct cpl_engine *engine,
                                            const struct cpl_profile *profile,
                                            struct cpl_record *record,
                                            int64_t deadline,
                                            struct cpl_error *err);
/* The running jobs that count, for what a new one does to them; after
 * engine_rates. cpl_harm_free it. NULL with err: memory. O(links + theirs). */
struct cpl_harm *engine_harm(const struct cpl_engine *engine,
                             struct cpl_error *err);
/* To judge seconds on the network in force, for several jobs one after the
 * other. NULL with err: memory. */
struct cpl_times_space *engine_space(struct cpl_engine *engine,
                                     struct cpl_error *err);
/* The network is another, or the engine ends. */
void engine_times_free(struct cpl_engine *engine);
/* Seconds of a job of this profile with rank r on node[rank_host[r]] of n
 * hosts, or in blocks of ranks_per_node, under the running jobs. 0, or -1 with
 * err. */
int engine_judge(struct cpl_engine *engine, const struct cpl_profile *profile,
                 const int *node, int n, const int *rank_host,
                 int ranks_per_node, int64_t deadline,
                 struct cpl_times_result *out, struct cpl_error *err);

/* The names of hosts (indexes): an array to free(), the names are the
 * engine's. NULL: memory, or an index that is no host. */
char **engine_host_names(const struct cpl_engine *engine, const int *host,
                         int n);
/* Replace *field by the host list of n names (NULL: memory). -1: memory. */
int engine_set_hostlist(char **field, char *const *name, int n);
/* Copy n names (NULL: memory) into the record's hosts. -1: memory, nothing
 * changed. */
int engine_record_hosts(struct cpl_record *record, char *const *name, int n);
/* Take what the worker has staged; with `api` held, at the start of calls. */
void engine_adopt(struct cpl_engine *engine);

/* Replace *field by a copy of text (NULL stays NULL). -1: memory. */
int engine_set(char **field, const char *text);

#endif
