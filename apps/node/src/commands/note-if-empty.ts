import { writeNotice } from '../terminal/notice.js'
import { type AskedRange, firstVersionIn } from './history-pages.js'

/** Yields the pages. If all of them are empty, says why on standard error. */
export async function* noteIfEmpty<T>(
  pages: AsyncIterable<readonly T[]>,
  describe: () => string | Promise<string>,
): AsyncGenerator<readonly T[]> {
  let isEmpty = true
  for await (const page of pages) {
    isEmpty &&= page.length === 0
    yield page
  }
  if (isEmpty) writeNotice(await describe())
}

/**
 * Line for people about a history without a change.
 * @param name name of its subject in a sentence
 * @param advice advice for a range that begins with the store
 */
export function noChanges(name: string, asked: AskedRange, advice?: string): string {
  const first = firstVersionIn(asked)
  if (first > asked.to) return `no changes of ${name}: --from is version ${first}, above the last one, ${asked.to}`
  const isFromLater = first > asked.ledger.oldestVersion
  const hint = isFromLater ? 'an earlier --from may show some' : advice
  return `no changes of ${name} from version ${first} to ${asked.to}${hint === undefined ? '' : `: ${hint}`}`
}
