// The keyboard. Keys that a field or a button needs are left to it.
import { useEffect } from 'preact/hooks';

export interface Keys {
  search(): void;
  move(by: 1 | -1): void;
  enter(): boolean; // whether it did anything
  escape(): void;
  help(): void;
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input:not([type=checkbox]), select, textarea');
}

export function useKeys(keys: Keys): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || document.querySelector('dialog[open]')) return;
      const { target } = event;
      if (isField(target)) {
        if (event.key !== 'Escape' && event.key !== 'Enter') return;
        if (event.key === 'Enter' && !(target as HTMLElement).matches('#search')) return;
        if (event.key === 'Escape') {
          (target as HTMLElement).blur();
          keys.escape();
        } else keys.move(1);
        event.preventDefault();
        return;
      }
      switch (event.key) {
        case '/': keys.search(); break;
        case 'j': keys.move(1); break;
        case 'k': keys.move(-1); break;
        case 'Escape': keys.escape(); break;
        case '?': keys.help(); break;
        case 'Enter':
          if (target instanceof HTMLElement && target.matches('a, button, summary, input, [tabindex="0"]')) return;
          if (!keys.enter()) return;
          break;
        default: return;
      }
      event.preventDefault();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  });
}
