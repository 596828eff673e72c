#!/bin/sh
# The main job on embedded data: the positions of a robot arm (kin-8nm, generated) as a CSV file, five methods, a report.
set -eu

work=${REDELVE_DEMO:-demo-output}
mkdir -p "$work"
cd "$work"

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }

say 'redelve csv kin-8nm > robot-arm.csv'
redelve csv kin-8nm > robot-arm.csv
say 'redelve assess robot-arm.csv --target y --workers 2'
redelve assess robot-arm.csv --target y --workers 2
printf '\nOpen %s/robot-arm-assessment/report.html in a browser. README.md tells how to go on.\n' "$(pwd)"
