import pytest

from taskforge.domain.agent import Repository
from tests.verification.shop import measured


@pytest.fixture(scope="session")
def shop() -> Repository:
    return measured()
