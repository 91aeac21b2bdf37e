# C++: include/hologram.hpp needs no building.

## make cpp-test      hologram.hpp with every compiler that is there, as C++17 and C++20, with exceptions and with results
.PHONY: cpp-test
cpp-test: $(SO) $(SO_COMP)
	@BUILD=$(BUILD) sh tests/cpp/run.sh
BINDING_TESTS    += cpp-test
BINDING_PACKAGES += cmake
