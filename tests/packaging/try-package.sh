#!/bin/sh
# Usage: try-package.sh PYTHON PACKAGE [EXTRA...]. Installs the package alone into an empty environment, far from the source tree, and
# uses it; then each extra on top, and what it is for.
set -eu
python=$1
package=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
extras=$(cd "$(dirname "$0")" && pwd)/try_extra.py
shift 2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$python" -m venv "$place/venv"
"$place/venv/bin/python" -m pip install --quiet "$package"
cd "$place"
venv/bin/tiebreak run > answer.txt
grep -q "success: True" answer.txt
venv/bin/tiebreak --version | grep -q "^tiebreak [0-9]"
venv/bin/tiebreak methods > methods.txt
grep -q "cg-bio-anytime" methods.txt
venv/bin/python -c "
import tiebreak as tb
problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
result = tb.solve(problem)
assert result.success and abs(result.f - 0.25) < 1e-9, result
result.save('answer.npz')
assert tb.Result.load('answer.npz').f == result.f
"
printf 'upper = "SquaredNorm"\nlower = {type = "LeastSquares", A = [[1, 1]], b = [1]}\ndomain = {type = "L1Ball", radius = 2}\n' > small.toml
venv/bin/tiebreak solve small.toml > /dev/null
venv/bin/tiebreak explore small.toml > /dev/null
test -f small.explore.html
test -f venv/lib/python*/site-packages/tiebreak/py.typed
for extra in "$@"; do
  venv/bin/python -m pip install --quiet "$package[$extra]"
  venv/bin/python "$extras" "$extra"
done
echo "$(basename "$package"): 1 passed, 0 failed"
