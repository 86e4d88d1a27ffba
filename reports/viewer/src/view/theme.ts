// Light, dark, or what the system says.
import { useLayoutEffect, useState } from 'preact/hooks';

const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

const key = 'capgate-theme';

// A page from disk may have no storage; then the choice lasts as long as the page.
function stored(): Theme {
  try {
    const word = localStorage.getItem(key);
    return themes.find((theme) => theme === word) ?? 'system';
  } catch {
    return 'system';
  }
}

export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(stored);
  useLayoutEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem(key, theme);
    } catch {
      // See above.
    }
  }, [theme]);
  return [theme, () => setTheme(themes[(themes.indexOf(theme) + 1) % themes.length]!)];
}
