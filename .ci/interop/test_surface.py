"""docs/interop.md names every public name of the wheel, and every test it names exists."""
import inspect
import pathlib
import re

import felix

ROOT = pathlib.Path(__file__).resolve().parents[2]


def surface():
    names = set()
    for name, value in vars(felix).items():
        if name.startswith("_") or inspect.ismodule(value):
            continue
        names.add(name)
        if inspect.isclass(value) and not issubclass(value, BaseException):
            names |= {f"{name}.{m}" for m in dir(value) if not m.startswith("_")}
    return names


def test_table_is_complete():
    text = (ROOT / "docs" / "interop.md").read_text()
    rows = re.findall(r"^\| `([A-Za-z_.]+)` \| ([^|]+) \| ([^|]+) \|$", text, re.M)
    listed = {name for name, _, _ in rows}
    assert listed == surface(), {"missing": sorted(surface() - listed), "unknown": sorted(listed - surface())}
    tests = set()
    for path in pathlib.Path(__file__).parent.glob("test_*.py"):
        tests |= set(re.findall(r"^def (test_\w+)", path.read_text(), re.M))
    for name, _, state in rows:
        assert state.startswith(("exercised: ", "not yet: ")), (name, state)
        for test in re.findall(r"test_\w+", state):
            assert test in tests, (name, test)
        assert state.startswith("not yet: ") or re.search(r"test_\w+", state), (name, state)
