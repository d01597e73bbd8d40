"""Takes syntax nodes out of Python source text and leaves the rest as it was, byte for byte.

Statements are located with `ast` and cut out by whole lines, so that an edit costs the same in a small file
and in one of 7,000 lines; lists inside a statement (imports, displays, arguments, bases) are rewritten with
libcst, one statement or header at a time.
"""
