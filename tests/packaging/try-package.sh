#!/bin/sh
# Usage: try-package.sh PYTHON PACKAGE. Installs the package alone into an empty environment, far from the source tree, and uses it.
set -eu
python=$1
package=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$python" -m venv "$place/venv"
"$place/venv/bin/python" -m pip install --quiet "$package"
cd "$place"
venv/bin/tiebreak run > answer.txt
grep -q "success: True" answer.txt
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
test -f venv/lib/python*/site-packages/tiebreak/py.typed
echo "$(basename "$package"): 1 passed, 0 failed"
