/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <unistd.h>

#include "unit.h"

#include "mapping/mapping.h"
#include "site/resolve.h"

static struct cpl_config *parse(const char *text, struct cpl_error *err)
{
	return cpl_config_parse(text, strlen(text), "c.conf", err);
}

static void test_defaults(void **state)
{
	struct cpl_error err = {""};
	struct cpl_config *c = parse("", &err);
	struct cpl_resolved d;

	assert_non_null(c);
	assert_string_equal(c->path, "c.conf");
	assert_string_equal(c->network_file,
	                    "/etc/slurm/commplace/network.json");
	assert_string_equal(c->profile_dir, "/var/lib/commplace/profiles");
	assert_string_equal(c->state_dir, "/var/lib/commplace/state");
	assert_int_equal(c->mode, CPL_MODE_ON);
	assert_string_equal(c->binding, "treematch");
	assert_false(c->bind_memory);
	assert_null(c->near_nic);
	assert_null(c->routing);
	assert_int_equal(c->objective, CPL_OBJECTIVE_AUTO);
	assert_int_equal(c->max_decision_ms, 20);
	assert_int_equal(c->missing_profile, CPL_REJECT);
	assert_int_equal(c->rank_mismatch, CPL_IGNORE);
	assert_int_equal(c->user_may, CPL_MAY_ALL);
	assert_int_equal(c->seed, 1);
	cpl_resolve_defaults(c, NULL, &d);
	assert_string_equal(d.policy.value, "none");
	assert_string_equal(d.mapping.value, "quick");
	assert_int_equal(d.min_nodes, 2);
	assert_string_equal(c->defaults.order, "none");
	assert_string_equal(c->defaults.keep_whole, "none");
	assert_int_equal(c->keep_price, 100);
	assert_string_equal(c->defaults.record, "none");
	assert_int_equal(c->record_one_in, 0);
	assert_int_equal(c->trial, 0);
	assert_int_equal(c->trial_until, 0);
	assert_true(c->trial_stop);
	assert_int_equal(c->drift, CPL_DRIFT_DEFAULT);
	assert_int_equal(c->n_matches, 0);
	cpl_config_free(c);
}

static void test_everything_set(void **state)
{
	static const char text[] =
	        "# comment\r\n"
	        "NetworkFile = /n/x.json   profiledir=/p # comment\r\n"
	        "STATEDIR=\"/s t/#1\"\n"
	        "\n"
	        "Mode=Observe DefaultPolicy=RDR DefaultMapping=linear\n"
	        "\tDefaultBinding=packed Objective=hop-bytes Routing=SD\n"
	        "MaxDecisionTime=2s MinNodes=3 MissingProfile=ignore\n"
	        "BindMemory=Yes NearNic=UCX_NET_DEVICES,NCCL_IB_HCA\n"
	        "RankMismatch=Reject UserMayOverride=profile,mapping Seed=0\n"
	        "Partition=large DefaultPolicy=auto MinNodes=16\n"
	        "partition=debug DefaultPolicy=None\n"
	        "Partition=mid DefaultMapping=greedyallc\n"
	        "Match JobName=vasp* Profile=vasp\n"
	        "match jobname=\"a b?\" profile=ab\n"
	        "Match JobName=* Profile=rest";
	static const struct {
		const char *partition, *policy, *mapping;
		int min_nodes;
	} want[] = {
	        {NULL, "RDR", "linear", 3},
	        {"other", "RDR", "linear", 3},
	        {"large", "auto", "linear", 16},
	        {"Large", "RDR", "linear", 3},
	        {"debug", "none", "linear", 3},
	        {"mid", "RDR", "greedyallc", 3},
	};
	struct cpl_error err = {""};
	struct cpl_config *c = parse(text, &err);

	assert_string_equal(err.text, "");
	assert_non_null(c);
	assert_string_equal(c->network_file, "/n/x.json");
	assert_string_equal(c->profile_dir, "/p");
	assert_string_equal(c->state_dir, "/s t/#1");
	assert_int_equal(c->mode, CPL_MODE_OBSERVE);
	assert_string_equal(c->binding, "packed");
	assert_true(c->bind_memory);
	assert_string_equal(c->near_nic, "UCX_NET_DEVICES,NCCL_IB_HCA");
	assert_string_equal(c->routing, "SD");
	assert_int_equal(c->objective, CPL_OBJECTIVE_HOP_BYTES);
	assert_int_equal(c->max_decision_ms, 2000);
	assert_int_equal(c->missing_profile, CPL_IGNORE);
	assert_int_equal(c->rank_mismatch, CPL_REJECT);
	assert_int_equal(c->user_may, CPL_MAY_PROFILE | CPL_MAY_MAPPING);
	assert_int_equal(c->seed, 0);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct cpl_resolved d;

		cpl_resolve_defaults(c, want[i].partition, &d);
		assert_string_equal(d.policy.value, want[i].policy);
		assert_string_equal(d.mapping.value, want[i].mapping);
		assert_int_equal(d.min_nodes, want[i].min_nodes);
	}
	assert_int_equal(c->n_matches, 3);
	assert_string_equal(c->match[1].job_name, "a b?");
	assert_string_equal(c->match[1].profile, "ab");
	assert_int_equal(c->match[1].line, 14);
	assert_int_equal(cpl_config_partition(c, "mid")->line, 12);
	assert_int_equal(cpl_config_line(c, "Seed"), 9);
	cpl_config_free(c);
}

/* Each key of the table has its row of code: what is no value of it is refused by
 * its name, wherever it may stand. */
static void test_every_key(void **state)
{
	static const char *const line[] = {"", "Partition=p ",
	                                   "Match JobName=j ",
	                                   "Match "};
	const struct cpl_config_key *key;

	for (int i = 0; (key = cpl_config_key(i)); i++) {
		for (int scope = CPL_SCOPE_GENERAL;
		     scope <= CPL_SCOPE_CONDITION; scope++) {
			struct cpl_error err = {""};
			char text[128];

			if (!(key->where & 1u << scope))
				continue;
			snprintf(text, sizeof(text), "%s%s=\n", line[scope],
			         key->name);
			assert_null(parse(text, &err));
			assert_non_null(strstr(err.text, key->name));
		}
	}
}

static void test_units_and_lists(void **state)
{
	static const struct {
		const char *text;
		int ms, may;
	} row[] = {
	        {"MaxDecisionTime=50", 50, CPL_MAY_ALL},
	        {"MaxDecisionTime=50MS UserMayOverride=None", 50, 0},
	        {"MaxDecisionTime=60s UserMayOverride=POLICY", 60000,
	         CPL_MAY_POLICY},
	        {"MaxDecisionTime=60000 UserMayOverride=ALL", 60000,
	         CPL_MAY_ALL},
	        {"MaxDecisionTime=1ms UserMayOverride=mapping,policy,profile",
	         1, CPL_MAY_ALL},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct cpl_error err = {""};
		struct cpl_config *c = parse(row[i].text, &err);

		assert_string_equal(err.text, "");
		assert_int_equal(c->max_decision_ms, row[i].ms);
		assert_int_equal(c->user_may, row[i].may);
		cpl_config_free(c);
	}
}

static void test_messages(void **state)
{
	static const struct {
		const char *text, *message;
	} row[] = {
	        {"\n\nNetwrkFile=/x",
	         "c.conf:3: unknown key NetwrkFile; did you mean "
	         "NetworkFile?"},
	        {"Mode=on\n\nmode=off", "c.conf:3: Mode is given twice"},
	        {"Mode", "c.conf:1: \"Mode\" is not Key=Value"},
	        {"Mode on", "c.conf:1: \"Mode\" is not Key=Value"},
	        {"Mode=", "c.conf:1: Mode has no value"},
	        {"Mode=maybe", "c.conf:1: Mode=maybe is not known; use on, "
	                       "observe or off"},
	        {"ProfileDir=x", "c.conf:1: ProfileDir=x is a relative path; "
	                         "give one that starts with /"},
	        {"DefaultPolicy=random-rooters",
	         "c.conf:1: DefaultPolicy=random-rooters is not a placement "
	         "policy; did you mean random-routers?"},
	        {"MaxDecisionTime=1e3",
	         "c.conf:1: MaxDecisionTime=1e3 is not a time; use "
	         "milliseconds such as 200 or 200ms, or seconds such as 2s"},
	        {"MaxDecisionTime=61s",
	         "c.conf:1: MaxDecisionTime=61s must lie in 1ms to 60s"},
	        {"MinNodes=0",
	         "c.conf:1: MinNodes=0 must lie in 1 to 16777216"},
	        {"Seed=0x1", "c.conf:1: Seed=0x1 is not a whole number"},
	        {"Partition=a DefaultPolicy=auto\nPartition=a MinNodes=1",
	         "c.conf:2: Partition=a is given twice; put all its keys into "
	         "one line"},
	        {"Record=a/%x",
	         "c.conf:1: Record: \"a/x\" is not a profile name; use "
	         "letters, digits, \"_\" and (not first) \"-\" and \".\""},
	        {"Match QOS=a RecordOneIn=1000001",
	         "c.conf:1: RecordOneIn=1000001 must lie in 0 to 1000000"},
	        {"Match QOS=a Trial=100",
	         "c.conf:1: Trial=100 must lie in 0 to 99"},
	        {"Partition=a Trial=-1",
	         "c.conf:1: Trial=-1 is not a whole number"},
	        {"TrialUntil=tomorrow",
	         "c.conf:1: TrialUntil=tomorrow is no date; write YYYY-MM-DD, "
	         "or YYYY-MM-DDTHH:MM"},
	        {"TrialUntil=2027-02-30",
	         "c.conf:1: TrialUntil=2027-02-30 is no date; write "
	         "YYYY-MM-DD, or YYYY-MM-DDTHH:MM"},
	        {"TrialUntil=2027-03-31x",
	         "c.conf:1: TrialUntil=2027-03-31x is no date; write "
	         "YYYY-MM-DD, or YYYY-MM-DDTHH:MM"},
	        {"Unknown=some",
	         "c.conf:1: Unknown=some is not known; use measured, uniform "
	         "or off"},
	        {"UnknownVolume=0",
	         "c.conf:1: UnknownVolume=0 is no volume; use known, or bytes "
	         "per second from 1 to 1000000000000000"},
	        {"UnknownVolume=1e9",
	         "c.conf:1: UnknownVolume=1e9 is no volume; use known, or "
	         "bytes per second from 1 to 1000000000000000"},
	        {"TrialStop=maybe",
	         "c.conf:1: TrialStop=maybe is not known; use no or yes"},
	        {"Match QOS=a OrderReaches=maybe",
	         "c.conf:1: OrderReaches=maybe is not known; use auto, yes or "
	         "no"},
	        {"Partition=a Mode=later",
	         "c.conf:1: Mode=later is not known; use on, observe or off"},
	        {"Match Profile=a",
	         "c.conf:1: Match says of no job; add JobName, Partition, QOS, "
	         "Account, User, Nodes or Command"},
	        {"Match JobName=a QOS=b",
	         "c.conf:1: Match sets nothing; add Profile, DefaultPolicy or "
	         "another setting"},
	        {"Match QOS=a Nodes=2 Mode=off\n"
	         "Match Nodes=2 QOS=a Profile=x\n"
	         "Match Nodes=2 QOS=a MinNodes=3 Mode=on",
	         "c.conf:3: Match has the conditions of line 1, which always "
	         "wins; remove one"},
	        {"Match QOS=a,,b Mode=off",
	         "c.conf:1: QOS=a,,b has an empty entry"},
	        {"Match User=ann, Mode=off",
	         "c.conf:1: User=ann, has an empty entry"},
	        {"Match QOS=a QOS=b Mode=off", "c.conf:1: QOS is given twice"},
	        {"QOS=a",
	         "c.conf:1: QOS stands in lines that begin with Match"},
	        {"Partition=a Nodes=4",
	         "c.conf:1: Nodes stands in lines that begin with Match"},
	        {"Match QOS=a Partition=x\nMatch Mode=off Partition=y "
	         "Seed=3",
	         "c.conf:1: Match sets nothing; add Profile, DefaultPolicy or "
	         "another setting"},
	        {"Match Partition=a Account=x UserMayOverride=binding",
	         "c.conf:1: UserMayOverride=binding: \"binding\" is not known; "
	         "use all, none, or a list of profile, policy and mapping"},
	        {"Match Nodes=2-1 Mode=off",
	         "c.conf:1: Nodes=2-1 is a range that holds no number of "
	         "nodes"},
	        {"Match Nodes=0 Mode=off",
	         "c.conf:1: Nodes=0 is a range that holds no number of nodes"},
	        {"Match Nodes=- Mode=off",
	         "c.conf:1: Nodes=- is not a number of nodes or a range such "
	         "as 64-512, 64- or -512"},
	        {"Match Nodes=4k Mode=off",
	         "c.conf:1: Nodes=4k is not a number of nodes or a range such "
	         "as 64-512, 64- or -512"},
	        {"Match Nodes=123456789 Mode=off",
	         "c.conf:1: Nodes=123456789 is not a number of nodes or a "
	         "range such as 64-512, 64- or -512"},
	        {"MappingWithoutProfile=greedyallc",
	         "c.conf:1: MappingWithoutProfile: greedyallc needs a job's "
	         "traffic; use network-order or none"},
	        {"Match JobName=a Profile=.x",
	         "c.conf:1: Profile: \".x\" is not a profile name; use "
	         "letters, digits, \"_\" and (not first) \"-\" and \".\""},
	        {"StateDir=\"/a", "c.conf:1: StateDir: the closing quote is "
	                          "missing"},
	        {"KeepWhole=Two",
	         "c.conf:1: KeepWhole=Two is no name of units; use none, "
	         "router, chassis, group or another level, a number from 1, "
	         "or boxes such as 4x4x2"},
	        {"KeepWhole=4x", "c.conf:1: KeepWhole=4x is no name of units; "
	                         "use none, router, chassis, group or another "
	                         "level, a number from 1, or boxes such as "
	                         "4x4x2"},
	        {"Match QOS=a KeepWholePrice=1001",
	         "c.conf:1: KeepWholePrice=1001 must lie in 0 to 1000"},
	        {"DefaultMapping=scotch",
	         "c.conf:1: DefaultMapping: the plugins lack scotch; use best"},
	        {"DefaultBinding=scotch",
	         "c.conf:1: DefaultBinding: the plugins lack scotch; use best"},
	        {"Seed=1\n\033[2J",
	         "c.conf:2: there is a control character in column 1"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct cpl_error err = {""};

		assert_null(parse(row[i].text, &err));
		assert_string_equal(err.text, row[i].message);
	}
}

/* Of what there are many, the names follow. */
static void test_unknown_names(void **state)
{
	static const char *const key[] = {"DefaultMapping", "DefaultBinding",
	                                  "MappingWithoutProfile"};

	for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++) {
		struct cpl_error err = {""};
		char text[64], begin[64];

		snprintf(text, sizeof(text), "%s=nope", key[i]);
		snprintf(begin, sizeof(begin), "c.conf:1: %s: unknown ", key[i]);
		assert_null(parse(text, &err));
		assert_memory_equal(err.text, begin, strlen(begin));
		assert_non_null(strstr(err.text, "it must be one of "));
	}
}

/* A key of general lines in a Partition line: the keys that may stand there. */
static void test_keys_of_lines(void **state)
{
	static const char *const name[] = {"Seed", "DriftDistance"};
	const struct cpl_config_key *key;

	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		struct cpl_error err = {""};
		char text[64], list[CPL_ERROR_MAX];
		const char *comma = "";
		int n = snprintf(list, sizeof(list),
		                 "c.conf:1: unknown key %s in a Partition "
		                 "line; the keys are ",
		                 name[i]);

		snprintf(text, sizeof(text), "Partition=a %s=3", name[i]);
		for (int k = 0; (key = cpl_config_key(k)); k++)
			if (key->where & 1u << CPL_SCOPE_PARTITION) {
				n += snprintf(list + n, sizeof(list) - (size_t)n,
				              "%s%s", comma, key->name);
				comma = ", ";
			}
		assert_null(parse(text, &err));
		assert_string_equal(err.text, list);
	}
}

/* A mapper is one that commplaced has, or is refused by a line that says how to
 * have it. */
static void test_mappers_of_the_lab(void **state)
{
	const struct cpl_mapper *m;
	int has = 0;

	for (int i = 0; (m = cpl_mapper_at(i)); i++) {
		struct cpl_error err = {""};
		struct cpl_config *c;
		char text[64], says[160];

		snprintf(text, sizeof(text), "DefaultMapping=%s", m->name);
		snprintf(says, sizeof(says),
		         "c.conf:1: DefaultMapping: commplaced lacks %s; use "
		         "best, or build commplace with --enable-lab-mappers",
		         m->name);
		c = parse(text, &err);
		cpl_config_free(c);
		if (cpl_registry_find(&cpl_mapper_names, m->name,
		                      strlen(m->name), NULL, NULL))
			assert_non_null(c);
		else
			assert_string_equal(err.text, says);
		has += c != NULL;
	}
	assert_true(has > 10);
	/* Where programs that have it not are asked. */
	for (int i = 0; cpl_registry_at(&cpl_mappers_lacking, i); i++) {
		const char *name =
		        cpl_registry_at(&cpl_mappers_lacking, i)->name;
		struct cpl_error err = {""};

		assert_null(cpl_mapper_entry(&cpl_mapper_names, name, &err));
		assert_non_null(strstr(err.text, "is not in this commplaced"));
	}
}

static void test_longest_names(void **state)
{
	char text[256] = "Record=";

	for (size_t n = 1; n <= 129; n++) {
		struct cpl_config *c;

		strcat(text, "n");
		c = parse(text, NULL);
		assert_int_equal(!c, n > 128);
		cpl_config_free(c);
	}
}

static void count(void *arg, const char *text)
{
	++*(int *)arg;
}

/* One line that is wrong takes no other along, and leaves nothing behind. */
static void test_lines_that_are_wrong(void **state)
{
	static const char text[] = "Match JobName=a Profile=x\n"
	                           "Match JobName=b\n"
	                           "Partition=p Foo=1\n"
	                           "Partition=q MinNodes=3\n"
	                           "Match JobName=c Profile=y\n";
	char path[] = "/tmp/commplace-config-XXXXXX";
	int fd = mkstemp(path), said = 0;
	struct cpl_error err = {""};
	struct cpl_config *c;

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	c = cpl_config_load_all(path, count, &said, &err);
	unlink(path);
	assert_non_null(c);
	assert_int_equal(said, 2);
	assert_string_equal(err.text, "");
	assert_int_equal(c->n_matches, 2);
	assert_string_equal(c->match[1].job_name, "c");
	assert_int_equal(c->n_partitions, 2);
	assert_int_equal(c->partition[1].defaults.min_nodes, 3);
	cpl_config_free(c);
}

static void test_what_lines_come_to(void **state)
{
	static const struct {
		const char *text;
		bool off, learned;
	} row[] = {
	        {"", false, false},
	        {"Mode=off", true, false},
	        {"Mode=off\nPartition=p Mode=on", false, false},
	        {"Mode=off\nPartition=p Mode=off", true, false},
	        {"Mode=off\nPartition=p MinNodes=2", true, false},
	        {"Mode=off\nMatch JobName=a Mode=observe", false, false},
	        {"Mode=off\nMatch JobName=a Profile=x", true, false},
	        {"Objective=learned", false, true},
	        {"Partition=p Objective=learned", false, true},
	        {"Match JobName=a Objective=learned", false, true},
	        {"Match JobName=a Objective=time", false, false},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct cpl_config *c = parse(row[i].text, NULL);

		assert_non_null(c);
		if (cpl_config_is_off(c) != row[i].off ||
		    cpl_config_learned(c) != row[i].learned)
			fail_msg("%s", row[i].text);
		assert_null(cpl_config_partition(c, NULL));
		assert_int_equal(cpl_config_line(c, "Nothing"), 0);
		cpl_config_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_defaults),
	        cmocka_unit_test(test_everything_set),
	        cmocka_unit_test(test_every_key),
	        cmocka_unit_test(test_units_and_lists),
	        cmocka_unit_test(test_messages),
	        cmocka_unit_test(test_unknown_names),
	        cmocka_unit_test(test_keys_of_lines),
	        cmocka_unit_test(test_mappers_of_the_lab),
	        cmocka_unit_test(test_longest_names),
	        cmocka_unit_test(test_lines_that_are_wrong),
	        cmocka_unit_test(test_what_lines_come_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
