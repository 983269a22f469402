/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "base/random.h"
#include "record/table.h"

#define RANKS 3000
#define ADDS 20000

static void test_empty(void **state)
{
	struct rec_table t = {0};
	struct rec_row row;

	assert_int_equal(rec_table_count(&t), 0);
	assert_int_equal(rec_table_rows(&t, 0, &row), 0);
	assert_int_equal(rec_table_init(&t, 1, 0), 0);
	assert_int_equal(rec_table_count(&t), 0);
	assert_int_equal(rec_table_rows(&t, 0, &row), 0);
	rec_table_free(&t);
}

static void test_adds_up(void **state)
{
	for (int limit = 0; limit <= 10; limit += 10) {
		struct rec_table t;
		struct rec_row row[2];

		assert_int_equal(rec_table_init(&t, 10, limit), 0);
		rec_table_add(&t, 9, 5, 1);
		rec_table_add(&t, 0, UINT64_MAX / 2, 3);
		rec_table_add(&t, 9, 0, 2);
		assert_int_equal(rec_table_count(&t), 2);
		assert_int_equal(rec_table_rows(&t, 1, row), 2);
		assert_int_equal(row[0].peer, 0);
		assert_true(row[0].bytes == UINT64_MAX / 2);
		assert_int_equal(row[1].peer, 9);
		assert_int_equal(row[1].bytes, 5);
		assert_int_equal(row[1].messages, 3);
		assert_int_equal(row[1].inward, 1);
		rec_table_free(&t);
	}
}

/* Whatever the form, the same rows by increasing peer as plain arrays. */
static void test_dense_and_hash_agree(void **state)
{
	static uint64_t bytes[RANKS], messages[RANKS];
	struct rec_table table[2];
	size_t n = 0;

	assert_int_equal(rec_table_init(&table[0], RANKS, RANKS), 0);
	assert_int_equal(rec_table_init(&table[1], RANKS, RANKS - 1), 0);
	assert_null(table[0].peer);
	assert_non_null(table[1].peer);
	for (uint64_t i = 0; i < ADDS; i++) {
		int peer = (int)cpl_random_below(1, 0, i, RANKS);

		if (peer % 3 == 0) /* some have no traffic */
			continue;
		bytes[peer] += i;
		messages[peer]++;
		for (int k = 0; k < 2; k++)
			assert_int_equal(rec_table_add(&table[k], peer, i, 1),
			                 0);
	}
	for (int r = 0; r < RANKS; r++)
		n += messages[r] > 0;
	for (int k = 0; k < 2; k++) {
		struct rec_row *row = calloc(n + 1, sizeof(*row));
		size_t at = 0;

		assert_non_null(row);
		assert_int_equal(rec_table_count(&table[k]), n);
		assert_int_equal(rec_table_rows(&table[k], 0, row), n);
		for (int r = 0; r < RANKS; r++) {
			if (!messages[r])
				continue;
			assert_int_equal(row[at].peer, r);
			assert_int_equal(row[at].inward, 0);
			assert_true(row[at].bytes == bytes[r]);
			assert_true(row[at].messages == messages[r]);
			at++;
		}
		free(row);
		rec_table_free(&table[k]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_empty),
	        cmocka_unit_test(test_adds_up),
	        cmocka_unit_test(test_dense_and_hash_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
