"""The Python adapter: parsing and references by `ast`, rewriting of test files by libcst."""
