// math.h - elementary functions of doubles that give the same bits on every machine.
//
// A C library may give different results on different CPUs (with and without FMA) and systems. These functions use only
// operations that IEEE 754 defines to the bit (+ - * / sqrt, rounded to nearest) and integers. They must be compiled
// with -ffp-contract=off, and where a double expression is computed in double (not on x87).
//
// Errors are below 1 ulp, or as stated below, and up to 0.5 more if a result is smaller than 2^-1000. Special values
// are those of C99, Annex F; every NaN is the positive quiet NaN. errno and the floating-point flags have no meaning
// after a call.
#ifndef HOLO_BASE_MATH_MATH_H
#define HOLO_BASE_MATH_MATH_H

double holo_exp(double x);
double holo_expm1(double x);
double holo_sigmoid(double x); // 1 / (1 + e^-x): below 2.5 ulp
double holo_sinh(double x);
double holo_cosh(double x); // below 1.5 ulp
double holo_tanh(double x);

double holo_log(double x);
double holo_log1p(double x);
double holo_log10(double x);
double holo_pow(double x, double y);
double holo_softplus(double x); // log(1 + e^x): below 2 ulp
double holo_asinh(double x);
double holo_acosh(double x);
double holo_atanh(double x);

double holo_sin(double x); // for any finite x, however large
double holo_cos(double x);
double holo_tan(double x);
double holo_asin(double x);
double holo_acos(double x);
double holo_atan(double x);

double holo_erf(double x);

#endif
