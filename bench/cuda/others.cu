#include "bench.cuh"
void check_others() {}
void time_others() {}
