import { wrongPageData } from './check';
import type { PageData } from './page_data';

export type Loaded = { data: PageData } | { wrong: string };

// Much data is packed: gzip in base64, where plain data begins with a brace.
async function unpacked(text: string): Promise<string> {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
}

// The data that the page carries, or one sentence that says why it cannot be shown. Plain data is there at once, so that
// nothing is drawn before it.
export function readPageData(text: string): Loaded | Promise<Loaded> {
  if (text === '' || text.startsWith('{')) return parsed(text);
  return unpacked(text).then(parsed, () => damaged);
}

const damaged = { wrong: 'its data is not complete: the file was cut off or edited' };

function parsed(text: string): Loaded {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return damaged;
  }
  const wrong = wrongPageData(data);
  return wrong ? { wrong } : { data: data as PageData };
}
