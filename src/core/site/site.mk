core_sources += src/core/site/config.h src/core/site/record.h src/core/site/state.h  src/core/site/config.c
