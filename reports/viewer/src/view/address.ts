// The reader's place, kept in the address.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { hashOf, placeOf, type Place } from '../model/place';

export function useAddress(): [Place, (change: Partial<Place>, quietly?: boolean) => void] {
  const [place, setPlace] = useState(() => placeOf(location.hash));
  const now = useRef(place);
  now.current = place;
  useEffect(() => {
    const follow = () => {
      if (hashOf(now.current) !== location.hash) setPlace(placeOf(location.hash));
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const go = useCallback((change: Partial<Place>, quietly = false) => {
    const next = { ...now.current, ...change };
    now.current = next;
    setPlace(next);
    const hash = hashOf(next);
    try {
      if (quietly) history.replaceState(null, '', hash);
      else history.pushState(null, '', hash);
    } catch {
      location.hash = hash; // where a page may not change its history
    }
  }, []);
  return [place, go];
}
