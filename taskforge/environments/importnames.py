"""Import names, fixtures, marks and options whose distribution has another name, and the generic rule."""

import re
import sys

from packaging.utils import canonicalize_name

_BY_MODULE = dict(
    line.split()
    for line in """
attr attrs
bs4 beautifulsoup4
bson pymongo
Crypto pycryptodome
Cryptodome pycryptodomex
cv2 opencv-python-headless
dateutil python-dateutil
docx python-docx
dns dnspython
dotenv python-dotenv
fitz PyMuPDF
git GitPython
github PyGithub
gi PyGObject
grpc grpcio
grpc_tools grpcio-tools
jose python-jose
jwt PyJWT
ldap python-ldap
Levenshtein Levenshtein
magic python-magic
markdown Markdown
mpl_toolkits matplotlib
MySQLdb mysqlclient
nacl PyNaCl
OpenGL PyOpenGL
OpenSSL pyOpenSSL
osgeo GDAL
past future
PIL Pillow
pkg_resources setuptools<81
distutils setuptools<81
pptx python-pptx
psycopg2 psycopg2-binary
pydispatch PyDispatcher
pylab matplotlib
pythonjsonlogger python-json-logger
pywintypes pywin32
rest_framework djangorestframework
ruamel ruamel.yaml
serial pyserial
sklearn scikit-learn
skimage scikit-image
slugify python-slugify
snappy python-snappy
socks PySocks
telegram python-telegram-bot
tlz toolz
usb pyusb
websocket websocket-client
win32api pywin32
Xlib python-xlib
xmlsec xmlsec
yaml PyYAML
zmq pyzmq
_pytest pytest
google.protobuf protobuf
google.cloud.storage google-cloud-storage
google.auth google-auth
zope.interface zope.interface
zope.event zope.event
zope.component zope.component
zope.testing zope.testing
backports.zoneinfo backports.zoneinfo
backports.tarfile backports.tarfile
backports.datetime_fromisoformat backports-datetime-fromisoformat
ruamel.yaml ruamel.yaml
jaraco.functools jaraco.functools
jaraco.itertools jaraco.itertools
jaraco.context jaraco.context
jaraco.collections jaraco.collections
jaraco.path jaraco.path
jaraco.test jaraco.test
jaraco.text jaraco.text
jaraco.classes jaraco.classes
sphinxcontrib.websupport sphinxcontrib-websupport
paste.deploy PasteDeploy
asyncore pyasyncore
asynchat pyasynchat
imp zombie-imp
telnetlib standard-telnetlib
cgi legacy-cgi
pipes standard-pipes
imghdr standard-imghdr
sndhdr standard-sndhdr
aifc standard-aifc
chunk standard-chunk
xdrlib standard-xdrlib
uu standard-uu
crypt standard-crypt
nntplib standard-nntplib
smtpd standard-smtpd
""".strip().splitlines()
)

_BY_FIXTURE = {
    "aioresponses": "aioresponses",
    "aiohttp_client": "pytest-aiohttp",
    "aiohttp_server": "pytest-aiohttp",
    "anyio_backend": "anyio",
    "benchmark": "pytest-benchmark",
    "celery_app": "pytest-celery",
    "data_regression": "pytest-regressions",
    "datadir": "pytest-datadir",
    "shared_datadir": "pytest-datadir",
    "lazy_datadir": "pytest-datadir",
    "original_datadir": "pytest-datadir",
    "admin_client": "pytest-django",
    "django_user_model": "pytest-django",
    "django_assert_num_queries": "pytest-django",
    "event_loop": "pytest-asyncio",
    "unused_tcp_port": "pytest-asyncio",
    "unused_tcp_port_factory": "pytest-asyncio",
    "file_regression": "pytest-regressions",
    "num_regression": "pytest-regressions",
    "image_regression": "pytest-regressions",
    "dataframe_regression": "pytest-regressions",
    "freezer": "pytest-freezer",
    "fs": "pyfakefs",
    "fs_module": "pyfakefs",
    "httpbin": "pytest-httpbin",
    "httpbin_secure": "pytest-httpbin",
    "httpserver": "pytest-httpserver",
    "httpx_mock": "pytest-httpx",
    "lazy_fixture": "pytest-lazy-fixture",
    "loop": "pytest-aiohttp",
    "cov": "pytest-cov",
    "no_cover": "pytest-cov",
    "mocker": "pytest-mock",
    "class_mocker": "pytest-mock",
    "module_mocker": "pytest-mock",
    "package_mocker": "pytest-mock",
    "session_mocker": "pytest-mock",
    "nursery": "pytest-trio",
    "autojump_clock": "pytest-trio",
    "mock_clock": "pytest-trio",
    "postgresql": "pytest-postgresql",
    "qapp": "pytest-qt",
    "qtbot": "pytest-qt",
    "redisdb": "pytest-redis",
    "requests_mock": "requests-mock",
    "respx_mock": "respx",
    "rsps": "responses",
    "snapshot": "syrupy",
    "socket_enabled": "pytest-socket",
    "subtests": "pytest-subtests",
    "time_machine": "time-machine",
    "vcr": "pytest-recording",
    "vcr_config": "pytest-recording",
    "virtualenv": "pytest-virtualenv",
    "worker_id": "pytest-xdist",
    "testrun_uid": "pytest-xdist",
    "script_runner": "pytest-console-scripts",
    "fp": "pytest-subprocess",
    "fake_process": "pytest-subprocess",
    "faker": "Faker",
    "cases": "pytest-cases",
    "current_cases": "pytest-cases",
    "docker_services": "pytest-docker",
    "inline_snapshot": "inline-snapshot",
    "check": "pytest-check",
    "regtest": "pytest-regtest",
    "xprocess": "pytest-xprocess",
}

_BY_OPTION = {
    "asyncio_mode": "pytest-asyncio",
    "asyncio_default_fixture_loop_scope": "pytest-asyncio",
    "asyncio_default_test_loop_scope": "pytest-asyncio",
    "django_settings_module": "pytest-django",
    "django_find_project": "pytest-django",
    "ds": "pytest-django",
    "dc": "pytest-django",
    "trio_mode": "pytest-trio",
    "env": "pytest-env",
    "env_files": "pytest-dotenv",
    "mock_use_standalone_module": "pytest-mock",
    "mock_traceback_monkeypatch": "pytest-mock",
    "qt_api": "pytest-qt",
    "timeout": "",
    "timeout_method": "",
    "timeout_func_only": "",
    "markdown_docs_syntax": "pytest-markdown-docs",
    "doctest_plus": "pytest-doctestplus",
    "doctest_rst": "pytest-doctestplus",
    "text_file_format": "pytest-doctestplus",
    "doctest_subpackage_requires": "pytest-doctestplus",
    "remote_data": "pytest-remotedata",
    "remote_data_strict": "pytest-remotedata",
    "open_files_ignore": "pytest-openfiles",
    "astropy_header": "pytest-astropy-header",
    "arraydiff": "pytest-arraydiff",
    "mpl": "pytest-mpl",
    "mpl_baseline_path": "pytest-mpl",
    "hypothesis_profile": "hypothesis",
    "hypothesis_seed": "hypothesis",
    "hypothesis_show_statistics": "hypothesis",
    "block_network": "pytest-recording",
    "record_mode": "pytest-recording",
    "vcr_record": "pytest-recording",
    "disable_socket": "pytest-socket",
    "allow_hosts": "pytest-socket",
    "allow_unix_socket": "pytest-socket",
    "snapshot_update": "syrupy",
    "inline_snapshot": "inline-snapshot",
    "typeguard_packages": "typeguard",
    "beartype_packages": "pytest-beartype",
    "run_parallel": "pytest-run-parallel",
    "spec": "pytest-spec",
    "testdox": "pytest-testdox",
    "nbval": "nbval",
    "nbmake": "nbmake",
    "order_scope": "pytest-order",
    "gherkin_terminal_reporter": "pytest-bdd",
    "bdd_features_base_dir": "pytest-bdd",
    "fail_on_template_vars": "pytest-django",
    "reuse_db": "pytest-django",
    "create_db": "pytest-django",
    "nomigrations": "pytest-django",
    "no_migrations": "pytest-django",
    "script_launch_mode": "pytest-console-scripts",
    "httpserver_listen_address": "pytest-httpserver",
    "freezegun_ignore_list": "freezegun",
    "loop_scope": "pytest-asyncio",
    "docker_compose": "pytest-docker",
}

_BY_MARK = {
    "anyio": "anyio",
    "asyncio": "pytest-asyncio",
    "benchmark": "pytest-benchmark",
    "dependency": "pytest-dependency",
    "django_db": "pytest-django",
    "flaky": "flaky",
    "freeze_time": "pytest-freezer",
    "gen_test": "pytest-tornado",
    "httpx_mock": "pytest-httpx",
    "no_cover": "pytest-cov",
    "order": "pytest-order",
    "respx": "respx",
    "run": "pytest-order",
    "timeout": "pytest-timeout",
    "tornado": "pytest-tornado",
    "trio": "pytest-trio",
    "twisted": "pytest-twisted",
    "vcr": "pytest-recording",
    "block_network": "pytest-recording",
    "disable_socket": "pytest-socket",
    "enable_socket": "pytest-socket",
    "xdist_group": "pytest-xdist",
    "repeat": "pytest-repeat",
    "remote_data": "pytest-remotedata",
    "mpl_image_compare": "pytest-mpl",
    "urls": "pytest-django",
    "subprocess": "pytest-subprocess",
    "thread_unsafe": "pytest-run-parallel",
    "parallel_threads": "pytest-run-parallel",
}


def distribution_for(module: str) -> str | None:
    """Return the requirement that gives an importable module, or None where nothing can be guessed.

    The longest dotted name in the table wins, else the top-level name with hyphens. Names with a leading
    underscore and modules of the standard library (but those that left it) give None.
    """
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        known = _BY_MODULE.get(".".join(parts[:length]))
        if known:
            return known
    top = parts[0]
    if (
        not re.fullmatch(r"[A-Za-z]\w*", top)
        or top in sys.stdlib_module_names
        or top in {"tests", "test", "conftest"}
    ):
        return None
    return canonicalize_name(top)


def distribution_for_fixture(name: str) -> str | None:
    """Return the plugin that provides a fixture, or None."""
    return _BY_FIXTURE.get(name)


def distribution_for_option(name: str) -> str | None:
    """Return the plugin that knows a command line or ini option, or None."""
    plain = name.lstrip("-").split("=")[0].replace("-", "_")
    if plain in _BY_OPTION:
        return _BY_OPTION[plain] or None
    first = plain.split("_")[0]
    return {
        "benchmark": "pytest-benchmark",
        "asyncio": "pytest-asyncio",
        "django": "pytest-django",
        "hypothesis": "hypothesis",
        "doctest": "pytest-doctestplus",
        "mpl": "pytest-mpl",
        "markdown": "pytest-markdown-docs",
        "regtest": "pytest-regtest",
        "snapshot": "syrupy",
        "postgresql": "pytest-postgresql",
        "redis": "pytest-redis",
        "qt": "pytest-qt",
        "vcr": "pytest-recording",
    }.get(first)


def distribution_for_mark(name: str) -> str | None:
    """Return the plugin that gives a mark its meaning, or None."""
    return _BY_MARK.get(name) or None
