// math.cu - the functions that portable programs call. The compiler of models takes their PTX into the modules that it writes.
#define ONE(name, value) extern "C" __device__ __noinline__ float holo_math_##name(float x) { return value; }
#define TWO(name, value) extern "C" __device__ __noinline__ float holo_math_##name(float x, float y) { return value; }

ONE(exp, expf(x))
ONE(log, logf(x))
ONE(log2, log2f(x))
ONE(log10, log10f(x))
ONE(sin, sinf(x))
ONE(cos, cosf(x))
ONE(tan, tanf(x))
ONE(asin, asinf(x))
ONE(acos, acosf(x))
ONE(atan, atanf(x))
ONE(tanh, tanhf(x))
ONE(sigmoid, 1 / (1 + expf(-x)))
ONE(erf, erff(x))
TWO(pow, powf(x, y))
TWO(fmod, fmodf(x, y))
