lab_sources += src/core/interleave/interleave.h src/core/interleave/interleave.c
site_sources += src/core/interleave/turn.h src/core/interleave/turn.c
