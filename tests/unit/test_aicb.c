/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Workloads of AICB: phases, groups and refusals. */
#include "unit.h"

#include "signature/import/import.h"

#define HEAD                                                                   \
	"comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,"         \
	"additional,_elapsed_time,algbw,busbw,count\n"
#define ROW(type, group, size, bytes, stage)                                   \
	"CommType." type ",CommGroup." group "," size "," bytes "," stage      \
	",None,None,,None,None,None,1\n"
#define SEND(type, bytes, stage, additional)                                   \
	"CommType." type ",CommGroup.pp_group,1," bytes "," stage              \
	",None,None," additional ",None,None,None,1\n"
#define END "CommType.epoch_end,None,None,0,,None,None,,None,None,None,1\n"

static struct cpl_signature *import(const char *text, struct cpl_error *err)
{
	return cpl_signature_import_text(text, strlen(text), "f", "aicb", "n",
	                                 NULL, err);
}

/* "NAME xWEIGHT: FROM>TO BYTES/MESSAGES ...; ..." */
static void write_all(const struct cpl_signature *sig, char *out, size_t size)
{
	size_t n = 0;

	for (int p = 0; p < sig->n_phases; p++) {
		const struct cpl_phase *phase = &sig->phase[p];
		const struct cpl_comm *c = phase->comm;

		n += (size_t)snprintf(out + n, size - n, "%s%s x%g:",
		                      p ? "; " : "", phase->name,
		                      phase->weight);
		for (int r = 0; r < sig->ranks; r++)
			for (int64_t i = c->row[r]; i < c->row[r + 1]; i++)
				n += (size_t)snprintf(out + n, size - n,
				                      " %d>%d %g/%g", r,
				                      c->to[i], c->bytes[i],
				                      c->messages[i]);
	}
}

static void test_phases(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
	        /* All-reduce: each of 2 sends 2 (1/2) of 100, in 2 messages. */
	        {"[rank0 ~ rank3]\n" HEAD
	         ROW("all_reduce", "tp_group", "2", "100", "forward.x"),
	         "step.tp_group.all_reduce x1: 0>1 100/2 1>0 100/2 2>3 100/2 "
	         "3>2 100/2"},
	        /* Data parallel ranks are tp apart; msg_size is what an all-gather
	         * makes, of which (n - 1) / n go round. */
	        {"[rank0 ~ rank3]\r\n" HEAD
	         ROW("barrier", "all", "4", "77", "init.x")
	         ROW("all_reduce", "tp_group", "2", "0", "init.x") END
	         ROW("all_gather", "dp_group", "2", "100.0", "step")
	         ROW("reduce_scatter", "dp_group", "2", "10", "step"),
	         "step.dp_group.all_gather x1: 0>2 50/1 1>3 50/1 2>0 50/1 3>1 "
	         "50/1; step.dp_group.reduce_scatter x1: 0>2 5/1 1>3 5/1 2>0 "
	         "5/1 3>1 5/1"},
	        /* Two steps: their mean, twice. Without the ranks the groups make
	         * them; other enum spellings. */
	        {HEAD "all_to_all,ep_group,3,12,forward,,,,,,,2\n" END
	              "all_to_all,ep_group,3,12,forward,,,,,,,1\n"
	              "reduce,dp_group,3,8,step,1,None,,,,,1.0\n" END,
	         "step.dp_group.reduce x2: 0>1 4/0.5 2>0 4/0.5; "
	         "step.ep_group.all_to_all x2: 0>1 6/1.5 0>2 6/1.5 1>0 6/1.5 "
	         "1>2 6/1.5 2>0 6/1.5 2>1 6/1.5"},
	        /* A broadcast goes down the ring from its root. */
	        {"[rank0 ~ rank2]\n" HEAD
	         "broadcast,dp_group,3,8,init,None,1,,,,,1\n",
	         "init.dp_group.broadcast x1: 1>2 8/1 2>0 8/1"},
	        /* What the first stage sends and receives, in stages of 2 ranks;
	         * computation has no size of bytes. */
	        {"[rank0 ~ rank5]\n" HEAD
	         ROW("all_reduce", "tp_group", "2", "0", "forward")
	         ROW("all_reduce", "pp_group", "3", "0", "init")
	         "CommType.computation,CommGroup.all,,\"((1, 2), (2, 3))\",x\n"
	         SEND("isend", "7", "forward_step", "send_next")
	         SEND("irecv", "5", "backward_step", "recv_next")
	         SEND("irecv", "6", "forward_step", "recv_prev"),
	         "step.pp_group.isend x1: 0>2 7/1 1>3 7/1 2>0 5/1 2>4 7/1 3>1 "
	         "5/1 3>5 7/1 4>2 5/1 5>3 5/1"},
	        /* Ranks of their own sections; without `additional` the stage's name
	         * says which way. */
	        {"[rank0 ~ rank0]\n" HEAD
	         SEND("isend", "7", "forward_step", "")
	         "[rank1 ~ rank1]\n" HEAD
	         SEND("irecv", "7", "forward_step", "")
	         SEND("isend", "3", "backward_step", ""),
	         "step.pp_group.isend x1: 0>1 7/1 1>0 3/1"},
	        /* So AICB names the stages of a pipeline; two steps of both are two. */
	        {"[ pp_stage0: [rank0, rank1] ]\n" HEAD
	         ROW("all_reduce", "tp_group", "2", "8", "forward")
	         SEND("isend", "7", "forward_step", "send_next") END
	         ROW("all_reduce", "tp_group", "2", "8", "forward")
	         SEND("isend", "7", "forward_step", "send_next") END
	         "[ pp_stage1: [rank2, rank3] ]\n" HEAD
	         ROW("all_reduce", "tp_group", "2", "4", "forward")
	         SEND("irecv", "7", "forward_step", "recv_prev") END
	         ROW("all_reduce", "tp_group", "2", "4", "forward")
	         SEND("irecv", "7", "forward_step", "recv_prev") END,
	         "step.tp_group.all_reduce x2: 0>1 8/2 1>0 8/2 2>3 4/2 3>2 4/2; "
	         "step.pp_group.isend x2: 0>2 7/1 1>3 7/1"},
	        /* The first and the last stage have the embedding. */
	        {"[rank0 ~ rank2]\n" HEAD
	         ROW("all_reduce", "pp_group", "3", "0", "init")
	         ROW("all_reduce", "embedding_group", "2", "9", "step"),
	         "step.embedding_group.all_reduce x1: 0>2 9/2 2>0 9/2"},
	        /* Experts: groups of neighbours, and across these. */
	        {"[rank0 ~ rank3]\n" HEAD
	         ROW("all_gather", "ep_group", "2", "8", "forward")
	         ROW("all_reduce", "ep_dp_group", "2", "6", "step")
	         ROW("all_gather", "dp_group", "4", "0", "step"),
	         "step.ep_group.all_gather x1: 0>1 4/1 1>0 4/1 2>3 4/1 3>2 "
	         "4/1; step.ep_dp_group.all_reduce x1: 0>2 6/2 1>3 6/2 2>0 6/2 "
	         "3>1 6/2"},
	};
	char got[2048];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cpl_error err = {""};
		struct cpl_signature *sig = import(cases[i].text, &err);

		if (!sig)
			fail_msg("case %zu: %s", i, err.text);
		write_all(sig, got, sizeof(got));
		cpl_signature_free(sig);
		assert_string_equal(got, cases[i].want);
	}
}

/* The file's own sums, and what all ranks send. */
static void test_communication(void **state)
{
	const char *text = "[rank0 ~ rank7]\n" HEAD
	        ROW("all_reduce", "tp_group", "2", "100", "forward")
	        ROW("all_reduce", "tp_group", "2", "30", "backward") END
	        ROW("all_reduce", "tp_group", "2", "30", "backward") END;
	struct cpl_error err = {""};
	struct cpl_signature *sig = import(text, &err);

	assert_non_null(sig);
	assert_non_null(strstr(
	        sig->recorded,
	        "\"communication\": [{\"phase\": \"step.tp_group.all_reduce\", "
	        "\"group\": \"tp_group\", \"collective\": \"all_reduce\", "
	        "\"size\": 2, \"groups\": 4, \"calls\": 3, \"bytes\": 160, "
	        "\"sent\": 1280}]"));
	cpl_signature_free(sig);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
	        {"", "f:0: the header is missing"},
	        {"a,b\n", "f:1: is no header of AICB"},
	        {"[rank0 ~ rank\n", "f:1: is no line such as"},
	        {"[rank3 ~ rank1]\n", "f:1: is no line such as"},
	        {"[rank0 ~ rank16777216]\n", "f:1: rank 16777216: at most"},
	        {HEAD END, "f: has no operations"},
	        {HEAD "all_reduce\n", "f:2: has 1 fields; the header has 12"},
	        {HEAD ROW("gossip", "tp_group", "2", "1", "x"),
	         "f:2: comm_type 'gossip' is unknown"},
	        {HEAD ROW("reduce", "xp_group", "2", "1", "x"),
	         "f:2: comm_group 'xp_group' is unknown"},
	        {HEAD ROW("reduce", "tp_group", "2", "-1", "x"),
	         "f:2: msg_size: '-1' is no integer"},
	        {HEAD ROW("reduce", "tp_group", "2", "1.5", "x"),
	         "f:2: msg_size: '1.5' is no integer"},
	        {HEAD ROW("reduce", "tp_group", "2", "9223372036854775808", "x"),
	         "f:2: msg_size: '9223372036854775808' is no integer"},
	        {HEAD ROW("reduce", "tp_group", "2", "9223372036854775807", "x"),
	         "f:2: msg_size: '9223372036854775807' is no integer"},
	        {HEAD "reduce,tp_group,2,1000000000000000000,x,0,,,,,,2\n",
	         "f:2: msg_size times count is more than 1e18"},
	        {HEAD "reduce,tp_group,2,1000000000000000000,x,0,,,,,,1\n"
	              "reduce,tp_group,2,1,x,0,,,,,,1\n",
	         "f: tp_group has more than 1e18 bytes"},
	        {HEAD ROW("reduce", "tp_group", "2", "None", "x"),
	         "f:2: msg_size is missing"},
	        {HEAD ROW("reduce", "tp_group", "0", "1", "x"),
	         "f:2: comm_group_size: '0' is no integer"},
	        {HEAD ROW("reduce", "tp_group", "2", "1", "x")
	              ROW("reduce", "tp_group", "3", "1", "x"),
	         "f:3: tp_group has 3 ranks, and 2 in a row before"},
	        {HEAD "reduce,tp_group,2,8,step,2,,,,,,1\n",
	         "f: tp_group: rank 2 of 2 is the root"},
	        {"[rank0 ~ rank6]\n" HEAD
	         ROW("all_reduce", "tp_group", "2", "1", "x"),
	         "f: groups of tp 2, cp 1, dp 3 and pp 1 do not make the 7 "
	         "ranks"},
	        {"[rank0 ~ rank5]\n" HEAD
	         ROW("all_reduce", "dp_group", "6", "1", "x")
	         ROW("all_to_all", "ep_group", "4", "1", "x"),
	         "f: groups of 4 experts do not divide the 6 ranks"},
	        {"[rank0 ~ rank5]\n" HEAD
	         ROW("all_to_all", "ep_group", "None", "1", "x"),
	         "f: no row states the size of ep_group; --ep does"},
	        {HEAD ROW("all_reduce", "tp_group", "16777216", "1", "x")
	              ROW("all_reduce", "pp_group", "16777216", "1", "x"),
	         "f: groups of tp 16777216, cp 1"},
	        {HEAD ROW("all_reduce", "tp_group", "1", "1", "x"),
	         "f: says of no rank that it sends anything"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct cpl_error err = {""};
		struct cpl_signature *sig = import(bad[i].text, &err);

		cpl_signature_free(sig);
		if (sig || strncmp(err.text, bad[i].why, strlen(bad[i].why)))
			fail_msg("case %zu: '%s', not '%s'", i, err.text,
			         bad[i].why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_phases),
	        cmocka_unit_test(test_communication),
	        cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
