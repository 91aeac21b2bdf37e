# Debian packages of what is built: libhologram0, libhologram-compiler0, libhologram-dev, hologram, hologram-serve, python3-hologram.

DEB_PACKAGES := debhelper dh-python dpkg-dev fakeroot lintian

## make deb           Debian packages, in build/deb
.PHONY: deb deb-files deb-test
deb: deps
	@sh tools/deps.sh $(DEB_PACKAGES) $(SERVE_PACKAGES) python3-dev
	@$(MAKE) --no-print-directory $(JOBS) all python-files
	@$(MAKE) --no-print-directory deb-files
deb-files:
	@BUILD="$(BUILD)" VERSION="$(VERSION)" sh packaging/deb.sh

## make deb-test      the packages: what lintian says of them, and each installed into an empty root and used there
# They are only used once here, so they are packed in a hurry.
deb-test: $(BUILD)/hologram serve-program python-files
	@DPKG_DEB_COMPRESSOR_LEVEL=1 $(MAKE) --no-print-directory deb-files
	@BUILD="$(BUILD)" sh tests/packages/deb.sh
BINDING_TESTS    += deb-test
BINDING_PACKAGES += $(DEB_PACKAGES)
