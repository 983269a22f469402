/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "job_inputs.h"
#include "options.h"
#include "signature/install.h"
#include "signature/rescale.h"
#include "site/record.h"
#include "site/user_dir.h"
#include "site_files.h"

/* Numbers of candidates that differ by less are equal: loads of other jobs may
 * have been added up in another order. */
#define SAME 1e-9

enum verdict { EQUAL, DIFFERENT, NOT_REPEATABLE, NOTHING_DECIDED, N_VERDICTS };
static const char *const verdict_name[] = {"equal", "different",
                                           "not repeatable", "none"};

struct options {
	const char *profile_dir, *network, *state_dir, *config;
	bool json;
};

/* What several records share. */
struct site {
	const struct options *o;
	const char *profile_dir;
	const struct cpl_config *config; /* or NULL */
	char *net_path; /* of net */
	struct cpl_network *net;
	char *profile; /* name of sig and comm */
	struct cpl_signature *sig;
	struct cpl_comm *comm;
};

struct replayed {
	int64_t job;
	char *shown_as, *policy;
	enum verdict verdict;
	struct cpl_error why; /* not equal: what differs or is missing */
};

struct replays {
	int n, room;
	struct replayed *one;
	int count[N_VERDICTS];
};

/* The network of the record, loaded unless it is the last one's. */
static int take_network(struct site *site, const struct cpl_record *r,
                        struct cpl_error *err)
{
	const char *path =
	        site->o->network ? site->o->network : r->network_file;

	if (!path || !*path)
		return cpl_fail(err, "the record names no network file");
	if (site->net && !strcmp(site->net_path, path))
		return 0;
	cpl_network_free(site->net);
	free(site->net_path);
	site->net_path = strdup(path);
	site->net = site->net_path ? cpl_network_load(path, err) : NULL;
	if (!site->net_path)
		cpl_fail_memory(err);
	return site->net ? 0 : -1;
}

/* As the scheduler finds it. */
static struct cpl_signature *load_profile(const struct site *site,
                                          const struct cpl_record *r,
                                          struct cpl_error *err)
{
	const struct cpl_signature_limits none = {.max_bytes = UINT64_MAX};
	const struct cpl_config *config = site->config;
	char *own = config && config->user_profile_dir
	                    ? cpl_user_dir(config->user_profile_dir, r->uid,
	                                   NULL)
	                    : NULL;
	char *path = own ? cpl_profile_nearest(own, r->profile, r->ranks, NULL,
	                                       0, NULL)
	                 : NULL;
	struct cpl_signature *sig = NULL, *other;
	struct cpl_rescaled how;

	if (!path || access(path, F_OK)) {
		free(path);
		path = cpl_profile_nearest(site->profile_dir, r->profile,
		                           r->ranks, NULL, 0, err);
	}
	if (path)
		sig = cpl_signature_load_within(path, &none, err);
	if (sig && r->ranks && sig->ranks != r->ranks) {
		other = cpl_signature_rescale(sig, r->ranks, 0, &how, err);
		cpl_signature_free(sig);
		sig = other;
	}
	free(path);
	free(own);
	return sig;
}

/* The same of its profile. */
static int take_profile(struct site *site, const struct cpl_record *r,
                        struct cpl_error *err)
{
	if (!r->profile || (site->comm && !strcmp(site->profile, r->profile) &&
	                    (!r->ranks || r->ranks == site->sig->ranks)))
		return 0;
	free(site->profile);
	cpl_comm_free(site->comm);
	cpl_signature_free(site->sig);
	site->comm = NULL;
	site->sig = NULL;
	site->profile = strdup(r->profile);
	if (!site->profile)
		return cpl_fail_memory(err);
	site->sig = load_profile(site, r, err);
	if (site->sig)
		site->comm = cmd_comm(site->sig, NULL, err);
	return site->comm ? 0 : -1;
}

static bool same(double a, double b)
{
	return fabs(a - b) <= SAME * fmax(fabs(a), fabs(b));
}

static bool same_numbers(const struct cpl_record_candidate *then,
                         const struct cpl_candidate *now)
{
	const struct cpl_figures *mapped = &now->mapped;

	return then->shared_links == now->shared &&
	       then->broken == now->broken &&
	       same(then->slows_others, now->harm) &&
	       same(then->learned, now->told) &&
	       same(then->max_congestion, now->metrics.max_congestion) &&
	       same(then->mean_congestion, now->metrics.mean_congestion) &&
	       same(then->hop_bytes, now->sums.hop_bytes) &&
	       (!then->mapped || !now->is_mapped ||
	        (same(then->mapped_max, mapped->metrics.max_congestion) &&
	         same(then->mapped_mean, mapped->metrics.mean_congestion) &&
	         same(then->mapped_hop_bytes, mapped->sums.hop_bytes)));
}

/* EQUAL, or what differs first in *why. */
static enum verdict compare(const struct cpl_record *r,
                            const struct cpl_network *net,
                            const struct cpl_decision *d, struct cpl_error *why)
{
	const struct cpl_placement_policy *chosen =
	        d->candidate[d->chosen].policy;

	for (int i = 0; i < r->n_candidates && i < d->n_candidates; i++) {
		const struct cpl_record_candidate *then = &r->candidate[i];
		const struct cpl_candidate *now = &d->candidate[i];

		if (!then->evaluated || !now->evaluated)
			continue;
		if (same_numbers(then, now))
			continue;
		cpl_fail(why,
		         "candidate %s: max %.6g, mean %.6g, hop-bytes %.6g; "
		         "in the record %.6g, %.6g, %.6g",
		         now->policy->name, now->metrics.max_congestion,
		         now->metrics.mean_congestion, now->sums.hop_bytes,
		         then->max_congestion, then->mean_congestion,
		         then->hop_bytes);
		return DIFFERENT;
	}
	if (r->keep_whole && !same(r->price, d->price)) {
		cpl_fail(why, "price %.6g, in the record %.6g", d->price,
		         r->price);
		return DIFFERENT;
	}
	if (strcmp(r->policy, chosen->name)) {
		cpl_fail(why, "chosen is %s, in the record %s", chosen->name,
		         r->policy);
		return DIFFERENT;
	}
	for (int i = 0; i < d->n_nodes || i < r->n_hosts; i++) {
		const char *now =
		        i < d->n_nodes ? net->node_name[d->node[i]] : "none";
		const char *then = i < r->n_hosts ? r->host[i] : "none";

		if (!strcmp(now, then))
			continue;
		cpl_fail(why, "node %d is %.60s, in the record %.60s", i, now,
		         then);
		return DIFFERENT;
	}
	return EQUAL;
}

/* Was a file changed after the decision? Then it need not come out equal. */
static void blame_file(const char *path, int64_t time, struct cpl_error *why)
{
	struct stat st;

	if (path && !stat(path, &st) && st.st_mtime > time)
		cpl_fail_prefix(why, "(%s was changed since) ", path);
}

static void blame(const struct site *site, const struct cpl_record *r,
                  struct cpl_error *why)
{
	char *path = r->profile ? cpl_profile_path(site->profile_dir,
	                                           r->profile, NULL)
	                        : NULL;

	blame_file(path, r->time, why);
	blame_file(site->net_path, r->time, why);
	blame_file(r->time_model, r->time, why);
	free(path);
}

/* Were candidates judged with their rank order? Then by this mapper. */
static const struct cpl_mapper *mapper_of(const struct cpl_record *r)
{
	for (int i = 0; i < r->n_candidates; i++)
		if (r->candidate[i].mapped && r->mapping)
			return cpl_mapper_find(r->mapping, NULL);
	return NULL;
}

/* The machine as it was: free and required nodes. */
static int take_nodes(const struct cpl_network *net, const struct cpl_record *r,
                      unsigned char *free_node, int **required, int *n_required,
                      struct cpl_error *err)
{
	int n, *node = cmd_hosts_once(net, "\"free_hosts\"", r->free_hosts,
	                              NULL, &n, err);

	if (!node)
		return -1;
	for (int i = 0; i < n; i++)
		free_node[node[i]] = 1;
	free(node);
	*n_required = 0;
	if (!r->required_hosts || !*r->required_hosts)
		return 0;
	*required = cmd_hosts_once(net, "\"required_hosts\"", r->required_hosts,
	                           NULL, n_required, err);
	return *required ? 0 : -1;
}

/* The stock nodes, if they were a candidate; *node to free(). */
static int take_stock(const struct cpl_network *net, const struct cpl_record *r,
                      int **node, struct cpl_error *err)
{
	bool judged = false;
	int n;

	for (int i = 0; i < r->n_candidates; i++)
		judged |= !strcmp(r->candidate[i].policy,
		                  cpl_placement_stock.name);
	if (!judged)
		return 0;
	*node = cmd_hosts_once(net, "\"stock_hosts\"", r->stock_hosts, NULL,
	                       &n, err);
	if (!*node)
		return -1;
	if (n != r->nodes_wanted)
		return cpl_fail(err, "\"stock_hosts\": %d hosts, not %d", n,
		                r->nodes_wanted);
	return 0;
}

/* -1 with err: it cannot be made again. */
static int decide(struct site *site, const struct cpl_record *r,
                  const char *state_dir, struct cpl_decision *out,
                  struct cpl_error *err)
{
	const struct cpl_network *net = site->net;
	struct cpl_load background = {0}, rates = {0};
	struct cpl_state state = {0};
	unsigned char *free_node = calloc((size_t)net->n_nodes + 1, 1);
	int *required = NULL, *stock = NULL, rc = -1;
	struct cpl_learned *learned = NULL;
	struct cpl_harm *harm = NULL;
	bool by_time;
	struct cpl_decide_request req = {
	        .place = {.net = net,
	                  .free = free_node,
	                  .n_nodes_wanted = r->nodes_wanted,
	                  /* That of linear, which comes first. */
	                  .seed = r->candidate[0].seed},
	        .policy = r->policy_asked,
	        .comm = r->profile ? site->comm : NULL,
	        .ranks_per_node = r->ranks_per_node};

	if (!free_node) {
		cpl_fail_memory(err);
		goto out;
	}
	req.mapper = mapper_of(r);
	req.map_option = r->mapping ? cpl_mapper_option(r->mapping) : NULL;
	req.routing = cpl_routing_find(net, r->routing, err);
	if (!req.routing ||
	    cpl_objective_parse(r->objective ? r->objective : "",
	                        &req.objective, err) ||
	    take_nodes(net, r, free_node, &required, &req.place.n_required,
	               err) ||
	    take_stock(net, r, &stock, err) ||
	    cpl_record_background(r, state_dir, &state, err))
		goto out;
	req.place.required = required;
	by_time = cpl_objective_by_time(req.objective);
	if (cpl_objective_of_whole(req.objective) && req.comm) {
		req.phase = site->sig->phase;
		req.n_phases = site->sig->n_phases;
	}
	if (req.objective == CPL_OBJECTIVE_LEARNED) {
		if (!r->time_model) {
			cpl_fail(err, "the record names no model of time");
			goto out;
		}
		req.learned = learned = cpl_learned_load(r->time_model, err);
		if (!learned)
			goto out;
	}
	if (cpl_objective_of_others(req.objective) && req.comm) {
		req.own_weight = r->own_weight;
		req.others_weight = r->others_weight;
		req.harm = harm = cpl_harm_new(net, err);
		if (!harm || cpl_state_harm(&state, net, req.routing,
		                            site->profile_dir, harm, err))
			goto out;
	}
	req.stock = stock;
	req.keep_whole = r->keep_whole;
	req.keep_price = r->keep_price;
	if (state.n_jobs) {
		if (cpl_load_init(&background, net, err) ||
		    cpl_load_init(&rates, net, err))
			goto out;
		if ((r->run_seconds > 0 || by_time) &&
		    cpl_state_rates(&state, net, req.routing,
		                    site->profile_dir, &rates, err))
			goto out;
		if (r->run_seconds > 0) {
			cpl_load_scale(&background, &rates, r->run_seconds,
			               net);
		} else if (cpl_state_apply(&state, net, req.routing, site->profile_dir,
		                    NULL, &background, err)) {
			goto out;
		}
		req.background = &background;
		req.rates = by_time ? &rates : NULL;
	}
	rc = cpl_decide(&req, out, err);
out:
	cpl_state_free(&state);
	cpl_load_free(&background);
	cpl_load_free(&rates);
	cpl_harm_free(harm);
	cpl_learned_free(learned);
	free(free_node);
	free(required);
	free(stock);
	return rc;
}

/* A job that was requeued has the record of its last run only: did one of the
 * background begin again after this decision? */
static bool ran_again(const struct cpl_record *r, const char *state_dir,
                      struct cpl_error *why)
{
	for (int64_t i = 0; i < r->n_background; i++) {
		struct cpl_error err = {""};
		struct cpl_record *other = cpl_record_find(
		        state_dir, r->background[i], NULL, &err);
		bool later = other && other->time > r->time;

		cpl_record_free(other);
		if (later) {
			cpl_fail(why,
			         "background of job %lld: job %lld ran again "
			         "since, and the record is that of its last run",
			         (long long)r->job, (long long)r->background[i]);
			return true;
		}
	}
	return false;
}

static enum verdict replay(struct site *site, const struct cpl_record *r,
                           const char *state_dir, struct cpl_error *why)
{
	struct cpl_decision d = {0};
	enum verdict verdict;

	if (!r->n_candidates || !r->n_hosts ||
	    r->outcome == CPL_OUTCOME_STOCK)
		return NOTHING_DECIDED;
	if (take_network(site, r, why) || take_profile(site, r, why) ||
	    decide(site, r, state_dir, &d, why))
		return NOT_REPEATABLE;
	verdict = compare(r, site->net, &d, why);
	cpl_decision_free(&d);
	if (verdict != DIFFERENT)
		return verdict;
	if (r->cut_short) {
		cpl_fail_prefix(why, "MaxDecisionTime had cut it short: ");
		return NOT_REPEATABLE;
	}
	if (ran_again(r, state_dir, why))
		return NOT_REPEATABLE;
	blame(site, r, why);
	return verdict;
}

static struct replayed *next(struct replays *all, struct cpl_error *err)
{
	if (all->n == all->room) {
		int room = 2 * all->room + 16;
		void *more =
		        realloc(all->one, (size_t)room * sizeof(*all->one));

		if (!more) {
			cpl_fail_memory(err);
			return NULL;
		}
		all->one = more;
		all->room = room;
	}
	all->one[all->n] = (struct replayed){0};
	return &all->one[all->n];
}

/* A record among others that cannot be read: the others are made again. */
static int note_damaged(struct replays *all, const char *name,
                        const struct cpl_error *why, struct cpl_error *err)
{
	struct replayed *one = next(all, err);

	if (!one)
		return -1;
	one->job = strtoll(name, NULL, 10);
	one->verdict = NOT_REPEATABLE;
	one->why = *why;
	all->count[one->verdict]++;
	all->n++;
	return 0;
}

/* One record; -1 with err where it is none. */
static int replay_file(struct site *site, struct replays *all, const char *path,
                       const char *state_dir, struct cpl_error *err)
{
	struct replayed *one = next(all, err);
	struct cpl_record *r = one ? cpl_record_load(path, err) : NULL;

	if (!r)
		return -1;
	one->job = r->job;
	one->verdict = replay(site, r, state_dir, &one->why);
	one->shown_as = r->shown_as;
	one->policy = r->policy;
	r->shown_as = r->policy = NULL;
	cpl_record_free(r);
	all->count[one->verdict]++;
	all->n++;
	return 0;
}

static int is_record(const struct dirent *entry)
{
	size_t digits = strspn(entry->d_name, "0123456789");

	return digits && !strcmp(entry->d_name + digits, ".json");
}

/* In the order of jobs. */
static int by_number(const struct dirent **a, const struct dirent **b)
{
	int64_t x = strtoll((*a)->d_name, NULL, 10);
	int64_t y = strtoll((*b)->d_name, NULL, 10);

	return (x > y) - (x < y);
}

/* Records may end, and be moved, meanwhile: those that are gone are let be. */
static int replay_folder(struct site *site, struct replays *all,
                         const char *folder, const char *state_dir,
                         struct cpl_error *err)
{
	struct dirent **entry;
	int n = scandir(folder, &entry, is_record, by_number), rc = 0;

	if (n < 0)
		return cpl_fail(err, "%s: %s", folder, strerror(errno));
	for (int i = 0; i < n; i++) {
		char *path = cpl_path_join(folder, entry[i]->d_name, err);
		struct cpl_error why = {""};
		struct stat st;

		if (!rc && !path)
			rc = -1;
		if (!rc && replay_file(site, all, path, state_dir, &why) &&
		    !stat(path, &st))
			rc = note_damaged(all, entry[i]->d_name, &why, err);
		free(entry[i]);
		free(path);
	}
	free(entry);
	return rc;
}

/* The n-th directory above a path, for the caller to free. */
static char *above(const char *path, int n, struct cpl_error *err)
{
	char *dir = realpath(path, NULL), *slash;

	if (!dir)
		cpl_fail(err, "%s: %s", path, strerror(errno));
	for (; dir && n; n--) {
		slash = strrchr(dir, '/');
		slash[slash == dir] = '\0';
	}
	return dir;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return path && !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* A state directory, a folder of records, or a record. */
static int replay_path(struct site *site, struct replays *all, const char *path,
                       struct cpl_error *err)
{
	char *part[2] = {cpl_path_join(path, "running", err),
	                 cpl_path_join(path, "ended", err)};
	bool folder = is_folder(path), both = false;
	char *dir = NULL;
	int rc = -1;

	if (!part[0] || !part[1])
		goto out;
	both = is_folder(part[0]) || is_folder(part[1]);
	dir = above(path, both ? 0 : folder ? 1 : 2, err);
	if (!dir)
		goto out;
	if (site->o->state_dir) {
		free(dir);
		dir = strdup(site->o->state_dir);
		if (!dir) {
			cpl_fail_memory(err);
			goto out;
		}
	}
	rc = 0;
	for (int i = 0; i < 2 && both && !rc; i++)
		if (is_folder(part[i]))
			rc = replay_folder(site, all, part[i], dir, err);
	if (!both)
		rc = folder ? replay_folder(site, all, path, dir, err)
		            : replay_file(site, all, path, dir, err);
out:
	free(part[0]);
	free(part[1]);
	free(dir);
	return rc;
}

static int print_json(const struct cmd *self, const struct replays *all)
{
	json_t *records = json_array();

	for (int i = 0; i < all->n; i++) {
		const struct replayed *one = &all->one[i];
		json_t *item = json_pack(
		        "{s:I, s:s?, s:s?, s:s}", "job", (json_int_t)one->job,
		        "shown_as", one->shown_as, "policy", one->policy,
		        "verdict", verdict_name[one->verdict]);

		if (one->why.text[0])
			json_object_set_new(item, "why",
			                    json_string(one->why.text));
		json_array_append_new(records, item);
	}
	return cmd_print_json(
	        self, json_pack("{s:i, s:i, s:i, s:i, s:o}", "equal",
	                        all->count[EQUAL], "different",
	                        all->count[DIFFERENT], "not_repeatable",
	                        all->count[NOT_REPEATABLE], "none",
	                        all->count[NOTHING_DECIDED], "records",
	                        records));
}

static int print_table(const struct replays *all)
{
	struct cmd_table *table = cmd_table_new("llll");

	cmd_table_row(table, "job|policy|verdict|why");
	for (int i = 0; i < all->n; i++) {
		const struct replayed *one = &all->one[i];
		char id[24];

		snprintf(id, sizeof(id), "%" PRId64, one->job);
		if (one->verdict != NOTHING_DECIDED)
			cmd_table_row(table, "%s|%s|%s|%s",
			              one->shown_as ? one->shown_as : id,
			              one->policy ? one->policy : "",
			              verdict_name[one->verdict],
			              one->why.text);
	}
	return cmd_table_print(table);
}

static int print_text(const struct replays *all)
{
	const int *count = all->count;

	if (count[NOTHING_DECIDED] < all->n) {
		int rc = print_table(all);

		if (rc != CMD_OK)
			return rc;
		printf("\n");
	}
	printf("%d equal, %d different, %d not repeatable; nothing was decided "
	       "for %d\n",
	       count[EQUAL], count[DIFFERENT], count[NOT_REPEATABLE],
	       count[NOTHING_DECIDED]);
	return CMD_OK;
}

static void release(struct site *site, struct replays *all)
{
	for (int i = 0; i < all->n; i++) {
		free(all->one[i].shown_as);
		free(all->one[i].policy);
	}
	free(all->one);
	free(site->net_path);
	cpl_network_free(site->net);
	free(site->profile);
	cpl_signature_free(site->sig);
	cpl_comm_free(site->comm);
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct options o = {0};
	const struct cmd_option table[] = {
	        {"json", .flag = &o.json},
	        {"profile-dir", .text = &o.profile_dir},
	        {"network", .text = &o.network},
	        {"state-dir", .text = &o.state_dir},
	        {"config", .text = &o.config},
	        {0},
	};
	struct cpl_error err = {""};
	struct cpl_config *config = NULL;
	struct replays all = {0};
	struct site site = {.o = &o};
	int rc = cmd_options(self, argc, argv, table, CMD_WORDS), failed = 0;
	const char *state_dir;

	if (rc)
		return rc;
	/* Where everything is named, no configuration is needed. */
	state_dir = cmd_state_dir(o.state_dir ? o.state_dir : argv[optind],
	                          o.config, &config, &err);
	if (!state_dir)
		return cmd_fail(self, &err);
	site.profile_dir = o.profile_dir ? o.profile_dir
	                   : config      ? config->profile_dir
	                                 : CMD_PROFILE_DIR;
	site.config = config;
	if (optind == argc)
		failed = replay_path(&site, &all, state_dir, &err);
	for (int i = optind; i < argc && !failed; i++)
		failed = replay_path(&site, &all, argv[i], &err);
	if (failed)
		rc = cmd_fail(self, &err);
	else
		rc = o.json ? print_json(self, &all) : print_text(&all);
	if (rc == CMD_OK && (all.count[DIFFERENT] || all.count[NOT_REPEATABLE]))
		rc = CMD_FAILED;
	release(&site, &all);
	cpl_config_free(config);
	return rc;
}

const struct cmd cmd_replay = {"replay", run};
