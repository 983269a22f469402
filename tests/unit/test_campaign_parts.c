/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What campaigns are made of: running jobs, and what results come to. */
#include "commplace-config.h"
#include <math.h>

#include "unit.h"

#include "campaign/campaign_internal.h"
#include "campaign/running.h"
#include "campaign/summary.h"
#include "campaign_cases.h"
#include "network_text.h"
#include "number.h"

#define CHAIN                                                                  \
	"{\"format\": \"commplace-network\", \"version\": 1, \"type\": "       \
	"\"torus\", \"dims\": [6], \"wrap\": [false], \"bandwidth\": "         \
	"{\"dim\": [1e9], \"injection\": 100e9}, \"nodes\": \"n[0-5]\"}"

/* Jobs on the routers of a chain, each of which sends from one to another. */
struct chain {
	struct cpl_network *net;
	struct cpl_comm *comm[8];
	struct cpl_phase phase[8];
	struct running_jobs jobs;
};

static void open_chain(struct chain *c)
{
	*c = (struct chain){.net = parse_network(CHAIN)};
	assert_int_equal(running_open(&c->jobs, c->net,
	                              cpl_routing_find(c->net, NULL, NULL), 8,
	                              true, NULL),
	                 0);
}

static void close_chain(struct chain *c)
{
	running_close(&c->jobs);
	for (int i = 0; i < 8; i++)
		cpl_comm_free(c->comm[i]);
	cpl_network_free(c->net);
}

/* Job number `job` sends so many GB from router to router in a time of the run
 * of which `share` is that; gb 0: nothing. */
static void begin_as(struct chain *c, int i, int job, int from, int to, double gb,
                     double share)
{
	struct cpl_comm_entry entry = {0, 1, gb * 1e9, 1};
	struct running_job at = {
	        .job = job, .share = share, .stretch = 1, .reference = gb};

	if (gb > 0) {
		c->comm[i] = cpl_comm_build(2, &entry, 1, NULL);
		c->phase[i] =
		        (struct cpl_phase){.weight = 1,
		                           .time = gb / share,
		                           .compute_time = gb / share - gb,
		                           .comm = c->comm[i]};
		at.times = cpl_times_open(&c->phase[i], 1, 2, NULL);
		assert_int_equal(cpl_times_order(at.times, NULL, 1, 2, NULL),
		                 0);
		assert_int_equal(cpl_times_put(at.times, c->jobs.scene.space,
		                                 (const int[]){from, to}, NULL),
		                 0);
	}
	assert_int_equal(running_start(&c->jobs, &at, NULL), 0);
}

static void begin(struct chain *c, int job, int from, int to, double gb,
                  double share)
{
	begin_as(c, c->jobs.n, job, from, to, gb, share);
}

static void test_running_by_number(void **state)
{
	static const int number[] = {5, 1, 7, 3};
	struct chain c;

	open_chain(&c);
	for (int i = 0; i < 4; i++)
		begin(&c, number[i], 0, 1, 0, 0.5);
	assert_int_equal(c.jobs.n, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(c.jobs.job[i].job, 2 * i + 1);
	running_end(&c.jobs, 1);
	running_end(&c.jobs, 2);
	assert_int_equal(c.jobs.n, 2);
	assert_int_equal(c.jobs.job[0].job, 1);
	assert_int_equal(c.jobs.job[1].job, 5);
	close_chain(&c);
}

static void test_stretches(void **state)
{
	static const struct {
		double share, seconds, reference, stretch;
	} row[] = {
	        {0.5, 30, 10, 2}, {0.25, 30, 10, 1.5}, {1, 30, 10, 3},
	        {0.5, 10, 10, 1}, {0.5, 5, 10, 0.75},  {0.5, 30, 0, 1},
	        {0, 30, 10, 1},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct running_job job = {.share = row[i].share,
		                      .seconds = row[i].seconds,
		                      .reference = row[i].reference};

		assert_number(running_stretch(&job), row[i].stretch, 1e-12);
	}
}

/* One without traffic, one alone on its link, two alike on another, and two
 * that are not on a third: each stretched by what the other sends, stretched as
 * it is. */
static void test_running_jobs_fit_together(void **state)
{
	static const struct {
		int from, to;
		double gb, share;
		int other; /* on its link, or -1 */
	} row[] = {
	        {0, 1, 0, 0.5, -1}, {0, 1, 2, 0.5, -1}, {1, 2, 1, 0.5, 3},
	        {1, 2, 1, 0.5, 2},  {3, 4, 1, 0.8, 5},  {3, 4, 4, 0.2, 4},
	};
	struct cpl_team *team = cpl_team_new(3, NULL);
	double first[6];

	for (int threads = 1; threads < 4; threads += 2) {
		struct chain c;
		double most = 0;

		open_chain(&c);
		for (int i = 0; i < 6; i++)
			begin(&c, i, row[i].from, row[i].to, row[i].gb,
			      row[i].share);
		/* Their own, whatever they come to. */
		assert_number(
		        cpl_background_rates(c.jobs.scene.running)->link[0],
		        0.5e9, 1);
		running_judge(&c.jobs, threads > 1 ? team : NULL);
		for (int i = 0; i < 6; i++) {
			const struct running_job *j = &c.jobs.job[i];
			const struct running_job *other =
			        row[i].other < 0 ? NULL
			                         : &c.jobs.job[row[i].other];
			double u = other ? other->share / other->stretch : 0;

			assert_number(j->stretch,
			              j->times ? running_stretch(j) : 1, 1e-3);
			assert_number(j->seconds, row[i].gb * (1 + u),
			              1e-3 * row[i].gb);
			if (threads == 1)
				first[i] = j->stretch;
			else
				assert_true(first[i] == j->stretch);
		}
		/* s = 1 - 1/2 + 1/2 (1 + 1/2 / s) */
		assert_number(first[2], (1 + sqrt(2)) / 2, 1e-3);
		assert_true(first[0] == 1);
		/* But for a packet on its way. */
		assert_number(first[1], 1, 2e-6);
		/* What they send is over that, after the last round, too, where
		 * several do; the busiest link has that of all. */
		for (int64_t l = 0; l < c.net->n_links; l++) {
			double sum = 0;

			for (int i = 1; i < 6; i++)
				if (c.net->link_from[l] == row[i].from &&
				    c.net->link_to[l] == row[i].to)
					sum += row[i].share * 1e9 /
					       c.jobs.job[i].stretch;
			if (c.jobs.link[l].users > 1)
				assert_number(
				        c.jobs.sent.sum[c.jobs.meeting[l]].rate, sum,
				        1);
			most = fmax(most, sum);
		}
		assert_number(running_busiest(&c.jobs) * 1e9, most, 1);
		close_chain(&c);
	}
	cpl_team_free(team);
}

/* A job as it would be if all were summed up and judged anew in each round. */
struct plain {
	struct cpl_times *times; /* NULL: not there */
	struct running_job job;
};

static void send_plainly(const struct plain *plain, struct cpl_load *load,
                         const struct cpl_network *net)
{
	cpl_load_clear(load, net);
	for (int i = 0; i < 8; i++) {
		const struct cpl_times_rate *rate;
		int64_t n = 0;

		if (!plain[i].times)
			continue;
		rate = cpl_times_rates(plain[i].times, &n);
		for (int64_t k = 0; k < n; k++) {
			double own = rate[k].rate / plain[i].job.stretch;

			load->link[rate[k].link] += own;
			load->squares[rate[k].link] += own * own;
		}
	}
}

/* Judge one beside all but itself. */
static void judge_one(struct plain *plain, struct cpl_load *load)
{
	struct cpl_times_result result;
	double link[64], squares[64];
	int64_t n = 0;
	const struct cpl_times_rate *rate = cpl_times_rates(plain->times, &n);

	assert_true(n <= 64);
	for (int64_t k = 0; k < n; k++) {
		double own = rate[k].rate / plain->job.stretch;

		link[k] = load->link[rate[k].link];
		squares[k] = load->squares[rate[k].link];
		load->link[rate[k].link] -= own;
		load->squares[rate[k].link] -= own * own;
	}
	cpl_times_judge(plain->times, load, false, &result);
	plain->job.seconds = result.seconds;
	for (int64_t k = 0; k < n; k++) {
		load->link[rate[k].link] = link[k];
		load->squares[rate[k].link] = squares[k];
	}
}

static void judge_plainly(struct plain *plain, struct cpl_load *load,
                          const struct cpl_network *net)
{
	double change = 1;

	send_plainly(plain, load, net);
	for (int k = 0; k < 24 && change > 1e-4; k++) {
		change = 0;
		for (int i = 0; i < 8; i++)
			if (plain[i].times)
				judge_one(&plain[i], load);
		for (int i = 0; i < 8; i++) {
			struct running_job *job = &plain[i].job;
			double before = job->stretch;

			if (!plain[i].times)
				continue;
			job->stretch = (before + running_stretch(job)) / 2;
			change = fmax(change, fabs(job->stretch / before - 1));
		}
		send_plainly(plain, load, net);
	}
}

/* Jobs that come and go are stretched to the bit as if all links were summed up, and
 * all jobs judged, each time. */
static void test_running_as_from_scratch(void **state)
{
	struct plain plain[8] = {{0}};
	struct cpl_load load;
	struct chain c;
	int events = 0;

	(void)state;
	srand(1);
	open_chain(&c);
	assert_int_equal(cpl_load_init_rates(&load, c.net, NULL), 0);
	for (int event = 0; event < 400; event++) {
		int job = rand() % 8, from = rand() % 6, to = rand() % 6, at = 0;
		double gb = 1 + rand() % 3, share = 0.1 + rand() % 8 / 10.0;
		double most = 0;

		while (at < c.jobs.n && c.jobs.job[at].job != job)
			at++;
		if (plain[job].times) {
			struct running_job over = c.jobs.job[at];

			running_end(&c.jobs, at);
			running_free(&over);
			cpl_times_close(plain[job].times);
			plain[job].times = NULL;
			cpl_comm_free(c.comm[job]);
			c.comm[job] = NULL;
		} else if (from != to) {
			begin_as(&c, job, job, from, to, gb, share);
			at = 0;
			while (c.jobs.job[at].job != job)
				at++;
			plain[job].job = c.jobs.job[at];
			plain[job].times = cpl_times_open(&c.phase[job], 1, 2,
			                                  NULL);
			cpl_times_order(plain[job].times, NULL, 1, 2, NULL);
			cpl_times_put(plain[job].times, c.jobs.scene.space,
			              (const int[]){from, to}, NULL);
		}
		running_judge(&c.jobs, NULL);
		judge_plainly(plain, &load, c.net);
		for (int i = 0; i < c.jobs.n; i++) {
			const struct running_job *is = &c.jobs.job[i];

			assert_true(is->stretch == plain[is->job].job.stretch);
			assert_true(is->seconds == plain[is->job].job.seconds);
			events++;
		}
		for (int64_t l = 0; l < c.net->n_links; l++)
			most = fmax(most, load.link[l] / 1e9);
		assert_true(running_busiest(&c.jobs) == most);
	}
	assert_true(events > 1000);
	for (int i = 0; i < 8; i++)
		cpl_times_close(plain[i].times);
	cpl_load_free(&load);
	close_chain(&c);
}

/* 1 + u for 1: two send half and a quarter of what their link carries. */
static void test_harm_of_running(void **state)
{
	struct cpl_times_rate rate = {.rate = 0.5e9};
	struct cpl_harm *harm;
	struct chain c;

	open_chain(&c);
	begin(&c, 0, 2, 3, 0, 0.5);
	begin(&c, 1, 2, 3, 1, 0.5);
	begin(&c, 2, 2, 3, 1, 0.25);
	for (int64_t l = 0; l < c.net->n_links; l++)
		if (c.net->link_from[l] == 2 && c.net->link_to[l] == 3)
			rate.link = l;
	harm = cpl_background_harm(c.jobs.scene.running, c.net, NULL);
	assert_non_null(harm);
	/* Besides, the new one meets the other: products of two parts. */
	assert_number(cpl_harm_by(harm, &rate, 1),
	              (1 + 0.75 + 2 * 0.5 * 0.25) / (1 + 0.25) - 1 +
	                      (1 + 1.0 + 2 * 0.5 * 0.5) / (1 + 0.5) - 1,
	              1e-9);
	assert_int_equal(cpl_harm_shared(harm, &rate, 1), 1);
	cpl_harm_free(harm);
	close_chain(&c);
}

/* What is played */

/* Runs are stretched by the study's cost over that under the first policy. */
static void test_the_studys_model(void **state)
{
	static const char *const policies[] = {"select-linear", "balanced"};
	static const char map[] = "Match Name=0 Pattern=none\n"
	                          "Match Name=1 Pattern=ring Share=40\n"
	                          "Mix Pattern=stencil-2d Share=80\n";
	char *log = many_jobs();
	int others = 0, sending = 0;
	struct played p;

	get_ready(&p, NULL, log, map);
	p.c.model = CPL_CAMPAIGN_STUDY;
	p.c.reference = CPL_CAMPAIGN_FIRST;
	p.c.study = CPL_STUDY_DOUBLING;
	play_ready(&p, policies, 2);
	for (int i = 0; i < p.log.n_jobs; i++) {
		const struct cpl_campaign_job *a = &p.result[0].job[i];
		const struct cpl_campaign_job *b = &p.result[1].job[i];
		double run = p.log.job[i].run;
		double share = !strcmp(p.log.job[i].name, "1") ? 0.4 : 0.8;
		double ratio = a->cost > 0 ? b->cost / a->cost : 1;

		if (!strcmp(p.log.job[i].name, "0") || p.log.job[i].nodes < 2)
			share = 0;
		assert_number(a->end - a->start, run, 1e-6);
		assert_number(b->end - b->start,
		              run * (1 - share + share * ratio), 1e-6);
		assert_int_equal(b->communication > 0, share > 0);
		sending += share > 0;
		assert_true(a->slowdown == 1);
		assert_number(b->slowdown, share > 0 ? ratio : 1, 1e-9);
		if (share > 0)
			assert_number(b->communication, share * run * ratio,
			              1e-6 * run);
		others += ratio != 1;
	}
	assert_true(others > 10 && sending < p.log.n_jobs);
	unplay(&p);
	free(log);
}

/* What sends nothing gets, of our policies, Slurm's own answer. */
static void test_stock_of_the_silent(void **state)
{
	static const char *const policies[] = {"flat", "tree", "auto"};
	char *log = many_jobs();
	int differ = 0;

	for (int tree = 0; tree < 2; tree++) {
		struct played p;

		get_ready(&p, NULL, log, "Match Pattern=none\n");
		p.c.stock_is_tree = tree;
		play_ready(&p, policies, 3);
		for (int i = 0; i < p.log.n_jobs; i++) {
			size_t size = (size_t)p.log.job[i].nodes * sizeof(int);

			assert_memory_equal(p.result[2].job[i].node,
			                    p.result[tree].job[i].node, size);
			differ += memcmp(p.result[0].job[i].node,
			                 p.result[1].job[i].node, size) != 0;
		}
		unplay(&p);
	}
	assert_true(differ > 0);
	free(log);
}

/* 8 nodes, 3 more from 50 s on, then these alone: of 5 free nodes one is on a
 * leaf switch with others, then of 13. */
static void test_spans(void **state)
{
	static const char *const flat[] = {"flat"};
	struct played p;

	get_ready(&p, NULL, SWF(1, 0, 100, 8, 8, -1) SWF(2, 50, 100, 3, 3, -1),
	          "Match Pattern=none\n");
	play_ready(&p, flat, 1);
	assert_int_equal(p.result[0].n_spans, 3);
	for (int i = 0; i < 3; i++) {
		const struct cpl_campaign_span *s = &p.result[0].span[i];

		assert_number(s->seconds, 50, 1e-9);
		assert_number(s->busiest, 0, 0);
	}
	assert_number(p.result[0].sums.passed, 150, 1e-9);
	assert_number(p.result[0].sums.fragmented, 50 / 5.0 + 50 / 13.0, 1e-9);
	assert_number(p.result[0].sums.waited, 0, 0);
	unplay(&p);
	/* The second waits from 10 on for the first, which the third, the last, is
	 * submitted at the end of. */
	get_ready(&p, NULL,
	          SWF(1, 0, 90, 12, 12, -1) SWF(2, 10, 100, 16, 16, -1)
	                  SWF(3, 90, 50, 16, 16, -1),
	          "Match Pattern=none\n");
	play_ready(&p, flat, 1);
	assert_number(p.result[0].sums.passed, 240, 1e-9);
	assert_number(p.result[0].sums.waited, 80, 1e-9);
	assert_number(p.result[0].sums.used, 80 * 12 / 16.0, 1e-9);
	unplay(&p);
	/* A ring of 5 has two messages on each of its links, wherever: all of
	 * the share that communicates they are busy. */
	get_ready(&p, NULL, SWF(1, 0, 100, 5, 5, -1),
	          "Match Pattern=ring Share=40\n");
	play_ready(&p, flat, 1);
	assert_int_equal(p.result[0].n_spans, 1);
	assert_number(p.result[0].span[0].busiest, 0.4, 1e-9);
	assert_number(p.result[0].span[0].seconds, 100, 1e-6);
	assert_number(p.result[0].job[0].communication, 40, 1e-6);
	unplay(&p);
	/* All of it taken: no node is free, none is lost. */
	get_ready(&p, NULL, SWF(1, 0, 100, 16, 16, -1), "Match Pattern=none\n");
	play_ready(&p, flat, 1);
	assert_number(p.result[0].sums.passed, 100, 0);
	assert_number(p.result[0].sums.fragmented, 0, 0);
	unplay(&p);
}

struct told {
	int64_t n, of;
};

static void tell(void *arg, int64_t done, int64_t of)
{
	struct told *told = arg;

	assert_int_equal(done, ++told->n);
	told->of = of;
}

static void test_progress(void **state)
{
	static const char *const two[] = {"flat", "tree"};
	struct told told = {0};
	struct played p;

	get_ready(&p, NULL,
	          SWF(1, 0, 10, 17, 17, -1) SWF(2, 5, 10, 16, 16, -1)
	                  SWF(3, 6, 10, 1, 1, -1),
	          "Match Pattern=none\n");
	p.c.progress = tell;
	p.c.progress_arg = &told;
	play_ready(&p, two, 2);
	assert_int_equal(told.n, 4);
	assert_int_equal(told.of, 4);
	assert_int_equal(p.result[1].too_large, 1);
	unplay(&p);
}

/* What results come to */

static void check_spread(const struct cpl_campaign_spread *s, double mean,
                         double median, double q95, double max)
{
	assert_number(s->mean, mean, 1e-12 * (1 + mean));
	assert_number(s->median, median, 0);
	assert_number(s->q95, q95, 0);
	assert_number(s->max, max, 0);
}

#define ROW(id, submit, run, nodes, name)                                      \
#id "|" #submit "|" #run "|" #nodes "|" #name "\n"

/* Five jobs by hand, of which one never ran. */
static const char by_hand[] =
        "JobID|Submit|Elapsed|NNodes|JobName\n" ROW(1, 0, 100, 4, a)
                ROW(2, 10, 5, 2, b) ROW(3, 20, 50, 8, c) ROW(4, 30, 10, 17, d)
                        ROW(5, 40, 20, 1, e);
static struct cpl_campaign_job here[] = {
        {.start = 0,
         .end = 110,
         .communication = 20,
         .slowdown = 2,
         .cost = 3,
         .interference = 0.2,
         .decision = 0.5},
        {.start = 60,
         .end = 64,
         .communication = 3,
         .slowdown = 9,
         .cost = 4,
         .interference = 0.6,
         .decision = 0.25},
        {.start = 110,
         .end = 160,
         .communication = 40,
         .slowdown = 8,
         .decision = 0.75,
         .groups = 4,
         .crossed = 1},
        {.start = -1, .end = -1, .groups = 8, .crossed = 8},
        {.start = 40, .end = 55, .slowdown = 1, .decision = 0.5, .groups = 2},
};
static struct cpl_campaign_job at_first[] = {
        {.start = 0, .end = 100, .communication = 10},
        {.start = 60, .end = 68},
        {.start = 100, .end = 140, .communication = 5},
        {.start = -1, .end = -1},
        {.start = 40, .end = 55},
};
static struct cpl_campaign_span spans[] = {
        {.seconds = 10, .busiest = 0.2},
        {.seconds = 30, .busiest = 0.1},
        {.seconds = 60, .busiest = 0.4},
};

static void test_summary(void **state)
{
	struct cpl_campaign_result result = {
	        .job = here,
	        .span = spans,
	        .n_spans = 3,
	        .sums = {.passed = 100, .fragmented = 20, .waited = 30, .used = 27}};
	struct cpl_campaign_result first = {.job = at_first};
	struct cpl_campaign_summary s;
	struct played p;

	get_ready(&p, NULL, by_hand, "Match Pattern=none\n");
	assert_int_equal(
	        cpl_campaign_summarise(&p.c, &result, &first, &s, NULL), 0);
	assert_int_equal(s.jobs, 4);
	assert_int_equal(s.sending, 2);
	/* 0, 0, 50, 90 */
	check_spread(&s.wait, 35, 0, 90, 90);
	/* 1.1, 54 / 10, 2.8, and 15 / 20, which is 1 */
	check_spread(&s.bounded_slowdown, (1.1 + 5.4 + 2.8 + 1) / 4, 1.1, 5.4,
	             5.4);
	check_spread(&s.decision, 0.5, 0.5, 0.75, 0.75);
	/* Over time: 0.1 for 30, 0.2 for 10, 0.4 for 60 seconds. */
	check_spread(&s.busiest, 0.29, 0.4, 0.4, 0.4);
	assert_number(s.fragmented, 0.2, 1e-12);
	assert_number(s.occupancy, 0.9, 1e-12);
	assert_int_equal(s.groups, 6);
	assert_int_equal(s.crossed, 1);
	assert_number(s.makespan, 160, 0);
	assert_number(s.run, 110 + 4 + 50 + 15, 1e-12);
	assert_number(s.node_seconds, 440 + 8 + 400 + 15, 1e-12);
	assert_number(s.utilisation, 863.0 / (16 * 160), 1e-12);
	assert_number(s.useful, (400 + 10 + 400 + 20) / (16.0 * 160), 1e-12);
	assert_number(s.communication, 60, 1e-12);
	/* 2 and 8, of both. */
	assert_number(s.communication_ratio, 4, 1e-12);
	assert_number(s.slowdown, 4, 1e-12);
	assert_number(s.cost, 7, 1e-12);
	assert_number(s.interference, 0.2, 1e-12);
	unplay(&p);
}

/* 20 values: the nineteenth is that of 95 %. */
static void test_percentiles(void **state)
{
	struct cpl_campaign_job job[20] = {{0}};
	struct cpl_campaign_result result = {.job = job};
	struct cpl_campaign_summary s;
	char text[20 * 40] = "JobID|Submit|Elapsed|NNodes\n";
	struct played p;

	for (int i = 0; i < 20; i++) {
		sprintf(text + strlen(text), "%d|0|100|1\n", i + 1);
		job[i] = (struct cpl_campaign_job){.start = (19 - i) * 10,
		                                   .end = 1000};
	}
	get_ready(&p, NULL, text, "Match Pattern=none\n");
	assert_int_equal(
	        cpl_campaign_summarise(&p.c, &result, &result, &s, NULL), 0);
	check_spread(&s.wait, 95, 90, 180, 190);
	/* Nothing was sent, no time has passed. */
	assert_number(s.communication_ratio, 1, 0);
	assert_number(s.slowdown, 1, 0);
	assert_number(s.fragmented, 0, 0);
	assert_number(s.occupancy, 0, 0);
	check_spread(&s.busiest, 0, 0, 0, 0);
	unplay(&p);
}

/* Rules of one class count together; who never ran, and classes without
 * anybody, do not. */
static void test_classes(void **state)
{
	static const struct cpl_campaign_class want[] = {
	        {"x", 2, 2, 160.0 / 140, 4, 45},
	        {"y", 1, 0, 0.5, 1, 50},
	        {"none", 1, 0, 1, 1, 0},
	};
	struct cpl_campaign_result result = {.job = here};
	struct cpl_campaign_result first = {.job = at_first};
	struct cpl_campaign_class *class;
	struct played p;
	int n = 0;

	get_ready(&p, NULL, by_hand,
	          "Match Name=a Pattern=ring Class=x\n"
	          "Match Name=d Pattern=ring Class=z\n"
	          "Match Name=b Pattern=ring Class=y\n"
	          "Match Name=c Pattern=ring Class=x\n");
	class = cpl_campaign_classes(&p.c, &result, &first, &n, NULL);
	assert_non_null(class);
	assert_int_equal(n, 3);
	for (int i = 0; i < n; i++) {
		assert_string_equal(class[i].name, want[i].name);
		assert_int_equal(class[i].jobs, want[i].jobs);
		assert_int_equal(class[i].sending, want[i].sending);
		assert_number(class[i].run_ratio, want[i].run_ratio, 1e-12);
		assert_number(class[i].communication_ratio,
		              want[i].communication_ratio, 1e-12);
		assert_number(class[i].wait, want[i].wait, 1e-12);
	}
	free(class);
	unplay(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_running_by_number),
	        cmocka_unit_test(test_stretches),
	        cmocka_unit_test(test_running_jobs_fit_together),
	        cmocka_unit_test(test_running_as_from_scratch),
	        cmocka_unit_test(test_harm_of_running),
	        cmocka_unit_test(test_the_studys_model),
	        cmocka_unit_test(test_stock_of_the_silent),
	        cmocka_unit_test(test_spans),
	        cmocka_unit_test(test_progress),
	        cmocka_unit_test(test_summary),
	        cmocka_unit_test(test_percentiles),
	        cmocka_unit_test(test_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
