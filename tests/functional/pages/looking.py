# SPDX-License-Identifier: Apache-2.0
"""What is looked at in a loaded page: scripts that give JSON.

They run in the page on behalf of the test; scripts of the page itself are
switched off.
"""

_HELPERS = """
const shown = one => one.checkVisibility({contentVisibilityAuto: true})
  && !one.closest('.vh, .skip, title, style');
const named = one => one.tagName.toLowerCase() + '.' + (one.className.baseVal
  ?? one.className) + ' ' + one.textContent.trim().slice(0, 40);
const nodes = root => {
  const walker = document.createTreeWalker(root, 4);
  const found = [];
  while (walker.nextNode())
    if (walker.currentNode.data.trim()
        && shown(walker.currentNode.parentElement))
      found.push(walker.currentNode);
  return found;
};
const texts = () =>
  [...new Set(nodes(document.body).map(one => one.parentElement))];
const extent = root => {
  const boxes = nodes(root).map(one => {
    const range = document.createRange();
    range.selectNode(one);
    return range.getBoundingClientRect();
  });
  return boxes.length ? {
    left: Math.min(...boxes.map(one => one.left)),
    right: Math.max(...boxes.map(one => one.right)),
    top: Math.min(...boxes.map(one => one.top)),
    bottom: Math.max(...boxes.map(one => one.bottom)),
  } : null;
};
const rgba = text => {
  const parts = text.match(/[\\d.]+/g).map(Number);
  return parts.length > 3 ? parts : [...parts, 1];
};
const behind = one => {
  const layers = [];
  for (let at = one; at; at = at.parentElement) {
    const color = rgba(getComputedStyle(at).backgroundColor);
    if (color[3] > 0) layers.push(color);
    if (color[3] === 1) break;
  }
  return layers.reverse().reduce((under, over) =>
    under.map((value, i) => value * (1 - over[3]) + over[i] * over[3])
  , [255, 255, 255]).slice(0, 3);
};
const luminance = color => {
  const [r, g, b] = color.map(value => {
    value /= 255;
    return value <= .04045 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4;
  });
  return .2126 * r + .7152 * g + .0722 * b;
};
const contrast = (one, other) => {
  const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + .05) / (low + .05);
};
const box = one => one.getBoundingClientRect();
"""


def script(body: str) -> str:
    return f'(() => {{ {_HELPERS} {body} }})()'


OVERFLOWING = script("""
  const found = [];
  if (document.documentElement.scrollWidth > innerWidth)
    found.push('the page');
  for (const one of document.querySelectorAll('body *')) {
    const place = box(one);
    if (!shown(one) || one.closest('svg') || !place.width
        || one.parentElement.closest('.wide, .scroll, [title]')) continue;
    if (place.left < -.5 || place.right > innerWidth + .5)
      found.push(named(one));
  }
  return found;
""")
"""Elements beyond the sides, but for what has a scrollbar of its own."""

WIDER = "void (document.body.style.letterSpacing = '.12em')"
"""The widest letters that WCAG 1.4.12 has a reader choose, or a wide font."""

CUT_OFF = script("""
  return texts().filter(one => {
    const style = getComputedStyle(one);
    const clips = style.overflowX !== 'visible' && style.overflowX !== 'auto';
    return clips && !one.closest('[title]')
      && (one.scrollWidth > one.clientWidth + 1
          || one.scrollHeight > one.clientHeight + 1);
  }).map(named);
""")
"""Texts of which not all is seen, without the whole as a tooltip."""

OVERLAPPING = script("""
  const found = [];
  for (const row of document.querySelectorAll('tbody tr, thead tr')) {
    if (!shown(row)) continue;
    const cells = [...row.children].filter(shown).map(
      one => [one, one.matches('.lane') ? box(one) : extent(one)]);
    for (let i = 1; i < cells.length; i++) {
      const [a, b] = [cells[i - 1][1], cells[i][1]];
      if (a && b && a.right > b.left + 1 && b.right > a.left + 1
          && a.bottom > b.top + 1 && b.bottom > a.top + 1)
        found.push(named(cells[i - 1][0]) + ' / ' + named(cells[i][0]));
    }
  }
  return found;
""")
"""Neighbours in a row of a table whose contents touch."""

FAINT = script("""
  const found = [];
  for (const one of texts()) {
    const color = rgba(getComputedStyle(one).color);
    const ratio = contrast(color.slice(0, 3), behind(one));
    if (color[3] < 1 || ratio < 4.5)
      found.push(named(one) + ' ' + ratio.toFixed(2));
  }
  return found;
""")
"""Texts with a contrast below 4.5, or half transparent."""

FAINT_FIGURES = script("""
  const found = [];
  const look = (one, property) => {
    const ratio = contrast(rgba(getComputedStyle(one)[property]).slice(0, 3),
                           behind(one.closest('td, li, figure')));
    if (ratio < 3) found.push(named(one) + ' ' + ratio.toFixed(2));
  };
  for (const one of document.querySelectorAll('.s-after, .s-hot'))
    look(one, 'fill');
  for (const kind of ['.s-before', '.s-line', '.s-edge', '.s-was', '.s-mark',
                      '.flow path'])
    for (const one of document.querySelectorAll(kind)) look(one, 'stroke');
  for (const one of document.querySelectorAll('.fill.is, .fill.share'))
    look(one, 'backgroundColor');
  return found;
""")
"""Marks with a contrast below 3."""

TOUCHING_TICKS = script("""
  const found = [];
  for (const axis of document.querySelectorAll('.axis')) {
    const ticks = [...axis.querySelectorAll('.tick')].map(box);
    if (ticks.at(-1).right > box(axis).right + .5) found.push('beyond');
    for (let i = 1; i < ticks.length; i++)
      if (ticks[i].left < ticks[i - 1].right + 2) found.push('touching');
  }
  return found;
""")
"""Labels of an axis that touch, or are beyond its end."""

SMALLEST_TEXT = script("""
  return Math.min(...texts().map(
    one => parseFloat(getComputedStyle(one).fontSize)));
""")

BARS = script("""
  return [...document.querySelectorAll('table.bars')].map(table => {
    const ticks = [...table.querySelectorAll('.tick')];
    const axis = box(table.querySelector('thead .lane'));
    const number = one => one.textContent.trim() === '\\u2013' ? null
      : parseFloat(one.textContent.match(/-?[\\d.]+$/)[0]);
    return {
      top: parseFloat(ticks.at(-1).textContent),
      of_hosts: !table.matches('.effects, .slots'),
      of_slots: table.matches('.slots'),
      rows: [...table.querySelectorAll('tbody tr:not(.gap)')].map(row => {
        const lane = box(row.querySelector('svg'));
        const share = kind => {
          const one = row.querySelector(kind);
          return one ? (box(one).right - lane.left) / lane.width : null;
        };
        const cells = row.querySelectorAll('td.num');
        return {
          host: row.querySelector('th').title,
          aligned: Math.abs(lane.left - axis.left) < 1
            && Math.abs(lane.right - axis.right) < 1,
          tall: lane.height,
          before: number(cells[0]), after: number(cells[1]),
          before_share: share('.s-before'), after_share: share('.s-after'),
          ceiling_share: share('.s-band'),
          was_share: share('.s-was'),
          marked: row.querySelector('.s-after.o') !== null,
          told: cells[1].textContent.includes('\\u25b2'),
        };
      }),
    };
  });
""")
"""Every table of bars: the numbers, and how far the bars reach."""

FLOW = script("""
  return [...document.querySelectorAll('figure.flow')].map(figure => {
    const svg = box(figure.querySelector('.box svg'));
    const ends = side => [...figure.querySelectorAll('.' + side + ' li')].map(
      one => ({host: one.title, numbers: one.lastElementChild.textContent,
               middle: box(one).top + box(one).height / 2 - svg.top,
               inner: side === 'left' ? box(one).right : box(one).left}));
    return {
      left: ends('left'), right: ends('right'),
      svg_left: svg.left, svg_right: svg.right, svg_width: svg.width,
      paths: [...figure.querySelectorAll('.box path')].map(one => {
        const start = one.getPointAtLength(0);
        const end = one.getPointAtLength(one.getTotalLength());
        return {start: start.y, end: end.y, from: start.x, to: end.x,
                dash: getComputedStyle(one).strokeDasharray,
                color: getComputedStyle(one).stroke};
      }),
    };
  });
""")
"""The picture of who goes where: rows of both sides, and the lines."""

MOVES = script("""
  return [...document.querySelectorAll('section[aria-labelledby$=-moves] '
    + 'tbody tr')].map(row => [...row.children].map(
      one => one.textContent.trim()));
""")


def drawn(table: str) -> str:
    """The rows of a table from above to below, each as its cells' texts.

    :param table: a selector of CSS
    """
    return script(f"""
  return [...document.querySelectorAll('{table} tbody tr')].map(
    row => [box(row).top, [...row.children].map(
      one => (one.querySelector('bdi') ?? one).textContent.trim())]
  ).sort((a, b) => a[0] - b[0]).map(one => one[1]);
""")


ORDERS = script("""
  return [...document.querySelectorAll('.sort')].map(group => ({
    name: group.querySelector('input').name,
    legend: group.querySelector('legend').textContent,
    labels: [...group.querySelectorAll('label')].map(
      one => one.textContent.trim()),
    chosen: [...group.querySelectorAll('label')].filter(
      one => one.querySelector('input').checked).map(
      one => one.textContent.trim()),
    shown: shown(group),
  }));
""")
"""What tables can be sorted by."""

UNALIGNED = script("""
  const found = [];
  for (const table of document.querySelectorAll('.sortable table')) {
    const head = [...table.querySelectorAll('thead th')].map(box);
    for (const row of table.querySelectorAll('tbody tr'))
      [...row.children].forEach((one, i) => {
        if (Math.abs(box(one).left - head[i].left) > .5
            || Math.abs(box(one).right - head[i].right) > .5)
          found.push(named(one));
      });
  }
  return found;
""")
"""Cells that are not below their heads."""


def all_of(selector: str) -> str:
    """The texts of the elements that a selector of CSS finds."""
    return script(f"""
  return [...document.querySelectorAll('{selector}')].map(
    one => one.textContent.trim());
""")


BROKEN_LABELS = script("""
  return [...document.querySelectorAll('dt')].filter(one => {
    const height = extent(one).bottom - extent(one).top;
    return height > 1.5 * parseFloat(getComputedStyle(one).lineHeight);
  }).map(one => one.textContent);
""")
"""Labels of more than one line."""

OUTLINE = script("""
  return [...document.querySelectorAll('h1, h2, h3, h4')].map(
    one => Number(one.tagName[1]));
""")

SCRIPTS = script("""
  return [...document.querySelectorAll('script, iframe, object, embed, form, '
      + 'img, link:not([href^="data:"]), base')].map(named).concat(
    [...document.querySelectorAll('*')].filter(one => [...one.attributes].some(
      each => each.name.startsWith('on')
        || /^\\s*(https?|javascript|file):/i.test(each.value)
           && ['href', 'src', 'xlink:href', 'action'].includes(each.name)
    )).map(named));
""")
"""What runs or loads something, or leads elsewhere."""

COLOURS = script("""
  const key = kind => document.querySelector('.key ' + kind);
  const style = (one, name) => rgba(getComputedStyle(one)[name]).slice(0, 3);
  return {
    page: behind(document.body), card: behind(document.querySelector('.card')),
    text: style(document.body, 'color'),
    before: style(key('.s-before'), 'stroke'),
    after: style(key('.s-after:not(.o)'), 'fill'),
    over: style(key('.s-after.o'), 'fill'),
    band: style(key('.s-band'), 'fill'),
  };
""")
"""Those that mean something, as red, green and blue up to 255."""


def words(left: float, top: float, height: float) -> str:
    """The texts that are seen in a part of the page, a line each.

    :param left: where it begins, in pixels from the left of the page
    :param top: the same from the top of the page
    :param height: of the part, which reaches to the right
    """
    return script(f"""
  return nodes(document.body).filter(one => {{
    const range = document.createRange();
    range.selectNode(one);
    const place = range.getBoundingClientRect();
    const middle = (place.top + place.bottom) / 2 + scrollY;
    return place.left + scrollX >= {left}
      && middle > {top} && middle < {top + height};
  }}).map(one => one.data.trim()).join('\\n');
""")
