#include <v1model.p4>
#define WIDTH(n) bit<n>
#ifdef MISSING
#error never
#elif defined(WIDTH) && V1MODEL_VERSION > 1
typedef WIDTH(129) wide_t;
#endif
#include "nowhere.p4"
