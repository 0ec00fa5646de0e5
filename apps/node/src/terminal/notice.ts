/** Most bytes of notices that wait for their reader. Further ones are dropped. */
const MOST_WAITING_BYTES = 65_536

/** Writes a line for people to standard error, unless those before it are not read. */
export function writeNotice(text: string): void {
  const { stderr } = process
  if (stderr.writableLength < MOST_WAITING_BYTES) stderr.write(`${text}\n`)
}
