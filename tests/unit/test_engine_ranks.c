/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of ranks that nobody can mean: nothing is allocated by them. */
#include "engine_fixture.h"

#include <limits.h>

/* What a scheduler was asked to lay out. */
static struct {
	int n_hosts, calls, ranks;
} asked;

static int note_layout(void *arg, int ranks, int *rank_host)
{
	asked.calls++;
	asked.ranks = ranks;
	/* So many are not written to, or the fault takes the host down. */
	return ranks > 1 << 20 ? -1
	                       : fake_layout(&asked.n_hosts, ranks, rank_host);
}

static void begin(int64_t id, const struct cpl_engine_request *req, int ranks)
{
	struct cpl_engine_notice notice;
	struct cpl_engine_allocation got = {
	        .id = id,
	        .job = req->job,
	        .ranks = ranks,
	        .host = fake.host,
	        .n_hosts = fake.n_host,
	        .layout = note_layout,
	};

	memset(&asked, 0, sizeof(asked));
	asked.n_hosts = fake.n_host;
	cpl_engine_start(engine, &got, &notice);
}

#define MANY (4 * ENGINE_HOST_RANKS)

/* The most of four hosts, and beyond; where an int ends; what Slurm counts on a
 * host. */
static const int too_many[] = {
        MANY + 1,          4 * UINT16_MAX,   4 * UINT16_MAX + 1,
        200 * 1000 * 1000, INT_MAX / 4 + 1,  INT_MAX - 1,
        INT_MAX,           CPL_SIGNATURE_MAX_RANKS + 1,
};

static void test_no_layout_unless_something_follows_it(void **state)
{
	static const struct {
		const char *profile, *policy;
		int ranks;
		bool placed;
		int laid_out;
	} table[] = {
	        {"a8", "linear", 8, true, 8},
	        {"a8", "linear", 0, true, 8},
	        {"a8", NULL, 9, false, 0},
	        {"a8", NULL, MANY, false, 0},
	        {NULL, "linear", 9, true, 9},
	        {NULL, "linear", MANY, true, MANY},
	};
	int64_t id = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_engine_request req = request(
		        ++id, table[i].profile, table[i].policy, 4);

		all_free();
		fake.wanted = 4;
		req.ranks = table[i].ranks;
		assert_int_equal(ask(&req), table[i].placed
		                                    ? CPL_ENGINE_PLACED
		                                    : CPL_ENGINE_STOCK);
		begin(id, &req, req.ranks);
		assert_int_equal(asked.ranks, table[i].laid_out);
		cpl_engine_end(engine, id);
	}
}

static void test_too_many_ranks_are_stock(void **state)
{
	static const struct {
		const char *profile, *policy, *config;
	} table[] = {
	        {"a8", NULL, ""},
	        {"a8", "linear", ""},
	        {"a8", "linear", "Rescale=yes"},
	        {NULL, "random-groups", ""},
	        {"a8", NULL, "Mode=observe"},
	        {NULL, "linear", "Mode=observe"},
	};
	const size_t n = sizeof(too_many) / sizeof(*too_many);
	int64_t id = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(*table) * n; i++) {
		struct cpl_engine_request req =
		        request(++id, table[i / n].profile,
		                table[i / n].policy, 4);

		config(table[i / n].config);
		assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
		all_free();
		fake.wanted = 4;
		req.ranks = too_many[i % n];
		assert_int_equal(ask(&req), CPL_ENGINE_STOCK);
		assert_non_null(strstr(record()->reason, "too many for 4"));
		assert_string_equal(record()->reason_code, "profile_ranks");
		begin(id, &req, req.ranks);
		assert_int_equal(asked.calls, 0);
		assert_int_equal(
		        engine_running_find(&engine->ledger, id)->record->ranks,
		        0);
		cpl_engine_end(engine, id);
	}
}

/* An order of ranks along the network, which needs neither. */
static void test_too_many_ranks_get_no_order(void **state)
{
	struct cpl_engine_request req = request(1, NULL, NULL, 4);

	config("MappingWithoutProfile=network-order");
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
	for (int many = 0; many < 2; many++) {
		all_free();
		fake.wanted = 4;
		assert_int_equal(ask(&req), CPL_ENGINE_NONE);
		fake.n_host = fake_first(&fake, fake.host);
		begin(1, &req, many ? too_many[0] : MANY);
		assert_int_equal(asked.ranks, many ? 0 : MANY);
		assert_int_equal(has_layout(1), !many);
		cpl_engine_end(engine, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	        T(test_no_layout_unless_something_follows_it),
	        T(test_too_many_ranks_are_stock),
	        T(test_too_many_ranks_get_no_order),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
