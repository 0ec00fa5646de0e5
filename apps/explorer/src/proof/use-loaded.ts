import { useEffect, useState } from 'preact/hooks'

/** A part of the page that is loaded when it is needed; undefined until it is loaded. */
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
