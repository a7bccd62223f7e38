"""The only room that calls llama.cpp."""
