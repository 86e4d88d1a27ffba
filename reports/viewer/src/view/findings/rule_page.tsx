import type { Rule } from '../../data/page_data';
import { Paragraphs, Section } from '../parts';
import { Code } from './source';

function Example({ title, text }: { title: string; text: string }) {
  if (!text.trim()) return null;
  return (
    <>
      <h4>{title}</h4>
      <Code lines={text.trim().split('\n')} label={title} />
    </>
  );
}

export function RulePage({ rule }: { rule: Rule }) {
  return (
    <Section title="The rule">
      <details class="rule-page">
        <summary>
          <code>{rule.id}</code>: {rule.title}
        </summary>
        <h4>What is judged</h4>
        <Paragraphs text={rule.fault} />
        <h4>Why it matters</h4>
        <Paragraphs text={rule.why} />
        <h4>How to fix it</h4>
        <Paragraphs text={rule.fix} />
        <Example title="Wrong" text={rule.bad} />
        <Example title="Right" text={rule.good} />
        <h4>Severity</h4>
        <p>
          In a capture or a marked step: {rule.in_region}. Between two launches of one graph: {rule.a_step}.
        </p>
        {rule.related.length > 0 && <p>Related: {rule.related.join(', ')}.</p>}
        <p>
          <code>capgate explain {rule.id}</code> prints this page.
        </p>
      </details>
    </Section>
  );
}
