core_sources += src/core/mapping/mapping.h \
	src/core/mapping/mapping_internal.h src/core/mapping/mapping.c \
	src/core/mapping/distance.c src/core/mapping/refine.c \
	src/core/mapping/linear.c src/core/mapping/greedyallc.c
core_sources += src/core/mapping/bisect.c src/core/mapping/partition.c
