node_sources += src/core/binding/binding.h \
	src/core/binding/binding_internal.h src/core/binding/binding.c \
	src/core/binding/anneal.c src/core/binding/bisect.c \
	src/core/binding/devices.h src/core/binding/gpus.c \
	src/core/binding/gpus_near.c \
	src/core/binding/launch.c src/core/binding/launch.h src/core/binding/near.c \
	src/core/binding/refine.c src/core/binding/slots.c \
	src/core/binding/topology.c

# In the order of lists; a new one is a line here.
binders = src/core/binding/packed.c \
	src/core/binding/round_robin.c \
	src/core/binding/scatter.c \
	src/core/binding/cluster.c \
	src/core/binding/treematch.c \
	src/core/binding/best.c
node_sources += $(binders)
node_tables += src/core/binding/table.c
src/core/binding/table.c: scripts/registry.awk Makefile $(binders)
	$(registry) -v type=cpl_binder -v registry=cpl_binders \
		-v header=binding/binding.h -v members='.exact = true' \
		$(binders) >$(abs_builddir)/$@
