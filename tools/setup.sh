#!/bin/sh
# Make the virtual environment $1 and install the project with its development tools into it.
# On a Debian-like machine, as root, a missing Python or venv module is installed first.
set -eu
venv=$1

usable() { # a Python of at least 3.11 that can make virtual environments
	"$1" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
	for candidate in "${PYTHON:-python3}" python3 python3.13 python3.12 python3.11; do
		if usable "$candidate"; then
			command -v "$candidate"
			return 0
		fi
	done
	return 1
}

if ! python=$(find_python); then
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		echo "setup: no usable Python 3.11 or later found, installing Debian's"
		apt-get update -qq
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3 python3-venv
	fi
	if ! python=$(find_python); then
		echo "setup: mgpu-hybrid needs Python 3.11 or later with its venv module; set PYTHON=/path/to/python3" >&2
		exit 1
	fi
fi

echo "setup: $("$python" --version) at $python, virtual environment in $venv"
"$python" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
