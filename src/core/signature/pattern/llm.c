/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One step of training a transformer on a grid of tensor, data (with expert and
 * sequence parallelism inside) and pipeline parallel ranks, in the order of
 * Megatron-LM: tensor the fastest, then data, then pipeline.
 *
 * Bytes, with h hidden, s sequence, b of a micro batch, m micro batches a step,
 * l layers, V vocabulary, t, d, p, e the grid, w bytes of an element, and an
 * all-reduce of n ranks as a ring, in which each sends 2 (n - 1) / n of it:
 *   tensor    4 all-reduces of b s h a layer and micro batch (Narayanan et al.
 *             2021, 3.2); sequence parallelism sends as much, as all-gathers
 *             and reduce-scatters (Korthikanti et al. 2022, 4.2.2)
 *   pipeline  b s h a micro batch to the next stage, and back (Narayanan, 3.2);
 *             a t-th of it where ranks have parts of the sequence; with v
 *             chunks of layers a rank, v times that, and round (2.2)
 *   data      an all-reduce of the gradients of the rank's parameters, 12 h h +
 *             13 h a layer, (V + s) h in the first stage (Narayanan, eq. 2),
 *             and V h in the last, whose copy of the embedding is added to
 *             that of the first
 *   expert    4 all-to-alls a layer and micro batch of k b s h among e ranks
 *             (dispatch and combine, there and back: Lepikhin et al. 2020);
 *             of the 12 h h, 8 are those of each expert, all-reduced among the
 *             d / e ranks that have the same ones
 */
#include "signature/pattern/pattern.h"

#include "base/json.h"
#include "signature/signature_internal.h"

static const char *const keys[] = {
        "type",        "tp",           "dp",
        "pp",          "ep",           "layers",
        "hidden",      "sequence",     "micro_batch",
        "micro_batches", "vocabulary", "element_bytes",
        "gradient_bytes", "sequence_parallel", "chunks",
        "experts",     "top_k",        NULL};

static int take_grid(const json_t *params, struct pattern *p,
                     struct cpl_error *err)
{
	struct pattern_llm *m = &p->llm;
	const int most = CPL_SIGNATURE_MAX_RANKS;
	int64_t ranks;

	m->tp = m->dp = m->pp = m->ep = 1;
	if (cpl_json_take_int(params, "tp", 1, most, &m->tp, err) ||
	    cpl_json_take_int(params, "dp", 1, most, &m->dp, err) ||
	    cpl_json_take_int(params, "pp", 1, most, &m->pp, err) ||
	    cpl_json_take_int(params, "ep", 1, PATTERN_MAX_DEGREE, &m->ep, err))
		return -1;
	ranks = (int64_t)m->tp * m->dp;
	if (ranks > most || ranks * m->pp > most)
		return cpl_fail(err,
		                "\"tp\" times \"dp\" times \"pp\" is more than "
		                "%d ranks",
		                most);
	if (m->dp % m->ep)
		return cpl_fail(err,
		                "\"ep\" is %d; experts are spread inside of "
		                "\"dp\", which is %d and no multiple of it",
		                m->ep, m->dp);
	p->ranks = (int)(ranks * m->pp);
	return 0;
}

/* These are the sizes of the model as they are in the object. */
struct sizes {
	int layers, hidden, sequence, micro_batch, micro_batches, vocabulary;
	int element, gradient, experts, top_k;
};

static int take_sizes(const json_t *params, const struct pattern_llm *m,
                      struct sizes *s, struct cpl_error *err)
{
	*s = (struct sizes){.micro_batch = 1,
	                    .micro_batches = 1,
	                    .element = 2,
	                    .top_k = 2};
	if (cpl_json_take_int(params, "layers", 1, 1000000, &s->layers, err) ||
	    cpl_json_take_int(params, "hidden", 1, 10000000, &s->hidden, err) ||
	    cpl_json_take_int(params, "sequence", 1, 1 << 30, &s->sequence,
	                      err) ||
	    cpl_json_take_int(params, "micro_batch", 1, 1000000,
	                      &s->micro_batch, err) ||
	    cpl_json_take_int(params, "micro_batches", 1, 1000000,
	                      &s->micro_batches, err) ||
	    cpl_json_take_int(params, "vocabulary", 0, 1 << 30, &s->vocabulary,
	                      err) ||
	    cpl_json_take_int(params, "element_bytes", 1, 8, &s->element, err))
		return -1;
	s->gradient = s->element;
	if (cpl_json_take_int(params, "gradient_bytes", 1, 8, &s->gradient,
	                      err) ||
	    cpl_json_take_int(params, "experts", 0, 1000000, &s->experts,
	                      err) ||
	    cpl_json_take_int(params, "top_k", 1, 1000000, &s->top_k, err))
		return -1;
	if (s->layers % m->pp)
		return cpl_fail(err,
		                "\"layers\" is %d, no multiple of \"pp\", %d",
		                s->layers, m->pp);
	if (m->ep > 1 && (s->experts < m->ep || s->experts % m->ep))
		return cpl_fail(err,
		                "\"experts\" is %d, no multiple of \"ep\", %d",
		                s->experts, m->ep);
	if (s->experts && s->top_k > s->experts)
		return cpl_fail(err, "\"top_k\" is %d, of %d \"experts\"",
		                s->top_k, s->experts);
	return 0;
}

/* In a ring of n, this is what a rank sends for an all-reduce of so many bytes. */
static double ring_bytes(double bytes, int n)
{
	return 2.0 * (n - 1) / n * bytes;
}

static void set_bytes(struct pattern_llm *m, const struct sizes *s, int chunks,
                      bool parts)
{
	double h = s->hidden, layers = (double)s->layers / m->pp;
	double activation =
	        (double)s->micro_batch * s->sequence * h * s->element;
	double part = parts ? activation / m->tp : activation;
	double rounds = layers * s->micro_batches;
	double dense = (s->experts ? 4 * h * h : 12 * h * h) + 13 * h;
	double expert = s->experts ? 8 * h * h * s->experts / m->ep : 0;

	m->tensor = rounds * 4 * ring_bytes(activation, m->tp);
	m->tensor_messages = rounds * 4 * 2 * (m->tp - 1);
	m->pipeline = s->micro_batches * part;
	m->pipeline_messages = s->micro_batches;
	m->chunks = chunks;
	m->gradients = layers * dense / m->tp * s->gradient;
	m->first = ((double)s->vocabulary + s->sequence) * h / m->tp *
	           s->gradient;
	m->last = (double)s->vocabulary * h / m->tp * s->gradient;
	m->expert_gradients = layers * expert / m->tp * s->gradient;
	m->expert = s->experts ? rounds * 4 * s->top_k * part / m->ep : 0;
	m->expert_messages = rounds * 4;
}

static int parse(const json_t *params, struct pattern *p, struct cpl_error *err)
{
	struct pattern_llm *m = &p->llm;
	bool parts = false;
	struct sizes s;
	int chunks = 1;

	if (take_grid(params, p, err) || take_sizes(params, m, &s, err) ||
	    cpl_json_bool(params, "sequence_parallel", &parts, err) < 0 ||
	    cpl_json_take_int(params, "chunks", 1, 1000000, &chunks, err))
		return -1;
	if (s.layers / m->pp % chunks)
		return cpl_fail(err,
		                "\"chunks\" is %d; the %d layers of a stage "
		                "are no multiple",
		                chunks, s.layers / m->pp);
	set_bytes(m, &s, chunks, parts);
	if (m->tensor + m->pipeline * chunks + m->gradients + m->first +
	            m->expert + m->expert_gradients >
	    SIGNATURE_MAX_AMOUNT / 4)
		return cpl_fail(err, "a rank sends more than 1e18 bytes");
	/* These are rings of tensor, data and experts, the stages before and
	 * behind, and the other end of the embedding. */
	p->max_degree = 6 + (m->ep - 1);
	return 0;
}

static int64_t put_entry(struct cpl_comm_entry *out, int64_t n, int from,
                         int to, double bytes, double messages)
{
	if (to == from || !(bytes > 0))
		return n;
	out[n] = (struct cpl_comm_entry){from, to, bytes, messages};
	return n + 1;
}

/* This is the rank at these coordinates of the grid. */
static int rank_at(const struct pattern_llm *m, int t, int d, int stage)
{
	return t + m->tp * (d + m->dp * stage);
}

/* A rank sends to the stages behind (forward) and before (backward), and round with
 * chunks, which the last stage hands on one time less. */
static int64_t stages(const struct pattern_llm *m, int rank, int t, int d,
                      int stage, struct cpl_comm_entry *out, int64_t n)
{
	int next = (stage + 1) % m->pp, before = (stage + m->pp - 1) % m->pp;
	int forward = stage == m->pp - 1 ? m->chunks - 1 : m->chunks;
	int backward = stage == 0 ? m->chunks - 1 : m->chunks;

	if (m->pp == 1)
		return n;
	n = put_entry(out, n, rank, rank_at(m, t, d, next),
	              forward * m->pipeline, forward * m->pipeline_messages);
	return put_entry(out, n, rank, rank_at(m, t, d, before),
	                 backward * m->pipeline,
	                 backward * m->pipeline_messages);
}

static int64_t row(const struct pattern *p, int rank,
                   struct cpl_comm_entry *out)
{
	const struct pattern_llm *m = &p->llm;
	int t = rank % m->tp, d = rank / m->tp % m->dp;
	int stage = rank / m->tp / m->dp, group = d / m->ep * m->ep;
	int same = m->dp / m->ep;
	bool first = stage == 0, last = stage == m->pp - 1;
	double gradients = m->gradients + (first ? m->first : 0) +
	                   (last && !first ? m->last : 0);
	int64_t n = 0;

	n = put_entry(out, n, rank, rank_at(m, (t + 1) % m->tp, d, stage),
	              m->tensor, m->tensor_messages);
	n = put_entry(out, n, rank, rank_at(m, t, (d + 1) % m->dp, stage),
	              ring_bytes(gradients, m->dp), 2.0 * (m->dp - 1));
	n = put_entry(out, n, rank, rank_at(m, t, (d + m->ep) % m->dp, stage),
	              ring_bytes(m->expert_gradients, same), 2.0 * (same - 1));
	for (int i = group; i < group + m->ep; i++)
		n = put_entry(out, n, rank, rank_at(m, t, i, stage), m->expert,
		              m->expert_messages);
	n = stages(m, rank, t, d, stage, out, n);
	if (first != last)
		n = put_entry(out, n, rank,
		              rank_at(m, t, d, first ? m->pp - 1 : 0),
		              ring_bytes(m->last, 2), 2);
	return n;
}

const struct pattern_type pattern_llm = {
        .name = "llm",
        .summary = "a training step of a transformer on parallel grids",
        .keys = keys,
        .parse = parse,
        .row = row,
};
