import { Buffer } from 'node:buffer'
import { isLedgerStateError, type KeyedEntry } from '@ledger-state/core'
import type { ImportBase, ImportOptions, StateImport, UnfinishedImport } from '@ledger-state/engine'
import {
  duplicateKey,
  expectObject,
  expectU64,
  importNeedsEmptyStore,
  importReplaced,
  validateImportBase,
  validateImportPart,
  valueToStored,
} from '@ledger-state/engine/authoring'
import type { Head } from '../schema/head.js'
import { compareHashTexts, hashTextToBytes, keyToHashText } from '../schema/key-hash.js'
import { toByteaArray } from '../sql/bytea-array.js'
import { expectSmallNumbers } from './batch-rows.js'
import { discardImport } from './commit.js'
import { copyEntries, copyKeys, type KeyRow } from './copy-rows.js'
import type { KnownKeys } from './known-keys.js'
import type { WriterSession } from './writer-session.js'

const BEGIN_IMPORT = `
UPDATE ledger_state.head SET import_version = $1, import_number = import_number + 1, import_count = 0, import_mark = NULL`

const COUNT_ENTRIES = 'UPDATE ledger_state.head SET import_count = $1, import_mark = $2'

const FINISH_IMPORT = `
UPDATE ledger_state.head SET written_version = $1, written_mark = $2, chain_id = $3,
  base_version = $1, base_complete = $4, oldest_version = $1, oldest_block = $1, pruned_version = $1,
  import_version = NULL, import_mark = NULL, import_count = 0`

const INSERT_BLOCK = 'INSERT INTO ledger_state.blocks VALUES ($1, $2, $3, $4)'

/** Begins or resumes an import. Called within `inTurn` of the session. */
export async function beginImport(
  session: WriterSession,
  known: KnownKeys,
  version: bigint,
  options: ImportOptions = {},
): Promise<StateImport> {
  expectU64('the version of the import', version)
  expectObject('the options of the import', options)
  expectSmallNumbers([{ version, writes: [] }])
  if (session.head.ledger) throw importNeedsEmptyStore()
  if (!options.resume || session.head.importVersion !== version) {
    const { importNumber } = session.head
    await session.transact(
      async (client) => {
        if (session.head.importVersion !== undefined) await discardImport(client, known)
        await client.query(BEGIN_IMPORT, [String(version)])
      },
      (head) => head.importNumber > importNumber,
    )
  }
  return new ServerImport(session, version)
}

/** Finds the import that was begun and not finished. Called within `inTurn` of the session. */
export async function unfinishedImport({ head }: WriterSession): Promise<UnfinishedImport | undefined> {
  const { importVersion: version, importMark: mark } = head
  return version === undefined ? undefined : { version, mark: mark && Uint8Array.from(mark) }
}

class ServerImport implements StateImport {
  readonly version: bigint
  readonly #session: WriterSession
  readonly #number: bigint
  #entryCount: number
  #mark: Uint8Array | undefined

  constructor(session: WriterSession, version: bigint) {
    this.version = version
    this.#session = session
    const { importNumber, importCount, importMark } = session.head
    this.#number = importNumber
    this.#entryCount = importCount
    this.#mark = importMark
  }

  get entryCount(): number {
    return this.#entryCount
  }

  get mark(): Uint8Array | undefined {
    return this.#mark && Uint8Array.from(this.#mark)
  }

  async add(entries: readonly KeyedEntry[], mark?: Uint8Array): Promise<void> {
    await this.#session.inTurn(() => this.#add(entries, mark))
  }

  async finish(base: ImportBase): Promise<void> {
    await this.#session.inTurn(() => this.#finish(base))
  }

  async #add(entries: readonly KeyedEntry[], mark: Uint8Array | undefined): Promise<void> {
    this.#expectCurrent(this.#session.head)
    validateImportPart(this.version, entries, mark)
    const rows = entries.map(({ key, version, value, annotation }) => {
      return { hashText: keyToHashText(key), key, version, value: valueToStored(value, annotation) }
    })
    // In the order of the index.
    rows.sort(compareHashTexts)
    if (rows.some(({ hashText }, at) => rows[at - 1]?.hashText === hashText)) throw duplicateKey(this.version)
    const count = this.#entryCount + rows.length
    const kept = mark && Buffer.from(mark)
    try {
      await this.#session.transact(
        async (client) => {
          this.#expectCurrent(this.#session.head)
          await copyKeys(client, rows)
          await copyEntries(client, rows)
          await client.query(COUNT_ENTRIES, [String(count), kept ?? null])
        },
        (head) => head.importNumber === this.#number && head.importCount === count && isSameMark(head.importMark, kept),
      )
    } catch (error) {
      // If a worker of Citus refuses a duplicate key, the error does not have the code that PostgreSQL gives it.
      if (isLedgerStateError(error, 'store_failed') && (await this.#hasAny(rows))) throw duplicateKey(this.version)
      throw error
    }
    this.#entryCount = count
    this.#mark = kept
  }

  async #hasAny(rows: readonly KeyRow[]): Promise<boolean> {
    const text = 'SELECT count(*) AS count FROM ledger_state.keys WHERE key_hash = ANY($1::bytea[])'
    const [found] = await this.#session.query<{ count: string }>(text, [
      toByteaArray(rows.map(({ hashText }) => hashTextToBytes(hashText))),
    ])
    return Number(found!.count) > 0
  }

  async #finish(base: ImportBase): Promise<void> {
    this.#expectCurrent(this.#session.head)
    const chainId = validateImportBase(this.version, base)
    const { block, complete = true, mark } = base
    expectSmallNumbers([{ version: this.version, block, writes: [] }])
    const version = String(this.version)
    await this.#session.transact(
      async (client) => {
        await client.query(INSERT_BLOCK, [
          version,
          String(block.height),
          String(block.epoch),
          String(block.timestampUsec),
        ])
        await client.query(FINISH_IMPORT, [version, mark ? Buffer.from(mark) : null, String(chainId), complete])
      },
      (head) => head.ledger !== undefined,
    )
  }

  #expectCurrent({ importVersion, importNumber }: Head): void {
    if (importVersion !== this.version || importNumber !== this.#number) throw importReplaced(this.version)
  }
}

/** A part without entries changes only the mark. */
function isSameMark(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a && b ? Buffer.compare(a, b) === 0 : a === b
}
