site_sources += src/core/scene/scene.h src/core/scene/scene.c \
	src/core/scene/background.h src/core/scene/background.c
