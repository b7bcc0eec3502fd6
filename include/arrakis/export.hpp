#pragma once

/// Marks what `libarrakis.so` exports; everything else is hidden.
#if defined(ARRAKIS_STATIC)
#define ARRAKIS_API
#else
#define ARRAKIS_API __attribute__((visibility("default")))
#endif
