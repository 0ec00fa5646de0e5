import { computed, signal } from '@preact/signals'
import { ask } from '../api/client.ts'
import type { Failure } from '../api/failure.ts'
import type { StateHead } from '../api/state-head.ts'

/** How often the newest version is asked for while the page is seen. */
const LIVE_MS = 2_000

/** The newest state of the node, live. */
export const newest = signal<StateHead | undefined>(undefined)
/** Why it is not known. */
export const newestFailure = signal<Failure | undefined>(undefined)
/** The oldest block of the window. */
export const oldestTimestampUsec = signal<string | undefined>(undefined)

const now = signal(Date.now())
/** How long ago the newest block was made. */
export const ageSeconds = computed(() => {
  const made = Number(BigInt(newest.value?.timestampUsec ?? '0') / 1_000n)
  return Math.max(0, Math.round((now.value - made) / 1_000))
})

/** Keeps `newest` up to date until the returned function is called. */
export function followLedger(): () => void {
  const stop = new AbortController()
  const tick = async (): Promise<void> => {
    if (document.visibilityState === 'visible') await refresh(stop.signal).catch(() => {})
    if (!stop.signal.aborted) timer = setTimeout(tick, newestFailure.value?.retryAfterMs ?? LIVE_MS)
  }
  let timer = setTimeout(tick, 0)
  const clock = setInterval(() => {
    now.value = Date.now()
  }, 1_000)
  return () => {
    stop.abort()
    clearInterval(clock)
    clearTimeout(timer)
  }
}

async function refresh(signal: AbortSignal): Promise<void> {
  const result = await ask<unknown>({ path: '' }, signal)
  if ('failure' in result) {
    newestFailure.value = result.failure
    return
  }
  newestFailure.value = undefined
  const { head } = result.answer
  if (!head) return
  const isOtherWindow = head.oldestVersion !== newest.value?.oldestVersion
  newest.value = head
  if (!isOtherWindow) return
  const path = `/blocks/by_version/${head.oldestVersion}`
  const oldest = await ask<{ readonly block_timestamp: string }>({ path }, signal)
  if ('value' in oldest) oldestTimestampUsec.value = oldest.value.block_timestamp
}
