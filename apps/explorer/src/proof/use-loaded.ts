import { useEffect, useState } from 'preact/hooks'

/** A part of the page that is loaded where there is something to verify; undefined until it is there. */
export function useLoaded<T>(load: () => Promise<T>): T | undefined {
  const [loaded, setLoaded] = useState<{ readonly part: T } | undefined>(undefined)
  useEffect(() => {
    load().then(
      (part) => setLoaded({ part }),
      () => {},
    )
  }, [])
  return loaded?.part
}
