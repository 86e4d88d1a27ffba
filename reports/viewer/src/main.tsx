import { Component, render, type ComponentChildren } from 'preact';
import { checkedAtOnce, wrongViolations } from './data/check';
import { readPageData, type Loaded } from './data/load';
import type { PageData } from './data/page_data';
import './style/base.css';
import './style/overview.css';
import './style/findings.css';
import './style/graph.css';
import './style/timeline.css';
import './style/print.css';
import { App } from './view/app';
import { modelOf } from './view/state';

function Broken({ wrong }: { wrong: string }) {
  return (
    <main class="broken" aria-live="assertive">
      <h1>This page cannot be shown</h1>
      <p>{wrong}.</p>
      <p>
        Make it again from its report: <code>capgate view REPORT.json</code>
      </p>
    </main>
  );
}

// Whatever goes wrong while drawing is said, not hidden in the console.
class Shown extends Component<{ children: ComponentChildren }, { wrong: string }> {
  override state = { wrong: '' };

  override componentDidCatch(error: unknown) {
    this.setState({ wrong: `It could not be drawn: ${error instanceof Error ? error.message : String(error)}` });
  }

  override render() {
    return this.state.wrong ? <Broken wrong={this.state.wrong} /> : this.props.children;
  }
}

const root = document.getElementById('page')!;

function say(wrong: string): void {
  render(<Broken wrong={wrong} />, root);
}

// The rest of the violations, a thousand at a time, when the page has nothing else to do.
function checkLater(data: PageData, from: number): void {
  if (from >= data.report.violations.length) return;
  setTimeout(() => {
    const wrong = wrongViolations(data.report.violations, data.frames.length, from, from + 1000);
    if (wrong) say(wrong);
    else checkLater(data, from + 1000);
  }, 50);
}

function show(data: PageData): void {
  const model = modelOf(data);
  const draw = (printing: boolean) => render(<Shown><App model={model} printing={printing} /></Shown>, root);
  draw(false);
  addEventListener('beforeprint', () => draw(true));
  addEventListener('afterprint', () => draw(false));
  checkLater(data, checkedAtOnce);
}

function begin(loaded: Loaded): void {
  root.replaceChildren();
  if ('wrong' in loaded) {
    say(loaded.wrong);
    return;
  }
  try {
    show(loaded.data);
  } catch {
    // Only what is not checked yet can do that.
    say(wrongViolations(loaded.data.report.violations, loaded.data.frames.length, 0, Infinity) ?? 'it could not be drawn');
  }
}

const element = document.getElementById('capgate-data');
const loaded = readPageData(element?.textContent ?? '');
// The text is not needed again, and may be many megabytes.
element?.remove();
if (loaded instanceof Promise) void loaded.then(begin);
else begin(loaded);
