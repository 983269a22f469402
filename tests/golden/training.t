#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Signatures of training that nobody has recorded: workloads of AICB, and what starts a
# training, which have to agree.
. "${0%/*}/golden.bash"
cd "$work" || bail "no $work"
export LC_ALL=C

# A GPT of 4 layers, h 64, sequence 32, 256 in the vocabulary on 16 ranks, tp 2, dp 8:
# a rank has half of the weights and of the columns' biases of 4 (12 h h + 7 h), all of
# 4 (6 h), half of 256 h, 32 h of positions, 2 h of the last norm.
h=64 l=4 s=32 v=256
parameters=$((l * ((12 * h * h + 7 * h) / 2 + 6 * h) + v * h / 2 + s * h + 2 * h))
activation=$((2 * s * h))
row() { # TYPE GROUP SIZE BYTES STAGE COUNT
	echo "CommType.$1,CommGroup.$2,$3,$4,$5,None,None,,None,None,None,$6"
}
{
	echo "[rank0 ~ rank15]"
	echo comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count
	row all_reduce dp_group 8 8 init.model_setup 4
	row epoch_end None "" 0 "" 1
	row all_reduce tp_group 2 $activation forward $((2 * l + 1))
	row all_reduce tp_group 2 $((4 * s)) forward_step 3
	row all_reduce dp_group 8 4 forward_step 1
	row all_reduce tp_group 2 $activation backward $((2 * l + 1))
	row reduce_scatter dp_group 8 $((4 * parameters)) step 1
	row all_gather dp_group 8 $((2 * parameters)) step 1
	row epoch_end None "" 0 "" 1
} >gpt.csv
is "$("$commplace" signature import gpt.csv --format aicb -o gpt.json)" \
	"left out: times and the order of operations; collectives are taken as rings" \
	"a workload is imported"
told() { jq -r '.[] | [.phase, .group, .collective, .size, .groups, .calls, .bytes,
	.sent] | map(tostring) | join(" ")' | sort; }
tensor=$((activation * (4 * l + 2) + 3 * 4 * s))
steps="step.dp_group.all_gather dp_group all_gather 8 2 1 $((2 * parameters)) $((2 * 7 * 2 * parameters))
step.dp_group.all_reduce dp_group all_reduce 8 2 1 4 112
step.dp_group.reduce_scatter dp_group reduce_scatter 8 2 1 $((4 * parameters)) $((2 * 7 * 4 * parameters))
step.tp_group.all_reduce tp_group all_reduce 2 8 $((4 * l + 5)) $tensor $((8 * 2 * tensor))"
"$commplace" signature show ./gpt.json --json >show.json
is "$(jq .recorded.communication show.json | told)" \
	"init.dp_group.all_reduce dp_group all_reduce 8 2 4 32 896
$steps" "bytes by group and collective, the start apart"
is "$(jq -r '.phases[] | "\(.name) \(.bytes)"' show.json | sort)" \
	"init.dp_group.all_reduce 896
step.dp_group.all_gather $((2 * 7 * 2 * parameters))
step.dp_group.all_reduce 112
step.dp_group.reduce_scatter $((2 * 7 * 4 * parameters))
step.tp_group.all_reduce $((8 * 2 * tensor))" "and its phases send them"
"$commplace" signature import gpt.csv --format aicb --step -o step.json >out
is "$("$commplace" signature show ./step.json --json |
	jq .recorded.communication | told)" "$steps" "--step leaves the start out"
like "$("$commplace" signature show ./step.json)" \
	"GROUP +COLLECTIVE +SIZE +GROUPS +CALLS +BYTES +SENT" "show has a table of them"
unlike "$("$commplace" signature show ./step.json)" 'recorded .*communication' \
	"and does not repeat it"
gzip -k gpt.csv
"$commplace" signature import gpt.csv.gz --format aicb -o gz.json >out
is "$(jq .phases gz.json)" "$(jq .phases gpt.json)" "gzipped, too"
# The ranks may be left out, and said.
sed 1d gpt.csv >bare.csv
"$commplace" signature import bare.csv --format aicb --ranks 32 -o bare.json >out
is "$("$commplace" signature show ./bare.json --json | jq '.ranks,
	(.recorded.communication | map(select(.group == "tp_group").groups)[0])')" \
	"32
16" "--ranks: with a pipeline of two"

# What starts it.
"$commplace" signature from-flags -o flags.json --json \
	torchrun --nnodes 2 --nproc-per-node=8 pretrain_gpt.py \
	--tensor-model-parallel-size 2 --num-layers $l --hidden-size $h \
	--num-attention-heads 8 --seq-length $s --max-position-embeddings $s \
	--vocab-size 250 --micro-batch-size 1 --global-batch-size 8 --bf16 \
	--use-distributed-optimizer --lr 0.1 --expert-parallel-magic yes >flags
is "$(jq .communication flags | told)" "$(sed 's/^[^ ]* /step /' <<<"$steps")" \
	"the flags tell the same, to the byte"
is "$(jq -c '[.ranks, .framework, .not_understood, .assumed, .harmless,
	.pattern.vocabulary]' flags)" \
	'[16,"Megatron-LM",["expert_parallel_magic=yes"],[],2,256]' \
	"and what they do not"
is "$("$commplace" signature export gpt.json --format coo -o a >out &&
	"$commplace" signature distance ./step.json ./flags.json)" 0.0000 \
	"the traffic is the same"
echo '{"hidden_size": 64, "num_hidden_layers": 4, "x_expert": 1,
	"zero_optimization": {"stage": 3}}' >ds.json
text=$("$commplace" signature from-flags --ranks 16 --file ds.json)
like "$text" "^not understood: x_expert=1
assumed: a micro batch of 1
assumed: no vocabulary: embedding and loss are left out
0 other settings do not change the communication" "in words"
like "$text" "dp_group +all_gather +16 +1 " "with the table"

cat >run.toml <<-END
	[model]
	name = "llama3"
	flavor = "8B"
	[training]
	seq_len = 8192
	local_batch_size = 1
	[parallelism]
	tensor_parallel_degree = 8
END
cat >run.yaml <<-END
	trainer:
	  num_nodes: 2
	  devices: 8
	  precision: bf16
	model:
	  tensor_model_parallel_size: 2
	  num_layers: 4
	  hidden_size: 64
	  encoder_seq_length: 32
END
grid() { "$commplace" signature from-flags --json "$@" |
	jq -c '[.framework, .ranks, .pattern.tp, .pattern.dp, .pattern.zero]'; }
is "$(grid --file run.toml --ranks 64)" '["torchtitan",64,8,8,3]' "torchtitan"
is "$(grid --file run.yaml)" '["NeMo",16,2,8,0]' "NeMo"
is "$(grid --file run.yaml model.tensor_model_parallel_size=4)" '["NeMo",16,4,4,0]' \
	"the command line wins"

# What segment such a job is to ask for: domains of the network file, 18 nodes of four
# accelerators, come before its units.
"$commplace" signature from-flags --file run.toml --ranks 64 -o run.json >/dev/null
advised() { # NETWORK [OPTION...]
	"$commplace" segment advise --network "$here/../../etc/networks/$1.json" \
		--signature ./run.json --json "${@:2}" | jq -c '[.segment, .domain, .level, .nodes]'
}
is "$(advised nvl72-8)" '[16,18,"domain",16]' "segment advise: all nodes in a domain"
is "$(advised nvl72-8 --ranks-per-node 1)" '[16,18,"domain",64]' "of one rank each"
is "$(advised dgx-h100-4)" '[8,32,"router",8]' "no domains: the smallest units"
done_testing
