core_sources += src/core/binding/binding.h 
core_sources += src/core/binding/binding_internal.h src/core/binding/binding.c \
	src/core/binding/aggregate.c src/core/binding/anneal.c \
	src/core/binding/best.c src/core/binding/bisect.c \
	src/core/binding/cluster.c src/core/binding/gpus.c \
	src/core/binding/near.c src/core/binding/packed.c \
	src/core/binding/refine.c src/core/binding/round_robin.c \
	src/core/binding/scatter.c \
	src/core/binding/slot_tree.c src/core/binding/topology.c \
	src/core/binding/treematch.c src/core/binding/treematch_fast.c \
	src/core/binding/treematch_group.c src/core/binding/treematch_uneven.c
