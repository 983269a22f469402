lab_sources += src/core/benefit/jobs.h src/core/benefit/jobs.c \
	src/core/benefit/sequence.h src/core/benefit/sequence.c \
	src/core/benefit/strata.h src/core/benefit/strata.c \
	src/core/benefit/benefit.h src/core/benefit/benefit.c \
	src/core/benefit/benefit_beside.c \
	src/core/benefit/notes.h src/core/benefit/notes.c
