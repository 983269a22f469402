/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "site/comment.h"
#include "site/match.h"
#include "site/resolve.h"

static void source_of(const struct cpl_choice *choice, char *text, size_t size)
{
	static const char *const what[] = {
	        [CPL_FROM_USER] = "the user",
	        [CPL_FROM_BUILT_IN] = "built in",
	        [CPL_FROM_SITE] = "commplace.conf",
	        [CPL_FROM_PARTITION] = "Partition line",
	        [CPL_FROM_MATCH] = "Match line",
	        [CPL_FROM_OFF] = "switched off in commplace.conf",
	};

	if (choice->line)
		snprintf(text, size, "%s, line %d", what[choice->source],
		         choice->line);
	else
		snprintf(text, size, "%s", what[choice->source]);
}

static const char *text_of(const struct cpl_choice *choice)
{
	static char text[4][128];
	static int turn;
	char *out = text[turn++ % 4], source[96];

	source_of(choice, source, sizeof(source));
	snprintf(out, sizeof(text[0]), "%s (%s)",
	         choice->value ? choice->value : "-", source);
	return out;
}

#define RULES                                                                  \
	"DefaultMapping=linear\n"                                              \
	"Partition=stock DefaultPolicy=none\n"                                 \
	"Partition=off Mode=off DefaultPolicy=auto\n"                          \
	"Partition=watched Mode=observe\n"                                     \
	"Partition=large DefaultPolicy=traffic DefaultMapping=best\n"          \
	"Match JobName=vasp* Profile=vasp\n"                                   \
	"Match JobName=* Profile=none\n"

/* Each value with where it comes from. */
static void test_values(void **state)
{
	static const struct {
		const char *more; /* lines before RULES */
		struct cpl_job_facts job;
		enum cpl_mode mode;
		const char *profile, *policy, *mapping, *binding;
	} row[] = {
	        {"#",
	         {0},
	         CPL_MODE_ON,
	         "- (built in)",
	         "- (built in)",
	         "- (built in)",
	         "- (built in)"},
	        {"DefaultPolicy=None",
	         {.profile = "milc"},
	         CPL_MODE_ON,
	         "milc (the user)",
	         "auto (built in)",
	         "linear (commplace.conf, line 2)",
	         "treematch (built in)"},
	        {"DefaultBinding=packed",
	         {.name = "vasp_std"},
	         CPL_MODE_ON,
	         "vasp (Match line, line 7)",
	         "auto (built in)",
	         "linear (commplace.conf, line 2)",
	         "packed (commplace.conf, line 1)"},
	        {"DefaultBinding=None",
	         {.profile = "milc"},
	         CPL_MODE_ON,
	         "milc (the user)",
	         "auto (built in)",
	         "linear (commplace.conf, line 2)",
	         "- (commplace.conf, line 1)"},
	        {"#",
	         {.name = "vasp", .profile = "None"},
	         CPL_MODE_ON,
	         "- (the user)",
	         "- (built in)",
	         "- (built in)",
	         "- (built in)"},
	        {"#",
	         {.name = "x"},
	         CPL_MODE_ON,
	         "- (Match line, line 8)",
	         "- (built in)",
	         "- (built in)",
	         "- (built in)"},
	        {"DefaultPolicy=RDR",
	         {.profile = "milc", .policy = "RDG", .mapping = "rcm"},
	         CPL_MODE_ON,
	         "milc (the user)",
	         "RDG (the user)",
	         "rcm (the user)",
	         "treematch (built in)"},
	        {"UserMayOverride=none",
	         {.name = "vasp",
	          .profile = "milc",
	          .policy = "RDG",
	          .mapping = "rcm"},
	         CPL_MODE_ON,
	         "vasp (Match line, line 7)",
	         "auto (built in)",
	         "linear (commplace.conf, line 2)",
	         "treematch (built in)"},
	        {"DefaultPolicy=RDR",
	         {.profile = "milc", .partition = "large"},
	         CPL_MODE_ON,
	         "milc (the user)",
	         "traffic (Partition line, line 6)",
	         "best (Partition line, line 6)",
	         "treematch (built in)"},
	        /* Tasks of observed jobs are bound by Slurm. */
	        {"DefaultPolicy=RDR",
	         {.profile = "milc", .partition = "watched"},
	         CPL_MODE_OBSERVE,
	         "milc (the user)",
	         "RDR (commplace.conf, line 1)",
	         "linear (commplace.conf, line 2)",
	         "- (built in)"},
	        {"DefaultPolicy=RDR",
	         {.profile = "milc", .policy = "RDG", .partition = "off"},
	         CPL_MODE_OFF,
	         "- (switched off in commplace.conf)",
	         "- (switched off in commplace.conf)",
	         "- (switched off in commplace.conf)",
	         "- (switched off in commplace.conf)"},
	        {"Mode=off",
	         {.profile = "milc", .partition = "watched"},
	         CPL_MODE_OBSERVE,
	         "milc (the user)",
	         "auto (built in)",
	         "linear (commplace.conf, line 2)",
	         "- (built in)"},
	        /* Of several, the first that is not Slurm's alone. */
	        {"#",
	         {.profile = "milc", .partition = "off,stock,large,watched"},
	         CPL_MODE_ON,
	         "milc (the user)",
	         "traffic (Partition line, line 6)",
	         "best (Partition line, line 6)",
	         "treematch (built in)"},
	        {"#",
	         {.profile = "milc", .policy = "RDG", .partition = "stock"},
	         CPL_MODE_ON,
	         "milc (the user)",
	         "RDG (the user)",
	         "linear (commplace.conf, line 2)",
	         "treematch (built in)"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		char text[1024];
		struct cpl_error err = {""};
		struct cpl_config *c;
		struct cpl_resolved got;

		snprintf(text, sizeof(text), "%s\n" RULES, row[i].more);
		c = cpl_config_parse(text, strlen(text), "c", &err);
		assert_string_equal(err.text, "");
		cpl_resolve(c, NULL, &row[i].job, &got);
		assert_int_equal(got.mode, row[i].mode);
		assert_string_equal(text_of(&got.profile), row[i].profile);
		assert_string_equal(text_of(&got.policy), row[i].policy);
		assert_string_equal(text_of(&got.mapping), row[i].mapping);
		assert_string_equal(text_of(&got.binding), row[i].binding);
		cpl_config_free(c);
	}
}

#define MATCHES                                                                \
	"Objective=hop-bytes MinNodes=4 UserMayOverride=none\n"                \
	"Partition=large MinNodes=16 MaxDecisionTime=50ms\n"                   \
	"Match QOS=high,urgent* DefaultPolicy=RRN UserMayOverride=all\n"   \
	"Match Account=chem Partition=la* MinNodes=2 Profile=chem\n"           \
	"Match User=0,4711 Nodes=64-512 Mode=observe Objective=max-congestion\n" \
	"Match Command=*/bin/vasp_* DefaultMapping=best\n"                     \
	"Match Command=lmp* MappingWithoutProfile=network-order\n"             \
	"Match JobName=x QOS=low DefaultPolicy=none\n"                         \
	"Match JobName=x* DefaultPolicy=linear MaxDecisionTime=7ms "           \
	"Profile=none\n"                                                       \
	"Match JobName=* Account=phys Profile=late\n"

/* All facts of a job, each setting by the first line that fits and has it. */
static void test_match_lines(void **state)
{
	static const struct {
		struct cpl_job_facts job;
		/* Mode, policy, mapping, profile; numbers with their lines. */
		const char *text;
	} row[] = {
	        {{.name = "a", .qos = "normal", .account = "bio", .nodes = 2,
	          .has_uid = true, .uid = 7, .command = "/bin/a",
	          .partition = "main"},
	         "on/0 -/0 -/0 -/0 hop-bytes/1 min 4/1 20ms/0 may 0/1"},
	        {{.name = "a", .qos = "urgent2", .account = "bio", .nodes = 2,
	          .has_uid = true, .uid = 7, .command = "/bin/a",
	          .partition = "main"},
	         "on/0 RRN/3 -/0 -/0 hop-bytes/1 min 4/1 20ms/0 may 7/3"},
	        {{.name = "a", .qos = "Urgent", .account = "chem", .nodes = 2,
	          .has_uid = true, .uid = 7, .command = "/bin/a",
	          .partition = "large"},
	         "on/0 auto/0 quick/0 chem/4 hop-bytes/1 min 2/4 50ms/2 "
	         "may 0/1"},
	        /* The numbers at both ends of a range. */
	        {{.name = "a", .qos = "normal", .account = "bio", .nodes = 64,
	          .has_uid = true, .command = "/bin/a", .partition = "main"},
	         "observe/5 -/0 -/0 -/0 max-congestion/5 min 4/1 20ms/0 "
	         "may 0/1"},
	        {{.name = "a", .qos = "normal", .account = "bio", .nodes = 513,
	          .has_uid = true, .command = "/bin/a", .partition = "main"},
	         "on/0 -/0 -/0 -/0 hop-bytes/1 min 4/1 20ms/0 may 0/1"},
	        {{.name = "a", .qos = "normal", .account = "bio", .nodes = 512,
	          .has_uid = true, .uid = 4711, .command = "/opt/lmp_mpi",
	          .partition = "main"},
	         "observe/5 -/0 network-order/7 -/0 max-congestion/5 min 4/1 "
	         "20ms/0 may 0/1"},
	        /* The first line that has it, key by key. */
	        {{.name = "x", .qos = "high", .account = "chem", .nodes = 2,
	          .has_uid = true, .uid = 7, .command = "/sw/bin/vasp_std",
	          .partition = "large", .policy = "RDG"},
	         "on/0 RDG/0 best/6 chem/4 hop-bytes/1 min 2/4 7ms/9 may 7/3"},
	        {{.name = "xy", .qos = "high", .account = "phys", .nodes = 2,
	          .has_uid = true, .uid = 7, .command = "/a",
	          .partition = "main"},
	         "on/0 RRN/3 -/0 -/9 hop-bytes/1 min 4/1 7ms/9 may 7/3"},
	        /* none of a line: the job is Slurm's. */
	        {{.name = "x", .qos = "low", .account = "bio", .nodes = 2,
	          .has_uid = true, .uid = 7, .command = "/a",
	          .partition = "main"},
	         "on/0 -/8 -/8 -/8 hop-bytes/1 min 4/1 7ms/9 may 0/1"},
	        /* In the partition that it can have. */
	        {{.name = "b", .qos = "normal", .account = "chem", .nodes = 2,
	          .has_uid = true, .uid = 7, .command = "/a",
	          .partition = "main,large"},
	         "on/0 -/0 -/0 -/0 hop-bytes/1 min 4/1 20ms/0 may 0/1"},
	        /* Not known yet: lines that ask for it are left open. */
	        {{.name = "a", .nodes = 2, .has_uid = true, .uid = 7,
	          .command = "/bin/a", .partition = "large"},
	         "on/0 -/0 -/0 -/0 hop-bytes/1 min 16/2 50ms/2 may 0/1 open "
	         "profile"},
	        {{.name = "x", .account = "bio", .nodes = 2, .has_uid = true,
	          .uid = 7, .command = "/bin/a", .partition = "main"},
	         "on/0 linear/9 -/0 -/9 hop-bytes/1 min 4/1 7ms/9 may 0/1 "
	         "open"},
	        {{.name = "xy", .qos = "low", .nodes = 2, .has_uid = true,
	          .uid = 7, .command = "/bin/a", .partition = "large"},
	         "on/0 linear/9 -/0 -/9 hop-bytes/1 min 16/2 7ms/9 may 0/1 "
	         "open profile"},
	        {{.name = "a", .qos = "normal", .account = "bio",
	          .command = "/bin/a", .partition = "main"},
	         "on/0 -/0 -/0 -/0 hop-bytes/1 min 4/1 20ms/0 may 0/1 open"},
	};
	static const char text[] = MATCHES;
	struct cpl_error err = {""};
	struct cpl_config *c = cpl_config_parse(text, strlen(text), "c", &err);

	assert_string_equal(err.text, "");
	assert_int_equal(cpl_config_find_users(c, NULL, NULL, &err), 0);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_resolved r;
		char got[256];

		cpl_resolve(c, NULL, &row[i].job, &r);
		snprintf(got, sizeof(got),
		         "%s/%d %s/%d %s/%d %s/%d %s/%d min %d/%d %dms/%d may "
		         "%d/%d%s%s",
		         cpl_mode_name(r.mode), r.mode_from.line,
		         r.policy.value ? r.policy.value : "-", r.policy.line,
		         r.mapping.value ? r.mapping.value : "-",
		         r.mapping.line,
		         r.profile.value ? r.profile.value : "-",
		         r.profile.line, cpl_objective_name(r.wish.objective),
		         r.objective_from.line, r.min_nodes,
		         r.min_nodes_from.line, r.max_decision_ms,
		         r.max_decision_from.line, r.user_may,
		         r.user_may_from.line, r.open ? " open" : "",
		         r.profile_open ? " profile" : "");
		if (strcmp(got, row[i].text))
			fail_msg("row %zu: %s\nwanted: %s", i, got,
			         row[i].text);
	}
	cpl_config_free(c);
}

/* Units to be kept whole, by the same rules. */
static void test_kept_whole(void **state)
{
	static const char text[] = "KeepWhole=group\n"
	                           "Partition=a KeepWhole=None\n"
	                           "Partition=b KeepWholePrice=3\n"
	                           "Match QOS=high KeepWhole=router\n"
	                           "Match QOS=h* KeepWhole=2 "
	                           "KeepWholePrice=0\n";
	static const struct {
		const char *partition, *qos, *units;
		int units_line, price, price_line;
	} row[] = {
	        {"c", "low", "group", 1, 100, 0},
	        {"a", "low", NULL, 2, 100, 0},
	        {"b", "low", "group", 1, 3, 3},
	        {"a", "high", "router", 4, 0, 5},
	        {"b", "h", "2", 5, 0, 5},
	};
	struct cpl_config *c = cpl_config_parse(text, strlen(text), "c", NULL);

	assert_non_null(c);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		const struct cpl_job_facts job = {.partition = row[i].partition,
		                                  .qos = row[i].qos};
		struct cpl_resolved r;

		cpl_resolve(c, NULL, &job, &r);
		assert_int_equal(!r.keep_whole.value, !row[i].units);
		if (row[i].units)
			assert_string_equal(r.keep_whole.value, row[i].units);
		assert_int_equal(r.keep_whole.line, row[i].units_line);
		assert_int_equal(r.wish.keep_price, row[i].price);
		assert_int_equal(r.keep_price_from.line, row[i].price_line);
	}
	cpl_config_free(c);
}

/* Without a word of the site's it is time where packets adapt wherever they are. */
static void test_objective(void **state)
{
	static const struct {
		const char *text, *objective;
	} row[] = {
	        {"#", "max-congestion"},
	        {"Routing=adaptive-minimal", "max-congestion"},
	        {"Routing=adaptive", "time"},
	        {"Objective=auto\nRouting=adaptive", "time"},
	        {"Objective=busiest\nRouting=adaptive", "busiest"},
	        {"Objective=busiest\nRouting=adaptive\n"
	         "Partition=a Objective=auto", "time"},
	};
	static const char torus[] =
	        "{\"format\": \"commplace-network\", \"version\": 1, \"name\": "
	        "\"t\", \"type\": \"torus\", \"dims\": [4, 4], "
	        "\"bandwidth\": {\"dim\": [1e9, 1e9], \"injection\": 1e9}, "
	        "\"nodes\": \"n[0-15]\"}";
	static const char tree[] =
	        "{\"format\": \"commplace-network\", \"version\": 1, \"name\": "
	        "\"f\", \"type\": \"fattree\", \"nodes_per_router\": 4, \"levels\": "
	        "[{\"down\": 4, \"up\": 2, \"bandwidth\": 1e9}], \"bandwidth\": "
	        "{\"injection\": 1e9}, \"nodes\": \"n[0-15]\"}";
	struct cpl_network *net =
	        cpl_network_parse(torus, strlen(torus), "t", NULL);
	struct cpl_network *fat =
	        cpl_network_parse(tree, strlen(tree), "f", NULL);

	assert_non_null(net);
	assert_non_null(fat);
	assert_int_equal(cpl_objective_for(
	                         CPL_OBJECTIVE_AUTO,
	                         cpl_routing_find(fat, "adaptive", NULL)),
	                 CPL_OBJECTIVE_MAX);
	cpl_network_free(fat);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		const struct cpl_job_facts job = {.partition = "a"};
		struct cpl_config *c = cpl_config_parse(
		        row[i].text, strlen(row[i].text), "c", NULL);
		struct cpl_resolved r;

		assert_non_null(c);
		cpl_resolve(c, net, &job, &r);
		assert_string_equal(cpl_objective_name(r.wish.objective),
		                    row[i].objective);
		cpl_config_free(c);
	}
	cpl_network_free(net);
}

/* Whose runs are recorded, by the same rules. */
static void test_recorded(void **state)
{
	static const char text[] = "Record=all RecordOneIn=9\n"
	                           "Partition=a Record=None\n"
	                           "Partition=b RecordOneIn=0\n"
	                           "Partition=c DefaultPolicy=none\n"
	                           "Match QOS=high Record=%x\n"
	                           "Match QOS=off Mode=off\n";
	static const struct {
		const char *partition, *qos, *as;
		int line, one_in;
	} row[] = {
	        {"z", "low", "all", 1, 9},  {"a", "low", NULL, 2, 9},
	        {"b", "low", "all", 1, 0},  {"a", "high", "%x", 5, 9},
	        {"c", "low", NULL, 4, 9}, /* left to Slurm */
	        {"z", "off", NULL, 0, 9},
	};
	struct cpl_config *c = cpl_config_parse(text, strlen(text), "c", NULL);

	assert_non_null(c);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		const struct cpl_job_facts job = {.partition = row[i].partition,
		                                  .qos = row[i].qos};
		struct cpl_resolved r;

		cpl_resolve(c, NULL, &job, &r);
		assert_int_equal(!r.record.value, !row[i].as);
		if (row[i].as)
			assert_string_equal(r.record.value, row[i].as);
		assert_int_equal(r.record.line, row[i].line);
		assert_int_equal(r.record_one_in, row[i].one_in);
	}
	cpl_config_free(c);
}

/* A word to users whose right to choose is not settled yet. */
static void test_open_override(void **state)
{
	static const char text[] = "UserMayOverride=none\n"
	                           "Match QOS=high UserMayOverride=policy\n";
	static const struct {
		const char *qos, *profile, *refusal, *note;
	} row[] = {
	        {NULL, NULL, "", "whether you may choose the policy is known "
	                         "once Slurm has settled"},
	        {NULL, "a", "this site does not let users choose the profile",
	         ""},
	        {"low", NULL, "this site does not let users choose the policy",
	         ""},
	        {"high", NULL, "", ""},
	};
	struct cpl_config *c = cpl_config_parse(text, strlen(text), "c", NULL);

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		const struct cpl_job_facts job = {.policy = "RDG",
		                                  .profile = row[i].profile,
		                                  .qos = row[i].qos};
		struct cpl_resolved r;

		cpl_resolve(c, NULL, &job, &r);
		if (strncmp(r.refusal.text, row[i].refusal,
		            strlen(row[i].refusal)) ||
		    !*r.refusal.text != !*row[i].refusal ||
		    strncmp(r.note.text, row[i].note, strlen(row[i].note)) ||
		    !*r.note.text != !*row[i].note)
			fail_msg("row %zu: %s / %s", i, r.refusal.text,
			         r.note.text);
	}
	cpl_config_free(c);
}

static void count(void *arg, const char *text)
{
	assert_string_equal(text, "c:1: User: there is no user no$user here");
	++*(int *)arg;
}

static void test_users(void **state)
{
	static const char text[] = "Match User=no$user,root,12 Mode=off\n";
	struct cpl_config *c = cpl_config_parse(text, strlen(text), "c", NULL);
	uint32_t uid;
	int said = 0;

	assert_int_equal(cpl_match_user("12", &uid), 0);
	assert_int_equal(uid, 12);
	assert_int_equal(cpl_match_user("+12", &uid), 1);
	assert_int_equal(cpl_match_user("", &uid), 1);
	for (int turn = 0; turn < 2; turn++) {
		assert_int_equal(
		        cpl_config_find_users(c, count, &said, NULL), 0);
		assert_int_equal(said, turn + 1);
		assert_int_equal(c->match[0].n_uids, 2);
		assert_int_equal(c->match[0].uid[0], 0);
		assert_int_equal(c->match[0].uid[1], 12);
	}
	cpl_config_free(c);
}

/* Fault 18: DefaultPolicy=none of a partition means its jobs with a profile,
 * too. */
static void test_stock_partition(void **state)
{
	static const struct cpl_job_facts job[] = {
	        {.profile = "milc", .partition = "stock"},
	        {.profile = "milc", .mapping = "rcm", .partition = "stock"},
	        {.name = "vasp", .partition = "stock"},
	        {.name = "vasp", .partition = "stock,off"},
	        {.partition = "stock"},
	};
	static const char text[] = "DefaultPolicy=auto\n" RULES;
	struct cpl_config *c = cpl_config_parse(text, strlen(text), "c", NULL);

	for (size_t i = 0; i < sizeof(job) / sizeof(*job); i++) {
		struct cpl_resolved got;

		cpl_resolve(c, NULL, &job[i], &got);
		assert_null(got.profile.value);
		assert_null(got.policy.value);
		assert_null(got.binding.value);
		assert_int_equal(got.policy.source, CPL_FROM_OFF);
		assert_int_equal(got.policy.line, 3);
		assert_string_equal(got.refusal.text, "");
		assert_string_equal(
		        got.note.text,
		        job[i].profile
		                ? "partition stock is left to Slurm "
		                  "(DefaultPolicy=none in commplace.conf); "
		                  "--comm-profile has no effect"
		                : "");
	}
	cpl_config_free(c);
}

static void test_words_to_the_user(void **state)
{
	static const struct {
		const char *text;
		struct cpl_job_facts job;
		const char *refusal, *note; /* how they begin */
	} row[] = {
	        {"",
	         {.profile = "a", .policy = "rdg", .mapping = "RCM"},
	         "",
	         ""},
	        {"UserMayOverride=policy,mapping",
	         {.profile = "none"},
	         "this site does not let users choose the profile "
	         "(UserMayOverride in commplace.conf); leave out "
	         "--comm-profile",
	         ""},
	        {"UserMayOverride=profile",
	         {.profile = "a", .mapping = "rcm"},
	         "this site does not let users choose the mapping",
	         ""},
	        {"",
	         {.policy = "best"},
	         "--placement-policy: no policy 'best'",
	         ""},
	        {"", {.mapping = "fastest"}, "--rank-mapping: ", ""},
	        {"Mode=off", {.policy = "best", .mapping = "fastest"}, "", ""},
	        {"",
	         {.policy = "Auto"},
	         "",
	         "--placement-policy=Auto chooses by a profile; without "
	         "--comm-profile the job gets Slurm's own nodes"},
	        {"",
	         {.mapping = "rcm"},
	         "",
	         "--rank-mapping has no effect without --comm-profile, unless "
	         "it is network-order"},
	        {"", {.mapping = "Network-Order"}, "", ""},
	        {"Match JobName=x Profile=p",
	         {.mapping = "rcm", .name = "x"},
	         "",
	         ""},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		const char *refusal = row[i].refusal ? row[i].refusal : "";
		const char *note = row[i].note ? row[i].note : "";
		struct cpl_config *c = cpl_config_parse(
		        row[i].text, strlen(row[i].text), "c", NULL);
		struct cpl_resolved got;

		cpl_resolve(c, NULL, &row[i].job, &got);
		if (strncmp(got.refusal.text, refusal, strlen(refusal)) ||
		    (!*refusal && got.refusal.text[0]))
			fail_msg("row %zu: '%s'", i, got.refusal.text);
		assert_string_equal(got.note.text, note);
		cpl_config_free(c);
	}
}

/* AdminComment: ours beside others', and in the data of programs. */
static void test_comments(void **state)
{
	static const struct {
		const char *old, *text, *want;
	} row[] = {
	        {NULL, "commplace: policy=a", "commplace: policy=a"},
	        {"", "commplace: a; b", "commplace: a, b"},
	        {"of the operator", "commplace: a",
	         "of the operator; commplace: a"},
	        {"x; commplace: old one; y", "commplace: new",
	         "x; commplace: new; y"},
	        {"{\"pods\":[\"ns/a\",\"ns/b\"]}", "commplace: policy=a; b",
	         "{\"pods\":[\"ns/a\",\"ns/b\"],"
	         "\"commplace\":\"policy=a; b\"}"},
	        {"{\"pods\":[],\"commplace\":\"o \\\" l\\\\\",\"x\":1}",
	         "commplace: n", "{\"pods\":[],\"commplace\":\"n\",\"x\":1}"},
	        {" {\t} ", "commplace: \"q\" \\ \n\xc3\xa9",
	         " {\t\"commplace\":\"\\\"q\\\" \\\\ ???\"} "},
	        {"{}", "other", "{\"commplace\":\"other\"}"},
	        /* Neither of these is an object, or ours. */
	        {"{", "commplace: a", "{; commplace: a"},
	        {"}", "commplace: a", "}; commplace: a"},
	        {"[1]", "commplace: a", "[1]; commplace: a"},
	        {"{\"x\":\"\\\"commplace\\\":\\\"\"}", "commplace: a",
	         "{\"x\":\"\\\"commplace\\\":\\\"\",\"commplace\":\"a\"}"},
	        {"{\"commplace\":\"cut}", "commplace: a",
	         "{\"commplace\":\"a\"}"},
	};
	char text[2 * CPL_COMMENT_MAX];
	char *got;

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		got = cpl_comment_with(row[i].old, row[i].text);
		assert_string_equal(got, row[i].want);
		free(got);
	}
	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	got = cpl_comment_with("x", text);
	assert_int_equal(strlen(got), CPL_COMMENT_MAX + 3);
	free(got);
	got = cpl_comment_with("{}", text);
	assert_int_equal(strlen(got), CPL_COMMENT_MAX + 16);
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_values),
	        cmocka_unit_test(test_match_lines),
	        cmocka_unit_test(test_kept_whole),
	        cmocka_unit_test(test_objective),
	        cmocka_unit_test(test_recorded),
	        cmocka_unit_test(test_open_override),
	        cmocka_unit_test(test_users),
	        cmocka_unit_test(test_stock_partition),
	        cmocka_unit_test(test_words_to_the_user),
	        cmocka_unit_test(test_comments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
