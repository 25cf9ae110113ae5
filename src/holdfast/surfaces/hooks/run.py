"""What a host runs: `python -I -S run.py`. It is compiled on every call, so it only leads to what is not."""

import posix
import sys

if __name__ == "__main__":
    sys.path.insert(0, __file__.rpartition("/")[0])
    if sys.argv[1:] == ["statusline"]:
        from statusline import main  # type: ignore[import-not-found]
    else:
        from quick import main  # type: ignore[import-not-found]
    code = main()
    if "holdfast" not in sys.modules:  # only the engine leaves anything to tidy up
        posix._exit(code)
    sys.exit(code)
