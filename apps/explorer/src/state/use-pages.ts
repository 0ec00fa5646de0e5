import { useEffect, useState } from 'preact/hooks'
import { type ApiRequest, ask, requestPath } from '../api/client.ts'
import type { Failure } from '../api/failure.ts'
import type { StateHead } from '../api/state-head.ts'

export interface Pages<T> {
  readonly items: readonly T[]
  /** Whether more can be asked for, and how; undefined while a page is loading. */
  readonly more: (() => void) | undefined
  readonly isLoading: boolean
  readonly isComplete: boolean
  readonly failure: Failure | undefined
  readonly head: StateHead | undefined
}

const NONE: Pages<never> = {
  items: [],
  more: undefined,
  isLoading: true,
  isComplete: true,
  failure: undefined,
  head: undefined,
}

/** The pages of a list, all of the state of the first; at once where they are taken eagerly. A node that is lost or busy is asked again. */
export function usePages<Page, T>(
  request: ApiRequest,
  itemsOf: (page: Page) => readonly T[],
  { isEager = false }: { readonly isEager?: boolean } = {},
): Pages<T> {
  const name = `${requestPath(request)} ${request.body ?? ''}`
  const [pages, setPages] = useState<{ readonly of: string; readonly pages: Pages<T> }>({ of: name, pages: NONE })
  useEffect(() => {
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const load = async (before: Pages<T>, cursor: string | undefined): Promise<void> => {
      setPages({ of: name, pages: { ...before, more: undefined, isLoading: true, failure: undefined } })
      // All pages speak of one state.
      const at = request.at ?? before.head?.version
      const path = cursor === undefined ? request.path : withParameter(request.path, 'start', cursor)
      const result = await ask<Page>({ ...request, path, at }, stop.signal)
      if ('failure' in result) {
        const { failure } = result
        setPages({ of: name, pages: { ...before, isLoading: false, failure } })
        if (failure.retryAfterMs !== undefined)
          timer = setTimeout(() => void load(before, cursor).catch(() => {}), failure.retryAfterMs)
        return
      }
      const { answer, value } = result
      const next: Pages<T> = {
        items: [...before.items, ...itemsOf(value)],
        more: undefined,
        isLoading: false,
        isComplete: answer.isComplete,
        failure: undefined,
        head: before.head ?? answer.head,
      }
      const more = answer.cursor === undefined ? undefined : () => void load(next, answer.cursor).catch(() => {})
      if (isEager && more) more()
      else setPages({ of: name, pages: { ...next, more } })
    }
    load(NONE, undefined).catch(() => {})
    return () => {
      stop.abort()
      clearTimeout(timer)
    }
  }, [name])
  return pages.of === name ? pages.pages : NONE
}

function withParameter(path: string, name: string, value: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`
}
