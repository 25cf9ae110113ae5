"""What a host runs: `python -I -S run.py`. It is compiled on every call, so it only leads to what is not.

The packages that the hook is in are there by name and path, but are not run: that would cost more than the answer.
"""

import gc
import posix
import sys

if __name__ == "__main__":
    gc.disable()  # the process ends before it would pay
    folder = __file__
    for name in ("holdfast.surfaces.hooks", "holdfast.surfaces", "holdfast"):
        folder = folder.rpartition("/")[0]
        sys.modules[name] = type(sys)(name)
        sys.modules[name].__path__ = [folder]
    try:
        if sys.argv[1:] == ["statusline"]:
            from holdfast.surfaces.hooks.statusline import main
        else:
            from holdfast.surfaces.hooks.quick import main
        code = main()
    except Exception as failure:  # noqa: BLE001 - a host hides a traceback, and nobody would know
        said = f"{type(failure).__name__}: {failure}".translate({34: "'", 92: "/", 10: " "})[:300]
        posix.write(1, f'{{"systemMessage":"Holdfast does not guard this session: {said}"}}\n'.encode())
        code = 0
    posix._exit(code)  # the system closes what is open, sooner than the interpreter would
