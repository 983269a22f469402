/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signatures of training without memory: each allocation of ours fails once, and
 * whoever asked is told. */
#include "unit.h"

#include "failing_alloc.h"
#include "signature/flags/flags.h"
#include "signature/import/import.h"

static struct cpl_signature *workload(struct cpl_error *err)
{
	static const char text[] =
	        "[rank0 ~ rank3]\n"
	        "comm_type,comm_group,comm_group_size,msg_size,stage\n"
	        "all_reduce,tp_group,2,8,forward\nbroadcast,dp_group,2,8,init\n"
	        "all_gather,tp_group,2,8,forward\nall_reduce,tp_group,2,8,step\n";

	return cpl_signature_import_text(text, strlen(text), "f", "aicb", "n",
	                                 NULL, err);
}

static struct cpl_signature *words(struct cpl_error *err)
{
	static const char *const word =
	        "--num-layers 2 --hidden-size 8 --seq-length 8 --odd-expert 3 "
	        "--tensor-model-parallel-size 2 --num-experts 2 --bf16 "
	        "--context-parallel-size 2 --moe-expert-capacity-factor 1.5";
	const struct cpl_flags_request request = {
	        .word = &word, .n_words = 1, .ranks = 8, .name = "n"};

	return cpl_signature_from_flags(&request, err);
}

static struct cpl_signature *toml(struct cpl_error *err)
{
	static const char text[] = "[model]\nflavor = \"debugmodel\"\n"
	                           "[training]\nseq_len = 8\n[a]\nb = [1]\n";

	return cpl_signature_from_config(text, strlen(text), "f.toml", 2, err);
}

static struct cpl_signature *json(struct cpl_error *err)
{
	static const char text[] = "{\"hidden_size\": 8, \"num_hidden_layers\": 2,"
	                           "\"zero_optimization\": {\"stage\": 3}}";

	return cpl_signature_from_config(text, strlen(text), "f.json", 2, err);
}

static void fail_each(struct cpl_signature *(*make)(struct cpl_error *err))
{
	int without = 0;

	for (int n = 0;; n++) {
		struct cpl_error err = {""};
		struct cpl_signature *sig;

		left = n;
		sig = make(&err);
		without += sig && left < 0;
		cpl_signature_free(sig);
		if (left >= 0) {
			left = -1;
			assert_non_null(sig);
			break;
		}
		left = -1;
		if (!sig)
			assert_string_not_equal(err.text, "");
		assert_true(n < 100000);
	}
	/* A matrix that cannot shrink stays as long as it was. */
	assert_in_range(without, 0, 12);
}

static void test_workload(void **state)
{
	fail_each(workload);
}

static void test_words(void **state)
{
	fail_each(words);
}

static void test_files(void **state)
{
	fail_each(toml);
	fail_each(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_workload),
	        cmocka_unit_test(test_words),
	        cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
