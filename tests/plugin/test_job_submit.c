/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The submit check: what it says of jobs, and what it attaches. */
#include "submit.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPTION "_SLURM_SPANK_OPTION_commplace_"

static const struct row {
	const char *config, *env, *name;
	uint32_t tasks;
	int rc;
	const char *message; /* parts, separated by "|"; NULL: none */
	const char *comment; /* NULL: none */
} rows[] = {
        /* accepted */
        {"", "", "x", 4, 0, NULL, NULL},
        {"", "OTHER=1", "x", 4, 0, NULL, NULL},
        {"", "COMM_PROFILE=milc", "x", 4, 0, NULL,
         "commplace: profile=milc policy=auto"},
        {"", OPTION "comm_profile=milc", "x", 4, 0, NULL,
         "commplace: profile=milc policy=auto"},
        {"", "COMM_PROFILE=milc", "x", 0, 0, NULL,
         "commplace: profile=milc policy=auto"},
        {"DefaultPolicy=random-groups", "COMM_PROFILE=milc", "x", 4, 0, NULL,
         "commplace: profile=milc policy=random-groups"},
        {"Partition=main DefaultPolicy=linear", "COMM_PROFILE=milc", "x", 4, 0,
         NULL, "commplace: profile=milc policy=linear"},
        {"", "COMM_PROFILE=milc COMM_PLACEMENT_POLICY=RDG", "x", 4, 0, NULL,
         "commplace: profile=milc policy=RDG"},
        {"", "COMM_PLACEMENT_POLICY=random-nodes", "x", 4, 0, NULL,
         "commplace: policy=random-nodes"},
        {"", "COMM_PLACEMENT_POLICY=auto", "x", 4, 0,
         "--placement-policy=auto chooses by a profile",
         "commplace: policy=auto"},
        {"", "COMM_RANK_MAPPING=linear", "x", 4, 0,
         "--rank-mapping has no effect without --comm-profile", NULL},
        {"", "COMM_PROFILE=milc COMM_RANK_MAPPING=linear", "x", 4, 0, NULL,
         "commplace: profile=milc policy=auto mapping=linear"},
        {"Mode=observe", "COMM_PROFILE=milc", "x", 4, 0, NULL,
         "commplace: profile=milc policy=auto (observed)"},
        /* profiles that cannot be used */
        {"", "COMM_PROFILE=foo", "x", 4, EINVAL,
         "commplace: no profile 'foo' in |/profiles; there are: broken, "
         "damaged, milc, vasp (commplace signature list)",
         NULL},
        {"", "COMM_PROFILE=../../etc/shadow", "x", 4, EINVAL,
         "commplace: ", NULL},
        {"", "COMM_PROFILE=.milc", "x", 4, EINVAL, "commplace: ", NULL},
        {"", "COMM_PROFILE=damaged", "x", 4, EINVAL,
         "/profiles/damaged.json|ranks", NULL},
        {"", "COMM_PROFILE=broken", "x", 4, EINVAL, "/profiles/broken.json:1",
         NULL},
        {"MissingProfile=ignore", "COMM_PROFILE=foo", "x", 4, 0,
         "no profile 'foo'|the job goes on without a profile",
         "commplace: profile=foo policy=auto"},
        {"MissingProfile=ignore", "COMM_PROFILE=broken", "x", 4, 0,
         "/profiles/broken.json:1|the job goes on without a profile",
         "commplace: profile=broken policy=auto"},
        {"MissingProfile=ignore", "COMM_PROFILE=a/b", "x", 4, EINVAL,
         "commplace: ", NULL},
        /* rank counts */
        {"", "COMM_PROFILE=milc", "x", 8, 0,
         "profile 'milc' was recorded at 4 ranks, the job has 8",
         "commplace: profile=milc policy=auto"},
        {"RankMismatch=reject", "COMM_PROFILE=milc", "x", 8, EINVAL,
         "profile 'milc' was recorded at 4 ranks, the job has 8; take", NULL},
        {"RankMismatch=reject", "COMM_PROFILE=milc", "x", 4, 0, NULL,
         "commplace: profile=milc policy=auto"},
        {"RankMismatch=reject", "COMM_PROFILE=milc", "x", 0, 0, NULL,
         "commplace: profile=milc policy=auto"},
        {"", "COMM_PROFILE=milc", "x", 16385, 0,
         "profile 'milc' was recorded at 4 ranks",
         "commplace: profile=milc policy=auto"},
        {"", "COMM_PROFILE=milc", "x", 16777217, 0,
         "16777217 ranks are more than jobs are placed with",
         "commplace: profile=milc policy=auto"},
        {"", "COMM_PROFILE=milc", "x", INT32_MAX, 0, "2147483647 ranks are",
         "commplace: profile=milc policy=auto"},
        {"", "COMM_PROFILE=milc", "x", INT32_MAX + 1u, 0,
         "2147483648 ranks are", "commplace: profile=milc policy=auto"},
        {"Rescale=yes", "COMM_PROFILE=milc", "x", NO_VAL - 1, 0,
         "4294967293 ranks are", "commplace: profile=milc policy=auto"},
        {"RankMismatch=reject", "COMM_PROFILE=milc", "x", INT32_MAX + 1u,
         EINVAL, "2147483648 ranks are", NULL},
        {"Match JobName=vasp* Profile=vasp", "", "vasp", INT32_MAX + 1u, 0,
         NULL, NULL},
        /* names that somebody smuggled past the commands */
        {"", "COMM_PLACEMENT_POLICY=best", "x", 4, EINVAL,
         "--placement-policy: |'best'|random-groups", NULL},
        {"", "COMM_PLACEMENT_POLICY=blocked", "x", 4, EINVAL,
         "--placement-policy: |'blocked' is not for this network type", NULL},
        {"", "COMM_RANK_MAPPING=fastest", "x", 4, EINVAL,
         "--rank-mapping: |greedyallc", NULL},
        /* what the site forbids */
        {"UserMayOverride=none", "COMM_PROFILE=milc", "x", 4, EINVAL,
         "does not let users choose the profile|leave out --comm-profile",
         NULL},
        {"UserMayOverride=profile", "COMM_PLACEMENT_POLICY=linear", "x", 4,
         EINVAL,
         "does not let users choose the policy|leave out --placement-policy",
         NULL},
        {"UserMayOverride=profile,policy", "COMM_RANK_MAPPING=linear", "x", 4,
         EINVAL,
         "does not let users choose the mapping|leave out --rank-mapping",
         NULL},
        {"UserMayOverride=profile", "COMM_PROFILE=milc", "x", 4, 0, NULL,
         "commplace: profile=milc policy=auto"},
        /* Match rules */
        {"Match JobName=vasp* Profile=vasp", "", "vasp-big", 4, 0, NULL,
         "commplace: profile=vasp policy=auto"},
        {"Match JobName=vasp* Profile=vasp", "", "other", 4, 0, NULL, NULL},
        {"Match JobName=vasp* Profile=vasp", "", NULL, 4, 0, NULL, NULL},
        {"Match JobName=vasp* Profile=vasp", "COMM_PROFILE=milc", "vasp", 4, 0,
         NULL, "commplace: profile=milc policy=auto"},
        {"Match JobName=vasp* Profile=vasp", OPTION "comm_profile=none", "vasp",
         4, 0, NULL, NULL},
        {"UserMayOverride=none\nMatch JobName=vasp* Profile=vasp", "", "vasp",
         4, 0, NULL, "commplace: profile=vasp policy=auto"},
        {"Match JobName=vasp* Profile=gone", "", "vasp", 4, 0, NULL, NULL},
        {"Match JobName=vasp* Profile=broken", "", "vasp", 4, 0, NULL, NULL},
        {"RankMismatch=reject\nMatch JobName=vasp* Profile=vasp", "", "vasp", 9,
         0, NULL, NULL},
        /* switched off: nothing is looked at */
        {"Mode=off", "COMM_PROFILE=foo COMM_PLACEMENT_POLICY=best", "x", 4, 0,
         NULL, NULL},
};

static void check_parts(const char *message, const char *parts, int number)
{
	char *copy = strdup(parts), *save = NULL;

	for (char *p = strtok_r(copy, "|", &save); p;
	     p = strtok_r(NULL, "|", &save))
		if (!message || !strstr(message, p))
			fail_msg("row %d: '%s' lacks '%s'", number,
			         message ? message : "(no message)", p);
	free(copy);
}

static void table(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row *r = &rows[i];
		struct job j;

		put_config(r->config);
		run(&j, r->env, r->name, r->tasks, NULL);
		if (j.rc != r->rc)
			fail_msg("row %d: rc %d, not %d: %s", (int)i, j.rc,
			         r->rc, j.message ? j.message : "");
		if (r->message)
			check_parts(j.message, r->message, (int)i);
		else if (j.message)
			fail_msg("row %d: says '%s'", (int)i, j.message);
		if (j.message)
			assert_null(strchr(j.message, '\n'));
		if (r->comment && !j.d->admin_comment)
			fail_msg("row %d: no comment", (int)i);
		if (r->comment)
			assert_string_equal(j.d->admin_comment, r->comment);
		else if (j.d->admin_comment)
			fail_msg("row %d: comment '%s'", (int)i,
			         j.d->admin_comment);
		done(&j);
	}
}

/* Tasks a node times nodes, where no sum fits into what Slurm has it in. */
static void tasks_of_nodes(void **state)
{
	static const struct {
		uint32_t nodes;
		uint16_t per_node;
		const char *message;
	} row[] = {
	        {1, 4, NULL},
	        {2, 2, NULL},
	        {1, 4097, "4097 ranks are more than"},
	        {65537, 65528, "4294508536 ranks are more"},
	        {65544, 65528, "4294967232 ranks are more"},
	        /* 4 modulo 2^32. */
	        {4294967291u, 65532, "ranks are more"},
	        {1u << 31, 2, "4294967296 ranks are more"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct job j;

		run(&j, "OTHER=1", "x", 0, NULL);
		append_env(&j, "COMM_PROFILE=milc");
		j.d->min_nodes = row[i].nodes;
		j.d->ntasks_per_node = row[i].per_node;
		assert_int_equal(submit(j.d, 1000, &j.message), 0);
		if (row[i].message)
			check_parts(j.message, row[i].message, (int)i);
		else
			assert_null(j.message);
		done(&j);
	}
}

/* What is there stays: a text, or the data of a program. */
static void comment_kept(void **state)
{
	static const struct {
		const char *there, *then;
	} row[] = {
	        {"from the operator",
	         "from the operator; commplace: profile=milc policy=auto"},
	        {"{\"pods\":[\"ns/a\"]}",
	         "{\"pods\":[\"ns/a\"],"
	         "\"commplace\":\"profile=milc policy=auto\"}"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct job j = {.d = xmalloc(sizeof(*j.d))};
		char *message = NULL;

		slurm_init_job_desc_msg(j.d);
		j.d->admin_comment = xstrdup(row[i].there);
		j.d->spank_job_env = xcalloc(1, sizeof(char *));
		j.d->spank_job_env[0] = xstrdup("COMM_PROFILE=milc");
		j.d->spank_job_env_size = 1;
		assert_int_equal(submit(j.d, 0, &message), 0);
		assert_string_equal(j.d->admin_comment, row[i].then);
		done(&j);
	}
}

/* A matched job looks as if its user had given the flag. */
static void attached(void **state)
{
	struct job j;

	put_config("Match JobName=vasp* Profile=vasp");
	run(&j, "OTHER=1", "vasp", 4, NULL);
	assert_int_equal(j.d->spank_job_env_size, 2);
	assert_true(has(j.d->spank_job_env, 2, "COMM_PROFILE=vasp"));
	assert_true(has(j.d->spank_job_env, 2, "OTHER=1"));
	assert_true(has(j.d->environment, j.d->env_size, "COMM_PROFILE=vasp"));
	assert_null(j.d->environment[j.d->env_size]);
	done(&j);
}

#define STORE "UserProfileDir=/no/such/%U\n"
#define LINE STORE "Match JobName=vasp* Record="
/* The longest name that a profile may have, together with vasp. */
#define N31 "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
#define N124 N31 N31 N31 N31

/* Who is recorded, as what, and what else the job is told. */
static void recorded(void **state)
{
	static const struct {
		const char *config, *env;
		uint32_t tasks;
		bool batch;
		const char *as, *message; /* NULL: none */
	} row[] = {
	        /* by the user's word */
	        {STORE, "COMM_RECORD=app", 4, true, "app", NULL},
	        {STORE, OPTION "comm_record=app", 4, false, "app", NULL},
	        {STORE, "COMM_RECORD=none", 4, true, NULL, NULL},
	        {STORE, "COMM_RECORD=../x", 4, true, NULL, NULL},
	        {"", "COMM_RECORD=app", 4, true, "app", "UserProfileDir=none"},
	        /* by the site's: profiles milc and vasp have 4 ranks */
	        {LINE "new", "", 4, true, "new", NULL},
	        {LINE "%x", "", 8, true, "vasp", NULL},
	        {LINE "a.%x.b", "", 4, true, "a.vasp.b", NULL},
	        {LINE N124 "%x", "", 4, true, N124 "vasp", NULL},
	        {LINE N124 "n%x", "", 4, true, NULL, NULL},
	        /* more than a profile can have */
	        {LINE "new", "", 4000000000, true, NULL, NULL},
	        {LINE "milc", "", 4, true, NULL, NULL},
	        {LINE "milc", "", 8, true, "milc", NULL},
	        {LINE "milc RecordOneIn=1", "", 4, true, "milc", NULL},
	        {LINE "new", "", 4, false, "new", NULL},
	        {LINE "new", "COMM_RECORD=mine", 4, true, "mine", NULL},
	        {LINE "new", "COMM_RECORD=none", 4, true, NULL, NULL},
	        {LINE "none", "", 4, true, NULL, NULL},
	        {LINE "damaged", "", 4, true, NULL, NULL},
	        {LINE "new\nMode=off", "", 4, true, NULL, NULL},
	        {"Record=new", "", 4, true, NULL, NULL},
	        {STORE "Partition=main Record=new", "", 4, true, "new", NULL},
	        {STORE "Partition=main Record=new\n"
	               "Match JobName=vasp Record=none",
	         "", 4, true, NULL, NULL},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		char entry[256] = "", comment[256] = "";
		struct job j;

		put_config(row[i].config);
		run_as(&j, row[i].batch, row[i].env, "vasp", row[i].tasks);
		assert_int_equal(j.rc, 0);
		if (row[i].as) {
			snprintf(entry, sizeof(entry), "COMM_RECORD=%s",
			         row[i].as);
			snprintf(comment, sizeof(comment),
			         "commplace: record=%s", row[i].as);
		}
		if (!row[i].as != !j.d->admin_comment ||
		    (row[i].as && strcmp(j.d->admin_comment, comment)))
			fail_msg("row %zu: comment '%s'", i,
			         j.d->admin_comment ? j.d->admin_comment : "");
		assert_true(!row[i].as || has(j.d->spank_job_env,
		                              j.d->spank_job_env_size, entry));
		/* Where the SPANK plugin finds it. */
		snprintf(entry, sizeof(entry), "SLURM_SPANK_COMM_RECORD=%s",
		         row[i].as ? row[i].as : "");
		assert_int_equal(has(j.d->environment, j.d->env_size, entry),
		                 row[i].as && row[i].batch);
		assert_int_equal(has(j.d->spank_job_env,
		                     j.d->spank_job_env_size,
		                     "COMM_RECORD_STORE=/no/such/%U"),
		                 row[i].as && *row[i].config);
		if (row[i].message)
			check_parts(j.message, row[i].message, (int)i);
		else
			assert_null(j.message);
		done(&j);
	}
}

/* One in three of those that have a profile. */
static void sampled(void **state)
{
	int n = 0;

	put_config(STORE "Record=milc RecordOneIn=3");
	for (int i = 0; i < 9; i++) {
		struct job j;

		run(&j, "", "x", 4, NULL);
		n += has(j.d->spank_job_env, j.d->spank_job_env_size,
		         "COMM_RECORD=milc");
		assert_int_equal(n, (i + 1) / 3);
		done(&j);
	}
}

static void opted_out(void **state)
{
	struct job j;

	put_config("Match JobName=vasp* Profile=vasp");
	run(&j, "A=1 " OPTION "comm_profile=none COMM_RANK_MAPPING=linear",
	    "vasp", 4, NULL);
	assert_int_equal(j.rc, 0);
	/* The select plugin reads it there and leaves the rule out too. */
	assert_int_equal(j.d->spank_job_env_size, 3);
	assert_false(has(j.d->environment, j.d->env_size, "COMM_PROFILE=vasp"));
	assert_null(j.d->admin_comment);
	done(&j);
}

static void partition(void **state)
{
	static const struct {
		const char *partition, *policy;
	} row[] = {
	        {NULL, "policy=auto"},
	        {"main", "policy=auto"},
	        {"big", "policy=random-routers"},
	        {"big,main", "policy=random-routers"},
	        {"main,big", "policy=auto"},
	};

	put_config("Partition=big DefaultPolicy=random-routers");
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct job j;

		run(&j, "COMM_PROFILE=milc", "x", 4, row[i].partition);
		assert_non_null(strstr(j.d->admin_comment, row[i].policy));
		done(&j);
	}
}

/* slurmctld adds -N times --ntasks-per-node up only after us. */
static void tasks_per_node(void **state)
{
	struct job j = {.d = xmalloc(sizeof(*j.d))};
	char *message = NULL;

	put_config("RankMismatch=reject");
	slurm_init_job_desc_msg(j.d);
	j.d->ntasks_per_node = 2;
	j.d->min_nodes = 4;
	j.d->spank_job_env = xcalloc(1, sizeof(char *));
	j.d->spank_job_env[0] = xstrdup("COMM_PROFILE=milc");
	j.d->spank_job_env_size = 1;
	assert_int_equal(submit(j.d, 0, &message), EINVAL);
	assert_non_null(strstr(message, "the job has 8"));
	xfree(message);
	j.d->min_nodes = 2;
	assert_int_equal(submit(j.d, 0, &message), 0);
	assert_null(message);
	done(&j);
}

/* Slurm asks us before it looks how long anything is. */
static char *long_text(const char *begin, size_t size)
{
	char *text = xmalloc(size + 1);

	memset(text, 'x', size);
	memcpy(text, begin, strlen(begin));
	return text;
}

static void assert_short(const struct job *j, size_t i)
{
	const char *comment = j->d->admin_comment;

	if ((j->message && strlen(j->message) > 2048) ||
	    (comment && strlen(comment) > 2048))
		fail_msg("row %zu: %zu bytes said", i,
		         j->message ? strlen(j->message) : strlen(comment));
}

static void lengths(void **state)
{
	static const char *const names[] = {
	        "COMM_PROFILE=",          "COMM_PLACEMENT_POLICY=",
	        "COMM_RANK_MAPPING=",     "COMM_RECORD=",
	        OPTION "comm_profile=",   OPTION "placement_policy=",
	        OPTION "comm_record=",    "COMM_PROFILE",
	        "COMM_PROFILE_AND_MORE=",
	};
	static const size_t sizes[] = {256, 4096, 1 << 20, 16 << 20};
	const size_t n = sizeof(names) / sizeof(*names);

	put_config("MissingProfile=ignore");
	for (size_t i = 0; i < n * 4; i++) {
		struct job j;

		run(&j, "A=1", "x", 4, NULL);
		j.d->spank_job_env[0][0] = 'B';
		append_env(&j, "");
		xfree(j.d->spank_job_env[1]);
		j.d->spank_job_env[1] = long_text(names[i % n], sizes[i / n]);
		j.rc = submit(j.d, 1000, &j.message);
		/* A recording's name is for its user's own programs. */
		if (j.rc !=
		    (i % n < 7 && i % n != 3 && i % n != 6 ? EINVAL : 0))
			fail_msg("row %zu: rc %d", i, j.rc);
		assert_short(&j, i);
		done(&j);
	}
}

/* What rules look at. */
static void long_facts(void **state)
{
	put_config("Match JobName=*[wx]*[wx]*y Profile=vasp\n"
	           "Match Command=*[wx]*[wx]*y Profile=vasp\n"
	           "Match Account=*[wx]*[wx]*y Profile=vasp\n"
	           "Match QOS=*[wx]*[wx]*y Profile=vasp");
	for (size_t i = 0; i < 5; i++) {
		struct job j;
		char **text[5];

		run(&j, "COMM_PROFILE=milc", "x", 4, NULL);
		xfree(j.message);
		j.d->argv = xcalloc(2, sizeof(char *));
		j.d->argc = 1;
		text[0] = &j.d->name;
		text[1] = &j.d->argv[0];
		text[2] = &j.d->account;
		text[3] = &j.d->qos;
		text[4] = &j.d->partition;
		xfree(*text[i]);
		*text[i] = long_text("x", 4 << 20);
		alarm(20);
		assert_int_equal(submit(j.d, 1000, &j.message), 0);
		alarm(0);
		assert_short(&j, i);
		xfree(j.d->argv[0]);
		xfree(j.d->argv);
		xfree(j.d->account);
		xfree(j.d->qos);
		done(&j);
	}
}

/* The ends of all numbers that a user may state. */
static void numbers(void **state)
{
	static const uint32_t wide[] = {0,
	                                1,
	                                UINT16_MAX + 1,
	                                INT32_MAX,
	                                (uint32_t)INT32_MAX + 1,
	                                (uint32_t)INT32_MAX + 2,
	                                INFINITE - 1,
	                                INFINITE,
	                                NO_VAL};
	static const uint16_t narrow[] = {
	        0,        1,         INT16_MAX, INT16_MAX + 1, NO_VAL16 - 1,
	        NO_VAL16, INFINITE16};
	const size_t n = sizeof(wide) / sizeof(*wide);
	const size_t m = sizeof(narrow) / sizeof(*narrow);

	for (size_t i = 0; i < 7 * n * m; i++) {
		uint32_t w = wide[i % n];
		uint16_t s = narrow[i / n % m];
		struct job j;

		put_config(i % 2 ? "RankMismatch=reject" : "");
		run(&j, "A=1", "x", 0, NULL);
		append_env(&j, "COMM_PROFILE=milc");
		*(uint32_t *[]){&j.d->num_tasks, &j.d->min_nodes,
		                &j.d->max_nodes, &j.d->min_cpus,
		                &j.d->max_cpus,  &j.d->het_job_offset,
		                &j.d->priority}[i / n / m] = w;
		*(uint16_t *[]){&j.d->ntasks_per_node,   &j.d->ntasks_per_core,
		                &j.d->ntasks_per_socket, &j.d->ntasks_per_tres,
		                &j.d->cpus_per_task,     &j.d->ntasks_per_board,
		                &j.d->pn_min_cpus}[i % 7] = s;
		if (i / n / m == 2 || i % 7 == 0)
			j.d->min_nodes = wide[(i + 3) % n];
		j.rc = submit(j.d, 1000, &j.message);
		if (j.rc && j.rc != EINVAL)
			fail_msg("row %zu: rc %d", i, j.rc);
		assert_short(&j, i);
		done(&j);
	}
}

/* Fault 14: nodes without tasks: steps run one for each node, not the profile's
 * ranks, and users are told. */
static void nodes_only(void **state)
{
	static const struct {
		uint32_t min, max;
		uint16_t tasks_per_node, tasks_per_tres;
		uint32_t implied; /* 0: nothing is said */
	} row[] = {
	        {2, 2, NO_VAL16, NO_VAL16, 2},
	        {2, NO_VAL, NO_VAL16, NO_VAL16, 2},
	        {2, 3, NO_VAL16, NO_VAL16, 3},
	        {6, 8, NO_VAL16, NO_VAL16, 6},
	        {1, 1, NO_VAL16, NO_VAL16, 1},
	        /* that is what the profile is of */
	        {4, 4, NO_VAL16, NO_VAL16, 0},
	        {2, 6, NO_VAL16, NO_VAL16, 0},
	        /* tasks are stated, or slurmctld has yet to count them */
	        {2, 2, 2, NO_VAL16, 0},
	        {2, 2, NO_VAL16, 2, 0},
	        {NO_VAL, NO_VAL, NO_VAL16, NO_VAL16, 0},
	};

	for (size_t i = 0; i < 2 * sizeof(row) / sizeof(*row); i++) {
		size_t k = i / 2;
		bool reject = i % 2;
		struct job j = {.d = xmalloc(sizeof(*j.d))};
		char parts[256];

		put_config(reject ? "RankMismatch=reject" : "");
		slurm_init_job_desc_msg(j.d);
		j.d->min_nodes = row[k].min;
		j.d->max_nodes = row[k].max;
		j.d->ntasks_per_node = row[k].tasks_per_node;
		j.d->ntasks_per_tres = row[k].tasks_per_tres;
		append_env(&j, "COMM_PROFILE=milc");
		j.rc = submit(j.d, 1000, &j.message);
		assert_int_equal(j.rc, reject && row[k].implied ? EINVAL : 0);
		if (!row[k].implied && j.message)
			fail_msg("row %zu: says '%s'", k, j.message);
		snprintf(parts, sizeof(parts),
		         "profile 'milc' was recorded at 4 ranks|steps have "
		         "%u unless|add -n 4%s",
		         row[k].implied,
		         reject ? "" : " (it is placed as 4 ranks)");
		if (row[k].implied)
			check_parts(j.message, parts, (int)k);
		done(&j);
	}
	/* With -n, nothing of it is said; nor of a rule's profile. */
	put_config("RankMismatch=reject\nMatch JobName=vasp Profile=vasp");
	for (int rule = 0; rule < 2; rule++) {
		struct job j = {.d = xmalloc(sizeof(*j.d))};

		slurm_init_job_desc_msg(j.d);
		j.d->min_nodes = j.d->max_nodes = 2;
		if (rule) {
			j.d->name = xstrdup("vasp");
		} else {
			j.d->num_tasks = 4;
			append_env(&j, "COMM_PROFILE=milc");
		}
		assert_int_equal(submit(j.d, 1000, &j.message), 0);
		assert_null(j.message);
		assert_non_null(j.d->admin_comment);
		done(&j);
	}
}

/* What rules ask for, as far as a submission has it. */
static void facts(void **state)
{
	static const struct {
		const char *rule;
		uint32_t min, max;
		const char *qos, *account, *command, *partition;
		bool attached;
	} row[] = {
	        {"QOS=high", 2, 2, "high", NULL, NULL, NULL, true},
	        {"QOS=high", 2, 2, "low", NULL, NULL, NULL, false},
	        /* slurmctld has yet to choose the default, or one of these. */
	        {"QOS=high", 2, 2, NULL, NULL, NULL, NULL, false},
	        {"QOS=high", 2, 2, "high,low", NULL, NULL, NULL, false},
	        {"Account=c*", 2, 2, NULL, "chem", NULL, NULL, true},
	        {"Account=c*", 2, 2, NULL, "bio", NULL, NULL, false},
	        {"Account=c*", 2, 2, NULL, NULL, NULL, NULL, false},
	        {"User=1000", 2, 2, NULL, NULL, NULL, NULL, true},
	        {"User=0,1001", 2, 2, NULL, NULL, NULL, NULL, false},
	        {"Nodes=2-3", 2, 2, NULL, NULL, NULL, NULL, true},
	        {"Nodes=2-3", 2, NO_VAL, NULL, NULL, NULL, NULL, true},
	        {"Nodes=3-", 2, 2, NULL, NULL, NULL, NULL, false},
	        {"Nodes=2-3", 2, 3, NULL, NULL, NULL, NULL, false},
	        {"Nodes=2-3", NO_VAL, NO_VAL, NULL, NULL, NULL, NULL, false},
	        {"Command=vasp*", 2, 2, NULL, NULL, "/x/vasp_std", NULL, true},
	        {"Command=*/x/*", 2, 2, NULL, NULL, "/y/vasp", NULL, false},
	        {"Command=*", 2, 2, NULL, NULL, NULL, NULL, false},
	        {"Partition=b*", 2, 2, NULL, NULL, NULL, "big", true},
	        {"Partition=b*", 2, 2, NULL, NULL, NULL, "main", false},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct job j = {.d = xmalloc(sizeof(*j.d))};
		char *argv[] = {(char *)row[i].command, "-x"};
		char rule[128];

		snprintf(rule, sizeof(rule), "Match %s Profile=milc",
		         row[i].rule);
		put_config(rule);
		slurm_init_job_desc_msg(j.d);
		j.d->min_nodes = row[i].min;
		j.d->max_nodes = row[i].max;
		j.d->num_tasks = 4;
		j.d->user_id = 1000;
		j.d->qos = (char *)row[i].qos;
		j.d->account = (char *)row[i].account;
		j.d->partition = xstrdup(row[i].partition);
		j.d->argv = row[i].command ? argv : NULL;
		j.d->argc = row[i].command ? 2 : 0;
		assert_int_equal(submit(j.d, 1000, &j.message), 0);
		if (has(j.d->spank_job_env, j.d->spank_job_env_size,
		        "COMM_PROFILE=milc") != row[i].attached)
			fail_msg("row %zu: %s", i, row[i].rule);
		done(&j);
	}
}

static void config_changes(void **state)
{
	assert_int_equal(rc_of("COMM_PROFILE=foo"), EINVAL);
	log_infos = 0;
	put_config("MissingProfile=ignore");
	assert_int_equal(rc_of("COMM_PROFILE=foo"), 0);
	assert_int_equal(log_infos, 1);
	assert_non_null(strstr(logged, "is in force"));
	assert_int_equal(log_errors, 0);
	/* A broken one: the old one stays, said once. */
	put_config("MissingProfile=perhaps");
	assert_int_equal(rc_of("COMM_PROFILE=foo"), 0);
	assert_int_equal(rc_of("COMM_PROFILE=foo"), 0);
	assert_int_equal(log_errors, 1);
	assert_non_null(strstr(logged, "commplace.conf:4"));
	assert_non_null(strstr(logged, "the configuration in force stays"));
	unlink(in_dir("commplace.conf"));
	assert_int_equal(rc_of("COMM_PROFILE=foo"), 0);
	assert_int_equal(rc_of("COMM_PROFILE=foo"), 0);
	assert_int_equal(log_errors, 2);
	put_config("MissingProfile=reject");
	assert_int_equal(rc_of("COMM_PROFILE=foo"), EINVAL);
	assert_int_equal(log_errors, 2);
}

static void no_config(void **state)
{
	struct job j;

	unlink(in_dir("commplace.conf"));
	run(&j, "COMM_PROFILE=foo", "x", 4, NULL);
	assert_int_equal(j.rc, 0);
	assert_non_null(strstr(j.message, "not in force"));
	assert_non_null(strstr(j.message, "commplace.conf"));
	done(&j);
	run(&j, "", "x", 4, NULL);
	assert_int_equal(j.rc, 0);
	assert_null(j.message);
	done(&j);
	assert_int_equal(log_errors, 1);
}

/* Fault 20: a job's name cannot forge a line of the log. */
static void names_in_the_log(void **state)
{
	struct job j;

	put_config("Match JobName=vasp* Profile=gone");
	run(&j, "",
	    "vasp\nerror: forged \xc2\x9b"
	    "2J",
	    4, NULL);
	assert_int_equal(j.rc, 0);
	assert_non_null(strstr(logged, "Match rule for job name vasp?"));
	assert_null(strchr(logged, '\n'));
	assert_null(strchr(logged, '\x9b'));
	done(&j);
}

/* A partition that is left to Slurm: said, and nothing else. */
static void stock_partition(void **state)
{
	struct job j;

	put_config("Partition=main DefaultPolicy=none\nPartition=no Mode=off");
	run(&j, "COMM_PROFILE=milc", "x", 4, NULL);
	assert_int_equal(j.rc, 0);
	assert_non_null(strstr(j.message, "partition main is left to Slurm"));
	assert_null(j.d->admin_comment);
	done(&j);
	run(&j, "COMM_PROFILE=gone", "x", 4, "no");
	assert_int_equal(j.rc, 0);
	assert_null(j.message);
	done(&j);
}

/* A select plugin that is not there, or of another build: said once. */
static void no_select_plugin(void **state)
{
	char *before = slurm_conf.select_type;
	static char type[] = "select/cons_tres_commplace";

	for (int i = 0; i < 2; i++) {
		slurm_conf.select_type = type;
		log_errors = 0;
		assert_int_equal(rc_of("COMM_PROFILE=milc"), 0);
		assert_int_equal(rc_of("COMM_PROFILE=gone"), EINVAL);
		assert_int_equal(log_errors, 1);
		assert_non_null(strstr(logged, "is of another build"));
		slurm_conf.select_type = before;
		plugin_fini();
	}
}

static void symbols(void **state)
{
	assert_string_equal(dlsym(handle, "plugin_type"),
	                    "job_submit/commplace");
	assert_int_equal(*(uint32_t *)dlsym(handle, "plugin_version"),
	                 SLURM_VERSION_NUMBER);
	assert_null(dlsym(handle, "cplsubmit_check"));
}

#define T(f) cmocka_unit_test_setup_teardown(f, submit_start, submit_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        T(symbols),         T(table),      T(tasks_of_nodes),
	        T(comment_kept),    T(attached),   T(opted_out),
	        T(partition),       T(facts),      T(lengths),
	        T(long_facts),      T(numbers),    T(tasks_per_node),
	        T(config_changes),  T(no_config),  T(names_in_the_log),
	        T(stock_partition), T(nodes_only), T(recorded),
	        T(sampled),         T(no_select_plugin),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
