lab_sources += src/core/interleave/interleave.h src/core/interleave/interleave.c
