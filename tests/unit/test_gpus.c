/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is near the GPUs of ranks, on the nodes of tests/nodes. */
#include <unistd.h>

#include "unit.h"

#include "binding/devices.h"
#include "topology_of.h"

#define MOST 16

static hwloc_topology_t node_of(const char *name)
{
	char path[] = "/tmp/test_gpus-XXXXXX.xml", command[1024];
	int file = mkstemps(path, 4);
	hwloc_topology_t topology;

	assert_true(file >= 0);
	close(file);
	snprintf(command, sizeof(command), "awk -f %s %s/%s.txt >%s", NODE_XML,
	         NODES, name, path);
	assert_int_equal(system(command), 0);
	topology = topology_of(path);
	unlink(path);
	return topology;
}

static struct cpl_comm *ring(int ranks)
{
	struct cpl_comm_entry entry[MOST];
	struct cpl_comm *comm;

	for (int r = 0; r < ranks; r++)
		entry[r] = (struct cpl_comm_entry){r, (r + 1) % ranks, 100, 1};
	comm = cpl_comm_build(ranks, entry, ranks > 1 ? ranks : 0, NULL);
	assert_non_null(comm);
	return comm;
}

static void assert_list(const char *node, const char *what, int i,
                        hwloc_const_bitmap_t set, const char *expected)
{
	char *text = NULL;

	if (set)
		hwloc_bitmap_list_asprintf(&text, set);
	if (strcmp(text ? text : "-", expected))
		fail_msg("%s: %s of %d: %s, not %s", node, what, i,
		         text ? text : "-", expected);
	free(text);
}

static void test_devices(void **state)
{
	static const struct {
		const char *node;
		int gpus;
		/* Of all GPUs, in the order of the bus. */
		const char *address[8], *near[8], *nic[8];
	} row[] = {
	        {"dgx-h100",
	         8,
	         {"0000:1b:00.0", "0000:43:00.0", "0000:52:00.0",
	          "0000:61:00.0", "0000:9d:00.0", "0000:c3:00.0",
	          "0000:d1:00.0", "0000:df:00.0"},
	         {"0-55,112-167", "0-55,112-167", "0-55,112-167",
	          "0-55,112-167", "56-111,168-223", "56-111,168-223",
	          "56-111,168-223", "56-111,168-223"},
	         {"mlx5_0", "mlx5_3", "mlx5_4", "mlx5_5", "mlx5_6", "mlx5_9",
	          "mlx5_10", "mlx5_11"}},
	        {"gb200",
	         4,
	         {"0008:01:00.0", "0009:01:00.0", "0018:01:00.0",
	          "0019:01:00.0"},
	         {"0-71", "0-71", "72-143", "72-143"},
	         {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"}},
	        {"gh200",
	         4,
	         {"0009:01:00.0", "0019:01:00.0", "0029:01:00.0",
	          "0039:01:00.0"},
	         {"0-71", "72-143", "144-215", "216-287"},
	         {"hsn0", "hsn1", "hsn2", "hsn3"}},
	        /* The adapter of the sixth is down: the first of its socket. */
	        {"mi300x",
	         8,
	         {"0000:05:00.0", "0000:26:00.0", "0000:46:00.0",
	          "0000:65:00.0", "0000:85:00.0", "0000:a6:00.0",
	          "0000:c6:00.0", "0000:e5:00.0"},
	         {"0-47,96-143", "0-47,96-143", "0-47,96-143", "0-47,96-143",
	          "48-95,144-191", "48-95,144-191", "48-95,144-191",
	          "48-95,144-191"},
	         {"bnxt_re0", "bnxt_re1", "bnxt_re2", "bnxt_re3", "bnxt_re4",
	          "bnxt_re4", "bnxt_re6", "bnxt_re7"}},
	        {"lassen",
	         4,
	         {"0004:04:00.0", "0004:05:00.0", "0035:03:00.0",
	          "0035:04:00.0"},
	         {"0-19,40-59,80-99,120-139", "0-19,40-59,80-99,120-139",
	          "20-39,60-79,100-119,140-159", "20-39,60-79,100-119,140-159"},
	         {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"}},
	        {"eight-domains",
	         8,
	         {"0000:21:00.0", "0000:31:00.0", "0000:41:00.0",
	          "0000:51:00.0", "0000:a1:00.0", "0000:b1:00.0",
	          "0000:c1:00.0", "0000:d1:00.0"},
	         {"24-31,88-95", "16-23,80-87", "8-15,72-79", "0-7,64-71",
	          "56-63,120-127", "48-55,112-119", "40-47,104-111",
	          "32-39,96-103"},
	         {NULL}},
	};

	for (size_t k = 0; k < sizeof(row) / sizeof(*row); k++) {
		hwloc_topology_t topology = node_of(row[k].node);
		struct cpl_devices devices;

		assert_int_equal(cpl_devices_find(topology, &devices, NULL), 0);
		hwloc_topology_destroy(topology);
		if (devices.n_gpus != row[k].gpus)
			fail_msg("%s has %d", row[k].node, devices.n_gpus);
		for (int g = 0; g < devices.n_gpus; g++) {
			int nic = devices.gpu[g].nic;

			assert_string_equal(devices.gpu[g].address,
			                    row[k].address[g]);
			assert_list(row[k].node, "CPUs", g, devices.gpu[g].near,
			            row[k].near[g]);
			if (!row[k].nic[g])
				assert_int_equal(nic, -1);
			else
				assert_string_equal(devices.nic[nic],
				                    row[k].nic[g]);
		}
		cpl_devices_free(&devices);
	}
}

/* In words: "4;5;6,7" the GPUs of each rank; "0-7;-" sets. */
static void read_uses(const char *text, int n, int ranks, bool *uses)
{
	int rank = 0;

	memset(uses, 0, MOST * MOST);
	for (const char *s = text; *s; s++) {
		char *end;

		if (*s == ';') {
			rank++;
			continue;
		}
		if (*s == ',' || *s == '-')
			continue;
		uses[rank * n + strtol(s, &end, 10)] = true;
		s = end - 1;
	}
	assert_int_equal(rank + 1, ranks);
}

static int count_words(const char *text)
{
	int n = 1;

	for (; *text; text++)
		n += *text == ';';
	return n;
}

static const char *word_at(const char *text, int which, char *word)
{
	for (; which && *text; text++)
		which -= *text == ';';
	snprintf(word, 64, "%.*s", (int)strcspn(text, ";"), text);
	return word;
}

static const char *const how[] = {"listed", "tree", "split"};

static void test_near_ranks(void **state)
{
	static const struct {
		const char *node, *allowed; /* NULL: all */
		int cores, n;               /* of each rank; of GPUs */
		const char *uses;
		const char *listed, *physical; /* NULL: nothing is said */
		bool alike;
		const char *from, *near, *nic;
	} row[] = {
	        /* The whole node; a job that has GPUs 4 to 7, in two orders. */
	        {"dgx-h100", NULL, 14, 8, "0;1;2;3;4;5;6;7", NULL, NULL, true,
	         "tree",
	         "0-55,112-167;0-55,112-167;0-55,112-167;0-55,112-167;"
	         "56-111,168-223;56-111,168-223;56-111,168-223;56-111,168-223",
	         "mlx5_0;mlx5_3;mlx5_4;mlx5_5;mlx5_6;mlx5_9;mlx5_10;mlx5_11"},
	        {"dgx-h100", "56-111,168-223", 14, 8, "4;5;6;7", NULL, NULL,
	         true, "tree",
	         "56-111,168-223;56-111,168-223;56-111,168-223;56-111,168-223",
	         "mlx5_6;mlx5_9;mlx5_10;mlx5_11"},
	        {"dgx-h100", NULL, 14, 8, "7;1;6;2", NULL, NULL, true, "tree",
	         "56-111,168-223;0-55,112-167;56-111,168-223;0-55,112-167",
	         "mlx5_11;mlx5_3;mlx5_10;mlx5_4"},
	        /* Two GPUs a rank, and one that has none. */
	        {"dgx-h100", NULL, 1, 8, "0,1;3,4;", NULL, NULL, true, "tree",
	         "0-55,112-167;0-223;-", "mlx5_0,mlx5_3;mlx5_5,mlx5_6;-"},
	        /* gres.conf knows it better than the order of the bus. */
	        {"eight-domains", NULL, 8, 8, "0;1;7",
	         "0-7;8-15;16-23;24-31;32-39;40-47;48-55;56-63", NULL, true,
	         "listed", "0-7;8-15;56-63", "-;-;-"},
	        {"eight-domains", NULL, 8, 8, "0;1;2;3;4;5;6;7", NULL, NULL,
	         true, "tree",
	         "24-31,88-95;16-23,80-87;8-15,72-79;0-7,64-71;56-63,120-127;"
	         "48-55,112-119;40-47,104-111;32-39,96-103",
	         "-;-;-;-;-;-;-;-"},
	        /* It lists one NUMA node for all: the tree knows better. */
	        {"eight-domains", NULL, 8, 8, "6;7",
	         "0-7;0-7;0-7;0-7;0-7;0-7;0-7;0-7", NULL, true, "tree",
	         "40-47,104-111;32-39,96-103", "-;-"},
	        /* So does the tree: all cores if the ranks need them, the NUMA
	         * node's own if they have room there. */
	        {"one-place", NULL, 8, 4, "0;1;2;3", NULL, NULL, true, "split",
	         "0-7,32-39;8-15,40-47;16-23,48-55;24-31,56-63",
	         "mlx5_0;mlx5_1;mlx5_2;mlx5_3"},
	        {"one-place", NULL, 1, 4, "0;1;2;3", NULL, NULL, true, "split",
	         "0-3,32-35;4-7,36-39;8-11,40-43;12-15,44-47",
	         "mlx5_0;mlx5_1;mlx5_2;mlx5_3"},
	        {"one-place", NULL, 4, 4, "3;1;0;2", "0-15;0-15;0-15;0-15",
	         NULL, true, "split",
	         "12-15,44-47;4-7,36-39;0-3,32-35;8-11,40-43",
	         "mlx5_3;mlx5_1;mlx5_0;mlx5_2"},
	        /* The job has two of the four and half of the cores. */
	        {"one-place", "16-31", 8, 4, "2;3", NULL, NULL, true, "split",
	         "16-23,48-55;24-31,56-63", "mlx5_2;mlx5_3"},
	        {"one-place", NULL, 8, 4, "3;3", NULL, NULL, true, "split",
	         "0-15,32-47;0-15,32-47", "mlx5_3;mlx5_3"},
	        /* Slices: seven on each of four devices by their number; by
	         * the links of AutoDetect; of unknown devices. */
	        {"lassen", NULL, 1, 8, "0;1;2;4;7", NULL, NULL, true, "tree",
	         "0-19,40-59,80-99,120-139;0-19,40-59,80-99,120-139;"
	         "0-19,40-59,80-99,120-139;20-39,60-79,100-119,140-159;"
	         "20-39,60-79,100-119,140-159",
	         "mlx5_0;mlx5_0;mlx5_1;mlx5_2;mlx5_3"},
	        {"lassen", NULL, 1, 5, "0;1;2;3;4", NULL, "3;3;3;0;1", false,
	         "tree",
	         "20-39,60-79,100-119,140-159;20-39,60-79,100-119,140-159;"
	         "20-39,60-79,100-119,140-159;0-19,40-59,80-99,120-139;"
	         "0-19,40-59,80-99,120-139",
	         "mlx5_3;mlx5_3;mlx5_3;mlx5_0;mlx5_1"},
	        {"lassen", NULL, 1, 3, "0;1;2", NULL, "2;2;2", true, "tree",
	         "20-39,60-79,100-119,140-159;20-39,60-79,100-119,140-159;"
	         "20-39,60-79,100-119,140-159",
	         "mlx5_2;mlx5_2;mlx5_2"},
	        {"one-place", NULL, 4, 6, "0;1;2;3;4;5", NULL, "0;0;0;1;1;1",
	         true, "split",
	         "0-15,32-47;0-15,32-47;0-15,32-47;16-31,48-63;16-31,48-63;"
	         "16-31,48-63",
	         "mlx5_0;mlx5_0;mlx5_0;mlx5_1;mlx5_1;mlx5_1"},
	        {"lassen", NULL, 1, 5, "0;4", NULL, NULL, false, "split",
	         "0-19,40-59,80-99,120-139;20-39,60-79,100-119,140-159", "-;-"},
	        {"lassen", NULL, 1, 5, "0;4", "0-19;0-19;0-19;20-39;20-39",
	         NULL, false, "listed", "0-19;20-39", "-;-"},
	        /* One GPU, of which nothing is known. */
	        {"gb200", NULL, 1, 1, "0", NULL, NULL, true, "tree", "-", "-"},
	        /* Some are listed, others not. */
	        {"gb200", NULL, 1, 4, "0;1;2;3", "-;0-7;-;-", NULL, true,
	         "listed", "0-71;0-7;72-143;72-143",
	         "mlx5_0;mlx5_1;mlx5_2;mlx5_3"},
	        /* A number that no device has. */
	        {"gb200", NULL, 1, 2, "0;1", NULL, "2;2147483647", true, "tree",
	         "72-143;-", "mlx5_2;-"},
	};

	for (size_t k = 0; k < sizeof(row) / sizeof(*row); k++) {
		hwloc_topology_t topology = node_of(row[k].node);
		int ranks = count_words(row[k].uses), physical[MOST];
		hwloc_bitmap_t listed[MOST] = {NULL}, allowed = NULL;
		bool uses[MOST * MOST];
		struct cpl_devices devices;
		struct cpl_gpu_use use = {.devices = &devices,
		                          .n = row[k].n,
		                          .alike = row[k].alike,
		                          .uses = uses};
		struct cpl_comm *comm = ring(ranks);
		struct cpl_bind_request req = {.topology = topology,
		                               .comm = comm,
		                               .cores_per_rank = row[k].cores};
		struct cpl_gpu_near near;
		char word[64];

		if (row[k].allowed) {
			allowed = hwloc_bitmap_alloc();
			hwloc_bitmap_list_sscanf(allowed, row[k].allowed);
			req.allowed = allowed;
		}
		for (int i = 0; i < use.n && row[k].listed; i++) {
			word_at(row[k].listed, i, word);
			if (word[0] == '-')
				continue;
			listed[i] = hwloc_bitmap_alloc();
			hwloc_bitmap_list_sscanf(listed[i], word);
			use.listed = (const hwloc_const_bitmap_t *)listed;
		}
		for (int i = 0; i < use.n && row[k].physical; i++) {
			physical[i] = atoi(word_at(row[k].physical, i, word));
			use.physical = physical;
		}
		read_uses(row[k].uses, use.n, ranks, uses);
		assert_int_equal(cpl_devices_find(topology, &devices, NULL), 0);
		assert_int_equal(cpl_gpus_near(&req, &use, &near, NULL), 0);
		snprintf(word, sizeof(word), "row %zu, %s", k, row[k].node);
		if (strcmp(how[near.from], row[k].from))
			fail_msg("%s: by %s", word, how[near.from]);
		for (int r = 0; r < ranks; r++) {
			const char *nic = near.nic[r] ? near.nic[r] : "-";
			char expected[64];

			assert_list(word, "CPUs", r, near.near[r],
			            word_at(row[k].near, r, expected));
			if (strcmp(nic, word_at(row[k].nic, r, expected)))
				fail_msg("%s: rank %d has %s", word, r, nic);
		}
		cpl_gpu_near_free(&near);
		cpl_devices_free(&devices);
		cpl_comm_free(comm);
		hwloc_bitmap_free(allowed);
		for (int i = 0; i < MOST; i++)
			hwloc_bitmap_free(listed[i]);
		hwloc_topology_destroy(topology);
	}
}

/* GPUs come first: each rank gets cores, and the memory, near its own, whatever
 * the order of NUMA nodes. As mpibind maps tasks to GPUs on the machines of its
 * tests: one task a GPU on Lassen, and two on Corona. */
static void test_bound(void **state)
{
	static const struct {
		const char *node;
		int cores, ranks_per_gpu;
		const char *nodes; /* NUMA node of each rank */
	} row[] = {
	        {"lassen", 10, 1, "0;0;1;1"},
	        {"corona", 3, 2, "1;1;2;2;5;5;7;7"},
	        {"eight-domains", 8, 1, "3;2;1;0;7;6;5;4"},
	        {"dgx-h100", 14, 1, "0;0;0;0;1;1;1;1"},
	        /* Without the memory of GPUs. */
	        {"gb200", 36, 1, "0;0;1;1"},
	        {"gh200", 72, 1, "0;1;2;3"},
	};

	for (size_t k = 0; k < sizeof(row) / sizeof(*row); k++) {
		hwloc_topology_t topology = node_of(row[k].node);
		struct cpl_devices devices;
		struct cpl_gpu_use use = {.devices = &devices};
		bool uses[MOST * MOST] = {false};
		int ranks = count_words(row[k].nodes);
		struct cpl_comm *comm = ring(ranks);
		struct cpl_bind_request req = {.topology = topology,
		                               .comm = comm,
		                               .cores_per_rank = row[k].cores};
		hwloc_bitmap_t taken = hwloc_bitmap_alloc();
		struct cpl_bind_result result;
		struct cpl_gpu_near near;

		assert_int_equal(cpl_devices_find(topology, &devices, NULL), 0);
		use.n = devices.n_gpus;
		use.uses = uses;
		for (int r = 0; r < ranks; r++)
			uses[r * use.n + r / row[k].ranks_per_gpu] = true;
		assert_int_equal(cpl_gpus_near(&req, &use, &near, NULL), 0);
		req.near = (const hwloc_const_cpuset_t *)near.near;
		assert_int_equal(
		        cpl_bind(&cpl_binder_treematch, &req, &result, NULL),
		        0);
		assert_int_equal(result.n_far, 0);
		for (int r = 0; r < ranks; r++) {
			char expected[64];

			assert_list(row[k].node, "NUMA nodes", r,
			            result.nodeset[r],
			            word_at(row[k].nodes, r, expected));
			assert_true(hwloc_bitmap_isincluded(result.cpuset[r],
			                                    near.near[r]));
			assert_false(hwloc_bitmap_intersects(result.cpuset[r],
			                                     taken));
			hwloc_bitmap_or(taken, taken, result.cpuset[r]);
		}
		cpl_bind_result_free(&result);
		cpl_gpu_near_free(&near);
		cpl_devices_free(&devices);
		cpl_comm_free(comm);
		hwloc_bitmap_free(taken);
		hwloc_topology_destroy(topology);
	}
}

static void test_nic_variables(void **state)
{
	static const struct {
		const char *name, *nics;
		bool verbs;
		const char *value;
	} row[] = {
	        {"COMMPLACE_NIC", "mlx5_0", true, "mlx5_0"},
	        {"UCX_NET_DEVICES", "mlx5_0", true, "mlx5_0:1"},
	        {"UCX_NET_DEVICES", "mlx5_0,mlx5_10", true,
	         "mlx5_0:1,mlx5_10:1"},
	        {"UCX_NET_DEVICES", "hsn0,hsn1", false, "hsn0,hsn1"},
	        {"NCCL_IB_HCA", "mlx5_1,mlx5_2", true, "=mlx5_1,mlx5_2"},
	        {"PSM3_NIC", "mlx5_1", true, "mlx5_1"},
	};
	static const char *const bad[] = {"", "1A", "A=B", "A B", "A-B", "a,b"};

	for (size_t k = 0; k < sizeof(row) / sizeof(*row); k++) {
		char *value =
		        cpl_nic_value(row[k].name, row[k].nics, row[k].verbs);

		assert_true(cpl_nic_variable_check(row[k].name));
		assert_string_equal(value, row[k].value);
		free(value);
	}
	for (size_t k = 0; k < sizeof(bad) / sizeof(*bad); k++)
		assert_false(cpl_nic_variable_check(bad[k]));
}

static void test_by_rank(void **state)
{
	static const struct {
		int gpus, ranks, rank, first, count; /* count 0: nothing */
	} row[] = {
	        {8, 8, 5, 5, 1}, {1, 4, 3, 0, 1}, {4, 1, 0, 0, 4},
	        {4, 8, 0, 0, 0}, {8, 4, 0, 0, 0}, {0, 4, 0, 0, 0},
	        {1, 1, 0, 0, 1},
	};

	for (size_t k = 0; k < sizeof(row) / sizeof(*row); k++) {
		int first, count;
		bool known = cpl_gpus_by_rank(row[k].gpus, row[k].ranks,
		                              row[k].rank, &first, &count);

		assert_int_equal(known, row[k].count > 0);
		if (known) {
			assert_int_equal(first, row[k].first);
			assert_int_equal(count, row[k].count);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_devices),
	        cmocka_unit_test(test_near_ranks),
	        cmocka_unit_test(test_bound),
	        cmocka_unit_test(test_nic_variables),
	        cmocka_unit_test(test_by_rank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
