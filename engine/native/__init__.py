"""The llama.cpp bindings: the only package that calls llama.cpp."""
