// Makes one file of what Vite built: style and script inside, a policy that lets nothing else run, the licences of what is
// bundled, and the place where `capgate view` puts the data.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Plugin, Rolldown } from 'vite';

// The first line of every page, by which `capgate view` knows its own files, and the data's place in it.
// reports/viewer/page.cpp holds the same words.
const firstLine = '<!doctype html><!-- capgate page 1 -->';
const dataPlace = '@CAPGATE_PAGE_DATA@';

const bundled = ['preact'];

function licences(): string {
  return bundled
    .map((name) => {
      const folder = new URL(`../node_modules/${name}/`, import.meta.url);
      const { version } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as { version: string };
      return `${name} ${version}\n\n${readFileSync(new URL('LICENSE', folder), 'utf8').trim()}`;
    })
    .join('\n\n')
    .replaceAll('--', '- -');
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

// In a script element only these end it early.
function inScript(code: string): string {
  return code.trim().replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
}

export function oneFile(): Plugin {
  return {
    name: 'one-file',
    enforce: 'post',
    generateBundle(_, bundle) {
      const files = Object.values(bundle) as (Rolldown.OutputChunk | Rolldown.OutputAsset)[];
      const scripts = files.filter((file) => file.type === 'chunk');
      const styles = files.filter((file) => file.type === 'asset' && file.fileName.endsWith('.css'));
      const html = files.find((file) => file.fileName === 'index.html');
      if (scripts.length !== 1 || styles.length !== 1 || html?.type !== 'asset') throw new Error('one script, one style and one page are expected');
      const script = inScript((scripts[0] as Rolldown.OutputChunk).code);
      const style = String((styles[0] as Rolldown.OutputAsset).source).trim();
      if (style.includes('</style')) throw new Error('the style ends its element early');
      const policy = [
        "default-src 'none'", `script-src ${hashOf(script)}`, `style-src ${hashOf(style)}`, "base-uri 'none'", "form-action 'none'",
      ].join('; ');
      const page = String(html.source)
        .replace(/^<!doctype html>/i, () => `${firstLine}\n<!--\nThis page contains:\n\n${licences()}\n-->`)
        .replace(/\s*<script type="module".*?<\/script>/s, '')
        .replace(/\s*<link rel="stylesheet".*?>/s, '')
        .replace('<meta charset="utf-8">', (charset) => `${charset}\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`)
        .replace('</head>', () => `  <style>${style}</style>\n  </head>`)
        .replace('</body>', () => `  <script type="application/json" id="capgate-data">${dataPlace}</script>\n    <script>${script}</script>\n  </body>`);
      for (const file of files) delete bundle[file.fileName];
      this.emitFile({ type: 'asset', fileName: 'page.html', source: page });
    },
  };
}
