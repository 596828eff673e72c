#!/bin/sh
# The tutorial of the DELVE manual (section 1.3): a trivial method against linear regression on /demo/age/std.256.
# `mymethod` always guesses 0, the median of the coded training targets; `lin-1` is linear regression.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
unset DELVE_PATH || true

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
show() { say "$*"; "$@"; }

mkdir -p "$work/delve/data" "$work/delve/methods/mymethod" "$work/delve/methods/lin-1"
cd "$work/delve/methods/mymethod"

show dls /
show dls /demo
show dinfo /demo
show mgendir demo/age
cd demo/age/std.256
show mgendata -q
show minfo

say "for n in 0 1 2 3; do awk '{ print \"0.0\" }' test.\$n > cguess.S.\$n; done"
for n in 0 1 2 3; do awk '{ print "0.0" }' "test.$n" > "cguess.S.$n"; done
show mloss -l S
show mstats -l S

cd "$work/delve/methods/lin-1"
show mgendir -q demo/age/std.256
cd demo/age/std.256
show mgendata -q
show redelve apply lin-1 -q
show mloss -q
cd "$work/delve/methods/mymethod/demo/age/std.256"
show mstats -l S -c lin-1

printf '\nThe last lines compare the two methods on the same training and test cases: the difference, its standard\n'
printf 'error and its significance. README.md tells how to go on.\n'
