import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type KeyedEntry, LedgerStateError, type VersionWrites } from '@ledger-state/core'
import {
  type CommitOptions,
  createMemoryEngine,
  type ImportBase,
  type ImportOptions,
  type LedgerSummary,
  type PruneOptions,
  type StateImport,
  type StateWriter,
  type TruncateOptions,
} from '@ledger-state/engine'
import { Journal } from './journal.ts'

/** A call that changed the engine. Opening the engine repeats them all. */
type Change =
  | { readonly kind: 'commit'; readonly versions: readonly VersionWrites[]; readonly options: CommitOptions }
  | { readonly kind: 'prune'; readonly retain: bigint; readonly options: PruneOptions | undefined }
  | { readonly kind: 'truncateTo'; readonly version: bigint; readonly options: TruncateOptions | undefined }
  | { readonly kind: 'putMark'; readonly mark: Uint8Array }
  | { readonly kind: 'beginImport'; readonly version: bigint; readonly options: ImportOptions | undefined }
  | { readonly kind: 'add'; readonly entries: readonly KeyedEntry[]; readonly mark: Uint8Array | undefined }
  | { readonly kind: 'finish'; readonly base: ImportBase }

/**
 * Opens an engine that holds everything in memory, and appends each change to a file before it resolves. It suits small
 * states that outlive their process.
 * @throws `store_locked` while another engine has the folder open
 */
export async function openJournalEngine(folder: string): Promise<StateWriter> {
  mkdirSync(folder, { recursive: true })
  const unlock = lock(join(folder, 'lock'))
  const journal = new Journal<Change>(join(folder, 'journal'))
  const memory = createMemoryEngine()
  let unfinished: StateImport | undefined
  for (const change of journal.entries) {
    if (change.kind === 'commit') await memory.commit(change.versions, change.options)
    else if (change.kind === 'prune') await memory.prune(change.retain, change.options)
    else if (change.kind === 'truncateTo') await memory.truncateTo(change.version, change.options)
    else if (change.kind === 'putMark') await memory.putMark(change.mark)
    else if (change.kind === 'beginImport') unfinished = await memory.beginImport(change.version, change.options)
    else if (change.kind === 'add') await unfinished!.add(change.entries, change.mark)
    else await unfinished!.finish(change.base)
  }
  return new JournalEngine(memory, journal, unlock)
}

class JournalEngine implements StateWriter {
  readonly kind = 'sync'
  readonly #memory: StateWriter
  readonly #journal: Journal<Change>
  readonly #unlock: () => void
  #isClosed = false

  constructor(memory: StateWriter, journal: Journal<Change>, unlock: () => void) {
    this.#memory = memory
    this.#journal = journal
    this.#unlock = unlock
  }

  get ledger(): LedgerSummary | undefined {
    return this.#memory.ledger
  }

  get base() {
    return this.#memory.base
  }

  get mark() {
    return this.#memory.mark
  }

  at(version?: bigint) {
    return this.#memory.at(version)
  }

  blockAt(version: bigint) {
    return this.#memory.blockAt(version)
  }

  blockByHeight(height: bigint) {
    return this.#memory.blockByHeight(height)
  }

  blockAtTime(timestampUsec: bigint) {
    return this.#memory.blockAtTime(timestampUsec)
  }

  history(...given: Parameters<StateWriter['history']>) {
    return this.#memory.history(...given)
  }

  versions(first: bigint, last: bigint) {
    return this.#memory.versions(first, last)
  }

  onCommit(listener: (ledger: LedgerSummary) => void) {
    return this.#memory.onCommit(listener)
  }

  async commit(versions: readonly VersionWrites[], options: CommitOptions): Promise<void> {
    await this.#memory.commit(versions, options)
    await this.#keep({ kind: 'commit', versions, options })
  }

  async prune(retain: bigint, options?: PruneOptions) {
    const result = await this.#memory.prune(retain, options)
    await this.#keep({ kind: 'prune', retain, options })
    return result
  }

  async truncateTo(version: bigint, options?: TruncateOptions): Promise<void> {
    await this.#memory.truncateTo(version, options)
    await this.#keep({ kind: 'truncateTo', version, options })
  }

  async putMark(mark: Uint8Array): Promise<void> {
    await this.#memory.putMark(mark)
    await this.#keep({ kind: 'putMark', mark })
  }

  async unfinishedImport() {
    return await this.#memory.unfinishedImport()
  }

  async beginImport(version: bigint, options?: ImportOptions): Promise<StateImport> {
    const inMemory = await this.#memory.beginImport(version, options)
    await this.#keep({ kind: 'beginImport', version, options })
    return {
      version,
      get entryCount() {
        return inMemory.entryCount
      },
      get mark() {
        return inMemory.mark
      },
      add: async (entries, mark) => {
        await inMemory.add(entries, mark)
        await this.#keep({ kind: 'add', entries, mark })
      },
      finish: async (base) => {
        await inMemory.finish(base)
        await this.#keep({ kind: 'finish', base })
      },
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#memory.close()
    this.#journal.close()
    this.#unlock()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /**
   * Appends a change that the engine in memory has checked and made. If the disk fails, the engine closes, because it
   * must not answer with this change.
   */
  async #keep(change: Change): Promise<void> {
    try {
      this.#journal.append(change)
    } catch (cause) {
      await this.close()
      throw new LedgerStateError('store_failed', `the journal cannot be written: ${cause}`, {}, { cause })
    }
  }
}

/**
 * Takes the lock: creates a file that only one process can create. A file that a crash left has to be removed by hand.
 */
function lock(path: string): () => void {
  try {
    closeSync(openSync(path, 'wx'))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
    throw new LedgerStateError('store_locked', `${path} is there: another engine has the store open`, {}, { cause })
  }
  return () => rmSync(path)
}
