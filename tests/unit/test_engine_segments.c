/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SegmentFromSignature: jobs without segments are wished those of their signatures. */
#include "engine_fixture.h"

#define UNITS "b0:n[0-15] b1:n[16-31]"

/* Pairs of ranks send most, and each to the next one a little: segments of two. */
static void pairs(const char *name, int ranks, bool ring)
{
	char file[64], *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	fprintf(f,
	        "{\"format\": \"commplace-signature\", \"version\": 1, "
	        "\"ranks\": %d, \"phases\": [{\"name\": \"p\", \"weight\": 1, "
	        "\"traffic\": [",
	        ranks);
	for (int r = 0; r < ranks; r++)
		fprintf(f, "%s[%d, %d, 9000, 1], [%d, %d, %d, 1]",
		        r ? ", " : "", r, r ^ 1, r, (r + 2) % ranks, ring);
	fprintf(f, "]}]}");
	fclose(f);
	snprintf(file, sizeof(file), "%s.json", name);
	put(file, text);
	free(text);
}

/* One free node of router 0 and of router 2, both of the others. */
static void some_free(void)
{
	all_free();
	fake.cpus[1] = fake.cpus[4] = 0;
}

static struct cpl_engine_request in_blocks(int64_t id, const char *name,
                                           const char *policy, int nodes)
{
	struct cpl_engine_request req = request(id, name, policy, nodes);

	req.rules = "blocks=1";
	req.units = UNITS;
	req.by_stock = req.segments = true;
	return req;
}

/* Nodes of a router that only one is taken of. */
static int halves(void)
{
	int count[HOSTS / 2] = {0}, n = 0;

	for (int i = 0; i < fake.n_host; i++)
		count[fake.host[i] / 2]++;
	for (int r = 0; r < HOSTS / 2; r++)
		n += count[r] == 1;
	return n;
}

static void say(const char *lines)
{
	config(lines);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
}

/* Whatever the policy, and only where the site and nobody else says so. */
static void test_implied(void **state)
{
	static const struct {
		const char *lines, *profile, *policy;
		int nodes;
		bool has_none; /* the scheduler, or the user has a wish */
		bool requires;
		const char *rules;
	} row[] = {
	        {"SegmentFromSignature=yes", "p8", NULL, 8, .rules = "blocks=1,wish=2"},
	        {"SegmentFromSignature=yes", "p8", "traffic", 8,
	         .rules = "blocks=1,wish=2"},
	        {"SegmentFromSignature=yes\nDefaultPolicy=linear", "p8", NULL, 8,
	         .rules = "blocks=1,wish=2"},
	        {"Partition=x SegmentFromSignature=yes", "p8", NULL, 8,
	         .rules = "blocks=1"},
	        {"Match JobName=job SegmentFromSignature=yes", "p8", NULL, 8,
	         .rules = "blocks=1,wish=2"},
	        {"SegmentFromSignature=yes\nMatch JobName=job "
	         "SegmentFromSignature=no",
	         "p8", NULL, 8, .rules = "blocks=1"},
	        {"", "p8", NULL, 8, .rules = "blocks=1"},
	        {"SegmentFromSignature=yes", "p8", NULL, 8, .has_none = true,
	         .rules = "blocks=1"},
	        {"SegmentFromSignature=yes", "p8", NULL, 8, .requires = true,
	         .rules = "blocks=1"},
	        /* The user's word. */
	        {"SegmentFromSignature=yes", "p8", "linear", 8,
	         .rules = "blocks=1"},
	        /* Nothing is sent between nodes. */
	        {"SegmentFromSignature=yes\nDefaultPolicy=linear", "q8", NULL, 4,
	         .rules = "blocks=1"},
	        /* Nothing divides seven nodes. */
	        {"SegmentFromSignature=yes\nDefaultPolicy=linear", "a7", NULL, 7,
	         .rules = "blocks=1"},
	        {"SegmentFromSignature=yes\nDefaultPolicy=linear", NULL, NULL, 8,
	         .rules = "blocks=1"},
	};

	(void)state;
	pairs("p8", 8, true);
	pairs("q8", 8, false);
	profile("a7", 7, 3);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_engine_request req =
		        in_blocks(1, row[i].profile, row[i].policy, row[i].nodes);
		bool wished = strstr(row[i].rules, "wish") != NULL;
		const int required = 3;

		say(row[i].lines);
		some_free();
		fake.wanted = row[i].nodes;
		req.segments = !row[i].has_none;
		req.required = &required;
		req.n_required = row[i].requires;
		if (ask(&req) != CPL_ENGINE_PLACED)
			fail_msg("%s %s: %s", row[i].lines, row[i].profile,
			         record()->reason);
		assert_string_equal(record()->rules, row[i].rules);
		assert_int_equal(fake.n_host, row[i].nodes);
		assert_int_equal(record()->segment_from != NULL, wished);
		if (!wished)
			continue;
		assert_string_equal(record()->segment_from, "signature");
		assert_string_equal(record()->kept,
		                    fake.host[0] < 16
		                            ? "kept on block b0, in the segments of "
		                              "2 that its signature implies"
		                            : "kept on block b1, in the segments of "
		                              "2 that its signature implies");
		assert_int_equal(halves(), 0);
	}
	/* What the user asks for is on record as that. */
	{
		struct cpl_engine_request req =
		        in_blocks(1, "p8", NULL, 8);

		say("SegmentFromSignature=yes");
		some_free();
		fake.wanted = 8;
		req.rules = "blocks=1,segment=4";
		req.segments = false;
		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
		assert_string_equal(record()->segment_from, "user");
	}
}

/* A job that could begin without begins without. */
static void test_not_to_be_had(void **state)
{
	struct cpl_engine_request req = in_blocks(1, "p8", NULL, 8);
	struct cpl_engine_notice notice;

	(void)state;
	pairs("p8", 8, true);
	say("SegmentFromSignature=yes");
	all_free();
	for (int i = 0; i < HOSTS; i += 2)
		fake.cpus[i] = 0;
	fake.wanted = 8;
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_int_equal(halves(), 8);
	assert_non_null(strstr(record()->kept,
	                       "; the segments of 2 that its signature implies "
	                       "were not to be had"));
	assert_string_equal(record()->segment_from, "signature");
	fake_begin(engine, 1, &fake, &notice);
	assert_non_null(strstr(notice.text, "commplace: policy="));
}

/* A test and the start after it choose the same, and a job like it again. */
static void test_kept(void **state)
{
	int host[HOSTS];

	(void)state;
	pairs("p8", 8, true);
	say("SegmentFromSignature=yes");
	for (int i = 0; i < 4; i++) {
		struct cpl_engine_request req = in_blocks(1 + i / 2, "p8", NULL, 8);

		some_free();
		fake.wanted = 8;
		req.start = i % 2;
		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
		if (i)
			assert_memory_equal(host, fake.host, 8 * sizeof(int));
		memcpy(host, fake.host, 8 * sizeof(int));
	}
	assert_int_equal(engine->desk.segments_used, 4);
	assert_int_equal(engine->desk.segment_of[0].nodes, 2);
	assert_null(engine->desk.segment_of[1].profile);
}

/* That of much traffic is found by the worker, and until then the job is placed
 * without. */
static void test_by_the_worker(void **state)
{
	struct cpl_engine_request req = in_blocks(1, "big", NULL, 16);
	bool growing = true;

	(void)state;
	put("big.json",
	    "{\"format\": \"commplace-signature\", \"version\": 1, \"ranks\": "
	    "512, \"phases\": [{\"pattern\": {\"type\": \"many-to-many\", "
	    "\"dims\": [2, 256], \"axis\": 1, \"bytes\": 8}}, {\"pattern\": "
	    "{\"type\": \"many-to-many\", \"dims\": [8, 64], \"axis\": 1, "
	    "\"bytes\": 1000000}}]}");
	say("SegmentFromSignature=yes");
	all_free();
	fake.wanted = 16;
	for (int i = 0; i < HOSTS; i++)
		fake.cpus[i] = 32;
	req.need.cpus = 512;
	req.need.tasks_per_node = 32;
	assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	for (int i = 0; i < 2 && growing; i++) {
		assert_int_equal(ask(&req), CPL_ENGINE_PLACED);
		growing = engine->desk.segment_of[0].advising != NULL;
	}
	assert_false(growing);
	assert_int_equal(engine->desk.segment_of[0].nodes, 2);
	assert_string_equal(record()->rules, "blocks=1,wish=2");
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {T(test_implied), T(test_not_to_be_had),
	                                   T(test_kept), T(test_by_the_worker)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
