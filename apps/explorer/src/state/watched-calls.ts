import { signal } from '@preact/signals'
import type { ViewCall } from './route.ts'
import { readStored, writeStored } from './stored-text.ts'

/** A call that the visitor watches. */
export interface WatchedCall {
  readonly function: string
  readonly call: ViewCall
}

const STORAGE_KEY = 'watched-calls'
const MOST = 50

/** Watched calls, the oldest first. This browser keeps them. */
export const watchedCalls = signal<readonly WatchedCall[]>(parseWatchedCalls(readStored(STORAGE_KEY)))

/** Reads the calls that this or an earlier version of the page stored, and leaves out anything else. */
export function parseWatchedCalls(text: string | null): readonly WatchedCall[] {
  try {
    const list: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(list) ? list.filter(isWatchedCall).slice(0, MOST) : []
  } catch {
    return []
  }
}

function isWatchedCall(value: unknown): value is WatchedCall {
  const { function: name, call } = (value ?? {}) as Partial<WatchedCall>
  return (
    typeof name === 'string' &&
    typeof call?.arguments === 'string' &&
    Array.isArray(call.typeArguments) &&
    call.typeArguments.every((one) => typeof one === 'string')
  )
}

export function isWatched(watched: WatchedCall): boolean {
  return watchedCalls.value.some((one) => isSame(one, watched))
}

export function watch(watched: WatchedCall): void {
  if (!isWatched(watched)) keep([...watchedCalls.value, watched].slice(-MOST))
}

export function unwatch(watched: WatchedCall): void {
  keep(watchedCalls.value.filter((one) => !isSame(one, watched)))
}

function isSame(a: WatchedCall, b: WatchedCall): boolean {
  return a.function === b.function && JSON.stringify(a.call) === JSON.stringify(b.call)
}

function keep(calls: readonly WatchedCall[]): void {
  watchedCalls.value = calls
  writeStored(STORAGE_KEY, JSON.stringify(calls))
}
