/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/printable.h"
#include "signature/install.h"
#include "site/engine_internal.h"
#include "site/submit.h"
#include "site/user_dir.h"

/* Names shown to somebody who mistyped one. */
#define NAMES_SHOWN 20
/* A profile that takes longer to read is taken when its ranks are known. */
#define BRIEF_NS (50 * INT64_C(1000000))

/* A text grows by a formatted piece, or stays as it is. */
static void __attribute__((format(printf, 2, 3)))
add_text(char **text, const char *fmt, ...)
{
	char *piece, *longer;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&piece, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	cpl_printable(piece);
	if (asprintf(&longer, "%s%s", *text ? *text : "", piece) >= 0) {
		free(*text);
		*text = longer;
	}
	free(piece);
}

static void refuse(struct cpl_verdict *verdict, const char *text)
{
	cpl_verdict_free(verdict);
	add_text(&verdict->message, "commplace: %s", text);
	verdict->refused = true;
}

static void note(struct cpl_verdict *verdict, const char *text)
{
	char *before = verdict->message, *both = NULL;

	verdict->message = NULL;
	add_text(&verdict->message, "commplace: %s", text);
	if (before && verdict->message &&
	    asprintf(&both, "%s\n%s", before, verdict->message) >= 0) {
		free(verdict->message);
		verdict->message = both;
	}
	free(before);
}

/* The names of a directory with the owners of the files: a request, since the
 * directory may hang. */
struct listing {
	struct cpl_request head;
	char *dir; /* own: a pattern */
	bool own;
	uid_t uid;
	char **name;
	struct cpl_file_stamp *stamp; /* mode 0: it cannot be opened */
	int n;
};

static void look_at_names(struct listing *l, const char *dir)
{
	l->n = cpl_profile_list(dir, &l->name, NULL);
	if (l->n > 0)
		l->stamp = calloc((size_t)l->n, sizeof(*l->stamp));
	for (int i = 0; l->stamp && i < l->n; i++) {
		char *path = cpl_profile_path(dir, l->name[i], NULL);
		int fd = path ? cpl_file_open(path, CPL_LINKS_REFUSE,
		                              UINT64_MAX, &l->stamp[i], NULL)
		              : -1;

		if (fd >= 0)
			close(fd);
		else
			l->stamp[i].mode = 0;
		free(path);
	}
}

static void run_listing(struct cpl_request *head)
{
	struct listing *l = (struct listing *)head;
	struct cpl_user_rights rights;
	char *dir = l->own ? cpl_user_dir(l->dir, l->uid, NULL) : NULL;

	if (!l->own) {
		look_at_names(l, l->dir);
	} else if (dir && !cpl_user_begin(&rights, l->uid, NULL)) {
		look_at_names(l, dir);
		cpl_user_end(&rights);
	}
	free(dir);
}

static void free_listing(struct cpl_request *head)
{
	struct listing *l = (struct listing *)head;

	for (int i = 0; i < l->n; i++)
		free(l->name[i]);
	cpl_free_all(l->name, l->stamp, l->dir, l);
}

/* Queue a look at a directory: the site's, or with `own` the user's; NULL:
 * there is none, or it cannot be. */
static struct listing *begin_listing(struct clerk *clerk,
                                     const struct cpl_store_query *query,
                                     bool own)
{
	const char *dir = own ? query->user_dir : query->dir;
	struct listing *l = dir ? calloc(1, sizeof(*l)) : NULL;

	if (!l)
		return NULL;
	l->head.run = run_listing;
	l->head.free = free_listing;
	l->head.owner = own ? query->uid : 0;
	l->own = own;
	l->uid = query->uid;
	l->dir = strdup(dir);
	if (!l->dir) {
		free(l);
		return NULL;
	}
	return cpl_worker_queue(clerk->worker,
	                        own ? CPL_QUEUE_HOME : CPL_QUEUE_LOOK, &l->head,
	                        true, NULL)
	               ? NULL
	               : l;
}

static bool may_name(struct clerk *clerk, const struct cpl_store_query *query,
                     const struct listing *l, int i)
{
	if (!l->stamp[i].mode)
		return false;
	if (l->own)
		return l->stamp[i].uid == query->uid;
	return cpl_store_may_read(clerk->store, query, &l->stamp[i], NULL) > 0;
}

/* What the user may name of a listing that has come by the deadline, behind
 * `begin`; how many, or -1: it has not. */
static int add_names(struct clerk *clerk, const struct cpl_store_query *query,
                     struct listing *l, const char *begin, char **text)
{
	int n = 0;

	if (!l || !cpl_worker_wait(clerk->worker, &l->head, query->deadline) ||
	    (l->n && !l->stamp))
		return -1;
	for (int i = 0; i < l->n; i++) {
		if (!may_name(clerk, query, l, i))
			continue;
		if (n < NAMES_SHOWN)
			add_text(text, "%s%s", n ? ", " : begin, l->name[i]);
		n++;
	}
	if (n > NAMES_SHOWN)
		add_text(text, " and %d more", n - NAMES_SHOWN);
	return n;
}

/* "; there are: ..." of what the user may read, and what is the user's own;
 * nothing of what takes long. */
static void list_profiles(struct clerk *clerk,
                          const struct cpl_store_query *query, char **text)
{
	struct listing *site = begin_listing(clerk, query, false);
	struct listing *own = begin_listing(clerk, query, true);
	char *mine = NULL;
	int n = add_names(clerk, query, own, "; your own: ", &mine);
	int of_site = add_names(clerk, query, site, "; there are: ", text);

	if (!of_site && n <= 0)
		add_text(text, "; there are none");
	if (of_site >= 0)
		add_text(text, " (commplace signature list)");
	if (n > 0 && mine)
		add_text(text, "%s (commplace signature list --user)", mine);
	free(mine);
	if (site)
		cpl_worker_drop(clerk->worker, &site->head);
	if (own)
		cpl_worker_drop(clerk->worker, &own->head);
}

static bool is_there(const struct cpl_store_answer *answer)
{
	return answer->found == CPL_FOUND_READY ||
	       answer->found == CPL_FOUND_OTHER_RANKS ||
	       answer->found == CPL_FOUND_LOADING;
}

static struct cpl_store_query query_of(const struct desk *desk,
                                       const struct cpl_submission *s,
                                       const char *name, enum cpl_whom whom,
                                       int64_t deadline)
{
	const struct cpl_config *config = desk->snapshot->config;

	return (struct cpl_store_query){
	        .dir = config->profile_dir,
	        .user_dir = config->user_profile_dir,
	        .whom = whom,
	        .uid = s->job.uid,
	        .gid = s->job.gid,
	        .name = name,
	        .ranks = s->ranks < INT32_MAX ? (int)s->ranks : INT32_MAX,
	        .deadline = deadline,
	};
}

/*
 * What memory says serves, unless it is bad news: the file may have been put
 * right a moment ago.
 */
static void find(struct desk *desk, const struct cpl_submission *s,
                 const char *name, enum cpl_whom whom, int64_t deadline,
                 struct cpl_store_answer *answer)
{
	struct cpl_store_query query =
	        query_of(desk, s, name, whom, cpl_now() + BRIEF_NS);

	if (query.deadline > deadline)
		query.deadline = deadline;
	for (int turn = 0; turn < 2; turn++) {
		cpl_store_find(desk->clerk->store, &query, answer);
		cpl_profile_drop(answer->profile);
		answer->profile = NULL;
		if (answer->found == CPL_FOUND_READY ||
		    answer->found == CPL_FOUND_BAD_NAME ||
		    (answer->found == CPL_FOUND_LOADING && answer->ranks))
			return;
		query.fresh = true;
		query.deadline = deadline;
	}
}

/* How the ranks of a profile that is there differ from the job's, or NULL. */
static char *mismatch(const struct cpl_store_answer *found, bool reject)
{
	char *text = NULL;

	if (found->found != CPL_FOUND_OTHER_RANKS)
		return NULL;
	add_text(&text, "%s%s", found->err.text,
	         reject ? "; take the profile of that size or run it with as "
	                  "many "
	                  "ranks"
	                : "; it is placed without the profile");
	if (*found->why.text)
		add_text(&text, " (%s)", found->why.text);
	return text;
}

/* Likewise of a job that does not state its ranks: the profile's are meant, but
 * steps get one task for each node unless they ask for more. */
static char *unstated(const char *profile, const struct cpl_store_answer *found,
                      const struct cpl_submission *s, bool reject)
{
	uint32_t ranks = (uint32_t)found->ranks;
	char *text = NULL;

	if (s->ranks || !s->max_implied || !ranks ||
	    (ranks >= s->min_implied && ranks <= s->max_implied))
		return NULL;
	add_text(&text,
	         "profile '%s' was recorded at %u ranks, the job states nodes "
	         "but "
	         "no tasks: its steps have %u unless they ask for others; add "
	         "-n %u",
	         profile, ranks,
	         ranks < s->min_implied ? s->min_implied : s->max_implied,
	         ranks);
	if (!reject)
		add_text(&text, " (it is placed as %u ranks)", ranks);
	return text;
}

/* -1 with err: nothing is done for a job of so many ranks. */
static int check_ranks(const struct desk *desk, const struct cpl_submission *s,
                       struct cpl_error *err)
{
	int nodes = s->job.nodes > 0 ? s->job.nodes : desk->n_hosts;
	int most = engine_most_ranks(nodes > 0 ? nodes : INT32_MAX);

	if (s->ranks <= most)
		return 0;
	return cpl_fail(err,
	                "%lld ranks are more than jobs are placed with (%d)",
	                (long long)s->ranks, most);
}

/* A profile that the user asked for. */
static void check_profile(struct desk *desk, const struct cpl_submission *s,
                          const char *profile, enum cpl_whom whom,
                          int64_t deadline, struct cpl_verdict *verdict)
{
	const struct cpl_config *config = desk->snapshot->config;
	struct cpl_store_query query =
	        query_of(desk, s, profile, whom, deadline);
	struct cpl_store_answer found;
	struct cpl_error many;
	char *text = NULL;
	bool reject;

	if (check_ranks(desk, s, &many)) {
		if (config->rank_mismatch == CPL_REJECT)
			refuse(verdict, many.text);
		else
			note(verdict, many.text);
		return;
	}
	find(desk, s, profile, whom, deadline, &found);
	if (found.found == CPL_FOUND_DENIED) {
		add_text(&text, "%s", found.err.text);
		reject = true;
	} else if (is_there(&found)) {
		reject = config->rank_mismatch == CPL_REJECT;
		text = mismatch(&found, reject);
		if (!text)
			text = unstated(profile, &found, s, reject);
		if (!text && found.rescaled) {
			add_text(&text,
			         "profile '%s' was recorded at %d ranks and is "
			         "rescaled for %lld, fit error %.1f %%",
			         profile, found.recorded_ranks,
			         (long long)s->ranks,
			         100 * found.rescale_error);
			reject = false;
		}
		if (!text && cpl_drifts(config, found.change)) {
			add_text(&text,
			         "profile '%s' drifts: it is %.1f %% from the "
			         "one "
			         "before it (commplace signature list %s)",
			         profile, 100 * found.change, profile);
			reject = false;
		}
		if (!text && found.home_hangs) {
			add_text(&text,
			         "your own profiles do not answer now: '%s' is "
			         "the "
			         "site's",
			         profile);
			reject = false;
		}
		if (!text)
			return;
	} else if (found.found == CPL_FOUND_TIMED_OUT) {
		/* Late is not missing. */
		add_text(&text,
		         "%s; the job is placed by it if it has answered by "
		         "then",
		         found.err.text);
		reject = false;
	} else {
		/* A bad name is refused in any case: it is no name. */
		reject = found.found == CPL_FOUND_BAD_NAME ||
		         config->missing_profile == CPL_REJECT;
		if (found.found == CPL_FOUND_MISSING) {
			add_text(&text, "no profile '%s' in %s", profile,
			         config->profile_dir);
			list_profiles(desk->clerk, &query, &text);
		} else {
			add_text(&text, "%s", found.err.text);
		}
		if (found.found == CPL_FOUND_UNREADABLE && found.own &&
		    geteuid())
			add_text(&text, "; slurmctld does not run as root here "
			                "and reads "
			                "your profiles with its own rights");
		if (!reject)
			add_text(&text, "; the job goes on without a profile");
	}
	if (reject)
		refuse(verdict, text ? text : "out of memory");
	else if (text)
		note(verdict, text);
	free(text);
}

/*
 * The profile that a Match rule gives the job. The user did not ask for it, so
 * nothing about it can make the job fail.
 */
static bool matched(struct desk *desk, const struct cpl_submission *s,
                    const char *profile, int64_t deadline)
{
	struct cpl_store_answer found;
	char *text;
	bool reject = desk->snapshot->config->rank_mismatch == CPL_REJECT;

	if (check_ranks(desk, s, NULL))
		return false;
	find(desk, s, profile, CPL_FOR_US, deadline, &found);
	if (!is_there(&found)) {
		engine_log(desk->clerk, CPL_ENGINE_INFO,
		           "Match rule for job name %s: %s",
		           s->job.name ? s->job.name : "(none)",
		           found.err.text);
		return false;
	}
	text = reject ? mismatch(&found, true) : NULL;
	free(text);
	return !text;
}

/*
 * Whether the site wants a job recorded as that profile of its user: until
 * there is one for its ranks, then one job in so many. What does not answer is
 * no reason to.
 */
static bool is_sample(struct desk *desk, const struct cpl_submission *s,
                      const char *name, int one_in, int64_t deadline)
{
	struct cpl_store_answer found;

	if (check_ranks(desk, s, NULL))
		return false;
	find(desk, s, name, CPL_FOR_USER, deadline, &found);
	if (found.found == CPL_FOUND_MISSING ||
	    found.found == CPL_FOUND_OTHER_RANKS ||
	    (found.found == CPL_FOUND_READY && found.rescaled))
		return true;
	if (!is_there(&found) || !one_in)
		return false;
	return ++desk->recordable % (uint64_t)one_in == 0;
}

/* The recording of the job, by its user's word or the site's. */
static void record_job(struct desk *desk, const struct cpl_submission *s,
                       const struct cpl_resolved *want, int64_t deadline,
                       struct cpl_verdict *verdict)
{
	const struct cpl_config *config = desk->snapshot->config;
	char name[CPL_PROFILE_NAME_MAX + 1];
	const char *as = s->record;

	if (as && cpl_is_none(as))
		return;
	if (as && cpl_profile_name_check(as, NULL))
		return;
	if (as && !config->user_profile_dir)
		note(verdict,
		     "what is recorded is for commplace signature, and for "
		     "the site to take: jobs are placed by no profiles of "
		     "users here (UserProfileDir=none)");
	if (!as && want->record.value && config->user_profile_dir &&
	    !cpl_record_name(want->record.value, s->job.name ? s->job.name : "",
	                     name, sizeof(name), NULL) &&
	    is_sample(desk, s, name, want->record_one_in, deadline))
		as = name;
	if (!as)
		return;
	verdict->record = strdup(as);
	if (config->user_profile_dir)
		verdict->store = strdup(config->user_profile_dir);
	if (config->admin_comment)
		add_text(&verdict->comment, "%s record=%s",
		         verdict->comment ? "" : "commplace:", as);
}

static void comment(const struct cpl_resolved *want, const char *profile,
                    char **text)
{
	const char *policy = want->policy.value;

	add_text(text, "commplace:");
	if (profile)
		add_text(text, " profile=%s", profile);
	add_text(text, " policy=%s", policy ? policy : "auto");
	if (want->mapping.source == CPL_FROM_USER)
		add_text(text, " mapping=%s", want->mapping.value);
	if (want->mode == CPL_MODE_OBSERVE)
		add_text(text, " (observed)");
}

static void judge(struct desk *desk, const struct cpl_submission *s,
                  struct cpl_verdict *verdict)
{
	const struct snapshot *now = desk->snapshot;
	int64_t deadline = engine_deadline(desk);
	struct cpl_resolved want;
	const char *profile;

	cpl_resolve(now->config, now->net, &s->job, &want);
	profile = want.profile.value;
	if (want.refusal.text[0]) {
		refuse(verdict, want.refusal.text);
		return;
	}
	/* A rule that is not settled yet is left to the decision. */
	if (profile && want.profile.source == CPL_FROM_MATCH &&
	    (want.profile_open || !matched(desk, s, profile, deadline)))
		profile = NULL;
	else if (profile && want.profile.source == CPL_FROM_MATCH)
		verdict->attach = strdup(profile);
	else if (profile)
		check_profile(desk, s, profile,
		              want.profile_given ? CPL_FOR_US : CPL_FOR_USER,
		              deadline, verdict);
	if (verdict->refused)
		return;
	if (want.note.text[0])
		note(verdict, want.note.text);
	if ((profile || want.policy.source == CPL_FROM_USER) &&
	    now->config->admin_comment)
		comment(&want, profile, &verdict->comment);
	record_job(desk, s, &want, deadline, verdict);
}

void cpl_engine_submit(struct cpl_engine *engine,
                       const struct cpl_submission *s,
                       struct cpl_verdict *verdict)
{
	int64_t entered = engine_enter(engine);

	memset(verdict, 0, sizeof(*verdict));
	engine_adopt(engine);
	engine_for(&engine->desk, engine_user_of(&s->job), ENGINE_SMALL);
	if (engine->desk.snapshot)
		judge(&engine->desk, s, verdict);
	else if (s->job.profile || s->job.policy || s->job.mapping)
		note(verdict, "not in force, the job goes on without it; "
		              "slurmctld's log says what is wrong with "
		              "commplace.conf or the files that it names");
	engine_leave(engine, CPL_TIME_HELD_SUBMIT, entered, 0);
}
