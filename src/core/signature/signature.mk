core_sources += src/core/signature/comm.h src/core/signature/signature.h 
