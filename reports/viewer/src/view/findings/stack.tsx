import { useState } from 'preact/hooks';
import type { Frame, Stack, Violation } from '../../data/page_data';
import { foldedStack, moduleNames, mostParts, roleTitles } from '../../model/stack';
import { baseName, counted } from '../../model/words';
import { More, Section } from '../parts';
import { usePage } from '../state';

const mostStacks = 10;

function FrameLine({ frame, here, api }: { frame: Frame; here: boolean; api?: string | undefined }) {
  const python = frame.language === 'python';
  // A stripped driver has no name for the call; the report has.
  const name = api && frame.function.startsWith('+') ? api : frame.function || 'unnamed';
  return (
    <li class={`frame ${here ? 'here' : ''} ${frame.library ? 'library' : ''}`}>
      <span class={`language ${python ? 'python' : 'native'}`}>{python ? 'Python' : 'C++'}</span>
      <code class="function">{name}</code>
      {frame.inlined && <span class="tag">inlined</span>}
      <span class="where">{frame.file ? `${frame.file}:${frame.line}` : baseName(frame.module)}</span>
      {here && <span class="tag marked">the marked line</span>}
    </li>
  );
}

function Fold({ frames }: { frames: Frame[] }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <li class="fold">
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? '▾' : '▸'} {counted(frames.length, 'frame')} in {moduleNames(frames)}
        </button>
      </li>
      {open && frames.slice(0, mostParts).map((frame, i) => <FrameLine key={i} frame={frame} here={false} />)}
      {open && <More count={frames.length - mostParts} />}
    </>
  );
}

function OneStack({ stack, violation }: { stack: Stack; violation: Violation }) {
  const { data } = usePage();
  const parts = foldedStack(stack.frames, violation, data);
  return (
    <Section title={Object.hasOwn(roleTitles, stack.role) ? roleTitles[stack.role]! : stack.role}>
      <ol class="stack">
        {parts.slice(0, mostParts).map((part, i) =>
          'fold' in part ? (
            <Fold key={i} frames={part.fold} />
          ) : (
            <FrameLine key={i} frame={part.frame} here={part.here}
              api={i === 0 && stack.role === 'call' ? violation.api : undefined} />
          ),
        )}
        <More count={parts.length - mostParts} />
      </ol>
    </Section>
  );
}

export function Stacks({ violation }: { violation: Violation }) {
  const call = (stack: Stack) => (stack.role === 'call' ? 0 : 1);
  const stacks = violation.stacks.filter((stack) => stack.frames.length > 0).sort((a, b) => call(a) - call(b));
  return (
    <>
      {stacks.slice(0, mostStacks).map((stack, i) => <OneStack key={i} stack={stack} violation={violation} />)}
      {stacks.length > mostStacks && <p class="part">and {counted(stacks.length - mostStacks, 'more stack')}</p>}
    </>
  );
}
