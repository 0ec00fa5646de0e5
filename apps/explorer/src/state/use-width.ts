import { useEffect, useRef, useState } from 'preact/hooks'

/** Width of an element that is not laid out yet. */
const USUAL_WIDTH = 360

/** The width of an element in pixels, and the reference to give it. */
export function useWidth() {
  const place = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(USUAL_WIDTH)
  useEffect(() => {
    const measure = (): void => setWidth(place.current?.clientWidth || USUAL_WIDTH)
    measure()
    const resized = new ResizeObserver(measure)
    resized.observe(place.current!)
    return () => resized.disconnect()
  }, [])
  return { place, width }
}
