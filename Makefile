# Two commands: `make run` opens the window, `make test` runs every check. Both first set up .venv, once.
#   ARGS="..."            passed on to the window, or to pytest
#   GPU=auto|none|cuda|vulkan|metal|hip (or several with commas): the back ends to build, see README.md
#   VULKAN_HEADERS=DIR    newer Vulkan headers than the system's     CMAKE_ARGS="..."  further build flags
#   KVASIR_CACHE_DIR=DIR  where the built engine is kept for later clones
PYTHON ?= python3
export GPU VULKAN_HEADERS CMAKE_ARGS KVASIR_CACHE_DIR

.PHONY: run test
run:
	@$(PYTHON) tools/bootstrap.py run $(ARGS)
test:
	@$(PYTHON) tools/bootstrap.py test $(ARGS)
