import type { LedgerStateError } from '@ledger-state/core'
import type { AsyncStateReader, StateEngineReader } from '@ledger-state/engine'
import { readSliceLines, type SliceSpec, sliceSpecToLines } from '@ledger-state/slices'
import { widerSlice } from '../errors.js'
import type { StorePlace } from '../stores/store-place.js'

/** Most lines that a command names one by one; more of them are put into a file. */
const MOST_NAMED = 12

/** Adds to the error about another slice the command that makes a store of both slices from the same source. */
export async function withWiderCommand(
  error: LedgerStateError,
  engine: StateEngineReader | AsyncStateReader,
  place: StorePlace,
  location: string,
  asked: SliceSpec,
): Promise<LedgerStateError> {
  const held = await readSliceLines(engine)
  if (held.length === 0) return error
  const more = firstOf(sliceSpecToLines(asked), MOST_NAMED + 1)
  const lines = [...new Set([...held, ...more])]
  const { from, into, makes, needs } = storesOf(place)
  const ingest = `${makes}ledger-state ingest ${quoted(location)} ${into}`
  if (lines.length <= MOST_NAMED) return widerSlice(error, `${ingest} ${lines.map(optionOf).join(' ')}${needs}`)
  const named = more.map((line) => ` ${quoted(line)}`).join('')
  const adds = more.length <= MOST_NAMED ? `printf '%s\\n'${named} >> slice.txt` : 'cat FILE >> slice.txt'
  return widerSlice(
    error,
    `ledger-state info --slice ${from} > slice.txt && ${adds} && ${ingest} --only slice.txt${needs}`,
  )
}

/** Parameters of a store's URL that are not secret. */
const SHOWN_PARAMETERS: ReadonlySet<string> = new Set(['host', 'port', 'sslmode', 'sslrootcert'])

/**
 * The options that name a store and the wider one, the command that makes the place of the wider one, and the needs of
 * the commands.
 */
function storesOf(place: StorePlace) {
  if (place.kind === 'folder') {
    const { dataDir } = place
    const into = `--data-dir ${quoted(`${dataDir}-wider`)}`
    return { from: `--data-dir ${quoted(dataDir)}`, into, makes: '', needs: '' }
  }
  const url = new URL(place.url)
  const hasPassword = url.password !== '' || url.searchParams.has('password')
  url.password = ''
  for (const name of [...url.searchParams.keys()]) if (!SHOWN_PARAMETERS.has(name)) url.searchParams.delete(name)
  const held = quoted(url.href)
  url.pathname += '_wider'
  const database = decodeURIComponent(url.pathname.slice(1))
  return {
    from: `--store ${held}`,
    into: `--store ${quoted(url.href)}`,
    makes: `createdb --maintenance-db=${held} ${quoted(database)} && `,
    needs: hasPassword ? ' (with the password in PGPASSWORD)' : '',
  }
}

function firstOf(lines: Iterable<string>, count: number): string[] {
  const first: string[] = []
  for (const line of lines) if (first.push(line) === count) break
  return first
}

function optionOf(line: string): string {
  if (line.startsWith('table ')) return `--only-table ${line.slice('table '.length)}`
  return line.includes('::') ? `--only-type ${quoted(line)}` : `--only-account ${line}`
}

function quoted(text: string): string {
  return /^[\w./:@=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
