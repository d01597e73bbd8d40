"""Descriptors that hand data to a process without a name, a path or a place on its command line."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


def descriptor_of(data: bytes) -> int:
    """Return an open descriptor of a file in memory that holds `data`, to be read from its start."""
    descriptor = os.memfd_create("taskforge")
    with open(descriptor, "wb", closefd=False) as file:
        file.write(data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


@contextmanager
def closing_on_error(*descriptors: int) -> Iterator[list[int]]:
    """Close the descriptors, and those added to the list, when the block does not come to its end."""
    opened = list(descriptors)
    try:
        yield opened
    except BaseException:
        for descriptor in opened:
            os.close(descriptor)
        raise
