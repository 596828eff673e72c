"""Pages from templates: one file of HTML that needs nothing else, with stylesheet and script inside."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from redelve.report.drawing import MARKERS, PALETTE, inline
from redelve.report.table_values import CONTROL

if TYPE_CHECKING:
    from jinja2 import Environment

GLUED = re.compile(r" ± |(?<=\d) %|\bp [=<] (?=\d)")
TEMPLATES = files("redelve.report") / "templates"


def render_template(name: str, **values: object) -> str:
    """The template filled in; it is given stylesheet and script as well."""
    script = _text("script.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    template = _environment().get_template(name)
    return template.render(script=script, script_digest=digest, stylesheet=_text("style.css"), **values)


def _text(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FunctionLoader(_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_clean,
    )
    environment.filters["inline"] = lambda picture: Markup(inline(picture))
    environment.filters["marker_id"] = MARKERS.index
    environment.filters["colour_id"] = lambda colour: PALETTE.index(colour) + 1
    return environment


def _clean(value: object) -> object:
    """Text without characters that a page cannot hold; signs and units stay with their numbers."""
    if type(value) is not str:
        return value
    return GLUED.sub(lambda found: found[0].replace(" ", "\u00a0"), CONTROL.sub("�", value))
