/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#include "base/file.h"
#include "base/json.h"
#include "site/record.h"
#include "site/state.h"

static char dir[] = "/tmp/commplace-state-XXXXXX";
static const char *const folders[] = {"running", "ended"};

static char *in_dir(const char *name)
{
	char *path = cpl_path_join(dir, name, NULL);

	assert_non_null(path);
	return path;
}

static void put(const char *name, const char *text)
{
	char *path = in_dir(name);

	assert_int_equal(
	        cpl_file_write_atomic(path, text, strlen(text), 0644, NULL), 0);
	free(path);
}

static void drop(const char *name)
{
	char *path = in_dir(name);

	unlink(path);
	free(path);
}

static int make_dirs(void **state)
{
	int rc = mkdtemp(dir) ? 0 : -1;

	for (int i = 0; i < 2; i++) {
		char *path = in_dir(folders[i]);

		rc |= mkdir(path, 0755);
		free(path);
	}
	return rc;
}

static int remove_dirs(void **state)
{
	int rc = 0;

	for (int i = 0; i < 2; i++) {
		char *path = in_dir(folders[i]);

		rc |= rmdir(path);
		free(path);
	}
	return rc | rmdir(dir);
}

static int load_text(const char *text, struct cpl_state *out,
                     struct cpl_error *err)
{
	char *path = in_dir("s.json");
	int rc;

	put("s.json", text);
	rc = cpl_state_load(path, out, err);
	drop("s.json");
	free(path);
	return rc;
}

static const char two_jobs[] =
        "{\"jobs\":[{\"id\":9,\"hosts\":[\"n4\",\"n1\"],\"ranks_per_node\":2,"
        "\"signature\":\"/x/y.json\",\"rank_to_host\":[\"n1\",\"n4\",\"n1\"]},"
        "{\"id\":0,\"hosts\":[\"n2\"]}]}";

static void check_two_jobs(const struct cpl_state *s)
{
	static const int rank_host[] = {1, 0, 1};

	assert_int_equal(s->n_jobs, 2);
	assert_int_equal(s->job[0].id, 0);
	assert_null(s->job[0].signature);
	assert_int_equal(s->job[0].n_hosts, 1);
	assert_string_equal(s->job[0].host[0], "n2");
	assert_int_equal(s->job[0].ranks_per_node, 1);
	assert_int_equal(s->job[0].ranks, 0);
	assert_int_equal(s->job[1].id, 9);
	assert_string_equal(s->job[1].signature, "/x/y.json");
	assert_int_equal(s->job[1].n_hosts, 2);
	assert_string_equal(s->job[1].host[0], "n4");
	assert_string_equal(s->job[1].host[1], "n1");
	assert_int_equal(s->job[1].ranks_per_node, 2);
	assert_int_equal(s->job[1].ranks, 3);
	assert_memory_equal(s->job[1].rank_host, rank_host, sizeof(rank_host));
}

static void test_state_round_trip(void **state)
{
	struct cpl_error err = {""};
	struct cpl_state s, back;
	char *path = in_dir("t.json");

	assert_int_equal(load_text(two_jobs, &s, &err), 0);
	check_two_jobs(&s);
	assert_int_equal(cpl_state_write(&s, path, 0600, &err), 0);
	assert_int_equal(cpl_state_load(path, &back, &err), 0);
	check_two_jobs(&back);
	cpl_state_free(&s);
	cpl_state_free(&back);
	drop("t.json");
	free(path);
}

static void test_state_messages(void **state)
{
	static const struct {
		const char *text, *message;
	} row[] = {
	        {"[]", "is not an object; {\"jobs\": [...]} is needed"},
	        {"{}", "\"jobs\" is missing; give an array, empty when "
	               "nothing runs"},
	        {"{\"jobs\":{}}", "\"jobs\" is not an array"},
	        {"{\"jobs\":[],\"x\":1}", "unknown key \"x\"; the keys are "
	                                  "jobs"},
	        {"{\"jobs\":[1]}", "job 1 of the list: is not an object"},
	        {"{\"jobs\":[{}]}", "job 1 of the list: \"id\" is missing; "
	                            "give the job's number"},
	        {"{\"jobs\":[{\"id\":-1}]}",
	         "job 1 of the list: \"id\" is -1; it must lie in 0 to "
	         "9223372036854775807"},
	        {"{\"jobs\":[{\"id\":1}]}",
	         "job 1 of the list: \"hosts\" is missing; give an array of "
	         "host names"},
	        {"{\"jobs\":[{\"id\":1,\"hosts\":\"n[1-2]\"}]}",
	         "job 1 of the list: \"hosts\" is not an array of host "
	         "names"},
	        {"{\"jobs\":[{\"id\":1,\"hosts\":[]}]}",
	         "job 1 of the list: \"hosts\" is empty"},
	        {"{\"jobs\":[{\"id\":1,\"hosts\":[\"a\",5]}]}",
	         "job 1 of the list: \"hosts\": entry 2 is not a name"},
	        {"{\"jobs\":[{\"id\":1,\"hosts\":[\"a\",\"b\",\"a\"]}]}",
	         "job 1 of the list: \"hosts\" names a twice"},
	        {"{\"jobs\":[{\"id\":1,\"hosts\":[\"a\"],"
	         "\"ranks_per_node\":0}]}",
	         "job 1 of the list: \"ranks_per_node\" is 0; it must lie in "
	         "1 to 16777216"},
	        {"{\"jobs\":[{\"id\":1,\"hosts\":[\"a\"],\"signature\":\"\"}]}",
	         "job 1 of the list: \"signature\" is empty; leave it out or "
	         "give a profile's name or a path"},
	        {"{\"jobs\":[{\"id\":1,\"hosts\":[\"a\"],"
	         "\"rank_to_host\":[\"a\",\"b\"]}]}",
	         "job 1 of the list: \"rank_to_host\": b of rank 1 is not one "
	         "of \"hosts\""},
	        {"{\"jobs\":[{\"id\":1,\"hosts\":[\"a\"],"
	         "\"rank_to_host\":[]}]}",
	         "job 1 of the list: \"rank_to_host\" must be an array of 1 "
	         "to 16777216 host names"},
	        {"{\"jobs\":[{\"id\":1,\"hosts\":[\"a\"],\"x\":1}]}",
	         "job 1 of the list: unknown key \"x\"; the keys are id, "
	         "signature, hosts, ranks_per_node, rank_to_host, volume"},
	        {"{\"jobs\":[{\"id\":1,\"signature\":5}]}",
	         "job 1 of the list: \"signature\" is an integer; a string is "
	         "needed"},
	        {"{\"jobs\":[{\"id\":1,\"hosts\":[\"a\"]},{\"id\":1,"
	         "\"hosts\":[\"b\"]}]}",
	         "two jobs have the id 1"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct cpl_error err = {""};
		char text[CPL_ERROR_MAX];
		struct cpl_state s;

		assert_int_equal(load_text(row[i].text, &s, &err), -1);
		snprintf(text, sizeof(text), "%s/s.json: %s", dir,
		         row[i].message);
		assert_string_equal(err.text, text);
		assert_int_equal(s.n_jobs, 0);
	}
}

static const char network[] =
        "{\"format\":\"commplace-network\",\"version\":1,\"type\":\"torus\","
        "\"dims\":[4],\"wrap\":[false],\"nodes\":\"n[0-3]\"}";
static const char ring[] =
        "{\"format\":\"commplace-signature\",\"version\":1,\"ranks\":2,"
        "\"phases\":[{\"weight\":2,\"traffic\":[[0,1,50,1]]}]}";

static struct cpl_network *line_of_four(void)
{
	struct cpl_error err = {""};
	struct cpl_network *net =
	        cpl_network_parse(network, strlen(network), "net", &err);

	assert_string_equal(err.text, "");
	return net;
}

/* Bytes on the link from router a to router b. */
static double bytes(const struct cpl_network *net, const struct cpl_load *load,
                    int a, int b)
{
	for (int64_t i = 0; i < net->n_links; i++)
		if (net->link_from[i] == a && net->link_to[i] == b)
			return load->link[i];
	fail();
	return 0.0;
}

/* With the profiles that the jobs name. */
static int apply(struct cpl_state *s, const struct cpl_network *net,
                 const struct cpl_routing *routing, unsigned char *free_nodes,
                 struct cpl_load *load, struct cpl_error *err)
{
	const struct cpl_profile_dirs dirs = {.dir = dir,
	                                      .max_bytes = UINT64_MAX};
	struct cpl_profiles *profiles = cpl_profiles_open(&dirs, err);
	int rc;

	assert_non_null(profiles);
	rc = cpl_state_profiles(s, profiles, NULL, err);
	cpl_profiles_close(profiles);
	return rc ? -1 : cpl_state_apply(s, net, routing, free_nodes, load, err);
}

static void test_apply(void **state)
{
	static const char text[] =
	        "{\"jobs\":[{\"id\":2,\"signature\":\"ring\",\"hosts\":[\"n0\","
	        "\"n1\"]},{\"id\":1,\"signature\":\"ring\",\"hosts\":[\"n0\","
	        "\"n2\"],\"rank_to_host\":[\"n2\",\"n0\"]}]}";
	struct cpl_network *net = line_of_four();
	const struct cpl_routing *routing = cpl_routing_find(net, NULL, NULL);
	unsigned char free_nodes[4] = {1, 1, 1, 1};
	struct cpl_error err = {""};
	struct cpl_load load;
	struct cpl_state s;

	put("ring.json", ring);
	assert_int_equal(load_text(text, &s, &err), 0);
	assert_int_equal(cpl_load_init(&load, net, &err), 0);
	assert_int_equal(
	        apply(&s, net, routing, free_nodes, &load, &err),
	        0);
	assert_memory_equal(free_nodes, "\0\0\0\1", 4);
	assert_true(bytes(net, &load, 0, 1) == 100.0);
	assert_true(bytes(net, &load, 2, 1) == 100.0);
	assert_true(bytes(net, &load, 1, 0) == 100.0);
	assert_true(bytes(net, &load, 1, 2) == 0.0);
	assert_true(load.injection[0] == 100.0);
	assert_true(load.ejection[0] == 100.0);
	cpl_load_free(&load);
	/* Occupying needs no signatures. */
	drop("ring.json");
	memset(free_nodes, 1, sizeof(free_nodes));
	assert_int_equal(
	        cpl_state_apply(&s, net, routing, free_nodes, NULL, &err),
	        0);
	assert_memory_equal(free_nodes, "\0\0\0\1", 4);
	cpl_state_free(&s);
	cpl_network_free(net);
}

static void test_apply_refuses(void **state)
{
	static const struct {
		const char *text, *message;
	} row[] = {
	        {"{\"jobs\":[{\"id\":3,\"hosts\":[\"m1\"]}]}",
	         "running job 3: host m1 is not in the network line"},
	        {"{\"jobs\":[{\"id\":3,\"signature\":\"ring\","
	         "\"hosts\":[\"n1\"]}]}",
	         "running job 3: its signature has 2 ranks, its hosts hold "
	         "1"},
	        {"{\"jobs\":[{\"id\":3,\"signature\":\"ring\","
	         "\"hosts\":[\"n1\",\"n2\"],\"rank_to_host\":[\"n1\"]}]}",
	         "running job 3: profile 'ring' was recorded at 2 ranks, the "
	         "job has 1"},
	        {"{\"jobs\":[{\"id\":3,\"signature\":\"a b\","
	         "\"hosts\":[\"n1\"]}]}",
	         "running job 3: \"a b\" is not a profile name; use letters, "
	         "digits, \"_\" and (not first) \"-\" and \".\""},
	        {"{\"jobs\":[{\"id\":3,\"signature\":\"/none/x.json\","
	         "\"hosts\":[\"n1\"]}]}",
	         "running job 3: /none/x.json: No such file or directory"},
	};
	struct cpl_network *net = line_of_four();
	const struct cpl_routing *routing = cpl_routing_find(net, NULL, NULL);

	free(net->name);
	net->name = strdup("line");
	put("ring.json", ring);
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct cpl_error err = {""};
		struct cpl_load load;
		struct cpl_state s;

		assert_int_equal(load_text(row[i].text, &s, &err), 0);
		assert_int_equal(cpl_load_init(&load, net, &err), 0);
		assert_int_equal(apply(&s, net, routing, NULL, &load, &err),
		                 -1);
		assert_string_equal(err.text, row[i].message);
		cpl_load_free(&load);
		cpl_state_free(&s);
	}
	drop("ring.json");
	cpl_network_free(net);
}

static struct cpl_record sample(void)
{
	static int64_t background[] = {0, 9007199254740993};
	static char *host[] = {"n4", "n1"};
	static struct cpl_record_candidate candidate[] = {
	        {"random-routers", UINT64_MAX, true, 0.1, 1e-9, 1e17, 0.25,
	         1e-3, 7, 0.5, 0.125, 3, true, 0.75, 0.25, 1e9, 0.375,
	         0.5, true},
	        {"linear", 0, false, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0.0, 0.0, 0,
	         false, 0.0, 0.0, 0.0, 0.0, 0.0, false},
	};
	static int rank_host[] = {1, 0, 0};

	return (struct cpl_record){
	        .job = 17,
	        .time = 1700000000,
	        .uid = UINT32_MAX,
	        .job_name = "a \"b\" \xc3\xa9",
	        .partition = "large",
	        .profile = "milc",
	        .own_profile = true,
	        .recorded_ranks = 64,
	        .rescale_error = 0.0625,
	        .drift = 0.25,
	        .outcome = CPL_OUTCOME_PLACED,
	        .reason = "",
	        .policy_asked = "auto",
	        .policy = "random-routers",
	        .seed = UINT64_MAX,
	        .objective = "max-congestion",
	        .routing = "static-direct",
	        .stated_routing = "adaptive-hybrid",
	        .network_file = "/n.json",
	        .nodes_wanted = 2,
	        .ranks_per_node = 2,
	        .free_hosts = "n[0-7]",
	        .required_hosts = "",
	        .n_background = 2,
	        .background = background,
	        .run_seconds = 3600.5,
	        .keep_whole = "group",
	        .keep_price = 25,
	        .broken = 1,
	        .best_broken = 4,
	        .best_policy = "random-nodes",
	        .price = 0.0625,
	        .seconds = 0.25,
	        .alone_seconds = 1e-3,
	        .stock_seconds = 1e9,
	        .cut_short = true,
	        .decision_ms = 0.1,
	        .n_hosts = 2,
	        .host = host,
	        .stock_hosts = "n[0-1]",
	        .stock_max_congestion = 0.3,
	        .stock_mean_congestion = -1.0,
	        .n_candidates = 2,
	        .candidate = candidate,
	        .order_reaches = CPL_REACH_UNKNOWN,
	        .order_known_by = CPL_REACH_BY_NONE,
	        .order_arrived = CPL_REACH_NO,
	        .mapping = "greedyallc",
	        .mapping_kept_default = true,
	        .map_max_before = 2.5,
	        .map_max_after = 1.25,
	        .ranks = 3,
	        .rank_host = rank_host,
	};
}

static void assert_text(const char *a, const char *b)
{
	if (a && b)
		assert_string_equal(a, b);
	else
		assert_ptr_equal(a, b);
}

static void assert_record(const struct cpl_record *a,
                          const struct cpl_record *b)
{
	assert_int_equal(a->job, b->job);
	assert_int_equal(a->time, b->time);
	assert_int_equal(a->uid, b->uid);
	assert_text(a->job_name, b->job_name);
	assert_text(a->partition, b->partition);
	assert_text(a->profile, b->profile);
	assert_int_equal(a->own_profile, b->own_profile);
	assert_int_equal(a->recorded_ranks, b->recorded_ranks);
	assert_true(a->rescale_error == b->rescale_error);
	assert_true(a->drift == b->drift);
	assert_int_equal(a->outcome, b->outcome);
	assert_text(a->reason, b->reason);
	assert_text(a->policy_asked, b->policy_asked);
	assert_text(a->policy, b->policy);
	assert_true(a->seed == b->seed);
	assert_text(a->objective, b->objective);
	assert_text(a->routing, b->routing);
	assert_text(a->stated_routing, b->stated_routing);
	assert_text(a->network_file, b->network_file);
	assert_int_equal(a->nodes_wanted, b->nodes_wanted);
	assert_int_equal(a->ranks_per_node, b->ranks_per_node);
	assert_text(a->free_hosts, b->free_hosts);
	assert_text(a->required_hosts, b->required_hosts);
	assert_text(a->order_reaches, b->order_reaches);
	assert_text(a->order_known_by, b->order_known_by);
	assert_text(a->order_arrived, b->order_arrived);
	assert_int_equal(a->n_background, b->n_background);
	for (int64_t i = 0; i < a->n_background; i++)
		assert_int_equal(a->background[i], b->background[i]);
	assert_true(a->run_seconds == b->run_seconds);
	assert_true(a->seconds == b->seconds);
	assert_true(a->alone_seconds == b->alone_seconds);
	assert_true(a->stock_seconds == b->stock_seconds);
	assert_int_equal(a->cut_short, b->cut_short);
	assert_true(a->decision_ms == b->decision_ms);
	assert_int_equal(a->n_hosts, b->n_hosts);
	for (int i = 0; i < a->n_hosts; i++)
		assert_string_equal(a->host[i], b->host[i]);
	assert_text(a->stock_hosts, b->stock_hosts);
	assert_true(a->stock_max_congestion == b->stock_max_congestion);
	assert_true(a->stock_mean_congestion == b->stock_mean_congestion);
	assert_int_equal(a->n_candidates, b->n_candidates);
	for (int i = 0; i < a->n_candidates; i++) {
		const struct cpl_record_candidate *p = &a->candidate[i];
		const struct cpl_record_candidate *q = &b->candidate[i];

		assert_string_equal(p->policy, q->policy);
		assert_true(p->seed == q->seed);
		assert_int_equal(p->evaluated, q->evaluated);
		assert_true(p->max_congestion == q->max_congestion);
		assert_true(p->mean_congestion == q->mean_congestion);
		assert_true(p->hop_bytes == q->hop_bytes);
		assert_true(p->seconds == q->seconds);
		assert_true(p->alone_seconds == q->alone_seconds);
		assert_true(p->stated_max == q->stated_max);
	}
	assert_text(a->mapping, b->mapping);
	assert_int_equal(a->mapping_kept_default, b->mapping_kept_default);
	assert_true(a->map_max_before == b->map_max_before);
	assert_true(a->map_max_after == b->map_max_after);
	assert_int_equal(a->ranks, b->ranks);
	for (int i = 0; i < a->ranks; i++)
		assert_int_equal(a->rank_host[i], b->rank_host[i]);
}

static void write_record(const struct cpl_record *r, bool ended)
{
	struct cpl_error err = {""};
	char *path = cpl_record_path(dir, ended, r->job, &err);
	json_t *root = cpl_record_to_json(r, &err);

	assert_non_null(root);
	assert_int_equal(cpl_json_write_atomic(root, path, 0644, &err), 0);
	json_decref(root);
	free(path);
}

static void test_record_round_trip(void **state)
{
	struct cpl_record r = sample(),
	                  bare = {.outcome = CPL_OUTCOME_STOCK, .reason = "no profile"};
	const struct cpl_record *both[] = {&r, &bare};
	struct cpl_error err = {""};

	bare.free_hosts = bare.required_hosts = bare.stock_hosts = "";
	for (int i = 0; i < 2; i++) {
		char path[64];
		bool ended = i == 0;
		struct cpl_record *back;

		write_record(both[i], i == 1);
		back = cpl_record_find(dir, both[i]->job, &ended, &err);
		assert_string_equal(err.text, "");
		assert_non_null(back);
		assert_int_equal(ended, i == 1);
		assert_record(back, both[i]);
		cpl_record_free(back);
		snprintf(path, sizeof(path), "%s/%d.json",
		         i ? "ended" : "running", (int)both[i]->job);
		drop(path);
	}
}

/* Job names are any bytes; a record is written nevertheless. */
static void test_record_of_odd_text(void **state)
{
	struct cpl_record r = sample();
	struct cpl_error err = {""};
	json_t *root;

	r.job_name = "\xff\xfe x";
	r.stock_max_congestion = 1.0 / 0.0;
	root = cpl_record_to_json(&r, &err);
	assert_non_null(root);
	assert_string_equal(
	        json_string_value(json_object_get(root, "job_name")), "?? x");
	assert_true(json_real_value(json_object_get(
	                    root, "stock_max_congestion")) == -1.0);
	json_decref(root);
}

/* The text of a record is what jansson writes of it, to the byte. */
static void assert_canonical(const struct cpl_record *r)
{
	struct cpl_error err = {""};
	size_t length, again_length;
	char *text = cpl_record_text(r, &length, &err), *again;
	struct cpl_record *back;
	json_t *root;

	assert_non_null(text);
	root = cpl_json_parse(text, length, "r", &err);
	assert_string_equal(err.text, "");
	again = cpl_json_text(root, &again_length, &err);
	assert_int_equal(length, again_length);
	assert_memory_equal(text, again, length);
	back = cpl_record_from_json(root, &err);
	assert_string_equal(err.text, "");
	assert_int_equal(back->seed, r->seed);
	assert_int_equal(back->n_background, r->n_background);
	for (int64_t i = 0; i < r->n_background; i++)
		assert_int_equal(back->background[i], r->background[i]);
	assert_int_equal(back->n_hosts, r->n_hosts);
	for (int i = 0; i < r->n_hosts; i++)
		assert_string_equal(back->host[i], r->host[i]);
	assert_int_equal(back->ranks, r->ranks);
	assert_memory_equal(back->rank_host, r->rank_host,
	                    (size_t)r->ranks * sizeof(int));
	cpl_record_free(back);
	json_decref(root);
	free(again);
	free(text);
}

static void test_record_text(void **state)
{
	static const char *const name[] = {
	        "", "a", "~ !", "\"", "\\", "/", "\x7f", "\t\n\x01",
	        "\xc3\xa9", "a\xe2\x82\xac", "\xf0\x9f\x98\x80"};
	static const double real[] = {0.0,      -0.0,   1.0,    -1.0,
	                              1e15,     1e16,   1e17,   123456789.125,
	                              1.0 / 3,  5e-324, 1e-5,   1e300,
	                              0x1p+1023};
	struct cpl_record r = sample(), bare = {.outcome = CPL_OUTCOME_STOCK};
	int rank_host[3000], one = 0;
	char *host[1200];

	assert_canonical(&r);
	bare.stock_hosts = "n0";
	assert_canonical(&bare);
	for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++) {
		r.job_name = (char *)name[i];
		r.reason = (char *)name[i];
		assert_canonical(&r);
	}
	for (size_t i = 0; i < sizeof(real) / sizeof(*real); i++) {
		r.price = real[i] < 0 ? 0 : real[i];
		r.stock_max_congestion = real[i];
		assert_canonical(&r);
	}
	/* More than there is room for at first. */
	for (int i = 0; i < 1200; i++)
		host[i] = "a-host-with-a-name-of-no-few-characters.example.org";
	for (int i = 0; i < 3000; i++)
		rank_host[i] = i * 7 % 1200;
	r.host = host;
	r.n_hosts = 1200;
	r.rank_host = rank_host;
	r.ranks = 3000;
	assert_canonical(&r);
	r.n_hosts = r.ranks = 1;
	r.rank_host = &one;
	r.n_background = r.n_candidates = 0;
	assert_canonical(&r);
}

static void test_record_messages(void **state)
{
	static const struct {
		const char *key, *value, *message;
	} row[] = {
	        {"format", "\"x\"",
	         "\"format\" is \"x\"; "
	         "\"commplace-decision\" is needed here"},
	        {"outcome", "\"lost\"",
	         "\"outcome\" is \"lost\"; it must be "
	         "placed, observed or stock"},
	        {"job", "\"17\"",
	         "\"job\" is a string; an integer is "
	         "needed"},
	        {"uid", "4294967296",
	         "\"uid\" is 4294967296; it must lie in "
	         "0 to 4294967295"},
	        {"hosts", "5", "\"hosts\" is not an array"},
	        {"hosts", "[1]", "\"hosts\": entry 1 is not a name"},
	        {"hosts", "[]",
	         "\"rank_host\": rank 0 must have an index "
	         "into the 0 hosts"},
	        {"rank_host", "[0,2]",
	         "\"rank_host\": rank 1 must have an "
	         "index into the 2 hosts"},
	        {"rank_host", "[-1]",
	         "\"rank_host\": rank 0 must have an "
	         "index into the 2 hosts"},
	        {"background", "[3,\"4\"]",
	         "\"background\": entry 2 is not a "
	         "job's number"},
	        {"candidates", "[{\"x\":1}]",
	         "candidate 1: unknown key \"x\"; the keys are policy, seed, "
	         "evaluated, max_congestion, mean_congestion, hop_bytes, "
	         "seconds, alone_seconds, shared_links, slows_others, "
	         "learned_seconds, broken, mapped, mapped_max_congestion, "
	         "mapped_mean_congestion, mapped_hop_bytes, "
	         "stated_max_congestion, plain_max_congestion, barred"},
	        {"background", "[-1]",
	         "\"background\": entry 1 is not a job's number"},
	        {"background", "5", "\"background\" is not an array"},
	        {"rank_host", "5", "\"rank_host\" is not an array"},
	        {"candidates", "5", "\"candidates\" is not an array"},
	        {"candidates", "[5]", "candidate 1: is not an object"},
	        {"candidates", "[{\"seed\":\"x\"}]",
	         "candidate 1: \"seed\" is a string; an integer is needed"},
	        {"reason", "5",
	         "\"reason\" is an integer; a string is needed"},
	        {"outcome", "5",
	         "\"outcome\" is an integer; a string is needed"},
	        {"price", "\"x\"",
	         "\"price\" is a string; a number is needed"},
	        {"price", "-2", "\"price\" is -2; it must lie in -1 to inf"},
	        {"x", "1", NULL},
	        {"job", NULL, "\"job\" is missing"},
	        {"cut_short", "1",
	         "\"cut_short\" is an integer; true or "
	         "false is needed"},
	};
	struct cpl_record r = sample();

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct cpl_error err = {""};
		json_t *root = cpl_record_to_json(&r, &err);

		if (row[i].value)
			json_object_set_new(root, row[i].key,
			                    json_loads(row[i].value,
			                               JSON_DECODE_ANY, NULL));
		else
			json_object_del(root, row[i].key);
		assert_null(cpl_record_from_json(root, &err));
		if (row[i].message)
			assert_string_equal(err.text, row[i].message);
		else
			assert_non_null(strstr(err.text, "unknown key"));
		json_decref(root);
	}
}

/* Jobs that ran beside another, of their own records. */
static void test_background(void **state)
{
	static int64_t beside[] = {21, 20};
	static const int rank_host[] = {0, 0, 0, 1, 1};
	int one_host[] = {1, 0, 0, 0, 1};
	struct cpl_record r = sample(), other = sample();
	struct cpl_error err = {""};
	struct cpl_state s;
	char *path;

	r.background = beside;
	other.job = 20;
	write_record(&other, true);
	/* More ranks than the node's: as many on each host as there must be. */
	other.job = 21;
	other.outcome = CPL_OUTCOME_OBSERVED;
	other.ranks = 5;
	other.rank_host = one_host;
	write_record(&other, false);
	assert_int_equal(cpl_record_background(&r, dir, &s, &err), 0);
	assert_int_equal(s.n_jobs, 2);
	assert_int_equal(s.job[0].id, 20);
	assert_int_equal(s.job[0].ranks, 3);
	assert_int_equal(s.job[1].id, 21);
	assert_int_equal(s.job[1].ranks, 5);
	assert_memory_equal(s.job[1].rank_host, rank_host, sizeof(rank_host));
	cpl_state_free(&s);
	/* One that names no hosts, and one that is not there. */
	other.outcome = CPL_OUTCOME_PLACED;
	other.n_hosts = other.ranks = 0;
	write_record(&other, false);
	for (int i = 0; i < 2; i++) {
		err.text[0] = '\0';
		assert_int_equal(cpl_record_background(&r, dir, &s, &err), -1);
		assert_non_null(strstr(err.text, i ? "no record of job 21"
		                                   : "names no hosts"));
		cpl_state_free(&s);
		drop("running/21.json");
	}
	drop("ended/20.json");
	/* Who may read them is as the folder says. */
	path = in_dir("running");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(chmod(path, i ? 0700 : 0755), 0);
		assert_int_equal(cpl_record_file_mode(dir), i ? 0600 : 0644);
	}
	chmod(path, 0755);
	free(path);
	assert_int_equal(cpl_record_file_mode("/nowhere"), 0600);
}

static void test_find_nothing(void **state)
{
	struct cpl_error err = {""};
	char text[CPL_ERROR_MAX];

	assert_null(cpl_record_find(dir, 5, NULL, &err));
	snprintf(text, sizeof(text),
	         "no record of job 5 in %s; commplace decided nothing for it, "
	         "or its record was removed",
	         dir);
	assert_string_equal(err.text, text);
	assert_null(cpl_record_find(dir, -5, NULL, &err));
	assert_string_equal(err.text, "-5 is not a job's number");
	put("running/5.json", "{");
	assert_null(cpl_record_find(dir, 5, NULL, &err));
	assert_non_null(strstr(err.text, "/running/5.json:1:1: not valid"));
	drop("running/5.json");
}

static void test_running_jobs(void **state)
{
	static const int rank_host[] = {1, 0, 0};
	static const int in_blocks[] = {0, 0, 1};
	struct cpl_record r = sample();
	struct cpl_error err = {""};
	struct cpl_state s;
	char *path;
	int skipped = -1;

	write_record(&r, false);
	r.job = 4;
	r.outcome = CPL_OUTCOME_OBSERVED;
	r.profile = NULL;
	write_record(&r, false);
	r.job = 5;
	r.n_hosts = r.ranks = 0;
	r.outcome = CPL_OUTCOME_STOCK;
	write_record(&r, false);
	put("running/6.json", "{");
	put("running/7.json.tmp-abc", "{");
	put("running/x.json", "{");
	assert_int_equal(cpl_record_state(dir, &s, &skipped, &err), 0);
	/* The damaged one and the one without hosts. */
	assert_int_equal(skipped, 2);
	assert_int_equal(s.n_jobs, 2);
	assert_int_equal(s.job[0].id, 4);
	assert_null(s.job[0].signature);
	assert_int_equal(s.job[0].n_hosts, 2);
	assert_string_equal(s.job[0].host[0], "n0");
	assert_string_equal(s.job[0].host[1], "n1");
	/* In blocks: how many ranks there are tells which profile it is. */
	assert_int_equal(s.job[0].ranks, 3);
	assert_memory_equal(s.job[0].rank_host, in_blocks, sizeof(in_blocks));
	assert_int_equal(s.job[1].id, 17);
	assert_string_equal(s.job[1].signature, "milc");
	assert_string_equal(s.job[1].host[0], "n4");
	assert_int_equal(s.job[1].ranks, 3);
	assert_memory_equal(s.job[1].rank_host, rank_host, sizeof(rank_host));
	cpl_state_free(&s);
	drop("running/17.json");
	drop("running/4.json");
	drop("running/5.json");
	drop("running/6.json");
	drop("running/7.json.tmp-abc");
	drop("running/x.json");
	assert_int_equal(cpl_record_state("/nowhere", &s, &skipped, &err), -1);
	assert_string_equal(err.text,
	                    "/nowhere/running: No such file or directory");
	/* A folder without "running": nothing was decided yet. */
	path = in_dir("ended");
	assert_int_equal(cpl_record_state(path, &s, &skipped, &err), 0);
	free(path);
	assert_int_equal(s.n_jobs, 0);
	cpl_state_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_state_round_trip),
	        cmocka_unit_test(test_state_messages),
	        cmocka_unit_test(test_apply),
	        cmocka_unit_test(test_apply_refuses),
	        cmocka_unit_test(test_record_round_trip),
	        cmocka_unit_test(test_record_of_odd_text),
	        cmocka_unit_test(test_record_text),
	        cmocka_unit_test(test_record_messages),
	        cmocka_unit_test(test_background),
	        cmocka_unit_test(test_find_nothing),
	        cmocka_unit_test(test_running_jobs),
	};

	return cmocka_run_group_tests(tests, make_dirs, remove_dirs);
}
