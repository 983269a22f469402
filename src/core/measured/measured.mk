site_sources += src/core/measured/measured.h src/core/measured/measured.c \
	src/core/measured/names.h src/core/measured/names.c \
	src/core/measured/rows.h src/core/measured/rows.c \
	src/core/measured/cabling.h src/core/measured/cabling.c
site_sources += src/core/measured/source.h src/core/measured/source_internal.h \
	src/core/measured/source.c src/core/measured/http.c \
	src/core/measured/io.c
site_sources += src/core/measured/unknown.h src/core/measured/unknown.c
