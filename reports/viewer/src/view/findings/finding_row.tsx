import { Component } from 'preact';
import type { Finding } from '../../model/findings';
import { placeText } from '../../model/order';
import { grouped } from '../../model/words';
import { Tags } from './detail';
import { SeverityMark } from '../parts';

interface Props {
  finding: Finding;
  below: boolean; // under its cause
  open: boolean;
  href: string;
}

// A class, so that scrolling does not draw again what has not changed.
export class FindingRow extends Component<Props> {
  override shouldComponentUpdate(next: Props): boolean {
    const { finding, below, open, href } = this.props;
    return next.finding !== finding || next.below !== below || next.open !== open || next.href !== href;
  }

  override render({ finding, below, open, href }: Props) {
    const { violation } = finding;
    return (
      <a class={`row ${below ? 'below' : ''} ${open ? 'open' : ''}`} href={href} aria-current={open ? 'true' : undefined}>
        <span class="line">
          <SeverityMark severity={violation.severity} />
          <span class="rule">{violation.rule}</span>
          <Tags finding={finding} />
          {violation.count > 1 && <span class="count">× {grouped(violation.count)}</span>}
        </span>
        <span class="message">{violation.message}</span>
        <span class="where path"><bdi>{placeText(finding)}</bdi></span>
      </a>
    );
  }
}
