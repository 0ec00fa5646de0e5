import type { BackupStorage } from '../files/backup-storage.js'
import { FETCH_LIMITS } from '../files/fetch-ahead.js'

const LONGEST_MS = 3_000
const MOST_BYTES = 16 * 1024 * 1024

/**
 * Measures the bytes a second that a storage gives, on the beginnings of some objects, in some seconds at most.
 * @returns undefined if there is nothing to measure with
 */
export async function measureSpeed(storage: BackupStorage, names: readonly string[]): Promise<number | undefined> {
  const stop = new AbortController()
  const began = performance.now()
  let bytes = 0
  const read = async (name: string): Promise<void> => {
    const stream = storage.open(name, { from: 0, to: MOST_BYTES })
    const end = (): void => void stream.destroy()
    stop.signal.addEventListener('abort', end, { once: true })
    try {
      for await (const piece of stream) bytes += (piece as Uint8Array).length
    } catch (error) {
      if (!stop.signal.aborted) throw error
    }
  }
  const timer = setTimeout(() => stop.abort(), LONGEST_MS)
  try {
    await Promise.all(names.slice(0, FETCH_LIMITS.items).map(read))
  } finally {
    clearTimeout(timer)
    stop.abort()
  }
  return bytes === 0 ? undefined : (bytes * 1_000) / Math.max(1, performance.now() - began)
}
