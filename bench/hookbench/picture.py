"""The figures as a bar chart, one bar per process. The scale is logarithmic: from a tenth of a millisecond to a tenth of a second."""
import math
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT, ROW, TOP, FOOT = 860, 150, 130, 24, 64, 40
OURS, THEIRS, YARDSTICK = "#0f766e", "#9ca3af", "#111827"


def draw(costs, ours, yardstick, title):
    """An SVG of the medians, cheapest first. `ours` are the names that are this program's."""
    rows = sorted(costs.items(), key=lambda item: item[1]["median_us"])
    low = 10 ** math.floor(math.log10(rows[0][1]["median_us"]))
    high = rows[-1][1]["median_us"] * 1.1
    scale = (WIDTH - LEFT - RIGHT) / math.log10(high / low)

    def along(value):
        return LEFT + scale * math.log10(max(value, low) / low)

    height = TOP + ROW * len(rows) + FOOT
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="system-ui, sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="16" y="26" font-size="16" font-weight="600">{escape(title)}</text>',
        f'<text x="16" y="46" fill="#4b5563">whole process, median; the scale is logarithmic; multiples are of {escape(yardstick)}</text>',
    ]
    tick = low
    while tick <= high:
        out.append(f'<line x1="{along(tick):.1f}" y1="{TOP - 8}" x2="{along(tick):.1f}" y2="{height - FOOT + 4}" stroke="#e5e7eb"/>')
        out.append(f'<text x="{along(tick):.1f}" y="{height - FOOT + 20}" text-anchor="middle" fill="#6b7280">{span(tick)}</text>')
        tick *= 10
    for number, (name, cost) in enumerate(rows):
        y = TOP + ROW * number
        end = along(cost["median_us"])
        colour = YARDSTICK if name == yardstick else OURS if name in ours else THEIRS
        out.append(f'<text x="{LEFT - 8}" y="{y + 13}" text-anchor="end">{escape(name)}</text>')
        out.append(f'<rect x="{LEFT}" y="{y + 2}" width="{end - LEFT:.1f}" height="{ROW - 9}" rx="2" fill="{colour}"/>')
        words = f"{span(cost['median_us'])}, {cost['ratio']:.2f}×"
        out.append(f'<text x="{end + 6:.1f}" y="{y + 13}" fill="#374151">{words}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


def span(microseconds):
    """A time in words."""
    if microseconds >= 1000:
        return f"{microseconds / 1000:.3g} ms"
    return f"{microseconds:.3g} µs"
