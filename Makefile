# `make run` opens the window, `make test` runs every check. Both first set up .venv, once.
# `make lint` runs those checks that run no test.
# `make package` makes what people install, in dist/; `make package-test` tries the .deb in a fresh Debian (as root).
# `make licences` writes resources/licences.txt again, after a dependency has changed.
#   ARGS="..."            passed on to the window, or to pytest
#   GPU=auto|none|cuda|vulkan|metal|hip (or several with commas): the back ends to build, see README.md
#   VULKAN_HEADERS=DIR    newer Vulkan headers than the system's     CMAKE_ARGS="..."  further build flags
#   KVASIR_CACHE_DIR=DIR  where the built engine is kept for later clones
#   APPIMAGE_RUNTIME=FILE makes an AppImage, see packaging/RELEASE.md
PYTHON ?= python3
export GPU VULKAN_HEADERS CMAKE_ARGS KVASIR_CACHE_DIR APPIMAGE_RUNTIME

.PHONY: run test lint package package-test licences
run:
	@$(PYTHON) tools/bootstrap.py run $(ARGS)
test:
	@$(PYTHON) tools/bootstrap.py test $(ARGS)
lint:
	@$(PYTHON) tools/bootstrap.py lint
package:
	@$(PYTHON) tools/bootstrap.py package
package-test:
	@packaging/tests/fresh-root.sh dist
licences:
	@$(PYTHON) tools/bootstrap.py licences
