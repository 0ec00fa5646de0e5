import type { KeyedEntry } from '@ledger-state/core'
import { invalidArgument } from './errors.js'
import type { ImportBase, StateWriter } from './ports/engine-ports.js'
import { expectObject } from './validation/validate-arguments.js'
import { validateImportBase } from './validation/validate-batch.js'

/** Most entries of one `add`. */
const PART_ENTRIES = 5_000

/**
 * Fills an empty store with a state, such as `engine.at(version).scan(new Uint8Array(0))` of another.
 * @throws `store_not_empty`, `duplicate_key`, `key_too_long`, `value_too_long`, `invalid_argument`
 * @example
 * ```ts
 * import { createMemoryEngine, importState } from '@ledger-state/engine'
 *
 * const block = { height: 3n, epoch: 0n, timestampUsec: 0n }
 * const entries = [{ key: Uint8Array.of(1), version: 5n, value: Uint8Array.of(7) }]
 * const engine = createMemoryEngine()
 * await importState(engine, { version: 9n, chainId: 1, block }, entries)
 * console.log(engine.ledger?.oldestVersion, engine.at().getEntry(Uint8Array.of(1))?.version) // 9n 5n
 * ```
 */
export async function importState(
  engine: Pick<StateWriter, 'beginImport'>,
  base: ImportBase & { readonly version: bigint },
  entries: Iterable<KeyedEntry> | AsyncIterable<KeyedEntry>,
): Promise<void> {
  expectObject('the base of the import', base)
  // Checked first, so that a fault shows before hours of work.
  validateImportBase(base.version, base)
  expectObject('the entries', entries)
  if (!(Symbol.iterator in entries || Symbol.asyncIterator in entries)) {
    throw invalidArgument('the entries', 'an iterable', entries)
  }
  const state = await engine.beginImport(base.version)
  let part: KeyedEntry[] = []
  for await (const entry of entries) {
    if (part.push(entry) < PART_ENTRIES) continue
    await state.add(part)
    part = []
  }
  await state.add(part)
  await state.finish(base)
}
