base_sources += src/core/base/array.c src/core/base/array.h src/core/base/bisect.h src/core/base/clock.h src/core/base/clock.c \
	src/core/base/debuginfo.c src/core/base/debuginfo.h \
	src/core/base/error.c src/core/base/error.h \
	src/core/base/file.c src/core/base/file.h \
	src/core/base/gunzip.c src/core/base/gunzip.h \
	src/core/base/logarithm.h src/core/base/hostlist.c src/core/base/hostlist.h \
	src/core/base/json.c src/core/base/json.h \
	src/core/base/lines.c src/core/base/lines.h \
	src/core/base/linking.c src/core/base/linking.h \
	src/core/base/none.h \
	src/core/base/packed.c src/core/base/packed.h \
	src/core/base/parallel.c src/core/base/parallel.h \
	src/core/base/printable.c src/core/base/printable.h \
	src/core/base/random.c src/core/base/random.h \
	src/core/base/registry.c src/core/base/registry.h src/core/base/sort.h \
	src/core/base/socket.c src/core/base/socket.h \
	src/core/base/spawn.c src/core/base/spawn.h \
	src/core/base/suggest.c src/core/base/suggest.h \
	src/core/base/team.c src/core/base/team.h
