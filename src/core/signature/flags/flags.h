/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A training step's signature from what starts the training: the command line of
 * Megatron-LM, or a configuration of DeepSpeed (JSON), torchtitan (TOML), NeMo (YAML)
 * or a model's config.json of Hugging Face. The signature has one phase "step" with
 * the pattern llm, "complete".
 */
#pragma once

#include <stddef.h>

#include "signature/signature.h"

/* Zero-initialise it. All are read in this order, files that words name (--deepspeed
 * ds.json, --job.config_file run.toml) before these; a later value wins. */
struct cpl_flags_request {
	const char *const *file; /* [n_files], by their names or contents */
	int n_files;
	const char *const *word; /* [n_words] of the command line; a single one that
	                            has blanks is split like a shell's */
	int n_words;
	int ranks;        /* 0: as --nnodes and --nproc-per-node and the like say */
	const char *name; /* of the signature */
};

/*
 * This returns a signature, or NULL with err. Its "recorded" has: "communication" as
 * an import of AICB tells it (calls and bytes of a rank of the first stage, bytes that
 * all sent); "not_understood": what may change the communication and is not known,
 * as "key=value"; "assumed": what nobody said; "harmless": how many others there
 * are. It costs O(bytes log keys).
 */
struct cpl_signature *
cpl_signature_from_flags(const struct cpl_flags_request *request,
                         struct cpl_error *err);

/* The same of a file's text; its name tells the format as above. */
struct cpl_signature *cpl_signature_from_config(const char *text, size_t length,
                                                const char *name, int ranks,
                                                struct cpl_error *err);
