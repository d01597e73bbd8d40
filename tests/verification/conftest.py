import pytest

from taskforge.domain.agent import Repository
from tests.verification.shop import make_runner, measured


@pytest.fixture(scope="session")
def shop() -> Repository:
    return measured(make_runner())
