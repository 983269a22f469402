/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys of commplace.conf: one row each, all there is to say about it. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/suggest.h"
#include "binding/binding.h"
#include "mapping/mapping.h"
#include "placement/cut.h"
#include "placement/placement.h"
#include "routing/routing.h"
#include "signature/install.h"
#include "signature/signature.h"
#include "site/config_internal.h"
#include "site/user_dir.h"

#define MAX_DECISION_MS 60000

/* How the value of a key is read. */
struct rule {
	struct cpl_config_key key;
	/* Check a value and set the field. -1 with err, which goes on behind
	 * "KEY=VALUE", or behind "KEY: " where it says it all. */
	int (*set)(struct config_parser *p, void *field, const char *value);
	bool says_all;
	size_t general;           /* offset in struct cpl_config */
	size_t line;              /* in a line's settings; of keys that are for
	                           * Match alone, in the rule */
	const char *const *words; /* of a choice; the field gets the index */
	uint64_t low, high;       /* of a number */
};

static int set_text(struct config_parser *p, char **out, const char *value)
{
	free(*out);
	*out = strdup(value);
	return *out ? 0 : cpl_fail_memory(p->err);
}

static int set_text_of(struct config_parser *p, void *field, const char *value)
{
	return set_text(p, field, value);
}

static int set_path(struct config_parser *p, void *field, const char *value)
{
	if (value[0] != '/')
		return cpl_fail(p->err, " is a relative path; give one that "
		                        "starts with /");
	return set_text(p, field, value);
}

static int set_user_dir(struct config_parser *p, void *field, const char *value)
{
	char **out = field;

	if (strcasecmp(value, CPL_USER_DIR_NONE))
		return cpl_user_dir_check(value, p->err) ||
		                       set_text(p, out, value)
		               ? -1
		               : 0;
	free(*out);
	*out = NULL;
	return 0;
}

/* Index of value in words, or -1 with err that lists them. */
static int choice(struct config_parser *p, const char *value)
{
	const char *const *words = p->rule->words;
	char list[256] = "";

	for (int i = 0; words[i]; i++) {
		size_t n = strlen(list);

		if (!strcasecmp(value, words[i]))
			return i;
		snprintf(list + n, sizeof(list) - n, "%s%s",
		         i == 0         ? ""
		         : words[i + 1] ? ", "
		                        : " or ",
		         words[i]);
	}
	return cpl_fail(p->err, " is not known; use %s", list);
}

static int set_choice(struct config_parser *p, void *field, const char *value)
{
	int i = choice(p, value);

	if (i >= 0)
		memcpy(field, &i, sizeof(i));
	return i < 0 ? -1 : 0;
}

static int set_flag(struct config_parser *p, void *field, const char *value)
{
	int i = choice(p, value);

	*(bool *)field = i == 1;
	return i < 0 ? -1 : 0;
}

static int set_uint64(struct config_parser *p, void *field, const char *value)
{
	uint64_t v, low = p->rule->low, high = p->rule->high;
	char *end;

	errno = 0;
	v = strtoull(value, &end, 10);
	if (!isdigit((unsigned char)*value) || *end)
		return cpl_fail(p->err, " is not a whole number");
	if (errno || v < low || v > high)
		return cpl_fail(p->err, " must lie in %llu to %llu",
		                (unsigned long long)low,
		                (unsigned long long)high);
	*(uint64_t *)field = v;
	return 0;
}

static int set_int(struct config_parser *p, void *field, const char *value)
{
	uint64_t v;

	if (set_uint64(p, &v, value))
		return -1;
	*(int *)field = (int)v;
	return 0;
}

static int set_time(struct config_parser *p, void *field, const char *value)
{
	char number[16];
	size_t n = strspn(value, "0123456789");
	const char *unit = value + n;
	uint64_t scale = 1, v;

	if (!strcasecmp(unit, "s"))
		scale = 1000;
	else if (*unit && strcasecmp(unit, "ms"))
		n = 0;
	if (n == 0 || n >= sizeof(number))
		return cpl_fail(p->err,
		                " is not a time; use milliseconds such as 200 "
		                "or 200ms, or seconds such as 2s");
	memcpy(number, value, n);
	number[n] = '\0';
	v = strtoull(number, NULL, 10);
	if (v < 1 || v > MAX_DECISION_MS / scale)
		return cpl_fail(p->err, " must lie in 1ms to 60s");
	*(int *)field = (int)(v * scale);
	return 0;
}

static int set_policy(struct config_parser *p, void *field, const char *value)
{
	const unsigned search = CPL_PLACEMENT_SEARCH;
	const char *words[64] = {CPL_POLICY_NONE}, *nearest;
	char searches[64], others[CPL_ERROR_MAX / 2];

	if (cpl_placement_named(value) || !strcasecmp(value, CPL_POLICY_NONE))
		return set_text(p, field, value);
	if (cpl_registry_find(&cpl_placements, value, strcspn(value, ":"), NULL,
	                      NULL)) {
		struct cpl_error why = {""};

		cpl_placement_why(value, &why);
		return cpl_fail(p->err, ": %s", why.text);
	}
	cpl_registry_words(&cpl_placements, words + 1, 63);
	nearest = cpl_suggest(value, words);
	if (nearest)
		return cpl_fail(p->err,
		                " is not a placement policy; did you mean %s?",
		                nearest);
	return cpl_fail(
	        p->err,
	        " is not a placement policy; use one of %s, " CPL_POLICY_NONE
	        ", %s",
	        cpl_registry_names(&cpl_placements, 0, cpl_entry_has, &search,
	                           searches, sizeof(searches)),
	        cpl_registry_names(&cpl_placements, 0, cpl_entry_lacks, &search,
	                           others, sizeof(others)));
}

/* The command may have it; the plugins read the same file. */
static int refuse_scotch(struct config_parser *p, const char *value)
{
	return strcasecmp(value, "scotch")
	               ? 0
	               : cpl_fail(p->err, "the plugins lack scotch; use best");
}

static int set_mapping(struct config_parser *p, void *field, const char *value)
{
	if (refuse_scotch(p, value) || !cpl_mapper_find(value, p->err))
		return -1;
	return set_text(p, field, value);
}

static int set_binding(struct config_parser *p, void *field, const char *value)
{
	if (refuse_scotch(p, value) || (strcmp(value, CPL_BINDING_NONE) &&
	                                !cpl_binder_find(value, p->err)))
		return -1;
	return set_text(p, field, value);
}

static int set_objective(struct config_parser *p, void *field,
                         const char *value)
{
	return cpl_objective_parse(value, field, p->err);
}

/* Whether it suits the network is known once that is loaded. */
static int set_routing(struct config_parser *p, void *field, const char *value)
{
	char list[CPL_ERROR_MAX / 2];

	if (cpl_registry_find(&cpl_routings, value, strlen(value), NULL, NULL))
		return set_text(p, field, value);
	return cpl_fail(p->err, " is not known; use one of %s",
	                cpl_registry_names(&cpl_routings, 0, NULL, NULL, list,
	                                   sizeof(list)));
}

static int set_override(struct config_parser *p, void *field, const char *value)
{
	static const char *const names[] = {"profile", "policy", "mapping"};
	const char *word = value;
	int may = 0;

	if (!strcasecmp(value, "all")) {
		may = CPL_MAY_ALL;
	} else if (strcasecmp(value, "none")) {
		for (;;) {
			size_t n = strcspn(word, ",");
			int i = 0;

			while (i < 3 && (strlen(names[i]) != n ||
			                 strncasecmp(names[i], word, n)))
				i++;
			if (i == 3)
				return cpl_fail(p->err,
				                ": \"%.*s\" is not known; use "
				                "all, none, or a list of "
				                "profile, policy and mapping",
				                (int)n, word);
			if (may & 1 << i)
				return cpl_fail(p->err, " names %s twice",
				                names[i]);
			may |= 1 << i;
			if (!word[n])
				break;
			word += n + 1;
		}
	}
	*(int *)field = may;
	return 0;
}

_Static_assert(CPL_MAY_PROFILE == 1 << 0 && CPL_MAY_POLICY == 1 << 1 &&
                       CPL_MAY_MAPPING == 1 << 2,
               "the order of names");

static int set_order(struct config_parser *p, void *field, const char *value)
{
	const struct cpl_mapper *mapper;

	if (!strcasecmp(value, CPL_MAPPING_NONE))
		return set_text(p, field, CPL_MAPPING_NONE);
	mapper = cpl_mapper_find(value, p->err);
	if (!mapper)
		return -1;
	if (!(mapper->flags & CPL_MAPPER_HOSTS))
		return cpl_fail(p->err,
		                "%s needs a job's traffic; use network-order "
		                "or " CPL_MAPPING_NONE,
		                mapper->name);
	return set_text(p, field, value);
}

/* Whether the network has such units is known once it is loaded. */
static int set_units(struct config_parser *p, void *field, const char *value)
{
	if (!strcasecmp(value, CPL_KEEP_NONE))
		return set_text(p, field, CPL_KEEP_NONE);
	if (!cpl_cut_is_spelled(value))
		return cpl_fail(p->err, " is no name of units; use none, "
		                        "router, chassis, group or another "
		                        "level, a number from 1, or boxes such "
		                        "as 4x4x2");
	return set_text(p, field, value);
}

/* Whether a job's name makes a profile's is known with the job. */
static int set_record(struct config_parser *p, void *field, const char *value)
{
	char name[CPL_PROFILE_NAME_MAX + 1];

	if (!strcasecmp(value, CPL_RECORD_NONE))
		return set_text(p, field, CPL_RECORD_NONE);
	if (cpl_record_name(value, "x", name, sizeof(name), p->err))
		return -1;
	return set_text(p, field, value);
}

/* Entries separated by commas, none empty. */
static int set_list(struct config_parser *p, void *field, const char *value)
{
	const char *list = value;
	char entry[2];

	while (cpl_config_next(&list, entry, sizeof(entry)))
		if (!*entry)
			return cpl_fail(p->err, " has an empty entry");
	return set_text(p, field, value);
}

/* "64", "64-", "64-512", "-512"; the low end is 1 or more. */
static int set_range(struct config_parser *p, void *field, const char *value)
{
	struct cpl_range *range = field;
	size_t low = strspn(value, "0123456789");
	bool to = value[low] == '-';
	const char *second = value + low + to;
	size_t high = strspn(second, "0123456789");

	if (low > 8 || high > 8 || second[high] || (!to && high) ||
	    low + high == 0)
		return cpl_fail(p->err, " is not a number of nodes or a range "
		                        "such as 64-512, 64- or -512");
	range->low = low ? atoi(value) : 1;
	range->high = !to ? range->low : high ? atoi(second) : INT32_MAX;
	if (range->low < 1 || range->low > range->high)
		return cpl_fail(p->err, " is a range that holds no number of "
		                        "nodes");
	return 0;
}

static int set_profile(struct config_parser *p, void *field, const char *value)
{
	if (cpl_profile_name_check(value, p->err))
		return -1;
	return set_text(p, field, value);
}

static const char *const modes[] = {"on", "observe", "off", NULL};
static const char *const no_yes[] = {"no", "yes", NULL};
static const char *const accesses[] = {"slurm", "owner", "all", NULL};
static const char *const auto_yes_no[] = {"auto", "yes", "no", NULL};
static const char *const ignore_reject[] = {"ignore", "reject", NULL};

#define GENERAL (1u << CPL_SCOPE_GENERAL)
#define PARTITION (1u << CPL_SCOPE_PARTITION)
#define MATCH (1u << CPL_SCOPE_MATCH)
#define CONDITION (MATCH | 1u << CPL_SCOPE_CONDITION)
#define ANY (GENERAL | PARTITION | MATCH)
#define AT(field) .general = offsetof(struct cpl_config, field)
/* In the settings of a line. */
#define ON_LINE(field) .line = offsetof(struct cpl_defaults, field)
#define AT_MATCH(field) .line = offsetof(struct cpl_match_rule, field)

/* clang-format off */
static const struct rule rules[] = {
	{{"NetworkFile", "PATH", "/etc/slurm/commplace/network.json", GENERAL,
	  "The machine, see commplace-network(5)."},
	 set_path, AT(network_file)},
	{{"ProfileDir", "PATH", "/var/lib/commplace/profiles", GENERAL,
	  "Where profiles are, see commplace-signature(5). A profile is a "
	  "regular file, no link. Users may name those that they could read: "
	  "owner, group and mode of the file decide."},
	 set_path, AT(profile_dir)},
	{{"UserProfileDir", "none|PATTERN", "none", GENERAL,
	  "Where users have profiles of their own, such as "
	  "`/home/%u/.commplace/profiles`: %u is the user's name, %U the "
	  "number. A job's profile is looked for there first. slurmctld reads "
	  "with the user's rights where it runs as root, else with its own, to "
	  "which homes of mode 0700 are shut (commplace-config(1) counts them), "
	  "and takes files that belong to the user only. The file system must "
	  "be one that no user can make hang. `none`: only those of ProfileDir."},
	 set_user_dir, AT(user_profile_dir)},
	{{"StateDir", "PATH", "/var/lib/commplace/state", GENERAL,
	  "Where decisions are written, one file per job; SlurmUser writes "
	  "there."},
	 set_path, AT(state_dir)},
	{{"Mode", "on|observe|off", "on", ANY,
	  "`on`: place jobs. `observe`: decide and write the decision down, "
	  "but let stock Slurm place. `off`: do nothing. A partition's own "
	  "`Mode` wins over that of all, so that one can be tried, or left "
	  "out; that of a Match line wins over both."},
	 set_choice, AT(mode), ON_LINE(mode), .words = modes},
	{{"DefaultPolicy", "POLICY", "none", ANY,
	  "The placement policy of jobs whose users name none: `auto` (the "
	  "best of all), `traffic`, or one of commplace-place(1), short names "
	  "too. `none`: jobs that ask for nothing get what stock Slurm gives, "
	  "those with a profile `auto`. In a Partition or Match line, `none` "
	  "keeps the line's jobs stock, whatever profile they have, unless "
	  "their users name a policy. `compact`, `spread`, `random-nodes`, "
	  "`whole:UNIT` and `per-router:N` are for jobs without a profile, "
	  "too; where one cannot be had now, the nodes are Slurm's."},
	 set_policy, AT(defaults.policy), ON_LINE(policy)},
	{{"DefaultMapping", "MAPPER", "quick", ANY,
	  "Rank to node of jobs with a profile: `quick`, `greedyallc`, `linear` or "
	  "another algorithm of commplace-map(1); searches such as `best` use up "
	  "MaxDecisionTime while slurmctld waits."},
	 set_mapping, AT(defaults.mapping), ON_LINE(mapping), .says_all = true},
	{{"MappingWithoutProfile", "none|network-order", "none", ANY,
	  "Rank to node of jobs without a profile, whether we choose their "
	  "nodes or Slurm does: `network-order`, neighbours in the order of "
	  "ranks are neighbours in the network; `none`, Slurm's own order. "
	  "Steps whose user states a distribution (`-m`) keep it. Jobs on "
	  "fewer nodes than MinNodes have Slurm's order."},
	 set_order, AT(defaults.order), ON_LINE(order), .says_all = true},
	{{"OrderReaches", "auto|yes|no", "auto", ANY,
	  "Whether the order of ranks can be counted on for a job's launcher. "
	  "`yes`: nodes are chosen for that order. `no`: for ranks in blocks on "
	  "the nodes in Slurm's order, which is how they run without. `auto`: "
	  "`yes` for jobs of srun and salloc; of batch jobs for those whose user "
	  "had a step of a job of this profile that took it, and `no` after one "
	  "on all of a job's nodes that did not (with a distribution of its "
	  "own, or another number of tasks). Until one or the other is known, "
	  "and after a step of one task for each node, as mpirun's daemons are, "
	  "nodes are chosen that are good with the order and without, and "
	  "without it no worse than stock Slurm's. A "
	  "job that states a distribution (`-m`) is placed as with `no`."},
	 set_choice, AT(order_reaches), ON_LINE(order_reaches),
	 .words = auto_yes_no},
	{{"DefaultBinding", "BINDER", "treematch", GENERAL,
	  "Rank to cores: `treematch`, `best` (which ends its search after "
	  "about 2 ms for 128 ranks of a node) or another algorithm of "
	  "commplace-bind(1), or `none`: tasks are left to Slurm's own "
	  "binding."},
	 set_binding, AT(binding), .says_all = true},
	{{"BindMemory", "no|yes", "no", GENERAL,
	  "`yes` confines each task to the memory of the NUMA nodes that its "
	  "cores belong to, by the cpuset.mems of its cgroup; a user's "
	  "`--mem-bind` wins. A task then fails when that memory is used up, "
	  "though other nodes have some."},
	 set_flag, AT(bind_memory), .words = no_yes},
	{{"Objective", "OBJECTIVE", "max-congestion", ANY,
	  "What is made small. Of all links of the machine: `max-congestion`, the "
	  "busiest one (where that is one of the running jobs' whatever is chosen, "
	  "the busiest of those that the job is on decides); `mean-congestion`; "
	  "`hop-bytes`; `busiest`, as the first but with the links between nodes "
	  "and routers. Of the job itself beside what the running jobs send: "
	  "`time`, the seconds of its busiest link; `interference`, OwnWeight "
	  "times its own slowdown plus OthersWeight times what the running jobs "
	  "with profiles are slowed down by it; `isolation`, the number of links "
	  "between routers that its minimal paths share with theirs, and of "
	  "equals the seconds; `learned`, the seconds that the model of TimeModel "
	  "tells. The last three compare candidates as a whole, each judged in "
	  "seconds, which takes more time; rank orders go by `time` then. "
	  "Isolation and speed pull apart: commplace-explain(1) shows both."},
	 set_objective, AT(objective), ON_LINE(objective), .says_all = true},
	{{"TimeModel", "PATH", "", GENERAL,
	  "What commplace-learn(1) wrote, from features of placements alone: "
	  "the objective `learned` goes by it, and needs it. It is read with "
	  "the network file, while slurmctld goes on."},
	 set_path, AT(time_model)},
	{{"Routing", "ROUTING", "", GENERAL,
	  "One of the routings that commplace-network(5) has for the network's "
	  "type, such as `static-direct` or `dimension-order`. Where it is not "
	  "set, it is as the network file states, else the minimal routing of "
	  "the type. Where the network file states one that weighs all traffic "
	  "together (SI, AD, AI, AH, or `ecmp` of a graph), decisions take the "
	  "minimal one; named here, it is used, and a decision compares as many "
	  "placements as MaxDecisionTime allows."},
	 set_routing, AT(routing)},
	{{"MaxDecisionTime", "TIME", "20ms", ANY,
	  "Milliseconds, also written `200ms` or `2s`; 1ms to 60s. A search "
	  "ends before, by counted work, so that it ends alike each time; when "
	  "the time has passed, the best answer so far is taken. A submission "
	  "waits no longer for its profile. In a Partition or Match line it "
	  "is for the choice of nodes of the line's jobs."},
	 set_time, AT(max_decision_ms), ON_LINE(max_decision_ms)},
	{{"MaxPassTime", "TIME", "500ms", GENERAL,
	  "How long calls of slurmctld take because of us in any two seconds, "
	  "such as a pass over its queue, or a user whose jobs start steps in "
	  "a loop: no less than MaxDecisionTime. Calls for one user's jobs have "
	  "half of it, for those of few ranks three quarters; a quarter is left "
	  "to jobs of few ranks. Elements of a job array are placed as the first "
	  "of them was, for which there is as much time again. When it is used "
	  "up, jobs get what stock Slurm gives and ranks stay in Slurm's order, "
	  "until the two seconds are over."},
	 set_time, AT(max_pass_ms)},
	{{"CompareNodes", "COUNT", "128", GENERAL,
	  "Where at most so many nodes are free for a job, the stock plugin is "
	  "asked for its own choice, too, which is then a candidate of `auto` "
	  "and `traffic`, and which records and AdminComment compare with. On "
	  "more nodes `best-fit` stands in for it. It costs slurmctld what a "
	  "decision of its own costs. 0: never."},
	 set_int, AT(compare_nodes), .low = 0, .high = 16777216},
	{{"OwnWeight", "WEIGHT", "1", GENERAL,
	  "By the objective `interference`: what the job's own slowdown counts "
	  "beside OthersWeight, 0 to 1000."},
	 set_int, AT(own_weight), .low = 0, .high = 1000},
	{{"OthersWeight", "WEIGHT", "1", GENERAL,
	  "By the objective `interference`: what the slowdowns of running jobs "
	  "count, in sum."},
	 set_int, AT(others_weight), .low = 0, .high = 1000},
	{{"KeepWhole", "none|auto|UNIT", "none", ANY,
	  "Units that are kept wholly free for other jobs: `router`, `chassis`, "
	  "`group` or another level of the network, a number (1: routers, 2: "
	  "the next coarser level) or boxes of a torus (`4x4x2`). `auto`: the "
	  "smallest ones that traffic inside need not leave, the routers, or on "
	  "a torus its boxes of all sides but the longest one. Of the nodes "
	  "that `auto` and `traffic` compare for a job with a profile, those "
	  "are taken that break fewest wholly free units, which is to take some "
	  "nodes of one and not all, as long as they are not dearer than "
	  "KeepWholePrice. Nothing is kept where the network has no such units."},
	 set_units, AT(defaults.keep_whole), ON_LINE(keep_whole)},
	{{"KeepWholePrice", "PERCENT", "100", ANY,
	  "How much worse by the Objective's number than the best the nodes may "
	  "be that KeepWhole takes, 0 to 1000."},
	 set_int, AT(keep_price), ON_LINE(keep_price),
	 .low = 0, .high = 1000},
	{{"MinNodes", "COUNT", "2", ANY,
	  "Jobs on fewer nodes get what stock Slurm gives."},
	 set_int, AT(defaults.min_nodes), ON_LINE(min_nodes),
	 .low = 1, .high = 16777216},
	{{"MissingProfile", "reject|ignore", "reject", GENERAL,
	  "When a job names a profile that does not exist or is damaged: "
	  "`reject` the job at submission, or `ignore` it."},
	 set_choice, AT(missing_profile), .words = ignore_reject},
	{{"RankMismatch", "ignore|reject", "ignore", GENERAL,
	  "When a profile was recorded with another number of ranks than the "
	  "job has: `ignore` the profile, or `reject` the job. A job that "
	  "states its nodes (`-N`) but no tasks has steps of one task for "
	  "each node, unless they ask for others: where that is not the "
	  "profile's number either, `reject` refuses it, and `ignore` tells "
	  "the user and places it by the profile. Of more than 4096 ranks a "
	  "node, or 16777216 in all, there is none."},
	 set_choice, AT(rank_mismatch), .words = ignore_reject},
	{{"Rescale", "no|yes", "no", GENERAL,
	  "Whether a job of another number of ranks than a profile was "
	  "recorded with has a profile made from the nearest recorded one, "
	  "where that was recognised as a pattern on a grid of ranks, see "
	  "commplace-signature(1). It is made while slurmctld goes on, once. "
	  "RankMismatch says what is done where it was not, or with `no`."},
	 set_flag, AT(rescale), .words = no_yes},
	{{"Record", "none|NAME", "none", ANY,
	  "Jobs are recorded, without their users' doing, as the profile "
	  "NAME of their user (%x in it: the job's name), as with "
	  "`--comm-record` of spank_commplace(8): each until there is such a "
	  "profile for its number of ranks, then as RecordOneIn says. It takes "
	  "UserProfileDir. What a user gives as `--comm-record` wins; `none` "
	  "there, or here, keeps jobs from being recorded. The recorder is "
	  "loaded into all programs of such a job."},
	 set_record, AT(defaults.record), ON_LINE(record), .says_all = true},
	{{"RecordOneIn", "COUNT", "0", ANY,
	  "Of the jobs that Record is for and that have a profile, one in so "
	  "many is recorded again, so that a change of the application is "
	  "noticed. 0: none."},
	 set_int, AT(record_one_in), ON_LINE(record_one_in),
	 .low = 0, .high = 1000000},
	{{"DriftDistance", "PERCENT", "10", GENERAL,
	  "A profile drifts that differs by more than this from the one whose "
	  "place it took (the distance of commplace-signature(1)): "
	  "`commplace signature list` marks it, and it is said at submission, "
	  "in the decision's log line and by commplace-explain(1). 100: none "
	  "does."},
	 set_int, AT(drift), .low = 0, .high = 100},
	{{"UserMayOverride", "all|none|LIST", "all", ANY,
	  "What users may give at submission: `all`, `none`, or a list of "
	  "`profile` (`--comm-profile`), `policy` (`--placement-policy`) and "
	  "`mapping` (`--rank-mapping`), separated by commas."},
	 set_override, AT(user_may), ON_LINE(user_may)},
	{{"AdminComment", "yes|no", "yes", GENERAL,
	  "Whether what was decided for a job is put into its AdminComment, "
	  "beside slurmctld's log and its record."},
	 set_flag, AT(admin_comment), .words = no_yes},
	{{"ProfileMemory", "MIB", "256", GENERAL,
	  "How many MiB of memory slurmctld, and slurmd on each node, use for "
	  "profiles, 16 to 1048576. The profiles used last are kept, in a "
	  "quarter of it. One that would need more than all by itself is "
	  "damaged for them; they know that "
	  "before they read it: 60 bytes for each pair of ranks that "
	  "communicates and 24 for each rank (more with several phases) must "
	  "fit, and the file itself."},
	 set_int, AT(profile_memory), .low = 16, .high = 1048576},
	{{"RecordAccess", "slurm|owner|all", "slurm", GENERAL,
	  "Who may read the records in StateDir, beside SlurmUser and root: "
	  "`owner`, the user of a job its own (by an access control list of "
	  "the file, where the file system has them); `all`, everybody; "
	  "`slurm`, as Slurm shows jobs: `owner` with PrivateData=jobs, else "
	  "`all`."},
	 set_choice, AT(record_access), .words = accesses},
	{{"KeepRecords", "COUNT", "20000", GENERAL,
	  "How many records of ended jobs stay in StateDir; those of the jobs "
	  "that ended first go. 0: all stay."},
	 set_int, AT(keep_records), .low = 0, .high = 100000000},
	{{"KeepRecordsDays", "DAYS", "90", GENERAL,
	  "For how many days after its end a job's record stays. 0: for "
	  "ever. Once slurmctld has run for an hour: a clock may be wrong at "
	  "its start."},
	 set_int, AT(keep_days), .low = 0, .high = 36500},
	{{"Seed", "NUMBER", "1", GENERAL,
	  "Where random policies start, 0 to 9223372036854775807."},
	 set_uint64, AT(seed), .low = 0, .high = INT64_MAX},
	{{"JobName", "PATTERN", "", CONDITION,
	  "A shell pattern (`*`, `?`, `[...]`), compared with upper and lower "
	  "case."},
	 set_text_of, AT_MATCH(job_name)},
	{{"Partition", "LIST", "", CONDITION,
	  "Shell patterns separated by commas; one of them fits. It may not "
	  "come before `Match`."},
	 set_list, AT_MATCH(partition)},
	{{"QOS", "LIST", "", CONDITION,
	  "Likewise, of the job's quality of service."},
	 set_list, AT_MATCH(qos)},
	{{"Account", "LIST", "", CONDITION,
	  "Likewise, of the account that it is charged to."},
	 set_list, AT_MATCH(account)},
	{{"User", "LIST", "", CONDITION,
	  "Users' names or numbers, no patterns, separated by commas. They are "
	  "looked up when the file is read: one who comes later is known after "
	  "a change of the file and `scontrol reconfigure`."},
	 set_list, AT_MATCH(user)},
	{{"Nodes", "RANGE", "", CONDITION,
	  "How many nodes the job gets: `64`, `64-512`, `64-` or `-512`."},
	 set_range, AT_MATCH(nodes)},
	{{"Command", "PATTERN", "", CONDITION,
	  "A shell pattern of the path that scontrol shows as the job's "
	  "Command, without arguments; one without `/` is of its last part."},
	 set_text_of, AT_MATCH(command)},
	{{"Profile", "NAME", "", MATCH,
	  "The profile of the line's jobs that name none themselves; `none`: "
	  "none."},
	 set_profile, AT_MATCH(profile), .says_all = true},
};
/* clang-format on */

#define N_RULES ((int)(sizeof(rules) / sizeof(rules[0])))
_Static_assert(sizeof(rules) / sizeof(rules[0]) <= CPL_CONFIG_KEYS_MAX,
               "CPL_CONFIG_KEYS_MAX");

const struct cpl_config_key *cpl_config_key(int i)
{
	return i >= 0 && i < N_RULES ? &rules[i].key : NULL;
}

int cpl_config_line(const struct cpl_config *config, const char *key)
{
	for (int i = 0; i < N_RULES; i++)
		if (!strcmp(rules[i].key.name, key))
			return config->line[i];
	return 0;
}

const char *cpl_mode_name(enum cpl_mode mode)
{
	return modes[mode];
}

const char *cpl_order_reaches_name(enum cpl_order_reaches reaches)
{
	return auto_yes_no[reaches];
}

int config_key_find(struct config_parser *p, const char *name)
{
	static const char *const where[] = {"", " in a Partition line",
	                                    " in a Match line"};
	const char *words[N_RULES + 1], *nearest;
	char list[CPL_ERROR_MAX] = "";
	int n = 0;

	for (int i = 0; i < N_RULES; i++) {
		size_t used = strlen(list);

		if (rules[i].key.where & MATCH && p->scope != CPL_SCOPE_MATCH &&
		    !(rules[i].key.where & GENERAL) &&
		    !strcasecmp(name, rules[i].key.name))
			return cpl_fail(p->err,
			                "%s stands in lines that begin with "
			                "Match",
			                rules[i].key.name);
		if (!(rules[i].key.where & 1u << p->scope))
			continue;
		if (!strcasecmp(name, rules[i].key.name))
			return i;
		snprintf(list + used, sizeof(list) - used, "%s%s",
		         n ? ", " : "", rules[i].key.name);
		words[n++] = rules[i].key.name;
	}
	words[n] = NULL;
	nearest = cpl_suggest(name, words);
	if (nearest)
		return cpl_fail(p->err, "unknown key %s%s; did you mean %s?",
		                name, where[p->scope], nearest);
	return cpl_fail(p->err, "unknown key %s%s; the keys are %s", name,
	                where[p->scope], list);
}

int config_key_set(struct config_parser *p, int key, const char *value)
{
	const struct rule *rule = &rules[key];
	char *base = NULL;

	switch (p->scope) {
	case CPL_SCOPE_GENERAL:
		base = (char *)p->config + rule->general;
		break;
	case CPL_SCOPE_PARTITION:
		base = (char *)&p->partition->defaults + rule->line;
		break;
	case CPL_SCOPE_MATCH:
	case CPL_SCOPE_CONDITION:
		base = rule->key.where & GENERAL ? (char *)&p->match->defaults
		                                 : (char *)p->match;
		base += rule->line;
		break;
	}
	p->rule = rule;
	if (rule->set(p, base, value)) {
		if (rule->says_all || cpl_error_is_memory(p->err))
			return cpl_fail_prefix(p->err, "%s: ", rule->key.name);
		return cpl_fail_prefix(p->err, "%s=%s", rule->key.name, value);
	}
	if (p->scope == CPL_SCOPE_GENERAL)
		p->config->line[key] = p->line;
	return 0;
}

int config_set_built_in(struct config_parser *p)
{
	p->scope = CPL_SCOPE_GENERAL;
	for (int i = 0; i < N_RULES; i++)
		if (*rules[i].key.built_in &&
		    config_key_set(p, i, rules[i].key.built_in))
			return -1;
	return 0;
}
