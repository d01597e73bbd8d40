"""taskforge: real repositories become verified feature-removal tasks.

Importing the package loads none of ray, torch, docker or fastapi and has no side effect.
"""

__version__ = "0.1.0"
