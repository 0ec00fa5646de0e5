import { groupDigits } from './amount.ts'

/** A count with its noun, such as `1 change`, `1 200 changes` and `no changes`. */
export function countText(count: number, noun: string): string {
  const plural = `${noun}${noun.endsWith('s') ? 'es' : 's'}`
  if (count === 0) return `no ${plural}`
  return `${groupDigits(String(count))} ${count === 1 ? noun : plural}`
}

/** Number of changes of a history. The value that held when the window began is no change: it has no time. */
export function countChanges(history: readonly { readonly timestamp: string | null }[]): number {
  return history.filter(({ timestamp }) => timestamp !== null).length
}
