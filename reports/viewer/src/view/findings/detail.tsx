// Everything about one finding.
import type { Finding } from '../../model/findings';
import { seenText } from '../../model/cost';
import { ruleOf } from '../../model/fix';
import { markdownOf } from '../../model/markdown';
import { placeText } from '../../model/order';
import { mostParts } from '../../model/stack';
import { counted } from '../../model/words';
import { Allow, CostLine, FixPart, Why } from './advice';
import { Copy, Facts, Go, More, Section, SeverityMark, Tag } from '../parts';
import { RulePage } from './rule_page';
import { Source } from './source';
import { Stacks } from './stack';
import { usePage } from '../state';

export function Tags({ finding }: { finding: Finding }) {
  const { violation } = finding;
  return (
    <>
      {violation.baseline === 'new' && <Tag kind="new">new</Tag>}
      {violation.baseline === 'known' && <Tag kind="known">known</Tag>}
      {violation.suppressed && <Tag kind="allowed">allowed</Tag>}
      {finding.cause && <Tag kind="symptom">symptom</Tag>}
      {finding.ranks && <Tag kind="ranks">{finding.ranks}</Tag>}
    </>
  );
}

export function LinkTo({ finding }: { finding: Finding }) {
  return (
    <>
      <Go to={{ view: 'findings', id: finding.violation.id }}>{finding.violation.message}</Go>{' '}
      <span class="where">{placeText(finding)}</span>
    </>
  );
}

function Relations({ finding }: { finding: Finding }) {
  if (finding.cause)
    return (
      <Section title="A symptom of">
        <p>
          <LinkTo finding={finding.cause} />
        </p>
      </Section>
    );
  if (finding.symptoms.length === 0) return null;
  return (
    <Section title={`${counted(finding.symptoms.length, 'symptom')} that would go away with it`}>
      <ul>
        {finding.symptoms.slice(0, 20).map((symptom) => (
          <li key={symptom.at}>
            <LinkTo finding={symptom} />
          </li>
        ))}
        {finding.symptoms.length > 20 && <li>and {counted(finding.symptoms.length - 20, 'more', 'more')}</li>}
      </ul>
    </Section>
  );
}

function Flow({ finding }: { finding: Finding }) {
  const { flow } = finding.violation;
  if (!flow?.length) return null;
  return (
    <Section title="How the value gets there">
      <ol class="flow">
        {flow.slice(0, mostParts).map((step, i) => (
          <li key={i}>
            <span class="message">{step.message}</span> <span class="where">{step.file}:{step.line}</span>
          </li>
        ))}
        <More count={flow.length - mostParts} />
      </ol>
    </Section>
  );
}

function Details({ finding }: { finding: Finding }) {
  const { violation } = finding;
  const facts: [string, string][] = Object.entries(violation.details);
  if (violation.api) facts.unshift(['call', violation.result ? `${violation.api}: ${violation.result}` : violation.api]);
  facts.push(['phase', violation.phase], ['evidence', violation.evidence.join(' and ')], ['id', violation.id]);
  return (
    <Section title="Details">
      <Facts facts={facts} />
    </Section>
  );
}

export function Detail({ finding }: { finding: Finding }) {
  const page = usePage();
  const { violation } = finding;
  const { location } = violation;
  const rule = ruleOf(violation, page.data);
  const capture = page.data.report.captures.find((one) => one.id === violation.capture);
  return (
    <article class="detail" aria-labelledby="detail-title">
      <header>
        <p class="line">
          <SeverityMark severity={violation.severity} /> <code>{violation.rule}</code> <Tags finding={finding} />
          <span class="actions">
            <Copy text={() => markdownOf(finding, page.data)} label="Copy as Markdown" />
            <Go to={{ id: '' }} here class="button">Close</Go>
          </span>
        </p>
        <h2 id="detail-title" tabIndex={-1}>{violation.message}</h2>
        <p class="place">
          <code>{placeText(finding)}</code>
          {location.file && location.function && <> in <code>{location.function}</code></>}
        </p>
      </header>
      {violation.source?.length ? (
        <Source lines={violation.source} marked={location.line} label={`Source of ${placeText(finding)}`} />
      ) : null}
      <FixPart violation={violation} />
      <Why violation={violation} />
      <CostLine violation={violation} />
      <Section title="Seen">
        <p>{seenText(violation, finding.ranks)}</p>
        {capture && (
          <p>
            <Go to={{ view: 'graph', capture: capture.id, node: violation.nodes?.find((one) => one.capture === capture.id)?.ids[0] ?? null }}>Show capture {capture.bucket ?? capture.id}</Go>
          </p>
        )}
      </Section>
      <Relations finding={finding} />
      <Flow finding={finding} />
      <Stacks violation={violation} />
      <Allow violation={violation} />
      <Details finding={finding} />
      {rule && <RulePage rule={rule} />}
    </article>
  );
}
