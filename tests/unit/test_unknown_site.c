/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unknown: how a running engine holds jobs without a signature, from start to end,
 * over restarts, and as replays see them. */
#include "engine_fixture.h"

#include <math.h>
#include <time.h>

#include "measured/unknown.h"

#define LINKS_MAX 512

static void load(const char *lines)
{
	all_free();
	config(lines);
	assert_int_equal(cpl_engine_load(engine, WAIT_MS, NULL), 0);
}

/* Nobody decides about a job on n hosts from the first on. */
static void run(int64_t id, const char *name, int first, int n)
{
	struct cpl_engine_notice notice;
	struct cpl_engine_allocation got = {
	        .id = id,
	        .job = {.id = id, .uid = 7, .has_uid = true, .name = name},
	        .ranks = n,
	        .host = fake.host,
	        .n_hosts = n,
	        .layout = fake_layout,
	        .arg = &fake.n_host,
	};

	fake.n_host = n;
	for (int i = 0; i < n; i++) {
		fake.host[i] = first + i;
		fake.cpus[first + i] = 0;
	}
	cpl_engine_start(engine, &got, &notice);
	assert_string_equal(notice.text, "");
}

/* Bytes/s on the links, of all that is in the scene. */
static const struct cpl_load *rates(void)
{
	const struct cpl_load *bytes, *rates;
	struct cpl_scene *scene =
	        engine_scene(&engine->ledger, NULL, INT64_MAX, NULL);

	assert_non_null(scene);
	assert_int_equal(cpl_scene_loads(scene, 1, &bytes, &rates, NULL), 0);
	return rates;
}

static double volume(int64_t id)
{
	const struct running *job = engine_running_find(&engine->ledger, id);

	assert_non_null(job);
	return job->volume;
}

/* Each node of first .. first + n - 1 sends so much, and no other one anything. */
static void check_sends(int first, int n, double want)
{
	const struct cpl_load *now = rates();

	for (int i = 0; i < HOSTS; i++) {
		bool its = i >= first && i < first + n;
		double sent = now ? now->injection[i] : 0;

		assert_true(sent >= (its ? 0.999 * want : 0));
		assert_true(sent <= (its ? 1.001 * want : 0));
	}
}

static struct cpl_record *record_of(int64_t id, bool *ended)
{
	struct cpl_record *r;

	assert_true(cpl_engine_idle(engine, WAIT_MS));
	r = cpl_record_find(in_dir("state"), id, ended, NULL);
	assert_non_null(r);
	return r;
}

static void test_off(void **state)
{
	(void)state;
	load("");
	run(1, "a", 0, 4);
	assert_null(engine_running_find(&engine->ledger, 1));
	assert_null(rates());
}

static void test_uniform(void **state)
{
	struct cpl_record *r;
	bool ended;

	(void)state;
	load("Unknown=uniform UnknownVolume=3");
	run(1, "a", 0, 4);
	check_sends(0, 4, 3);
	run(2, "one", 8, 1);
	assert_null(engine_running_find(&engine->ledger, 2));
	check_sends(0, 4, 3);
	r = record_of(1, &ended);
	assert_true(!ended && r->volume == 3 && !r->ended && !r->ranks);
	cpl_record_free(r);
	cpl_engine_suspended(engine, 1, true);
	check_sends(0, 0, 0);
	cpl_engine_suspended(engine, 1, false);
	check_sends(0, 4, 3);
	cpl_engine_end(engine, 1);
	check_sends(0, 0, 0);
	r = record_of(1, &ended);
	assert_true(ended && r->ended >= r->time && !r->measured_volume);
	cpl_record_free(r);
	/* A job with a signature is none. */
	start(3, "t8", NULL, 4, 8);
	assert_true(volume(3) == 0);
}

/* Reconfigured, they go and come. */
static void test_switched(void **state)
{
	(void)state;
	load("Unknown=uniform UnknownVolume=3");
	run(1, "a", 0, 4);
	check_sends(0, 4, 3);
	load("");
	check_sends(0, 0, 0);
	load("Unknown=uniform UnknownVolume=5");
	check_sends(0, 4, 3);
}

/* As nodes of jobs with a signature send. */
static void test_as_known(void **state)
{
	const struct cpl_load *now;
	double sum = 0;

	(void)state;
	load("Unknown=uniform");
	run(1, "early", 24, 4);
	assert_true(volume(1) == 0);
	start(2, "t8", NULL, 4, 8);
	now = rates();
	for (int i = 0; i < HOSTS; i++)
		sum += now->injection[i];
	assert_true(sum > 0);
	run(3, "late", 28, 4);
	assert_true(volume(3) > 0.999 * sum / 4);
	assert_true(volume(3) < 1.001 * sum / 4);
}

/* Over a restart, and in a replay, which has it from the records, the same. */
static void test_restart(void **state)
{
	static double before[LINKS_MAX];
	struct cpl_engine_live live[] = {{.id = 1}, {.id = 2}};
	struct cpl_state jobs;
	const struct cpl_load *now;
	const struct cpl_load *bytes;
	struct cpl_scene scene;
	int64_t links;

	(void)state;
	load("Unknown=uniform UnknownVolume=3");
	run(1, "a", 0, 6);
	run(2, "b", 6, 9);
	now = rates();
	links = cpl_times_links(engine->desk.snapshot->net);
	assert_true(links < LINKS_MAX);
	for (int64_t l = 0; l < links; l++)
		before[l] = *cpl_times_at((struct cpl_load *)now, l);
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	cpl_engine_free(engine);
	set_up_engine();
	cpl_engine_restore(engine, live, 2, WAIT_MS);
	now = rates();
	assert_non_null(now);
	for (int64_t l = 0; l < links; l++)
		assert_true(*cpl_times_at((struct cpl_load *)now, l) ==
		            before[l]);
	read_state(&jobs);
	scene = (struct cpl_scene){.net = engine->desk.snapshot->net,
	                           .routing = engine->desk.snapshot->routing};
	assert_int_equal(cpl_state_run(&jobs, &scene, NULL, NULL), 0);
	assert_int_equal(cpl_scene_loads(&scene, 1, &bytes, &now, NULL), 0);
	for (int64_t l = 0; l < links; l++)
		assert_true(*cpl_times_at((struct cpl_load *)now, l) ==
		            before[l]);
	cpl_scene_close(&scene);
	cpl_state_free(&jobs);
}

/* Counters of all links: what these jobs would send by such volumes, and the known
 * ones as predicted. */
static struct measure_of {
	int first, n;
	double volume;
} sent[2];

static void measure(const struct cpl_load *own)
{
	const struct cpl_network *net = engine->desk.snapshot->net;
	struct cpl_workload *w = cpl_workload_new(net, 1, NULL);
	struct cpl_measured all = {.n = cpl_times_links(net),
	                           .time = (double)time(NULL)};
	FILE *out = fopen(in_dir("links.new"), "w");
	char to[256];

	assert_non_null(w);
	assert_non_null(out);
	all.rate = calloc((size_t)all.n, sizeof(*all.rate));
	for (int64_t l = 0; l < all.n; l++)
		all.rate[l] = (struct cpl_times_rate){
		        (int)l,
		        own ? *cpl_times_at((struct cpl_load *)own, l) : 0};
	for (int k = 0; k < 2; k++) {
		struct cpl_job_load *job;
		int node[HOSTS];

		for (int i = 0; i < sent[k].n; i++)
			node[i] = sent[k].first + i;
		job = cpl_unknown_load(w, net, cpl_routing_minimal(net), node,
		                       sent[k].n, sent[k].volume, NULL);
		assert_non_null(job);
		for (int i = 0; i < job->n_links; i++)
			all.rate[job->on[i].link].rate += job->on[i].bytes;
		free(job);
	}
	cpl_measured_write(&all, net, out);
	fclose(out);
	free(all.rate);
	cpl_workload_free(w);
	snprintf(to, sizeof(to), "%s", in_dir("links.csv"));
	assert_int_equal(rename(in_dir("links.new"), to), 0);
	/* A look that is still under way would say after this when the next one is. */
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	pthread_mutex_lock(&engine->clerk.lock);
	engine->clerk.measure_next = 0;
	pthread_mutex_unlock(&engine->clerk.lock);
	engine_links_tick(&engine->clerk);
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	/* Every call takes what was read meanwhile. */
	cpl_engine_suspended(engine, 999, false);
}

static void put_network(void)
{
	put("network.json",
	    "{\"format\": \"commplace-network\", \"version\": 1, \"name\": "
	    "\"t\", \"type\": \"dragonfly\", \"groups\": 4, \"rows\": 2, "
	    "\"columns\": 2, \"nodes_per_router\": 2, "
	    "\"global_links_per_group_pair\": 1, \"bandwidth\": {\"row\": 3e3, "
	    "\"column\": 7e3, \"global\": 2e3, \"injection\": 9e3}, "
	    "\"nodes\": \"n[0-31]\"}");
}

static const char *measured_config(void)
{
	static char line[256];

	snprintf(line, sizeof(line),
	         "Unknown=measured UnknownVolume=50 MeasuredLinks=%s/links.csv",
	         dir);
	return line;
}

static void long_ago(int64_t id)
{
	engine_running_find(&engine->ledger, id)->record->time -= 100;
}

/* Each gets what it sent, known jobs none of it; its share goes with it; the next
 * run of the name, and others that begin, are taken for what was measured. */
static void test_measured(void **state)
{
	struct cpl_record *r;
	struct cpl_load own;
	const struct cpl_load *now;
	bool ended;

	(void)state;
	put_network();
	put("links.csv", "");
	load(measured_config());
	start(9, "t8", NULL, 4, 8);
	long_ago(9);
	assert_int_equal(cpl_load_init(&own, engine->desk.snapshot->net, NULL),
	                 0);
	cpl_load_add(&own, rates(), engine->desk.snapshot->net);
	run(1, "a", 16, 8);
	run(2, "b", 24, 8);
	assert_true(volume(1) == 50 && volume(2) == 50);
	long_ago(1);
	long_ago(2);
	rates();
	sent[0] = (struct measure_of){16, 8, 80};
	sent[1] = (struct measure_of){24, 8, 20};
	measure(&own);
	now = rates();
	for (int i = 0; i < HOSTS; i++) {
		double want = own.injection[i] + (i < 16   ? 0
		                                  : i < 24 ? 80
		                                           : 20);

		assert_true(now->injection[i] >= 0.999 * want - 1e-9);
		assert_true(now->injection[i] <= 1.001 * want + 1e-9);
	}
	assert_int_equal(engine->ledger.rest.load->n_links, 0);
	assert_non_null(strstr(engine->ledger.rest.told,
	                       ", 2 jobs without a signature apart"));
	/* Between samples: none of a's is left, b's stays. */
	cpl_engine_end(engine, 1);
	now = rates();
	for (int i = 16; i < HOSTS; i++) {
		double want = own.injection[i] + (i < 24 ? 0 : 20);

		assert_true(now->injection[i] >= 0.999 * want - 1e-9);
		assert_true(now->injection[i] <= 1.001 * want + 1e-9);
	}
	r = record_of(1, &ended);
	assert_true(ended && r->volume == 50 && r->measured_volume > 79.9 &&
	            r->measured_volume < 80.1);
	cpl_record_free(r);
	run(3, "a", 16, 8);
	assert_true(volume(3) > 79.9 && volume(3) < 80.1);
	cpl_engine_end(engine, 3);
	run(4, "new", 16, 8);
	assert_true(volume(4) > 19.9 && volume(4) < 20.1);
	cpl_load_free(&own);
}

/* Where nothing is known of any job a share tells, and so it does of the next run of
 * one that was silent. */
static void test_first(void **state)
{
	char line[256];

	(void)state;
	put_network();
	put("links.csv", "");
	snprintf(line, sizeof(line),
	         "Unknown=measured MeasuredLinks=%s/links.csv", dir);
	load(line);
	run(1, "a", 0, 8);
	run(2, "silent", 8, 8);
	assert_true(volume(1) == 1 && volume(2) == 1);
	long_ago(1);
	long_ago(2);
	rates();
	sent[0] = (struct measure_of){0, 8, 80};
	sent[1] = (struct measure_of){8, 8, 0};
	measure(NULL);
	check_sends(0, 8, 80);
	cpl_engine_end(engine, 2);
	run(3, "silent", 8, 8);
	assert_true(volume(3) == 1);
	cpl_engine_end(engine, 1);
	long_ago(3);
	/* They had ended when it was taken. */
	for (int i = 0; i < engine->ledger.rest.n_gone; i++)
		engine->ledger.rest.gone[i].ended -= 10;
	sent[1].volume = 40;
	sent[0].volume = 0;
	measure(NULL);
	check_sends(8, 8, 40);
}

/* Too old: by their volumes, as if nothing had been measured. */
static void test_grows_old(void **state)
{
	(void)state;
	put_network();
	put("links.csv", "");
	load(measured_config());
	run(1, "a", 0, 8);
	long_ago(1);
	check_sends(0, 8, 50);
	sent[0] = (struct measure_of){0, 8, 80};
	sent[1] = (struct measure_of){0};
	sent[1].n = 2;
	measure(NULL);
	check_sends(0, 8, 80);
	assert_non_null(engine_running_find(&engine->ledger, 1)->shape);
	engine->ledger.rest.sample->links.time -= 1000;
	check_sends(0, 8, 50);
	assert_null(engine_running_find(&engine->ledger, 1)->shape);
	assert_null(engine->ledger.rest.load);
}

/* Held by volume, what is measured of it is not there twice. */
static void test_uniform_beside_links(void **state)
{
	char line[256];

	(void)state;
	put_network();
	put("links.csv", "");
	snprintf(line, sizeof(line),
	         "Unknown=uniform UnknownVolume=50 MeasuredLinks=%s/links.csv",
	         dir);
	load(line);
	run(1, "a", 0, 8);
	long_ago(1);
	rates();
	sent[0] = (struct measure_of){0, 8, 80};
	sent[1] = (struct measure_of){.n = 2};
	measure(NULL);
	check_sends(0, 8, 80);
	cpl_engine_end(engine, 1);
	check_sends(0, 8, 30);
}

/* As Slurm does it when it begins: records and files are read, and are ours. */
static void take_charge(void)
{
	cpl_engine_restore(engine, NULL, 0, WAIT_MS);
	assert_true(cpl_engine_idle(engine, WAIT_MS));
}

/* A job of user 7 on 8 nodes asks for that policy, or for none. */
static enum cpl_engine_answer asks(int64_t id, const char *name,
                                   const char *policy)
{
	struct cpl_engine_request req = request(id, NULL, policy, 8);

	req.job.uid = 7;
	req.job.name = name;
	return ask(&req);
}

/* Those of "a" send 80 each, those of "b" 2, which is nothing on cables of 9e3. */
static void run_both(void)
{
	take_charge();
	run(1, "a", 16, 8);
	run(2, "b", 24, 8);
	long_ago(1);
	long_ago(2);
	rates();
	sent[0] = (struct measure_of){16, 8, 80};
	sent[1] = (struct measure_of){24, 8, 2};
	measure(NULL);
	rates();
	cpl_engine_end(engine, 1);
	cpl_engine_end(engine, 2);
	all_free();
}

static void check_volume(double want)
{
	assert_true(record()->volume_profile >= 0.999 * want);
	assert_true(record()->volume_profile <= 1.001 * want);
}

/* From its second run on a job is placed by what its first one sent: where its user
 * asks for it, or the site wants it. */
static void test_by_volume(void **state)
{
	struct cpl_engine_notice notice;
	char line[512];

	(void)state;
	put_network();
	put("links.csv", "");
	load(measured_config());
	run_both();
	assert_int_equal(asks(10, "new", "auto"), CPL_ENGINE_STOCK);
	assert_int_equal(asks(11, "a", NULL), CPL_ENGINE_NONE);
	assert_int_equal(asks(12, "b", "auto"), CPL_ENGINE_STOCK);
	assert_string_equal(record()->reason_code, "nothing_sent");
	assert_int_equal(asks(13, "a", "auto"), CPL_ENGINE_PLACED);
	check_volume(80);
	assert_null(record()->profile);
	assert_true(record()->n_candidates > 1);
	assert_true(record()->candidate[0].max_congestion > 0);
	fake_begin(engine, 13, &fake, &notice);
	assert_non_null(strstr(notice.text, " by its volume"));
	assert_true(volume(13) > 79.9 && volume(13) < 80.1);
	cpl_engine_end(engine, 13);
	snprintf(line, sizeof(line), "%s DefaultPolicy=auto", measured_config());
	load(line);
	assert_int_equal(asks(14, "a", NULL), CPL_ENGINE_STOCK);
	snprintf(line, sizeof(line), "%s DefaultPolicy=auto PlaceByVolume=yes",
	         measured_config());
	load(line);
	assert_int_equal(asks(15, "a", NULL), CPL_ENGINE_PLACED);
	check_volume(80);
	assert_int_equal(asks(16, "new", NULL), CPL_ENGINE_STOCK);
	snprintf(line, sizeof(line), "%s PlaceByVolume=no", measured_config());
	load(line);
	assert_int_equal(asks(17, "a", "auto"), CPL_ENGINE_STOCK);
	load("Unknown=uniform UnknownVolume=3");
	assert_int_equal(asks(18, "a", "auto"), CPL_ENGINE_STOCK);
}

/* Its traffic is spread better than on the scheduler's own nodes, which would send over
 * one link between groups. */
static void test_by_volume_apart(void **state)
{
	(void)state;
	put_network();
	put("links.csv", "");
	load(measured_config());
	run_both();
	for (int i = 0; i < 24; i += 2)
		fake.cpus[i] = 0;
	assert_int_equal(asks(21, "a", "auto"), CPL_ENGINE_PLACED);
	for (int i = 0; i < record()->n_candidates; i++) {
		const struct cpl_record_candidate *c = &record()->candidate[i];

		if (!strcmp(c->policy, record()->policy))
			assert_true(2 * c->max_congestion <
			            record()->stock_max_congestion);
	}
}

static void restart(bool killed)
{
	if (!killed)
		assert_true(cpl_engine_drain(engine, WAIT_MS));
	cpl_engine_free(engine);
	set_up_engine();
	take_charge();
	cpl_engine_suspended(engine, 999, false);
}

/* Whoever drives the engine is killed just when they were measured. */
static void test_volumes_stay_when_killed(void **state)
{
	(void)state;
	put_network();
	put("links.csv", "");
	load(measured_config());
	engine->ledger.volumes_next = INT64_MAX;
	run_both();
	restart(true);
	all_free();
	assert_int_equal(asks(10, "a", "auto"), CPL_ENGINE_PLACED);
	check_volume(80);
}

/* Volumes outlive the engine; a file that is none of ours has none. */
static void test_volumes_stay(void **state)
{
	(void)state;
	put_network();
	put("links.csv", "");
	load(measured_config());
	run_both();
	restart(false);
	all_free();
	assert_int_equal(asks(10, "a", "auto"), CPL_ENGINE_PLACED);
	check_volume(80);
	put("state/volumes", "7 ff 80\n7 ffff 8 0\n");
	logged[0] = '\0';
	cpl_engine_free(engine);
	set_up_engine();
	take_charge();
	assert_non_null(strstr(logged, "error: volumes of job names begin anew: "));
	assert_non_null(strstr(logged, "volumes:2: is no number of a user"));
	assert_int_equal(asks(11, "a", "auto"), CPL_ENGINE_STOCK);
}

/* What a decision had of a sample is in a file, from which it is as it was to the
 * bit; of many samples the newest stay. */
static void test_sample(void **state)
{
	static double before[LINKS_MAX];
	const struct cpl_load *now, *bytes;
	struct cpl_scene scene = {0};
	struct cpl_state jobs;
	struct cpl_error err = {""};
	const struct cpl_record *r;
	int64_t links, first, id;
	char line[512], text[256];
	static const char *const bad[] = {
	        "[7, 1, 0]", "[7, -2, 0]", "[7, 9999, 0]", "[7, 2, -1]",
	        "[7, 2, \"1\"]", "[7, 2]", "[7, 2, 0, 0]", "7"};

	(void)state;
	put_network();
	put("links.csv", "");
	snprintf(line, sizeof(line), "%s KeepSamples=2", measured_config());
	load(line);
	take_charge();
	run(1, "a", 16, 8);
	run(2, "b", 24, 5);
	long_ago(1);
	long_ago(2);
	rates();
	sent[0] = (struct measure_of){16, 8, 80};
	sent[1] = (struct measure_of){20, 12, 30};
	measure(NULL);
	now = rates();
	links = cpl_times_links(engine->desk.snapshot->net);
	for (int64_t l = 0; l < links; l++)
		before[l] = *cpl_times_at((struct cpl_load *)now, l);
	assert_true(engine->ledger.rest.load->n_links > 0);
	start(9, "t8", NULL, 4, 8);
	id = first = engine_running_find(&engine->ledger, 9)->record->sample;
	assert_true(first > 0);
	cpl_engine_end(engine, 9);
	read_state(&jobs);
	assert_int_equal(jobs.n_jobs, 2);
	scene = (struct cpl_scene){.net = engine->desk.snapshot->net,
	                           .routing = engine->desk.snapshot->routing};
	assert_int_equal(cpl_state_run(&jobs, &scene, NULL, NULL), 0);
	assert_int_equal(cpl_sample_put(in_dir("state"), first, &scene, &err),
	                 0);
	assert_int_equal(cpl_scene_loads(&scene, 1, &bytes, &now, NULL), 0);
	for (int64_t l = 0; l < links; l++)
		assert_true(*cpl_times_at((struct cpl_load *)now, l) ==
		            before[l]);
	cpl_state_free(&jobs);
	for (int i = 0; i < 3; i++) {
		sent[0].volume += 1;
		engine->ledger.rest.sample->links.time -= 10;
		measure(NULL);
		start(30 + i, "t8", NULL, 4, 8);
		r = engine_running_find(&engine->ledger, 30 + i)->record;
		assert_true(r->sample > id);
		id = r->sample;
		cpl_engine_end(engine, 30 + i);
		all_free();
	}
	assert_true(cpl_engine_idle(engine, WAIT_MS));
	assert_int_equal(cpl_sample_put(in_dir("state"), first, &scene, &err),
	                 -1);
	assert_non_null(strstr(err.text, "not any more (KeepSamples): "));
	cpl_scene_close(&scene);
	/* Of another network, or by another hand. */
	snprintf(line, sizeof(line), "state/samples/%lld.json", (long long)id);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(text, sizeof(text),
		         "{\"format\": \"commplace-sample\", \"version\": "
		         "1, \"rows\": [[7, 1, 0], %s]}", bad[i]);
		put(line, text);
		assert_int_equal(cpl_sample_put(in_dir("state"), id, &scene,
		                                &err),
		                 -1);
		assert_non_null(strstr(err.text, "row 2: is n"));
	}
	cpl_scene_close(&scene);
}

/* The table alone: of whom, of what name, and what a file may not have. */
static void test_volumes(void **state)
{
	static struct cpl_volumes v, again;
	struct cpl_error err;
	FILE *out = fopen(in_dir("volumes"), "w");
	static const char *const bad[] = {"-1 ff 1\n", "4294967296 ff 1\n",
	                                  "1 zz 1\n",  "1 0 1\n",
	                                  "1 ff -1\n", "1 ff nan\n",
	                                  "1 ff 1e16\n", "1 ff 1 1\n", "{\n"};

	(void)state;
	cpl_volumes_set(&v, 7, "a", 80);
	cpl_volumes_set(&v, 8, "a", 70);
	cpl_volumes_set(&v, 7, "", 1);
	cpl_volumes_set(&v, 7, NULL, 1);
	cpl_volumes_set(&v, 7, "wrong", NAN);
	assert_true(v.changed);
	assert_non_null(out);
	cpl_volumes_write(&v, out);
	fclose(out);
	assert_int_equal(cpl_volumes_load(in_dir("volumes"), &again, NULL), 0);
	assert_true(cpl_volumes_of(&again, 7, "a") == 80);
	assert_true(cpl_volumes_of(&again, 8, "a") == 70);
	assert_true(cpl_volumes_of(&again, 9, "a") < 0);
	assert_true(cpl_volumes_of(&again, 7, "b") < 0);
	assert_true(cpl_volumes_of(&again, 7, "wrong") < 0);
	assert_true(cpl_volumes_of(&again, 7, NULL) < 0);
	assert_true(cpl_volumes_of(&again, 0, "") < 0);
	/* However many names there are, the newest are known. */
	for (int i = 0; i < 3 * CPL_VOLUMES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "job%d", i);
		cpl_volumes_set(&v, 7, name, i);
		assert_true(cpl_volumes_of(&v, 7, name) == i);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		put("volumes", bad[i]);
		assert_int_equal(cpl_volumes_load(in_dir("volumes"), &again,
		                                  &err),
		                 -1);
		assert_non_null(strstr(err.text, "volumes:1: is no number"));
		assert_true(cpl_volumes_of(&again, 7, "a") < 0);
	}
}

#define IN_ENGINE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        IN_ENGINE(test_off),      IN_ENGINE(test_uniform),
	        IN_ENGINE(test_switched), IN_ENGINE(test_as_known),
	        IN_ENGINE(test_restart),  IN_ENGINE(test_measured),
	        IN_ENGINE(test_first),    IN_ENGINE(test_grows_old),
	        IN_ENGINE(test_uniform_beside_links),
	        IN_ENGINE(test_by_volume), IN_ENGINE(test_by_volume_apart),
	        IN_ENGINE(test_volumes_stay_when_killed),
	        IN_ENGINE(test_volumes_stay), IN_ENGINE(test_sample),
	        IN_ENGINE(test_volumes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
