// math_ratio.h - sigmoid and tanh of floats as quotients of two polynomials, as ONNX Runtime computes them: for models that
// quantize what follows, where one bit can become a whole step. They are less exact than the functions of math.h: a sigmoid
// is off by up to 2^-23, however small it is, and a tanh by 5 ulp.
#ifndef HOLO_BASE_MATH_MATH_RATIO_H
#define HOLO_BASE_MATH_MATH_RATIO_H

enum { HOLO_RATIO_MAX = 7 };

// x * up(x * x) / down(x * x) of x between -limit and limit; the factors of the highest powers come first, and all but the
// last multiplication is rounded together with the addition behind it.
typedef struct HoloRatio {
    float limit;
    int   ups, downs;
    float up[HOLO_RATIO_MAX], down[HOLO_RATIO_MAX];
} HoloRatio;

static const HoloRatio HOLO_RATIO_SIGMOID = { // less a half
    .limit = 18,
    .ups   = 5,
    .downs = 6,
    .up    = {4.37031012579801e-11f, 1.15627324459942e-07f, 6.08574864600143e-05f, 8.51377133304701e-03f,
              2.48287947061529e-01f},
    .down  = {6.10247389755681e-13f, 5.76102136993427e-09f, 6.29106785017040e-06f, 1.70198817374094e-03f,
              1.16817656904453e-01f, 9.93151921023180e-01f}};

static const HoloRatio HOLO_RATIO_TANH = {
    .limit = 9,
    .ups   = 7,
    .downs = 4,
    .up    = {-2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f,
              1.48572235717979e-05f, 6.37261928875436e-04f, 4.89352455891786e-03f},
    .down  = {1.19825839466702e-06f, 1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f}};

float holo_sigmoid_ratio(float x);
float holo_tanh_ratio(float x);

#endif
