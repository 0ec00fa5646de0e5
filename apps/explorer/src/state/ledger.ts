import { computed, signal } from '@preact/signals'
import type { Block } from '../api/answers.ts'
import { ask } from '../api/client.ts'
import type { Failure } from '../api/failure.ts'
import type { StateHead } from '../api/state-head.ts'

/** Least time between requests for the newest version, and time between them without a stream. */
const LIVE_MS = 2_000
/** Time after which the newest version is asked for even if the stream says nothing. */
const QUIET_MS = 30_000
/**
 * Time before the stream is opened. Until then the network falls idle between requests: programs that drive browsers
 * wait for that, and a short visit takes none of the node's streams.
 */
const STREAM_AFTER_MS = 10_000
/** `readyState` of an open `EventSource`. */
const OPEN = 1
/** A stream with a short entry for each block: the chain's clock. */
const BLOCKS = '/v1/stream?account=0x1&resource_type=0x1::timestamp::CurrentTimeMicroseconds'

/** The newest state of the node, kept up to date. */
export const newest = signal<StateHead | undefined>(undefined)
/** The reason why the newest state is not known. */
export const newestFailure = signal<Failure | undefined>(undefined)
/** Time of the oldest block of the window that has one; genesis has none. */
export const oldestTimestampUsec = signal<string | undefined>(undefined)

/**
 * Number of times that the ledger lost versions while the page was open. Others may have their numbers since, so all
 * that was read before may be wrong.
 */
export const branch = signal(0)

/** Whether the node lacks the first versions, so that it does not know the changes up to its oldest one. */
export const isPruned = computed(() => newest.value !== undefined && newest.value.oldestVersion !== '0')

const now = signal(Date.now())
/** Age of the newest block. */
export const ageSeconds = computed(() => secondsSince(newest.value?.timestampUsec ?? '0'))

/** Time that has passed since a block was made. */
export function secondsSince(timestampUsec: string): number {
  const made = Number(BigInt(timestampUsec) / 1_000n)
  return Math.max(0, Math.round((now.value - made) / 1_000))
}

/** Keeps `newest` up to date until the returned function is called: by polling, then from the stream of blocks if there is one. */
export function followLedger(): () => void {
  const stop = new AbortController()
  let blocks: EventSource | undefined
  const begunAt = performance.now()
  let askedAt = 0
  /** Whether a stream has told of every truncation since the newest state was read. */
  let isTold = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const askAfter = (milliseconds: number): void => {
    clearTimeout(timer)
    if (!stop.signal.aborted) timer = setTimeout(tick, milliseconds)
  }
  const tick = async (): Promise<void> => {
    askedAt = performance.now()
    if (document.visibilityState === 'visible') {
      const before = isTold ? undefined : newest.value
      const wasStreamed = blocks?.readyState === OPEN
      await refresh(stop.signal).catch(() => {})
      if (!newestFailure.value) {
        isTold = wasStreamed
        if (before && isOther(before, newest.value!) && (await isCutOff(before, stop.signal).catch(() => false)))
          branch.value++
      }
      if (!newestFailure.value && askedAt - begunAt >= STREAM_AFTER_MS && !blocks) {
        blocks = openBlocks(() => askAfter(Math.max(0, askedAt + LIVE_MS - performance.now())))
        // Versions may have been cut off before it was open, at first or again.
        blocks?.addEventListener('open', () => {
          isTold = false
        })
      }
    }
    const isStreamed = blocks?.readyState === OPEN
    askAfter(newestFailure.value?.retryAfterMs ?? (isStreamed ? QUIET_MS : LIVE_MS))
  }
  // A browser opens only six connections to a node, so a hidden page has none.
  const onVisibility = (): void => {
    if (document.visibilityState === 'visible') askAfter(0)
    else {
      blocks?.close()
      blocks = undefined
      isTold = false
    }
  }
  document.addEventListener('visibilitychange', onVisibility)
  askAfter(0)
  const clock = setInterval(() => {
    now.value = Date.now()
  }, 1_000)
  return () => {
    stop.abort()
    blocks?.close()
    document.removeEventListener('visibilitychange', onVisibility)
    clearInterval(clock)
    clearTimeout(timer)
  }
}

/** Opens the stream of blocks. A node without one answers with an error, and the source stays closed. */
function openBlocks(onBlock: () => void): EventSource | undefined {
  // Tests run without it.
  if (typeof EventSource === 'undefined') return undefined
  const source = new EventSource(BLOCKS)
  source.onmessage = onBlock
  for (const name of ['truncated', 'reconnect', 'pruned']) source.addEventListener(name, onBlock)
  source.addEventListener('truncated', () => branch.value++)
  return source
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

function isOther(a: StateHead, b: StateHead): boolean {
  return a.version !== b.version || a.timestampUsec !== b.timestampUsec
}

/** Whether the newest version that was known before is no longer there, or another one has its number. */
async function isCutOff({ version, timestampUsec }: StateHead, signal: AbortSignal): Promise<boolean> {
  const result = await ask<Block>({ path: `/blocks/by_version/${version}` }, signal)
  return 'failure' in result ? result.failure.kind === 'future' : result.value.block_timestamp !== timestampUsec
}

async function blockOf(version: string, signal: AbortSignal): Promise<Block | undefined> {
  const result = await ask<Block>({ path: `/blocks/by_version/${version}` }, signal)
  return 'value' in result ? result.value : undefined
}
