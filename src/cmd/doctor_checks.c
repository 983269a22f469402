/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "doctor_checks.h"

#include <glob.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/printable.h"
#include "network_against.h"
#include "site/counters.h"
#include "site_files.h"
#include "slurm_search.h"
#include "status.h"

#define SELECT "select/cons_tres_commplace"
#define SPANK "spank_commplace.so"
#define MAX_BYTES (1U << 20)
#define RESTART "restart all daemons"

/* Add a finding; todo() says what to do about the last one. */
static void __attribute__((format(printf, 4, 5)))
find(struct doctor *d, enum doctor_state state, const char *what,
     const char *format, ...)
{
	struct doctor_finding *f = &d->finding[d->n];
	va_list ap;

	if (d->n == DOCTOR_MOST) {
		d->left_out++;
		return;
	}
	*f = (struct doctor_finding){.state = state, .what = what};
	va_start(ap, format);
	vsnprintf(f->text, sizeof(f->text), format, ap);
	va_end(ap);
	cpl_printable(f->text);
	d->n++;
}

static void __attribute__((format(printf, 2, 3)))
todo(struct doctor *d, const char *format, ...)
{
	struct doctor_finding *f = &d->finding[d->n - 1];
	va_list ap;

	if (d->left_out)
		return;
	va_start(ap, format);
	vsnprintf(f->todo, sizeof(f->todo), format, ap);
	va_end(ap);
	cpl_printable(f->todo);
}

/* A problem of commplace.conf or of what it names. */
static void take_problem(void *arg, const char *text)
{
	find(arg, DOCTOR_WRONG, "configuration", "%s", text);
	todo(arg, "correct commplace.conf, or what it names, until "
	          "`commplace config check` is content");
}

/* There is nothing to correct in a file that is not there. */
static void todo_of_missing(struct doctor *d)
{
	char *path = cmd_config_path(NULL, NULL);

	if (path && access(path, F_OK))
		todo(d,
		     "write %s: commplace.conf(5), and "
		     "doc/admin-guide.md, \"Order of steps\"",
		     path);
	free(path);
}

static void check_configuration(struct doctor *d)
{
	const struct slurm_has has = {.nodes = NULL};
	const struct cpl_config *c;
	bool fine = !site_check_run(&d->site, NULL, &has);

	c = d->site.config;
	if (!c) {
		todo_of_missing(d);
		return;
	}
	if (fine)
		find(d, DOCTOR_OK, "configuration", "%s", c->path);
	if (c->mode != CPL_MODE_ON) {
		find(d, DOCTOR_NOTE, "mode", "Mode=%s: no job is placed",
		     cpl_mode_name(c->mode));
		todo(d,
		     "set Mode=on in %s when `commplace explain` of "
		     "some jobs looks good, and `scontrol "
		     "reconfigure`",
		     c->path);
	}
	if (!fine)
		return;
	if (d->site.n_profiles) {
		find(d, DOCTOR_OK, "profiles", "%d in %s", d->site.n_profiles,
		     c->profile_dir);
		return;
	}
	find(d, DOCTOR_NOTE, "profiles", "none in %s", c->profile_dir);
	todo(d, "record an application: `commplace record -o NAME.json "
	        "-- mpirun ...`, then `commplace signature install "
	        "NAME.json`");
}

/* Is the word one of a list with "," between? First: is it the first one? */
static bool has_word(const char *list, const char *word, bool first)
{
	size_t n = strlen(word);

	while (list) {
		if (!strncmp(list, word, n) &&
		    (list[n] == '\0' || list[n] == ','))
			return true;
		list = first ? NULL : strchr(list, ',');
		list += !!list;
	}
	return false;
}

/* A file of that name in a folder of PluginDir, to free(); NULL: none. */
static char *find_plugin(const char *dirs, const char *name)
{
	char *copy = strdup(dirs), *save = NULL, *path = NULL;

	for (char *dir = copy ? strtok_r(copy, ":", &save) : NULL; dir;
	     dir = strtok_r(NULL, ":", &save)) {
		path = cpl_path_join(dir, name, NULL);
		if (path && !access(path, R_OK))
			break;
		free(path);
		path = NULL;
	}
	free(copy);
	return path;
}

static bool has_plugin(const char *dirs, const char *name)
{
	char *path = find_plugin(dirs, name);
	bool there = path != NULL;

	free(path);
	return there;
}

/* What slurm.conf has to say of a plugin of ours, and what becomes of jobs
 * without. */
static const struct demand {
	enum slurm_key key;
	const char *word, *file;
	bool alone; /* it is the value, not one of a list */
	bool newer; /* asked for only where the file is installed */
	const char *without;
} demand[] = {
        {SLURM_SELECT, SELECT, "select_cons_tres_commplace.so", .alone = true,
         .without = "no job is placed"},
        {SLURM_JOB_SUBMIT, "commplace", "job_submit_commplace.so",
         .without = "profiles are not checked at submission"},
        {SLURM_TASK, "task/commplace", "task_commplace.so",
         .without = "tasks are bound by Slurm alone"},
        {SLURM_SWITCH, "switch/commplace", "switch_commplace.so", .alone = true,
         .newer = true, .without = "ranks keep Slurm's order"},
};
#define DEMANDS (sizeof(demand) / sizeof(*demand))

static void check_demand(struct doctor *d, const struct demand *want,
                         const char *dirs)
{
	const struct slurm_conf *slurm = d->site.slurm;
	const char *key = slurm_key_name(want->key);
	const char *value = slurm->value[want->key];
	bool installed = has_plugin(dirs, want->file);

	if (!has_word(value, want->word, want->alone)) {
		if (want->newer && !installed)
			return;
		find(d, DOCTOR_WRONG, key, "%s without %s: %s",
		     value ? value : "not set", want->word, want->without);
		todo(d, "%s %s %s %s in %s on all hosts, and " RESTART,
		     want->alone ? "set" : "add", want->word,
		     want->alone ? "as" : "to", key, slurm->path);
	} else if (!installed) {
		find(d, DOCTOR_WRONG, key, "%s is not in %s", want->file, dirs);
		todo(d, "install commplace's plugins for this Slurm on "
		        "this host, or add their folder to PluginDir");
	} else if (want->key == SLURM_TASK &&
	           !has_word(value, want->word, true)) {
		find(d, DOCTOR_WRONG, key,
		     "%s: what comes before %s binds first", value, want->word);
		todo(d, "put %s first in %s and " RESTART, want->word, key);
	} else {
		find(d, DOCTOR_OK, key, "%s", value);
	}
}

static bool names_spank(const char *path, int depth);

/* One line of a plugstack.conf: ours, or the inclusion of a file with it. */
static bool line_names_spank(const char *line, int depth)
{
	bool found = false;
	char name[1024];
	glob_t files;

	if (sscanf(line, " include %1023s", name) != 1) {
		line += strspn(line, " \t");
		return *line != '#' && strstr(line, SPANK);
	}
	if (depth || glob(name, 0, NULL, &files))
		return false;
	for (size_t i = 0; i < files.gl_pathc && !found; i++)
		found = names_spank(files.gl_pathv[i], depth + 1);
	globfree(&files);
	return found;
}

static bool names_spank(const char *path, int depth)
{
	size_t length;
	char *text = cpl_file_read(path, MAX_BYTES, &length, NULL);
	char *save = NULL;
	bool found = false;

	for (char *line = text ? strtok_r(text, "\n", &save) : NULL;
	     line && !found; line = strtok_r(NULL, "\n", &save))
		found = line_names_spank(line, depth);
	free(text);
	return found;
}

static void check_plugstack(struct doctor *d, const char *dirs)
{
	const struct slurm_conf *slurm = d->site.slurm;
	const char *set = slurm->value[SLURM_PLUGSTACK];
	char *path =
	        set ? strdup(set) : cmd_beside(slurm->path, "plugstack.conf");

	if (path && names_spank(path, 0) && has_plugin(dirs, SPANK)) {
		find(d, DOCTOR_OK, "plugstack", "%s", path);
	} else if (path) {
		find(d, DOCTOR_WRONG, "plugstack",
		     names_spank(path, 0)
		             ? "%s names " SPANK ", which is not in "
		               "PluginDir"
		             : "%s does not name " SPANK ": "
		               "sbatch does not know --comm-profile",
		     path);
		todo(d,
		     "add the line \"optional " SPANK "\" to %s on "
		     "all hosts, and install that file",
		     path);
	}
	free(path);
}

/* A trial is worth more where jobs can say how well they did. */
static void check_comments(struct doctor *d)
{
	const struct slurm_conf *slurm = d->site.slurm;
	const char *key = slurm_key_name(SLURM_STORE_FLAGS);
	const char *value = slurm->value[SLURM_STORE_FLAGS];

	if (!d->site.config || !d->site.config->trial ||
	    has_word(value, "job_comment", false))
		return;
	find(d, DOCTOR_NOTE, key,
	     "%s without job_comment: what jobs say by commplace note is "
	     "forgotten when they end",
	     value ? value : "not set");
	todo(d, "add job_comment to %s in %s, and " RESTART, key, slurm->path);
}

/* It is looked for where commplace.conf could not be read, too. */
static const struct slurm_conf *slurm_of(struct doctor *d)
{
	char *path = d->site.slurm ? NULL : cmd_config_path(NULL, NULL);

	if (path)
		d->site.slurm = slurm_conf_load(path);
	free(path);
	return d->site.slurm;
}

/* false: there is no Slurm that could be asked. */
static bool check_slurm_conf(struct doctor *d)
{
	const struct slurm_conf *slurm = slurm_of(d);
	const char *dirs;

	if (!slurm || !slurm->is_read) {
		find(d, DOCTOR_NOTE, "slurm.conf", "%s cannot be read",
		     slurm ? slurm->path : "slurm.conf");
		todo(d, "say by SLURM_CONF where slurm.conf is; on a "
		        "host without Slurm, compare, place, map and "
		        "simulate need none");
		return false;
	}
	find(d, DOCTOR_OK, "slurm.conf", "%s", slurm->path);
	dirs = slurm->value[SLURM_PLUGIN_DIR];
	dirs = dirs ? dirs : CPL_SLURM_PLUGIN_DIR;
	for (size_t i = 0; i < DEMANDS; i++)
		check_demand(d, &demand[i], dirs);
	if (slurm->path[0] == '/')
		check_plugstack(d, dirs);
	check_comments(d);
	return true;
}

/* What slurmctld has may be older than the file. */
static void check_running_values(struct doctor *d,
                                 const struct slurm_conf *running)
{
	const struct slurm_conf *slurm = d->site.slurm;
	bool same = true;

	for (size_t i = 0; i < DEMANDS; i++) {
		const struct demand *want = &demand[i];
		const char *has = running->value[want->key];

		if (!has_word(slurm->value[want->key], want->word, false) ||
		    has_word(has, want->word, false))
			continue;
		same = false;
		find(d, DOCTOR_WRONG, "slurmctld",
		     "runs with %s=%s, not what slurm.conf says",
		     slurm_key_name(want->key), has ? has : "");
		todo(d, RESTART ": slurmctld and slurmd on all hosts");
	}
	if (same)
		find(d, DOCTOR_OK, "slurmctld",
		     "answers, and has what "
		     "slurm.conf says");
}

/* false: it does not answer. */
static bool check_slurmctld(struct doctor *d)
{
	struct cpl_error err = {""};
	struct slurm_conf *running = slurm_conf_running(&err);

	if (!running) {
		find(d, DOCTOR_WRONG, "slurmctld", "%s", err.text);
		todo(d, "start slurmctld; where it does not come up, the "
		        "lines of its log before \"fatal\" name the "
		        "plugin");
		return false;
	}
	check_running_values(d, running);
	slurm_conf_free(running);
	return true;
}

static void check_nodes(struct doctor *d)
{
	const struct network_against slurms = {.path = NULL};
	struct network_compared c;
	struct cpl_error err = {""};

	if (!d->site.net)
		return;
	if (network_compare(d->site.net, &slurms, &c, &err))
		find(d, DOCTOR_NOTE, "nodes", "not compared: %s", err.text);
	else if (!cpl_against_differs(&c.against))
		find(d, DOCTOR_OK, "nodes",
		     "%d, the same in Slurm and in the network file",
		     c.against.both);
	else
		find(d, c.against.both ? DOCTOR_NOTE : DOCTOR_WRONG, "nodes",
		     "%d in both, %d in Slurm only, %d in the network "
		     "file only; %d elsewhere than Slurm's switches say",
		     c.against.both, c.against.n_only_slurm,
		     c.against.n_only_network,
		     c.against.n_no_switch + c.against.n_odd +
		             c.against.n_same);
	if (*err.text || cpl_against_differs(&c.against))
		todo(d,
		     "see `commplace network check %s "
		     "--against-slurm`, and correct the file",
		     d->site.config->network_file);
	network_compared_release(&c);
}

static void check_commplaced(struct doctor *d)
{
	const char *dir = d->site.config->state_dir;
	struct cpl_error err = {""};
	json_t *value;

	if (access(dir, R_OK | X_OK)) {
		find(d, DOCTOR_NOTE, "commplaced",
		     "%s is not to be read from here", dir);
		todo(d, "call `commplace doctor` on slurmctld's host, "
		        "as root or SlurmUser");
		return;
	}
	value = status_ask(dir, "/snapshot", &err);
	if (value) {
		find(d, DOCTOR_OK, "commplaced",
		     "answers; it has %d nodes by %s",
		     (int)json_integer_value(json_object_get(value, "hosts")),
		     json_string_value(json_object_get(value, "config"))
		             ?: "no configuration");
		json_decref(value);
		return;
	}
	find(d, DOCTOR_WRONG, "commplaced", "%s", err.text);
	todo(d, "see slurmctld's log for lines of \"commplace\": it "
	        "starts commplaced, or says why it cannot");
}

/* Answers that were stock's because something is amiss. */
static void check_counters(struct doctor *d)
{
	struct cpl_counters c = {.since = 0};
	struct cpl_error err = {""};
	char *path = cpl_counters_path(d->site.config->state_dir, &err);
	enum cpl_reason most;
	uint64_t sum;
	int rc = path ? cpl_counters_load(path, &c, &err) : -1;

	free(path);
	if (rc) /* None yet, or not for this user to read. */
		return;
	sum = status_fallbacks(&c, &most);
	if (!sum) {
		find(d, DOCTOR_OK, "decisions",
		     "%" PRIu64 " placed, none fell back to stock's",
		     c.count[CPL_COUNT_PLACED]);
		return;
	}
	find(d, DOCTOR_NOTE, "decisions",
	     "%" PRIu64 " placed, %" PRIu64 " fell back to stock's, most "
	     "of them (%" PRIu64 ") by \"%s\"",
	     c.count[CPL_COUNT_PLACED], sum, c.count[CPL_COUNT_REASON + most],
	     cpl_reason_name(most));
	todo(d, "see `commplace status --counters`, and `commplace "
	        "explain` of such a job");
}

bool doctor_slurm_is_here(void)
{
	const struct slurm_search here = slurm_search_here();
	char *conf = slurm_search_conf(&here);
	bool is_here = conf || (here.server && *here.server);

	free(conf);
	return is_here;
}

void doctor_look(struct doctor *d)
{
	char *path = cmd_config_path(NULL, NULL);

	d->site.say = take_problem;
	d->site.arg = d;
	if (path && (doctor_slurm_is_here() || !access(path, F_OK)))
		check_configuration(d);
	free(path);
	if (!check_slurm_conf(d))
		return;
	if (!check_slurmctld(d))
		return;
	if (!d->site.config)
		return;
	check_nodes(d);
	check_commplaced(d);
	check_counters(d);
}
