import { safeText } from './safe-text.js'

/** Most bytes of notices that wait for their reader. Further ones are dropped. */
const MOST_WAITING_BYTES = 65_536

/**
 * Writes a line for people to standard error, unless those before it are not read.
 * @param before the characters that clear the line of the terminal
 */
export function writeNotice(text: string, before = ''): void {
  const { stderr } = process
  if (stderr.writableLength < MOST_WAITING_BYTES) stderr.write(`${before}${safeText(text)}\n`)
}
