"""What a host runs: `python -I -S run.py`. It is compiled on every call, so it only leads to what is not.

The packages that the hook lies in are there by name and path, but are not run: that would cost more than the answer.
"""

import posix
import sys

if __name__ == "__main__":
    folder = __file__
    for name in ("holdfast.surfaces.hooks", "holdfast.surfaces", "holdfast"):
        folder = folder.rpartition("/")[0]
        sys.modules[name] = type(sys)(name)
        sys.modules[name].__path__ = [folder]
    if sys.argv[1:] == ["statusline"]:
        from holdfast.surfaces.hooks.statusline import main
    else:
        from holdfast.surfaces.hooks.quick import main
    code = main()
    if "holdfast.errors" not in sys.modules:  # only the engine leaves anything to tidy up
        posix._exit(code)
    import _signal  # type: ignore[import-not-found]

    # The interpreter drops its handlers when it ends, and a timer that ran out then would kill it.
    _signal.setitimer(_signal.ITIMER_REAL, 0)
    sys.exit(code)
