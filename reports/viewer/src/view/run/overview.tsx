// The first screen: what it is, what to change first, what is proved.
import type { Finding } from '../../model/findings';
import { factsOf, figuresOf, verdictWords } from '../../model/headline';
import { markdownOf } from '../../model/markdown';
import { placeText } from '../../model/order';
import { capitalised, counted, remedyParts } from '../../model/words';
import { Allow, CostLine, FixPart, Why } from '../findings/advice';
import { LinkTo, Tags } from '../findings/detail';
import { Command, Copy, Go, SeverityMark } from '../parts';
import { Source } from '../findings/source';
import { usePage } from '../state';

function Figures() {
  const { data, findings } = usePage();
  return (
    <ul class="figures">
      {figuresOf(data, findings).map(({ value, label, state }) => (
        <li key={label}>
          <strong>{value}</strong>{' '}
          {state ? <Go to={{ view: 'findings', choice: { state: [state] } }}>{label}</Go> : label}
        </li>
      ))}
    </ul>
  );
}

function FirstCause({ finding }: { finding: Finding }) {
  const { data } = usePage();
  const { violation } = finding;
  const { location } = violation;
  return (
    <section class={`first-cause ${violation.severity}`} aria-labelledby="first-cause">
      <header>
        <p class="line">
          <span class="step">{violation.baseline === 'known' ? 'Known, and still there' : 'Start here'}</span>
          <SeverityMark severity={violation.severity} /> <code>{violation.rule}</code> <Tags finding={finding} />
          <span class="actions">
            <Copy text={() => markdownOf(finding, data)} label="Copy as Markdown" />
            <Go to={{ view: 'findings', id: violation.id }} class="button">Stack and details</Go>
          </span>
        </p>
        <h2 id="first-cause">{violation.message}</h2>
        <p class="place">
          <code>{placeText(finding)}</code>
          {location.file && location.function && <> in <code>{location.function}</code></>}
        </p>
      </header>
      {violation.source?.length ? (
        <Source lines={violation.source} marked={location.line} label={`Source of ${placeText(finding)}`} />
      ) : null}
      <div class="columns">
        <div>
          <FixPart violation={violation} />
          <CostLine violation={violation} />
        </div>
        <div>
          <Why violation={violation} />
        </div>
      </div>
      <details class="meant">
        <summary>It is meant: how to allow it</summary>
        <Allow violation={violation} />
      </details>
    </section>
  );
}

const listed = 6;

function NextCauses({ causes }: { causes: Finding[] }) {
  if (causes.length === 0) return null;
  return (
    <section class="card next" aria-labelledby="next-causes">
      <h2 id="next-causes">Then</h2>
      <ol start={2}>
        {causes.slice(0, listed).map((finding) => (
          <li key={finding.at}>
            <SeverityMark severity={finding.violation.severity} /> <LinkTo finding={finding} /> <Tags finding={finding} />
          </li>
        ))}
      </ol>
      {causes.length > listed && (
        <p>
          <Go to={{ view: 'findings', choice: { state: ['cause'] } }}>and {counted(causes.length - listed, 'more cause')}</Go>
        </p>
      )}
    </section>
  );
}

// "capgate audit -- PROGRAM, once it captures the step": the command, and what is said of it.
function Remedy({ text }: { text: string }) {
  const { command, words } = remedyParts(text);
  return (
    <>
      {command && <Command text={command} />}
      {words && <p class="quiet">{words}</p>}
    </>
  );
}

function Proof() {
  const { claims } = usePage().data;
  return (
    <div class="columns proof">
      <section class="card" aria-labelledby="proved">
        <h2 id="proved">Proved</h2>
        {claims.proved.length > 0 ? (
          <ul>{claims.proved.map((text) => <li key={text}>{text}</li>)}</ul>
        ) : (
          <p>Nothing: a report that does not pass proves no more than its findings.</p>
        )}
      </section>
      <section class="card" aria-labelledby="not-proved">
        <h2 id="not-proved">Not proved</h2>
        {claims.not_proved.length > 0 ? (
          <ul>
            {claims.not_proved.map(({ text, remedy }, i) => (
              <li key={text}>
                {text}
                {/* What answers several is said once, after the last of them. */}
                {remedy !== claims.not_proved[i + 1]?.remedy && <Remedy text={remedy} />}
              </li>
            ))}
          </ul>
        ) : (
          <p>Nothing that this kind of report can prove is left open.</p>
        )}
      </section>
    </div>
  );
}

export function Headline() {
  const { data } = usePage();
  const { verdict } = data.report;
  return (
    <div class={`headline ${verdict}`}>
      <p class="verdict">{verdictWords[verdict]}</p>
      <h1>{capitalised(data.claims.headline)}</h1>
      <dl class="short-facts">
        {factsOf(data).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt> <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

export function Overview() {
  const { findings } = usePage();
  const [first, ...rest] = findings.causes;
  return (
    <div class="overview">
      <Headline />
      <Figures />
      {first && <FirstCause finding={first} />}
      <NextCauses causes={rest} />
      <Proof />
    </div>
  );
}
