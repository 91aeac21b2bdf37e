"""torch.compile with the backend "hologram". What needs PyTorch 2.5 or newer is left out where it is not installed."""

import subprocess
import sys
import unittest
import warnings

try:
    import torch
    HAS_COMPILE = hasattr(torch, "compile") and hasattr(torch, "export")
except ImportError:
    torch, HAS_COMPILE = None, False


class WithoutTorch(unittest.TestCase):
    def test_nothing_of_torch_is_imported(self):
        code = "import sys, hologram; sys.exit('torch' in sys.modules)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code]).returncode, 0)

    def test_the_backend_says_what_it_needs(self):
        code = "import sys; sys.modules['torch'] = None; import hologram.torch_backend"
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertIn("needs PyTorch 2.5 or newer", run.stderr)


@unittest.skipUnless(HAS_COMPILE, "PyTorch 2.5 or newer is not installed")
class Backend(unittest.TestCase):
    def setUp(self):
        import hologram.torch_backend as own
        self.own = own
        torch._dynamo.reset()
        torch.manual_seed(0)
        self.parts = 0
        count, made = self, own.Part.__init__

        def init(part, *args):
            made(part, *args)
            count.parts += 1
        own.Part.__init__ = init
        self.addCleanup(setattr, own.Part, "__init__", made)

    def agree(self, model, *args):
        compiled = torch.compile(model, backend="hologram")
        with torch.no_grad():
            for have, want in zip(torch.utils._pytree.tree_leaves(compiled(*args)), torch.utils._pytree.tree_leaves(model(*args))):
                torch.testing.assert_close(have, want, rtol=1e-4, atol=1e-5)
        return compiled

    def test_a_network_runs_as_one_part(self):
        net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 5)).eval()
        compiled = self.agree(net, torch.randn(2, 3, 8, 8))
        self.assertEqual(self.parts, 1)
        self.agree(compiled, torch.randn(4, 3, 8, 8))

    def test_changed_weights_count(self):
        net = torch.nn.Linear(4, 3).eval()
        compiled = self.agree(net, torch.randn(2, 4))
        with torch.no_grad():
            net.weight.mul_(2)
        self.agree(compiled, torch.randn(2, 4))

    def test_an_unknown_operator_cuts_the_graph(self):
        def f(x):
            y = torch.relu(x @ x.T + 1) * 2
            z = torch.special.bessel_j0(y)
            return torch.tanh(z * 3) + y.sum(), z
        self.agree(f, torch.randn(4, 4))
        self.assertEqual(self.parts, 2)

    def test_gradients_are_pytorchs(self):
        net = torch.compile(torch.nn.Linear(4, 3), backend="hologram")
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            net(torch.randn(2, 4)).sum().backward()
        self.assertTrue(any("gradients" in str(w.message) for w in seen))
        self.assertEqual(self.parts, 0)

    def test_types_and_several_outputs(self):
        self.agree(lambda x, i: (x[i].to(torch.bfloat16) * 2, i + 1, x > 0, x.max(), None), torch.randn(5, 3), torch.tensor([4, 0]))


if __name__ == "__main__":
    unittest.main()
