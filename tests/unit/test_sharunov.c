/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sharunov 2017 (task mapping on mesh, torus and HAEC Box): what its appendix B
 * has by message size, LU.C.64 and BT.C.64. Message sizes as in NPB 3.3:
 * exchange_1.f to exchange_6.f, copy_faces.f, x_solve.f.
 */
#include "unit.h"

#include "mapping_jobs.h"
#include "signature/signature.h"

#define SIDE 8
#define RANKS (SIDE * SIDE)
/* Node (1,1,1), where the thesis starts. */
#define START 21

enum place { MESH, TORUS, HAEC, PLACES };

/* Messages of one size between two ranks, both ways. */
struct group {
	int a, b;
	int size;
	double count;
};

static struct group group[4096];
static int n_groups;

static void add(int a, int b, int size, double count)
{
	assert_true(n_groups < (int)(sizeof(group) / sizeof(*group)));
	group[n_groups++] = (struct group){a, b, size, count};
}

/* `line`: where the pair lies along the side that it shares. */
static void add_lu_pair(int a, int b, int line, int halo)
{
	int extent = line < 2 ? 21 : 20;
	int inner = extent - (line == 0) - (line == SIDE - 1);

	add(a, b, 40 * inner, 2 * 160 * 251);
	add(a, b, 80 * extent * 162, 2 * 254);
	add(a, b, 16 * (extent + halo), 1);
	if (line == 0 || line == SIDE - 1)
		add(a, b, 1296, 1);
}

static void lu(void)
{
	n_groups = 0;
	for (int c = 0; c < SIDE; c++)
		for (int r = 0; r < SIDE; r++) {
			int i = r + SIDE * c;

			if (r + 1 < SIDE)
				add_lu_pair(i, i + 1, c, 2);
			if (c + 1 < SIDE)
				add_lu_pair(i, i + SIDE, r, 0);
		}
}

static struct cpl_signature *pattern(const char *type)
{
	struct cpl_error err = {""};
	struct cpl_signature *sig;
	char text[400];

	snprintf(text, sizeof(text),
	         "{\"format\":\"commplace-signature\",\"version\":1,"
	         "\"name\":\"x\",\"ranks\":%d,\"phases\":[{\"name\":\"p\","
	         "\"weight\":1,\"pattern\":{\"type\":\"%s\",\"class\":\"C\","
	         "\"ranks\":%d}}]}",
	         RANKS, type, RANKS);
	sig = cpl_signature_parse(text, strlen(text), "test", &err);
	if (!sig)
		fail_msg("%s", err.text);
	return sig;
}

/* 7 * 201 messages of the solves each way, longer ones forward; the rest of the
 * bytes is 202 faces. */
static void bt(void)
{
	struct cpl_signature *sig = pattern("npb-bt");
	const struct cpl_comm *comm = sig->phase[0].comm;

	n_groups = 0;
	for (int r = 0; r < RANKS; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			int solve = comm->bytes[e] > 1407.0 * 105840 ? 105840
			                                             : 17640;
			double face = (comm->bytes[e] - 1407.0 * solve) / 202;

			add(r, comm->to[e], solve, 1407);
			add(r, comm->to[e], (int)face, 202);
		}
	cpl_signature_free(sig);
}

static double count_of(int size)
{
	double sum = 0;

	for (int i = 0; i < n_groups; i++)
		if (group[i].size == size)
			sum += group[i].count;
	return sum;
}

/* Table 5.1, and the same of BT. */
static void test_histograms(void **state)
{
	static const struct {
		int size;
		double count;
	} of_lu[] =
	        {
	                {320, 42},       {336, 14},      {352, 42},
	                {368, 14},       {760, 1124480}, {800, 6746880},
	                {840, 1124480},  {1296, 28},     {259200, 42672},
	                {272160, 14224},
	        },
	  of_bt[] = {
	          {17640, 270144}, {105840, 270144}, {227200, 2424},
	          {227280, 2424},  {228800, 24240},  {228880, 4848},
	          {230400, 24240}, {230480, 12120},  {230560, 7272},
	  };
	double sum = 0;

	lu();
	for (size_t i = 0; i < sizeof(of_lu) / sizeof(*of_lu); i++) {
		assert_true(count_of(of_lu[i].size) == of_lu[i].count);
		sum += of_lu[i].count;
	}
	assert_true(sum == 9052876);
	bt();
	for (size_t i = 0; i < sizeof(of_bt) / sizeof(*of_bt); i++)
		assert_true(count_of(of_bt[i].size) == of_bt[i].count);
}

/* The sizes are those of the built-in pattern. */
static void test_sizes_are_the_pattern(void **state)
{
	struct cpl_signature *sig = pattern("npb-lu");
	const struct cpl_comm *comm = sig->phase[0].comm;

	lu();
	for (int r = 0; r < RANKS; r++)
		for (int64_t e = comm->row[r]; e < comm->row[r + 1]; e++) {
			int to = comm->to[e];
			int64_t back = comm->row[to];
			double bytes, messages;

			if (to < r)
				continue;
			while (comm->to[back] != r)
				back++;
			bytes = comm->bytes[e] + comm->bytes[back];
			messages = comm->messages[e] + comm->messages[back];
			for (int i = 0; i < n_groups; i++)
				if (group[i].a == r && group[i].b == to) {
					bytes -= group[i].size * group[i].count;
					messages -= group[i].count;
				}
			assert_true(bytes == 0);
			assert_true(messages == 0);
		}
	cpl_signature_free(sig);
}

static struct cpl_network *box(enum place place, const int *dim)
{
	char text[300];

	if (place != HAEC)
		return torus(dim[0], dim[1], dim[2], place == TORUS);
	snprintf(text, sizeof(text),
	         "{\"format\":\"commplace-network\",\"version\":1,"
	         "\"name\":\"haec\",\"type\":\"haec\",\"dims\":[%d,%d,%d],"
	         "\"nodes_per_router\":1,\"nodes\":\"n[0-%d]\"}",
	         dim[0], dim[1], dim[2], dim[0] * dim[1] * dim[2] - 1);
	return parse_network(text);
}

static struct cpl_network *machine(enum place place)
{
	return box(place, (int[]){4, 4, 4});
}

/* node[] of each task. Machines whose nodes are all alike have the first of
 * the list as the first: the thesis's start. */
static void lay_out(const struct cpl_mapper *mapper, enum place place,
                    bool of_bt, int *node)
{
	struct cpl_error err = {""};
	struct job job;

	set_up(&job, machine(place), of_bt ? npb_bt(SIDE) : npb_lu(SIDE),
	       RANKS);
	if (mapper == &cpl_mapper_greedyallc && place != MESH)
		for (int h = 0; h <= START; h++)
			job.host[h] = h ? h - 1 : START;
	assert_int_equal(cpl_mapper_map(mapper, &job.req, job.rank_host, &err),
	                 0);
	for (int r = 0; r < RANKS; r++)
		node[r] = job.host[job.rank_host[r]];
	tear_down(&job);
}

/* Mean hops of messages of a size, of all with size 0. */
static double mean_hops(enum place place, const int *node, int size)
{
	struct cpl_network *net = machine(place);
	struct cpl_error err = {""};
	const struct cpl_routing *routing = cpl_routing_find(net, NULL, &err);
	double hops = 0, count = 0;

	for (int i = 0; i < n_groups; i++)
		if (!size || group[i].size == size) {
			hops += group[i].count *
			        routing->hops(net, node[group[i].a],
			                      node[group[i].b]);
			count += group[i].count;
		}
	cpl_network_free(net);
	return hops / count;
}

/* The default order: hops of all messages, and WTAD, which is that of the mesh
 * on every machine of the thesis. */
static void test_default_order(void **state)
{
	static const struct {
		bool bt;
		int side, dim[3];
		double total[PLACES];
		long wtad;
	} table[] = {
	        {false, 8, {4, 4, 4}, {17459118, 16165850, 12286046}, 8527},
	        {false, 16, {8, 8, 4}, {86648822, 63370034, 55610438}, 2644},
	        {false, 32, {16, 8, 8}, {369873790, 261239530, 225028110}, 705},
	        {false,
	         64,
	         {16, 16, 16},
	         {7762266270, 5221888218, 4281007458},
	         925},
	        {true, 8, {4, 4, 4}, {1802080, 1441664, 1055504}, 880},
	        {true, 16, {8, 8, 4}, {17088704, 10912064, 9264960}, 521},
	        {true, 32, {16, 8, 8}, {140805504, 86459520, 74931584}, 268},
	        {true,
	         64,
	         {16, 16, 16},
	         {2208487680, 1394184960, 1155651840},
	         263},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		int side = table[i].side;
		double n = side * side;
		struct cpl_comm *comm =
		        table[i].bt ? npb_bt(side) : npb_lu(side);

		for (enum place place = MESH; place < PLACES; place++) {
			struct cpl_network *net = box(place, table[i].dim);
			struct cpl_error err = {""};
			const struct cpl_routing *routing =
			        cpl_routing_find(net, NULL, &err);
			double hops = 0;

			for (int r = 0; r < comm->ranks; r++)
				for (int64_t e = comm->row[r];
				     e < comm->row[r + 1]; e++)
					hops += comm->bytes[e] *
					        routing->hops(net, r,
					                      comm->to[e]);
			assert_true(hops == table[i].total[place]);
			if (place == MESH)
				assert_int_equal((long)(2 * hops / (n * n - 1)),
				                 table[i].wtad);
			cpl_network_free(net);
		}
		cpl_comm_free(comm);
	}
}

/* Diameters of 4 x 4 x 4; from (0,0,0) to (2,0,1) of 3 x 3 x 3. */
static void test_distances(void **state)
{
	static const int diameter[] = {9, 6, 4}, hops[] = {3, 2, 1};

	for (enum place place = MESH; place < PLACES; place++) {
		struct cpl_network *net = machine(place);
		struct cpl_error err = {""};
		const struct cpl_routing *routing =
		        cpl_routing_find(net, NULL, &err);
		double most = 0;

		for (int a = 0; a < RANKS; a++)
			for (int b = 0; b < RANKS; b++)
				if (routing->hops(net, a, b) > most)
					most = routing->hops(net, a, b);
		assert_true(most == diameter[place]);
		cpl_network_free(net);
		net = box(place, (int[]){3, 3, 3});
		routing = cpl_routing_find(net, NULL, &err);
		assert_true(routing->hops(net, 0, 2 + 9) == hops[place]);
		cpl_network_free(net);
	}
}

/* Tables B.9 and B.11: the columns that follow from the text. */
static void test_hops_by_size(void **state)
{
	static const struct mapped {
		const struct cpl_mapper *mapper;
		enum place place;
	} column[] = {
	        {&cpl_mapper_linear, MESH},
	        {&cpl_mapper_topoaware_1, MESH},
	        {&cpl_mapper_greedyallc, MESH},
	        {&cpl_mapper_linear, TORUS},
	        {&cpl_mapper_greedyallc, TORUS},
	        {&cpl_mapper_linear, HAEC},
	        {&cpl_mapper_greedyallc, HAEC},
	};
	static const struct {
		bool bt;
		int size;
		double hops[7]; /* -1: depends on ties unknown */
	} table[] = {
	        {0,
	         320,
	         {2.42857, 1.78571, 1.28571, 2.42857, 1, 1.57143, 1.04762}},
	        {0, 336, {2.42857, 1.14286, 1.28571, 2.42857, 1, 1.57143, 1}},
	        {0,
	         352,
	         {1.42857, 1.21429, 1.14286, 1.14286, 1, 1.14286, 1.02381}},
	        {0, 368, {1.42857, 1, 1.14286, 1.14286, 1, 1.14286, 1}},
	        {0,
	         760,
	         {1.92857, 1.64286, 1.21429, 1.78571, 1, 1.35714, 1.07143}},
	        {0,
	         800,
	         {1.92857, 1.40476, 1.21429, 1.78571, 1, 1.35714, 1.02381}},
	        {0, 840, {1.92857, 1.07143, 1.21429, 1.78571, 1, 1.35714, 1}},
	        {0,
	         1296,
	         {1.92857, 1.35714, 1.21429, 1.78571, 1, 1.35714, 1.03571}},
	        {0,
	         259200,
	         {1.92857, 1.5, 1.21429, 1.78571, 1, 1.35714, 1.03571}},
	        {0,
	         272160,
	         {1.92857, 1.07143, 1.21429, 1.78571, 1, 1.35714, 1}},
	        {0,
	         0,
	         {1.92857, 1.39286, 1.21429, 1.78571, 1, 1.35714, 1.02679}},
	        {1, 227200, {3.5, 1.66667, 1.83333, 2.5, -1, 2.33333, -1}},
	        {1, 227280, {3.5, 1.83333, 2.16667, 2.5, -1, 2.33333, -1}},
	        {1, 228800, {3.1, 1.61667, 2.15, 2.4, -1, 1.93333, -1}},
	        {1, 228880, {3.16667, 1.5, 2.08333, 2.33333, -1, 1.83333, -1}},
	        {1, 230400, {2.73333, 2.05, 1.88333, 2.26667, -1, 1.5, -1}},
	        {1, 230480, {2.7, 2.33333, 1.73333, 2.3, -1, 1.46667, -1}},
	        {1,
	         230560,
	         {2.72222, 1.94444, 1.83333, 2.27778, -1, 1.55556, -1}},
	        {1,
	         17640,
	         {2.91667, 1.89583, 1.95833, 2.33333, -1, 1.70833, -1}},
	        {1,
	         105840,
	         {2.91667, 1.89583, 1.95833, 2.33333, -1, 1.70833, -1}},
	        {1, 0, {2.91667, 1.89583, 1.95833, 2.33333, -1, 1.70833, -1}},
	};

	for (size_t k = 0; k < sizeof(column) / sizeof(*column); k++) {
		int node[2][RANKS];

		for (int b = 0; b < 2; b++)
			lay_out(column[k].mapper, column[k].place, b, node[b]);
		for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
			double hops;

			if (table[i].hops[k] < 0)
				continue;
			if (table[i].bt)
				bt();
			else
				lu();
			hops = mean_hops(column[k].place, node[table[i].bt],
			                 table[i].size);
			if (hops < table[i].hops[k] - 6e-6 ||
			    hops > table[i].hops[k] + 6e-6)
				fail_msg("%s, size %d, column %zu: %f",
				         table[i].bt ? "BT" : "LU",
				         table[i].size, k, hops);
		}
	}
}

/* LU.C.64 on torus and HAEC from node (1,1,1): nodes of task 0 .. 63, totals,
 * and WTAD, which the thesis takes from distances on the mesh. */
static void test_greedyallc_from_the_centre(void **state)
{
	static const int expect[PLACES][RANKS] = {
	        [TORUS] = {1,  5,  4,  0,  3,  2,  6,  7,  17, 21, 20, 16, 19,
	                   18, 22, 23, 29, 25, 24, 28, 31, 30, 26, 27, 13, 9,
	                   8,  12, 15, 14, 10, 11, 61, 57, 56, 60, 63, 62, 58,
	                   59, 45, 41, 40, 44, 47, 46, 42, 43, 33, 37, 36, 32,
	                   35, 34, 38, 39, 49, 53, 52, 48, 51, 50, 54, 55},
	        [HAEC] = {1,  0,  3,  15, 12, 13, 14, 16, 2,  21, 7,  11, 8,
	                  9,  10, 6,  17, 4,  18, 19, 23, 5,  20, 24, 29, 25,
	                  32, 31, 27, 26, 33, 28, 30, 34, 22, 35, 39, 36, 37,
	                  38, 40, 48, 41, 49, 43, 50, 51, 42, 44, 45, 52, 46,
	                  47, 54, 55, 59, 53, 57, 56, 60, 61, 62, 58, 63},
	};
	static const double total[PLACES] = {
	        [TORUS] = 9052876, [HAEC] = 9295364};
	static const long wtad[PLACES] = {[TORUS] = 6316, [HAEC] = 10856};

	lu();
	for (enum place place = TORUS; place < PLACES; place++) {
		int node[RANKS];

		lay_out(&cpl_mapper_greedyallc, place, false, node);
		assert_memory_equal(node, expect[place], sizeof(node));
		assert_float_equal(mean_hops(place, node, 0) * 9052876,
		                   total[place], 1e-3);
		assert_int_equal(
		        (long)(2 * mean_hops(MESH, node, 0) * 9052876 / 4095),
		        wtad[place]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_histograms),
	        cmocka_unit_test(test_sizes_are_the_pattern),
	        cmocka_unit_test(test_default_order),
	        cmocka_unit_test(test_distances),
	        cmocka_unit_test(test_hops_by_size),
	        cmocka_unit_test(test_greedyallc_from_the_centre),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
