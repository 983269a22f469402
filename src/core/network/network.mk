site_sources += src/core/network/network.h src/core/network/network.c \
	src/core/network/type.h src/core/network/routes.c \
	src/core/network/next_links.c src/core/network/ports.c \
	src/core/network/stations.c src/core/network/bandwidths.c \
	src/core/network/latencies.c src/core/network/accelerators.c \
	src/core/network/nodes.c src/core/network/shape.c
lab_sources += src/core/network/against.h src/core/network/against.c \
	src/core/network/export.h src/core/network/export.c \
	src/core/network/reader/slurm_view.h \
	src/core/network/reader/slurm_view.c \
	src/core/network/cost.h src/core/network/cost.c

# A folder for each type; the file that defines it is a line here.
network_types = src/core/network/dragonfly/dragonfly.c \
	src/core/network/torus/torus.c \
	src/core/network/fattree/fattree.c \
	src/core/network/graph/graph.c \
	src/core/network/dragonfly_plus/dragonfly_plus.c \
	src/core/network/hyperx/hyperx.c \
	src/core/network/haec/haec.c
site_sources += $(network_types) src/core/network/dragonfly/dragonfly.h \
	src/core/network/dragonfly/group.c \
	src/core/network/dragonfly/group.h \
	src/core/network/dragonfly/wiring.c \
	src/core/network/dragonfly/wiring.h \
	src/core/network/dragonfly/dragonfly_kinds.c \
	src/core/network/dragonfly/kinds_read.c \
	src/core/network/dragonfly/dragonfly_kinds.h \
	src/core/network/dragonfly_plus/dragonfly_plus.h \
	src/core/network/fattree/fattree.h src/core/network/haec/haec.h
site_tables += src/core/network/types.c
src/core/network/types.c: scripts/registry.awk Makefile $(network_types)
	$(registry) -v type=cpl_network_type -v registry=cpl_network_types \
		-v header=network/type.h -v members='.exact = true' \
		$(network_types) >$(abs_builddir)/$@

# What machines tell about themselves, a file for each format.
network_readers = src/core/network/reader/topology_conf.c \
	src/core/network/reader/topology_yaml.c \
	src/core/network/reader/ibnetdiscover.c \
	src/core/network/reader/aries.c \
	src/core/network/reader/node_list.c \
	src/core/network/reader/topograph.c \
	src/core/network/reader/names.c
lab_sources += $(network_readers) src/core/network/reader/reader.h \
	src/core/network/reader/reader_internal.h \
	src/core/network/reader/reader.c src/core/network/reader/draft.c \
	src/core/network/reader/switch_list.c \
	src/core/network/reader/switch_list.h \
	src/core/network/reader/aries_dragonfly.c \
	src/core/network/reader/ib_plus.c src/core/network/reader/ib_plus.h \
	src/core/network/reader/ib_plus_describe.c \
	src/core/network/reader/ib_tree.c \
	src/core/network/reader/aries.h
lab_tables += src/core/network/reader/readers.c
src/core/network/reader/readers.c: scripts/registry.awk Makefile $(network_readers)
	$(registry) -v type=cpl_network_reader \
		-v registry=cpl_network_readers -v members='.exact = true' \
		-v header=network/reader/reader_internal.h \
		$(network_readers) >$(abs_builddir)/$@
