// composed_bessel.c - ATen operators that are written in others: functions of Bessel, orthogonal polynomials, the zeta
// function, products of reflections. Coefficients are those of Abramowitz and Stegun, 9.4 and 9.8, and of Hart.
// The code is what TorchScript's files hold, and is run as such.
#include "import/torch/torch.h"

const HoloTorchComposed holo_torch_composed_bessel[] = {
    {"_poly", "def _poly(x, c: List[float]):\n"
              "    y = torch.zeros_like(x) + c[len(c) - 1]\n"
              "    for i in range(1, len(c)):\n"
              "        y = y * x + c[len(c) - 1 - i]\n"
              "    return y\n"},
    {"_bessel_far", "def _bessel_far(x, shift: float, p: List[float], q: List[float], is_y: bool):\n"
                    "    z = 8.0 / x\n"
                    "    a = x - shift\n"
                    "    c = torch.cos(a)\n"
                    "    s = torch.sin(a)\n"
                    "    u = _poly(z * z, p)\n"
                    "    v = z * _poly(z * z, q)\n"
                    "    return torch.sqrt(0.6366197723675814 / x) * (s * u + c * v if is_y else c * u - s * v)\n"},
    {"special_bessel_j0",
     "def special_bessel_j0(self):\n"
     "    x = torch.abs(self)\n"
     "    y = torch.clamp_max(x, 8.0)\n"
     "    y = y * y\n"
     "    near = _poly(y, [57568490574.0, -13362590354.0, 651619640.7, -11214424.18, 77392.33017, -184.9052456]) / _poly(y, [57568490411.0, 1029532985.0, 9494680.718, 59272.64853, 267.8532712, 1.0])\n"
     "    return torch.where(x < 8.0, near, _bessel_far(torch.clamp_min(x, 8.0), 0.7853981633974483, [1.0, -0.1098628627e-2, 0.2734510407e-4, -0.2073370639e-5, 0.2093887211e-6], [-0.1562499995e-1, 0.1430488765e-3, -0.6911147651e-5, 0.7621095161e-6, -0.934935152e-7], False))\n"},
    {"special_bessel_j1",
     "def special_bessel_j1(self):\n"
     "    x = torch.abs(self)\n"
     "    z = torch.clamp_max(x, 8.0)\n"
     "    y = z * z\n"
     "    near = z * _poly(y, [72362614232.0, -7895059235.0, 242396853.1, -2972611.439, 15704.48260, -30.16036606]) / _poly(y, [144725228442.0, 2300535178.0, 18583304.74, 99447.43394, 376.9991397, 1.0])\n"
     "    return torch.sign(self) * torch.where(x < 8.0, near, _bessel_far(torch.clamp_min(x, 8.0), 2.356194490192345, [1.0, 0.183105e-2, -0.3516396496e-4, 0.2457520174e-5, -0.240337019e-6], [0.04687499995, -0.2002690873e-3, 0.8449199096e-5, -0.88228987e-6, 0.105787412e-6], False))\n"},
    {"special_bessel_y0",
     "def special_bessel_y0(self):\n"
     "    x = torch.clamp(self, 1e-30, 8.0)\n"
     "    y = x * x\n"
     "    near = _poly(y, [-2957821389.0, 7062834065.0, -512359803.6, 10879881.29, -86327.92757, 228.4622733]) / _poly(y, [40076544269.0, 745249964.8, 7189466.438, 47447.26470, 226.1030244, 1.0]) + 0.6366197723675814 * special_bessel_j0(x) * torch.log(x)\n"
     "    far = _bessel_far(torch.clamp_min(self, 8.0), 0.7853981633974483, [1.0, -0.1098628627e-2, 0.2734510407e-4, -0.2073370639e-5, 0.2093887211e-6], [-0.1562499995e-1, 0.1430488765e-3, -0.6911147651e-5, 0.7621095161e-6, -0.934935152e-7], True)\n"
     "    r = torch.where(self < 8.0, near, far)\n"
     "    return torch.where(self < 0.0, nan, torch.where(torch.eq(self, 0.0), -inf, r))\n"},
    {"special_bessel_y1",
     "def special_bessel_y1(self):\n"
     "    x = torch.clamp(self, 1e-30, 8.0)\n"
     "    y = x * x\n"
     "    near = x * (_poly(y, [-0.4900604943e13, 0.1275274390e13, -0.5153438139e11, 0.7349264551e9, -0.4237922726e7, 0.8511937935e4]) / _poly(y, [0.2499580570e14, 0.4244419664e12, 0.3733650367e10, 0.2245904002e8, 0.1020426050e6, 0.3549632885e3, 1.0])) + 0.6366197723675814 * (special_bessel_j1(x) * torch.log(x) - 1.0 / x)\n"
     "    far = _bessel_far(torch.clamp_min(self, 8.0), 2.356194490192345, [1.0, 0.183105e-2, -0.3516396496e-4, 0.2457520174e-5, -0.240337019e-6], [0.04687499995, -0.2002690873e-3, 0.8449199096e-5, -0.88228987e-6, 0.105787412e-6], True)\n"
     "    r = torch.where(self < 8.0, near, far)\n"
     "    return torch.where(self < 0.0, nan, torch.where(torch.eq(self, 0.0), -inf, r))\n"},
    {"special_scaled_modified_bessel_k0",
     "def special_scaled_modified_bessel_k0(x):\n"
     "    s = torch.clamp(x, 1e-30, 2.0)\n"
     "    y = s * s * 0.25\n"
     "    near = torch.exp(s) * (_poly(y, [-0.57721566, 0.42278420, 0.23069756, 0.3488590e-1, 0.262698e-2, 0.10750e-3, 0.74e-5]) - torch.log(s * 0.5) * special_i0(s))\n"
     "    t = torch.clamp_min(x, 2.0)\n"
     "    r = torch.where(x <= 2.0, near, _poly(2.0 / t, [1.25331414, -0.7832358e-1, 0.2189568e-1, -0.1062446e-1, 0.587872e-2, -0.251540e-2, 0.53208e-3]) / torch.sqrt(t))\n"
     "    return torch.where(x < 0.0, nan, torch.where(torch.eq(x, 0.0), inf, r))\n"},
    {"special_scaled_modified_bessel_k1",
     "def special_scaled_modified_bessel_k1(x):\n"
     "    s = torch.clamp(x, 1e-30, 2.0)\n"
     "    y = s * s * 0.25\n"
     "    near = torch.exp(s) * (_poly(y, [1.0, 0.15443144, -0.67278579, -0.18156897, -0.1919402e-1, -0.110404e-2, -0.4686e-4]) / s + torch.log(s * 0.5) * special_i1(s))\n"
     "    t = torch.clamp_min(x, 2.0)\n"
     "    r = torch.where(x <= 2.0, near, _poly(2.0 / t, [1.25331414, 0.23498619, -0.3655620e-1, 0.1504268e-1, -0.780353e-2, 0.325614e-2, -0.68245e-3]) / torch.sqrt(t))\n"
     "    return torch.where(x < 0.0, nan, torch.where(torch.eq(x, 0.0), inf, r))\n"},
    {"special_modified_bessel_k0", "def special_modified_bessel_k0(self):\n"
                                   "    return special_scaled_modified_bessel_k0(self) * torch.exp(0.0 - self)\n"},
    {"special_modified_bessel_k1", "def special_modified_bessel_k1(self):\n"
                                   "    return special_scaled_modified_bessel_k1(self) * torch.exp(0.0 - self)\n"},
    {"_recurrence", "def _recurrence(x, first, n, a: List[float], is_divided: bool):\n"
                    "    k = torch.trunc(torch.add(n, 0.0)) + torch.mul(x, 0.0)\n"
                    "    p = torch.ones_like(k)\n"
                    "    q = first + torch.mul(p, 0.0)\n"
                    "    y = torch.where(k < 0.5, torch.where(k < 0.0, 0.0, p), q)\n"
                    "    for i in range(1, torch.Int(torch.max(k))):\n"
                    "        r = (a[0] + a[1] * i + (a[2] + a[3] * i) * x) * q - (a[4] + a[5] * i) * p\n"
                    "        if is_divided:\n"
                    "            r = r / (i + 1)\n"
                    "        p = q\n"
                    "        q = r\n"
                    "        y = torch.where(torch.eq(k, i + 1), r, y)\n"
                    "    return y\n"},
    {"special_chebyshev_polynomial_t", "def special_chebyshev_polynomial_t(x, n):\n"
                                       "    x = torch.add(x, 0.0)\n"
                                       "    return _recurrence(x, x, n, [0.0, 0.0, 2.0, 0.0, 1.0, 0.0], False)\n"},
    {"special_shifted_chebyshev_polynomial_t",
     "def special_shifted_chebyshev_polynomial_t(x, n):\n"
     "    return special_chebyshev_polynomial_t(torch.add(x, 0.0) * 2.0 - 1.0, n)\n"},
    {"special_chebyshev_polynomial_u",
     "def special_chebyshev_polynomial_u(x, n):\n"
     "    x = torch.add(x, 0.0)\n"
     "    return _recurrence(x, x * 2.0, n, [0.0, 0.0, 2.0, 0.0, 1.0, 0.0], False)\n"},
    {"special_shifted_chebyshev_polynomial_u",
     "def special_shifted_chebyshev_polynomial_u(x, n):\n"
     "    return special_chebyshev_polynomial_u(torch.add(x, 0.0) * 2.0 - 1.0, n)\n"},
    {"special_chebyshev_polynomial_v",
     "def special_chebyshev_polynomial_v(x, n):\n"
     "    x = torch.add(x, 0.0)\n"
     "    return _recurrence(x, x * 2.0 - 1.0, n, [0.0, 0.0, 2.0, 0.0, 1.0, 0.0], False)\n"},
    {"special_shifted_chebyshev_polynomial_v",
     "def special_shifted_chebyshev_polynomial_v(x, n):\n"
     "    return special_chebyshev_polynomial_v(torch.add(x, 0.0) * 2.0 - 1.0, n)\n"},
    {"special_chebyshev_polynomial_w",
     "def special_chebyshev_polynomial_w(x, n):\n"
     "    x = torch.add(x, 0.0)\n"
     "    return _recurrence(x, x * 2.0 + 1.0, n, [0.0, 0.0, 2.0, 0.0, 1.0, 0.0], False)\n"},
    {"special_shifted_chebyshev_polynomial_w",
     "def special_shifted_chebyshev_polynomial_w(x, n):\n"
     "    return special_chebyshev_polynomial_w(torch.add(x, 0.0) * 2.0 - 1.0, n)\n"},
    {"special_hermite_polynomial_h", "def special_hermite_polynomial_h(x, n):\n"
                                     "    x = torch.add(x, 0.0)\n"
                                     "    return _recurrence(x, x * 2.0, n, [0.0, 0.0, 2.0, 0.0, 0.0, 2.0], False)\n"},
    {"special_hermite_polynomial_he", "def special_hermite_polynomial_he(x, n):\n"
                                      "    x = torch.add(x, 0.0)\n"
                                      "    return _recurrence(x, x, n, [0.0, 0.0, 1.0, 0.0, 0.0, 1.0], False)\n"},
    {"special_laguerre_polynomial_l", "def special_laguerre_polynomial_l(x, n):\n"
                                      "    x = torch.add(x, 0.0)\n"
                                      "    return _recurrence(x, 1.0 - x, n, [1.0, 2.0, -1.0, 0.0, 0.0, 1.0], True)\n"},
    {"special_legendre_polynomial_p", "def special_legendre_polynomial_p(x, n):\n"
                                      "    x = torch.add(x, 0.0)\n"
                                      "    return _recurrence(x, x, n, [0.0, 0.0, 1.0, 2.0, 0.0, 1.0], True)\n"},
    {"special_zeta",
     "def special_zeta(self, other):\n"
     "    s = torch.add(self, 0.0)\n"
     "    q = torch.add(other, 0.0)\n"
     "    is_in = torch.logical_and(s > 1.0, q > 0.0)\n"
     "    x = torch.where(is_in, s, 2.0)\n"
     "    a = torch.where(is_in, q, 1.0)\n"
     "    y = torch.zeros_like(x)\n"
     "    for i in range(9):\n"
     "        y = y + torch.pow(a + i, 0.0 - x)\n"
     "    a = a + 9.0\n"
     "    t = torch.pow(a, 0.0 - x)\n"
     "    y = y + t * a / (x - 1.0) + t * 0.5\n"
     "    t = t * x / a\n"
     "    y = y + t / 12.0\n"
     "    t = t * (x + 1.0) * (x + 2.0) / (a * a)\n"
     "    y = y - t / 720.0\n"
     "    t = t * (x + 3.0) * (x + 4.0) / (a * a)\n"
     "    y = y + t / 30240.0\n"
     "    t = t * (x + 5.0) * (x + 6.0) / (a * a)\n"
     "    y = y - t / 1209600.0\n"
     "    pole = torch.where(torch.eq(torch.floor(q), q), inf, nan)\n"
     "    return torch.where(s < 1.0, nan, torch.where(torch.eq(s, 1.0), inf, torch.where(q > 0.0, y, pole)))\n"},
    {"linalg_householder_product",
     "def linalg_householder_product(input, tau):\n"
     "    m = torch.size(input, -2)\n"
     "    n = torch.size(input, -1)\n"
     "    k = torch.size(tau, -1)\n"
     "    assert k <= 64, \"a product of more than 64 reflections, which is unrolled\"\n"
     "    rows = torch.unsqueeze(torch.arange(m), -1)\n"
     "    y = torch.mul(input, 0.0) + torch.eye(m, n)\n"
     "    for j in range(k):\n"
     "        i = k - 1 - j\n"
     "        v = torch.narrow(input, -1, i, 1)\n"
     "        v = torch.where(rows < i, 0.0, torch.where(torch.eq(rows, i), 1.0, v))\n"
     "        y = y - torch.unsqueeze(torch.narrow(tau, -1, i, 1), -1) * torch.matmul(v, torch.matmul(torch.transpose(v, -2, -1), y))\n"
     "    return y\n"},
    {"orgqr", "def orgqr(self, input2):\n"
              "    return linalg_householder_product(self, input2)\n"},
    {0},
};
