// The page on paper: the first screen, then every finding without anything to click.
import { placeText } from '../model/order';
import { seenText } from '../model/cost';
import { fixOf } from '../model/fix';
import { counted } from '../model/words';
import { Tags } from './findings/detail';
import { Overview } from './run/overview';
import { SeverityMark } from './parts';
import { Source } from './findings/source';
import { usePage } from './state';

const most = 500;

export function Print() {
  const { data, findings } = usePage();
  return (
    <>
      <Overview />
      <section class="printed">
        <h2>All findings</h2>
        {findings.all.slice(0, most).map((finding) => {
          const { violation } = finding;
          return (
            <article key={finding.at}>
              <h3>
                <SeverityMark severity={violation.severity} /> {violation.rule}: {violation.message}
              </h3>
              <p>
                <code>{placeText(finding)}</code> <Tags finding={finding} /> {seenText(violation, finding.ranks)}
              </p>
              {violation.source?.length ? <Source lines={violation.source} marked={violation.location.line} label="Source" /> : null}
              <p>{violation.suppressed ? `Allowed: ${violation.suppressed.reason}` : `Fix: ${fixOf(violation, data).text}`}</p>
            </article>
          );
        })}
        {findings.all.length > most && <p>The report has {counted(findings.all.length - most, 'more finding')}.</p>}
      </section>
    </>
  );
}
