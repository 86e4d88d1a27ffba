// Small parts that many views use.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Severity } from '../data/page_data';
import type { Place } from '../model/place';
import { hashOf, start } from '../model/place';
import { counted } from '../model/words';
import { usePage } from './state';

const marks: Record<Severity, string> = { error: '✕', warning: '!', note: 'i' };

export function SeverityMark({ severity }: { severity: Severity }) {
  return (
    <span class={`severity ${severity}`}>
      <span aria-hidden="true">{marks[severity]}</span> {severity}
    </span>
  );
}

export function Tag({ kind, children }: { kind: string; children: ComponentChildren }) {
  return <span class={`tag ${kind}`}>{children}</span>;
}

async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A page that was opened from disk may not be allowed to; the old way still is.
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'off-page';
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}

export function Copy({ text, label = 'Copy' }: { text: string | (() => string); label?: string }) {
  const [answer, setAnswer] = useState('');
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    const done = await toClipboard(typeof text === 'string' ? text : text());
    setAnswer(done ? 'Copied' : 'Not copied: select the text');
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setAnswer(''), 1500);
  };
  return (
    <button type="button" class="copy" onClick={copy}>
      <span aria-live="polite">{answer || label}</span>
    </button>
  );
}

export function Command({ text, label = 'Copy' }: { text: string; label?: string }) {
  return (
    <div class="command">
      <code tabIndex={0}>{text}</code>
      <Copy text={text} label={label} />
    </div>
  );
}

// A link to another place of the page; what it does not name goes back to its beginning, unless it stays `here`.
export function Go({ to, here = false, children, ...rest }: {
  to: Partial<Place>;
  here?: boolean;
  children: ComponentChildren;
  class?: string;
  'aria-current'?: 'page' | 'true';
}) {
  const { place } = usePage();
  return (
    <a href={hashOf({ ...(here ? place : start), ...to })} {...rest}>
      {children}
    </a>
  );
}

export function Section({ title, children, class: name = '' }: { title: string; children: ComponentChildren; class?: string }) {
  return (
    <section class={`part ${name}`}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

export function Facts({ facts }: { facts: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

// The end of a list of which only the first are drawn.
export function More({ count }: { count: number }) {
  return count > 0 ? <li class="quiet">and {counted(count, 'more', 'more')}</li> : null;
}

export function Paragraphs({ text }: { text: string }) {
  return (
    <>
      {text.trim().split(/\n\s*\n/).map((part, i) => <p key={i}>{part}</p>)}
    </>
  );
}
