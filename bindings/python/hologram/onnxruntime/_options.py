"""Options of sessions and runs."""

import enum

from .._hologram import Cancel


class GraphOptimizationLevel(enum.IntEnum):
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(enum.IntEnum):
    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


class _Fields:
    """Attributes that there are, and no others, as those of a C++ class."""

    _defaults = {}

    def __init__(self):
        self.__dict__.update(self._defaults)

    def __setattr__(self, name, value):
        if name not in self._defaults and name not in self.__dict__ and not hasattr(type(self), name):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        super().__setattr__(name, value)


class SessionOptions(_Fields):
    """Those that say how to run change no result. Used: intra_op_num_threads, enable_profiling, profile_file_prefix, and
    add_free_dimension_override_by_name. The others are accepted: Hologram decides these itself."""

    _defaults = {
        "intra_op_num_threads": 0, "inter_op_num_threads": 0, "graph_optimization_level": GraphOptimizationLevel.ORT_ENABLE_ALL,
        "execution_mode": ExecutionMode.ORT_SEQUENTIAL, "execution_order": ExecutionOrder.DEFAULT, "enable_profiling": False,
        "profile_file_prefix": "onnxruntime_profile_", "log_severity_level": 2, "log_verbosity_level": 0, "logid": "",
        "enable_mem_pattern": True, "enable_mem_reuse": True, "enable_cpu_mem_arena": True, "use_deterministic_compute": False,
    }

    def __init__(self):
        super().__init__()
        self.__dict__.update(_entries={}, _sizes={})

    def add_free_dimension_override_by_name(self, name, size):
        """Fixes a size that the model leaves open."""
        self._sizes[name] = int(size)

    def add_free_dimension_override_by_denotation(self, denotation, size):
        raise NotImplementedError("sizes are fixed by name: add_free_dimension_override_by_name")

    def add_session_config_entry(self, key, value):
        """Kept, and not used."""
        self._entries[key] = value

    def get_session_config_entry(self, key):
        if key not in self._entries:
            raise RuntimeError(f"there is no entry {key!r}")
        return self._entries[key]

    def has_session_config_entry(self, key):
        return key in self._entries

    def add_initializer(self, name, value):
        raise NotImplementedError("give constants to hologram.compile(constants={...}) instead")

    def add_external_initializers(self, names, values):
        raise NotImplementedError("give constants to hologram.compile(constants={...}) instead")

    def register_custom_ops_library(self, path):
        raise NotImplementedError("operators of your own are kernels: hologram.compile(kernels='file.py'), see docs/kernel-language.md")

    def enable_ort_custom_ops(self):
        """Nothing: there is no such library."""

    def add_provider(self, name, options):
        raise NotImplementedError(f"{name} is not here: Hologram runs on the CPU")

    @property
    def optimized_model_filepath(self):
        return ""

    @optimized_model_filepath.setter
    def optimized_model_filepath(self, path):
        if path:
            raise NotImplementedError("hologram.compile(model, 'model.holo') writes what was optimized")


class RunOptions(_Fields):
    """`terminate = True`, set by another thread, stops the runs that have it."""

    _defaults = {"log_severity_level": 2, "log_verbosity_level": 0, "logid": "", "only_execute_path_to_fetches": False,
                 "training_mode": False, "synchronize_execution_providers": True}

    def __init__(self):
        super().__init__()
        self.__dict__.update(_entries={}, _cancel=Cancel())

    @property
    def terminate(self):
        return self._cancel.cancelled

    @terminate.setter
    def terminate(self, value):
        if value:
            self._cancel.cancel()
        else:
            self.__dict__["_cancel"] = Cancel()

    def add_run_config_entry(self, key, value):
        """Kept, and not used."""
        self._entries[key] = value

    def get_run_config_entry(self, key):
        return self._entries[key]
