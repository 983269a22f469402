core_sources += src/core/base/error.c src/core/base/error.h src/core/base/random.c src/core/base/random.h src/core/base/hostlist.h src/core/base/json.h
core_sources += src/core/base/json.c src/core/base/file.c src/core/base/file.h src/core/base/suggest.c src/core/base/suggest.h src/core/base/registry.c src/core/base/registry.h
core_sources += src/core/base/hostlist.c src/core/base/sort.h
core_sources += src/core/base/parallel.c src/core/base/parallel.h
core_sources += src/core/base/gunzip.c src/core/base/gunzip.h
core_sources += src/core/base/printable.c src/core/base/printable.h
