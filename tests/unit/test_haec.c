/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "flow.h"
#include "number.h"
#include "signature/signature.h"
#include "add_traffic.h"
#include "traffic/traffic.h"

static struct cpl_network *box(int x, int y, int boards)
{
	char text[256];

	snprintf(text, sizeof(text),
	         "{\"format\": \"commplace-network\", \"version\": 1, "
	         "\"type\": \"haec\", \"dims\": [%d, %d, %d], "
	         "\"nodes\": \"n[1-%d]\"}",
	         x, y, boards, x * y * boards);
	return parse_network(text);
}

/* Sharunov: 4x4x4 has diameter 4, 128 + 768 links, mean distance 1.7778. */
static void test_box_of_the_source(void **state)
{
	struct cpl_network *net = box(4, 4, 4);
	const struct cpl_routing *routing = flow_routing(net, NULL);
	double far = 0, sum = 0;

	assert_string_equal(routing->name, "haec-box");
	assert_int_equal(net->n_links, 2 * 896);
	assert_int_equal(net->link_class[0].count, 2 * 128);
	assert_int_equal(net->link_class[1].count, 2 * 768);
	for (int a = 0; a < 64; a++)
		for (int b = 0; b < 64; b++) {
			double hops = routing->hops(net, a, b);

			sum += hops;
			far = hops > far ? hops : far;
		}
	assert_number(far, 4, 0);
	assert_number(sum / (64 * 63), 1.7778, 5e-5);
	cpl_network_free(net);
	/* Router (0,0,0) to (2,0,1) of 3x3x3. */
	net = box(3, 3, 3);
	assert_number(flow_routing(net, "HB")->hops(net, 0, 11), 1, 0);
	cpl_network_free(net);
}

/* The first wireless link leads to the destination's place. */
static void test_way_over_boards(void **state)
{
	struct cpl_network *net = box(2, 2, 3);
	double load[256] = {0};
	int used = 0;

	flow_routing(net, NULL)->add(net, 1, 10, 7, load);
	for (int64_t i = 0; i < net->n_links; i++) {
		if (!(load[i] > 0))
			continue;
		assert_number(load[i], 7, 0);
		assert_int_equal(net->link_from[i], used ? 6 : 1);
		assert_int_equal(net->link_to[i], used ? 10 : 6);
		used++;
	}
	assert_int_equal(used, 2);
	cpl_network_free(net);
}

static void test_every_shape_keeps_the_bytes(void **state)
{
	static const int dims[][3] = {{1, 1, 1}, {1, 4, 2}, {3, 1, 3},
	                              {2, 2, 2}, {5, 3, 4}, {4, 4, 1}};

	for (size_t i = 0; i < sizeof(dims) / sizeof(*dims); i++) {
		struct cpl_network *net =
		        box(dims[i][0], dims[i][1], dims[i][2]);

		flow_check(net, flow_routing(net, NULL), 1);
		cpl_network_free(net);
	}
}

/* Sharunov's xyz placement of NPB class C on 64 ranks. */
static void test_hop_bytes_of_the_source(void **state)
{
	static const struct {
		const char *type;
		double hop_bytes;
	} table[] = {{"npb-lu", 30031579584.0}, {"npb-bt", 87395284800.0}};
	struct cpl_network *net = box(4, 4, 4);
	int node[64];

	for (int i = 0; i < 64; i++)
		node[i] = i;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cpl_error err = {""};
		struct cpl_signature *sig;
		struct cpl_load load;
		struct cpl_job_sums sums;
		char text[512];

		snprintf(text, sizeof(text),
		         "{\"format\": \"commplace-signature\", \"version\": "
		         "1, \"name\": \"s\", \"ranks\": 64, \"phases\": "
		         "[{\"name\": \"a\", \"weight\": 1, \"pattern\": "
		         "{\"type\": \"%s\", \"class\": \"C\", \"ranks\": "
		         "64}}]}",
		         table[i].type);
		sig = cpl_signature_parse(text, strlen(text), "s", &err);
		if (!sig)
			fail_msg("%s", err.text);
		assert_int_equal(cpl_load_init(&load, net, &err), 0);
		add_traffic(net, flow_routing(net, NULL),
		                sig->phase[0].comm, node, &load, &sums);
		assert_number(sums.hop_bytes, table[i].hop_bytes, 0);
		cpl_load_free(&load);
		cpl_signature_free(sig);
	}
	cpl_network_free(net);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_box_of_the_source),
	        cmocka_unit_test(test_way_over_boards),
	        cmocka_unit_test(test_every_shape_keeps_the_bytes),
	        cmocka_unit_test(test_hop_bytes_of_the_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
