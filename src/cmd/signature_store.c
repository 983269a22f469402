/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `commplace signature list`, `versions` and `remove`, and what comes of install. */
#include "commplace-config.h"
#include "signature.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "signature/install.h"
#include "site/usage.h"
#include "site/user_dir.h"
#include "site_files.h"

#define KEEP 10
#define DAY 86400
#define LOST "%.0f messages were not counted: the recorder had no memory"

static const char *text_of(const json_t *item, const char *key)
{
	return json_string_value(json_object_get(item, key));
}

static double real_of(const json_t *item, const char *key)
{
	return json_real_value(json_object_get(item, key));
}

static int64_t integer_of(const json_t *item, const char *key)
{
	return json_integer_value(json_object_get(item, key));
}

const char *signature_store_dir(const struct signature_options *o,
                                struct cpl_error *err)
{
	if (!o->user)
		return cmd_profile_dir(o->profile_dir);
	return cmd_user_profile_dir(err);
}

/* List */

/* "3 d", "<1 d" */
static void put_age(char *out, size_t size, int64_t since)
{
	int64_t days = ((int64_t)time(NULL) - since) / DAY;

	if (days < 1)
		snprintf(out, size, "<1 d");
	else
		snprintf(out, size, "%" PRId64 " d", days);
}

/* Weighted bytes of all phases; NULL with err frees the signature. */
static struct cpl_signature *sum_bytes(struct cpl_signature *sig,
                                       double *bytes, struct cpl_error *err)
{
	*bytes = 0;
	for (int i = 0; sig && i < sig->n_phases; i++) {
		struct signature_sums sums;

		if (signature_phase_sums(sig, i, &sums, err)) {
			cpl_signature_free(sig);
			return NULL;
		}
		*bytes += sig->phase[i].weight * sums.bytes;
	}
	return sig;
}

/* To what is said of a profile. */
static void add_lost(json_t *item, const struct cpl_signature *sig)
{
	double lost = signature_lost(sig);

	if (lost > 0)
		json_object_set_new(item, "lost_messages", json_real(lost));
}

static json_t *installed_of(const struct cpl_signature *sig)
{
	json_t *recorded =
	        sig->recorded ? json_loads(sig->recorded, 0, NULL) : NULL;
	json_t *installed =
	        json_incref(json_object_get(recorded, "installed"));

	json_decref(recorded);
	return json_is_object(installed) ? installed
	                                 : (json_decref(installed), NULL);
}

/* What jobs tell of it. */
static void add_usage(json_t *item, const char *name, int ranks,
                      const struct cpl_usage *usage, int n)
{
	int64_t last = 0;
	int jobs = 0, gains = 0;
	double gain = 0;

	for (int i = 0; i < n; i++) {
		if (strcmp(usage[i].profile, name) ||
		    (usage[i].ranks && usage[i].ranks != ranks))
			continue;
		jobs += usage[i].jobs;
		gain += usage[i].gain;
		gains += usage[i].gains;
		last = usage[i].last > last ? usage[i].last : last;
	}
	if (n < 0)
		return;
	json_object_set_new(item, "jobs", json_integer(jobs));
	if (jobs)
		json_object_set_new(item, "last_used", json_integer(last));
	if (gains)
		json_object_set_new(item, "predicted_gain",
		                    json_real(gain / gains));
}

/* A file of the store as a row of the list. */
static json_t *list_item(const char *name, const char *path, double drift,
                         const struct cpl_usage *usage, int n_usage)
{
	struct cpl_error err = {""};
	struct cpl_file_stamp stamp;
	const struct cpl_signature_limits none = {.max_bytes = UINT64_MAX};
	double bytes;
	struct cpl_signature *sig = sum_bytes(
	        cpl_signature_load_within(path, &none, &err), &bytes, &err);
	json_t *item = json_pack("{s:s}", "name", name), *installed;

	if (!sig) {
		json_object_set_new(item, "error", json_string(err.text));
		return item;
	}
	installed = installed_of(sig);
	cpl_json_update(item, "{s:s?, s:i, s:i, s:f}", "application",
	                sig->application, "ranks", sig->ranks, "phases",
	                sig->n_phases, "bytes", bytes);
	if (!cpl_file_stamp(path, &stamp))
		json_object_set_new(item, "changed",
		                    json_integer(stamp.mtime.tv_sec));
	if (json_real_value(json_object_get(installed, "distance")) > drift)
		json_object_set_new(item, "drifts", json_true());
	if (installed)
		json_object_set_new(item, "installed", installed);
	add_lost(item, sig);
	add_usage(item, name, sig->ranks, usage, n_usage);
	cpl_signature_free(sig);
	return item;
}

/* All sizes of a name. */
static int list_name(json_t *list, const char *dir, const char *name,
                     double drift, const struct cpl_usage *usage, int n_usage,
                     struct cpl_error *err)
{
	int *size = NULL, n = cpl_profile_sizes(dir, name, &size, err);
	char *path = n < 0 ? NULL : cpl_profile_path(dir, name, err);

	if (path)
		json_array_append_new(list, list_item(name, path, drift, usage,
		                                      n_usage));
	for (int i = 0; path && i < n; i++) {
		free(path);
		path = cpl_profile_size_path(dir, name, size[i], err);
		if (path && !access(path, F_OK))
			json_array_append_new(
			        list, list_item(name, path, drift, usage,
			                        n_usage));
	}
	free(size);
	if (!path)
		return -1;
	free(path);
	return 0;
}

/* marks: some row of the list drifts, and the others leave room for its mark. */
static void put_row(struct cmd_table *t, const json_t *item, bool marks)
{
	const char *application = text_of(item, "application");
	const json_t *gain = json_object_get(item, "predicted_gain");
	int64_t version =
	        integer_of(json_object_get(item, "installed"), "version");
	const json_t *distance = json_object_get(
	        json_object_get(item, "installed"), "distance");
	char age[32] = "-", used[32] = "-", jobs[32] = "-", better[32] = "-";
	char number[16] = "-", change[32] = "-";

	if (json_object_get(item, "changed"))
		put_age(age, sizeof(age), integer_of(item, "changed"));
	if (json_object_get(item, "last_used"))
		put_age(used, sizeof(used), integer_of(item, "last_used"));
	if (json_object_get(item, "jobs"))
		snprintf(jobs, sizeof(jobs), "%" PRId64,
		         integer_of(item, "jobs"));
	if (gain)
		snprintf(better, sizeof(better), "%.1f %%",
		         100 * json_real_value(gain));
	if (distance)
		snprintf(change, sizeof(change), "%.1f %%%s",
		         100 * json_real_value(distance),
		         json_is_true(json_object_get(item, "drifts"))
		                 ? " !"
		         : marks ? "  "
		                 : "");
	if (version)
		snprintf(number, sizeof(number), "%" PRId64, version);
	cmd_table_row(t,
	              "%s|%" PRId64 "|%s|%s|%" PRId64 "|%s|%s|%s|%s|%s|%s",
	              text_of(item, "name"), integer_of(item, "ranks"), number,
	              change,
	              integer_of(item, "phases"),
	              CMD_BYTES(json_real_value(
	                      json_object_get(item, "bytes"))),
	              age, used, jobs, better, application ? application : "-");
}

static int print_list(const json_t *list)
{
	struct cmd_table *t = cmd_table_new("lrrrrrrrrrl");
	bool marks = false;
	size_t i;
	json_t *item;
	int rc;

	json_array_foreach(list, i, item)
	        marks |= json_is_true(json_object_get(item, "drifts"));
	cmd_table_row(t, "PROFILE|RANKS|VERSION|CHANGE|PHASES|BYTES|AGE|USED|JOBS|"
	                 "GAIN|APPLICATION");
	json_array_foreach(list, i, item)
	{
		if (text_of(item, "error"))
			cmd_table_row(t, "%s|-|-|-|-|-|-|-|-|-|damaged: %s",
			              text_of(item, "name"),
			              text_of(item, "error"));
		else
			put_row(t, item, marks);
	}
	rc = cmd_table_print(t);
	json_array_foreach(list, i, item)
	{
		if (json_object_get(item, "lost_messages"))
			printf("%s, %" PRId64 " ranks: " LOST "\n",
			       text_of(item, "name"), integer_of(item, "ranks"),
			       real_of(item, "lost_messages"));
	}
	return rc;
}

int signature_list(const struct cmd *self, const struct signature_options *o)
{
	struct cpl_error err = {""};
	const char *dir = signature_store_dir(o, &err);
	struct cpl_config *config = NULL;
	struct cpl_usage *usage = NULL;
	const char *state;
	char **name = NULL;
	double drift = cmd_drift();
	int n = dir ? cpl_profile_list(dir, &name, &err) : -1, n_usage, rc = 0;
	json_t *list;

	if (n < 0 && dir && access(dir, F_OK))
		return cmd_failf(self, "%s; %s", err.text,
		                 o->user ? "`commplace signature install "
		                           "--user` makes it"
		                         : "say where profiles are with "
		                           "--profile-dir");
	if (n < 0)
		return cmd_fail(self, &err);
	/* Without records the list is as good, but tells less. */
	state = cmd_state_dir(NULL, NULL, &config, NULL);
	n_usage = state ? cpl_usage_read(state, &usage, NULL) : -1;
	list = json_array();
	for (int i = 0; i < n; i++) {
		if (!rc)
			rc = list_name(list, dir, name[i], drift, usage,
			               n_usage, &err);
		free(name[i]);
	}
	free(name);
	cpl_usage_free(usage, n_usage);
	cpl_config_free(config);
	if (rc) {
		json_decref(list);
		return cmd_fail(self, &err);
	}
	if (o->json)
		return cmd_print_pack(self, "{s:s, s:o}", "profile_dir", dir,
		                      "profiles", list);
	rc = print_list(list);
	json_decref(list);
	return rc;
}

/* Versions of one name */

static json_t *version_item(const char *dir, const char *name,
                            const struct cpl_version *v)
{
	struct cpl_error err = {""};
	json_t *item = json_pack("{s:i, s:i, s:b}", "version", v->number,
	                         "ranks", v->ranks, "in_use", v->in_use);
	struct cpl_signature *sig = NULL;
	json_t *installed;
	char *path;

	if (asprintf(&path, "%s/.%s@%d.v%d.json", dir, name, v->ranks,
	             v->number) < 0)
		return item;
	sig = cpl_signature_load(path, &err);
	free(path);
	if (!sig) {
		json_object_set_new(item, "error", json_string(err.text));
		return item;
	}
	installed = installed_of(sig);
	/* A file of somebody's hand has its own origin, or none. */
	if (integer_of(installed, "version") == v->number) {
		json_object_del(installed, "version");
		json_object_update(item, installed);
	}
	json_decref(installed);
	cpl_signature_free(sig);
	return item;
}

/* Of a name that has none: why. */
static int no_versions(const struct cmd *self,
                       const struct signature_options *o, const char *dir,
                       const char *name)
{
	struct cpl_error err = {""};
	int *size = NULL, n = cpl_profile_sizes(dir, name, &size, &err);

	free(size);
	if (n < 0)
		return cmd_fail(self, &err);
	if (n == 0)
		return cmd_failf(self,
		                 "no profile '%.128s' in %s; `commplace "
		                 "signature list` shows those that there are",
		                 name, dir);
	if (o->json)
		return cmd_print_pack(self, "{s:s, s:[]}", "name", name,
		                      "versions");
	printf("%s has no versions, since it was put into %s by hand; "
	       "`commplace signature install` keeps them\n",
	       name, dir);
	return CMD_OK;
}

int signature_versions(const struct cmd *self,
                       const struct signature_options *o, const char *name)
{
	struct cpl_error err = {""};
	const char *dir = signature_store_dir(o, &err);
	struct cpl_version *version = NULL;
	struct cmd_table *t;
	json_t *list, *item;
	size_t at;
	int n = dir ? cpl_profile_versions(dir, name, &version, &err) : -1, rc;

	if (n < 0)
		return cmd_fail(self, &err);
	if (n == 0) {
		free(version);
		return no_versions(self, o, dir, name);
	}
	list = json_array();
	for (int i = 0; i < n; i++)
		json_array_append_new(list,
		                      version_item(dir, name, &version[i]));
	free(version);
	if (o->json)
		return cmd_print_pack(self, "{s:s, s:o}", "name", name,
		                      "versions", list);
	t = cmd_table_new("rrlrlll");
	cmd_table_row(t, "VERSION|RANKS|USED|CHANGE|INSTALLED|BY|FROM");
	json_array_foreach(list, at, item)
	{
		const char *date = text_of(item, "date");
		const char *by = text_of(item, "by");
		const char *from = text_of(item, "from");
		const char *error = text_of(item, "error");
		const json_t *distance = json_object_get(item, "distance");
		char change[32] = "-";

		if (distance)
			snprintf(change, sizeof(change), "%.1f %%",
			         100 * json_real_value(distance));
		cmd_table_row(t, "%" PRId64 "|%" PRId64 "|%s|%s|%s|%s|%s",
		              integer_of(item, "version"),
		              integer_of(item, "ranks"),
		              json_is_true(json_object_get(item, "in_use"))
		                      ? "yes"
		                      : "-",
		              change,
		              error ? "damaged:" : date ? date : "by hand",
		              error ? error : by ? by : "-",
		              from ? from : "-");
	}
	rc = cmd_table_print(t);
	json_decref(list);
	return rc;
}

/* Install and remove */

/* The site's store is not for everybody to write. */
static void mention_user(const struct signature_options *o, const char *dir,
                         struct cpl_error *err)
{
	struct cpl_error why = *err;

	if (!o->user && access(dir, W_OK) && errno == EACCES)
		cpl_fail(err, "%s; --user installs into your own store",
		         why.text);
}

json_t *signature_put(const struct signature_options *o, const char *dir,
                      const char *name, struct cpl_signature *sig,
                      const char *from, struct cpl_error *err)
{
	const struct passwd *who = getpwuid(getuid());
	const struct cpl_install how = {.time = time(NULL),
	                                .keep = o->keep ? (int)o->keep : KEEP,
	                                .by = who ? who->pw_name : NULL,
	                                .from = from};
	struct cpl_user_rights rights;
	json_t *item, *installed, *distance;
	int version;

	if (signature_store_begin(dir, &rights, err))
		return NULL;
	version = cpl_profile_install(dir, name, sig, &how, err);
	cpl_user_end(&rights);
	if (version < 0) {
		mention_user(o, dir, err);
		return NULL;
	}
	item = json_pack("{s:s, s:i, s:i}", "name", name, "ranks", sig->ranks,
	                 "version", version);
	installed = installed_of(sig);
	distance = json_object_get(installed, "distance");
	if (distance)
		json_object_set(item, "distance", distance);
	json_decref(installed);
	add_lost(item, sig);
	return item;
}

void signature_print_installed(const struct cmd *self, const json_t *item,
                               const char *dir)
{
	const json_t *distance = json_object_get(item, "distance");
	double d = json_real_value(distance), limit = cmd_drift();

	printf("%s: version %" PRId64 ", %" PRId64 " ranks, in %s",
	       text_of(item, "name"), integer_of(item, "version"),
	       integer_of(item, "ranks"), dir);
	if (distance)
		printf(", %.1f %% from the one before", 100 * d);
	putchar('\n');
	if (distance && d > limit)
		printf("%s: its traffic drifts: more than %.0f %% differs\n",
		       text_of(item, "name"), 100 * limit);
	if (json_object_get(item, "lost_messages"))
		cmd_failf(self, "%s, %" PRId64 " ranks: " LOST,
		          text_of(item, "name"), integer_of(item, "ranks"),
		          real_of(item, "lost_messages"));
}

int signature_remove(const struct cmd *self, const struct signature_options *o,
                     const char *name)
{
	struct cpl_error err = {""};
	const char *dir = signature_store_dir(o, &err);
	struct cpl_user_rights rights;
	int rc;

	if (!dir || signature_store_begin(dir, &rights, &err))
		return cmd_fail(self, &err);
	rc = cpl_profile_remove(dir, name, (int)o->ranks, &err);
	cpl_user_end(&rights);
	return rc ? cmd_fail(self, &err) : CMD_OK;
}

int signature_store_roll_back(const struct cmd *self, bool json, const char *dir,
                              const char *name, int64_t version,
                              int (*roll_back)(const char *dir,
                                               const char *name, int version,
                                               struct cpl_error *err))
{
	struct cpl_error err = {""};
	struct cpl_user_rights rights;
	int rc;

	if (signature_store_begin(dir, &rights, &err))
		return cmd_fail(self, &err);
	rc = roll_back(dir, name, (int)version, &err);
	cpl_user_end(&rights);
	if (rc)
		return cmd_fail(self, &err);
	if (json)
		return cmd_print_pack(self, "{s:s, s:I}", "name", name,
		                      "version", (json_int_t)version);
	printf("%s: version %" PRId64 " is in use again\n", name, version);
	return CMD_OK;
}
