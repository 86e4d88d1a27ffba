// What to do about a finding: why, the cost, one fix, how to allow it. The first screen and the detail view show the same.
import type { Violation } from '../../data/page_data';
import { costOf, stepsText } from '../../model/cost';
import { fixOf, whyOf } from '../../model/fix';
import { allowComment, allowEntry, isPython } from '../../model/suppression';
import { Command, Section } from '../parts';
import { Code } from './source';
import { usePage } from '../state';

export function Why({ violation }: { violation: Violation }) {
  const { data } = usePage();
  const why = whyOf(violation, data);
  return why ? <Section title="Why"><p>{why}</p></Section> : null;
}

export function CostLine({ violation }: { violation: Violation }) {
  const costs = costOf(violation);
  if (costs.length === 0) return null;
  return (
    <Section title="Cost" class="cost">
      <ul>
        {costs.map(({ amount, label }) => (
          <li key={label}>
            <strong>{amount}</strong> {label}
          </li>
        ))}
      </ul>
      {stepsText(violation) && <p class="quiet">{stepsText(violation)}</p>}
    </Section>
  );
}

export function FixPart({ violation }: { violation: Violation }) {
  const { data } = usePage();
  const fix = fixOf(violation, data);
  if (!fix.text && fix.code.length === 0) return null;
  return (
    <Section title="Fix" class="fix">
      {fix.text && <p>{fix.text}</p>}
      {fix.code.length > 0 && <Code lines={fix.code} label={`The fix in ${fix.language}`} />}
    </Section>
  );
}

export function Allow({ violation }: { violation: Violation }) {
  const { data } = usePage();
  if (violation.suppressed) {
    return (
      <Section title="Allowed">
        <p>
          {violation.suppressed.reason} ({violation.suppressed.origin})
        </p>
      </Section>
    );
  }
  const comment = allowComment(violation, isPython(violation, data));
  const entry = allowEntry(violation);
  if (!comment && !entry) return null;
  return (
    <Section title="If it is meant" class="allow">
      {comment && (
        <>
          <p>Put this on the line, or on the line above it:</p>
          <Command text={comment} />
        </>
      )}
      {entry && (
        <>
          <p>Code that is not yours to edit: put this in the file of <code>--suppressions</code>; it covers every such fault there:</p>
          <Command text={entry} />
        </>
      )}
      <p>The reason is required. What is allowed stays in the report and no longer counts.</p>
    </Section>
  );
}
