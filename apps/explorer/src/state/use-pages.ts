import { useEffect, useRef, useState } from 'preact/hooks'
import { type ApiAnswer, type ApiRequest, ask, readsLatest, requestPath } from '../api/client.ts'
import type { Failure } from '../api/failure.ts'
import { keepFresh } from './keep-fresh.ts'
import { isPruned } from './ledger.ts'

export interface Pages<T> {
  readonly items: readonly T[]
  /** Asks for the next page; undefined while a page is loading, and after the last. */
  readonly more: (() => void) | undefined
  readonly isLoading: boolean
  readonly isComplete: boolean
  readonly failure: Failure | undefined
  /** The first page, which fixes the state of all pages; undefined until it has come. */
  readonly first: ApiAnswer | undefined
}

/** Whether a list has items, or may have some once the node answers. */
export function mayHaveItems({ items, isLoading, failure }: Pages<unknown>): boolean {
  return items.length > 0 || isLoading || failure?.retryAfterMs !== undefined
}

interface Loaded<T> {
  readonly items: readonly T[]
  readonly cursor: string | undefined
  readonly isComplete: boolean
  readonly first: ApiAnswer | undefined
}

interface Shown<T> {
  readonly of: string
  readonly loaded: Loaded<T>
  readonly isLoading: boolean
  readonly failure?: Failure
}

const NOTHING: Loaded<never> = { items: [], cursor: undefined, isComplete: true, first: undefined }

interface PagesOptions {
  /** Loads all pages at once, one after the other. */
  readonly isEager?: boolean
}

/** Pages of a list of one state, such as resources or holders. */
export function useStatePages<Page, T>(request: ApiRequest, itemsOf: (page: Page) => readonly T[]): Pages<T> {
  return usePages(request, (version) => ({ ...request, at: request.at ?? version }), itemsOf)
}

/** Pages of a list over a range of versions, such as a history: all end at the same version. */
export function useRangePages<Page, T>(
  request: ApiRequest,
  itemsOf: (page: Page) => readonly T[],
  options?: PagesOptions,
): Pages<T> {
  const endAt = (version: string): ApiRequest =>
    /[?&]to=/.test(request.path) ? request : { ...request, path: withParameter(request.path, 'to', version) }
  return usePages(request, endAt, itemsOf, options)
}

/**
 * Loads the pages of a list. Asks a node that is lost or busy again. After the ledger grew, loads the list again, unless the visitor has
 * asked for later pages.
 * @param requestAt makes the request for the list as it was at the version of the first page
 */
function usePages<Page, T>(
  request: ApiRequest,
  requestAt: (version: string) => ApiRequest,
  itemsOf: (page: Page) => readonly T[],
  { isEager = false }: PagesOptions = {},
): Pages<T> {
  const name = `${requestPath(request)} ${request.body ?? ''}`
  const [shown, setShown] = useState<Shown<T>>({ of: name, loaded: NOTHING, isLoading: true })
  const goOn = useRef<() => void>(() => {})
  useEffect(() => {
    let known: Loaded<T> | undefined
    let wasContinued = false
    let isOfFuture = false
    const show = (isLoading: boolean, failure?: Failure): void =>
      setShown({ of: name, loaded: known ?? NOTHING, isLoading, ...(failure && { failure }) })
    /**
     * Loads a page.
     * @throws only if it was stopped
     */
    const loadPage = async (before: Loaded<T>, signal: AbortSignal): Promise<Loaded<T> | Failure> => {
      const { cursor, first } = before
      const list = first?.head ? requestAt(first.head.version) : request
      const path = cursor === undefined ? list.path : withParameter(list.path, 'start', cursor)
      const result = await ask<Page>({ ...list, path }, signal)
      if ('failure' in result) return result.failure
      const { answer, value } = result
      return {
        items: before.items.length === 0 ? itemsOf(value) : [...before.items, ...itemsOf(value)],
        cursor: answer.cursor,
        isComplete: answer.isComplete,
        first: before.first ?? answer,
      }
    }
    const fresh = keepFresh({
      async load(signal) {
        // A page that failed is asked for again; a complete list is loaded again from its start.
        const isNext = wasContinued && known?.cursor !== undefined
        if (!known) show(true)
        let loaded: Loaded<T> | Failure = isNext ? await loadPage(known!, signal) : await loadPage(NOTHING, signal)
        while (isEager && !('kind' in loaded) && loaded.cursor !== undefined) loaded = await loadPage(loaded, signal)
        isOfFuture = 'kind' in loaded && loaded.kind === 'future'
        if (!('kind' in loaded)) {
          known = loaded
          show(false)
          return undefined
        }
        const isKept = !isNext && known !== undefined && loaded.retryAfterMs !== undefined
        if (!isKept) {
          if (!isNext) known = undefined
          show(false, loaded)
        }
        return loaded
      },
      isLive: () => (readsLatest(request) || isOfFuture) && !wasContinued,
    })
    goOn.current = () => {
      wasContinued = true
      show(true)
      fresh.again()
    }
    return fresh.stop
  }, [name])
  const { loaded, isLoading, failure } = shown.of === name ? shown : { loaded: NOTHING, isLoading: true }
  return {
    items: loaded.items,
    more: loaded.cursor === undefined || isLoading || failure ? undefined : goOn.current,
    isLoading,
    isComplete: loaded.isComplete,
    failure,
    first: loaded.first,
  }
}

function withParameter(path: string, name: string, value: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`
}

/** Whether a list has ended and the node may not know its earlier items, because they are before its window. */
export function hasUnknownBefore({ more, isLoading, failure, isComplete }: Pages<unknown>): boolean {
  return !more && !isLoading && !failure && (!isComplete || isPruned.value)
}
