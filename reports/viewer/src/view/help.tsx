import { useLayoutEffect, useRef } from 'preact/hooks';

export const keys: [string, string][] = [
  ['/', 'search the findings'],
  ['j', 'next finding or node'],
  ['k', 'the one before'],
  ['Enter', 'open the first cause; in the list, read the open finding'],
  ['Esc', 'close what is open, then clear the search'],
  ['?', 'this list'],
];

export function Help({ close }: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  // At once: an Escape before the dialog is modal would go to the page, and the dialog would stay.
  useLayoutEffect(() => {
    const box = dialog.current;
    box?.showModal();
    return () => box?.close();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onClose={close}>
      <h2 id="help-title">Keys</h2>
      <dl class="keys">
        {keys.map(([key, does]) => (
          <div key={key}>
            <dt><kbd>{key}</kbd></dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={close}>Close</button>
    </dialog>
  );
}
