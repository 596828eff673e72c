"""Draw a terminal session as SVG: `command | python docs/images/terminal.py "$ command" > picture.svg`."""

import sys
from html import escape

WIDTH, LINE, MARGIN = 8.4, 19, 16
FONT = "ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace"


def picture(title: str, lines: list[str]) -> str:
    """One text element per line, in a dark window that is readable on light and dark pages."""
    columns = max(len(line) for line in (title, *lines))
    width, height = columns * WIDTH + 2 * MARGIN, (len(lines) + 1) * LINE + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" rx="8" fill="#16202a"/>',
        f'<g font-family="{FONT}" font-size="14" fill="#dfe7ee">',
    ]
    for row, line in enumerate((title, *lines)):
        colour = ' fill="#7fd1b9" font-weight="bold"' if row == 0 or "Significance" in line else ""
        y = MARGIN + (row + 0.75) * LINE
        parts.append(f'<text x="{MARGIN}" y="{y:.1f}" xml:space="preserve"{colour}>{escape(line)}</text>')
    return "\n".join([*parts, "</g>", "</svg>", ""])


if __name__ == "__main__":
    sys.stdout.write(picture(sys.argv[1], sys.stdin.read().rstrip("\n").split("\n")))
