/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pattern llm, with bytes that were computed by hand. A model of 1 layer, 2 hidden
 * and a sequence of 2 has activations of 2 x 2 x 2 = 8 bytes and 12 x 4 + 13 x 2 = 74
 * parameters, and 2 x 2 of positions: gradients of 156 bytes. */
#include "unit.h"

#include "signature/signature.h"

static struct cpl_signature *parse(int ranks, const char *params,
                                   struct cpl_error *err)
{
	char text[600];

	snprintf(text, sizeof(text),
	         "{\"format\":\"commplace-signature\",\"version\":1,\"ranks\":%d"
	         ",\"phases\":[{\"pattern\":{\"type\":\"llm\",\"layers\":1,"
	         "\"hidden\":2,\"sequence\":2%s}}]}",
	         ranks, params);
	return cpl_signature_parse(text, strlen(text), "f", err);
}

/* "FROM>TO:BYTES/MESSAGES ..." of all entries of rank 0 */
static void write_first(const struct cpl_comm *c, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (int64_t i = c->row[0]; i < c->row[1]; i++)
		n += (size_t)snprintf(out + n, size - n, "%s>%d:%g/%g",
		                      n ? " " : "", c->to[i], c->bytes[i],
		                      c->messages[i]);
}

#define LLAMA                                                                  \
	",\"kv_hidden\":1,\"feed_forward\":3,\"gated\":true,\"bias\":false,"   \
	"\"norm_bias\":false,\"positions\":false,\"tied\":false,"              \
	"\"vocabulary\":5,\"dp\":2"

static void test_rows(void **state)
{
	static const struct {
		int ranks;
		const char *params, *want;
	} cases[] = {
	        /* 2 x 2 x 2 bytes of a token's keys and values pass 3 times; both
	         * ranks have the same parameters. */
	        {2, ",\"cp\":2", ">1:180/5"},
	        /* Gathered twice, 8 of 16 each; gradients scattered once. */
	        {2, ",\"cp\":2,\"context\":\"all-gather\"", ">1:180/5"},
	        /* Query, key, value and output of a token, 16 bytes: half there, and
	         * again backward. */
	        {2, ",\"cp\":2,\"context\":\"all-to-all\"", ">1:172/4"},
	        {4, ",\"cp\":2,\"tp\":2", ">1:16/8 >2:90/5"},
	        /* Half of 156 each: gradients to their owners, parameters back. */
	        {2, ",\"dp\":2,\"zero\":1", ">1:156/2"},
	        {2, ",\"dp\":2,\"zero\":1,\"gradient_bytes\":4", ">1:234/2"},
	        {2, ",\"dp\":2,\"zero\":1,\"micro_batches\":3", ">1:156/2"},
	        {2, ",\"dp\":2,\"zero\":2,\"micro_batches\":3", ">1:312/4"},
	        {2, ",\"dp\":2,\"zero\":2,\"gradients\":\"all-reduce\"",
	         ">1:234/3"},
	        {2, ",\"dp\":2,\"zero\":3,\"micro_batches\":3", ">1:702/9"},
	        {2, ",\"dp\":2,\"zero\":3,\"micro_batches\":3,\"reshard\":false",
	         ">1:468/6"},
	        /* Shards of two ranks, and the other two with the same. */
	        {4, ",\"dp\":4,\"zero\":3,\"shard\":2", ">1:234/3 >2:78/2"},
	        /* 2 (4 + 2) + 3 (2 x 3) weights, 2 x 2 of norms, 2 x 5 x 2 of
	         * vocabulary; with 2 of the last norm and the loss' mean. */
	        {2, LLAMA, ">1:108/2"},
	        {2, LLAMA ",\"complete\":true", ">1:116/4"},
	        /* 4 sums of 8 bytes, 2 of the ends, 3 of 2 floats. */
	        {2, ",\"tp\":2,\"complete\":true,\"vocabulary\":4", ">1:72/18"},
	        /* 7 gathers and 5 scatters of a half of 8 bytes in the layer and at
	         * its ends, and one more each of the logits. */
	        {2,
	         ",\"tp\":2,\"complete\":true,\"vocabulary\":4,"
	         "\"sequence_parallel\":true",
	         ">1:84/21"},
	        /* 62 parameters are split, 12 + 4 of norms and rows are whole. */
	        {4,
	         ",\"tp\":2,\"dp\":2,\"complete\":true,\"positions\":false",
	         ">1:32/8 >2:94/2"},
	        /* Room for half as much again, 32 parameters of a shared expert. */
	        {2,
	         ",\"dp\":2,\"ep\":2,\"experts\":2,\"top_k\":1,"
	         "\"capacity_factor\":1.5,\"shared_experts\":1",
	         ">1:180/6"},
	        /* Attention's block is gathered 3 and scattered 2 times, what is
	         * routed 2 times each. */
	        {2,
	         ",\"tp\":2,\"experts\":1,\"top_k\":1,\"complete\":true,"
	         "\"sequence_parallel\":true",
	         ">1:36/9"},
	        /* Experts across context parallel ranks: 16 / 2 of tokens 4 times is
	         * half of that with cp 1. */
	        {2,
	         ",\"cp\":2,\"ep\":2,\"experts\":2,\"top_k\":1,"
	         "\"expert_feed_forward\":1",
	         ">1:124/9"},
	        /* Forward twice: 2 sums more; 2 of 4 gathers and scatters; once more
	         * round. */
	        {2, ",\"tp\":2,\"recompute\":true", ">1:48/12"},
	        {2,
	         ",\"tp\":2,\"complete\":true,\"sequence_parallel\":true,"
	         "\"recompute\":true",
	         ">1:56/14"},
	        {2, ",\"cp\":2,\"recompute\":true", ">1:188/6"},
	        /* 2 (4 + 4) weights of attention and 32 of the block, no biases. */
	        {2,
	         ",\"dp\":2,\"bias\":false,\"norm_bias\":false,"
	         "\"positions\":false,\"attention_hidden\":6",
	         ">1:136/2"},
	        {2, ",\"dp\":2,\"zero\":0,\"cp\":1,\"shard\":2,\"prefetch\":9",
	         ">1:156/2"},
	};
	char got[200];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cpl_error err = {""};
		struct cpl_signature *sig =
		        parse(cases[i].ranks, cases[i].params, &err);

		if (!sig)
			fail_msg("%s: %s", cases[i].params, err.text);
		write_first(sig->phase[0].comm, got, sizeof(got));
		cpl_signature_free(sig);
		if (strcmp(got, cases[i].want))
			fail_msg("%s: '%s', not '%s'", cases[i].params, got,
			         cases[i].want);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *params, *why;
	} bad[] = {
	        {",\"cp\":3", "\"sequence\" is 2, no multiple of \"cp\", 3"},
	        {",\"cp\":2,\"dp\":2,\"ep\":3",
	         "\"ep\" is 3; experts are spread inside of \"cp\" times"},
	        {",\"cp\":16777216,\"dp\":2", "\"tp\" times \"cp\" times"},
	        {",\"dp\":4,\"shard\":3", "\"shard\" is 3, which does not"},
	        {",\"zero\":4", "\"zero\""},
	        {",\"zero\":2147483648", "\"zero\""},
	        {",\"context\":\"tree\"",
	         "\"context\" is \"tree\"; it must be ring, or all-gather, or "
	         "all-to-all"},
	        {",\"gradients\":\"tree\"",
	         "\"gradients\" is \"tree\"; it must be reduce-scatter, or "
	         "all-reduce"},
	        {",\"capacity_factor\":-1", "\"capacity_factor\""},
	        {",\"gated\":1", "\"gated\""},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct cpl_error err = {""};
		struct cpl_signature *sig = parse(1, bad[i].params, &err);

		cpl_signature_free(sig);
		if (sig || !strstr(err.text, bad[i].why))
			fail_msg("%s: '%s'", bad[i].params, err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_rows),
	        cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
