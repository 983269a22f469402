/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "mapping/rank_order.h"

static char *host[] = {"n3", "n7", "n9"};
static const int rank_host[] = {0, 0, 2, 1, 1, 0};
#define RANKS 6

static void text_is_what_is_parsed(void **state)
{
	char *text = cpl_rank_order_text(host, 3, rank_host, RANKS, 100);
	struct cpl_rank_order order;
	struct cpl_error err = {""};

	assert_string_equal(text, "n[3,7,9] 0x2,2,1x2,0");
	assert_int_equal(cpl_rank_order_parse(text, "n[3,7,9]", &order, &err),
	                 0);
	assert_int_equal(order.ranks, RANKS);
	assert_memory_equal(order.rank_host, rank_host, sizeof(rank_host));
	cpl_rank_order_free(&order);
	/* Hosts of the job as the allocation has them. */
	assert_int_equal(cpl_rank_order_parse(text, "n9,n[1-3],n7", &order,
	                                      &err),
	                 0);
	assert_int_equal(order.hosts.count, 5);
	for (int r = 0; r < RANKS; r++)
		assert_string_equal(order.hosts.name[order.rank_host[r]],
		                    host[rank_host[r]]);
	cpl_rank_order_free(&order);
	free(text);
	assert_null(cpl_rank_order_text(host, 3, rank_host, RANKS, 20));
	text = cpl_rank_order_text(host, 3, rank_host, RANKS, 21);
	assert_non_null(text);
	free(text);
}

static void what_is_no_order_is_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} row[] = {
	        {"", "no ranks behind the hosts"},
	        {"n3", "no ranks behind the hosts"},
	        {"n3 ", "no host of rank 0"},
	        {"n3 1", "no host of rank 0"},
	        {"n3 -1", "no host of rank 0"},
	        {"n3 +0", "no host of rank 0"},
	        {"n3 0x0", "no host of rank 0"},
	        {"n3 0x", "no host of rank 0"},
	        {"n3 0x131071", "no host of rank 0"},
	        {"n3 0x131070,0", "no host of rank 131070"},
	        {"n3 0x16777217", "at most 131070 ranks"},
	        {"n[3-5] 0", "n4 is not in the allocation"},
	        {"n[3-21] 0", "more than 18 hosts"},
	        {"n[0-4194303] 0", "a range of more than 18 hosts"},
	        {"n3 0x99999999999999999999", "no host of rank 0"},
	        {"n3 99999999999999999999", "no host of rank 0"},
	        {"n3 0,", "no host of rank 1"},
	        {"n3 0;0", "no host of rank 0"},
	        {"n3 0 0", "no host of rank 0"},
	        {"n[3 0", "n[3"},
	        {"n4 0", "n4 is not in the allocation"},
	        {"n3,n4 0", "n4 is not in the allocation"},
	        {" 0", "no host of rank 0"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_rank_order order;
		struct cpl_error err = {""};

		assert_int_equal(cpl_rank_order_parse(row[i].text, "n3,n7",
		                                      &order, &err),
		                 -1);
		if (!strstr(err.text, row[i].message))
			fail_msg("'%s': %s", row[i].text, err.text);
		assert_null(order.rank_host);
	}
}

static void nodes_in_the_order_of_ranks(void **state)
{
	static const struct {
		const char *runs;
		int n, first[3];
		bool blocks;
	} row[] = {
	        {"0x2,1x2,2x2", 3, {0, 1, 2}, true},
	        {"2x2,0x2,1", 3, {2, 0, 1}, true},
	        {"2,2,0", 2, {2, 0}, true},
	        {"2,0,2", 2, {2, 0}, false},
	        {"1", 1, {1}, true},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct cpl_rank_order order;
		char text[64];
		int first[3];
		bool blocks;

		snprintf(text, sizeof(text), "n[3,7,9] %s", row[i].runs);
		assert_int_equal(cpl_rank_order_parse(text, "n[3,7,9]", &order,
		                                      NULL),
		                 0);
		assert_int_equal(cpl_rank_order_nodes(&order, first, &blocks),
		                 row[i].n);
		assert_memory_equal(first, row[i].first,
		                    (size_t)row[i].n * sizeof(int));
		assert_int_equal(blocks, row[i].blocks);
		cpl_rank_order_free(&order);
	}
}

static void files(void **state)
{
	static const char *const want[CPL_RANK_FILES] = {
	        [CPL_RANK_HOSTFILE] = "n3\nn3\nn9\nn7\nn7\nn3\n",
	        [CPL_RANK_RANKFILE] = "rank 0=n3 slot=0\nrank 1=n3 slot=1\n"
	                              "rank 2=n9 slot=0\nrank 3=n7 slot=0\n"
	                              "rank 4=n7 slot=1\nrank 5=n3 slot=2\n",
	        [CPL_RANK_MACHINEFILE] = "n3:2\nn9:1\nn7:2\nn3:1\n",
	        [CPL_RANK_MPICH] = "0,1,5\n3,4\n2\n",
	};
	static const int weight[RANKS] = {1, 2, 1, 1, 1, 3};
	char *text = NULL;
	size_t size;
	FILE *to;

	for (int i = 0; i < CPL_RANK_FILES; i++) {
		to = open_memstream(&text, &size);
		assert_int_equal(cpl_rank_file_write(to, (enum cpl_rank_file)i,
		                                     host, 3, rank_host, RANKS,
		                                     NULL),
		                 0);
		fclose(to);
		assert_string_equal(text, want[i]);
		free(text);
	}
	to = open_memstream(&text, &size);
	cpl_rank_file_write(to, CPL_RANK_RANKFILE, host, 3, rank_host, RANKS,
	                    weight);
	fclose(to);
	assert_non_null(strstr(text, "rank 1=n3 slot=1-2\n"));
	assert_non_null(strstr(text, "rank 5=n3 slot=3-5\n"));
	free(text);
}

/* A long text in its parts is the text. */
static void parts(void **state)
{
	static const struct {
		int ranks, parts;
	} row[] = {{6, 1}, {40000, 1}, {60000, 2}, {300000, 7}};
	char name[CPL_RANK_ORDER_NAME];

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		int *at = malloc((size_t)row[i].ranks * sizeof(*at)), n = 0;
		char *text, *joined;
		size_t length;

		for (int r = 0; r < row[i].ranks; r++)
			at[r] = r % 3;
		text = cpl_rank_order_text(host, 3, at, row[i].ranks,
		                           CPL_RANK_ORDER_PARTS *
		                                   (CPL_RANK_ORDER_PART - 1));
		assert_non_null(text);
		joined = calloc(1, strlen(text) + 1);
		for (int p = 0; p < CPL_RANK_ORDER_PARTS; p++) {
			const char *from =
			        cpl_rank_order_piece(text, p, &length);

			assert_true(length < CPL_RANK_ORDER_PART);
			n += length > 0;
			strncat(joined, from, length);
		}
		assert_int_equal(n, row[i].parts);
		assert_string_equal(joined, text);
		free(joined);
		free(text);
		free(at);
	}
	cpl_rank_order_name(name, CPL_RANK_ORDER_VARIABLE, 0, -1);
	assert_string_equal(name, "COMMPLACE_RANKS");
	cpl_rank_order_name(name, CPL_RANK_ORDER_VARIABLE, 2, 1);
	assert_string_equal(name, "COMMPLACE_RANKS_3_HET_GROUP_1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(text_is_what_is_parsed),
	        cmocka_unit_test(what_is_no_order_is_refused),
	        cmocka_unit_test(nodes_in_the_order_of_ranks),
	        cmocka_unit_test(files),
	        cmocka_unit_test(parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
