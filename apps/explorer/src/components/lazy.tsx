import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Loading } from './loading.tsx'

/** Pause after which a part that could not be loaded is loaded again. */
const RETRY_MS = 2_000

/** A component whose code is loaded when it is first drawn, so that it is no part of the first view. */
export function createLazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let known: ComponentType<Props> | undefined
  return function Lazy(props: Props) {
    const [, draw] = useState(false)
    useEffect(() => {
      if (known) return undefined
      let timer: ReturnType<typeof setTimeout> | undefined
      let isLeft = false
      const loadIt = (): void => {
        load().then(
          (loaded) => {
            known = loaded
            if (!isLeft) draw(true)
          },
          () => {
            if (!isLeft) timer = setTimeout(loadIt, RETRY_MS)
          },
        )
      }
      loadIt()
      return () => {
        isLeft = true
        clearTimeout(timer)
      }
    }, [])
    const Known = known
    return Known ? <Known {...props} /> : <Loading />
  }
}
