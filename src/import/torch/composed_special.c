// composed_special.c - ATen operators that are written in others: counting, and functions of analysis.
// The code is what TorchScript's files hold, and is run as such.
#include "import/torch/torch.h"

const HoloTorchComposed holo_torch_composed_special[] = {
    {"bincount",
     "def bincount(self, weights=None, minlength: int=0):\n"
     "    count = torch.maximum(torch.max(self) + 1, torch.tensor(minlength))\n"
     "    hits = torch.eq(torch.unsqueeze(torch.arange(torch.Int(count)), 1), torch.unsqueeze(self, 0))\n"
     "    return torch.sum(hits, [1]) if weights is None else torch.sum(hits * torch.unsqueeze(weights, 0), "
     "[1])\n"},
    {"histc", "def histc(self, bins: int=100, min: float=0.0, max: float=0.0):\n"
              "    x = torch.flatten(self)\n"
              "    low = torch.min(x) if min == max else torch.tensor(min)\n"
              "    high = torch.max(x) if min == max else torch.tensor(max)\n"
              "    same = torch.eq(low, high)\n"
              "    high = torch.where(same, high + 1, high)\n"
              "    low = torch.where(same, low - 1, low)\n"
              "    place = torch.clamp(torch.floor((x - low) * bins / (high - low)), 0, bins - 1)\n"
              "    inside = torch.logical_and(x >= low, x <= high)\n"
              "    hits = torch.logical_and(torch.eq(torch.unsqueeze(torch.arange(bins), 1), torch.unsqueeze(place, "
              "0)), torch.unsqueeze(inside, 0))\n"
              "    return torch.type_as(torch.sum(hits, [1]), self)\n"},
    {"erfinv", "def erfinv(self):\n"
               "    w = 0.0 - torch.log((1.0 - self) * (1.0 + self))\n"
               "    a = w - 2.5\n"
               "    b = torch.sqrt(w) - 3.0\n"
               "    p = ((((((((2.81022636e-08 * a + 3.43273939e-07) * a - 3.5233877e-06) * a - 4.39150654e-06) * a + "
               "0.00021858087) * a - 0.00125372503) * a - 0.00417768164) * a + 0.246640727) * a + 1.50140941) * self\n"
               "    q = ((((((((-0.000200214257 * b + 0.000100950558) * b + 0.00134934322) * b - 0.00367342844) * b + "
               "0.00573950773) * b - 0.0076224613) * b + 0.00943887047) * b + 1.00167406) * b + 2.83297682) * self\n"
               "    y = torch.where(w < 5.0, p, q)\n"
               "    y = y - (torch.erf(y) - self) / (1.1283791670955126 * torch.exp(0.0 - y * y))\n"
               "    return torch.where(torch.abs(self) >= 1.0, self * (1.0 / torch.clamp_min(1.0 - torch.abs(self), "
               "0.0)), y)\n"},
    {"special_erfinv", "def special_erfinv(self):\n"
                       "    return erfinv(self)\n"},
    {"special_ndtr", "def special_ndtr(self):\n"
                     "    return torch.erfc(self * -0.7071067811865476) * 0.5\n"},
    {"special_ndtri", "def special_ndtri(self):\n"
                      "    return erfinv(self * 2.0 - 1.0) * 1.4142135623730951\n"},
    {"special_log_ndtr",
     "def special_log_ndtr(self):\n"
     "    return torch.where(self < -5.0, 0.0 - self * self * 0.5 - torch.log(torch.clamp_min(0.0 - self, "
     "1.0)) - 0.9189385332046727 + torch.log1p(0.0 - 1.0 / (self * self) + 3.0 / (self * self * self * "
     "self)), torch.log(special_ndtr(torch.clamp_min(self, -5.0))))\n"},
    {"special_entr", "def special_entr(self):\n"
                     "    return torch.where(self < 0, -inf, 0.0 - torch.xlogy(self, self))\n"},
    {"special_xlog1py",
     "def special_xlog1py(self, other):\n"
     "    return torch.where(torch.logical_and(torch.eq(self, 0), "
     "torch.logical_not(torch.isnan(torch.add(other, 0)))), 0.0, torch.mul(self, torch.log1p(torch.add(other, "
     "0))))\n"},
    {"lgamma",
     "def lgamma(self):\n"
     "    x = torch.where(self < 0.5, 1.0 - self, self) - 1.0\n"
     "    s = 0.99999999999980993 + 676.5203681218851 / (x + 1.0) - 1259.1392167224028 / (x + 2.0) + "
     "771.32342877765313 / (x + 3.0) - 176.61502916214059 / (x + 4.0) + 12.507343278686905 / (x + 5.0) - "
     "0.13857109526572012 / (x + 6.0) + 9.9843695780195716e-6 / (x + 7.0) + 1.5056327351493116e-7 / (x + 8.0)\n"
     "    y = 0.9189385332046727 + (x + 0.5) * torch.log(x + 7.5) - (x + 7.5) + torch.log(s)\n"
     "    return torch.where(self < 0.5, 1.1447298858494002 - torch.log(torch.abs(torch.sin(self * "
     "3.141592653589793))) - y, y)\n"},
    {"special_logit", "def special_logit(self, eps: Optional[float]=None):\n"
                      "    return torch.logit(self, eps)\n"},
    {"special_log1p", "def special_log1p(self):\n"
                      "    return torch.log1p(self)\n"},
    {"special_sinc", "def special_sinc(self):\n"
                     "    return torch.sinc(self)\n"},
    {"special_expm1", "def special_expm1(self):\n"
                      "    return torch.expm1(self)\n"},
    {"special_round", "def special_round(self, decimals: int=0):\n"
                      "    return torch.round(self, decimals=decimals)\n"},
    {"special_logsumexp", "def special_logsumexp(self, dim: List[int], keepdim: bool=False):\n"
                          "    return torch.logsumexp(self, dim, keepdim)\n"},
    {"special_log_softmax", "def special_log_softmax(self, dim: int, dtype: Optional[int]=None):\n"
                            "    return torch.log_softmax(self, dim, dtype)\n"},
    {"special_multigammaln", "def special_multigammaln(self, p: int):\n"
                             "    return torch.mvlgamma(self, p)\n"},
    {"special_gammaln", "def special_gammaln(self):\n"
                        "    return lgamma(self)\n"},
    {"mvlgamma", "def mvlgamma(self, p: int):\n"
                 "    y = lgamma(self)\n"
                 "    for i in range(1, p):\n"
                 "        y = y + lgamma(self - 0.5 * i)\n"
                 "    return y + 0.28618247146235 * p * (p - 1)\n"},
    {"digamma", "def digamma(self):\n"
                "    x = torch.where(self < 0.5, 1.0 - self, self)\n"
                "    y = torch.zeros_like(x)\n"
                "    for i in range(6):\n"
                "        y = y - 1.0 / x\n"
                "        x = x + 1.0\n"
                "    r = 1.0 / (x * x)\n"
                "    y = y + torch.log(x) - 0.5 / x - r * (0.08333333333333333 - r * (0.008333333333333333 - r * "
                "(0.003968253968253968 - r * (0.004166666666666667 - r * 0.007575757575757576))))\n"
                "    return torch.where(self < 0.5, y - 3.141592653589793 / torch.tan(self * 3.141592653589793), y)\n"},
    {"special_psi", "def special_psi(self):\n"
                    "    return digamma(self)\n"},
    {"special_digamma", "def special_digamma(self):\n"
                        "    return digamma(self)\n"},
    {"_trigamma",
     "def _trigamma(self):\n"
     "    x = torch.where(self < 0.5, 1.0 - self, self)\n"
     "    y = torch.zeros_like(x)\n"
     "    for i in range(6):\n"
     "        y = y + 1.0 / (x * x)\n"
     "        x = x + 1.0\n"
     "    r = 1.0 / (x * x)\n"
     "    y = y + 1.0 / x + r * 0.5 + (1.0 / x) * r * (0.16666666666666666 - r * (0.03333333333333333 - r * "
     "(0.023809523809523808 - r * (0.03333333333333333 - r * 0.07575757575757576))))\n"
     "    s = torch.sin(self * 3.141592653589793)\n"
     "    return torch.where(self < 0.5, 9.869604401089358 / (s * s) - y, y)\n"},
    {"polygamma", "def polygamma(n: int, self):\n"
                  "    assert n < 2, \"polygamma of order 2 or more\"\n"
                  "    return digamma(self) if n == 0 else _trigamma(self)\n"},
    {"special_polygamma", "def special_polygamma(n: int, self):\n"
                          "    return polygamma(n, self)\n"},
    {"_chebyshev", "def _chebyshev(x, c: List[float]):\n"
                   "    b0 = torch.zeros_like(x) + c[0]\n"
                   "    b1 = torch.zeros_like(x)\n"
                   "    b2 = b1\n"
                   "    for i in range(1, len(c)):\n"
                   "        b2 = b1\n"
                   "        b1 = b0\n"
                   "        b0 = x * b1 - b2 + c[i]\n"
                   "    return (b0 - b2) * 0.5\n"},
    {"special_i0e", "def special_i0e(self):\n"
                    "    x = torch.abs(self)\n"
                    "    a = _chebyshev(torch.clamp_max(x, 8.0) * 0.5 - 2.0, [-4.41534164647933937950E-18, "
                    "3.33079451882223809783E-17, -2.43127984654795469359E-16, 1.71539128555513303061E-15, "
                    "-1.16853328779934516808E-14, 7.67618549860493561688E-14, -4.85644678311192946090E-13, "
                    "2.95505266312963983461E-12, -1.72682629144155570723E-11, 9.67580903537323691224E-11, "
                    "-5.18979560163526290666E-10, 2.65982372468238665035E-9, -1.30002500998624804212E-8, "
                    "6.04699502254191894932E-8, -2.67079385394061173391E-7, 1.11738753912010371815E-6, "
                    "-4.41673835845875056359E-6, 1.64484480707288970893E-5, -5.75419501008210370398E-5, "
                    "1.88502885095841655729E-4, -5.76375574538582365885E-4, 1.63947561694133579842E-3, "
                    "-4.32430999505057594430E-3, 1.05464603945949983183E-2, -2.37374148058994688156E-2, "
                    "4.93052842396707084878E-2, -9.49010970480476444210E-2, 1.71620901522208775349E-1, "
                    "-3.04682672343198398683E-1, 6.76795274409476084995E-1])\n"
                    "    y = torch.clamp_min(x, 8.0)\n"
                    "    b = _chebyshev(32.0 / y - 2.0, [-7.23318048787475395456E-18, -4.83050448594418207126E-18, "
                    "4.46562142029675999901E-17, 3.46122286769746109310E-17, -2.82762398051658348494E-16, "
                    "-3.42548561967721913462E-16, 1.77256013305652638360E-15, 3.81168066935262242075E-15, "
                    "-9.55484669882830764870E-15, -4.15056934728722208663E-14, 1.54008621752140982691E-14, "
                    "3.85277838274214270114E-13, 7.18012445138366623367E-13, -1.79417853150680611778E-12, "
                    "-1.32158118404477131188E-11, -3.14991652796324136454E-11, 1.18891471078464383424E-11, "
                    "4.94060238822496958910E-10, 3.39623202570838634515E-9, 2.26666899049817806459E-8, "
                    "2.04891858946906374183E-7, 2.89137052083475648297E-6, 6.88975834691682398426E-5, "
                    "3.36911647825569408990E-3, 8.04490411014108831608E-1]) / torch.sqrt(y)\n"
                    "    return torch.where(x <= 8.0, a, b)\n"},
    {"i0", "def i0(self):\n"
           "    return special_i0e(self) * torch.exp(torch.abs(self))\n"},
    {"special_i0", "def special_i0(self):\n"
                   "    return i0(self)\n"},
    {"logaddexp2",
     "def logaddexp2(self, other):\n"
     "    return torch.logaddexp(self * 0.6931471805599453, other * 0.6931471805599453) * 1.4426950408889634\n"},
    {0},
};
