// A report of the size that the page must stay quick with.
import { layeredCapture } from './graphs';
import { frame, report, violation, type WrittenReport } from './report';

const rules = ['host-sync', 'sync-copy', 'pageable-copy', 'device-alloc', 'host-poll', 'escaped-work'];

export function largeReport(findings: number, nodes: number): WrittenReport {
  const processes = Array.from({ length: 8 }, (_, rank) => ({
    pid: 100 + rank, rank, argv0: '/opt/engine/decode', attached: true, events: 5000, events_dropped: 0,
  }));
  const base = report();
  return report({
    coverage: { ...base.coverage, processes },
    captures: [layeredCapture('100:1', Math.ceil(nodes / 8))],
    violations: Array.from({ length: findings }, (_, i) =>
      violation(i + 1, {
        rule: rules[i % rules.length]!,
        severity: i % 7 === 0 ? 'warning' : i % 11 === 0 ? 'note' : 'error',
        message: `the host waits for a copy of ${(i % 64) * 4} bytes from the device in the step "decode-${i % 40}"`,
        processes: processes.filter((_, rank) => (i + rank) % 3 !== 0).map(({ pid }) => pid),
        thread: `worker ${i % 16}`,
        device: i % 8,
        stream: `s${i % 32}`,
        blocked_us: (i * 37) % 5000,
        count: 1 + (i % 90),
        location: { file: `engine/model/layer_${i % 300}.cpp`, line: 1 + (i % 900), function: `Layer${i % 300}::step_${i % 17}()` },
        source: Array.from({ length: 5 }, (_, line) => ({ line: (i % 900) + line, text: `    CU(cudaStreamSynchronize(streams[${i % 32}]));  // ${line}` })),
        stacks: [{ role: 'call', frames: Array.from({ length: 30 }, (_, depth) => frame({ file: depth % 3 ? `engine/model/layer_${(i + depth) % 300}.cpp` : '', line: depth % 3 ? 1 + depth : 0, function: `frame_${(i * depth) % 700}`, module: depth % 3 ? 'decode' : 'libcudart.so.13' })) }],
        details: { region: `decode-${i % 40}` },
      }),
    ),
  });
}
