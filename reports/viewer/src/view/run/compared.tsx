// The report beside its baseline: new, fixed, still there.
import type { Violation } from '../../data/page_data';
import { findingsOf, isOpen, type Finding } from '../../model/findings';
import { placeText } from '../../model/order';
import { counted, grouped } from '../../model/words';
import { LinkTo } from '../findings/detail';
import { Go, SeverityMark } from '../parts';
import { usePage } from '../state';

const listed = 100;

function FixedText({ finding }: { finding: Finding }) {
  return (
    <>
      {finding.violation.message} <span class="where">{placeText(finding)}</span>
    </>
  );
}

function Part({ title, about, findings, linked }: { title: string; about: string; findings: Finding[]; linked?: 'new' | 'known' }) {
  const id = `compared-${title.replace(/ /g, '-')}`;
  return (
    <section class="card compared" aria-labelledby={id}>
      <h2 id={id}>
        {title} <span class="count">{grouped(findings.length)}</span>
      </h2>
      <p>{about}</p>
      {findings.length > 0 && (
        <ul>
          {findings.slice(0, listed).map((finding) => (
            <li key={finding.at}>
              <SeverityMark severity={finding.violation.severity} /> <code>{finding.violation.rule}</code>{' '}
              {linked ? <LinkTo finding={finding} /> : <FixedText finding={finding} />}
            </li>
          ))}
        </ul>
      )}
      {findings.length > listed &&
        (linked ? (
          <Go to={{ view: 'findings', choice: { state: [linked] } }}>and {counted(findings.length - listed, 'more', 'more')}</Go>
        ) : (
          <p>and {counted(findings.length - listed, 'more', 'more')}</p>
        ))}
    </section>
  );
}

export function Compared() {
  const { data, findings } = usePage();
  const { baseline } = data;
  if (!baseline) return null;
  const of = (state: Violation['baseline']) => findings.all.filter(({ violation }) => violation.baseline === state && isOpen(violation));
  const fixed = findingsOf(baseline.fixed, data.report.coverage.processes).all;
  return (
    <div class="page">
      <h1>Compared with {baseline.file}</h1>
      <Part title="New" about="Errors and warnings that the baseline does not have. Only these fail a gate with this baseline." findings={of('new')} linked="new" />
      <Part title="Fixed" about="In the baseline, and no longer in the report. Update the baseline, so that they cannot come back unnoticed." findings={fixed} />
      <Part title="Still there" about="In both." findings={of('known')} linked="known" />
    </div>
  );
}
