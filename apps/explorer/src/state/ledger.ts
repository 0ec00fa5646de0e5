import { computed, signal } from '@preact/signals'
import type { Block } from '../api/answers.ts'
import { ask } from '../api/client.ts'
import type { Failure } from '../api/failure.ts'
import type { StateHead } from '../api/state-head.ts'

/** Time between requests for the newest version while the page is visible. */
const LIVE_MS = 2_000

/** The newest state of the node, kept up to date. */
export const newest = signal<StateHead | undefined>(undefined)
/** The reason why the newest state is not known. */
export const newestFailure = signal<Failure | undefined>(undefined)
/** Time of the oldest block of the window that has one; genesis has none. */
export const oldestTimestampUsec = signal<string | undefined>(undefined)

const now = signal(Date.now())
/** Age of the newest block. */
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
  const isOtherWindow = !isLaterHead(head, newest.value)
  newest.value = head
  const isTimeKnown = oldestTimestampUsec.value !== undefined || head.timestampUsec === '0'
  if (!isOtherWindow && isTimeKnown) return
  const block = await blockOf(head.oldestVersion, signal)
  const hasTime = block === undefined || block.block_timestamp !== '0'
  const oldest = hasTime ? block : await blockOf(String(BigInt(block.last_version) + 1n), signal)
  if (oldest) oldestTimestampUsec.value = oldest.block_timestamp
}

/** Whether a head may be of the same ledger as the previous head, with the same oldest version. */
export function isLaterHead(head: StateHead, before: StateHead | undefined): boolean {
  if (head.oldestVersion !== before?.oldestVersion || head.chainId !== before.chainId) return false
  return BigInt(head.version) >= BigInt(before.version) && BigInt(head.timestampUsec) >= BigInt(before.timestampUsec)
}

async function blockOf(version: string, signal: AbortSignal): Promise<Block | undefined> {
  const result = await ask<Block>({ path: `/blocks/by_version/${version}` }, signal)
  return 'value' in result ? result.value : undefined
}
