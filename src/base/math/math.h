// math.h - elementary functions of doubles that give the same bits on every machine.
//
// A C library may answer differently from CPU to CPU (with and without FMA) and from system to system. These use only
// what IEEE 754 defines to the bit (+ - * / sqrt, rounded to nearest) and integers. They must be compiled with
// -ffp-contract=off, and where a double expression is a double (not on x87).
//
// Errors are below 1 ulp, or what is said below, and up to 0.5 more where a result is smaller than 2^-1000. Special
// values are those of C99, Annex F; any NaN that comes out is the one positive quiet NaN. errno and the floating-point
// flags mean nothing after a call.
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

double holo_sin(double x); // of any finite x, however large
double holo_cos(double x);
double holo_tan(double x);
double holo_asin(double x);
double holo_acos(double x);
double holo_atan(double x);

double holo_erf(double x);

#endif
