// SPDX-License-Identifier: Apache-2.0
// A button at every block that is pasted into a terminal or a file, the names of
// columns at every cell, for screens on which a row is a card, and breaks in codes.

const COMMANDS = '.highlight-console, .highlight-shell';
const FILES = '.highlight-ini, .highlight-yaml, .highlight-toml, '
  + '.highlight-json, .highlight-python, .highlight-sql';

// The commands of a console without what they print, or the whole block.
function pasted(block) {
  const text = block.querySelector('pre').cloneNode(true);
  if (block.matches(COMMANDS)) {
    if (!text.querySelector('.gp')) return '';
    text.querySelectorAll('.go, .gp').forEach(one => one.remove());
  }
  return text.textContent.replace(/\n{2,}/g, '\n').trim();
}

async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // A site without TLS has no clipboard.
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

for (const block of document.querySelectorAll(`${COMMANDS}, ${FILES}`)) {
  const text = pasted(block);
  if (!text) continue;
  const button = document.createElement('button');
  button.className = 'site-copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await copy(text);
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  });
  block.append(button);
}

for (const table of document.querySelectorAll('table.docutils')) {
  const names = [...table.querySelectorAll('thead th')].map(one => one.innerText);
  if (names.length < 3) continue;
  table.classList.add('site-cards');
  for (const row of table.querySelectorAll('tbody tr')) {
    [...row.cells].forEach((cell, at) => { cell.dataset.column = names[at]; });
  }
}

// A long code in a table breaks behind the signs that join its words.
for (const code of document.querySelectorAll('table.docutils code .pre')) {
  if (code.childElementCount) continue;
  const parts = code.textContent.split(/(?<=\w[_.-])(?=\w)/);
  code.replaceChildren(...parts.flatMap((part, at) => (
    at ? [document.createElement('wbr'), part] : [part])));
}
