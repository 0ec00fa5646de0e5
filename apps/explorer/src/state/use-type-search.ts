import { useEffect, useRef, useState } from 'preact/hooks'
import type { TypeUse, TypeUsesPage } from '../api/answers.ts'
import { type ApiRequest, ask } from '../api/client.ts'
import type { Failure } from '../api/failure.ts'
import { cursorToAddressPart } from './address-part.ts'
import { untilAnswered } from './until-answered.ts'

/** Most uses on one page of the search. */
const PAGE = 1_000
/** Uses after which the search pauses each time; the visitor decides whether it continues. */
const USES_AT_ONCE = 1_000

interface Progress {
  readonly uses: readonly TypeUse[]
  /** Number of state keys that were looked at. */
  readonly keys: number
  /** Cursor of the next step of the search; undefined before it began and after it ended. */
  readonly cursor: string | undefined
  /** The state at which all pages are read. */
  readonly at: string | undefined
  readonly isEnded: boolean
}

export interface TypeSearchState extends Omit<Progress, 'cursor' | 'at'> {
  readonly isRunning: boolean
  readonly failure: Failure | undefined
  /** Part of all addresses that was searched, from 0 to 1. */
  readonly part: number
  start(): void
  stop(): void
}

/** The request for one page of the uses of a type. */
export function typeUsesRequest(type: string, at: string | undefined): ApiRequest {
  return { path: `/types/${encodeURIComponent(type)}/uses?limit=${PAGE}`, at }
}

/** A search of all accounts for uses of a type, page after page, which the visitor starts. */
export function useTypeSearch(type: string, at: string | undefined): TypeSearchState {
  const [progress, setProgress] = useState<Progress>({ uses: [], keys: 0, cursor: undefined, at, isEnded: false })
  const [isRunning, setRunning] = useState(false)
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const control = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => control.current?.abort(), [])
  const run = async (signal: AbortSignal): Promise<void> => {
    let now = progress
    const enough = now.uses.length + USES_AT_ONCE
    while (!now.isEnded && now.uses.length < enough) {
      const page = await untilAnswered(() => loadPage(type, now, signal), signal, setFailure)
      if ('failure' in page) {
        setFailure(page.failure)
        return
      }
      setFailure(undefined)
      now = page
      setProgress(now)
    }
  }
  return {
    ...progress,
    isRunning,
    failure,
    part: progress.isEnded ? 1 : cursorToAddressPart(progress.cursor),
    start() {
      control.current = new AbortController()
      setRunning(true)
      run(control.current.signal)
        .catch(() => setFailure(undefined))
        .finally(() => setRunning(false))
    },
    stop() {
      control.current?.abort()
    },
  }
}

/**
 * Loads a page of the search.
 * @throws only if it was stopped
 */
async function loadPage(
  type: string,
  before: Progress,
  signal: AbortSignal,
): Promise<Progress | { readonly failure: Failure }> {
  const request = typeUsesRequest(type, before.at)
  const path = before.cursor === undefined ? request.path : `${request.path}&start=${before.cursor}`
  const result = await ask<TypeUsesPage>({ ...request, path }, signal)
  if ('failure' in result) return result
  const { answer, value } = result
  return {
    uses: value.uses.length === 0 ? before.uses : [...before.uses, ...value.uses],
    keys: before.keys + value.scanned,
    cursor: answer.cursor,
    at: before.at ?? answer.head?.version,
    isEnded: answer.cursor === undefined,
  }
}
