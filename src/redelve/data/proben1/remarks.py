"""What an attentive user would remark of a problem's sets before setting methods to work on it."""

from __future__ import annotations

import numpy as np

from redelve.data.proben1.number_sets import Proben1Problem
from redelve.model.dataset import Numbers

MOST_NAMED = 8


def constant_inputs(parts: Proben1Problem) -> list[str]:
    """Inputs that never change in training and validation set; many of PROBEN1's own files have some."""
    seen = parts.training_data.inputs
    constant = np.flatnonzero((seen == seen[0]).all(axis=0)) + 1
    if not len(constant):
        return []
    named = ", ".join(f"in{number}" for number in constant[:MOST_NAMED].tolist())
    more = f" and {len(constant) - MOST_NAMED} more" if len(constant) > MOST_NAMED else ""
    verb = "is" if len(constant) == 1 else "are"
    return [f"{named}{more} {verb} constant in the training data: nothing can be learnt from it"]


def lacking_classes(parts: Proben1Problem) -> list[str]:
    """Classes without a case in the training or in the test set."""
    found = []
    consequences = ("nothing can be learnt of it there", "how well it is told from others is not tested")
    both = (("training set", parts.training), ("test set", parts.test))
    for (which, part), consequence in zip(both, consequences, strict=True):
        lacking = [f"c{place}" for place in (np.flatnonzero(part.outputs.sum(axis=0) == 0) + 1).tolist()]
        if lacking:
            found.append(
                f"the {which} ({len(part)} examples) has no case of class {', '.join(lacking)}: {consequence}"
            )
    return found


def twins(parts: Proben1Problem) -> list[str]:
    """Test cases that are trained on as well, or equal one that is."""
    known = {values.tobytes() for values in _values(parts.training_data.inputs, parts.training_data.outputs)}
    tested = [values.tobytes() for values in _values(parts.test.inputs, parts.test.outputs)]
    shared = sum(values in known for values in tested)
    if not shared:
        return []
    return [
        f"{shared / len(tested):.1%} of test cases have a twin, equal in every value, in the training data: "
        "if these are copies, losses are too low"
    ]


def _values(inputs: Numbers, outputs: Numbers) -> Numbers:
    return np.ascontiguousarray(np.hstack([inputs, outputs]) + 0.0)
