core_sources += src/core/binding/binding.h 
