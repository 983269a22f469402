core_sources += src/core/binding/binding.h 
core_sources += src/core/binding/binding_internal.h src/core/binding/binding.c \
	src/core/binding/packed.c src/core/binding/slot_tree.c \
	src/core/binding/topology.c src/core/binding/treematch.c \
	src/core/binding/treematch_group.c src/core/binding/treematch_uneven.c
