"""The words of the kernel language, so that files of kernels are Python, too: docs/kernel-language.md says what they mean.

They have a meaning inside of a kernel only, which is compiled and never run by Python.
"""

TYPES = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "usize"]
FUNCTIONS = """exp log log2 log10 sqrt rsqrt sin cos tan asin acos atan tanh sigmoid erf floor ceil round trunc pow fma abs sign min max popcount
clz atlas_class atlas_mirror atlas_label atlas_unity atlas_degree atlas_neighbor len get_global_id local_id block_id block_dim grid_dim widen
block_sum block_product block_min block_max scan_sum scan_min scan_max atomic_add atomic_min atomic_max atomic_and atomic_or atomic_xor
atomic_exchange barrier local shared parallel_map_unary parallel_map_binary parallel_reduce""".split()
NUMBERS = {"inf": float("inf"), "nan": float("nan"), "pi": 3.141592653589793}


class Word:
    """A name of the kernel language."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"hologram.{self.name}"

    def __call__(self, *args, **kwargs):
        raise TypeError(f"{self.name} has a meaning inside of a kernel only: see docs/kernel-language.md")


class _Array(Word):
    def __getitem__(self, element):
        return f"{self.name}[{element}]"


class TypeVariable:
    """What types(...) gives: a kernel that uses it becomes one program for each type."""

    def __init__(self, names):
        self.names = names

    def __repr__(self):
        return f"types({', '.join(self.names)})"


def types(*words):
    """T = types(f32, f64): the type variable of kernels."""
    return TypeVariable([word.name if isinstance(word, Word) else word.__name__ for word in words])


WORDS = {name: Word(name) for name in TYPES + FUNCTIONS}
WORDS.update(NUMBERS, DeviceArray=_Array("DeviceArray"), types=types)
