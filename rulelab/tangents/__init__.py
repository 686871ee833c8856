"""The values that flow: zeros, delayed ones, those of structures, their arithmetic, and the way back to a
primal."""
