/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/file.h"
#include "options.h"
#include "site_files.h"

static const char *const verdict_name[] = {"equal", "different",
                                           "not repeatable", "none"};

struct replayed {
	int64_t job;
	char *shown_as, *policy;
	enum replay_verdict verdict;
	struct cpl_error why; /* not equal: what differs or is missing */
};

struct replays {
	int n;
	struct replayed *one;
	int count[N_VERDICTS];
};

static enum replay_verdict replay(struct replay_site *site,
                                  const struct cpl_record *r,
                                  const char *state_dir, struct cpl_error *why)
{
	struct cpl_decision d = {0};
	enum replay_verdict verdict;

	if (!r->n_candidates || !r->n_hosts ||
	    r->outcome == CPL_OUTCOME_STOCK)
		return NOTHING_DECIDED;
	if (replay_decide(site, r, state_dir, &d, why))
		return NOT_REPEATABLE;
	verdict = replay_compare(r, site->net, &d, why);
	cpl_decision_free(&d);
	return verdict == DIFFERENT ? replay_blame(site, r, state_dir, why)
	                            : verdict;
}

static struct replayed *next(struct replays *all, struct cpl_error *err)
{
	if (cpl_array_grow(&all->one, all->n, sizeof(*all->one), err))
		return NULL;
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
static int replay_file(struct replay_site *site, struct replays *all,
                       const char *path, const char *state_dir,
                       struct cpl_error *err)
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

/* Records may end, and be moved, meanwhile: those that are gone are passed
 * over. */
static int replay_folder(struct replay_site *site, struct replays *all,
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
		cpl_free_all(entry[i], path);
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
static int replay_path(struct replay_site *site, struct replays *all,
                       const char *path, struct cpl_error *err)
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
		if (cpl_out_of_memory(!dir, err))
			goto out;
	}
	rc = 0;
	for (int i = 0; i < 2 && both && !rc; i++)
		if (is_folder(part[i]))
			rc = replay_folder(site, all, part[i], dir, err);
	if (!both)
		rc = folder ? replay_folder(site, all, path, dir, err)
		            : replay_file(site, all, path, dir, err);
out:
	cpl_free_all(part[0], part[1], dir);
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
	return cmd_print_pack(self, "{s:i, s:i, s:i, s:i, s:o}", "equal",
	                      all->count[EQUAL], "different",
	                      all->count[DIFFERENT], "not_repeatable",
	                      all->count[NOT_REPEATABLE], "none",
	                      all->count[NOTHING_DECIDED], "records", records);
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

static void release(struct replay_site *site, struct replays *all)
{
	for (int i = 0; i < all->n; i++) {
		cpl_free_all(all->one[i].shown_as, all->one[i].policy);
	}
	free(all->one);
	replay_site_free(site);
}

static int run_replay(const struct cmd *self, int argc, char **argv)
{
	struct replay_options o = {0};
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
	struct replay_site site = {.o = &o};
	int rc = cmd_options(self, argc, argv, table, CMD_WORDS), failed = 0;
	const char *state_dir;

	if (rc)
		return rc;
	/* Where everything is named, no configuration is needed. */
	state_dir = cmd_state_dir(o.state_dir ? o.state_dir : argv[optind],
	                          o.config, &config, &err);
	if (!state_dir)
		return cmd_fail(self, &err);
	site.dirs = cmd_profile_dirs(config, o.profile_dir);
	if (!site.dirs.dir)
		site.dirs.dir = CMD_PROFILE_DIR;
	/* Records say which profiles were rescaled. */
	site.dirs.rescale = true;
	site.profiles = cpl_profiles_open(&site.dirs, &err);
	failed = site.profiles ? 0 : -1;
	if (optind == argc && !failed)
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

const struct cmd cmd_replay = {"replay", run_replay};
